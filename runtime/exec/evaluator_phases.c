/* SPDX-License-Identifier: Apache-2.0
 * A batch in two phases: all forward units, the readouts of all samples and their gradients, all backward
 * units. With this process's threads whatever the pool is: the same bits. */
#include "runtime/exec/evaluator_state.h"

#include <string.h>

enum {
	GROUP = 16
}; /* samples whose readouts are made together, and whose head gradients are added */

static int each(struct evaluator *ev, uint32_t n, engine_item_fn fn, enum profile_phase phase,
	struct err *e)
{
	return engine_items(ev->on->engine, ev->on->state, n, fn, ev, phase, e);
}

static int forward_item(void *ctx, unsigned worker, uint32_t unit, struct err *e)
{
	struct evaluator *ev = ctx;

	return ev->on->engine->forward(ev->on->state, worker, unit, NULL, e);
}

/* ---- readouts of all samples ---- */

static int read_sample(struct evaluator *ev, unsigned worker, uint32_t sample, struct err *e)
{
	double *dreadout = ev->worker[worker].dreadout;

	ev->on->engine->readout(ev->on->state, worker, sample,
		ev->readout + (size_t)sample * ev->p->nreadout);
	int code = sample_readouts(ev, sample, e);
	if (!code && ev->fn)
		code = sample_gradient(ev, worker, sample, dreadout, e);
	if (!code && ev->gradient)
		ev->on->engine->readout_gradient(ev->on->state, sample, dreadout);
	return code;
}

/* The head's gradient goes into the worker's exact sum, group by group. */
static int add_head(struct evaluator *ev, struct evaluator_worker *w, uint32_t first, struct err *e)
{
	for (uint32_t i = 0; i < head_weights(ev); i++) {
		struct fixed f;

		if (!fixed_from(w->gradient[ev->p->nweight_circuit + i], &f)
			|| !fixed_add(&w->head[i], &f, 1))
			return err_set(e, -ERR_NOT_FINITE,
				"samples from %u of the batch on: their gradient is not finite or too large",
				first);
	}
	return 0;
}

static int read_item(void *ctx, unsigned worker, uint32_t group, struct err *e)
{
	struct evaluator *ev = ctx;
	struct evaluator_worker *w = &ev->worker[worker];
	uint32_t first, count = unit_states(group, GROUP, ev->batch.nsample, &first);
	int code = 0;

	if (ev->gradient)
		memset(w->gradient, 0, ev->p->nweight * sizeof *w->gradient);
	for (uint32_t s = 0; s < count && !code; s++)
		code = read_sample(ev, worker, first + s, e);
	return !code && ev->gradient ? add_head(ev, w, first, e) : code;
}

static int read_all(struct evaluator *ev, struct err *e)
{
	size_t nbyte = head_weights(ev) * sizeof *ev->head;

	memset(ev->head, 0, nbyte);
	for (unsigned k = 0; k < ev->nworker; k++)
		memset(ev->worker[k].head, 0, nbyte);
	int code = each(ev, (ev->batch.nsample + GROUP - 1) / GROUP, read_item, PHASE_COMBINE, e);
	for (unsigned k = 0; k < ev->nworker && !code; k++)
		if (!fixed_add(ev->head, ev->worker[k].head, head_weights(ev)))
			code = err_set(e, -ERR_NOT_FINITE, "the gradient of the head is too large");
	return code;
}

/* ---- backward ---- */

static int too_large(struct err *e)
{
	return err_set(e, -ERR_NOT_FINITE, "the gradient is too large");
}

/* The head's gradient, of all samples, goes into the first unit. */
static int backward_item(void *ctx, unsigned worker, uint32_t unit, struct err *e)
{
	struct evaluator *ev = ctx;
	struct evaluator_worker *w = &ev->worker[worker];
	uint32_t nhead = head_weights(ev);

	w->nunit++;
	memset(w->gradient, 0, ev->p->nweight * sizeof *w->gradient);
	int code =
		ev->on->engine->backward(ev->on->state, worker, unit, NULL, w->gradient, w->unit, e);
	if (!code && !unit)
		memcpy(w->unit + ev->layout.nvector - nhead, ev->head, nhead * sizeof *w->unit);
	if (!code && !fixed_add(w->sum, w->unit, ev->layout.nvector))
		code = too_large(e);
	return code;
}

static int run_backward(struct evaluator *ev, struct err *e)
{
	size_t n = ev->layout.nvector;
	int code = ev->on->engine->mix(ev->on->state, e);

	recorder_mark(PHASE_COMBINE);
	memset(ev->sum, 0, n * sizeof *ev->sum);
	for (unsigned k = 0; k < ev->nworker; k++)
		memset(ev->worker[k].sum, 0, n * sizeof *ev->sum);
	if (!code)
		code = each(ev, ev->units.nunit, backward_item, PHASE_BACKWARD, e);
	for (unsigned k = 0; k < ev->nworker && !code; k++)
		if (!fixed_add(ev->sum, ev->worker[k].sum, n))
			code = too_large(e);
	return code;
}

int evaluator_run_phases(struct evaluator *ev, struct err *e)
{
	const struct evaluator_engine *x = ev->on;
	int code = x->engine->begin(x->state, e);

	if (!code)
		code = each(ev, ev->units.nunit, forward_item, PHASE_FORWARD, e);
	if (!code && x->engine->join)
		code = x->engine->join(x->state, e);
	recorder_mark(PHASE_COMBINE);
	if (!code)
		code = read_all(ev, e);
	if (!code && ev->gradient)
		code = run_backward(ev, e);
	return code;
}
