/* SPDX-License-Identifier: Apache-2.0
 * The head's dense layers in a row, always in double; gradients of activations need outputs alone.
 *
 * The memory of a sample holds the readouts, then the outputs of every layer, then two vectors of the
 * widest layer's size for the gradients of the backward pass. */
#include "runtime/train/model.h"

#include <math.h>
#include <string.h>

/* ---- one layer ---- */

/* In place on v[n]: the activation; and gradient *= its derivative, where y = activation. NULL: linear. */
struct activation_row {
	void (*forward)(double *v, uint32_t n);
	void (*backward)(const double *y, double *gradient, uint32_t n);
};

/* A NaN stays one, so that it is noticed. */
static void relu_forward(double *v, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++)
		if (v[j] < 0)
			v[j] = 0;
}

static void relu_backward(const double *y, double *gradient, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++)
		if (y[j] <= 0)
			gradient[j] = 0;
}

static void tanh_forward(double *v, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++)
		v[j] = tanh(v[j]);
}

static void tanh_backward(const double *y, double *gradient, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++)
		gradient[j] *= 1 - y[j] * y[j];
}

static void sigmoid_forward(double *v, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++)
		v[j] = 1 / (1 + exp(-v[j]));
}

static void sigmoid_backward(const double *y, double *gradient, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++)
		gradient[j] *= y[j] * (1 - y[j]);
}

/* Shifted by the largest, so that no exp overflows. */
static void softmax_forward(double *v, uint32_t n)
{
	double top = v[0], sum = 0;

	for (uint32_t j = 1; j < n; j++)
		top = v[j] > top ? v[j] : top;
	for (uint32_t j = 0; j < n; j++)
		sum += v[j] = exp(v[j] - top);
	for (uint32_t j = 0; j < n; j++)
		v[j] /= sum;
}

static void softmax_backward(const double *y, double *gradient, uint32_t n)
{
	double mean = 0;

	for (uint32_t j = 0; j < n; j++)
		mean += y[j] * gradient[j];
	for (uint32_t j = 0; j < n; j++)
		gradient[j] = y[j] * (gradient[j] - mean);
}

static const struct activation_row table[ACTIVATION_COUNT] = {
	[ACTIVATION_LINEAR] = { NULL, NULL },
	[ACTIVATION_RELU] = { relu_forward, relu_backward },
	[ACTIVATION_TANH] = { tanh_forward, tanh_backward },
	[ACTIVATION_SIGMOID] = { sigmoid_forward, sigmoid_backward },
	[ACTIVATION_SOFTMAX] = { softmax_forward, softmax_backward },
};

/* out[nout] = activation(in[nin] kernel(nin, nout) + bias[nout]). */
static void layer_forward(const struct dense *d, const double *kernel, const double *bias,
	const double *in, double *out)
{
	for (uint32_t j = 0; j < d->nout; j++)
		out[j] = bias[j];
	for (uint32_t i = 0; i < d->nin; i++)
		for (uint32_t j = 0; j < d->nout; j++)
			out[j] += in[i] * kernel[(size_t)i * d->nout + j];
	if (table[d->activation].forward)
		table[d->activation].forward(out, d->nout);
}

/* gradient[nout] = dL/d out becomes dL/d(sum before the activation); in_gradient[nin] gets dL/d in.
 * Adds into kernel_gradient and bias_gradient unless they are NULL. */
static void layer_backward(const struct dense *d, const double *kernel, const double *in,
	const double *out, double *gradient, double *in_gradient, double *kernel_gradient,
	double *bias_gradient)
{
	if (table[d->activation].backward)
		table[d->activation].backward(out, gradient, d->nout);
	for (uint32_t j = 0; bias_gradient && j < d->nout; j++)
		bias_gradient[j] += gradient[j];
	for (uint32_t i = 0; i < d->nin; i++) {
		double sum = 0;

		for (uint32_t j = 0; j < d->nout; j++) {
			sum += kernel[(size_t)i * d->nout + j] * gradient[j];
			if (kernel_gradient)
				kernel_gradient[(size_t)i * d->nout + j] += in[i] * gradient[j];
		}
		in_gradient[i] = sum;
	}
}

/* ---- all layers ---- */

static size_t widest(const struct program *p)
{
	size_t n = p->nreadout;

	for (uint32_t k = 0; k < p->ndense; k++)
		if (p->dense[k].nout > n)
			n = p->dense[k].nout;
	return n;
}

static size_t values(const struct program *p)
{
	size_t n = p->nreadout;

	for (uint32_t k = 0; k < p->ndense; k++)
		n += p->dense[k].nout;
	return n;
}

size_t model_memory(const struct program *p) { return values(p) + 2 * widest(p); }

static const double *group_of(const struct program *p, const double *weight, uint32_t group)
{
	return weight + p->weight_group[group].first;
}

static double *gradient_of(const struct program *p, double *head, uint32_t group)
{
	return head && !p->weight_group[group].frozen
		? head + (p->weight_group[group].first - p->nweight_circuit) : NULL;
}

void model_head(const struct program *p, const double *weight, const double *readout, double *output, double *memory)
{
	double *in = memory;

	memcpy(in, readout, p->nreadout * sizeof *in);
	for (uint32_t k = 0; k < p->ndense; k++) {
		const struct dense *d = &p->dense[k];

		layer_forward(d, group_of(p, weight, d->kernel), group_of(p, weight, d->bias), in,
			in + d->nin);
		in += d->nin;
	}
	memcpy(output, in, p->noutput * sizeof *in);
}

void model_head_backward(const struct program *p, const double *weight, double *memory,
	const double *output_gradient, double *readout_gradient, double *head)
{
	double *gradient = memory + values(p), *below = gradient + widest(p), *swap;
	const double *out = gradient - p->noutput;

	memcpy(gradient, output_gradient, p->noutput * sizeof *gradient);
	for (uint32_t k = p->ndense; k-- > 0;) {
		const struct dense *d = &p->dense[k];

		layer_backward(d, group_of(p, weight, d->kernel), out - d->nin, out, gradient,
			below, gradient_of(p, head, d->kernel), gradient_of(p, head, d->bias));
		out -= d->nin;
		swap = gradient, gradient = below, below = swap;
	}
	memcpy(readout_gradient, gradient, p->nreadout * sizeof *gradient);
}
