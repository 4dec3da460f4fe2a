/* SPDX-License-Identifier: Apache-2.0
 * The dense head: values by hand, gradients against central differences for every activation. */
#include "runtime/train/model.h"

#include "runtime/base/rng.h"
#include "tests/tap.h"
#include "tests/train/tiny.h"

enum { NOUT = 4 };
static const double toward[NOUT] = { 0.7, -1.1, 0.4, 0.9 };   /* L = sum toward_j output_j */

static double loss_of(const struct program *p, const double *weight, const double *readout)
{
	double output[NOUT], *tape = calloc(model_memory(p), sizeof *tape), sum = 0;

	model_head(p, weight, readout, output, tape);
	for (uint32_t j = 0; j < p->noutput; j++)
		sum += toward[j] * output[j];
	free(tape);
	return sum;
}

/* The worst difference between the gradients and central differences. */
static void test_gradients(enum activation first, enum activation last)
{
	struct program *p = tiny_program(first, last, NOUT);
	double weight[64], readout[2] = { 0.31, -0.62 }, output[NOUT], gradient[2], head[64] = { 0 }, h = 1e-5;
	double *tape = calloc(model_memory(p), sizeof *tape), worst = 0, at, up, down;
	double *number, got;

	for (uint32_t i = 0; i < p->nweight; i++)
		weight[i] = 2 * rng_uniform(5, RNG_TEST, 100 * first + last, i) - 1;
	model_head(p, weight, readout, output, tape);
	model_head_backward(p, weight, tape, toward, gradient, head);
	for (uint32_t i = 0; i < p->nweight - p->nweight_circuit + 2; i++) {
		number = i < 2 ? &readout[i] : &weight[p->nweight_circuit + i - 2];
		got = i < 2 ? gradient[i] : head[i - 2];
		at = *number;
		*number = at + h;
		up = loss_of(p, weight, readout);
		*number = at - h;
		down = loss_of(p, weight, readout);
		*number = at;
		worst = tap_worst(worst, fabs(got - (up - down) / (2 * h)));
	}
	tap_close(worst, 0, 1e-9, "activations %d and %d: gradients against differences", first, last);
	model_head_backward(p, weight, tape, toward, gradient, head);
	got = head[0];
	model_head_backward(p, weight, tape, toward, gradient, NULL);
	tap_ok(head[0] == got, "a second reverse adds only where a vector is given");
	free(tape);
	program_free(p);
}

static void test_values(void)
{
	struct program *p = tiny_program(ACTIVATION_RELU, ACTIVATION_LINEAR, 1);
	/* t, t, s; kernel (2, 3); bias; kernel (3, 1); bias */
	double weight[] = { 0, 0, 0, 1, 2, -3, 0.5, -1, 1, 0.1, 0.2, 0.3, 2, -1, 4, 0.25 };
	double readout[2] = { 1, 2 }, output[1], *tape = calloc(model_memory(p), sizeof *tape);

	/* layer 0: 1+1+0.1 = 2.1; 2-2+0.2 = 0.2; -3+2+0.3 < 0 -> 0; layer 1: 4.2 - 0.2 + 0 + 0.25 */
	model_head(p, weight, readout, output, tape);
	tap_close(output[0], 4.25, 1e-15, "two layers by hand");
	free(tape);
	program_free(p);
}

static void test_none(void)
{
	struct program *p = tiny_program(0, 0, 0);
	double weight[3] = { 0 }, readout[2] = { 0.25, -0.5 }, output[2], gradient[2], *tape = calloc(model_memory(p), sizeof *tape);

	model_head(p, weight, readout, output, tape);
	tap_ok(output[0] == 0.25 && output[1] == -0.5, "without a head the readouts are the outputs");
	model_head_backward(p, weight, tape, toward, gradient, NULL);
	tap_ok(gradient[0] == toward[0] && gradient[1] == toward[1], "and so are the gradients");
	free(tape);
	program_free(p);
}

static void test_far(void)
{
	struct program *p = tiny_program(ACTIVATION_LINEAR, ACTIVATION_SOFTMAX, 2);
	double weight[32] = { 0 }, readout[2] = { 1, 1 }, output[2], *tape = calloc(model_memory(p), sizeof *tape);

	for (int i = 0; i < 6; i++)
		weight[3 + i] = 1e3;
	for (int i = 0; i < 6; i++)
		weight[12 + i] = i % 2 ? 1 : -1;
	model_head(p, weight, readout, output, tape);
	tap_ok(output[0] == 0 && output[1] == 1, "softmax of large sums does not overflow");
	free(tape);
	program_free(p);
}

int main(void)
{
	for (int first = 0; first < ACTIVATION_COUNT; first++)
		for (int last = 0; last < ACTIVATION_COUNT; last++)
			test_gradients((enum activation)first, (enum activation)last);
	test_values();
	test_none();
	test_far();
	return tap_done();
}
