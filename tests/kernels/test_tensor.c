/* SPDX-License-Identifier: Apache-2.0
 * Contraction of tensors against the reference backend: readouts and gradients of random programs, of each
 * path through the engine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/contraction.h"
#include "runtime/exec/engine.h"
#include "runtime/exec/target.h"
#include "runtime/exec/tensor/tensor_plan.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/kernels/build.h"
#include "tests/kernels/random_program.h"
#include "tests/kernels/targets.h"
#include "tests/tap.h"

enum { CASES = 50 }; /* of each target its own */

static const double CLOSE = 1e-11;

/* One in n. */
static bool rarely(uint64_t seed, uint32_t k, unsigned n) { return random_below(seed, k, n) == 0; }

static struct random_shape shape_of(uint64_t seed)
{
	struct random_shape r = { .seed = seed,
		.nwire = 1 + random_below(seed, 0, 7),
		.napply = random_below(seed, 1, 24),
		.ncircuit = 1 + random_below(seed, 2, 3),
		.nweight = 1 + random_below(seed, 3, 9),
		.ninput = 1 + random_below(seed, 4, 5),
		.sample_matrices = random_below(seed, 5, 2),
		.controls = random_below(seed, 6, 2),
		.most = 3,
		.swaps = random_below(seed, 7, 2),
		.frozen = random_below(seed, 8, 2),
		.wide = rarely(seed, 9, 3),
		.diagonals = rarely(seed, 10, 4),
		.permutes = rarely(seed, 11, 4),
		.nz = rarely(seed, 12, 3) ? 12 : 0,
		.nlong = rarely(seed, 13, 3) ? 4 : 0,
		.nsame = rarely(seed, 14, 4) ? 9 : 0,
		.nprobs = 1 + random_below(seed, 15, 6) };

	if (rarely(seed, 16, 3))
		r.nseen = 1 + random_below(seed, 17, 3);
	return r;
}

/* A batch whose last unit is short, or full. */
static uint32_t samples_of(uint64_t seed)
{
	static const uint32_t nsample[] = { 1, 7, 8, 9, 17 };

	return nsample[random_below(seed, 18, sizeof nsample / sizeof *nsample)];
}

static struct evaluator_options tensors_of(const struct target *t, uint64_t seed)
{
	return (struct evaluator_options){ .target = t,
		.method = METHOD_TENSOR,
		.precision = random_below(seed, 19, 2) ? PRECISION_DOUBLE : PRECISION_SINGLE,
		.nthread = 1 + random_below(seed, 20, 2),
		.gradient = GRADIENT_ADJOINT,
		.lanes_never = rarely(seed, 21, 3),
		.tensors_again = rarely(seed, 22, 3) };
}

static const struct evaluator_options states = { .target = &target_ref,
	.method = METHOD_STATEVECTOR,
	.precision = PRECISION_DOUBLE,
	.nthread = 1,
	.gradient = GRADIENT_ADJOINT };

/* The engine's own obstacle; NULL: it evaluates the program. */
static const char *obstacle(const struct program *p, const struct evaluator_options *o)
{
	return engine_tensor.obstacle(&(struct engine_problem){ .program = p, .options = o });
}

static void test_random(const struct target *t, uint64_t seed)
{
	struct random_shape r = shape_of(seed);
	struct program *p = random_program(&r);
	struct evaluator_options o = tensors_of(t, seed);
	const char *why = obstacle(p, &o);
	struct err e = { 0, "" };
	struct apart d;

	if (why) {
		tap_ok(false, "%s: seed %u: %s", t->kernels, (unsigned)seed, why);
	} else {
		d = outcomes_apart(p, &o, &states, samples_of(seed), seed, &e);
		tap_ok(d.readouts < CLOSE && d.gradients < CLOSE,
			"%s: seed %u, %u qubits: readouts %.2g, gradients %.2g apart %s",
			t->kernels, (unsigned)seed, r.nwire, d.readouts, d.gradients, e.text);
	}
	program_free(p);
}

/* ---- programs by hand ---- */

enum { WEIGHTS = 6, INPUTS = 3 };

static void compare(const struct program *p, const struct evaluator_options *o, uint32_t nsample,
	const double *weight, const double *input, const char *what)
{
	struct outcome got = outcome_new(p, nsample), want = outcome_new(p, nsample);
	struct err e = { 0, "" };
	double readouts = HUGE_VAL, gradients = HUGE_VAL;

	if (!outcome_of(p, o, nsample, weight, input, &got, &e)
		&& !outcome_of(p, &states, nsample, weight, input, &want, &e)) {
		readouts =
			largest_difference(got.readout, want.readout, (size_t)nsample * p->nreadout);
		gradients = largest_difference(got.gradient, want.gradient, p->nweight);
	}
	tap_ok(readouts < CLOSE && gradients < CLOSE, "%s: readouts %.2g, gradients %.2g apart %s",
		what, readouts, gradients, e.text);
	outcome_release(&got);
	outcome_release(&want);
}

static uint32_t turn(struct build *b, uint8_t letter, uint32_t angle)
{
	return build_gate(b, GATE_RPAULI, letter, &angle);
}

/* Products of all kinds, of wires 0 to 3; wire 3 has no gates. */
static void read_all_kinds(struct build *b, uint32_t c)
{
	struct pauli_factor z[] = { { 0, PAULI_Z }, { 1, PAULI_Z }, { 3, PAULI_Z } };
	struct pauli_factor x[] = { { 1, PAULI_X }, { 2, PAULI_Y } },
			    untouched[] = { { 0, PAULI_Z }, { 3, PAULI_X } };

	build_pauli(b, c, 2, (struct pauli_term[]){ { 0.5, 0, NULL }, { 2, 3, z } });
	build_pauli(b, c, 2, (struct pauli_term[]){ { 0.3, 2, x }, { -3, 2, untouched } });
	build_pauli(b, c, 1, (struct pauli_term[]){ { 1, 1, untouched + 1 } });
	build_pauli(b, c, 1, (struct pauli_term[]){ { 1.5, 0, NULL } });
	build_pauli(b, c, 2, (struct pauli_term[]){ { 0.25, 1, z + 1 }, { 0.5, 1, z + 1 } });
	build_probs(b, c, 3, (uint32_t[]){ 3, 0, 2 });
	build_z(b, c, 0);
}

enum kind { KIND_EMPTY, KIND_CONSTANT, KIND_WEIGHTS, KIND_INPUTS, KIND_BOTH, KINDS };
static const char *const kind_name[] = { "no gates", "constant gates", "no inputs", "no weights",
	"weights and inputs" };

static struct program *program_of_kind(enum kind k)
{
	bool weights = k == KIND_WEIGHTS || k == KIND_BOTH,
	     inputs = k == KIND_INPUTS || k == KIND_BOTH;
	struct build b = build_new(weights ? 2 : 0, inputs ? 2 : 0, 2);
	uint32_t one, other;

	build_wires(&b, 0, 4);
	build_wires(&b, 1, 4);
	if (k != KIND_EMPTY) {
		one = turn(&b, PAULI_X,
			weights          ? build_weight(&b, 0)
				: inputs ? build_input(&b, 0)
					 : build_const(&b, 0.7));
		other = turn(&b, PAULI_Y,
			inputs            ? build_input(&b, 1)
				: weights ? build_weight(&b, 1)
					  : build_const(&b, -0.4));
		build_apply(&b, 0, one, 1, (uint32_t[]){ 0 });
		build_apply(&b, 0, other, 1, (uint32_t[]){ 1 });
		build_controlled(&b, 0, one, 2, 3, (uint32_t[]){ 0, 1, 2 })->control_ones = 2;
		build_swap(&b, 0, 1, 2);
		build_controlled(&b, 0, other, 1, 2, (uint32_t[]){ 2, 1 })->adjoint = true;
	}
	build_swap(&b, 0, 0, 3);
	build_swap(&b, 0, 0, 3);
	read_all_kinds(&b, 0);
	read_all_kinds(&b, 1);
	return build_done(&b);
}

static void test_kinds(const struct target *t)
{
	double weight[2] = { 0.6, -1.1 }, input[2 * 9];

	random_numbers(3, 2, 2 * 9, input);
	for (enum kind k = KIND_EMPTY; k < KINDS; k++)
		for (uint64_t seed = 1; seed <= 4; seed++) {
			struct program *p = program_of_kind(k);
			struct evaluator_options o = tensors_of(t, seed);

			compare(p, &o, seed % 2 ? 9 : 1, weight, input, kind_name[k]);
			program_free(p);
		}
}

/* Angles that are zero, or the same, for some weights alone: what the plan leaves out must not depend on these. */
static struct program *piecewise(void)
{
	struct build b = build_new(WEIGHTS, INPUTS, 1);
	uint32_t w[WEIGHTS], zero = build_const(&b, 0);

	for (uint32_t k = 0; k < WEIGHTS; k++)
		w[k] = build_weight(&b, k);
	uint32_t angle[] = {
		build_op(&b, EXPR_MAX, w[0], zero),
		build_op(&b, EXPR_MIN, w[1], zero),
		build_op(&b, EXPR_ABS, w[2], 0),
		build_op(&b, EXPR_MUL, build_op(&b, EXPR_LESS, w[3], w[4]), w[5]),
		build_op(&b, EXPR_MUL, build_op(&b, EXPR_LESS, build_input(&b, 0), zero),
			build_input(&b, 1)),
		build_op(&b, EXPR_MAX, build_input(&b, 2), w[0]),
	};
	build_wires(&b, 0, 5);
	for (uint32_t k = 0; k < 15; k++) {
		uint32_t m = turn(&b, (uint8_t)(1 + k % 3), angle[k % 6]),
			 wire[] = { k % 5, (k * 3 + 1) % 5 };

		if (wire[0] == wire[1])
			build_apply(&b, 0, m, 1, wire);
		else
			build_controlled(&b, 0, m, 1, 2, wire)->adjoint = k % 4 == 0;
	}
	read_all_kinds(&b, 0);
	return build_done(&b);
}

static void test_special_angles(const struct target *t)
{
	static const double angle[] = { 0, 0.3, -0.3, 3.14159265358979323846,
		-1.57079632679489661923, 1.1 };
	struct program *p = piecewise();

	for (uint64_t seed = 1; seed <= 12; seed++) {
		double weight[WEIGHTS], input[3 * INPUTS];
		struct evaluator_options o = tensors_of(t, seed);

		for (uint32_t k = 0; k < WEIGHTS; k++)
			weight[k] = seed == 1 ? 0
					      : angle[random_below(seed, 30 + k, 6)]
					+ (k < 2 ? 0.01 * (double)seed : 0);
		for (uint32_t k = 0; k < 3 * INPUTS; k++)
			input[k] = seed == 1 ? 0 : angle[random_below(seed, 40 + k, 6)] + 1e-3;
		compare(p, &o, 3, weight, input, "piecewise angles");
	}
	program_free(p);
}

/* Errors do not grow with qubits: <Z Z> of the ends of a GHZ state, and a turned qubit on it. */
static void test_chain(const struct target *t)
{
	enum { QUBITS = 500 };
	struct pauli_factor ends[] = { { 0, PAULI_Z }, { QUBITS - 1, PAULI_Z } };
	struct build b = build_new(1, 0, 1);
	uint32_t half = turn(&b, PAULI_Y, build_const(&b, 1.57079632679489661923));
	uint32_t flip = turn(&b, PAULI_X, build_const(&b, 3.14159265358979323846));
	uint32_t angle = turn(&b, PAULI_X, build_weight(&b, 0));
	struct evaluator_options o = {
		.target = t, .method = METHOD_TENSOR, .nthread = 1, .gradient = GRADIENT_ADJOINT
	};
	const double weight = 0.3;
	struct err e = { 0, "" };
	struct outcome out;
	struct program *p;

	build_wires(&b, 0, QUBITS);
	build_apply(&b, 0, half, 1, (uint32_t[]){ 0 });
	for (uint32_t k = 0; k + 1 < QUBITS; k++)
		build_controlled(&b, 0, flip, 1, 2, (uint32_t[]){ k, k + 1 });
	build_apply(&b, 0, angle, 1, (uint32_t[]){ QUBITS - 1 });
	build_pauli(&b, 0, 1, &(struct pauli_term){ 1, 2, ends });
	build_z(&b, 0, 0);
	p = build_done(&b);
	out = outcome_new(p, 1);
	tap_is_int(outcome_of(p, &o, 1, &weight, NULL, &out, &e), 0, "a chain of %u qubits %s",
		QUBITS, e.text);
	tap_ok(fabs(out.readout[0] - cos(0.3)) < 1e-15 && fabs(out.readout[1]) < 1e-15,
		"%s: is %.2g and %.2g apart", t->kernels, out.readout[0] - cos(0.3), out.readout[1]);
	outcome_release(&out);
	program_free(p);
}

/* ---- the same bits ---- */

enum { BITS_SAMPLES = 17 };

struct known {
	const struct program *p;
	double *weight, *other, *input;
	struct outcome want;
};

static void same_bits(const struct known *k, const struct evaluator_options *o, const char *what)
{
	struct outcome got = outcome_new(k->p, BITS_SAMPLES);
	size_t nreadout = (size_t)BITS_SAMPLES * k->p->nreadout;
	struct err e = { 0, "" };
	bool same = !outcome_of(k->p, o, BITS_SAMPLES, k->weight, k->input, &got, &e)
		&& !memcmp(got.readout, k->want.readout, nreadout * sizeof(double))
		&& (!o->gradient
			|| !memcmp(got.gradient, k->want.gradient, k->p->nweight * sizeof(double)));

	tap_ok(same, "%s, %u threads: the same bits %s", what, o->nthread, e.text);
	outcome_release(&got);
}

static int no_loss(void *ctx, uint32_t sample, const double *readout, double *dreadout, double *head)
{
	(void)ctx, (void)sample, (void)readout, (void)dreadout, (void)head;
	return 0;
}

static bool readouts_of(struct evaluator *ev, struct pool *pool, const struct batch *b, double *out,
	struct err *e)
{
	evaluator_prepare(ev, b, false, no_loss, NULL, out);
	return !evaluator_run(ev, pool, NULL, e);
}

/* Samples in batches of other sizes, at other places. */
static bool same_places(const struct known *k, struct evaluator *ev, struct pool *pool, double *got,
	struct err *e)
{
	size_t n = k->p->nreadout;
	bool same = true;

	for (uint32_t from = 1; from < BITS_SAMPLES; from += 3)
		for (uint32_t count = 1; from + count <= BITS_SAMPLES; count += 4) {
			const struct batch b = { .nsample = count,
				.input = k->input + (size_t)from * k->p->ninput };

			same = same && readouts_of(ev, pool, &b, got, e)
				&& !memcmp(got, k->want.readout + from * n, count * n * sizeof *got);
		}
	return same;
}

/* One evaluator, other weights in between. */
static void test_again(const struct known *k, const struct evaluator_options *o)
{
	size_t nbyte = (size_t)BITS_SAMPLES * k->p->nreadout * sizeof(double);
	double *got = mem_alloc(nbyte, 1);
	struct pool *pool = pool_threads_new(o->nthread);
	const struct batch b = { .nsample = BITS_SAMPLES, .input = k->input };
	struct evaluator *ev = NULL;
	struct err e = { 0, "" };
	bool good = !evaluator_new(k->p, o, &ev, &e);

	for (unsigned i = 0; i < 3 && good; i++) {
		good = !evaluator_weights(ev, i == 0 ? k->other : k->weight, &e)
			&& readouts_of(ev, pool, &b, got, &e)
			&& !memcmp(got, k->want.readout, nbyte) == (i > 0);
		tap_ok(good,
			!i ? "other weights, other readouts %s" : "these weights, the same bits %s",
			e.text);
	}
	tap_ok(good && same_places(k, ev, pool, got, &e),
		"at each place of a batch the same bits %s", e.text);
	evaluator_free(ev);
	pool->ops->free(pool);
	free(got);
}

static void test_bits(const struct target *t, uint64_t seed)
{
	struct random_shape r = { .seed = seed,
		.nwire = 5,
		.napply = 14,
		.ncircuit = 2,
		.nweight = 8,
		.ninput = 4,
		.sample_matrices = true,
		.controls = true,
		.most = 3,
		.swaps = true,
		.wide = seed == 1,
		.nlong = 3 };
	struct program *p = random_program(&r);
	struct known k = { p, mem_alloc(p->nweight, sizeof(double)),
		mem_alloc(p->nweight, sizeof(double)),
		mem_alloc((size_t)BITS_SAMPLES * p->ninput, sizeof(double)),
		outcome_new(p, BITS_SAMPLES) };
	struct evaluator_options o = { .target = t,
		.method = METHOD_TENSOR,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT,
		.precision = PRECISION_DOUBLE,
		.lanes_never = seed == 3,
		.tensors_again = seed == 2 };
	struct err e = { 0, "" };
	const struct target *other;

	random_numbers(seed, 2, p->nweight, k.weight);
	random_numbers(seed + 1, 2, p->nweight, k.other);
	random_numbers(seed + 2, 2, (size_t)BITS_SAMPLES * p->ninput, k.input);
	tap_is_int(outcome_of(p, &o, BITS_SAMPLES, k.weight, k.input, &k.want, &e), 0,
		"evaluates %s", e.text);
	for (o.nthread = 2; o.nthread <= 5; o.nthread++)
		same_bits(&k, &o, t->kernels);
	o.nthread = 2;
	o.precision = PRECISION_SINGLE;
	same_bits(&k, &o, "single precision");
	o.tensors_again = !o.tensors_again;
	same_bits(&k, &o, "tensors kept, or made again");
	for (unsigned i = 1; (other = cpu_target_here(i)); i++)
		if (t != cpu_target_here(0)) {
			o.target = other;
			same_bits(&k, &o, other->kernels);
		}
	o.target = t;
	test_again(&k, &o);
	o.gradient = GRADIENT_NONE;
	same_bits(&k, &o, "readouts alone");
	test_again(&k, &o);
	outcome_release(&k.want);
	free(k.weight);
	free(k.other);
	free(k.input);
	program_free(p);
}

/* ---- failures ---- */

static void test_not_finite(const struct target *t, bool alone)
{
	struct program *p = program_of_kind(KIND_BOTH);
	struct evaluator_options o = { .target = t,
		.method = METHOD_TENSOR,
		.nthread = 2,
		.gradient = GRADIENT_ADJOINT,
		.lanes_never = alone };
	struct outcome out = outcome_new(p, 20);
	double weight[2] = { 0.1, 0.2 }, input[40];
	struct err e = { 0, "" };

	random_numbers(1, 1, 40, input);
	input[2 * 13 + 1] = INFINITY;
	tap_is_int(outcome_of(p, &o, 20, weight, input, &out, &e), -ERR_NOT_FINITE,
		"an input that is infinite");
	tap_is_str(e.text, "sample 13: readout 0 is not finite: input 1 is inf", "names its sample");
	input[2 * 13 + 1] = 1e308;
	tap_is_int(outcome_of(p, &o, 20, weight, input, &out, &e), 0,
		"a large input is an angle like others");
	weight[1] = NAN;
	tap_is_int(outcome_of(p, &o, 20, weight, input, &out, &e), -ERR_NOT_FINITE,
		"a weight that is not a number");
	outcome_release(&out);
	program_free(p);
}

/* Before anything is taken, with numbers. */
static void test_memory(const struct target *t)
{
	struct random_shape r = { .seed = 5,
		.nwire = 7,
		.napply = 60,
		.ncircuit = 1,
		.nweight = 8,
		.ninput = 4,
		.sample_matrices = true };
	struct program *p = random_program(&r);
	struct evaluator_options o = { .target = t,
		.method = METHOD_TENSOR,
		.nthread = 3,
		.gradient = GRADIENT_ADJOINT,
		.memory_limit = 1 << 14 };
	struct evaluator *ev = NULL;
	struct err e = { 0, "" };
	double need = 0, largest = 0;
	char unit = 0;

	tap_is_int(evaluator_new(p, &o, &ev, &e), -ERR_CONFIG, "too little memory");
	tap_ok(sscanf(e.text,
		       "the tensors need %lf %ciB, the largest of %lf entries, 16.0 KiB available",
		       &need, &unit,
		       &largest) == 3
			&& unit == 'M' && largest > 1,
		"says how much: %s", e.text);
	o.memory_limit = (uint64_t)((need + 0.1) * (1 << 20));
	tap_is_int(evaluator_new(p, &o, &ev, &e), 0, "so much is enough %s", e.text);
	evaluator_free(ev);
	program_free(p);
}

static void test_obstacles(const struct target *t)
{
	struct evaluator_options o = {
		.target = t, .method = METHOD_TENSOR, .nthread = 1, .gradient = GRADIENT_ADJOINT
	};
	struct build b = build_new(1, 4, 1);
	uint32_t m = turn(&b, PAULI_X, build_weight(&b, 0));
	struct program *p;

	build_wires(&b, 0, 8);
	build_controlled(&b, 0, m, 3, 4, (uint32_t[]){ 0, 1, 2, 3 });
	build_z(&b, 0, 0);
	p = build_done(&b);
	tap_is_str(obstacle(p, &o), "a gate acts on more than 3 qubits, controls included",
		"three controls");
	o.gradient = GRADIENT_SHIFT;
	tap_is_str(obstacle(p, &o), "the gradient method is not adjoint", "parameter shift");
	o.gradient = GRADIENT_ADJOINT;
	program_free(p);

	b = build_new(1, 4, 1);
	build_wires(&b, 0, 8);
	build_state(&b, 0, 2, (uint32_t[]){ 0, 1 });
	build_z(&b, 0, 0);
	p = build_done(&b);
	tap_is_str(obstacle(p, &o), "qubits are prepared in a state of given amplitudes",
		"an input state");
	program_free(p);

	b = build_new(1, 4, 1);
	build_wires(&b, 0, 8);
	build_probs(&b, 0, 7, (uint32_t[]){ 0, 1, 2, 3, 4, 5, 6 });
	p = build_done(&b);
	tap_is_str(obstacle(p, &o), "probabilities of more than 6 qubits are read",
		"many probabilities");
	program_free(p);
}

/* Sums of more products than are packed together, against the definition. */
static void test_long_sums(const struct target *t, size_t m, size_t n)
{
	enum { K = CONTRACTION_PACK / 6, MOST = 40, STRIDE = 3 };
	mem_auto double *a = mem_alloc(MOST * K * STRIDE, sizeof *a);
	mem_auto double *b = mem_alloc(MOST * K * STRIDE, sizeof *b);
	mem_auto double *pack = mem_alloc(CONTRACTION_PACK, sizeof *pack);
	mem_auto uint32_t *sum = mem_alloc(K, sizeof *sum);
	double c[MOST * MOST], worst = 0;
	uint32_t wide[MOST], row[MOST], column[MOST];

	random_numbers(5, 1, MOST * K * STRIDE, a);
	random_numbers(6, 1, MOST * K * STRIDE, b);
	for (uint32_t k = 0; k < MOST; k++) {
		wide[k] = k * K * STRIDE;
		row[k] = k * MOST;
		column[k] = k;
		for (uint32_t i = 0; i < MOST; i++)
			c[k * MOST + i] = NAN;
	}
	for (uint32_t k = 0; k < K; k++)
		sum[k] = k * STRIDE;
	t->contraction->multiply(1,
		&(struct contraction_product){ m, n, K, { a, wide, sum, false },
			{ b, sum, wide, false }, { c, row, column, false } },
		pack);
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++) {
			double want = 0;

			for (uint32_t k = 0; k < K; k++)
				want += a[wide[i] + sum[k]] * b[sum[k] + wide[j]];
			worst = fabs(want - c[i * MOST + j]) <= worst ? worst
								      : fabs(want - c[i * MOST + j]);
		}
	tap_ok(worst < 1e-11, "%s: %zu x %zu sums of %d products: off by %g", t->kernels, m, n, K,
		worst);
}

/* Threads that share a product make the bits that one makes, and write nothing else. */
static void test_parts(const struct target *t, size_t m, size_t n)
{
	enum { K = 37, MOST = 100, THREADS = 6, L = CONTRACTION_LANES };
	static const struct {
		bool a, b, c;
	} lanes[] = { { 0, 0, 0 }, { 1, 0, 1 }, { 0, 1, 1 }, { 1, 1, 1 }, { 1, 1, 0 } };
	size_t nc = MOST * MOST * L;
	mem_auto double *a = mem_alloc(MOST * K * L, sizeof *a);
	mem_auto double *b = mem_alloc(MOST * K * L, sizeof *b);
	mem_auto double *c = mem_alloc(nc, sizeof *c);
	mem_auto double *got = mem_alloc(nc, sizeof *got);
	mem_auto double *pack = mem_alloc(THREADS * CONTRACTION_PACK, sizeof *pack);
	uint32_t sum[K], wide[MOST], one[MOST], row[MOST];

	random_numbers(7, 1, MOST * K * L, a);
	random_numbers(8, 1, MOST * K * L, b);
	for (uint32_t k = 0; k < MOST; k++) {
		wide[k] = k * K;
		one[k] = k;
		row[k] = (MOST - 1 - k) * MOST;
	}
	for (uint32_t k = 0; k < K; k++)
		sum[k] = k;
	for (unsigned i = 0; i < sizeof lanes / sizeof *lanes; i++)
		for (unsigned nthread = 1; nthread <= THREADS; nthread++) {
			double *to = nthread > 1 ? got : c;

			for (size_t k = 0; k < nc; k++)
				to[k] = -1;
			t->contraction->multiply(nthread,
				&(struct contraction_product){ m, n, K, { a, wide, sum, lanes[i].a },
					{ b, sum, wide, lanes[i].b }, { to, row, one, lanes[i].c } },
				pack);
			if (nthread > 1 && memcmp(c, got, nc * sizeof *c))
				tap_ok(0, "%zu x %zu, lanes %d %d %d, %u threads", m, n, lanes[i].a,
					lanes[i].b, lanes[i].c, nthread);
		}
	tap_ok(1, "%s: %zu x %zu in parts", t->kernels, m, n);
}

/* Layers of controlled rotations on a ring. */
static struct program *ring(uint32_t nwire, uint32_t nlayer, bool inputs, uint32_t nreadout)
{
	struct build b = build_new(1, 1, 1);
	uint32_t m = turn(&b, PAULI_X, build_weight(&b, 0)),
		 x = turn(&b, PAULI_Y, inputs ? build_input(&b, 0) : build_weight(&b, 0));

	build_wires(&b, 0, nwire);
	for (uint32_t l = 0; l < nlayer; l++)
		for (uint32_t w = 0; w < nwire; w++) {
			build_apply(&b, 0, x, 1, &w);
			build_controlled(&b, 0, m, 1, 2, (uint32_t[]){ w, (w + 1) % nwire });
		}
	for (uint32_t k = 0; k < nreadout; k++)
		build_z(&b, 0, k * nwire / nreadout);
	return build_done(&b);
}

/* Few samples, and memory for one thread alone: contractions are shared. */
static void test_together(const struct target *t, bool inputs)
{
	enum { SAMPLES = 3 };
	struct program *p = ring(9, 4, inputs, 1);
	struct evaluator_options o = { .target = t,
		.method = METHOD_TENSOR,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT,
		.lanes_never = true };
	struct tensor_plan *pl = tensor_plan_new(p, &o);
	struct outcome want = outcome_new(p, SAMPLES), got = outcome_new(p, SAMPLES);
	double weight = 0.7, input[SAMPLES];
	/* Lists and scratch of 6 threads take less than 1 MiB. */
	double all = tensor_plan_bytes(pl, 0, true) + (1 << 20),
	       one = tensor_plan_bytes(pl, 1, true) - tensor_plan_bytes(pl, 0, true);
	struct err e = { 0, "" };

	tap_ok(one > 1 << 20, "%g bytes for a thread, %g for all", one, all);
	for (unsigned k = 0; k < 2; k++) /* as where memory was too small at first */
		tensor_plan_offsets(pl);
	tap_ok(inputs ? pl->sample_large > 0.5 && pl->sample_large <= 1 : pl->sample_large == 0,
		"%g is in large contractions of samples", pl->sample_large);
	random_numbers(9, 1, SAMPLES, input);
	tap_is_int(outcome_of(p, &o, SAMPLES, &weight, input, &want, &e), 0, "one thread %s", e.text);
	for (o.nthread = 2; o.nthread <= 6; o.nthread += 2) {
		o.memory_limit = o.nthread < 5 ? 0 : (uint64_t)(all + 1.7 * one);
		tap_ok(!outcome_of(p, &o, SAMPLES, &weight, input, &got, &e)
				&& !memcmp(got.readout, want.readout,
					SAMPLES * p->nreadout * sizeof(double))
				&& got.gradient[0] == want.gradient[0],
			"%u threads, memory for %llu bytes: the same bits %s", o.nthread,
			(unsigned long long)o.memory_limit, e.text);
	}
	o.nthread = 100;
	o.memory_limit = (uint64_t)(all + one);
	tap_ok(outcome_of(p, &o, SAMPLES, &weight, input, &got, &e) == -ERR_CONFIG
			&& strstr(e.text, "; fewer threads (--threads) need less"),
		"scratch of 100 threads: %s", e.text);
	o.nthread = 1;
	o.memory_limit = 1 << 20;
	tap_ok(outcome_of(p, &o, SAMPLES, &weight, input, &got, &e) == -ERR_CONFIG
			&& !strstr(e.text, "threads"),
		"too little for one: %s", e.text);
	outcome_release(&want);
	outcome_release(&got);
	tensor_plan_free(pl);
	program_free(p);
}

/* Without inputs, units are terms. */
static void test_slices(const struct target *t)
{
	enum { SAMPLES = 3 };
	struct program *p = ring(18, 3, false, 18);
	struct evaluator_options o = {
		.target = t, .method = METHOD_TENSOR, .nthread = 1, .gradient = GRADIENT_ADJOINT
	};
	struct tensor_plan *pl = tensor_plan_new(p, &o);
	struct outcome want = outcome_new(p, SAMPLES), got = outcome_new(p, SAMPLES);
	struct err e = { 0, "" };
	double weight[2] = { 0.7, -0.4 };

	tap_ok(pl->nslice > 1 && pl->nslice < 18, "%u units of %g multiplications", pl->nslice,
		pl->shared_work);
	tap_ok(tensor_plan_flops(pl, SAMPLES, true) == 6 * pl->shared_work,
		"whatever the samples, they do them once forward and twice back: %g operations",
		tensor_plan_flops(pl, SAMPLES, true));
	compare(p, &o, SAMPLES, weight, NULL, "units of terms");
	tap_is_int(outcome_of(p, &o, SAMPLES, weight, NULL, &want, &e), 0, "one thread %s", e.text);
	for (o.nthread = 2; o.nthread <= 3; o.nthread++)
		tap_ok(!outcome_of(p, &o, SAMPLES, weight, NULL, &got, &e)
				&& !memcmp(got.readout, want.readout,
					SAMPLES * p->nreadout * sizeof(double))
				&& !memcmp(got.gradient, want.gradient, p->nweight * sizeof(double)),
			"%u threads: the same bits %s", o.nthread, e.text);
	outcome_release(&want);
	outcome_release(&got);
	tensor_plan_free(pl);
	program_free(p);
}

/* A search that may stop early finds the same as one that may not. */
static void test_bounded_cost(const struct target *t)
{
	struct evaluator_options o = {
		.target = t, .method = METHOD_TENSOR, .nthread = 1, .gradient = GRADIENT_ADJOINT
	};
	struct program *p = ring(12, 3, true, 2), *same = ring(12, 3, true, 2);
	struct engine_problem problem = { .program = p, .options = &o };
	struct engine_cost free, bounded;

	problem.most = 1;
	tap_ok(engine_tensor.cost(&problem, &bounded) == -ERR_CONFIG, "a cost above 1 is refused");
	problem.most = 0;
	tap_ok(!engine_tensor.cost(&problem, &free) && free.flops > 1, "it is %g", free.flops);
	for (double most = 1; most < 4 * free.effort; most *= 2) {
		problem.most = most;
		problem.program = same;
		int code = engine_tensor.cost(&problem, &bounded);
		bool found = !code && bounded.flops == free.flops && bounded.effort == free.effort;

		if (most < free.flops ? code != -ERR_CONFIG : most > free.effort && !found)
			tap_ok(0, "operations above %g", most);
	}
	tap_ok(bounded.flops == free.flops, "a bound above it changes nothing");
	program_free(same);
	program_free(p);
}

/* What a refusal for want of memory says of the other method: "" or the text from its first word on. */
static const char *said_of_other(const struct program *p, const struct evaluator_options *o,
	struct err *e)
{
	struct evaluator *ev = NULL;
	const char *at;

	if (evaluator_new(p, o, &ev, e) != -ERR_CONFIG) {
		evaluator_free(ev);
		return "it is not refused";
	}
	at = strstr(e->text, "; the method ");
	return at ? at + 2 : "";
}

static bool begins(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static void test_other_method(const struct target *t)
{
	struct program *shallow = ring(16, 1, true, 2), *deep = ring(14, 4, true, 2);
	struct evaluator_options o = { .target = t,
		.method = METHOD_STATEVECTOR,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT,
		.precision = PRECISION_DOUBLE,
		.memory_limit = 1 << 20 }; /* the states need 2 MiB */
	struct err e = { 0, "" };
	const char *said = said_of_other(shallow, &o, &e);

	tap_ok(begins(said, "the method tensor needs ")
			&& strstr(said, "KiB: set run.method (--method) to tensor"),
		"states are refused, tensors fit: %s", e.text);
	o.nthread = 1000;
	said = said_of_other(shallow, &o, &e);
	tap_ok(strstr(said, "KiB: set run.method (--method) to tensor"),
		"of one thread, where not of all: %s", e.text);
	o.nthread = 1;
	o.amplitudes = true;
	tap_is_str(said_of_other(shallow, &o, &e), "", "tensors have no amplitudes");
	o.method_chosen = true;
	tap_is_str(said_of_other(shallow, &o, &e),
		"the method tensor is not possible either: amplitudes are asked for",
		"which is said where auto has chosen");
	o.amplitudes = o.method_chosen = false;
	o.memory_limit = 1 << 12;
	tap_is_str(said_of_other(shallow, &o, &e), "", "too little for both");
	o.method_chosen = true;
	said = said_of_other(shallow, &o, &e);
	tap_ok(begins(said, "the method tensor needs ") && !strstr(said, "run.method"),
		"of which auto says both: %s", e.text);

	o.method_chosen = false;
	o.method = METHOD_TENSOR;
	o.memory_limit = 1 << 20; /* the states need 512 KiB */
	tap_is_str(said_of_other(deep, &o, &e),
		"the method statevector needs 512.0 KiB: set run.method (--method) to statevector",
		"tensors are refused, states fit");
	o.memory_limit = 1 << 18;
	tap_is_str(said_of_other(deep, &o, &e), "", "nor do states");
	program_free(shallow);
	program_free(deep);
}

int main(int argc, char **argv)
{
	const struct target *t;
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : CASES;

	for (unsigned k = 0; (t = cpu_target_here(k)); k++)
		for (uint64_t n = 0; n < count; n++)
			test_random(t, first + k * count + n);
	for (unsigned k = 0; (t = cpu_target_here(k)) && argc < 2; k++) {
		test_kinds(t);
		test_special_angles(t);
		test_chain(t);
		for (uint64_t seed = 1; seed <= 3; seed++)
			test_bits(t, seed);
		test_not_finite(t, false);
		test_not_finite(t, true);
		test_memory(t);
		test_other_method(t);
		test_obstacles(t);
		test_bounded_cost(t);
		test_long_sums(t, 9, 40);
		test_long_sums(t, 40, 17);
		test_long_sums(t, 1, 3);
		test_parts(t, 1, 70);
		test_parts(t, 33, 5);
		test_parts(t, 48, 48);
		test_parts(t, 17, 100);
		test_parts(t, 100, 2);
		test_together(t, true);
		test_together(t, false);
		test_slices(t);
	}
	return tap_done();
}
