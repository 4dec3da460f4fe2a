/* SPDX-License-Identifier: Apache-2.0
 * What the ranks of a split state send each other. */
#include "config.h"
#include "runtime/exec/statevector/plan/plan.h"

#include <math.h>

#include "runtime/exec/statevector/plan/plan_stage.h"

/* Parts that a rank exchanges at once, in all and with each partner. */
enum { PARTS_MAX = 4096, PARTNER_PARTS_MAX = 64 };

struct plan_parts plan_exchange_parts(const uint8_t *row, unsigned n, const uint8_t *piece,
	unsigned npiece, unsigned nrow_bit)
{
	struct plan_parts c = { .nlocal = n, .npiece = npiece };
	uint64_t fixed = 0;

	for (unsigned k = 0; k < n; k++)
		fixed |= UINT64_C(1) << (c.local[k] = row[k]);
	for (unsigned k = 0; k < npiece; k++) {
		c.npartner += !(fixed >> piece[k] & 1);
		fixed |= UINT64_C(1) << (c.piece[k] = piece[k]);
	}
	c.run = fixed ? (unsigned)__builtin_ctzll(fixed) : nrow_bit;
	for (unsigned k = c.run, len = 0; k < nrow_bit; k++) {
		len = fixed >> k & 1 ? 0 : len + 1;
		if (len > c.nbit) {
			c.nbit = len;
			c.low = k + 1 - len;
		}
	}
	for (unsigned k = c.run; k < nrow_bit; k++)
		if (!(fixed >> k & 1) && !(k >= c.low && k < c.low + c.nbit))
			c.other[c.nother++] = (uint8_t)k;
	c.npartner += c.nother;
	return c;
}

bool plan_parts_few(const struct plan_parts *c)
{
	return UINT64_C(1) << c->npartner <= PARTNER_PARTS_MAX
		|| UINT64_C(1) << (c->npartner + c->nlocal) <= PARTS_MAX;
}

unsigned plan_exchange_at_once(const uint8_t *row, unsigned n, unsigned nrow_bit)
{
	for (; n > 1; n--, row++) {
		struct plan_parts c = plan_exchange_parts(row, n, NULL, 0, nrow_bit);

		if (plan_parts_few(&c))
			break;
	}
	return n;
}

struct plan_sent plan_exchange(const struct plan *pl, const struct plan_circuit *c, uint32_t n)
{
	const struct plan_segment *g = &c->segment[n];
	unsigned nbit = plan_stored_bits(pl, c->nbit) - pl->nrank_bit,
		 nlane = (unsigned)__builtin_ctz(plan_lanes(pl)), at = 0;
	double part = ldexp(pl->precision == PRECISION_DOUBLE ? 16 : 8, (int)nbit);
	struct plan_sent sent = { 0, 0 };
	uint8_t row[PLAN_RANK_BITS_MAX];
	uint64_t rows = 0;

	for (unsigned k = 0; k < g->nswap; k++)
		rows |= UINT64_C(1) << (g->swap[k].local - nlane);
	for (; rows; rows &= rows - 1)
		row[at++] = (uint8_t)__builtin_ctzll(rows);
	for (unsigned together; at; at -= together) {
		together = plan_exchange_at_once(row, at, nbit - nlane);
		sent.bytes += part - ldexp(part, -(int)together);
		sent.messages += ldexp(1, (int)together) - 1;
	}
	return sent;
}

/* The first segment to which the backward pass goes. */
static uint32_t last_back(const struct plan_circuit *c)
{
	uint32_t k = 0;

	while (k < c->nstage && c->stage[k].first + c->stage[k].count <= c->first_transition)
		k++;
	return k < c->nstage ? c->stage[k].segment : c->nsegment - 1;
}

struct plan_sent plan_exchanges(const struct plan *pl, bool back, uint32_t *n)
{
	struct plan_sent sum = { 0, 0 };

	*n = 0;
	for (uint32_t k = 0; k < pl->ncircuit; k++) {
		const struct plan_circuit *c = &pl->circuit[k];

		for (uint32_t g = back ? last_back(c) + 1 : 1; g < c->nsegment; g++) {
			struct plan_sent x = plan_exchange(pl, c, g);

			sum.bytes += (back ? 2 : 1) * x.bytes;
			sum.messages += (back ? 2 : 1) * x.messages;
			++*n;
		}
	}
	return sum;
}

double plan_sent_seconds(const struct plan_sent *x, const struct plan_limits *l)
{
	return x->bytes / l->exchange_gb_s * 1e-9 + x->messages * l->message_us * 1e-6;
}
