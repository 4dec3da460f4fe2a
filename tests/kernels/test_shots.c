/* SPDX-License-Identifier: Apache-2.0
 * Shots: means, variances and covariances against expectations worked out here, groups, gradients
 * without bias, and the same bits for any number of threads.
 *
 * test_shots [device]: the same bits alone, on that device. */
#include "runtime/exec/shots.h"

#include <math.h>
#include <string.h>

#include "runtime/base/rng.h"
#include "runtime/exec/evaluator.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/tap.h"
#include "tests/train/tiny.h"

enum { NWIRE = 3, NSTATE = 1 << NWIRE, NREADOUT = 7, NSHOT = 64, NREPEAT = 20000 };

/* ---- one state ---- */

static cplx psi[NSTATE];

/* <psi| letters |psi>, letters[w] of wire w, in plain steps. */
static double expectation(const char *letters)
{
	cplx v[NSTATE], u[NSTATE];
	double sum = 0;

	memcpy(v, psi, sizeof v);
	for (int w = 0; w < NWIRE; w++) {
		for (int i = 0; i < NSTATE; i++) {
			int one = i >> w & 1;

			u[i] = letters[w] == 'x' ? v[i ^ 1 << w] : letters[w] == 'y' ? v[i ^ 1 << w] * (one ? I : -I)
				: letters[w] == 'z' && one ? -v[i] : v[i];
		}
		memcpy(v, u, sizeof v);
	}
	for (int i = 0; i < NSTATE; i++)
		sum += creal(conj(psi[i]) * v[i]);
	return sum;
}

static void make_state(void)
{
	double norm = 0;

	for (int i = 0; i < NSTATE; i++) {
		psi[i] = cplx_of(rng_normal(5, RNG_TEST, 0, i), rng_normal(5, RNG_TEST, 1, i));
		norm += creal(psi[i]) * creal(psi[i]) + cimag(psi[i]) * cimag(psi[i]);
	}
	for (int i = 0; i < NSTATE; i++)
		psi[i] /= sqrt(norm);
}

/* z0; 0.5 x0 y1 - 2 z2 + 0.25; z2; the probabilities of wires 2 and 0. */
static struct pauli_factor z0 = { 0, 3 }, z2 = { 2, 3 }, xy[] = { { 0, 1 }, { 1, 2 } };
static struct pauli_term first[] = { { 1, 1, &z0 } }, second[] = { { 0.5, 2, xy }, { -2, 1, &z2 }, { 0.25, 0, NULL } },
	third[] = { { 1, 1, &z2 } };
static uint32_t wires[] = { 2, 0 };
static struct output output[] = {
	{ .kind = OUTPUT_PAULI, .nterm = 1, .term = first }, { .kind = OUTPUT_PAULI, .nterm = 3, .term = second },
	{ .kind = OUTPUT_PAULI, .nterm = 1, .term = third }, { .kind = OUTPUT_PROBS, .nwire = 2, .wire = wires } };
static const struct circuit_code code = { .nwire = NWIRE, .noutput = 4, .output = output, .nreadout = NREADOUT };

static double exact[NREADOUT], variance[NREADOUT];      /* variance of one shot of every group */

static void work_out(void)
{
	double xy_ = expectation("xyi"), z2_ = expectation("iiz");

	exact[0] = expectation("zii");
	exact[1] = 0.5 * xy_ - 2 * z2_ + 0.25;
	exact[2] = z2_;
	for (int i = 0; i < NSTATE; i++)
		exact[3 + (i >> 2 & 1) + 2 * (i & 1)] += creal(psi[i]) * creal(psi[i]) + cimag(psi[i]) * cimag(psi[i]);
	variance[0] = 1 - exact[0] * exact[0];
	variance[1] = 0.25 * (1 - xy_ * xy_) + 4 * (1 - z2_ * z2_);  /* of two groups: independent */
	variance[2] = 1 - z2_ * z2_;
	for (int k = 3; k < NREADOUT; k++)
		variance[k] = exact[k] * (1 - exact[k]);
}

/* Estimates are kept within 5 of their own deviations; those of variances of nearly normal numbers are sqrt(2/n). */
static void test_statistics(void)
{
	struct arena a;
	struct shot_groups *g;
	double sum[NREADOUT] = { 0 }, square[NREADOUT] = { 0 }, product = 0, joint = expectation("ziz") - exact[0] * exact[2];
	void *scratch;

	arena_init(&a);
	g = shot_groups_new(&a, &code, 4);
	scratch = arena_alloc(&a, shot_scratch_bytes(g), 1);
	tap_is_int(shot_groups_count(g), 2, "all but x0 y1 is measured together");
	for (int r = 0; r < NREPEAT; r++) {
		struct shot_stream s = { .key = 99, .sample = (uint32_t)r, .variant = 3 };
		double v[NREADOUT];

		shot_readouts(g, psi, NSHOT, &s, scratch, v);
		for (int k = 0; k < NREADOUT; k++) {
			sum[k] += v[k];
			square[k] += (v[k] - exact[k]) * (v[k] - exact[k]);
		}
		product += (v[0] - exact[0]) * (v[2] - exact[2]);
	}
	for (int k = 0; k < NREADOUT; k++) {
		double wanted = variance[k] / NSHOT;

		tap_close(sum[k] / NREPEAT, exact[k], 5 * sqrt(wanted / NREPEAT), "readout %d: its mean", k);
		tap_close(square[k] / NREPEAT / wanted, 1, 0.05, "readout %d: its variance", k);
	}
	tap_close(product / NREPEAT, joint / NSHOT, 5 * sqrt(variance[0] * variance[2] / NREPEAT) / NSHOT, "z0 and z2 come from the same shots");
	arena_release(&a);
}

/* What is certain is exact, with one shot and with many. */
static void test_certain(void)
{
	cplx zero[NSTATE] = { 1 }, plus[NSTATE] = { 0 };
	struct arena a;
	struct shot_groups *g;
	struct shot_stream s = { .key = 1 };
	double v[NREADOUT], p[4] = { 0, 0.75, 0, 0 }, room[4];
	void *scratch;

	arena_init(&a);
	g = shot_groups_new(&a, &code, 0);
	scratch = arena_alloc(&a, shot_scratch_bytes(g), 1);
	shot_readouts(g, zero, 1, &s, scratch, v);
	tap_ok(v[0] == 1 && v[2] == 1 && v[3] == 1 && v[4] == 0, "the state |000> with one shot");
	/* |+> and |i> on wires 0 and 1: x0 y1 is 1. */
	plus[0] = plus[1] = 0.5;
	plus[2] = plus[3] = 0.5 * I;
	shot_readouts(g, plus, 1000, &s, scratch, v);
	tap_ok(v[1] == 0.5 - 2 + 0.25, "a state that x0 y1 leaves as it is: %g", v[1]);
	shot_frequencies(p, 4, 1000, &s, room);
	tap_ok(p[0] == 0 && p[1] == 1 && p[2] == 0 && p[3] == 0, "one value alone, not normalised");
	arena_release(&a);
}

/* ---- evaluators ---- */

enum { NROW = 21, NWEIGHT = 3, NTHREAD_MAX = 4 };

static double input[NROW];
static const double weight[NWEIGHT] = { 0.4, -0.9, 1.3 };

/* L = 0.7 y_0 - 0.2 y_1, added over the samples. */
static int linear(void *ctx, uint32_t sample, const double *readout, double *dreadout, double *head)
{
	(void)ctx;
	(void)sample;
	(void)readout;
	(void)head;
	if (dreadout) {
		dreadout[0] = 0.7;
		dreadout[1] = -0.2;
	}
	return 0;
}

static struct evaluator *open_evaluator(const struct program *p, const char *device, enum precision precision,
	unsigned nthread, uint32_t shots)
{
	struct evaluator_options o = { .target = target_find(device, NULL), .precision = precision, .nthread = nthread, .gradient = GRADIENT_SHIFT, .shots = shots };
	struct evaluator *ev;
	struct err e = { 0 };

	if (evaluator_new(p, &o, &ev, &e) || evaluator_weights(ev, weight, &e))
		tap_bail("no evaluator: %s", e.text);
	return ev;
}

/* Rows from..to. */
static void evaluate(struct evaluator *ev, unsigned nthread, uint32_t from, uint32_t to, uint64_t key, double *readout, double *gradient)
{
	struct pool *pool = pool_threads_new(nthread);
	struct batch b = { .nsample = to - from, .input = input + from };
	struct err e = { 0 };

	evaluator_draws(ev, key, from);
	evaluator_prepare(ev, &b, gradient != NULL, linear, NULL, readout);
	if (evaluator_run(ev, pool, gradient, &e))
		tap_bail("%s", e.text);
	pool->ops->free(pool);
}

static void test_same_bits(const struct program *p, const char *device, enum precision precision)
{
	double one[2 * NROW], many[2 * NROW], dreadout[NWEIGHT], dreadouts[NWEIGHT];
	struct evaluator *ev = open_evaluator(p, device, precision, 1, 30);

	evaluate(ev, 1, 0, NROW, 8, one, dreadout);
	evaluate(ev, 1, 0, NROW, 9, many, dreadouts);
	tap_ok(memcmp(one, many, sizeof one) && memcmp(dreadout, dreadouts, sizeof dreadout),
		"%s: another key, other shots", device);
	evaluate(ev, 1, 0, 5, 8, many, NULL);
	evaluate(ev, 1, 5, NROW, 8, many + 10, NULL);
	tap_is_mem(one, many, sizeof one, "%s: a sample's shots do not depend on its batch", device);
	evaluator_free(ev);
	for (unsigned n = 2; n <= NTHREAD_MAX; n++) {
		ev = open_evaluator(p, device, precision, n, 30);
		evaluate(ev, n, 0, NROW, 8, many, dreadouts);
		tap_ok(!memcmp(one, many, sizeof one) && !memcmp(dreadout, dreadouts, sizeof dreadout),
			"%s: the same bits with %u threads", device, n);
		evaluator_free(ev);
	}
	for (int k = 0; k < 2 * NROW; k++)
		if (fabs(one[k] * 15 - round(one[k] * 15)) > 1e-12)
			tap_ok(false, "%s: readout %d is no frequency of 30: %.17g", device, k, one[k]);
}

static void test_no_bias(const struct program *p, const char *device)
{
	enum { REPEAT = 3000 };
	double readout[2 * NROW], gradient[NWEIGHT], wanted[NWEIGHT], sum[NWEIGHT] = { 0 }, square[NWEIGHT] = { 0 };
	struct evaluator *ev = open_evaluator(p, device, PRECISION_DOUBLE, 1, 0);

	evaluate(ev, 1, 0, 2, 0, readout, wanted);
	evaluator_free(ev);
	ev = open_evaluator(p, device, PRECISION_DOUBLE, 1, 10);
	for (uint64_t r = 0; r < REPEAT; r++) {
		evaluate(ev, 1, 0, 2, r, readout, gradient);
		for (int i = 0; i < NWEIGHT; i++) {
			sum[i] += gradient[i];
			square[i] += (gradient[i] - wanted[i]) * (gradient[i] - wanted[i]);
		}
	}
	for (int i = 0; i < NWEIGHT; i++) {
		tap_close(sum[i] / REPEAT, wanted[i], 5 * sqrt(square[i] / REPEAT / REPEAT), "%s: the mean gradient by weight %d", device, i);
		tap_ok(square[i] / REPEAT > 1e-3, "which is not exact in one evaluation");
	}
	evaluator_free(ev);
}

/* The variance of L at one sample with weight 2 moved, from evaluations of their own. */
static double variance_moved(const struct program *p, double by, uint64_t from, int n)
{
	double moved[NWEIGHT], readout[2], sum = 0, square = 0;
	struct evaluator *ev = open_evaluator(p, "cpu", PRECISION_DOUBLE, 1, 10);

	memcpy(moved, weight, sizeof moved);
	moved[2] += by;
	evaluator_weights(ev, moved, NULL);
	for (int r = 0; r < n; r++) {
		double value;

		evaluate(ev, 1, 0, 1, from + (uint64_t)r, readout, NULL);
		value = 0.7 * readout[0] - 0.2 * readout[1];
		sum += value / n;
		square += value * value / n;
	}
	evaluator_free(ev);
	return square - sum * sum;
}

/* Shifted circuits are measured apart: the variance of their half difference is a quarter of both's sum. */
static void test_shifts_apart(const struct program *p)
{
	enum { REPEAT = 4000 };
	double readout[2], gradient[NWEIGHT], sum = 0, square = 0;
	double wanted = (variance_moved(p, PI / 2, 1000000, REPEAT) + variance_moved(p, -PI / 2, 2000000, REPEAT)) / 4;
	struct evaluator *ev = open_evaluator(p, "cpu", PRECISION_DOUBLE, 1, 10);

	for (uint64_t r = 0; r < REPEAT; r++) {
		evaluate(ev, 1, 0, 1, r, readout, gradient);
		sum += gradient[2] / REPEAT;
		square += gradient[2] * gradient[2] / REPEAT;
	}
	evaluator_free(ev);
	tap_close((square - sum * sum) / wanted, 1, 0.2, "shifted circuits are measured apart");
}

static void test_refused(const struct program *p)
{
	struct evaluator_options o = { .nthread = 1, .gradient = GRADIENT_ADJOINT, .shots = 10 };
	struct evaluator *ev;
	struct err e = { 0 };

	tap_is_int(evaluator_new(p, &o, &ev, &e), -ERR_CONFIG, "adjoint gradients from shots");
	tap_is_str(e.text, "gradients from shots are made by parameter shift: the gradient method has to be shift", "are refused");
	o.gradient = GRADIENT_NONE;
	o.shots = SHOTS_MAX + 1;
	tap_is_int(evaluator_new(p, &o, &ev, &e), -ERR_CONFIG, "one shot too many");
	o.shots = SHOTS_MAX;
	tap_is_int(evaluator_new(p, &o, &ev, &e), 0, "the most");
	evaluator_free(ev);
	o.memory_limit = 1 << 10;
	tap_is_int(evaluator_new(p, &o, &ev, &e), -ERR_CONFIG, "memory is looked at first");
}

int main(int argc, char **argv)
{
	struct program *p = tiny_program(0, 0, 0);

	for (int i = 0; i < NROW; i++)
		input[i] = 2 * rng_uniform(3, RNG_TEST, 0, i) - 1;
	if (argc > 1) {
		test_same_bits(p, argv[1], PRECISION_DOUBLE);
		test_same_bits(p, argv[1], PRECISION_SINGLE);
		program_free(p);
		return tap_done();
	}
	make_state();
	work_out();
	test_statistics();
	test_certain();
	test_same_bits(p, "ref", PRECISION_DOUBLE);
	test_same_bits(p, "cpu", PRECISION_DOUBLE);
	test_same_bits(p, "cpu", PRECISION_SINGLE);
	test_no_bias(p, "ref");
	test_no_bias(p, "cpu");
	test_shifts_apart(p);
	test_refused(p);
	program_free(p);
	return tap_done();
}
