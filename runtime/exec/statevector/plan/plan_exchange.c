/* SPDX-License-Identifier: Apache-2.0
 * What the ranks of a split state send each other. */
#include "config.h"
#include "runtime/exec/statevector/plan/plan.h"

#include <math.h>

#include "runtime/exec/statevector/plan/plan_stage.h"

/* Parts that a rank exchanges at once, in all and with each partner. */
enum { PARTS_MAX = 4096, PARTNER_PARTS_MAX = 64 };

struct plan_parts plan_exchange_parts(const unsigned *row, unsigned n, unsigned nrow_bit)
{
	struct plan_parts p = { .run = row[0] };

	for (unsigned k = 0; k < n; k++) {
		unsigned low = row[k] + 1, nbit = (k + 1 < n ? row[k + 1] : nrow_bit) - low;

		if (nbit > p.nbit) {
			p.low = low;
			p.nbit = nbit;
		}
	}
	p.nother = nrow_bit - n - p.run - p.nbit;
	return p;
}

unsigned plan_exchange_at_once(const unsigned *row, unsigned n, unsigned nrow_bit)
{
	for (; n > 1; n--, row++) {
		uint64_t parts = UINT64_C(1) << plan_exchange_parts(row, n, nrow_bit).nother;

		if (parts <= PARTNER_PARTS_MAX || parts << n <= PARTS_MAX)
			break;
	}
	return n;
}

struct plan_sent plan_exchange(const struct plan *pl, const struct plan_circuit *c, uint32_t n)
{
	const struct plan_segment *g = &c->segment[n];
	unsigned nbit = plan_stored_bits(pl, c->nbit) - pl->nrank_bit, row[64],
		 nlane = (unsigned)__builtin_ctz(plan_lanes(pl)), at = 0;
	double part = ldexp(pl->precision == PRECISION_DOUBLE ? 16 : 8, (int)nbit);
	struct plan_sent sent = { 0, 0 };
	uint64_t rows = 0;

	for (unsigned k = 0; k < g->nswap; k++)
		rows |= UINT64_C(1) << (g->swap[k].local - nlane);
	for (; rows; rows &= rows - 1)
		row[at++] = (unsigned)__builtin_ctzll(rows);
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
