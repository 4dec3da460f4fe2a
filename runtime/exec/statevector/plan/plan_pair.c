/* SPDX-License-Identifier: Apache-2.0
 * Pairs of one-qubit steps in the stages of a large state.
 *
 * A block is visited once for each step, and a one-qubit matrix is done before its rows have come and gone;
 * two of them on different bits, as one matrix on both, cost hardly more than one.  Found after the stages,
 * so that it binds nothing before. */
#include "runtime/exec/statevector/plan/plan_build.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

#include <stdlib.h>

#include "runtime/base/rng.h"

enum { PAIR_AHEAD = 64 };        /* steps that are looked through for a partner */

/* One dense matrix on one bit, no controls? */
static bool is_single(const struct plan *pl, const struct plan_step *s)
{
	return s->op == STEP_UNITARY && s->ntarget == 1 && !s->ncontrol && !s->tail
		&& !(pl->set.def[s->matrix]->flags & (MATRIX_DIAGONAL | MATRIX_PERMUTATION));
}

/* What is shared by all samples stays so, and what needs no reduced transition matrix gets none. */
static bool fit(const struct plan_build *b, const struct plan_step *s, const struct plan_step *t)
{
	return s->bit[0] != t->bit[0] && s->transition == t->transition
		&& b->def[s->matrix]->cls == b->def[t->matrix]->cls;
}

/* A later step of the stage that can go to step k's place, or `last`. */
static uint32_t find_partner(const struct plan_build *b, const struct plan_step *step, const bool *gone, uint32_t k, uint32_t last)
{
	const struct plan *pl = b->pl;
	uint64_t touched = 0;

	for (uint32_t j = k + 1; j < last && j - k <= PAIR_AHEAD; j++) {
		if (gone[j])
			continue;
		if (is_single(pl, &step[j]) && fit(b, &step[k], &step[j])
			&& !(plan_targets(pl, &step[j]) & touched))
			return j;
		touched |= plan_targets(pl, &step[j]) | plan_controls(pl, &step[j]);
	}
	return last;
}

static struct plan_step pair(struct plan_build *b, const struct plan_step *s, const struct plan_step *t)
{
	struct item item[2] = { { .ref = s->matrix, .adjoint = s->adjoint, .nwire = 1, .wire = { 0 } },
		{ .ref = t->matrix, .adjoint = t->adjoint, .nwire = 1, .wire = { 1 } } };
	uint8_t *bit = arena_alloc(&b->pl->arena, 2, 1);

	bit[0] = s->bit[0];
	bit[1] = t->bit[0];
	return (struct plan_step){ .op = STEP_UNITARY,
		.matrix = plan_matrix(b, 2, 2, item),
		.transition = s->transition,
		.ntarget = 2,
		.bit = bit,
		.apply = s->apply < t->apply ? s->apply : t->apply };
}

/* The stage's steps, paired, to c->step from `out` on; returns where they end. */
static uint32_t pair_stage(struct plan_build *b, struct plan_circuit *c, const struct plan_stage *s, bool *gone, uint32_t out)
{
	uint32_t last = s->first + s->count;

	for (uint32_t k = s->first; k < last; k++) {
		uint32_t partner = last;

		if (gone[k])
			continue;
		if (is_single(b->pl, &c->step[k]) && !(b->o->random && rng_u64(b->o->random, RNG_TEST, 2, k) & 1))
			partner = find_partner(b, c->step, gone, k, last);
		if (partner < last) {
			gone[partner] = true;
			c->step[out++] = pair(b, &c->step[k], &c->step[partner]);
		} else {
			c->step[out++] = c->step[k];
		}
	}
	return out;
}

void plan_pairs(struct plan_build *b, struct plan_circuit *c)
{
	uint32_t out = c->nstage ? c->stage[0].first : c->nstep;

	if (b->o->no_fuse || b->o->own_matrices || b->pl->shape != SHAPE_SHARED)
		return;
	mem_auto bool *gone = mem_alloc(c->nstep, sizeof *gone);
	for (uint32_t k = 0; k < c->nstage; k++) {
		struct plan_stage *s = &c->stage[k];
		uint32_t first = out;

		out = pair_stage(b, c, s, gone, out);
		s->first = first;
		s->count = out - first;
	}
	c->nstep = out;
}
