/* SPDX-License-Identifier: Apache-2.0
 * Products of Pauli operators as they are read: on bits where they lie then.
 *
 * With D = the bits on which a product has x or y, and S = those with z or y, P psi [i] =
 * (-i)^ny (-1)^|i & S| psi[i ^ D]: the product is read by a rank alone where no bit of D is a
 * rank bit. Where D has more bits than a part, exchanges of bits do not help. CX gates do: with
 * a control in D and targets on the rank bits in D, the product behind the gates has the same D
 * without the rank bits, and the control changes its place in S for each target that is in S.
 * Such gates exchange half of the state, with one other rank, whatever the number of targets is.
 * They stay done: later products are read behind them too, and the backward pass, which begins
 * with the last segment, undoes them in turn. */
#include "runtime/exec/statevector/plan/plan_stage.h"

#include <stdlib.h>

static uint64_t bit(unsigned b) { return UINT64_C(1) << b; }

static uint64_t swap_bits(uint64_t x, const struct plan_swap *s)
{
	uint64_t differ = (x >> s->rank ^ x >> s->local) & 1;

	return x ^ (differ << s->rank | differ << s->local);
}

static uint64_t swap_all(uint64_t x, const struct plan_segment *g)
{
	for (unsigned k = 0; k < g->nswap; k++)
		x = swap_bits(x, &g->swap[k]);
	return x;
}

/* The product behind the exchange before a segment. */
static void take_behind(struct plan_product *p, const struct plan_segment *g)
{
	p->flip = swap_all(p->flip, g);
	p->sign = swap_all(p->sign, g);
	if (p->flip >> g->control & 1)
		p->flip ^= g->flip;
	if (__builtin_parityll(p->sign & g->flip))
		p->sign ^= bit(g->control);
}

static uint64_t rank_places(const struct plan_segment *g) { return plan_places(g->place, g->rank); }

struct plan_product plan_product(const struct plan_circuit *c, const struct pauli_term *t)
{
	uint32_t n = plan_segment_of(c, c->nstage);
	const uint8_t *place = c->segment[n].place;
	struct pauli_mask m = pauli_mask(t);
	struct plan_product p = { plan_places(place, m.flip), plan_places(place, m.sign), m.ny % 4,
		n };

	while (p.segment + 1 < c->nsegment && (p.flip & rank_places(&c->segment[p.segment])))
		take_behind(&p, &c->segment[++p.segment]);
	return p;
}

uint64_t plan_index(const struct plan_circuit *c, uint64_t index)
{
	uint32_t n = plan_segment_of(c, c->nstage);
	uint64_t at = 0;

	for (uint32_t w = 0; w < c->nbit; w++)
		at |= (index >> w & 1) << c->segment[n].place[c->bit_of_wire[w]];
	while (++n < c->nsegment) {
		at = swap_all(at, &c->segment[n]);
		if (at >> c->segment[n].control & 1)
			at ^= c->segment[n].flip;
	}
	return at;
}

/* ---- segments for products on too many qubits ---- */

static uint64_t highest(uint64_t bits) { return bit(63 - (unsigned)__builtin_clzll(bits)); }

/* Of nbit places. */
static void swap_one(struct plan *pl, struct plan_segment *s, uint8_t rank, uint8_t local,
	unsigned nbit)
{
	struct plan_swap one = { rank, local };
	uint8_t *place = arena_copy(&pl->arena, s->place, nbit, 1);

	for (unsigned b = 0; b < nbit; b++) {
		place[b] = (uint8_t)__builtin_ctzll(swap_bits(bit(place[b]), &one));
		s->rank ^= place[b] == rank || place[b] == local ? bit(b) : 0;
	}
	s->place = place;
	s->swap = arena_copy(&pl->arena, &one, 1, sizeof one);
	s->nswap = 1;
}

/* Behind the last segment, one by which no bit of the product with these places is a rank's, or,
 * where it has none in the rows of a part (`rows`), one by which it has. */
static void add_segment(struct plan *pl, struct plan_circuit *c, uint64_t flip, uint64_t rows,
	unsigned nbit)
{
	const struct plan_segment *before = &c->segment[c->nsegment - 1];
	struct plan_segment s = { .end = before->end, .rank = before->rank, .place = before->place };
	uint64_t rank = flip & rank_places(before);

	if (flip & rows) {
		s.control = (uint8_t)__builtin_ctzll(highest(flip & rows));
		s.flip = rank;
	} else {
		swap_one(pl, &s, (uint8_t)__builtin_ctzll(rank),
			(uint8_t)__builtin_ctzll(highest(rows)), nbit);
	}
	*arena_push(&pl->arena, c->segment, c->nsegment) = s;
}

/* Until a rank alone can read it. */
static void add_product(struct plan *pl, struct plan_circuit *c, const struct pauli_term *t)
{
	unsigned nbit = plan_stored_bits(pl, c->nbit), nlocal = nbit - pl->nrank_bit;
	uint64_t rows = bit(nlocal) - plan_lanes(pl);

	for (uint64_t flip; (flip = plan_product(c, t).flip) >> nlocal;)
		add_segment(pl, c, flip, rows, nbit);
}

/* What is common to products that are read together: bits that they flip, and whether an odd number of factors are y. */
static uint64_t flips_of(const struct pauli_term *t)
{
	struct pauli_mask m = pauli_mask(t);

	return m.flip << 1 | (m.ny & 1);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint32_t visits_of(uint32_t nterm)
{
	uint32_t rest = nterm % PLAN_TOGETHER_MAX;

	return nterm / PLAN_TOGETHER_MAX + (rest < PLAN_TOGETHER_MIN ? rest : 1);
}

static void count_flips(struct plan_circuit *c)
{
	mem_auto uint64_t *flips = mem_alloc(c->nterm + (size_t)1, sizeof *flips);
	size_t n = 0;

	for (uint32_t o = 0; o < c->noutput; o++)
		for (uint32_t t = 0; t < c->output[o].nterm; t++) {
			flips[n] = flips_of(&c->output[o].term[t]);
			n += flips[n] != 0;
		}
	qsort(flips, n, sizeof *flips, compare);
	for (size_t k = 0, end; k < n; k = end) {
		for (end = k + 1; end < n && flips[end] == flips[k]; end++)
			;
		c->nflip += visits_of((uint32_t)(end - k));
	}
}

void plan_products(struct plan *pl, struct plan_circuit *c)
{
	count_flips(c);
	for (uint32_t o = 0; o < c->noutput && pl->nrank_bit; o++)
		for (uint32_t t = 0; t < c->output[o].nterm; t++)
			add_product(pl, c, &c->output[o].term[t]);
}
