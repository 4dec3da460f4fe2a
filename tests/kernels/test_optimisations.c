/* SPDX-License-Identifier: Apache-2.0
 * Exact optimisations: readouts and gradients with each against without, on every shape and
 * precision; the same bits for any number of threads; taken where they apply and there alone.
 *
 * test_optimisations [device [units | few]]: batch rank alone: with more states than a device evolves at once, or with few states. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compile.h"
#include "runtime/base/rng.h"
#include "runtime/base/system/inflate.h"
#include "runtime/exec/evaluator.h"
#include "runtime/exec/exact_optimisation_use.h"
#include "runtime/exec/statevector/light_cones.h"
#include "runtime/exec/statevector/statevector.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "runtime/program/verify.h"
#include "tests/kernels/build.h"
#include "tests/kernels/random_program.h"
#include "tests/tap.h"

enum { SAMPLES = 60, TAIL_SAMPLES = 19 };

static const struct target *best;

static struct program *compile(const char *text, const char *n)
{
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	int file = source_add(s, "optimisations.qcnn", text, strlen(text));
	struct ast *t = lang_parse(d, (uint32_t)file, &(struct lang_options){ 0 });
	struct const_override c = { "n", n };
	struct program *p;

	lang_resolve(t, d);
	p = compile_tree(t, d, &(struct compile_options){ .constant = &c, .nconstant = 1 });
	if (!p || diags_errors(d))
		tap_bail("a model of this test does not compile");
	ast_free(t);
	diags_free(d);
	source_set_free(s);
	return p;
}

/* ---- samples ---- */

enum sample_kind { ONE_ANGLE, EQUAL_ANGLES, FEW_VALUES, ANY };

static double uniform(uint32_t s, uint32_t k)
{
	return 6 * rng_uniform(5, RNG_TEST, s, k) - 3;
}

/* ONE_ANGLE: at most one input is not 0.  EQUAL_ANGLES: all inputs of a sample are equal.
 * FEW_VALUES: three different samples. */
static double *samples(enum sample_kind kind, uint32_t nsample, uint32_t ninput)
{
	double *x = calloc((size_t)nsample * ninput, sizeof *x);

	for (uint32_t s = 0; s < nsample; s++)
		for (uint32_t k = 0; k < ninput; k++)
			switch (kind) {
			case ONE_ANGLE: x[s * ninput + k] = s % (ninput + 1) == k ? uniform(s, 0) : 0; break;
			case EQUAL_ANGLES: x[s * ninput + k] = uniform(s, 0); break;
			case FEW_VALUES: x[s * ninput + k] = uniform(s % 3, k); break;
			case ANY: x[s * ninput + k] = uniform(s, k); break;
			}
	return x;
}

/* ---- on against off ---- */

static unsigned allowed = OPTIMISATION_BATCH_RANK;
static uint32_t digest;    /* of all results with an optimisation */
static unsigned nturn = 2; /* the second time a basis is remembered */

struct run_of {
	bool cones;
	uint32_t ncircuit, widest;   /* of the plan */
	double *readout, *gradient;
	uint32_t r;                  /* dimensions; 0: batch rank was not taken */
	int code;
	struct err e;
};

static int dreadout(void *ctx, uint32_t sample, const double *readout, double *out, double *head)
{
	const struct program *p = ctx;

	(void)head;
	for (uint32_t k = 0; out && k < p->nreadout; k++)
		out[k] = (rng_uniform(17, RNG_TEST, sample, k) - 0.4 + readout[k]) / SAMPLES;
	return 0;
}

static struct run_of evaluate(const struct program *p, const struct evaluator_options *o, uint32_t nsample,
	const double *weight, const double *x)
{
	struct run_of out = { .readout = calloc((size_t)nsample * p->nreadout, sizeof(double)),
		.gradient = calloc(p->nweight + 1, sizeof(double)) };
	struct pool *pool = pool_threads_new(o->nthread);
	struct evaluator_options own = *o;
	struct evaluator *ev = NULL;
	bool gradient = o->gradient != GRADIENT_NONE;

	own.method = METHOD_STATEVECTOR;
	out.code = evaluator_new(p, &own, &ev, &out.e);
	for (unsigned turn = 0; turn < nturn && !out.code; turn++) {
		out.code = evaluator_weights(ev, weight, &out.e);
		evaluator_prepare(ev, &(struct batch){ .nsample = nsample, .input = x }, gradient,
			dreadout, (void *)p, out.readout);
		if (!out.code)
			out.code = evaluator_run(ev, pool, gradient ? out.gradient : NULL, &out.e);
		if (!out.code && evaluator_states_evolved(ev) < nsample)
			out.r = evaluator_states_evolved(ev);
		if (!out.code) {
			out.cones = evaluator_evaluated(ev) != p;
			out.ncircuit = statevector_plan(ev)->ncircuit;
			out.widest = program_nwire(statevector_plan(ev)->program);
		}
	}
	evaluator_free(ev);
	pool->ops->free(pool);
	return out;
}

static void release(struct run_of *r)
{
	free(r->readout);
	free(r->gradient);
}

static const char *const shape_text[] = { "auto", "samples", "state", "shared" };

static void compare(const struct program *p, struct evaluator_options o, uint32_t nsample, const double *weight,
	const double *x, uint32_t r, const char *what)
{
	double limit = o.precision == PRECISION_DOUBLE ? 1e-9 : 1e-3;
	struct run_of off, on;

	o.optimisations = OPTIMISATION_NONE;
	off = evaluate(p, &o, nsample, weight, x);
	o.optimisations = allowed;
	o.optimisations_always = true;
	on = evaluate(p, &o, nsample, weight, x);
	tap_ok(!off.code && !on.code && !off.r && (on.r == r || r == INDEX_NONE), "%s, %s, %s %s: %u dimensions of %u (expected %u) %s", what,
		shape_text[o.shape], o.target->kernels, o.precision == PRECISION_DOUBLE ? "double" : "single", on.r, nsample, r, on.e.text);
	tap_ok(largest_difference(on.readout, off.readout, (size_t)nsample * p->nreadout) < limit,
		"... readouts differ by %.1e", largest_difference(on.readout, off.readout, (size_t)nsample * p->nreadout));
	digest = crc32_more(digest, on.readout, (size_t)nsample * p->nreadout * sizeof(double));
	digest = crc32_more(digest, on.gradient, p->nweight * sizeof(double));
	if (o.gradient != GRADIENT_NONE)
		tap_ok(largest_difference(on.gradient, off.gradient, p->nweight) < limit,
			"... gradients differ by %.1e", largest_difference(on.gradient, off.gradient, p->nweight));
	for (o.nthread = 2; o.nthread <= 4 && o.precision == PRECISION_SINGLE
		&& target_can(o.target, TARGET_THREADS);
		o.nthread++) {
		struct run_of more = evaluate(p, &o, nsample, weight, x);

		tap_ok(!memcmp(more.readout, on.readout, (size_t)nsample * p->nreadout * sizeof(double))
			&& !memcmp(more.gradient, on.gradient, p->nweight * sizeof(double)), "... the same bits with %u threads", o.nthread);
		release(&more);
	}
	release(&off);
	release(&on);
}

static void everywhere(const char *text, const char *n, enum sample_kind kind, uint32_t r, const char *what)
{
	struct program *p = compile(text, n);
	double *x = samples(kind, SAMPLES, p->ninput), *weight = calloc(p->nweight + 1, sizeof *weight);
	const struct target *t;

	random_numbers(23, 3, p->nweight, weight);
	for (enum shape shape = first_shape(best); shape <= SHAPE_SHARED; shape++)
		for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++)
			compare(p,
				(struct evaluator_options){ .method = METHOD_STATEVECTOR,
					.nthread = 1,
					.shape = shape,
					.precision = precision,
					.target = best,
					.gradient = GRADIENT_ADJOINT },
				SAMPLES, weight, x, r, what);
	for (unsigned k = 0; (t = target_of(best->device, k)) && t != best; k++)
		compare(p,
			(struct evaluator_options){ .method = METHOD_STATEVECTOR,
				.nthread = 1,
				.precision = PRECISION_DOUBLE,
				.target = t,
				.gradient = GRADIENT_NONE },
			SAMPLES, weight, x, r, what);
	free(x);
	free(weight);
	program_free(p);
}

/* ---- models ---- */

/* TensorFlow Quantum's excitations, and readouts of every kind. */
static const char cluster[] =
	"QCNN 1; const int n = 6; qubit[n] q; input float[n] x;\n"
	"block u(float[6] t) a, b { ry(t[0]) a; rz(t[1]) b; rxx(t[2]) a, b; ry(t[3]) b; rzz(t[4]) a, b; rx(t[5]) a; }\n"
	"embed { h q; cz on cycle(q); rx(each x) on q; }\n"
	"param float[6] t; u(t) on ring(q);\n"
	"param float[6] s; u(s) on cycle(q, 2);\n"
	"observe z(q[0]); observe 0.5 * x(q[1]) * y(q[2]) - 0.25 * z(q[n - 1]) + 2; observe probs(q[1:3]);\n";

/* Inputs between trained layers, under controls, and undone. */
static const char again[] =
	"QCNN 1; const int n = 5; qubit[n] q; input float[2] x;\n"
	"block u(float[3] t) a, b { ry(t[0]) a; rx(t[1]) b; rzz(t[2]) a, b; }\n"
	"block e(float y) a, b { ctrl @ ry(y) a, b; rzz(2 * y) a, b; }\n"
	"h q; param float[3] t; u(t) on ring(q);\n"
	"e(x[0]) q[0], q[1]; param float[3] s; u(s) on ring(q); inv @ e(x[1]) q[2], q[4];\n"
	"param float[3] v; u(v) on ring(q); observe y(q[1]); observe x(q[3]) * z(q[4]);\n";

/* Phases: coefficients are complex. */
static const char phases[] =
	"QCNN 1; const int n = 5; qubit[n] q; input float[n] x;\n"
	"block u(float[3] t) a, b { ry(t[0]) a; rx(t[1]) b; rzz(t[2]) a, b; }\n"
	"embed { h q; phase(each x) on q; }\n"
	"param float[3] t; u(t) on ring(q); observe y(q[1]); observe x(q[3]) * z(q[4]);\n";

/* Amplitudes of few numbers on many qubits. */
static const char amplitudes[] =
	"QCNN 1; const int n = 5; qubit[n] q; input float[3] x;\n"
	"block u(float[3] t) a, b { ry(t[0]) a; rx(t[1]) b; rzz(t[2]) a, b; }\n"
	"embed { amplitudes(x) q; }\n"
	"param float[3] t; u(t) on ring(q); observe z(q[0]); observe z(q[2]);\n";

/* Outputs that see all qubits. */
static const char wide_cluster[] =
	"QCNN 1; const int n = 16; qubit[n] q; input float[n] x;\n"
	"block u(float[2] t) a, b { ry(t[0]) a; rxx(t[1]) a, b; }\n"
	"embed { h q; rx(each x) on q; }\n"
	"param float[2] t; u(t) on ring(q); param float s; rzz(s) q[3], q[n - 2];\n"
	"observe z(q[0]) * z(q[n/4]) * z(q[n/2]) * z(q[3*n/4]); observe x(q[n-1]) * y(q[2]) - 0.25 * z(q[5]) + 2;\n";

static void once(const char *text, const char *n, enum sample_kind kind, uint32_t nsample,
	uint32_t r, enum precision precision)
{
	struct program *p = compile(text, n);
	double *x = samples(kind, nsample, p->ninput),
	       *weight = calloc(p->nweight + 1, sizeof *weight);

	nturn = 1;
	random_numbers(23, 3, p->nweight, weight);
	compare(p,
		(struct evaluator_options){ .method = METHOD_STATEVECTOR,
			.nthread = 1,
			.precision = precision,
			.target = best,
			.gradient = GRADIENT_ADJOINT },
		nsample, weight, x, r, "one batch");
	nturn = 2;
	free(x);
	free(weight);
	program_free(p);
}

/* Memory for a step, not for states side by side: refused, with what to do. */
static void refused(void)
{
	struct program *p = compile(cluster, "11");
	double *x = samples(ONE_ANGLE, SAMPLES, p->ninput), *weight = calloc(p->nweight + 1, sizeof *weight);
	struct evaluator_options o = { .method = METHOD_STATEVECTOR,
		.nthread = 1,
		.precision = PRECISION_SINGLE,
		.gradient = GRADIENT_ADJOINT,
		.target = best,
		.memory_limit = 1 << 16 };
	struct run_of r = { .code = -ERR_CONFIG };

	nturn = 1;
	for (; r.code && o.memory_limit < 1 << 26; o.memory_limit += o.memory_limit / 8) {
		release(&r);
		r = evaluate(p, &o, SAMPLES, weight, x);
	}
	tap_ok(!r.code, "a limit of memory that is enough without optimisations");
	release(&r);
	o.optimisations = OPTIMISATION_BATCH_RANK;
	o.optimisations_always = true;
	r = evaluate(p, &o, SAMPLES, weight, x);
	tap_ok(r.code == -ERR_CONFIG && strstr(r.e.text, "batch_rank needs")
			&& strstr(r.e.text, "run.optimizations: none"),
		"is refused with batch rank: %s", r.e.text);
	nturn = 2;
	release(&r);
	free(x);
	free(weight);
	program_free(p);
}

/* ---- light cones ---- */

/* Pairs: each output sees two qubits, but for one that sees four, a constant, and swaps between. */
static const char pairs[] =
	"QCNN 1; const int n = 8; qubit[n] q; input float[n] x;\n"
	"block u(float[3] t) a, b { ry(t[0]) a; rx(t[1]) b; rzz(t[2]) a, b; }\n"
	"embed { rx(each x) on q; }\n"
	"param float[3] t; u(t) on zip(q[0:n/2-1], q[n/2:n-1]);\n"
	"swap q[0], q[7]; ctrl @ ry(t[0]) q[1], q[n/2]; discard q[2];\n"
	"observe z(q[0]); observe 0.5 * x(q[1]) * y(q[4]) + 2; observe probs(q[5:6]); observe z(q[7]);\n";

static void cones(const char *text, const char *n, bool fall, uint32_t ncircuit, uint32_t widest, const char *what)
{
	struct program *p = compile(text, n);
	double *x = samples(ANY, SAMPLES, p->ninput), *weight = calloc(p->nweight + 1, sizeof *weight);
	struct evaluator_options o = { .method = METHOD_STATEVECTOR,
		.nthread = 2,
		.target = best,
		.precision = PRECISION_DOUBLE,
		.gradient = GRADIENT_ADJOINT,
		.optimisations = OPTIMISATION_LIGHT_CONE,
		.optimisations_always = true };
	struct run_of r;

	random_numbers(31, 3, p->nweight, weight);
	r = evaluate(p, &o, SAMPLES, weight, x);
	tap_ok(!r.code && r.cones == fall && r.ncircuit == ncircuit && r.widest == widest,
		"%s: %u circuits of at most %u qubits (expected %u, %u) %s", what, r.ncircuit, r.widest, ncircuit, widest, r.e.text);
	release(&r);
	if (fall)
		for (allowed = OPTIMISATION_LIGHT_CONE;
			allowed <= (OPTIMISATION_LIGHT_CONE | OPTIMISATION_BATCH_RANK); allowed++)
			for (enum shape shape = first_shape(best) == SHAPE_BATCHED
					? SHAPE_AUTO
					: first_shape(best);
				shape <= SHAPE_SHARED; shape = shape ? shape + 1 : first_shape(best))
				for (enum precision k = PRECISION_SINGLE; k <= PRECISION_DOUBLE; k++)
					compare(p,
						(struct evaluator_options){ .method = METHOD_STATEVECTOR,
							.nthread = 1,
							.shape = shape,
							.precision = k,
							.target = best,
							.gradient = GRADIENT_ADJOINT },
						SAMPLES, weight, x,
						allowed & OPTIMISATION_BATCH_RANK ? INDEX_NONE : 0,
						what);
	allowed = OPTIMISATION_BATCH_RANK;
	free(x);
	free(weight);
	program_free(p);
}

/* ---- small tails ---- */

/* A state that is a unit by itself, and bits of the tail that no tile has at first. */
static const char large_tail[] =
	"QCNN 1; const int n = 20; qubit[n] q; param float[n] w;\n"
	"block u(float[3] t) a, b { ry(t[0]) a; rx(t[1]) b; rzz(t[2]) a, b; }\n"
	"ry(each w) on q; cx q[0], q[n-1]; u(w[0:2]) q[n-1], q[1]; u(w[3:5]) q[1], q[n-2]; u(w[2:4]) q[n-2], q[n-1];\n"
	"observe z(q[n-2]);\n";

/* Samples have matrices of their own in the launch that makes lambda. */
static const char inputs_tail[] =
	"QCNN 1; const int n = 11; qubit[n] q; input float[2] x; param float[n] w;\n"
	"ry(each w) on q; cx q[0], q[1]; rx(each x) on q[0:1]; cx q[0], q[n-1]; ry(w[0]) q[n-1]; rzz(w[1]) q[n-1], q[n-2]; rx(w[2]) q[n-2];\n"
	"observe z(q[n-2]);\n";

/* Pooling down to two qubits; a tail of one, of two, of three; outputs of every kind. */
static const char pooled[] =
	"QCNN 1; const int n = 6; qubit[n] q; input float[n] x;\n"
	"block u(float[3] t) a, b { ry(t[0]) a; rx(t[1]) b; rzz(t[2]) a, b; }\n"
	"embed { rx(each x) on q; }\n"
	"param float[3] t; u(t) on ring(q); discard q[n-6]; cx q[n-5], q[n-4];\n"
	"param float[3] s; u(s) q[n-4], q[n-3]; param float[3] v; u(v) q[n-2], q[n-3]; discard q[n-1];\n";

/* nqubit: of the tail. A device has none where states are small. */
static void tail(const char *outputs, const char *n, uint32_t nqubit, const char *what)
{
	const uint32_t nsample = atoi(n) > 6 ? 2 : TAIL_SAMPLES;
	const struct target *t = NULL;
	char text[1024];
	struct program *p;
	double *x, *weight;

	snprintf(text, sizeof text, "%s%s", pooled, outputs);
	p = compile(text, n);
	x = samples(ANY, SAMPLES, p->ninput);
	weight = calloc(p->nweight + 1, sizeof *weight);
	random_numbers(29, 3, p->nweight, weight);
	for (unsigned k = 0; t != best; k++) {
		struct plan *pl;

		t = target_of(best->device, k);
		pl = plan_new(p, &(struct plan_options){ .target = t, .heisenberg_tail = true },
			&(struct err){ 0 });
		tap_is_int(plan_tail_qubits(pl), target_can(t, TARGET_HEISENBERG_TAIL) ? nqubit : 0,
			"%s, %s: qubits of the tail", what, t->kernels);
		plan_free(pl);
		allowed = OPTIMISATION_HEISENBERG_TAIL;
		for (enum shape shape = first_shape(best); shape <= SHAPE_SHARED; shape++)
			for (enum precision k = t == best ? PRECISION_SINGLE : PRECISION_DOUBLE;
				k <= PRECISION_DOUBLE; k++)
				for (unsigned random = 0; random < 3; random += 1 + (t != best))
					compare(p,
						(struct evaluator_options){ .method = METHOD_STATEVECTOR,
							.nthread = 1,
							.shape = shape,
							.precision = k,
							.target = t,
							.random_plan = random,
							.gradient = random == 2 ? GRADIENT_NONE
										: GRADIENT_ADJOINT },
						nsample, weight, x, 0, what);
	}
	allowed |= OPTIMISATION_BATCH_RANK;
	free(x);
	x = samples(ONE_ANGLE, TAIL_SAMPLES, p->ninput);
	compare(p,
		(struct evaluator_options){ .method = METHOD_STATEVECTOR,
			.nthread = 1,
			.precision = PRECISION_DOUBLE,
			.target = best,
			.gradient = GRADIENT_ADJOINT },
		TAIL_SAMPLES, weight, x, 7, what);
	allowed = OPTIMISATION_BATCH_RANK;
	free(x);
	free(weight);
	program_free(p);
}

/* Gates that no output sees stand behind the tail and between its gates; no pass has dropped them. */
static void unseen(void)
{
	enum { N = 11 };
	struct build b = build_new(3, 1, 1);
	uint32_t rxx = build_gate(&b, GATE_RPAULI, 0x5, (uint32_t[]){ build_weight(&b, 0) });
	uint32_t ry = build_gate(&b, GATE_RPAULI, 2, (uint32_t[]){ build_weight(&b, 1) });
	uint32_t rzz = build_gate(&b, GATE_RPAULI, 0xf, (uint32_t[]){ build_weight(&b, 2) });
	double x[TAIL_SAMPLES] = { 0 }, weight[3] = { 0.4, 0.9, 1.3 };
	struct program *p;

	build_wires(&b, 0, N);
	for (uint32_t w = 0; w < N; w++)
		build_apply(&b, 0, ry, 1, &w);
	build_apply(&b, 0, rxx, 2, (uint32_t[]){ 2, 3 });
	build_apply(&b, 0, rzz, 2, (uint32_t[]){ 1, 2 });
	build_apply(&b, 0, rxx, 2, (uint32_t[]){ 3, 2 });
	build_apply(&b, 0, ry, 1, (uint32_t[]){ 3 });
	for (uint32_t w = 3; w + 1 < N; w++)
		build_apply(&b, 0, w % 2 ? ry : rxx, w % 2 ? 1 : 2, (uint32_t[]){ w + 1, w + 2 < N ? w + 2 : 4 });
	build_apply(&b, 0, rxx, 2, (uint32_t[]){ 1, 0 });
	build_apply(&b, 0, ry, 1, (uint32_t[]){ 1 });
	build_apply(&b, 0, rzz, 2, (uint32_t[]){ 2, 1 });
	build_z(&b, 0, 3);
	p = build_done(&b);
	allowed = OPTIMISATION_HEISENBERG_TAIL;
	for (enum shape shape = first_shape(best); shape <= SHAPE_SHARED; shape++)
		for (unsigned random = 0; random < 6; random++)
			compare(p,
				(struct evaluator_options){ .method = METHOD_STATEVECTOR,
					.nthread = 1,
					.shape = shape,
					.precision = PRECISION_DOUBLE,
					.target = best,
					.random_plan = random,
					.gradient = GRADIENT_ADJOINT },
				1, weight, x, 0, "gates that no output sees");
	allowed = OPTIMISATION_BATCH_RANK;
	program_free(p);
}

/* The cones are a program like any other: it verifies, and its bytes read back. */
static void bytes_of_cones(void)
{
	struct program *p = compile(pairs, "8"), *back = NULL;
	struct arena a;
	struct buf b = BUF_INIT;
	struct err e = { 0, "" };
	const struct program *c;

	arena_init(&a);
	c = cones_of(p, &a);
	tap_ok(c && !program_verify(c, &e), "cones verify %s", e.text);
	program_write(c, &b);
	tap_ok(!program_read(b.data, b.len, &back, &e) && back->ncircuit == c->ncircuit && back->nreadout == p->nreadout,
		"and are read back %s", e.text);
	program_free(back);
	buf_release(&b);
	arena_release(&a);
	program_free(p);
}

/* More qubits than a state can have, but each output sees few. */
static void wide(void)
{
	struct program *p = compile(pairs, "70");
	double *x = samples(ANY, SAMPLES, p->ninput), weight[3] = { 0.3, 0.5, 0.7 };
	struct evaluator_options o = { .method = METHOD_STATEVECTOR,
		.nthread = 1,
		.target = best,
		.precision = PRECISION_DOUBLE,
		.gradient = GRADIENT_ADJOINT };
	struct run_of r = evaluate(p, &o, SAMPLES, weight, x);

	tap_ok(r.code == -ERR_CONFIG, "70 qubits: refused without optimisations");
	release(&r);
	o.optimisations = OPTIMISATION_LIGHT_CONE;
	r = evaluate(p, &o, SAMPLES, weight, x);
	tap_ok(!r.code && r.cones, "evaluated by their light cones %s", r.e.text);
	release(&r);
	free(x);
	program_free(p);
}

/* What is said of batches that were few among many. */
static void test_words(void)
{
	static const struct {
		struct optimisation_use use;
		const char *want;
	} row[] = {
		{ { .nbatch = 10,
			  .row[OPTIMISATION_ROW_BATCH_RANK] = { .nbatch = 10,
				  .nstate = 90,
				  .nsample = 1120 },
			  .flops = 100,
			  .plain_flops = 630 },
			"batch_rank: 9 states instead of 112 in every batch; 6.3 times fewer operations" },
		{ { .nbatch = 1000,
			  .row[OPTIMISATION_ROW_BATCH_RANK] = { .nbatch = 2, .nstate = 14, .nsample = 32 },
			  .flops = 1000,
			  .plain_flops = 1001 },
			"" },
		{ { .nbatch = 10,
			  .row[OPTIMISATION_ROW_HEISENBERG_TAIL] = { .nbatch = 10, .nqubit = 2 },
			  .flops = 110,
			  .plain_flops = 100 },
			"" },
		{ { .nbatch = 10,
			  .row[OPTIMISATION_ROW_HEISENBERG_TAIL] = { .nbatch = 10, .nqubit = 2 },
			  .flops = 100,
			  .plain_flops = 105 },
			"heisenberg_tail: the last gates on 2 qubits as one matrix in every batch; 1.1 times fewer operations" },
		{ { .nbatch = 4,
			  .ncircuit = 1,
			  .nqubit = 24,
			  .row[OPTIMISATION_ROW_LIGHT_CONE] = { .nbatch = 4, .ncircuit = 2, .nqubit = 3 },
			  .row[OPTIMISATION_ROW_BATCH_RANK] = { .nbatch = 1, .nstate = 5, .nsample = 32 },
			  .flops = 10,
			  .plain_flops = 200 },
			"light_cone: 2 circuits of at most 3 qubits instead of one of 24; "
			"batch_rank: 5 states instead of 32 in 1 of 4 batches; 20 times fewer operations" },
		{ { .nbatch = 10, .flops = 10, .plain_flops = 10 }, "" },
	};

	const struct engine_optimisation *used[OPTIMISATIONS_COUNT];
	unsigned named = 0;

	for (unsigned k = 0; k < engine_uses(used); k++)
		named |= 1u << used[k]->row;
	tap_is_int(named, OPTIMISATION_ALL, "each exact optimisation is one that an engine uses");
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct buf b = BUF_INIT;

		optimisation_use_text(&row[i].use, &b);
		tap_is_str(b.len ? b.data : "", row[i].want, "what was saved, in words");
		buf_release(&b);
	}
}

int main(int argc, char **argv)
{
	bool far;

	best = tested_device(argc, argv);
	far = best->usual_stream_gb_s > 0;
	if (argc > 2 && !strcmp(argv[2], "units")) {
		once(wide_cluster, "13", ONE_ANGLE, 15, 14, PRECISION_DOUBLE);
		tap_note("digest %08x", (unsigned)digest);
		return tap_done();
	}
	if (argc > 2) {
		once(cluster, "4", FEW_VALUES, 8, 3, PRECISION_SINGLE);
		once(again, "5", ANY, 40, 36, PRECISION_DOUBLE);
		return tap_done();
	}
	once(wide_cluster, "8", ANY, 300, 256, PRECISION_DOUBLE);
	cones(pairs, "8", true, 4, 4, "pairs");
	cones(cluster, "6", false, 1, 6, "a ring");
	bytes_of_cones();
	wide();
	tail("observe z(q[n-3]);\n", far ? "14" : "6", 3, "a tail");
	tail("observe 0.5 * x(q[n-3]) * y(q[n-2]) + 2; observe z(q[n-3]); observe -0.3 * y(q[n-2]);\n",
		far ? "12" : "6", far ? 2 : 3, "a tail with three outputs");
	tail("observe probs(q[n-3:n-2]);\n", far ? "12" : "6", far ? 2 : 3, "a tail of probabilities");
	tail("observe z(q[n-5]); observe z(q[n-4]); observe z(q[n-3]); observe z(q[n-2]);\n", "6",
		0, "outputs of four qubits");
	unseen();
	if (far) {
		allowed = OPTIMISATION_HEISENBERG_TAIL;
		once(large_tail, "20", ANY, 1, 0, PRECISION_SINGLE);
		once(inputs_tail, "11", ANY, 3, 0, PRECISION_DOUBLE);
		allowed = OPTIMISATION_BATCH_RANK;
	}
	refused();
	everywhere(cluster, "6", ONE_ANGLE, 7, "one angle");
	everywhere(cluster, "5", EQUAL_ANGLES, 6, "equal angles");
	everywhere(cluster, "4", FEW_VALUES, 3, "three samples again and again");
	everywhere(cluster, "4", ANY, 16, "any angles, more samples than dimensions");
	everywhere(again, "5", ANY, 36, "inputs between layers");
	everywhere(phases, "5", ONE_ANGLE, 6, "one phase");
	everywhere(amplitudes, "5", ANY, 3, "three amplitudes");
	test_words();
	return tap_done();
}
