/* SPDX-License-Identifier: Apache-2.0
 * One dense layer: the sum, then an activation by table; gradients need outputs alone. */
#include "runtime/train/head.h"

#include <math.h>

/* In place on v[n]: the activation; and gradient *= its derivative, where y = activation. */
struct activation_row {
	void (*forward)(double *v, uint32_t n);
	void (*backward)(const double *y, double *gradient, uint32_t n);
};

static void linear_forward(double *v, uint32_t n) { (void)v, (void)n; }

static void linear_backward(const double *y, double *gradient, uint32_t n)
{
	(void)y, (void)gradient, (void)n;
}

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
	[ACTIVATION_LINEAR]  = { linear_forward, linear_backward },
	[ACTIVATION_RELU]    = { relu_forward, relu_backward },
	[ACTIVATION_TANH]    = { tanh_forward, tanh_backward },
	[ACTIVATION_SIGMOID] = { sigmoid_forward, sigmoid_backward },
	[ACTIVATION_SOFTMAX] = { softmax_forward, softmax_backward },
};

void head_forward(enum activation a, uint32_t nin, uint32_t nout, const double *kernel,
	const double *bias, const double *in, double *out)
{
	for (uint32_t j = 0; j < nout; j++)
		out[j] = bias[j];
	for (uint32_t i = 0; i < nin; i++)
		for (uint32_t j = 0; j < nout; j++)
			out[j] += in[i] * kernel[(size_t)i * nout + j];
	table[a].forward(out, nout);
}

void head_backward(enum activation a, uint32_t nin, uint32_t nout, const double *kernel,
	const double *in, const double *out, double *gradient, double *in_gradient,
	double *kernel_gradient, double *bias_gradient)
{
	table[a].backward(out, gradient, nout);
	for (uint32_t j = 0; bias_gradient && j < nout; j++)
		bias_gradient[j] += gradient[j];
	for (uint32_t i = 0; i < nin; i++) {
		double sum = 0;

		for (uint32_t j = 0; j < nout; j++) {
			sum += kernel[(size_t)i * nout + j] * gradient[j];
			if (kernel_gradient)
				kernel_gradient[(size_t)i * nout + j] += in[i] * gradient[j];
		}
		in_gradient[i] = sum;
	}
}
