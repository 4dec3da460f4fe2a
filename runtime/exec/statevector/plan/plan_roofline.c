/* SPDX-License-Identifier: Apache-2.0
 * The least time in which a machine does a plan, visit by visit: the roofline of every matrix and of every stage. */
#include "config.h"
#include "runtime/exec/statevector/plan/plan.h"

#include <math.h>

#include "runtime/exec/statevector/plan/plan_build.h"
#include "runtime/exec/statevector/plan/plan_stage.h"
#include "runtime/exec/statevector/plan/plan_work.h"

enum { L1_BYTES = 32 << 10, L2_BYTES = 256 << 10,     /* where the machine does not tell */
	ONES_A_VISIT = 3 };                               /* matrices on one qubit that share a visit */

struct roof { const struct plan *pl; bool gradient; double amplitude /* bytes */, flop_s, l2, stream, write, l1_bytes, l2_bytes; };

static unsigned count(uint64_t bits) { return (unsigned)__builtin_popcountll(bits); }

static double cache_bytes(unsigned level, double otherwise)
{
	uint64_t n = cpus_cache(level, NULL);

	return n ? (double)n : otherwise;
}

static struct roof roof_of(const struct plan *pl, bool gradient, const struct plan_limits *l)
{
	return (struct roof){ .pl = pl, .gradient = gradient, .amplitude = pl->precision == PRECISION_DOUBLE ? 16 : 8,
		.flop_s = 1e9 * (pl->precision == PRECISION_DOUBLE ? l->double_gflop_s : l->single_gflop_s),
		.l2 = 1e9 * l->l2_gb_s * l->nthread, .stream = 1e9 * l->stream_gb_s, .write = 1e9 * l->write_gb_s,
		.l1_bytes = cache_bytes(1, L1_BYTES),
		.l2_bytes = cache_bytes(2, L2_BYTES) * (pl->shape == SHAPE_SHARED ? l->nthread : 1) };
}

/* Seconds of one step: `flops` operations on n amplitudes, in a block of `block` bytes of which `moves` amplitudes are
 * read or written for one that is worked on.  Diagonals and permutations go along with others. */
static double step_seconds(const struct roof *r, const struct plan_step *s, double n, double flops, double block, double moves)
{
	double fma = flops / r->flop_s, bytes;

	if (s->op != STEP_UNITARY || r->pl->set.def[s->matrix]->flags & (MATRIX_DIAGONAL | MATRIX_PERMUTATION) || block <= r->l1_bytes)
		return fma;
	bytes = ldexp(n, -(int)s->ncontrol) * moves * r->amplitude;
	return fmax(fma, bytes / r->l2 / (s->ntarget == 1 ? ONES_A_VISIT : 1));
}

/* Both passes of a step; psi and lambda are in the block in the backward pass. */
static void add_step(const struct roof *r, const struct plan_step *s, const struct plan_visited_step *n, double block,
	double *forward, double *backward)
{
	double moves = n->on_zero ? 1 + ldexp(1, -(int)s->ntarget) : 2;

	*forward += step_seconds(r, s, n->there, n->forward_flops, block, moves);
	if (r->gradient && (s->undo || s->transition || s->tail))
		*backward += step_seconds(r, s, n->back, n->back_flops, 2 * block, s->undo ? 4 : 2);
}

/* Seconds of bytes between a state and blocks, and of those that go by non-temporal stores. */
static double state_seconds(const struct roof *r, uint32_t nbit, double bytes, double nontemporal)
{
	double state = ldexp(r->amplitude, (int)nbit);

	return nontemporal / r->write
		+ (state > r->l2_bytes                ? bytes / r->stream
				: state > r->l1_bytes ? bytes / r->l2
						      : 0);
}

static double stage_seconds(const struct roof *r, const struct plan_circuit *c, const struct plan_stage *s)
{
	struct plan_visited v = plan_visit(r->pl, c, s);
	double block = ldexp(r->amplitude, (int)count(v.local | v.lanes)), forward = 0,
	       backward = 0, seconds;
	double read = plan_visit_read(&v),
	       nontemporal = v.there * r->amplitude > r->pl->nontemporal_bytes ? v.there - read : 0;
	double made_nontemporal,
		moved = r->gradient ? plan_moved_back(r->pl, c, s, &made_nontemporal) : 0;

	for (uint32_t k = s->first; k < s->first + s->count; k++) {
		const struct plan_step *st = &c->step[k];

		struct plan_visited_step n = plan_visit_step(r->pl, &v, st);

		add_step(r, st, &n, block, &forward, &backward);
	}
	forward += plan_visit_rest(&v) / r->flop_s;
	if (r->gradient && s == &c->stage[c->nstage - 1]
		&& plan_fuses_last(r->pl, c)) /* read once, written as psi and lambda */
		return fmax(forward + backward,
			state_seconds(r, c->nbit,
				(read + v.there + moved - made_nontemporal) * r->amplitude,
				made_nontemporal * r->amplitude));
	seconds = fmax(forward,
		state_seconds(r, c->nbit, (read + v.there - nontemporal) * r->amplitude,
			nontemporal * r->amplitude));
	if (moved > 0)
		seconds += fmax(backward,
			state_seconds(r, c->nbit, (moved - made_nontemporal) * r->amplitude,
				made_nontemporal * r->amplitude));
	return seconds;
}

/* A state that is one block from the first step to the last. */
static double whole_seconds(const struct roof *r, const struct plan_circuit *c)
{
	double block = ldexp(r->amplitude, (int)c->nbit) * r->pl->width, forward = 0, backward = 0;

	for (uint32_t k = c->nstart; k < c->nstep; k++) {
		struct plan_visited_step n = plan_visit_whole(r->pl, c, &c->step[k]);

		add_step(r, &c->step[k], &n, block, &forward, &backward);
	}
	return forward + backward;
}

double plan_floor(const struct plan *pl, bool gradient, uint64_t nsample, const struct plan_limits *l)
{
	struct roof r = roof_of(pl, gradient, l);
	uint64_t nunit = (nsample + pl->width - 1) / pl->width;
	double sample = 0;

	for (uint32_t c = 0; c < pl->ncircuit; c++) {
		const struct plan_circuit *pc = &pl->circuit[c];

		if (!pc->nstage)
			sample += whole_seconds(&r, pc);
		for (uint32_t k = pc->nstage ? pc->nstart_stage : 0; k < pc->nstage; k++)
			sample += stage_seconds(&r, pc, &pc->stage[k]);
	}
	if (pl->shape == SHAPE_SHARED)
		return sample * (double)nsample;
	/* A unit is one thread's: threads that have none wait. */
	return sample * pl->width * (double)((nunit + l->nthread - 1) / l->nthread * l->nthread);
}
