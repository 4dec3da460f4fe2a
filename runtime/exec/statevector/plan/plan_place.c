/* SPDX-License-Identifier: Apache-2.0
 * Where the bits of the index lie in the state as it is stored, from stage to stage.
 *
 * A stage puts its blocks back into the rows that they came from, in any order of the bits that are rows of its blocks.
 * Those that the next stages have in their blocks too go to the lowest places: a block is then made of few long runs of
 * memory, which come several times as fast as single rows.  Bits in the lanes keep their places. */
#include "runtime/exec/statevector/plan/plan_stage.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/base/rng.h"

struct placing {
	struct plan *pl;
	struct plan_circuit *c;
	unsigned nlane, nbit;        /* bits in the lanes, bits of the state as stored */
	uint64_t lanes;              /* those that lie in the lanes */
	uint64_t *targets,
		*rows; /* (nstage) bits that its steps change; bits that are rows of its blocks */
	uint64_t *nonzero;           /* (nstage + 1) bits that steps before a stage make nonzero */
	uint32_t first_visit, first_read;    /* the first large stages */
	uint64_t ever_rank;                  /* bits that are rank bits in some segment */
	uint64_t random;
	uint8_t *at;                 /* (nbit) places as they are now */
};

static uint64_t bit(unsigned b) { return UINT64_C(1) << b; }
static bool has(uint64_t bits, unsigned b) { return (bits >> b) & 1; }

static uint64_t stage_controls(const struct placing *p, const struct plan_stage *s)
{
	uint64_t bits = 0;
	for (uint32_t k = s->first; k < s->first + s->count; k++)
		bits |= plan_controls(p->pl, &p->c->step[k]);
	return bits;
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* ---- what lanes are made of ---- */

/* What bits cost in the lanes: of every large stage that changes them, an exchange with the rows in both directions; else, of
 * steps that look at them, masks; and zeros where they are |0> still. */
static void lane_costs(const struct placing *p, uint32_t *cost)
{
	enum { EXCHANGE = 2, LOOK = 1, ZEROS = 16 };
	for (unsigned b = 0; b < p->nbit; b++)
		cost[b] = p->random ? (uint32_t)rng_u64(p->random, RNG_TEST, 2000, b) : 0;
	for (uint32_t k = p->first_visit; k < p->c->nstage && !p->random; k++) {
		const struct plan_stage *s = &p->c->stage[k];
		for (unsigned b = 0; b < p->nbit; b++)
			cost[b] += ZEROS * !has(p->nonzero[k + 1], b)
				+ EXCHANGE * has(p->targets[k], b);
		for (uint32_t n = s->first; n < s->first + s->count; n++)
			for (uint64_t controls = plan_controls(p->pl, &p->c->step[n]) & ~p->targets[k];
				controls; controls &= controls - 1)
				cost[__builtin_ctzll(controls)] += LOOK;
	}
}

/* The cheapest ones, the lowest of them first. */
static void choose_lanes(struct placing *p)
{
	uint32_t cost[64];
	lane_costs(p, cost);
	p->lanes = 0;
	for (unsigned a = 0; a < p->nlane; a++) {
		unsigned best = 64, there = 0;
		for (unsigned b = 0; b < p->nbit; b++)
			if (!has(p->lanes | p->ever_rank, b) && (best == 64 || cost[b] < cost[best]))
				best = b;
		p->lanes |= bit(best);
		while (p->at[there] != a)
			there++;
		p->at[there] = p->at[best];
		p->at[best] = (uint8_t)a;
	}
}

/* ---- what changes its place ---- */

/* Bits that stage k can put back in any order, where it does not hold the whole state.  On the backward pass, a stage that undoes
 * nothing leaves the state as it is. */
static uint64_t put_back(const struct placing *p, uint32_t k)
{
	const struct plan_stage *s = &p->c->stage[k];
	if (s->nlocal + p->nlane == p->nbit && !p->random)
		return 0;
	return s->first + s->count <= p->c->first_transition || plan_duties(p->c, s).undo
		? p->rows[k]
		: 0;
}

/* Bits of the first state that can be in any order: of |0...0>, all. */
static uint64_t at_first(const struct placing *p)
{
	return p->c->nprepare && !p->pl->nrank_bit
		? 0
		: (bit(p->nbit) - 1) & ~p->lanes & ~p->c->segment[0].rank;
}

/* ---- what blocks are made of ---- */

/* A block while it is filled up: bits that are its rows, and how many are missing. */
struct block {
	uint32_t k;
	uint64_t rows, live, avoid, rank;
	unsigned missing;
};

/* How well bit b fills a block up: it should not be |0> still, which would make zeros part of the block; nor one that steps
 * look at, where some go to the lanes; and be in the blocks of the stages beside. */
static unsigned worth(const struct placing *p, const struct block *f, unsigned b)
{
	uint64_t before = f->k > 0 ? p->rows[f->k - 1] : 0,
		 next = f->k + 1 < p->c->nstage ? p->targets[f->k + 1] : 0;
	if (p->random)
		return (unsigned)(rng_u64(p->random, RNG_TEST, f->k, b) % 8);
	return 8 * has(f->live, b) + 4 * !has(f->avoid, b) + has(before, b) + 2 * has(next, b);
}

/* Add the best of these bits, the lowest of them. */
static unsigned add_best(const struct placing *p, struct block *f, uint64_t of)
{
	unsigned best = (unsigned)__builtin_ctzll(of);
	for (unsigned b = best + 1; b < p->nbit; b++)
		if (has(of, b) && worth(p, f, b) > worth(p, f, best))
			best = b;
	f->rows |= bit(best);
	f->missing--;
	return best;
}

static unsigned bit_at(const struct placing *p, unsigned place)
{
	unsigned b = 0;
	while (p->at[b] != place)
		b++;
	return b;
}

/* Bits that are at the lowest places, or can be brought there by the stage before: some of `mobile`, which has all of
 * them up to the first large stage. */
static void add_run(const struct placing *p, struct block *f, uint64_t mobile)
{
	enum { RUN = 6 };   /* rows, as a power of two: longer runs are not faster */
	unsigned common = bits_count(mobile & f->rows);
	for (unsigned place = p->nlane; place < p->nlane + RUN && place < p->nbit; place++) {
		unsigned b = bit_at(p, place);
		uint64_t can = (has(mobile, b) ? mobile : bit(b)) & f->live & ~f->rows & ~f->rank;
		if (has(mobile, b) ? common > 0 : has(f->rows, b))
			common -= has(mobile, b);
		else if (can && f->missing > 0)
			add_best(p, f, can);
		else
			break;
	}
}

/* The rows of a block of stage k: bits that its steps change, those that change places with the ones in the lanes, and
 * others up to the same number. */
static void fill_block(struct placing *p, uint32_t k)
{
	struct plan_stage *s = &p->c->stage[k];
	uint64_t targets = p->targets[k], inside = targets & p->lanes,
		 rank = p->c->segment[s->segment].rank,
		 outside = (bit(p->nbit) - 1) & ~p->lanes & ~rank, spare, local;
	struct block f = { k, targets & outside, p->nonzero[k + 1],
		inside ? stage_controls(p, s) : 0, rank, 0 };
	uint8_t *partner = arena_alloc(&p->pl->arena, p->nlane, 1),
		*near = arena_alloc(&p->pl->arena, s->nlocal, 1);
	unsigned n = 0;
	f.missing = s->nlocal - bits_count(f.rows);
	if (!p->random)
		add_run(p, &f, k == 0 || (k <= p->first_read && at_first(p)) ? at_first(p) : put_back(p, k - 1));
	while (f.missing > 0)
		add_best(p, &f, outside & ~f.rows);
	p->rows[k] = local = f.rows;
	for (spare = f.rows & ~targets, f.rows = 0; inside; inside &= inside - 1) {
		unsigned b = add_best(p, &f, spare & ~f.rows);
		partner[p->at[__builtin_ctzll(inside)]] = (uint8_t)b;
		local &= ~bit(b);
	}
	for (local |= targets; local; local &= local - 1)
		near[n++] = (uint8_t)__builtin_ctzll(local);
	s->local = near;
	s->partner = partner;
}

/* ---- where they lie ---- */

static bool is_row(const struct placing *p, uint32_t k, unsigned b)
{
	return has(p->rows[k] | p->targets[k], b);
}

/* Bits that become rank bits in the next exchange after places before stage k are chosen. */
static uint64_t leaving(const struct placing *p, uint32_t k)
{
	uint32_t n = p->c->stage[k ? k - 1 : 0].segment;
	return n + 1 < p->c->nsegment ? p->c->segment[n + 1].rank & ~p->c->segment[n].rank : 0;
}

/* How low bit b should lie before stage k: most of all where it is a row of a block then, or of the first stage that reads
 * much; then for as many large ones before that. Bits that leave the rank should lie above those that stay, so that they
 * are exchanged in few long runs. */
static uint32_t nearness(const struct placing *p, uint32_t k, unsigned b)
{
	enum { NOW = 64 };
	uint32_t at = larger(k, p->first_read), from = larger(k, p->first_visit), value = 0;
	if (p->random)
		return (uint32_t)rng_u64(p->random, RNG_TEST, 1000 + k, b);
	for (uint32_t n = at; n > from && is_row(p, n - 1, b); n--)
		value++;
	if (at < p->c->nstage && is_row(p, at, b))
		value += NOW;
	return 2 * value + !has(leaving(p, k), b);
}

/* Give the places that `bits` have to the same bits, as stage k and the next want them. */
static void sort_places(struct placing *p, uint64_t bits, uint32_t k)
{
	uint64_t places = plan_places(p->at, bits), left = bits;
	uint32_t near[64];
	uint8_t before[64];
	memcpy(before, p->at, p->nbit);
	for (; left; left &= left - 1)
		near[__builtin_ctzll(left)] = nearness(p, k, (unsigned)__builtin_ctzll(left));
	for (left = bits; left; places &= places - 1) {
		unsigned best = 64;
		for (uint64_t rest = left; rest; rest &= rest - 1) {
			unsigned b = (unsigned)__builtin_ctzll(rest);
			if (best == 64 || near[b] > near[best] || (near[b] == near[best] && before[b] < before[best]))
				best = b;
		}
		p->at[best] = (uint8_t)__builtin_ctzll(places);
		left &= ~bit(best);
	}
}

static const uint8_t *places_now(struct placing *p) { return arena_copy(&p->pl->arena, p->at, p->nbit, 1); }

/* Bits that the backward pass, where it visits the stage, finds nonzero by later ones. */
static uint64_t left(const struct placing *p, const struct plan_stage *s)
{
	return s->first + s->count > p->c->first_transition ? plan_left(p->pl, p->c, s->first) : 0;
}

/* The first stage that visits an eighth of the state, or that also reads it: what is written by non-temporal stores alone may be
 * in any order. */
static uint32_t first_large(const struct placing *p, bool reads)
{
	uint32_t k = 0;
	if (ldexp(plan_amplitude_bytes(p->pl), (int)p->nbit) <= p->pl->nontemporal_bytes)
		reads = false;
	while (k < p->c->nstage) {
		const struct plan_stage *s = &p->c->stage[k];
		uint64_t there =
			reads ? p->nonzero[k] : p->nonzero[k + 1] | plan_local(s) | left(p, s);
		if (bits_count(there) + 3 >= p->nbit)
			break;
		k++;
	}
	return k;
}

/* Bits that leave become rank bits in the order of their places, and those that come take their places. */
static void exchange(struct placing *p, struct plan_segment *to, uint64_t rank_before)
{
	uint64_t leave = to->rank & ~rank_before, enter = rank_before & ~to->rank;
	struct plan_swap *swap = arena_alloc(&p->pl->arena, bits_count(leave), sizeof *swap);
	to->swap = swap;
	for (unsigned place = p->nlane; place < p->nbit; place++) {
		unsigned out = bit_at(p, place), in = 64;
		if (!has(leave, out))
			continue;
		for (unsigned b = 0; b < p->nbit; b++)
			if (has(enter, b) && (in == 64 || p->at[b] < p->at[in]))
				in = b;
		swap[to->nswap++] = (struct plan_swap){ p->at[in], (uint8_t)place };
		p->at[out] = p->at[in];
		p->at[in] = (uint8_t)place;
		leave &= ~bit(out);
		enter &= ~bit(in);
	}
}

/* The exchanges before segments from .. to. */
static void exchanges(struct placing *p, uint32_t from, uint32_t to)
{
	for (uint32_t n = from; n <= to; n++) {
		exchange(p, &p->c->segment[n], p->c->segment[n - 1].rank);
		p->c->segment[n].place = places_now(p);
	}
}

/* Rank bits are at the highest places. */
static void start_places(struct placing *p)
{
	uint64_t rank = p->c->segment[0].rank;
	unsigned local = 0, high = p->nbit - bits_count(rank);
	for (unsigned b = 0; b < p->nbit; b++)
		p->at[b] = (uint8_t)(has(rank, b) ? high++ : local++);
	for (uint32_t n = 0; n < p->c->nsegment; n++)
		p->ever_rank |= p->c->segment[n].rank;
	for (unsigned b = 0; b < p->nbit; b++)
		p->lanes |= p->at[b] < p->nlane ? bit(b) : 0;
}

void plan_place(struct plan *pl, struct plan_circuit *c, uint64_t random)
{
	uint8_t at[64];
	uint32_t filled = 0;
	struct placing p = { .pl = pl, .c = c, .nbit = c->nbit, .random = random, .at = at };
	if (c->nstage || pl->nrank_bit) {
		p.nbit = plan_stored_bits(pl, c->nbit);
		p.nlane = plan_lane_bits(pl);
	}
	start_places(&p);
	p.targets = mem_alloc(c->nstage, sizeof *p.targets);
	p.rows = mem_alloc(c->nstage, sizeof *p.rows);
	p.nonzero = mem_alloc(c->nstage + (size_t)1, sizeof *p.nonzero);
	for (uint32_t k = 0; k < c->nstage; k++) {
		for (uint32_t s = c->stage[k].first; s < c->stage[k].first + c->stage[k].count; s++)
			p.targets[k] |= plan_targets(pl, &c->step[s]);
		p.nonzero[k] = k > 0 ? p.nonzero[k - 1] | p.targets[k - 1]
				     : plan_nonzero(pl, c, c->stage[0].first);
		p.nonzero[k + 1] = p.nonzero[k] | p.targets[k];
	}
	p.first_visit = first_large(&p, false);
	p.first_read = first_large(&p, true);
	if ((c->nprepare == 0 || pl->nrank_bit) && (c->nstage || pl->nrank_bit))
		choose_lanes(&p);
	while (filled < c->nstage && filled <= p.first_read)   /* the first places are made for all of these */
		fill_block(&p, filled++);
	c->segment[0].place = places_now(&p);
	for (uint32_t k = 0; k < c->nstage; k++) {
		struct plan_stage *s = &c->stage[k];
		uint32_t before = k ? s[-1].segment : 0;
		if (k == filled)
			fill_block(&p, filled++);
		sort_places(&p, k == 0 ? at_first(&p) : put_back(&p, k - 1), k);
		if (k) {
			s[-1].after = places_now(&p);
			c->segment[before].place = s[-1].after;
		}
		exchanges(&p, before + 1, s->segment);
		s->place = places_now(&p);
	}
	if (c->nstage) {
		uint32_t last = plan_segment_of(c, c->nstage);
		c->stage[c->nstage - 1].after = c->segment[last].place = places_now(&p);
	}
	exchanges(&p, plan_segment_of(c, c->nstage) + 1, c->nsegment - 1);
	c->place = places_now(&p);
	free(p.targets);
	free(p.rows);
	free(p.nonzero);
}

uint64_t plan_places(const uint8_t *place, uint64_t bits)
{
	uint64_t at = 0;
	for (; bits; bits &= bits - 1)
		at |= bit(place[__builtin_ctzll(bits)]);
	return at;
}

uint64_t plan_lanes_inside(const struct plan *pl, const struct plan_stage *s)
{
	unsigned nlane = plan_lane_bits(pl), nbit = 0;
	uint64_t lanes = 0, local = plan_local(s);
	if (!s->place)
		return bit(nlane) - 1;
	for (unsigned found = 0; found < nlane; nbit++)
		if (s->place[nbit] < nlane) {
			lanes |= bit(has(local, nbit) ? s->partner[s->place[nbit]] : nbit);
			found++;
		}
	return lanes;
}

unsigned plan_run(const struct plan *pl, const struct plan_stage *s)
{
	unsigned nlane = plan_lane_bits(pl), run = nlane;
	uint64_t places = 0;
	for (unsigned k = 0; k < s->nlocal; k++) {
		unsigned at = s->place[s->local[k]];
		places |= bit(at < nlane ? s->place[s->partner[at]] : at);
	}
	while (has(places, run))
		run++;
	return run;
}
