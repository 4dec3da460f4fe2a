/* SPDX-License-Identifier: Apache-2.0
 * Stages: a greedy list schedule over the steps of one circuit. */
#include "config.h"
#include "runtime/exec/plan_stage.h"
#include "runtime/base/rng.h"

enum {
	STAGE_BLOCK_BYTES = 256 << 10,   /* one block of one state: two of them are half an L2 of 1 MiB */
	STAGE_HOT_MAX = 20,
	STAGE_SPARE_ROWS = 3             /* row bits a stored state has at least: one 3-qubit matrix */
};

unsigned plan_lanes(enum isa isa, enum precision p)
{
	static const unsigned bytes[ISA_COUNT] = { [ISA_BASELINE] = 16, [ISA_AVX2] = 32, [ISA_AVX512] = 64 };
	if (isa == ISA_NONE)
		return 1;
	return bytes[isa] / (p == PRECISION_DOUBLE ? 8 : 4);
}

static unsigned log2_of(unsigned x)
{
	unsigned k = 0;
	while ((1u << k) < x)
		k++;
	return k;
}

unsigned plan_stored_bits(enum isa isa, enum precision p, unsigned nbit)
{
	unsigned least = log2_of(plan_lanes(isa, p)) + STAGE_SPARE_ROWS;
	return isa != ISA_NONE && nbit < least ? least : nbit;
}

static unsigned hot_limit(const struct plan *pl, const struct plan_circuit *c)
{
	unsigned lanes = plan_lanes(pl->isa, pl->precision);
	unsigned row_bytes = 2 * lanes * (pl->precision == PRECISION_DOUBLE ? 8 : 4);
	unsigned hot = log2_of(STAGE_BLOCK_BYTES / row_bytes);
	unsigned rows = plan_stored_bits(pl->isa, pl->precision, c->nbit) - log2_of(lanes);
	if (hot > rows)
		hot = rows;
	return hot > STAGE_HOT_MAX ? STAGE_HOT_MAX : hot;
}

static uint64_t step_targets(const struct plan_step *s)
{
	uint64_t bits = 0;
	for (unsigned k = 0; k < s->ntarget; k++)
		bits |= UINT64_C(1) << s->bit[k];
	return bits;
}

bool plan_diagonal(const struct plan *pl, const struct plan_step *s)
{
	return s->op == STEP_UNITARY && (pl->set.def[s->matrix]->flags & MATRIX_DIAGONAL);
}

uint64_t plan_moved(const struct plan *pl, const struct plan_step *s)
{
	return plan_diagonal(pl, s) ? 0 : step_targets(s);
}

uint64_t plan_looked(const struct plan *pl, const struct plan_step *s)
{
	return s->control_mask | (plan_diagonal(pl, s) ? step_targets(s) : 0);
}

/* What steps that were left behind hold back. */
struct held { uint64_t moved, looked; };

static bool is_held(const struct held *h, uint64_t moved, uint64_t looked)
{
	return (moved & (h->moved | h->looked)) || (looked & h->moved);
}

static void hold(struct held *h, uint64_t moved, uint64_t looked)
{
	h->moved |= moved;
	h->looked |= looked;
}

/* The schedule as it grows: steps in their new order. */
struct schedule {
	const struct plan *pl;
	const struct plan_circuit *c;
	struct plan_step *order;
	bool *done;
	uint32_t n;
	unsigned limit;
	uint64_t random;
};

/* Take into one stage every step that no earlier step left out holds back, while the
 * bits it changes fit; returns the stage's hot bits. */
static uint64_t fill_stage(struct schedule *s, uint32_t begin, uint32_t end)
{
	uint64_t hot = 0, all = (UINT64_C(1) << s->c->nbit) - 1;
	struct held held = { 0, 0 };
	for (uint32_t k = begin; k < end && held.moved != all; k++) {
		const struct plan_step *st = &s->c->step[k];
		if (s->done[k])
			continue;
		uint64_t moved = plan_moved(s->pl, st), looked = plan_looked(s->pl, st);
		bool fits = (unsigned)__builtin_popcountll(hot | moved) <= s->limit;
		if (s->random && hot && rng_u64(s->random, RNG_TEST, k, s->n) % 4 == 0)
			fits = false;
		if (is_held(&held, moved, looked) || !fits) {
			hold(&held, moved, looked);
			continue;
		}
		hot |= moved;
		s->done[k] = true;
		s->order[s->n++] = *st;
	}
	return hot;
}

/* Hot bits up to the limit, the lowest free ones first: longer runs in memory. */
static uint64_t fill_hot(uint64_t hot, unsigned limit, unsigned nbit, unsigned low)
{
	for (unsigned b = low; b < nbit && (unsigned)__builtin_popcountll(hot) < limit; b++)
		hot |= UINT64_C(1) << b;
	return hot;
}

static void put_stage(struct plan *pl, struct plan_stage *st, uint32_t first, uint32_t last, uint64_t hot)
{
	unsigned n = (unsigned)__builtin_popcountll(hot);
	uint8_t *bit = arena_alloc(&pl->arena, n, 1);
	for (unsigned k = 0; k < n; k++, hot &= hot - 1)
		bit[k] = (uint8_t)__builtin_ctzll(hot);
	*st = (struct plan_stage){ .first = first, .count = last - first, .nhot = (uint8_t)n, .hot = bit };
}

static void prepare_first(struct schedule *s)
{
	for (uint32_t k = 0; k < s->c->nstep; k++)
		if (s->c->step[k].op == STEP_PREPARE) {
			s->done[k] = true;
			s->order[s->n++] = s->c->step[k];
		}
}

static uint32_t find_first_cross(const struct plan_circuit *c)
{
	uint32_t k = 0;
	while (k < c->nstep && !c->step[k].cross)
		k++;
	return k;
}

void plan_start(struct plan *pl, struct plan_circuit *c)
{
	struct plan_step *order = arena_alloc(&pl->arena, c->nstep, sizeof *order);
	bool *taken = arena_alloc(&pl->arena, c->nstep, sizeof *taken);
	struct held held = { 0, 0 };
	uint32_t n = 0;
	if (c->nprepare > 0 || pl->isa == ISA_NONE || pl->shape == SHAPE_SHARED)
		return;
	for (uint32_t k = 0; k < c->nstep; k++) {
		const struct plan_step *s = &c->step[k];
		uint64_t moved = plan_moved(pl, s), looked = plan_looked(pl, s);
		taken[k] = pl->set.def[s->matrix]->cls == VALUE_CONSTANT && !is_held(&held, moved, looked);
		if (taken[k])
			order[n++] = *s;
		else
			hold(&held, moved, looked);
	}
	c->nstart = n;
	for (uint32_t k = 0; k < c->nstep; k++)
		if (!taken[k])
			order[n++] = c->step[k];
	c->step = order;
	c->first_cross = find_first_cross(c);
}

int plan_stages(struct plan *pl, struct plan_circuit *c, uint64_t random, struct err *e)
{
	unsigned lanes_log2 = log2_of(plan_lanes(pl->isa, pl->precision));
	unsigned nbit = plan_stored_bits(pl->isa, pl->precision, c->nbit);
	struct schedule s = { .pl = pl, .c = c, .limit = hot_limit(pl, c), .random = random };
	if (nbit > 63)
		return err_set(e, -ERR_CONFIG, "a state vector of %u qubits does not fit any machine", c->nbit);
	s.order = arena_alloc(&pl->arena, c->nstep, sizeof *s.order);
	s.done = arena_alloc(&pl->arena, c->nstep, sizeof *s.done);
	c->stage = arena_alloc(&pl->arena, c->nstep, sizeof *c->stage);
	c->nstage = 0;
	prepare_first(&s);
	for (uint32_t begin = 0; s.n < c->nstep; ) {
		uint32_t first = s.n;
		bool start = first < c->nstart;
		while (s.done[begin])
			begin++;
		c->nstart_stage += start;
		uint64_t hot = fill_stage(&s, begin, start ? c->nstart : c->nstep);
		hot = fill_hot(hot, s.limit, nbit, lanes_log2);
		put_stage(pl, &c->stage[c->nstage++], first, s.n, hot);
	}
	c->step = s.order;
	c->first_cross = find_first_cross(c);
	return 0;
}
