/* SPDX-License-Identifier: Apache-2.0
 * Noise channels: means over trajectories against density matrices, the same draws whatever the backend and the
 * number of threads, and gradients of three methods for the same draws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/statevector/statevector.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/compile_file.h"
#include "tests/kernels/density.h"
#include "tests/kernels/targets.h"
#include "tests/tap.h"

/* ---- evaluations ---- */

struct setting {
	const struct target *target;
	enum precision precision;
	enum gradient_method gradient;
	enum shape shape;
	uint32_t trajectories, shots;
	unsigned nthread, optimisations;
	uint64_t key;
};

enum { SAMPLES = 3, NUMBERS_MAX = 64 };

struct result {
	double readout[NUMBERS_MAX], gradient[NUMBERS_MAX];
};

static struct result evaluate(const struct program *p, const struct setting *s, const double *x,
	uint32_t nsample)
{
	struct evaluator_options o = { .target = s->target,
		.precision = s->precision,
		.gradient = s->gradient,
		.shape = s->shape,
		.trajectories = s->trajectories,
		.shots = s->shots,
		.nthread = s->nthread ? s->nthread : 1,
		.threads_always = s->nthread > 1,
		.optimisations = s->optimisations };
	struct batch b = { .nsample = nsample, .input = x };
	struct pool *pool = pool_threads_new(4);
	struct result r = { { 0 }, { 0 } };
	double weight[NUMBERS_MAX];
	struct evaluator *ev = NULL;
	uint32_t nreadout = p->nreadout;
	struct err e = { 0 };
	int code = evaluator_new(p, &o, &ev, &e);

	program_init_weights(p, 1, 0, weight);
	if (!code)
		code = evaluator_weights(ev, weight, &e);
	if (!code) {
		evaluator_draws(ev, s->key, 5);
		evaluator_prepare(ev, &b, s->gradient != GRADIENT_NONE, given_gradients, &nreadout,
			r.readout);
		code = evaluator_run(ev, pool, r.gradient, &e);
	}
	if (code)
		tap_ok(false, "evaluates: %s", e.text);
	evaluator_free(ev);
	pool->ops->free(pool);
	return r;
}

static double difference(const double *a, const double *b, uint32_t n)
{
	double most = 0;

	for (uint32_t k = 0; k < n; k++)
		if (!(fabs(a[k] - b[k]) <= most))
			most = isnan(a[k]) || isnan(b[k]) ? HUGE_VAL : fabs(a[k] - b[k]);
	return most;
}

/* ---- one channel ---- */

enum { MANY = 20000 };

/* Within five standard errors of a mean of numbers from -1 to 1; exact where nothing is random. */
static bool near(double got, double want, double trajectories)
{
	return fabs(got - want) <= 5 * sqrt(fmax(0, 1 - want * want) / trajectories) + 1e-12;
}

static void test_single(unsigned k)
{
	struct density d = density_zero(1);
	char text[256];

	snprintf(text, sizeof text,
		"QCNN 1; qubit[1] q; ry(1.1) q; rz(0.4) q; %s observe x(q); observe y(q); observe z(q);",
		single[k].call);
	struct program *p = compile_text(text, NULL);
	struct setting s = {
		.target = &target_ref, .precision = PRECISION_DOUBLE, .trajectories = MANY, .key = 11
	};

	turn(&d, PAULI_Y, 1.1, 0);
	turn(&d, PAULI_Z, 0.4, 0);
	channel(&d, single[k].x, single[k].y, single[k].z, 0);
	struct result r = evaluate(p, &s, NULL, 1);
	for (unsigned letter = PAULI_X; letter <= PAULI_Z; letter++)
		tap_ok(near(r.readout[letter - 1], mean_of(&d, (const unsigned[4]){ letter }), MANY),
			"%s <%c> is %.4f, of the density matrix %.4f", single[k].call, "IXYZ"[letter],
			r.readout[letter - 1], mean_of(&d, (const unsigned[4]){ letter }));
	program_free(p);
}

/* What manual and papers say, without matrices. */
static void test_formulas(void)
{
	static const char text[] =
		"QCNN 1; qubit[4] q; ry(0.8) q; depolarizing(0.3) q[0]; bit_flip(0.1) q[1];"
		" depolarizing(0.4) q[2], q[3]; observe z(q);";
	struct program *p = compile_text(text, NULL);
	struct setting s = {
		.target = &target_ref, .precision = PRECISION_DOUBLE, .trajectories = MANY, .key = 2
	};
	struct result r = evaluate(p, &s, NULL, 1);
	const double z = cos(0.8),
		     want[4] = { (1 - 4 * 0.3 / 3) * z, (1 - 2 * 0.1) * z, (1 - 16 * 0.4 / 15) * z,
			     (1 - 16 * 0.4 / 15) * z };

	for (unsigned k = 0; k < 4; k++)
		tap_ok(near(r.readout[k], want[k], MANY),
			"<Z> of qubit %u is %.4f, by the formula %.4f", k, r.readout[k], want[k]);
	program_free(p);
}

/* Channels that flip by the same number would leave 1. */
static void test_independence(void)
{
	static const char *const model[] = {
		"qubit[2] q; h q; phase_flip(0.3) q; observe x(q[0])*x(q[1]);",
		"qubit[2] q; h q; phase_flip(0.3) q[0]; phase_flip(0.3) q[1]; observe x(q[0])*x(q[1]);",
		"qubit[1] q; bit_flip(0.3) q; h q; h q; bit_flip(0.3) q; observe z(q);",
		"qubit[2] q; block flip a { h a; phase_flip(0.3) a; } flip q[0]; flip q[1]; observe x(q[0])*x(q[1]);",
	};
	const double want = (1 - 2 * 0.3) * (1 - 2 * 0.3);
	struct setting s = {
		.target = &target_ref, .precision = PRECISION_DOUBLE, .trajectories = MANY, .key = 8
	};

	for (size_t k = 0; k < sizeof model / sizeof *model; k++) {
		char text[256];

		snprintf(text, sizeof text, "QCNN 1; %s", model[k]);
		struct program *p = compile_text(text, NULL);
		struct result r = evaluate(p, &s, NULL, 1);

		tap_ok(near(r.readout[0], want, MANY), "%s: %.4f, of independent channels %.4f",
			model[k], r.readout[0], want);
		program_free(p);
	}
}

static void test_exact(void)
{
	static const char *const pair[][2] = {
		{ "bit_flip(1) q[0];", "x q[0];" },
		{ "phase_flip(1) q[1];", "z q[1];" },
		{ "bit_phase_flip(1) q;", "y q;" },
		{ "pauli_channel(0, 0, 1) q[0];", "z q[0];" },
		{ "bit_flip(0) q; depolarizing(0) q[0], q[1];", "" },
	};
	static const char around[] =
		"QCNN 1; qubit[2] q; ry(0.7) q[0]; rx(1.9) q[1]; cx q[0], q[1]; %s ry(0.3) q; observe z(q); observe x(q[0])*y(q[1]);";
	const struct setting s = {
		.target = &target_ref, .precision = PRECISION_DOUBLE, .trajectories = 3
	};

	for (size_t k = 0; k < sizeof pair / sizeof *pair; k++) {
		struct result r[2];

		for (unsigned i = 0; i < 2; i++) {
			char text[512];

			snprintf(text, sizeof text, around, pair[k][i]);
			struct program *p = compile_text(text, NULL);
			r[i] = evaluate(p, &s, NULL, 1);
			if (i == 0)
				tap_is_int(program_is_noisy(p), *pair[k][1] != 0, "%s: noise",
					pair[k][0]);
			program_free(p);
		}
		double d = difference(r[0].readout, r[1].readout, 3);
		tap_ok(d == 0, "%s is \"%s\": off by %.2g", pair[k][0], pair[k][1], d);
	}
}

/* ---- a small convolutional network ---- */

static const double inputs[SAMPLES] = { 0.4, 1.3, -2.1 };

static void test_network(const struct program *p, const struct target *t)
{
	struct setting s = { .target = t, .trajectories = MANY, .key = 3 };
	struct result r = evaluate(p, &s, inputs, SAMPLES);

	for (unsigned k = 0; k < SAMPLES; k++) {
		struct density d = network_density(inputs[k]);
		double z = mean_of(&d, (const unsigned[4]){ 0, 0, 0, PAULI_Z });
		double xz = mean_of(&d, (const unsigned[4]){ 0, PAULI_Z, 0, PAULI_X });

		tap_ok(near(r.readout[2 * k], z, MANY) && near(r.readout[2 * k + 1], xz, MANY),
			"%s: %.4f and %.4f, of the density matrix %.4f and %.4f", t->kernels,
			r.readout[2 * k], r.readout[2 * k + 1], z, xz);
	}
}

/* Each sample by itself, whatever the backend: the draws depend on its position alone. */
static void test_targets(const struct program *p)
{
	struct setting s = { .target = &target_ref,
		.precision = PRECISION_DOUBLE,
		.gradient = GRADIENT_ADJOINT,
		.trajectories = 40,
		.key = 4 };
	const struct result want = evaluate(p, &s, inputs, SAMPLES);
	const struct target *t;

	for (unsigned k = 0; (t = target_here(k)); k++)
		for (enum shape shape = SHAPE_BATCHED; shape <= SHAPE_SHARED; shape++) {
			s.target = t;
			s.shape = target_can(t, TARGET_STAGES) ? shape : SHAPE_AUTO;
			struct result r = evaluate(p, &s, inputs, SAMPLES);
			double dr = difference(r.readout, want.readout, 2 * SAMPLES);
			double dg = difference(r.gradient, want.gradient, p->nweight);

			tap_ok(dr < 1e-13 && dg < 1e-12,
				"%s, shape %d: readouts off by %.2g, gradient by %.2g", t->kernels,
				(int)shape, dr, dg);
		}
	s.key = 5;
	struct result r = evaluate(p, &s, inputs, SAMPLES);
	tap_ok(difference(r.readout, want.readout, 2 * SAMPLES) > 1e-3, "another key, other draws");
}

static void test_gradients(const struct program *p, uint32_t trajectories, const struct target *t)
{
	struct setting s = { .target = t,
		.precision = PRECISION_DOUBLE,
		.gradient = GRADIENT_ADJOINT,
		.trajectories = trajectories,
		.key = 6 };
	struct result adjoint = evaluate(p, &s, inputs, SAMPLES), other;
	double most = 0, d;

	for (uint32_t k = 0; k < p->nweight; k++)
		most = fmax(most, fabs(adjoint.gradient[k]));
	tap_ok(most > 0.1, "%s, %u trajectories: there is a gradient", t->kernels, trajectories);
	s.gradient = GRADIENT_SHIFT;
	other = evaluate(p, &s, inputs, SAMPLES);
	d = difference(adjoint.gradient, other.gradient, p->nweight);
	tap_ok(d < 1e-12, "by parameter shift, off by %.2g", d);
	s.gradient = GRADIENT_DIFFERENCE;
	other = evaluate(p, &s, inputs, SAMPLES);
	d = difference(adjoint.gradient, other.gradient, p->nweight);
	tap_ok(d < 1e-7, "by differences, off by %.2g", d);
	s.gradient = GRADIENT_ADJOINT;
	s.optimisations = OPTIMISATION_ALL;
	other = evaluate(p, &s, inputs, SAMPLES);
	d = difference(adjoint.gradient, other.gradient, p->nweight);
	tap_ok(d < 1e-12, "with exact optimisations, off by %.2g", d);
}

static void test_threads(const struct program *p, enum shape shape)
{
	struct setting s = { .target = target_of("cpu", 0),
		.gradient = GRADIENT_ADJOINT,
		.shape = shape,
		.trajectories = 37,
		.key = 7,
		.nthread = 1 };
	struct result want = evaluate(p, &s, inputs, SAMPLES);

	for (s.nthread = 2; s.nthread <= 3; s.nthread++) {
		struct result r = evaluate(p, &s, inputs, SAMPLES);

		tap_ok(!memcmp(&r, &want, sizeof r), "the same bits with %u threads, shape %d",
			s.nthread, (int)shape);
	}
}

/* Parts of trajectories that do not divide the shots. */
static void test_shots(const struct program *p)
{
	struct setting s = { .target = &target_ref, .trajectories = 30, .shots = 2000, .key = 8 };
	struct result r = evaluate(p, &s, inputs, SAMPLES), many;
	struct density d = network_density(inputs[1]);
	double z = mean_of(&d, (const unsigned[4]){ 0, 0, 0, PAULI_Z }), k = r.readout[2] * 1000;

	tap_ok(fabs(k - round(k)) < 1e-9, "2000 shots of 30 trajectories: %g is a number of shots",
		r.readout[2]);
	s.trajectories = 2000;
	r = evaluate(p, &s, inputs, SAMPLES);
	tap_ok(near(r.readout[2], z, 2000), "a shot a trajectory: %.4f, of the density matrix %.4f",
		r.readout[2], z);
	s.trajectories = 3000;
	many = evaluate(p, &s, inputs, SAMPLES);
	tap_ok(!memcmp(&r, &many, sizeof r), "no more trajectories than shots");
}

static void test_limits(const struct program *p)
{
	struct evaluator_options o = {
		.target = &target_ref, .nthread = 1, .trajectories = TRAJECTORIES_MAX + 1
	};
	struct evaluator *ev = NULL;
	struct err e = { 0 };

	tap_is_int(evaluator_new(p, &o, &ev, &e), -ERR_CONFIG, "too many trajectories");
	tap_ok(strstr(e.text, "at most 1048576 trajectories") != NULL, "are refused: %s", e.text);
	tap_is_int(trajectories_of(p, &(struct evaluator_options){ 0 }), TRAJECTORIES_DEFAULT,
		"as many as are usual");
	tap_is_int(trajectories_of(p, &(struct evaluator_options){ .shots = 7 }), 7, "or one a shot");
}

int main(void)
{
	struct program *p = compile_text(network, NULL);
	const struct target *best = target_of("cpu", 0);

	for (unsigned k = 0; k < sizeof single / sizeof *single; k++)
		test_single(k);
	test_formulas();
	test_independence();
	test_exact();
	test_network(p, best);
	test_targets(p);
	for (uint32_t n = 1; n <= 40; n = 6 * n + 4) {
		test_gradients(p, n, &target_ref);
		test_gradients(p, n, best);
	}
	test_threads(p, SHAPE_BATCHED);
	test_threads(p, SHAPE_PER_THREAD);
	test_shots(p);
	test_limits(p);
	program_free(p);
	return tap_done();
}
