/* SPDX-License-Identifier: Apache-2.0
 * From weights and samples to readouts and gradients, unit by unit. */
#include "config.h"
#include "runtime/exec/evaluator.h"

#include <math.h>
#include <string.h>

#include "runtime/exec/basis/batch_rank.h"
#include "runtime/exec/statevector/gradient_adjoint.h"
#include "runtime/exec/statevector/gradient_shift.h"
#include "runtime/exec/statevector/statevector.h"

/* ---- one unit ---- */

/* The readouts of one sample from all circuits, checked. */
static int collect_readouts(const struct evaluator *ev, const struct scratch *w, uint32_t s, uint32_t sample,
	struct err *e)
{
	double *row = ev->readout + (size_t)sample * ev->p->nreadout;

	for (uint32_t c = 0; c < ev->pl->ncircuit; c++) {
		const struct plan_circuit *pc = &ev->pl->circuit[c];

		memcpy(row + pc->first_readout, w->readout[c] + (size_t)s * pc->nreadout, pc->nreadout * sizeof *row);
	}
	return unit_finite(ev, row, unit_row(ev, sample), e);
}

static int forward_unit(struct evaluator *ev, struct scratch *w, unsigned worker, uint32_t first, uint32_t count,
	struct err *e)
{
	bool keep = ev->gradient && ev->o.gradient == GRADIENT_ADJOINT;
	int code = 0;

	for (uint32_t c = 0; c < ev->pl->ncircuit; c++)
		unit_forward(ev, w, worker, c, count, keep, w->readout[c]);
	for (uint32_t s = 0; s < count && !code; s++)
		code = collect_readouts(ev, w, s, first + s, e);
	return code;
}

/* Slopes of one sample into the circuits' arrays. */
static int slope_sample(struct evaluator *ev, struct scratch *w, uint32_t s, uint32_t sample, struct err *e)
{
	int code = unit_slope(ev, w, sample, unit_row(ev, sample), e);

	for (uint32_t c = 0; !code && ev->gradient && c < ev->pl->ncircuit; c++) {
		const struct plan_circuit *pc = &ev->pl->circuit[c];

		memcpy(w->slope[c] + (size_t)s * pc->nreadout, w->slope_row + pc->first_readout,
			pc->nreadout * sizeof *w->slope_row);
	}
	return code;
}

static int slope_unit(struct evaluator *ev, struct scratch *w, uint32_t first, uint32_t count, struct err *e)
{
	int code = 0;

	if (!ev->fn)
		return 0;
	if (ev->gradient)
		memset(w->gradient, 0, ev->p->nweight * sizeof *w->gradient);
	for (uint32_t s = 0; s < count && !code; s++)
		code = slope_sample(ev, w, s, first + s, e);
	for (uint32_t c = 0; c < ev->pl->ncircuit; c++) {
		uint32_t n = ev->pl->circuit[c].nreadout;

		memset(w->slope[c] + (size_t)count * n, 0, (size_t)(ev->pl->width - count) * n * sizeof(double));
	}
	return code;
}

static int backward_unit(struct evaluator *ev, struct scratch *w, unsigned worker, uint32_t first, uint32_t count,
	struct fixed *v, struct err *e)
{
	int code = 0;

	if (ev->o.gradient == GRADIENT_ADJOINT)
		adjoint_unit(ev, w, count, worker);
	else if (ev->o.gradient == GRADIENT_SHIFT)
		code = shift_unit(ev, w, count, worker, e);
	else
		difference_unit(ev, w, count, worker);
	stopwatch_phase(&w->watch, PHASE_STATES);
	code = code ? code : adjoint_vector(ev, w, first, count, v, e);
	stopwatch_phase(&w->watch, PHASE_SUMS);
	return code;
}

int evaluator_unit(struct evaluator *ev, unsigned worker, uint32_t unit, struct fixed *v, struct err *e)
{
	struct scratch *w = &ev->scratch[worker];
	uint32_t first, count = unit_samples(ev, unit, &first);
	int code;

	w->first = first;
	w->variant = 0;
	w->nunit++;
	if (rank_on(ev))
		return rank_unit(ev, worker, unit, v, e);
	code = unit_fill(ev, w, first, count, e);
	stopwatch_phase(&w->watch, PHASE_ENCODING);
	if (!code)
		code = forward_unit(ev, w, worker, first, count, e);
	stopwatch_phase(&w->watch, PHASE_STATES);
	if (!code)
		code = slope_unit(ev, w, first, count, e);
	stopwatch_phase(&w->watch, PHASE_SLOPES);
	if (!code && ev->gradient)
		code = backward_unit(ev, w, worker, first, count, v, e);
	return code;
}

/* ---- a batch ---- */

static void claim(void *ctx, unsigned worker)
{
	struct evaluator *ev = ctx;

	struct stopwatch *watch = &ev->scratch[worker].watch;

	*watch = (struct stopwatch){ .on = ev->watch.on };
	stopwatch_phase(watch, PHASE_NONE);
	ev->scratch[worker].claimed = ev->pool->threads->pull(ev->pool, worker);
}

/* What each thread runs: units until there are none. */
static void work(void *ctx, unsigned worker)
{
	struct evaluator *ev = ctx;
	struct pool *pool = ev->pool;
	struct fixed *v = ev->scratch[worker].vector_sum;

	for (int64_t id = ev->scratch[worker].claimed; id >= 0; id = pool->threads->pull(pool, worker)) {
		uint32_t unit = (uint32_t)id;
		struct err e = { 0, "" };

		if (evaluator_unit(ev, worker, unit, v, &e))
			pool->threads->abort(pool, &e);
		else
			pool->threads->push(pool, worker, unit, v);
		stopwatch_phase(&ev->scratch[worker].watch, PHASE_SUMS);
	}
}

/* Workers that had a unit worked side by side. */
static void add_watches(struct evaluator *ev)
{
	unsigned nworker = 0;

	for (unsigned k = 0; k < ev->nworker; k++)
		nworker += ev->scratch[k].watch.on;
	for (unsigned k = 0; k < ev->nworker; k++) {
		struct stopwatch *w = &ev->scratch[k].watch;

		for (unsigned p = 0; w->on && p < PHASE_COUNT; p++)
			ev->watch.seconds[p] += w->seconds[p] / nworker;
		*w = (struct stopwatch){ 0 };
	}
}

/* What one unit takes, in operations; 0 where more than the circuits, once, makes its time. */
static double unit_flops(struct evaluator *ev)
{
	double *known = &ev->unit_flops[ev->gradient];

	if (ev->o.threads_always || ev->o.shots || (ev->gradient && ev->o.gradient != GRADIENT_ADJOINT))
		return 0;
	if (*known == 0)
		*known = plan_effort(ev->pl, ev->gradient) * ev->pl->width;
	return *known;
}

static int run_here(struct evaluator *ev, struct pool *pool, struct err *e)
{
	struct unit_job job = { .ctx = ev, .nunit = ev->nunit, .flops = unit_flops(ev), .claim = claim, .work = work };
	int code = evaluator_need_states(ev, e);

	if (!code)
		code = pool->ops->begin(pool, NULL, ev->nunit, ev->gradient ? ev->nvector : 0, e);

	if (code)
		return code;
	ev->pool = pool;
	ev->backend->run(ev->state, &job);
	if (ev->watch.on)
		add_watches(ev);
	stopwatch_phase(&ev->watch, PHASE_NONE);
	code = pool->ops->end(pool, ev->sum, e);
	stopwatch_phase(&ev->watch, PHASE_SUMS);
	return code;
}

int evaluator_run(struct evaluator *ev, struct pool *pool, double *gradient, struct err *e)
{
	int code;

	stopwatch_phase(&ev->watch, PHASE_NONE);
	use_batch(ev);
	if (rank_on(ev)) {
		code = rank_run(ev, e);
		stopwatch_phase(&ev->watch, PHASE_STATES);
	} else {
		code = pool->threads ? run_here(ev, pool, e) : evaluator_run_far(ev, pool, e);
		stopwatch_phase(&ev->watch, PHASE_NONE);
	}
	if (!code && ev->gradient && gradient)
		code = evaluator_finish(ev, ev->sum, gradient, e);
	stopwatch_phase(&ev->watch, PHASE_CHAIN);
	return code;
}

int evaluator_finish(struct evaluator *ev, const struct fixed *sum, double *gradient, struct err *e)
{
	adjoint_finish(ev, sum, gradient);
	for (uint32_t i = 0; i < ev->p->nweight; i++)
		if (!isfinite(gradient[i]))
			return err_set(e, -ERR_NOT_FINITE, "the gradient by weight %u is not finite", i);
	return 0;
}
