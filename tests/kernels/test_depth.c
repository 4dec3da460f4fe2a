/* SPDX-License-Identifier: Apache-2.0
 * Single precision at depth: the error of circuits that repeat the same gates grows with the square root of their number.
 *
 * Each kind of circuit runs in single and in double precision with more and more repeats.  Asserted are, for the states,
 * |psi_single - psi_double| <= 1e-7 sqrt(gates) and, fitted over all sizes of a kind, a growth exponent of at most 0.7; and
 * for gradients a largest error of 5e-5 of the largest component.  With QCNN_DEPTH=full: up to 12 qubits and 10,000 repeats. */
#include <stdlib.h>

#include "runtime/exec/statevector/cpu/cpu_target.h"
#include "runtime/base/system/cpus.h"
#include "runtime/exec/evaluator.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/compile_file.h"
#include "tests/kernels/random_program.h"
#include "tests/kernels/targets.h"
#include "tests/tap.h"

/* What is repeated; `start` comes once before. */
static const struct repeated { const char *name, *start, *body; } kinds[] = {
	{ "h cx t", "", "h on q; cx on ring(q); t on q;" },
	{ "h s", "", "h on q; s on q;" },
	{ "sx t cz", "", "sx on q; t on q; cz on ring(q);" },
	{ "Trotter steps of the Ising chain", "h on q;", "rzz(0.1) on windows(q, 2, 1); rx(0.2) on q;" },
	{ "Trotter steps of the Heisenberg chain", "h q[0];", "rxx(0.05) on windows(q, 2, 1); ryy(0.05) on windows(q, 2, 1); rzz(0.05) on windows(q, 2, 1); rz(0.03) on q;" },
	{ "Fourier transform and its inverse", "ry(0.7) on q;",
		"for int j in [0:n-1] { h q[j]; for int m in [j+1:n-1] { cp(pi / 2 ** (m - j)) q[m], q[j]; } }"
		"for int i in [0:n-1] { for int m in [0:i-1] { cp(-pi / 2 ** (i - m)) q[n-1-m], q[n-1-i]; } h q[n-1-i]; }" },
	{ "layers of equal rotations", "", "ry(0.3) on q; cz on ring(q); rx(0.3) on q;" },
	{ "small equal rotations", "", "ry(0.1) on q; cx on ring(q);" },
	{ "equal general rotations", "", "U(0.4, 0.2, 0.9) on q; cx on ring(q);" },
	{ "controlled rotations", "ry(0.4) on q;", "cry(0.3) on ring(q); crz(0.7) on ring(q);" },
};

static const double no_weights[1];

static struct program *compile(const char *text)
{
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	struct buf said = BUF_INIT;
	int file = source_add(s, "model.qcnn", text, strlen(text));
	struct ast *t = lang_parse(d, (uint32_t)file, &(struct lang_options){ 0 });
	struct program *p;

	lang_resolve(t, d);
	p = compile_tree(t, d, &(struct compile_options){ 0 });
	diags_print(d, DIAG_HUMAN, false, &said);
	if (!p)
		tap_bail("%s\n%s", text, said.data);
	buf_release(&said);
	ast_free(t);
	diags_free(d);
	source_set_free(s);
	return p;
}

static struct program *repeated_program(const struct repeated *k, unsigned n, unsigned repeats)
{
	char text[2048];

	snprintf(text, sizeof text, "QCNN 1; const int n = %u; qubit[n] q; %s for int step in [1:%u] { %s } observe z(q);", n, k->start, repeats, k->body);
	return compile(text);
}

static void state(const struct program *p, enum precision precision, cplx *out)
{
	struct evaluator_options o = { .precision = precision,
		.target = target_or_best(NULL),
		.nthread = 1,
		.outputs_alone = true };
	struct err e = { 0 };
	struct evaluator *ev = NULL;

	if (evaluator_new(p, &o, &ev, &e) || evaluator_weights(ev, no_weights, &e) || evaluator_state(ev, 0, NULL, out, &e))
		tap_bail("%s", e.text);
	evaluator_free(ev);
}

static double distance(const cplx *a, const cplx *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += creal((a[i] - b[i]) * conj(a[i] - b[i]));
	return sqrt(sum);
}

/* Lines through the logarithms of errors and gates: one for each number of qubits, all of one exponent. */
struct fit { double n, x, y, xx, xy, over, under; };

static void fit_add(struct fit *f, double x, double y)
{
	f->n++;
	f->x += x;
	f->y += y;
	f->xx += x * x;
	f->xy += x * y;
}

static void fit_end_line(struct fit *f)
{
	if (f->n > 1) {
		f->over += f->xy - f->x * f->y / f->n;
		f->under += f->xx - f->x * f->x / f->n;
	}
	f->n = f->x = f->y = f->xx = f->xy = 0;
}

static double error_of(const struct repeated *k, unsigned n, unsigned repeats, double *gates)
{
	size_t size = (size_t)1 << n;
	cplx *single = calloc(size, sizeof *single), *exact = calloc(size, sizeof *exact);
	struct program *p = repeated_program(k, n, repeats);
	double error;

	*gates = p->circuit[0].napply;
	state(p, PRECISION_SINGLE, single);
	state(p, PRECISION_DOUBLE, exact);
	error = distance(single, exact, size);
	program_free(p);
	free(single);
	free(exact);
	return error;
}

/* Repeats are doubled from 100 on, as long as there are at most `most` gates and `repeats` of them. */
static void test_kind(const struct repeated *k, const unsigned *qubits, unsigned repeats, double most)
{
	const double merged = 2e-7;  /* what one or a few matrices in all give: plans merge all gates on two qubits */
	struct fit fit = { 0 };
	double worst = 0;

	for (; *qubits; qubits++) {
		double gates = 0;

		for (unsigned r = 100; r <= repeats && 2 * gates <= most; r *= 2) {
			double error = error_of(k, *qubits, r, &gates);

			worst = fmax(worst, error / (1e-7 * sqrt(gates)));
			if (error > merged)
				fit_add(&fit, log(gates), log(error));
		}
		fit_end_line(&fit);
	}
	tap_ok(worst <= 1, "%s: states within 1e-7 sqrt(gates), at most %.2f of it", k->name, worst);
	tap_ok(fit.under > 0 && fit.over / fit.under <= 0.7, "%s: error grows with gates ** %.2f", k->name, fit.over / fit.under);
}

/* The example that single precision lost 4.9e-5 of: probabilities of 1,000 times h, cx, t. */
static void test_probabilities(void)
{
	const char *text = "QCNN 1; qubit[2] q; for int i in [1:1000] { h q[0]; cx q[0], q[1]; t q[1]; } observe probs(q);";

	const struct target *t;

	for (unsigned k = 0; (t = cpu_target_here(k)); k++) {
		struct evaluator_options o = {
			.precision = PRECISION_SINGLE, .target = t, .nthread = 1, .outputs_alone = true
		};
		struct program *p = compile(text);
		struct outcome a = outcome_new(p, 1), b = outcome_new(p, 1);
		struct err e = { 0 };
		double error;

		if (outcome_of(p, &o, 1, no_weights, NULL, &a, &e))
			tap_bail("%s", e.text);
		o.precision = PRECISION_DOUBLE;
		if (outcome_of(p, &o, 1, no_weights, NULL, &b, &e))
			tap_bail("%s", e.text);
		error = largest_difference(a.readout, b.readout, p->nreadout);
		tap_ok(error <= 2e-6,
			"%s: probabilities of 1,000 times h, cx, t within %.2g of double",
			t->kernels, error);
		outcome_release(&a);
		outcome_release(&b);
		program_free(p);
	}
}

/* Weights that many gates share, and layers of weights with equal values. */
static void test_gradient(const char *what, const char *text)
{
	struct evaluator_options o = { .precision = PRECISION_SINGLE,
		.target = target_or_best(NULL),
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT };
	struct program *p = compile(text);
	struct outcome a = outcome_new(p, 1), b = outcome_new(p, 1);
	double *weight = calloc(p->nweight, sizeof *weight), largest = 0, error;
	struct err e = { 0 };

	for (uint32_t k = 0; k < p->nweight; k++)
		weight[k] = 0.31;
	if (outcome_of(p, &o, 1, weight, NULL, &a, &e))
		tap_bail("%s", e.text);
	o.precision = PRECISION_DOUBLE;
	if (outcome_of(p, &o, 1, weight, NULL, &b, &e))
		tap_bail("%s", e.text);
	for (uint32_t k = 0; k < p->nweight; k++)
		largest = fmax(largest, fabs(b.gradient[k]));
	error = largest_difference(a.gradient, b.gradient, p->nweight) / largest;
	tap_ok(error <= 5e-5, "%s: %u gates, %u weights: gradients within %.2g of the largest", what, p->circuit[0].napply, p->nweight, error);
	free(weight);
	outcome_release(&a);
	outcome_release(&b);
	program_free(p);
}

static void test_gradients(unsigned repeats)
{
	static const struct { const char *what, *start, *body; } of[] = {
		{ "shared angles", "param float[2] t;", "ry(t[0]) on q; cz on ring(q); rx(t[1]) on q; h on q; t on q;" },
		{ "equal angles", "param float[2*k] t;", "ry(t[2*i]) on q; cz on ring(q); rx(t[2*i+1]) on q;" },
		{ "Trotter steps of one field", "param float[2] t;", "rzz(0.1) on windows(q, 2, 1); rx(t[0]) on q; h on q; rz(0.2) on q; h on q;" },
	};
	char text[1024], what[128];

	for (unsigned n = 2; n <= 8; n += 3)
		for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
			snprintf(text, sizeof text, "QCNN 1; const int k = %u; qubit[%u] q; %s for int i in [0:k-1] { %s } ry(t[1]) on q; observe z(q[0]) + x(q[1]);",
				repeats, n, of[k].start, of[k].body);
			snprintf(what, sizeof what, "%s, %u qubits", of[k].what, n);
			test_gradient(what, text);
		}
}

int main(void)
{
	static const unsigned few[] = { 2, 3, 5, 8, 0 }, many[] = { 2, 3, 4, 5, 6, 7, 8, 10, 12, 0 };
	const char *depth = getenv("QCNN_DEPTH");
	bool full = depth && !strcmp(depth, "full");

	test_probabilities();
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		test_kind(&kinds[k], full ? many : few, 12800, full ? 500000 : 40000);
	test_gradients(full ? 10000 : 300);
	return tap_done();
}
