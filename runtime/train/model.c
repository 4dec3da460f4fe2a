/* SPDX-License-Identifier: Apache-2.0
 * The head's layers in a row.
 *
 * The memory of a sample holds the readouts, then the outputs of every layer, then two vectors of the
 * widest layer's size for the gradients of the backward pass. */
#include "runtime/train/model.h"

#include <string.h>

#include "runtime/train/head.h"

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

		head_forward(d->activation, d->nin, d->nout, group_of(p, weight, d->kernel),
			group_of(p, weight, d->bias), in, in + d->nin);
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

		head_backward(d->activation, d->nin, d->nout, group_of(p, weight, d->kernel),
			out - d->nin, out, gradient, below,
			gradient_of(p, head, d->kernel), gradient_of(p, head, d->bias));
		out -= d->nin;
		swap = gradient, gradient = below, below = swap;
	}
	memcpy(readout_gradient, gradient, p->nreadout * sizeof *gradient);
}
