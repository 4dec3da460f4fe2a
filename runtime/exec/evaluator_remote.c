/* SPDX-License-Identifier: Apache-2.0
 * A batch whose units are done by other processes: samples go out, readouts and sums come back,
 * and the head runs once more here, so that outputs and losses are where they always are. */
#include "runtime/exec/evaluator_state.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

uint64_t weights_version(void)
{
	static atomic_ullong last;

	return atomic_fetch_add(&last, 1) + 1;
}

void evaluator_needs(struct evaluator *ev, const struct readout_gradient_needs *n)
{
	ev->needs = *n;
}

static void give(void *ctx, uint32_t sample, double *in)
{
	const struct evaluator *ev = ctx;
	uint32_t n = ev->p->ninput;

	if (n && ev->batch.input)
		memcpy(in, ev->batch.input + (size_t)batch_row(&ev->batch, sample) * n,
			n * sizeof *in);
	if (ev->gradient)
		ev->needs.give(ev->ctx, sample, in + n);
}

static uint32_t row(void *ctx, uint32_t sample)
{
	const struct evaluator *ev = ctx;

	if (ev->batch.file)
		return ev->batch.file_row ? ev->batch.file_row[sample] : ev->batch.file_first + sample;
	return (uint32_t)((size_t)(ev->batch.input - ev->batch.all) / ev->p->ninput)
		+ batch_row(&ev->batch, sample);
}

static void take(void *ctx, uint32_t sample, const double *out)
{
	struct evaluator *ev = ctx;

	memcpy(ev->readout + (size_t)sample * ev->p->nreadout, out, ev->p->nreadout * sizeof *out);
}

/* All rows of a batch that came without: *x, the caller's to free. */
static int fetch(struct evaluator *ev, double **x, struct err *e)
{
	const struct batch *b = &ev->batch;

	*x = mem_try((size_t)b->nsample * ev->p->ninput, sizeof **x);
	if (!*x)
		return err_set(e, -ERR_CONFIG, "no memory for %u samples of %u numbers", b->nsample, ev->p->ninput);
	return b->fetch(b->source, b->file_row, b->file_first, b->nsample, *x, e);
}

static int recompute(void *ctx, uint32_t unit, struct fixed *v, struct err *e)
{
	struct evaluator *ev = ctx;
	const struct evaluator_engine *x = ev->on;
	struct batch b = ev->batch;
	mem_auto double *rows = NULL;
	int code = x->engine->begin(x->state, e);

	if (!code && !b.input && b.fetch) {
		code = fetch(ev, &rows, e);
		b.input = rows;
	}
	if (!code) {
		x->engine->prepare(x->state, &b, ev->gradient, &ev->units);
		code = evaluator_unit(ev, 0, unit, v, e);
	}
	x->engine->prepare(x->state, &ev->batch, ev->gradient, &ev->units);
	return code;
}

static int outputs(struct evaluator *ev, struct err *e)
{
	for (uint32_t s = 0; ev->fn && s < ev->batch.nsample; s++) {
		int code = ev->fn(ev->ctx, s, ev->readout + (size_t)s * ev->p->nreadout, NULL, NULL);

		if (code)
			return err_set(e, code, "sample %u: its loss is not finite",
				batch_row(&ev->batch, s));
	}
	return 0;
}

int evaluator_run_remote(struct evaluator *ev, struct pool *pool, struct err *e)
{
	struct pool_step s = { .version = ev->version,
		.weight = ev->weight,
		.nweight = ev->p->nweight,
		.gradient = ev->gradient,
		.nsample = ev->batch.nsample,
		.width = ev->layout.width,
		.nin = ev->p->ninput + (ev->gradient ? ev->needs.n : 0),
		.nout = ev->p->nreadout,
		.draw_key = ev->draws.key,
		.draw_first = ev->draws.first,
		.all = ev->p->ninput ? ev->batch.all : NULL,
		.nall = ev->batch.nall,
		.nx = ev->p->ninput,
		.row = row,
		.file = ev->batch.file,
		.ctx = ev,
		.give = give,
		.take = take,
		.recompute = recompute };

	if (ev->gradient && !ev->needs.give)
		BUG("a gradient elsewhere, and nobody says what readout gradients need");
	int code = pool->ops->begin(pool, &s, ev->units.nunit,
		ev->gradient ? ev->layout.nvector : 0, e);
	if (!code)
		code = pool->ops->end(pool, ev->sum, e);
	recorder_mark(PHASE_SUMS);
	code = code ? code : outputs(ev, e);
	recorder_mark(PHASE_LOSSES);
	return code;
}
