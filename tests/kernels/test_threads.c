/* SPDX-License-Identifier: Apache-2.0
 * Every thread does a part: units of a batch where there are as many as threads, blocks of
 * a state that all threads share; and the gradient is the same bits. */
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include "compiler/compile.h"
#include "runtime/exec/evaluator_state.h"
#include "runtime/exec/statevector/cpu/cpu_state.h"
#include "runtime/exec/statevector/statevector.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/kernels/targets.h"
#include "tests/tap.h"

static const char model_text[] =
	"QCNN 1; const int n = 8; qubit[n] q; input float[n] x;\n"
	"block u(float[3] t) a, b { ry(t[0]) a; rx(t[1]) b; rzz(t[2]) a, b; }\n"
	"embed { h q; rx(each x) on q; }\n"
	"param float[3] t; u(t) on ring(q); u(t) on cycle(q, 3); observe z(q[0]);\n";

/* Where its first four qubits are 1 amplitudes are 1e-40 and less, the product of matrices on up to three. */
static const char small_text[] =
	"QCNN 1; const int n = 8; qubit[n] q; param float t; rx(t) q[0:3]; h q[4:n-1]; observe z(q);\n";

/* Units that a thread did, or blocks of a state that all threads share. */
static uint64_t parts_of(const struct evaluator *ev, unsigned thread)
{
	const struct statevector *sv = evaluator_engine(ev, &engine_statevector);

	return sv->pl->shape == SHAPE_SHARED ? sv->state->worker[thread].blocks
					     : ev->worker[thread].nunit;
}

static struct program *compile(const char *text, const char *n)
{
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	int file = source_add(s, "threads.qcnn", text, strlen(text));
	struct ast *t = lang_parse(d, (uint32_t)file, &(struct lang_options){ 0 });
	lang_resolve(t, d);
	struct const_override c = { "n", n };
	struct program *p = compile_tree(t, d, &(struct compile_options){ .constant = &c, .nconstant = 1 });
	ast_free(t);
	diags_free(d);
	source_set_free(s);
	return p;
}

/* In the threads that compute, numbers too small for a normal one are 0. */
static atomic_uint kept_small;

static int dreadout(void *ctx, uint32_t sample, const double *readout, double *out, double *head)
{
	volatile float small = FLT_MIN;
	volatile double smaller = DBL_MIN;

	(void)ctx, (void)sample, (void)readout, (void)head;
	small *= 0.5f;
	smaller *= 0.5;
	kept_small += small != 0 || smaller != 0;
	if (out)
		*out = 1;
	return 0;
}

static void check(const char *n, uint32_t nsample, const char *what)
{
	struct program *p = compile(model_text, n);
	double want[3] = { 0 };
	double *x = calloc((size_t)nsample * p->ninput, sizeof *x), *readout = calloc(nsample, sizeof *readout);
	for (size_t k = 0; k < (size_t)nsample * p->ninput; k++)
		x[k] = 0.01 * (double)(k % 311);
	for (unsigned nthread = 1; nthread <= 4; nthread++) {
		struct evaluator *ev = NULL;
		struct err e = { 0 };
		struct evaluator_options o = { .method = METHOD_STATEVECTOR,
			.precision = PRECISION_SINGLE,
			.nthread = nthread,
			.gradient = GRADIENT_ADJOINT,
			.threads_always = true };
		double weight[3] = { 0.3, 0.5, 0.7 }, got[3];
		struct pool *pool = pool_threads_new(nthread);
		struct batch b = { .nsample = nsample, .input = x };
		if (!tap_ok(evaluator_new(p, &o, &ev, &e) == 0, "%s: an evaluator for %u threads %s", what, nthread, e.text))
			continue;
		evaluator_weights(ev, weight, &e);
		uint32_t nunit = evaluator_prepare(ev, &b, true, dreadout, NULL, readout);
		tap_ok(evaluator_run(ev, pool, got, &e) == 0, "%s: %u units with %u threads %s",
			what, nunit, nthread, e.text);
		bool all = true;
		for (unsigned t = 0; t < nthread; t++)
			all = all && parts_of(ev, t) > 0;
		if (nunit >= nthread || statevector_plan(ev)->shape == SHAPE_SHARED)
			tap_ok(all, "%s: every one of %u threads did a part", what, nthread);
		if (nthread == 1)
			memcpy(want, got, sizeof want);
		tap_is_mem(got, want, sizeof want, "%s: the same gradient with %u threads", what, nthread);
		evaluator_free(ev);
		pool->ops->free(pool);
	}
	free(x), free(readout);
	program_free(p);
}

#if defined __SSE2__ || defined __aarch64__
#define FLUSHES 1
#else
#define FLUSHES 0            /* the processor has no such mode */
#endif

/* So they are in all threads that share a state: no amplitude is a number too small for a normal one. */
static void check_state(const char *n, unsigned nqubit, enum shape shape, unsigned nthread,
	const struct target *t)
{
	struct program *p = compile(small_text, n);
	size_t namp = (size_t)1 << nqubit, small = 0, normal = 0;
	cplx *psi = calloc(namp, sizeof *psi);
	struct evaluator_options o = { .method = METHOD_STATEVECTOR,
		.precision = PRECISION_SINGLE,
		.nthread = nthread,
		.target = t,
		.gradient = GRADIENT_NONE,
		.shape = shape,
		.threads_always = true };
	struct evaluator *ev = NULL;
	struct err e = { 0 };
	bool ran = !evaluator_new(p, &o, &ev, &e) && !evaluator_weights(ev, &(double){ 2e-10 }, &e)
		&& !evaluator_state(ev, 0, NULL, psi, &e);

	for (size_t k = 0; k < namp; k++) {
		double size = fmax(fabs(creal(psi[k])), fabs(cimag(psi[k])));

		small += size > 0 && size < FLT_MIN;
		normal += size >= FLT_MIN;
	}
	tap_ok(ran && normal > 0 && small == 0,
		"%s, %u threads, shape %u: %zu of %zu amplitudes are too small %s", t->kernels,
		nthread, shape, small, namp, e.text);
	evaluator_free(ev);
	free(psi);
	program_free(p);
}

int main(void)
{
	const struct target *t;

	for (unsigned k = 0; FLUSHES && (t = cpu_target_here(k)); k++)
		for (unsigned nthread = 1; nthread <= 3; nthread++) {
			check_state("6", 6, SHAPE_BATCHED, nthread, t);
			check_state("10", 10, SHAPE_PER_THREAD, nthread, t);
			check_state("15", 15, SHAPE_SHARED, nthread, t);
		}

	check("8", 250, "8 qubits, 250 samples");
	check("8", 64, "8 qubits, as many samples as four threads need");
	check("12", 4, "12 qubits, four samples");
	check("18", 1, "18 qubits, one state");
#if FLUSHES
	tap_is_int(kept_small, 0, "every thread flushes small numbers to zero, for each of its samples");
	volatile float small = FLT_MIN;
	small *= 0.5f;
	tap_ok(small != 0, "and the caller's own numbers are as they were");
#endif
	return tap_done();
}
