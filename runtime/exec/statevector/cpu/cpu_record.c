/* SPDX-License-Identifier: Apache-2.0
 * While a profile with layers is taken: the time of ops and steps, to items of the plan (plan_profile_item). */
#include "runtime/exec/statevector/cpu/cpu_record.h"

#include "runtime/exec/statevector/plan/plan_build.h"

void cpu_record_begin(const struct backend_state *b, struct cpu_worker *t, const struct cpu_circuit *c)
{
	uint32_t n = plan_profile_items(b->plan);
	_Atomic uint64_t *item = recorder_items(n);

	t->item[0] = t->item[1] = NULL;
	if (!item)
		return;
	t->item[0] = item + plan_profile_item(b->plan, (uint32_t)(c - b->circuit), 0);
	t->item[1] = t->item[0] + n;
	t->each_step =
		atomic_load_explicit(&recorder_level, memory_order_relaxed) >= PROFILE_MATRICES;
	t->last = recorder_ticks();
}

static void add(_Atomic uint64_t *ticks, double share)
{
	atomic_store_explicit(ticks,
		atomic_load_explicit(ticks, memory_order_relaxed) + (uint64_t)share,
		memory_order_relaxed);
}

static uint32_t number(const struct cpu_circuit *c, const struct cpu_step *st)
{
	return (uint32_t)(st->plan - c->plan->step);
}

static bool is_joint(const struct cpu_op *op) { return op->none > 1 || op->ndiagonal; }

static uint32_t layer_of(const struct cpu_circuit *c, const struct cpu_step *st)
{
	return c->plan->code->apply[st->plan->apply].layer;
}

void cpu_record_op(const struct sweep *w, struct cpu_worker *t, const struct cpu_op *op,
	const struct cpu_op *next)
{
	/* Operations on an amplitude that take as long as one diagonal step that goes along, and as the table of factors. */
	const double along = 0.7, table = 3;
	const struct cpu_circuit *c = w->circuit;

	if (!t->each_step && next && !is_joint(op) && !is_joint(next)
		&& layer_of(c, op->step) == layer_of(c, next->step))
		return;
	int64_t now = recorder_ticks();
	double ticks = (double)(now - t->last);
	t->last = now;
	if (!op->ndiagonal) {
		unsigned n = op->none > 1 ? op->none : 1;

		for (unsigned k = 0; k < n; k++)
			add(&t->item[0][number(c, op->none > 1 ? op->one[k] : op->step)], ticks / n);
		return;
	}
	double all = plan_cost(op->step->plan->ntarget,
			     w->b->plan->set.def[op->step->plan->matrix]->flags)
		+ table + along * op->ndiagonal;
	for (uint32_t k = 0; k < op->ndiagonal; k++)
		add(&t->item[0][number(c, op->diagonal[k])], ticks * along / all);
	add(&t->item[0][number(c, op->step)], ticks * (1 - along * op->ndiagonal / all));
}

void cpu_record_step_back(const struct sweep *w, struct cpu_worker *t, const struct cpu_step *st,
	const struct cpu_step *next)
{
	if (t->each_step || !next || layer_of(w->circuit, st) != layer_of(w->circuit, next))
		recorder_item(&t->item[1][number(w->circuit, st)], &t->last);
}

void cpu_record_other(const struct backend_state *b, struct cpu_worker *t,
	const struct cpu_circuit *c, bool back, uint32_t other)
{
	int64_t last = t->last;

	if (!t->item[0])
		return;
	recorder_item(&t->item[back][c->plan->nstep + other], &t->last);
	if (b->shared) /* all threads were at it */
		add(&t->item[back][c->plan->nstep + other],
			(double)(t->last - last) * (b->nthread - 1));
}
