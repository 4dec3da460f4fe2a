/* SPDX-License-Identifier: Apache-2.0
 * Noise channels in the tensor engine: readouts against density matrices, and gradients against central differences. */
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/engine.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/compile_file.h"
#include "tests/kernels/build.h"
#include "tests/kernels/density.h"
#include "tests/kernels/random_program.h"
#include "tests/kernels/targets.h"
#include "tests/tap.h"
#include "tests/program/own_set.h"

enum { SAMPLES = 3, NUMBERS_MAX = 256 };

static const double CLOSE = 1e-10, STEP = 1e-3;

/* ---- a program on density matrices ---- */

struct simulation {
	const struct program *p;
	struct arena arena;
	struct matrix_set set;
	double *value;
	cplx *u;
	bool *reached, *need; /* expressions of one matrix; it and those that it refers to */
};

static void reach_expr(struct simulation *s, uint32_t e)
{
	const struct expr *x = &s->p->expr[e];
	unsigned n = expr_noperand(x->op);

	if (s->reached[e])
		return;
	s->reached[e] = true;
	if (n > 0)
		reach_expr(s, x->a);
	if (n > 1)
		reach_expr(s, x->b);
}

static void reach_matrix(struct simulation *s, uint32_t m)
{
	s->need[m] = true;
	for (uint32_t k = 0; k < s->p->matrix[m].nitem; k++) {
		const struct item *it = &s->p->matrix[m].item[k];

		if (it->gate == GATE_NONE)
			reach_matrix(s, it->ref);
		for (unsigned i = 0; it->gate != GATE_NONE && i < gate_row(it->gate)->nangle; i++)
			reach_expr(s, it->angle[i]);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Where the matrix changes with its random number: cuts of [0, 1), whose ends are the first and last. */
static unsigned find_cuts(struct simulation *s, uint32_t m, double *cut)
{
	unsigned n = 0;

	memset(s->reached, 0, s->p->nexpr * sizeof *s->reached);
	memset(s->need, 0, s->p->nmatrix * sizeof *s->need);
	reach_matrix(s, m);
	cut[n++] = 0;
	cut[n++] = 1;
	for (uint32_t i = 0; i < s->p->nexpr; i++)
		if (s->reached[i] && s->p->expr[i].op == EXPR_LESS && n < NUMBERS_MAX)
			cut[n++] = s->value[s->p->expr[i].b];
	qsort(cut, n, sizeof *cut, compare);
	return n;
}

/* The matrix for this random number. */
static void build_drawn(struct simulation *s, double number)
{
	for (uint32_t i = 0; i < s->p->nexpr; i++) {
		const struct expr *x = &s->p->expr[i];

		if (!s->reached[i])
			continue;
		if (x->op == EXPR_DRAW)
			s->value[i] = number;
		else if (expr_noperand(x->op))
			s->value[i] = expr_apply(x->op, s->value[x->a],
				expr_noperand(x->op) > 1 ? s->value[x->b] : 0);
	}
	matrix_build(&s->set, s->value, VALUE_CONSTANT, VALUE_SAMPLE, s->need, s->u, NULL);
}

static void multiply_left(struct density *d, cplx u[DIM_MAX][DIM_MAX], bool right)
{
	const struct density old = *d;

	for (unsigned i = 0; i < d->dim; i++)
		for (unsigned j = 0; j < d->dim; j++) {
			cplx sum = 0;

			for (unsigned k = 0; k < d->dim; k++)
				sum += right ? cplx_mul(old.rho[i][k], conj(u[j][k]))
					     : cplx_mul(u[i][k], old.rho[k][j]);
			d->rho[i][j] = sum;
		}
}

static unsigned target_bits(const struct apply *a, unsigned index)
{
	unsigned out = 0;

	for (unsigned k = a->ncontrol; k < a->nwire; k++)
		out |= (index >> a->wire[k] & 1) << (k - a->ncontrol);
	return out;
}

static void apply_whole(struct simulation *s, const struct apply *a, struct density *d)
{
	unsigned dim = 1u << (a->nwire - a->ncontrol), targets = 0;
	const cplx *m = s->u + s->set.offset[a->matrix];
	cplx u[DIM_MAX][DIM_MAX] = { { 0 } };

	for (unsigned k = a->ncontrol; k < a->nwire; k++)
		targets |= 1u << a->wire[k];
	for (unsigned i = 0; i < d->dim; i++)
		for (unsigned j = 0; j < d->dim; j++) {
			unsigned r = target_bits(a, i), c = target_bits(a, j);
			bool met = true;

			for (unsigned k = 0; k < a->ncontrol; k++)
				met &= (i >> a->wire[k] & 1) == (a->control_ones >> k & 1);
			if (!met)
				u[i][j] = i == j;
			else if ((i & ~targets) == (j & ~targets))
				u[i][j] = a->adjoint ? conj(m[c * dim + r]) : m[r * dim + c];
		}
	multiply_left(d, u, false);
	multiply_left(d, u, true);
}

/* The mean over the matrix's random number. */
static void apply_mean(struct simulation *s, const struct apply *a, struct density *d)
{
	struct density sum = { .n = d->n, .dim = d->dim };
	double cut[NUMBERS_MAX];
	unsigned n = find_cuts(s, a->matrix, cut);

	for (unsigned k = 0; k + 1 < n; k++) {
		struct density one = *d;

		if (cut[k + 1] <= cut[k])
			continue;
		build_drawn(s, (cut[k] + cut[k + 1]) / 2);
		apply_whole(s, a, &one);
		mix(&sum, cut[k + 1] - cut[k], &one);
	}
	*d = sum;
}

static void swap_wires(struct density *d, uint32_t a, uint32_t b)
{
	cx(d, a, b);
	cx(d, b, a);
	cx(d, a, b);
}

static unsigned read_output(const struct density *d, const struct output *o, double *out)
{
	unsigned n = output_nreadout(o);

	memset(out, 0, n * sizeof *out);
	for (unsigned i = 0; o->kind == OUTPUT_PROBS && i < d->dim; i++) {
		unsigned at = 0;

		for (uint32_t k = 0; k < o->nwire; k++)
			at |= (i >> o->wire[k] & 1) << k;
		out[at] += creal(d->rho[i][i]);
	}
	for (uint32_t t = 0; o->kind == OUTPUT_PAULI && t < o->nterm; t++) {
		unsigned letter[4] = { 0 };

		for (uint32_t f = 0; f < o->term[t].nfactor; f++)
			letter[o->term[t].factor[f].wire] = o->term[t].factor[f].letter;
		*out += o->term[t].coefficient * mean_of(d, letter);
	}
	return n;
}

static void simulate_circuit(struct simulation *s, const struct circuit_code *c, double *readout)
{
	struct density d = density_zero(c->nwire);

	for (uint32_t k = 0; k < c->napply; k++) {
		const struct apply *a = &c->apply[k];

		if (a->op == APPLY_SWAP)
			swap_wires(&d, a->wire[0], a->wire[1]);
		if (a->op == APPLY_UNITARY)
			apply_mean(s, a, &d);
	}
	for (uint32_t i = 0; i < c->noutput; i++)
		readout += read_output(&d, &c->output[i], readout);
}

static void simulate(const struct program *p, const double *weight, const double *x, double *readout)
{
	struct simulation s = { .p = p };

	own_set(&s.set, p, &s.arena);
	s.value = arena_alloc(&s.arena, p->nexpr, sizeof *s.value);
	s.u = arena_alloc(&s.arena, s.set.offset[s.set.n], sizeof *s.u);
	s.need = arena_alloc(&s.arena, p->nmatrix, sizeof *s.need);
	s.reached = arena_alloc(&s.arena, p->nexpr, sizeof *s.reached);
	for (unsigned k = 0; k < SAMPLES; k++) {
		program_eval(p, weight, x + (size_t)k * p->ninput, s.value);
		for (uint32_t c = 0; c < p->ncircuit; c++) {
			simulate_circuit(&s, &p->circuit[c], readout);
			readout += p->circuit[c].nreadout;
		}
	}
	arena_release(&s.arena);
}

/* ---- the engine ---- */

/* The sum whose gradient that is. */
static double loss_of(const double *readout, uint32_t n)
{
	double sum = 0;

	for (uint32_t k = 0; k < SAMPLES * n; k++)
		sum += (1 + 0.5 * (k % n) - 0.25 * (k / n)) * readout[k];
	return sum;
}

struct result {
	double readout[NUMBERS_MAX], gradient[NUMBERS_MAX];
};

static int evaluate(const struct program *p, const struct evaluator_options *o,
	const double *weight, const double *x, struct result *r, struct err *e)
{
	struct batch b = { .nsample = SAMPLES, .input = x };
	struct pool *pool = pool_threads_new(2);
	struct evaluator *ev = NULL;
	uint32_t nreadout = p->nreadout;
	int code = evaluator_new(p, o, &ev, e);

	*r = (struct result){ 0 };
	if (!code)
		code = evaluator_weights(ev, weight, e);
	if (!code) {
		evaluator_draws(ev, 3, 5);
		evaluator_prepare(ev, &b, o->gradient != GRADIENT_NONE, given_gradients, &nreadout,
			r->readout);
		code = evaluator_run(ev, pool, r->gradient, e);
	}
	evaluator_free(ev);
	pool->ops->free(pool);
	return code;
}

static struct evaluator_options options_of(const struct target *t)
{
	return (struct evaluator_options){
		.target = t,
		.method = METHOD_TENSOR,
		.gradient = GRADIENT_ADJOINT,
		.nthread = 2,
	};
}

static const char *obstacle_of(const struct program *p)
{
	struct evaluator_options o = options_of(target_of("cpu", 0));

	return engine_tensor.obstacle(&(struct engine_problem){ .program = p, .options = &o });
}

/* By seven points. */
static double difference(const struct program *p, double *weight, const double *x, uint32_t w)
{
	static const double at[6] = { -3, -2, -1, 1, 2, 3 }, factor[6] = { -1, 9, -45, 45, -9, 1 };
	double kept = weight[w], sum = 0, readout[NUMBERS_MAX];

	for (unsigned k = 0; k < 6; k++) {
		weight[w] = kept + at[k] * STEP;
		simulate(p, weight, x, readout);
		sum += factor[k] * loss_of(readout, p->nreadout);
	}
	weight[w] = kept;
	return sum / (60 * STEP);
}

static void compare_program(const struct program *p, const struct target *t, double *weight,
	const double *x, const char *text)
{
	struct evaluator_options o = options_of(t);
	double readout[NUMBERS_MAX], dr, dg = 0, most = 0;
	const char *why = obstacle_of(p);
	struct err e = { 0, "" };
	struct result r;

	if (why || evaluate(p, &o, weight, x, &r, &e)) {
		tap_ok(false, "%s: %s", text, why ? why : e.text);
		return;
	}
	simulate(p, weight, x, readout);
	dr = largest_difference(r.readout, readout, (size_t)SAMPLES * p->nreadout);
	for (uint32_t w = 0; w < p->nweight; w++) {
		double d = fabs(difference(p, weight, x, w) - r.gradient[w]);

		dg = d <= dg ? dg : d;
		most = fmax(most, fabs(r.gradient[w]));
	}
	tap_ok(dr < CLOSE && dg < CLOSE, "%s: readouts %.2g, gradients of up to %.2g %.2g apart",
		text, dr, most, dg);
}

/* ---- tests ---- */

/* The call with each number times a parameter. */
static const char *with_parameter(const char *call, char out[128])
{
	size_t n = 0;

	for (; *call; call++) {
		out[n++] = *call;
		if (*call == '(' || *call == ',')
			n += (size_t)sprintf(out + n, "one *");
	}
	out[n] = 0;
	return out;
}

static void test_single(const struct target *t, unsigned k, bool varies)
{
	struct evaluator_options o = options_of(t);
	struct density d = density_zero(1);
	struct err e = { 0, "" };
	struct result r;
	double most = 0;
	char text[512], call[128];

	snprintf(text, sizeof text,
		"QCNN 1; qubit[1] q; param float one = 1; ry(one * 1.1) q; rz(0.4) q; %s observe x(q); observe y(q); observe z(q);",
		varies ? with_parameter(single[k].call, call) : single[k].call);
	struct program *p = compile_text(text, NULL);

	turn(&d, PAULI_Y, 1.1, 0);
	turn(&d, PAULI_Z, 0.4, 0);
	channel(&d, single[k].x, single[k].y, single[k].z, 0);
	int code = evaluate(p, &o, (double[]){ 1 }, NULL, &r, &e);
	for (unsigned letter = PAULI_X; letter <= PAULI_Z; letter++)
		most = fmax(most,
			fabs(r.readout[letter - 1] - mean_of(&d, (const unsigned[4]){ letter })));
	tap_ok(!code && most < 1e-14 && program_noise_varies(p) == varies, "%s, %s, is off by %.2g",
		single[k].call, varies ? "trained" : "constant", most);
	program_free(p);
}

static void test_pair(void)
{
	struct program *p =
		compile_text("QCNN 1; qubit[2] q; param float p = 0.4; h q[0]; cx q[0], q[1]; depolarizing(p) q[0], q[1]; "
			     "observe x(q[0])*x(q[1]); observe y(q[0])*y(q[1]); observe z(q[0])*z(q[1]);",
			NULL);
	struct evaluator_options o = options_of(target_of("cpu", 0));
	const double shrunk = 1 - 16 * 0.4 / 15, weight[] = { 0.4 };
	struct err e = { 0, "" };
	struct result r;
	int code = evaluate(p, &o, weight, NULL, &r, &e);

	tap_ok(!code && fabs(r.readout[0] - shrunk) < 1e-14 && fabs(r.readout[1] + shrunk) < 1e-14
			&& fabs(r.readout[2] - shrunk) < 1e-14,
		"a Bell state: %.15f, by the formula %.15f", r.readout[0], shrunk);
	program_free(p);
}

static void test_network(const struct target *t)
{
	const double x[SAMPLES] = { 0.4, 1.3, -2.1 };
	struct program *p = compile_text(network, NULL);
	struct evaluator_options o = options_of(t);
	struct err e = { 0, "" };
	double weight[NUMBERS_MAX];
	struct result r, other;

	program_init_weights(p, 1, 0, weight);
	int code = evaluate(p, &o, weight, x, &r, &e);
	for (unsigned k = 0; k < SAMPLES; k++) {
		struct density d = network_density(x[k]);
		double z = mean_of(&d, (const unsigned[4]){ 0, 0, 0, PAULI_Z });
		double xz = mean_of(&d, (const unsigned[4]){ 0, PAULI_Z, 0, PAULI_X });

		tap_ok(!code && fabs(r.readout[2 * k] - z) < 1e-14
				&& fabs(r.readout[2 * k + 1] - xz) < 1e-14,
			"a network: %.15f and %.15f, of the density matrix %.15f and %.15f",
			r.readout[2 * k], r.readout[2 * k + 1], z, xz);
	}
	compare_program(p, t, weight, x, "a network");
	o.trajectories = 7;
	code = evaluate(p, &o, weight, x, &other, &e);
	tap_ok(!code && !memcmp(&r, &other, sizeof r), "whatever the number of trajectories");
	o.trajectories = TRAJECTORIES_NONE;
	code = evaluate(p, &o, weight, x, &r, &e);
	o.method = METHOD_STATEVECTOR;
	o.precision = PRECISION_DOUBLE;
	code = code ? code : evaluate(p, &o, weight, x, &other, &e);
	double d = largest_difference(r.readout, other.readout, (size_t)SAMPLES * p->nreadout);
	tap_ok(!code && d < 1e-13, "without noise, off by %.2g", d);
	program_free(p);
}

/* Amplitude damping of one qubit, of operands of blocks and of lists, by constants, weights and inputs. %s: phase damping, which
 * state vectors take trajectories for. */
static const char damped[] =
	"QCNN 1; qubit[3] q; input float x; param float[2] t = {0.9, -0.6}; param float[2] g = {0.3, 0.6};"
	" block noisy(float t, float g) a, b { ry(t) a; cx a, b; amplitude_damping(g) a; rx(0.3) b; %s amplitude_damping(0.15) b; }"
	" ry(x) q; noisy(t[0], g[0]) q[0], q[1]; noisy(t[1], sin(x)**2) q[1], q[2];"
	" AmplitudeDamping(each g) on q[{0,2}]; cx q[2], q[0]; amplitude_damping(1) q[1]; amplitude_damping(0) q[2]; rx(0.4) q;"
	" observe z(q[0]); observe x(q[2])*z(q[0]); observe y(q[2]); observe z(q[1])*x(q[0]);";

static void damped_block(struct density *d, double t, double g, double phase, unsigned a, unsigned b)
{
	turn(d, PAULI_Y, t, a);
	cx(d, a, b);
	damping(d, g, a);
	turn(d, PAULI_X, 0.3, b);
	channel(d, 0, 0, (1 - sqrt(1 - phase)) / 2, b);
	damping(d, 0.15, b);
}

/* weight: t, g */
static void damped_readouts(const double *weight, double phase, const double *x, double *out)
{
	for (unsigned s = 0; s < SAMPLES; s++) {
		struct density d = density_zero(3);

		for (unsigned q = 0; q < 3; q++)
			turn(&d, PAULI_Y, x[s], q);
		damped_block(&d, weight[0], weight[2], phase, 0, 1);
		damped_block(&d, weight[1], sin(x[s]) * sin(x[s]), phase, 1, 2);
		damping(&d, weight[2], 0);
		damping(&d, weight[3], 2);
		cx(&d, 2, 0);
		damping(&d, 1, 1);
		for (unsigned q = 0; q < 3; q++)
			turn(&d, PAULI_X, 0.4, q);
		*out++ = mean_of(&d, (const unsigned[4]){ PAULI_Z });
		*out++ = mean_of(&d, (const unsigned[4]){ PAULI_Z, 0, PAULI_X });
		*out++ = mean_of(&d, (const unsigned[4]){ 0, 0, PAULI_Y });
		*out++ = mean_of(&d, (const unsigned[4]){ PAULI_X, PAULI_Z });
	}
}

static void test_damping(const struct target *t, enum method method, double phase)
{
	static const double at[6] = { -3, -2, -1, 1, 2, 3 }, factor[6] = { -1, 9, -45, 45, -9, 1 };
	const double x[SAMPLES] = { 0.4, 1.3, -2.1 };
	double weight[4] = { 0.9, -0.6, 0.3, 0.6 }, readout[SAMPLES * 4], worst = 0, quotient[4];
	struct evaluator_options o = options_of(t);
	struct err e = { 0, "" };
	struct result r;
	char text[1024], channel[64];

	snprintf(channel, sizeof channel, "phase_damping(%g) b;", phase);
	snprintf(text, sizeof text, damped, phase > 0 ? channel : "");
	struct program *p = compile_text(text, NULL);
	o.method = method;
	o.precision = PRECISION_DOUBLE;
	int code = evaluate(p, &o, weight, x, &r, &e);

	damped_readouts(weight, phase, x, readout);
	double dr = largest_difference(r.readout, readout, SAMPLES * 4);
	for (unsigned w = 0; w < 4; w++) {
		double kept = weight[w];

		quotient[w] = 0;
		for (unsigned k = 0; k < 6; k++) {
			weight[w] = kept + at[k] * STEP;
			damped_readouts(weight, phase, x, readout);
			quotient[w] += factor[k] * loss_of(readout, 4) / (60 * STEP);
		}
		weight[w] = kept;
		worst = fmax(worst, fabs(quotient[w] - r.gradient[w]));
	}
	tap_ok(!code && p->nreadout == 4 && p->nweight == 4 && dr < 1e-14 && worst < CLOSE,
		"%s: amplitude damping by %s, phase damping %g: readouts %.2g, gradients %.2g apart %s",
		t->kernels, method_name(method), phase, dr, worst, code ? e.text : "");
	program_free(p);
}

/* Channels behind all gates of random programs. */
static void test_random(const struct target *t, uint64_t seed)
{
	struct random_shape shape = { .seed = seed,
		.nwire = 2 + random_below(seed, 0, 3),
		.napply = 6 + random_below(seed, 1, 6),
		.ncircuit = 1 + random_below(seed, 2, 2),
		.nweight = 1 + random_below(seed, 3, 4),
		.ninput = 1 + random_below(seed, 4, 3),
		.sample_matrices = random_below(seed, 5, 2),
		.swaps = random_below(seed, 6, 2) };
	struct program *p = random_program(&shape);
	double weight[NUMBERS_MAX], x[NUMBERS_MAX];
	struct err e = { 0, "" };
	char text[64];

	random_numbers(seed, 2, NUMBERS_MAX, weight);
	random_numbers(seed + 1, 2, NUMBERS_MAX, x);
	snprintf(text, sizeof text, "seed %u, %u qubits", (unsigned)seed, shape.nwire);
	if (compile_noise(p, 0.03, 0.11, &e) || !program_is_noisy(p))
		tap_ok(false, "%s: no noise %s", text, e.text);
	else
		compare_program(p, t, weight, x, text);
	program_free(p);
}

static const char *const model[] = {
	/* Channels that a measured qubit controls. */
	"QCNN 1; qubit[4] q; input float x; param float[3] w = {0.3, 0.8, -0.4};"
	" ry(x) q[0]; ry(w[0]) q[1]; depolarizing(0.03) q[0], q[1]; cx q[0], q[1]; h q[2];"
	" if (measure q[0]) { ry(w[1]) q[1]; pauli_channel(0.1, 0.2, 0.05) q[1]; }"
	" else { cz q[1], q[2]; depolarizing(0.2) q[1], q[2]; }"
	" rx(w[2]) q[2]; rx(w[2]) q[1]; cx q[2], q[3]; observe z(q[3]); observe z(q[0])*x(q[1])*y(q[2]); observe z(q[1]);",
	/* Behind a qubit that is traced out, and on one that nothing else touches. */
	"QCNN 1; qubit[3] q; input float x; param float[3] w = {0.3, 0.8, -0.4};"
	" bit_flip(0.2) q[2]; rx(w[0]) q[0]; ry(x) q[1]; depolarizing(0.1) q[0], q[1]; rz(w[1]) q[0]; ry(w[2]) q[0];"
	" cx q[0], q[1]; depolarizing(0.1) q[0], q[1]; phase_flip(0.1) q[0]; discard q[0];"
	" observe z(q[1]); observe probs(q[{1,2}]);",
	/* Probabilities that are trained. */
	"QCNN 1; qubit[3] q; input float x; param float[2] w = {0.3, 0.8}; param float[4] p = {0.05, 0.1, 0.3, 0.2};"
	" ry(x) q[0]; rx(w[0]) q[1]; depolarizing(p[0]) q[0], q[1]; cx q[0], q[1]; bit_flip(p[1]) q[0];"
	" ry(w[1]) q; pauli_channel(p[1], 0.05, p[2]) q[1]; phase_damping(p[2]) q[2]; rx(0.4) q; cx q[1], q[2];"
	" depolarizing(sin(p[3])**2) q[2]; depolarizing(p[0]) q[0]; phase_flip(0.1) q[1]; bit_phase_flip(p[3]) q[1];"
	" observe z(q[0])*z(q[1]); observe x(q[1])*z(q[2]); observe y(q[2]); observe x(q[0])*x(q[2]);",
	/* Probabilities of samples, some of which weights change too. */
	"QCNN 1; qubit[3] q; input float x; param float[2] w = {0.3, 0.8}; param float[2] p = {0.05, 0.1};"
	" ry(x) q[0]; rx(w[0]) q[1]; depolarizing(sin(x * p[0])**2) q[0], q[1]; cx q[0], q[1]; bit_flip(abs(x) / 5) q[0];"
	" ry(w[1]) q; pauli_channel(0.1, abs(x) * p[1], p[1]) q[1]; phase_damping(sin(x)**2) q[2]; rx(0.4) q; cx q[1], q[2];"
	" observe z(q[0])*z(q[1]); observe x(q[1])*z(q[2]); observe y(q[2]); observe x(q[0])*x(q[2]);",
	/* Some that are 0 once expressions are folded. */
	"QCNN 1; qubit[2] q; input float x; param float[2] w = {0.3, 0.8}; param float[2] p = {0.05, 0.1};"
	" ry(x) q[0]; rx(w[0]) q[1]; pauli_channel(p[0] * 0, p[1], 0.1) q[0]; pauli_channel(p[1], p[0] * 0, 0.1) q[1]; cx q[0], q[1];"
	" ry(w[1]) q; pauli_channel(0, p[0], p[1] * 0) q[0]; pauli_channel(0.1, p[0] * 0 + 0.2, p[1]) q[1]; rx(0.4) q;"
	" pauli_channel(0.1, p[0] * 0 + 0.2, 0.05) q[1]; depolarizing(p[0] * 0) q[0], q[1];"
	" observe z(q[0])*z(q[1]); observe x(q[1])*z(q[0]); observe y(q[1]); observe x(q[0]);",
	/* The same under a measured qubit. */
	"QCNN 1; qubit[3] q; input float x; param float[2] w = {0.3, 0.8}; param float[2] p = {0.05, 0.1};"
	" ry(x) q[0]; rx(w[0]) q[1]; ry(w[1]) q[2]; if (measure q[0]) { depolarizing(p[0]) q[1], q[2]; ry(w[0]) q[1]; }"
	" else { rx(w[1]) q[2]; bit_flip(p[1] * sin(x)**2) q[1]; } cx q[1], q[2]; pauli_channel(p[0], p[0], p[0]) q[2];"
	" observe z(q[0])*z(q[1]); observe x(q[1])*z(q[2]); observe y(q[2]); observe z(q[0])*x(q[2]);",
};

static void test_models(const struct target *t)
{
	static const double x[SAMPLES] = { 0.4, 1.3, -2.1 };

	for (size_t k = 0; k < sizeof model / sizeof *model; k++) {
		struct program *p = compile_text(model[k], NULL);
		double weight[NUMBERS_MAX];

		program_init_weights(p, 1, 0, weight);
		compare_program(p, t, weight, x, model[k]);
		program_free(p);
	}
}

/* ---- what is no probability ---- */

static void test_improper(void)
{
	static const struct {
		const char *text;
		bool good;
	} row[] = {
		{ "QCNN 1; qubit[1] q; input float x; param float p = 1; bit_flip(p) q; observe z(q);",
			true },
		{ "QCNN 1; qubit[1] q; input float x; param float p = 0; bit_flip(p) q; observe z(q);",
			true },
		{ "QCNN 1; qubit[1] q; input float x; param float p = 1.01; bit_flip(p) q; observe z(q);",
			false },
		{ "QCNN 1; qubit[1] q; input float x; param float p = -0.01; bit_flip(p) q; observe z(q);",
			false },
		{ "QCNN 1; qubit[1] q; input float x; param float p = 0.4; pauli_channel(p, p, p) q; observe z(q);",
			false },
		{ "QCNN 1; qubit[1] q; input float x; bit_flip(x) q; observe z(q);", false },
		{ "QCNN 1; qubit[1] q; input float x; bit_flip(x / 2) q; observe z(q);", true },
	};
	static const double x[SAMPLES] = { 0.4, 1.3, 0.2 };

	for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
		struct evaluator_options o = options_of(target_of("cpu", 0));
		struct program *p = compile_text(row[k].text, NULL);
		double weight[NUMBERS_MAX];
		struct err e = { 0, "" };
		struct result r;

		program_init_weights(p, 1, 0, weight);
		int code = evaluate(p, &o, weight, x, &r, &e);
		tap_ok(row[k].good ? !code : code && strstr(e.text, "not between 0 and 1"),
			"%s: %s", row[k].text, code ? e.text : "good");
		program_free(p);
	}
}

/* State vectors have no gradient with respect to probabilities: they refuse, unless noise is left out. */
static void test_methods(void)
{
	static const double x[SAMPLES] = { 0.4, 1.3, 0.2 };
	struct program *p =
		compile_text("QCNN 1; qubit[1] q; input float x; param float p = 0.1; ry(x) q; bit_flip(p) q; observe z(q);",
			NULL);
	struct evaluator_options o = options_of(target_of("cpu", 0));
	struct err e = { 0, "" };
	struct result r, other;

	tap_ok(program_noise_varies(p), "a probability varies");
	int code = evaluate(p, &o, (double[]){ 0.1 }, x, &r, &e);
	o.method = METHOD_AUTO;
	code = code ? code : evaluate(p, &o, (double[]){ 0.1 }, x, &other, &e);
	tap_ok(!code && !memcmp(&r, &other, sizeof r), "the method auto is tensor %s", e.text);
	o.method = METHOD_STATEVECTOR;
	code = evaluate(p, &o, (double[]){ 0.1 }, x, &r, &e);
	tap_ok(code == -ERR_CONFIG && strstr(e.text, "depend on weights or data"),
		"state vectors refuse: %s", e.text);
	o.trajectories = TRAJECTORIES_NONE;
	code = evaluate(p, &o, (double[]){ 0.1 }, x, &r, &e);
	tap_ok(!code && fabs(r.readout[1] - cos(1.3)) < 1e-6, "but not without noise");
	program_free(p);
}

/* ---- what is no channel ---- */

static struct item power(uint8_t letter, uint32_t exponent)
{
	return (struct item){ .gate = GATE_PPAULI, .word = letter, .nwire = 1, .angle = { exponent } };
}

static uint32_t less(struct build *b, uint32_t draw, double than)
{
	return build_op(b, EXPR_LESS, draw, build_const(b, than));
}

static void expect_obstacle(struct build *b, uint32_t matrix, unsigned uses, const char *want)
{
	build_wires(b, 0, 2);
	for (uint32_t k = 0; k < uses; k++)
		build_apply(b, 0, matrix, 1, &k);
	build_z(b, 0, 0);
	struct program *p = build_done(b);
	const char *why = obstacle_of(p);

	tap_ok(want ? why && strstr(why, want) : !why, "%s: %s", want ? want : "a channel",
		why ? why : "no obstacle");
	program_free(p);
}

static void test_obstacles(void)
{
	enum { CASES = 8 };

	for (unsigned k = 0; k < CASES; k++) {
		struct build b = build_new(0, 0, 1);
		uint32_t draw = build_expr(&b, (struct expr){ .op = EXPR_DRAW }), e, m;
		const char *want = "decides about more than a Pauli word";
		struct item item[2];

		e = less(&b, draw, k == 1 ? 1.5 : 0.25);
		if (k == 2)
			e = draw;
		if (k == 3) /* 2 below 0.25 */
			e = build_op(&b, EXPR_ADD, e, less(&b, draw, 0.5));
		if (k == 4) /* -1 between 0.25 and 0.5 */
			e = build_op(&b, EXPR_SUB, e, less(&b, draw, 0.5));
		if (k == 5)
			e = build_op(&b, EXPR_LESS, draw, build_op(&b, EXPR_SIN, draw, draw));
		item[0] = power(PAULI_X, e);
		m = build_matrix(&b, 1, 1, item);
		if (k == 6) {
			item[0] = (struct item){ .nwire = 1, .ref = m };
			item[1] = power(PAULI_Z, build_const(&b, 0.5));
			m = build_matrix(&b, 1, 2, item);
		}
		if (k == 0)
			want = NULL;
		if (k == 7)
			want = "share a random number";
		expect_obstacle(&b, m, k == 7 ? 2 : 1, want);
	}
}

int main(void)
{
	const struct target *t, *best = target_of("cpu", 0);

	for (unsigned k = 0; (t = cpu_target_here(k)); k++) {
		for (unsigned i = 0; i < sizeof single / sizeof *single; i++)
			test_single(t, i, false);
		for (unsigned i = 0; i + 1 < sizeof single / sizeof *single; i++)
			test_single(t, i, true);
		test_network(t);
		test_damping(t, METHOD_TENSOR, 0.2);
		test_damping(t, METHOD_TENSOR, 0);
		test_damping(t, METHOD_STATEVECTOR, 0);
		test_models(t);
	}
	for (uint64_t seed = 1; seed <= 24; seed++)
		test_random(best, seed);
	test_pair();
	test_improper();
	test_methods();
	test_obstacles();
	return tap_done();
}
