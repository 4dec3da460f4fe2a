/* SPDX-License-Identifier: Apache-2.0
 * A batch for workers elsewhere who can do none of its units: all are done here after all, from inputs in memory and
 * from such as are fetched, to the same bits. */
#include <stdlib.h>
#include <string.h>
#include "runtime/base/arena.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/kernels/build.h"
#include "tests/kernels/random_program.h"

enum { NSAMPLE = 37, NROW = 50, NGRADIENT = 8 };

/* ---- a pool that does nothing ---- */

struct far_pool { struct pool pool; const struct pool_step *step; uint32_t nunit, nrow_wrong; size_t n; };

static double row_of_file(uint32_t sample) { return (sample * 7 + 3) % NROW; }

static int begin(struct pool *p, const struct pool_step *s, uint32_t nunit, size_t n, struct err *e)
{
	struct far_pool *f = (struct far_pool *)p;

	(void)e;
	f->step = s;
	f->nunit = nunit;
	f->n = n;
	for (uint32_t k = 0; s->file && k < s->nsample; k++)
		f->nrow_wrong += s->row(s->ctx, k) != row_of_file(k);
	return 0;
}

static int end(struct pool *p, struct fixed *sum, struct err *e)
{
	struct far_pool *f = (struct far_pool *)p;
	struct fixed *v = mem_alloc(f->n + 1, sizeof *v);
	int code = 0;

	memset(sum, 0, f->n * sizeof *sum);
	for (uint32_t unit = 0; unit < f->nunit && !code; unit++) {
		code = f->step->recompute(f->step->ctx, unit, v, e);
		if (!code && f->n && !fixed_add(sum, v, f->n))
			code = -ERR_NOT_FINITE;
	}
	free(v);
	return code;
}

static const struct pool_ops far_ops = { .begin = begin, .end = end };

/* ---- a data set ---- */

struct source { uint32_t nx; unsigned nfetch; int fails; };

static double number(uint32_t row, uint32_t k) { return 0.1 * (row % 11) - 0.07 * k; }

static int fetch(const void *source, const uint32_t *row, uint32_t first, uint32_t n, double *x, struct err *e)
{
	struct source *s = (struct source *)source;

	s->nfetch++;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < s->nx; k++)
			x[i * s->nx + k] = number(row ? row[i] : first + i, k);
	return s->fails ? err_set(e, s->fails, "the disk is gone") : 0;
}

static int dreadout(void *ctx, uint32_t sample, const double *readout, double *out, double *head)
{
	const struct program *p = ctx;

	(void)head;
	for (uint32_t k = 0; out && k < p->nreadout; k++)
		out[k] = readout[k] - 0.3 + 0.01 * (sample % 5);
	return 0;
}

static void give_nothing(void *ctx, uint32_t sample, double *out)
{
	(void)ctx;
	(void)sample;
	(void)out;
}

struct result { double readout[NSAMPLE * 64], gradient[NGRADIENT]; int code; struct err e; };

static void run(const struct program *p, const double *weight, const struct batch *b, struct pool *pool, bool far, struct result *out)
{
	struct evaluator_options o = {
		.nthread = 1, .gradient = GRADIENT_ADJOINT, .precision = PRECISION_SINGLE, .remote = far
	};
	struct evaluator *ev = NULL;

	memset(out, 0, sizeof *out);
	out->code = evaluator_new(p, &o, &ev, &out->e);
	if (!out->code)
		out->code = evaluator_weights(ev, weight, &out->e);
	if (!out->code) {
		evaluator_needs(ev, &(struct readout_gradient_needs){ 0, give_nothing });
		evaluator_prepare(ev, b, true, dreadout, (void *)p, out->readout);
		out->code = evaluator_run(ev, pool, out->gradient, &out->e);
	}
	evaluator_free(ev);
}

int main(void)
{
	static const struct random_shape shape = { .seed = 5, .nwire = 5, .napply = 14, .ncircuit = 1, .nweight = 5, .ninput = 3 };
	struct program *p = random_program(&shape);
	struct pool *here = pool_threads_new(1);
	struct far_pool far = { .pool = { &far_ops } };
	double *weight = mem_alloc(p->nweight, sizeof *weight), *x = mem_alloc((size_t)NSAMPLE * p->ninput, sizeof *x);
	static struct result want, got;
	struct source source = { .nx = p->ninput };
	uint32_t row[NSAMPLE];
	struct batch b = { .nsample = NSAMPLE, .input = x };
	struct evaluator *ev = NULL;
	unsigned moving = 0;

	random_numbers(shape.seed, 2, p->nweight, weight);
	for (uint32_t s = 0; s < NSAMPLE; s++) {
		row[s] = (uint32_t)row_of_file(s);
		for (uint32_t k = 0; k < p->ninput; k++)
			x[s * p->ninput + k] = number(row[s], k);
	}
	tap_ok(p->nweight <= NGRADIENT && p->nreadout <= 64, "the program fits");
	run(p, weight, &b, here, false, &want);
	for (uint32_t k = 0; k < p->nweight; k++)
		moving += want.gradient[k] != 0;
	tap_ok(!want.code && moving > 0, "a batch done here has a gradient");
	run(p, weight, &b, &far.pool, true, &got);
	tap_ok(!got.code && !memcmp(&got, &want, sizeof got), "units that come back are done here, to the same bits");
	b = (struct batch){ .nsample = NSAMPLE, .file = 1, .file_row = row, .fetch = fetch, .source = &source };
	run(p, weight, &b, &far.pool, true, &got);
	tap_ok(!got.code && !memcmp(&got, &want, sizeof got), "also where inputs are fetched for them: %s", got.e.text);
	tap_ok(source.nfetch > 0 && far.nrow_wrong == 0, "and workers are told the rows of the file");
	source.fails = -ERR_IO;
	run(p, weight, &b, &far.pool, true, &got);
	tap_ok(got.code == -ERR_IO && !strcmp(got.e.text, "the disk is gone"), "a file that cannot be read is an error");
	evaluator_new(p, &(struct evaluator_options){ .nthread = 1, .remote = true }, &ev, NULL);
	tap_ok(!evaluator_reads(ev, 100), "an evaluator of such batches reads no inputs");
	evaluator_free(ev);
	evaluator_new(p, &(struct evaluator_options){ .nthread = 1 }, &ev, NULL);
	tap_ok(evaluator_reads(ev, 100), "one that evaluates them here does");
	evaluator_free(ev);
	free(weight);
	free(x);
	here->ops->free(here);
	program_free(p);
	return tap_done();
}
