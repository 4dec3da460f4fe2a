/* SPDX-License-Identifier: Apache-2.0
 * What the steps and stages of a plan cost, counted: shared by what adds it up (plan_work.c) and what says
 * how long it takes (plan_time.c). */
#pragma once

#include "runtime/exec/statevector/plan/plan.h"

/* Amplitudes that a stage visits, and those of them that a step works on, are fewer where bits are still |0>.
 * live: bits that steps before the stage have made nonzero; left: those that the backward pass finds nonzero besides; kept: amplitudes that
 * stages before read in the backward pass, all that it puts back where it undoes steps.  Diagonal steps wait for the step that changes a
 * bit which they read: how many, those bits, and their operations one by one, which are added behind the last step. */
struct plan_visited {
	uint64_t local, live, left, lanes, controls;
	unsigned waiting;
	double there, back, kept, waits;
};

struct plan_visited plan_visit(const struct plan *pl, const struct plan_circuit *c, const struct plan_stage *s);
/* Amplitudes that a step works on, and operations, forward and back.  on_zero: forward it writes all amplitudes and reads only
 * those where its targets are 0, since no step before has changed one of these.  along: diagonal steps that go with it as
 * one table of factors, a product for each amplitude; their operations count with those of the step that they wait for. */
struct plan_visited_step {
	double there, back, forward_flops, back_flops;
	bool on_zero;
	unsigned along;
};

/* The stage's next step; they are requested in their order.  on_zero is what the kernels make of it where nothing hinders
 * them: one-qubit steps that share its visit and targets in the lanes do (cpu_ops.c), so that operations forward are not
 * counted too high. */
struct plan_visited_step plan_visit_step(const struct plan *pl, struct plan_visited *v,
	const struct plan_step *s);
/* Amplitudes that the stage reads before its first step; `there` are written. */
double plan_visit_read(const struct plan_visited *v);

/* Is some output probabilities? */
bool plan_has_probs(const struct plan_circuit *c);
/* Amplitudes that go between memory and the blocks of a stage in the backward pass; where its passes are fused less those that forward is spared.
 * *nontemporal: those of them, of a lambda that is made there, that are written by non-temporal stores. */
double plan_moved_back(const struct plan *pl, const struct plan_circuit *c,
	const struct plan_stage *s, double *nontemporal);
