/* SPDX-License-Identifier: Apache-2.0
 * Stages: a list schedule over the steps of one circuit, one stage after the other, each with the local
 * bits that take the most work into it. */
#include "runtime/exec/statevector/plan/plan_stage.h"
#include "runtime/exec/statevector/plan/plan_build.h"
#include <stdlib.h>
#include "runtime/base/rng.h"

enum {
	STAGE_LOCAL_MAX = 20,
	STAGE_SPARE_ROWS = 3 /* row bits a stored state has at least: one 3-qubit matrix */
};

unsigned plan_stored_bits(const struct plan *pl, unsigned nbit)
{
	unsigned least = plan_lane_bits(pl) + STAGE_SPARE_ROWS + pl->nrank_bit;
	return target_can(pl->target, TARGET_STAGES) && nbit < least ? least : nbit;
}

/* random: of the stage with that number. */
static unsigned local_limit(const struct plan *pl, const struct plan_circuit *c, uint64_t random,
	uint32_t stage)
{
	unsigned row_bytes = plan_lanes(pl) * plan_amplitude_bytes(pl);
	unsigned local = (unsigned)__builtin_ctz(pl->target->block_bytes / row_bytes);
	unsigned rows = plan_stored_bits(pl, c->nbit) - plan_lane_bits(pl) - pl->nrank_bit;
	if (local > rows)
		local = rows;
	if (random && local > STAGE_SPARE_ROWS)
		local = STAGE_SPARE_ROWS
			+ (unsigned)(rng_u64(random, RNG_TEST, 3, stage) % (local - STAGE_SPARE_ROWS));
	return local > STAGE_LOCAL_MAX ? STAGE_LOCAL_MAX : local;
}

static uint64_t set_of(const uint8_t *bit, unsigned n) { return bits_spread(UINT64_MAX, bit, n); }

uint64_t plan_step_bits(const struct plan_step *s)
{
	return s->control_mask | set_of(s->bit, s->ntarget);
}

uint64_t plan_local(const struct plan_stage *s) { return set_of(s->local, s->nlocal); }

bool plan_diagonal(const struct plan *pl, const struct plan_step *s)
{
	return s->op == STEP_UNITARY && (pl->set.def[s->matrix]->flags & MATRIX_DIAGONAL);
}

uint64_t plan_targets(const struct plan *pl, const struct plan_step *s)
{
	return plan_diagonal(pl, s) ? 0 : set_of(s->bit, s->ntarget);
}

uint64_t plan_controls(const struct plan *pl, const struct plan_step *s)
{
	return plan_diagonal(pl, s) ? plan_step_bits(s) : s->control_mask;
}

/* The schedule as it grows: steps in their new order. */
struct schedule {
	const struct plan *pl;
	const struct plan_circuit *c;    /* its steps are those to be scheduled */
	struct plan_step *order;
	bool *done;
	uint32_t n;
	struct plan_stage *stage;
	uint32_t nstage, nstart_stage;
	unsigned limit; /* local bits of the stage that is made */
	uint64_t random, visits;
};

/* Visits of steps that the search for local bits may look at, for one cut, and steps ahead in one look. */
enum { SEARCH_VISITS = 20000000, SEARCH_AHEAD = 2048 };

static bool is_local(const struct schedule *s, const struct plan_step *st, uint64_t local)
{
	uint64_t targets = plan_targets(s->pl, st);
	return targets ? !(targets & ~local) : (plan_controls(s->pl, st) & local) != 0;
}

/* Work that a stage with these local bits would take: arithmetic of its steps, and their visits of a block. */
static double stage_gain(struct schedule *s, uint32_t begin, uint32_t end, uint64_t local)
{
	enum { VISIT = 12 };
	uint64_t all = (UINT64_C(1) << s->c->nbit) - 1;
	struct held held = { 0, 0 };
	double gain = 0;
	uint32_t last = end - begin > SEARCH_AHEAD ? begin + SEARCH_AHEAD : end;
	for (uint32_t k = begin; k < last && held.targets != all; k++) {
		const struct plan_step *st = &s->c->step[k];
		s->visits++;
		if (s->done[k])
			continue;
		uint64_t targets = plan_targets(s->pl, st), controls = plan_controls(s->pl, st);
		if (plan_is_held(&held, targets, controls) || !is_local(s, st, local))
			plan_hold(&held, targets, controls);
		else
			gain += VISIT + plan_cost(st->ntarget, s->pl->set.def[st->matrix]->flags);
	}
	return gain;
}

/* Bits in the order in which steps want them, as many as fit. */
static uint64_t first_local(struct schedule *s, uint32_t begin, uint32_t end)
{
	uint64_t local = 0, all = (UINT64_C(1) << s->c->nbit) - 1;
	struct held held = { 0, 0 };
	for (uint32_t k = begin; k < end && held.targets != all; k++) {
		const struct plan_step *st = &s->c->step[k];
		uint64_t targets = plan_targets(s->pl, st), controls = plan_controls(s->pl, st);
		if (s->done[k])
			continue;
		if (plan_is_held(&held, targets, controls) || bits_count(local | targets) > s->limit
			|| (s->random && local && rng_u64(s->random, RNG_TEST, k, s->n) % 4 == 0))
			plan_hold(&held, targets, controls);
		else
			local |= targets;
	}
	return local;
}

/* The best exchange of one local bit for another; false when none is better. */
static bool exchange_bit(struct schedule *s, uint32_t begin, uint32_t end, uint64_t *local,
	double *gain)
{
	uint64_t best = *local;
	for (unsigned out = 0; out < s->c->nbit; out++)
		for (unsigned in = 0; in < s->c->nbit; in++) {
			uint64_t other = (*local & ~(UINT64_C(1) << out)) | UINT64_C(1) << in;
			if (!((*local >> out) & 1) || ((*local >> in) & 1))
				continue;
			double g = stage_gain(s, begin, end, other);
			if (g > *gain) {
				*gain = g;
				best = other;
			}
		}
	if (best == *local)
		return false;
	*local = best;
	return true;
}

/* Local bits of the next stage: first come, first served, then exchanged while that takes more work into it. */
static uint64_t choose_local(struct schedule *s, uint32_t begin, uint32_t end)
{
	uint64_t local = first_local(s, begin, end);
	if (s->random || bits_count(local) < s->limit)
		return local;
	double gain = stage_gain(s, begin, end, local);
	while (s->visits < SEARCH_VISITS && exchange_bit(s, begin, end, &local, &gain))
		;
	return local;
}

/* Take into a stage every step that no step left out holds back and that is local; with `diagonal`, also diagonal steps
 * whose bits are all outside the block. */
static void fill_stage(struct schedule *s, uint32_t begin, uint32_t end, uint64_t local, bool diagonal)
{
	uint64_t all = (UINT64_C(1) << s->c->nbit) - 1;
	struct held held = { 0, 0 };
	for (uint32_t k = begin; k < end && held.targets != all; k++) {
		const struct plan_step *st = &s->c->step[k];
		if (s->done[k])
			continue;
		uint64_t targets = plan_targets(s->pl, st), controls = plan_controls(s->pl, st);
		if (plan_is_held(&held, targets, controls)
			|| !(is_local(s, st, local) || (diagonal && !targets))) {
			plan_hold(&held, targets, controls);
			continue;
		}
		s->done[k] = true;
		s->order[s->n++] = *st;
	}
}

/* Is nothing left that changes bits? */
static bool all_moved(const struct schedule *s, uint32_t begin, uint32_t end)
{
	for (uint32_t k = begin; k < end; k++)
		if (!s->done[k] && plan_targets(s->pl, &s->c->step[k]))
			return false;
	return true;
}

/* Local bits up to the limit, the lowest free ones first (longer runs in memory) that are not among `rank`. */
static uint64_t fill_local(uint64_t local, unsigned limit, unsigned nbit, unsigned low, uint64_t rank)
{
	for (unsigned b = low; b < nbit && bits_count(local) < limit; b++)
		local |= (UINT64_C(1) << b) & ~rank;
	return local;
}

static void put_stage(struct plan *pl, struct plan_stage *st, uint32_t first, uint32_t last,
	uint64_t local, uint32_t segment)
{
	unsigned n = bits_count(local);
	uint8_t *bit = arena_alloc(&pl->arena, n, 1);
	for (unsigned k = 0; k < n; k++, local &= local - 1)
		bit[k] = (uint8_t)__builtin_ctzll(local);
	*st = (struct plan_stage){
		.first = first, .count = last - first, .nlocal = (uint8_t)n, .local = bit, .segment = segment
	};
}

static void prepare_first(struct schedule *s)
{
	for (uint32_t k = 0; k < s->c->nstep; k++)
		if (s->c->step[k].op == STEP_PREPARE) {
			s->done[k] = true;
			s->order[s->n++] = s->c->step[k];
		}
}

uint64_t plan_nonzero(const struct plan *pl, const struct plan_circuit *c, uint32_t nstep)
{
	uint64_t bits = 0, all = (UINT64_C(1) << c->nbit) - 1;
	for (uint32_t k = 0; k < nstep && bits != all; k++)
		bits |= plan_targets(pl, &c->step[k]);
	return bits;
}

uint64_t plan_left(const struct plan *pl, const struct plan_circuit *c, uint32_t first)
{
	uint64_t bits = 0, all = (UINT64_C(1) << c->nbit) - 1;
	for (uint32_t k = first; k < c->nstep && bits != all; k++)
		bits |= c->step[k].undo ? 0 : plan_targets(pl, &c->step[k]);
	return bits;
}

/* nonzero: steps that change a bit which one in the backward pass takes for |0> are undone too. */
static void mark_undo(const struct plan *pl, struct plan_circuit *c, bool nonzero)
{
	struct held held = { 0, 0 };
	uint64_t live = 0, idle = 0;   /* bits that some step has moved; that one in the backward pass takes for |0> still */
	c->first_transition = c->nstep;
	for (uint32_t k = 0; k < c->nstep; k++) {
		struct plan_step *s = &c->step[k];
		uint64_t targets = plan_targets(pl, s), controls = plan_controls(pl, s);
		s->undo = plan_is_held(&held, targets, controls) || (targets & idle);
		if (s->undo || s->transition) {
			plan_hold(&held, targets, controls);
			if (nonzero)
				idle |= ~(live | targets | controls);
		}
		live |= targets;
		if (s->transition && c->first_transition == c->nstep)
			c->first_transition = k;
	}
}

struct plan_seconds plan_usual_seconds(const struct plan *pl, const struct plan_circuit *c)
{
	static const struct plan_limits usual = { .nthread = 2, .stream_gb_s = 50, .write_gb_s = 40, .l2_gb_s = 100, .single_gflop_s = 350,
		.double_gflop_s = 175 };
	struct plan_seconds *stage = mem_alloc(c->nstage + 1, sizeof *stage), all;
	plan_seconds(pl, c, &usual, stage, &all);
	free(stage);
	return all;
}

void plan_backward_pass(const struct plan *pl, struct plan_circuit *c)
{
	mark_undo(pl, c, false);
	if (pl->shape == SHAPE_BATCHED || !target_can(pl->target, TARGET_STAGES))
		return;
	double all = plan_usual_seconds(pl, c).back;
	mark_undo(pl, c, true);
	if (plan_usual_seconds(pl, c).back > all)
		mark_undo(pl, c, false);
}

void plan_start(struct plan *pl, struct plan_circuit *c)
{
	struct plan_step *order = arena_alloc(&pl->arena, c->nstep, sizeof *order);
	bool *taken = arena_alloc(&pl->arena, c->nstep, sizeof *taken);
	struct held held = { 0, 0 };
	uint32_t n = 0, ntail = 0;
	if (c->nprepare > 0 || !target_can(pl->target, TARGET_CONSTANT_PREFIX) || pl->shape == SHAPE_SHARED)
		return;
	for (uint32_t k = 0; k < c->nstep; k++) {
		const struct plan_step *s = &c->step[k];
		uint64_t targets = plan_targets(pl, s), controls = plan_controls(pl, s);
		taken[k] = !s->tail && pl->set.def[s->matrix]->cls == VALUE_CONSTANT
			&& !plan_is_held(&held, targets, controls);
		ntail += s->tail;
		if (taken[k])
			order[n++] = *s;
		else
			plan_hold(&held, targets, controls);
	}
	if (n + ntail == c->nstep)
		return;
	c->nstart = n;
	for (uint32_t k = 0; k < c->nstep; k++)
		if (!taken[k])
			order[n++] = c->step[k];
	c->step = order;
}

/* Local bits of a stage at most. */
static unsigned stage_limit(const struct schedule *s, const struct plan_cut *cut, uint32_t stage)
{
	unsigned all = local_limit(s->pl, s->c, s->random, stage);
	unsigned less = stage >= s->nstart_stage && stage - s->nstart_stage < PLAN_CUT_STAGES ? cut->less[stage - s->nstart_stage] : 0;
	return all < STAGE_SPARE_ROWS + less ? all : all - less;
}

static void cut_stages(struct plan *pl, struct schedule *s, const struct plan_cut *cut)
{
	uint32_t segment = 0;
	unsigned nbit = plan_stored_bits(pl, s->c->nbit);
	prepare_first(s);
	for (uint32_t begin = 0; s->n < s->c->nstep; ) {
		uint32_t first = s->n;
		bool start = first < s->c->nstart;
		while (s->done[begin])
			begin++;
		s->nstart_stage += start;
		s->limit = stage_limit(s, cut, s->nstage);
		while (s->c->segment[segment].end <= first)
			segment++;
		uint32_t end = start ? s->c->nstart : s->c->segment[segment].end;
		uint64_t local = choose_local(s, begin, end);
		fill_stage(s, begin, end, local, false);
		if (all_moved(s, begin, end))
			fill_stage(s, begin, end, local, true);
		local = fill_local(local, s->limit, nbit, plan_lane_bits(pl),
			s->c->segment[segment].rank);
		put_stage(pl, &s->stage[s->nstage++], first, s->n, local, segment);
	}
}

void plan_cut(struct plan *pl, struct plan_circuit *c, struct plan_cut *cut, uint64_t random)
{
	struct schedule s = { .pl = pl, .c = c, .random = random };
	s.order = arena_alloc(&pl->arena, c->nstep, sizeof *s.order);
	s.stage = arena_alloc(&pl->arena, c->nstep, sizeof *s.stage);
	s.done = mem_alloc(c->nstep + (size_t)1, sizeof *s.done);
	cut_stages(pl, &s, cut);
	free(s.done);
	cut->visits = s.visits;
	c->step = s.order;
	c->stage = s.stage;
	c->nstage = s.nstage;
	c->nstart_stage = s.nstart_stage;
}
