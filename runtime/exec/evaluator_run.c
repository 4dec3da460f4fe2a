/* SPDX-License-Identifier: Apache-2.0
 * From weights and samples to readouts and gradients, unit by unit. */
#include "runtime/exec/evaluator.h"

#include <math.h>
#include <string.h>

#include "runtime/exec/evaluator_state.h"

/* ---- one sample ---- */

/* Names the operation of the model at fault, where it is known. */
static int not_finite(const struct evaluator *ev, uint32_t k, uint32_t row, struct err *e)
{
	const struct program *p = ev->whole;
	const double *input = ev->batch.input;
	mem_auto double *value = mem_alloc(p->nexpr + 1, sizeof *value);
	buf_auto place = BUF_INIT;

	if (!p->ninput || input) {
		program_eval(p, ev->weight, input ? input + (size_t)row * p->ninput : NULL, value);
		program_not_finite(p, value, &place);
	}
	return err_set(e, -ERR_NOT_FINITE, "sample %u: readout %u is not finite%s%s", row, k,
		place.len ? ": " : "", place.len ? place.data : "");
}

static int out_of_range(const struct evaluator *ev, double readout, uint32_t k, uint32_t row,
	struct err *e)
{
	if (!isfinite(readout))
		return not_finite(ev, k, row, e);
	return err_set(e, -ERR_NOT_FINITE,
		"sample %u: readout %u is %.6g, and a state of norm 1 gives at most %.6g: rounding has changed "
		"the norm%s",
		row, k, readout, ev->readout_most[k],
		ev->layout.precision == PRECISION_SINGLE ? "; compute in double precision" : "");
}

int sample_readouts(const struct evaluator *ev, uint32_t sample, struct err *e)
{
	const double *readout = ev->readout + (size_t)sample * ev->p->nreadout;

	for (uint32_t k = 0; k < ev->p->nreadout; k++)
		if (!(fabs(readout[k]) <= ev->readout_limit[k]))
			return out_of_range(ev, readout[k], k, batch_row(&ev->batch, sample), e);
	return 0;
}

int sample_gradient(struct evaluator *ev, unsigned worker, uint32_t sample, double *dreadout,
	struct err *e)
{
	const double *readout = ev->readout + (size_t)sample * ev->p->nreadout;
	double *head = ev->gradient ? ev->worker[worker].gradient + ev->p->nweight_circuit : NULL;
	uint32_t row = batch_row(&ev->batch, sample);
	int code = ev->fn(ev->ctx, sample, readout, ev->gradient ? dreadout : NULL, head);

	if (code)
		return err_set(e, code, "sample %u: its loss is not finite", row);
	for (uint32_t k = 0; ev->gradient && k < ev->p->nreadout; k++)
		if (!isfinite(dreadout[k]))
			return err_set(e, -ERR_NOT_FINITE,
				"sample %u: its loss has a gradient that is not finite", row);
	return 0;
}

/* ---- one unit ---- */

/* Checked readouts, and gradients with respect to these. */
static int finish_samples(struct evaluator *ev, unsigned worker, uint32_t first, uint32_t count,
	struct err *e)
{
	struct evaluator_worker *w = &ev->worker[worker];
	int code = 0;

	for (uint32_t s = 0; s < count && !code; s++)
		code = sample_readouts(ev, first + s, e);
	if (!ev->fn || code)
		return code;
	if (ev->gradient)
		memset(w->gradient, 0, ev->p->nweight * sizeof *w->gradient);
	for (uint32_t s = 0; s < count && !code; s++)
		code = sample_gradient(ev, worker, first + s,
			w->dreadout + (size_t)s * ev->p->nreadout, e);
	return code;
}

/* A unit between its two passes. */
struct losses {
	struct evaluator *ev;
	unsigned worker;
	uint32_t first, count;
	struct err *e;
};

static int take_losses(void *ctx)
{
	const struct losses *l = ctx;

	return finish_samples(l->ev, l->worker, l->first, l->count, l->e);
}

int evaluator_unit(struct evaluator *ev, unsigned worker, uint32_t unit, struct fixed *v, struct err *e)
{
	const struct evaluator_engine *x = ev->on;
	struct evaluator_worker *w = &ev->worker[worker];
	uint32_t first, count = unit_states(unit, ev->layout.width, ev->units.nstate, &first);
	struct losses losses = { ev, worker, first, count, e };

	w->nunit++;
	if (ev->gradient && x->engine->unit)
		return x->engine->unit(x->state, worker, unit,
			ev->readout + (size_t)first * ev->p->nreadout, take_losses, &losses,
			w->dreadout, w->gradient, v, e);
	int code = x->engine->forward(x->state, worker, unit,
		ev->readout + (size_t)first * ev->p->nreadout, e);
	if (!code)
		code = take_losses(&losses);
	recorder_mark(PHASE_LOSSES);
	if (!code && ev->gradient)
		code = x->engine->backward(x->state, worker, unit, w->dreadout, w->gradient, v, e);
	return code;
}

/* ---- a batch ---- */

static void claim(void *ctx, unsigned worker)
{
	struct evaluator *ev = ctx;

	recorder_enter(&ev->region, worker);
	ev->worker[worker].claimed = ev->pool->threads->pull(ev->pool, worker);
}

/* What each thread runs: units until there are none. */
static void work(void *ctx, unsigned worker)
{
	struct evaluator *ev = ctx;
	struct pool *pool = ev->pool;
	struct fixed *v = ev->worker[worker].unit;

	for (int64_t id = ev->worker[worker].claimed; id >= 0;
		id = pool->threads->pull(pool, worker)) {
		uint32_t unit = (uint32_t)id;
		struct err e = { 0, "" };

		if (evaluator_unit(ev, worker, unit, v, &e))
			pool->threads->abort(pool, &e);
		else
			pool->threads->push(pool, worker, unit, v);
		recorder_mark(PHASE_SUMS);
	}
}

static int run_here(struct evaluator *ev, struct pool *pool, struct err *e)
{
	struct unit_job job = {
		.ctx = ev, .nunit = ev->units.nunit, .flops = ev->units.flops, .claim = claim, .work = work
	};
	int code = ev->on->engine->begin(ev->on->state, e);

	if (!code)
		code = pool->ops->begin(pool, NULL, ev->units.nunit,
			ev->gradient ? ev->layout.nvector : 0, e);
	if (code)
		return code;
	ev->pool = pool;
	recorder_mark(PHASE_SUMS);
	recorder_region_begin(&ev->region);
	ev->on->engine->run(ev->on->state, &job);
	recorder_region_end(&ev->region);
	code = pool->ops->end(pool, ev->sum, e);
	recorder_mark(PHASE_SUMS);
	return code;
}

/* From sums to the gradient. */
static int finish(struct evaluator *ev, double *gradient, struct err *e)
{
	ev->on->engine->finish(ev->on->state, ev->sum, gradient);
	for (uint32_t i = 0; i < ev->p->nweight; i++)
		if (!isfinite(gradient[i]))
			return err_set(e, -ERR_NOT_FINITE,
				"the gradient by weight %u is not finite", i);
	return 0;
}

int evaluator_run(struct evaluator *ev, struct pool *pool, double *gradient, struct err *e)
{
	int code;

	use_batch(ev);
	recorder_mark(PHASE_DATA);
	if (ev->units.two_phase)
		code = evaluator_run_phases(ev, e);
	else
		code = pool->threads ? run_here(ev, pool, e) : evaluator_run_remote(ev, pool, e);
	if (!code && ev->gradient && gradient)
		code = finish(ev, gradient, e);
	recorder_mark(PHASE_CHAIN);
	return code;
}
