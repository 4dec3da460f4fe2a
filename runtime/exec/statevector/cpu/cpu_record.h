/* SPDX-License-Identifier: Apache-2.0
 * What the passes record of their time; nothing where a thread's item[0] is NULL. */
#pragma once

#include "runtime/exec/statevector/cpu/cpu_sweep.h"

/* A thread begins with circuit c; off, or with phases alone, it records no items. */
void cpu_record_begin(const struct backend_state *b, struct cpu_worker *t,
	const struct cpu_circuit *c);
/* The time since the last record, to the steps of an op of the forward pass (next: the op after it, or NULL), or to a step
 * of the backward pass (next: the step that is undone next, or NULL). */
void cpu_record_op(const struct sweep *w, struct cpu_worker *t, const struct cpu_op *op,
	const struct cpu_op *next);
void cpu_record_step_back(const struct sweep *w, struct cpu_worker *t, const struct cpu_step *st,
	const struct cpu_step *next);
/* To an item behind the steps: plan_item_other. From the one thread that calls; if the state is shared, for all. */
void cpu_record_other(const struct backend_state *b, struct cpu_worker *t,
	const struct cpu_circuit *c, bool back, uint32_t other);

/* Transfers of the sweep's stage. */
static inline uint32_t cpu_stage_item(const struct sweep *w)
{
	return PLAN_OTHER_STAGES + (uint32_t)(w->stage - w->circuit->stage);
}

/* In a block: to the transfers of a stage, or to readouts. */
static inline void cpu_record_block(const struct sweep *w, struct cpu_worker *t, bool back,
	uint32_t other)
{
	if (t->item[0])
		recorder_item(&t->item[back][w->circuit->plan->nstep + other], &t->last);
}
