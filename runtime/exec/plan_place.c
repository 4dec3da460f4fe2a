/* SPDX-License-Identifier: Apache-2.0
 * Where the bits of the index lie in the state as it is stored, from stage to stage.
 *
 * A stage puts its blocks back into the rows that they came from, in any order of the bits that are rows of its blocks.
 * Those that the next stages have in their blocks too go to the lowest places: a block is then made of few long runs of
 * memory, which come several times as fast as single rows.  Bits in the lanes keep their places. */
#include "config.h"
#include "runtime/exec/plan_stage.h"
#include <stdlib.h>
#include <string.h>
#include "runtime/base/rng.h"

struct placing {
	struct plan *pl;
	struct plan_circuit *c;
	unsigned nlane, nbit;        /* bits in the lanes, bits of the state as stored */
	uint64_t *moved, *rows;      /* (nstage) bits that its steps change; bits that are rows of its blocks */
	uint32_t first_large;        /* the first stage whose way through memory matters */
	uint64_t random;
	uint8_t *at;                 /* (nbit) places as they are now */
};

static uint64_t bit(unsigned b) { return UINT64_C(1) << b; }
static unsigned count(uint64_t bits) { return (unsigned)__builtin_popcountll(bits); }
static bool has(uint64_t bits, unsigned b) { return (bits >> b) & 1; }
static uint64_t lanes_of(const struct placing *p) { return bit(p->nlane) - 1; }

static uint64_t stage_hot(const struct plan_stage *s)
{
	uint64_t bits = 0;
	for (unsigned k = 0; k < s->nhot; k++)
		bits |= bit(s->hot[k]);
	return bits;
}

static uint64_t stage_looked(const struct placing *p, const struct plan_stage *s)
{
	uint64_t bits = 0;
	for (uint32_t k = s->first; k < s->first + s->count; k++)
		bits |= plan_looked(p->pl, &p->c->step[k]);
	return bits;
}

/* ---- what blocks are made of ---- */

/* How well bit b fills a block of stage k up: it should not be |0> still, which would make zeros part of the block; nor, in
 * the lanes, be one that steps look at; and be in the blocks of the stages beside. */
static unsigned worth(const struct placing *p, uint32_t k, unsigned b, uint64_t live, uint64_t avoid)
{
	uint64_t before = k > 0 ? p->rows[k - 1] : 0, next = k + 1 < p->c->nstage ? p->moved[k + 1] : 0;
	if (p->random)
		return (unsigned)(rng_u64(p->random, RNG_TEST, k, b) % 8);
	return 8 * has(live, b) + 4 * !has(avoid, b) + has(before, b) + 2 * has(next, b);
}

/* The best bit that is free, the lowest of them. */
static unsigned best_bit(const struct placing *p, uint32_t k, uint64_t free, uint64_t live, uint64_t avoid)
{
	unsigned best = (unsigned)__builtin_ctzll(free), most = worth(p, k, best, live, avoid);
	for (unsigned b = best + 1; b < p->nbit; b++)
		if (has(free, b) && worth(p, k, b, live, avoid) > most) {
			most = worth(p, k, b, live, avoid);
			best = b;
		}
	return best;
}

/* The rows of a block of stage k: bits that its steps change, those that change places with the ones in the lanes, and
 * others up to the same number. */
static void fill_block(struct placing *p, uint32_t k)
{
	struct plan_stage *s = &p->c->stage[k];
	uint64_t moved = p->moved[k], live = plan_turned(p->pl, p->c, s->first + s->count), looked = stage_looked(p, s);
	uint64_t rows = moved & ~lanes_of(p), hot = moved, all = bit(p->nbit) - 1;
	uint8_t *partner = arena_alloc(&p->pl->arena, p->nlane, 1), *near = arena_alloc(&p->pl->arena, s->nhot, 1);
	unsigned n = 0;
	for (unsigned a = 0; a < p->nlane; a++)
		if (has(moved, a)) {
			partner[a] = (uint8_t)best_bit(p, k, all & ~(rows | lanes_of(p)), live, looked);
			rows |= bit(partner[a]);
		}
	while (count(rows) < s->nhot) {
		unsigned b = best_bit(p, k, all & ~(rows | lanes_of(p)), live, 0);
		rows |= bit(b);
		hot |= bit(b);
	}
	p->rows[k] = rows;
	for (; hot; hot &= hot - 1)
		near[n++] = (uint8_t)__builtin_ctzll(hot);
	s->hot = near;
	s->partner = partner;
}

/* ---- where they lie ---- */

/* From which stage on, k or later, bit b is no row of a block. */
static uint32_t stays(const struct placing *p, uint32_t k, unsigned b)
{
	if (p->random)
		return (uint32_t)rng_u64(p->random, RNG_TEST, 1000 + k, b);
	while (k < p->c->nstage && has(p->rows[k], b))
		k++;
	return k;
}

/* Give the places that `bits` have to the same bits: the lowest to those that stay longest in blocks from stage k on. */
static void sort_places(struct placing *p, uint64_t bits, uint32_t k)
{
	uint64_t places = 0, left = bits;
	uint8_t before[64];
	memcpy(before, p->at, p->nbit);
	for (; left; left &= left - 1)
		places |= bit(before[__builtin_ctzll(left)]);
	for (left = bits; left; places &= places - 1) {
		unsigned best = 64;
		for (uint64_t rest = left; rest; rest &= rest - 1) {
			unsigned b = (unsigned)__builtin_ctzll(rest);
			if (best == 64 || stays(p, k, b) > stays(p, k, best) || (stays(p, k, b) == stays(p, k, best) && before[b] < before[best]))
				best = b;
		}
		p->at[best] = (uint8_t)__builtin_ctzll(places);
		left &= ~bit(best);
	}
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static const uint8_t *places_now(struct placing *p) { return arena_copy(&p->pl->arena, p->at, p->nbit, 1); }

/* The first stage that visits an eighth of the state. */
static uint32_t first_large(const struct placing *p)
{
	uint32_t k = 0;
	while (k < p->c->nstage && count(plan_turned(p->pl, p->c, p->c->stage[k].first + p->c->stage[k].count)
			| stage_hot(&p->c->stage[k])) + 3 < p->nbit)
		k++;
	return k;
}

/* On the way back, where it has to be visited?  A stage that undoes nothing leaves the state as it is. */
static bool is_put_back(const struct plan_circuit *c, const struct plan_stage *s)
{
	if (s->first + s->count <= c->first_cross)
		return true;
	for (uint32_t k = s->first; k < s->first + s->count; k++)
		if (c->step[k].undo)
			return true;
	return false;
}

void plan_place(struct plan *pl, struct plan_circuit *c, uint64_t random)
{
	uint8_t at[64];
	struct placing p = { .pl = pl, .c = c, .nbit = c->nbit, .random = random, .at = at };
	if (c->nstage) {
		p.nbit = plan_stored_bits(pl->isa, pl->precision, c->nbit);
		p.nlane = (unsigned)__builtin_ctz(plan_lanes(pl->isa, pl->precision));
	}
	for (unsigned b = 0; b < p.nbit; b++)
		at[b] = (uint8_t)b;
	p.moved = mem_alloc(c->nstage + 1, sizeof *p.moved);
	p.rows = mem_alloc(c->nstage + 1, sizeof *p.rows);
	for (uint32_t k = 0; k < c->nstage; k++)
		for (uint32_t s = c->stage[k].first; s < c->stage[k].first + c->stage[k].count; s++)
			p.moved[k] |= plan_moved(pl, &c->step[s]);
	for (uint32_t k = 0; k < c->nstage; k++)
		fill_block(&p, k);
	p.first_large = first_large(&p);
	if (c->nprepare == 0 && c->nstage)   /* |0...0> is the same with its bits in any order */
		sort_places(&p, (bit(p.nbit) - 1) & ~lanes_of(&p), p.first_large);
	for (uint32_t k = 0; k < c->nstage; k++) {
		c->stage[k].place = places_now(&p);
		if (is_put_back(c, &c->stage[k]))
			sort_places(&p, p.rows[k], larger(k + 1, p.first_large));
	}
	c->place = places_now(&p);
	free(p.moved);
	free(p.rows);
}

unsigned plan_run(const struct plan *pl, const struct plan_stage *s)
{
	unsigned nlane = (unsigned)__builtin_ctz(plan_lanes(pl->isa, pl->precision)), run = nlane;
	uint64_t places = 0;
	for (unsigned k = 0; k < s->nhot; k++) {
		unsigned b = s->hot[k] < nlane ? s->partner[s->hot[k]] : s->hot[k];
		places |= bit(s->place[b]);
	}
	while (has(places, run))
		run++;
	return run;
}
