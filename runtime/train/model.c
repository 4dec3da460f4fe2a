/* SPDX-License-Identifier: Apache-2.0
 * The head's layers in a row.
 *
 * The tape holds the readouts, then every layer's outputs, then two vectors of the
 * widest layer's size for the slopes on their way back. */
#include "config.h"
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

size_t model_tape(const struct program *p)
{
	return values(p) + 2 * widest(p);
}

static const double *group_of(const struct program *p, const double *weight, uint32_t group)
{
	return weight + p->weight_group[group].first;
}

static double *slope_of(const struct program *p, double *head, uint32_t group)
{
	return head && !p->weight_group[group].frozen
		? head + (p->weight_group[group].first - p->nweight_circuit) : NULL;
}

void model_head(const struct program *p, const double *weight, const double *readout, double *output, double *tape)
{
	double *in = tape;

	memcpy(in, readout, p->nreadout * sizeof *in);
	for (uint32_t k = 0; k < p->ndense; k++) {
		const struct dense *d = &p->dense[k];

		head_forward(d->activation, d->nin, d->nout, group_of(p, weight, d->kernel),
			group_of(p, weight, d->bias), in, in + d->nin);
		in += d->nin;
	}
	memcpy(output, in, p->noutput * sizeof *in);
}

void model_head_reverse(const struct program *p, const double *weight, double *tape,
	const double *slope_output, double *slope_readout, double *head)
{
	double *slope = tape + values(p), *below = slope + widest(p), *swap;
	const double *out = slope - p->noutput;

	memcpy(slope, slope_output, p->noutput * sizeof *slope);
	for (uint32_t k = p->ndense; k-- > 0;) {
		const struct dense *d = &p->dense[k];

		head_reverse(d->activation, d->nin, d->nout, group_of(p, weight, d->kernel),
			out - d->nin, out, slope, below,
			slope_of(p, head, d->kernel), slope_of(p, head, d->bias));
		out -= d->nin;
		swap = slope, slope = below, below = swap;
	}
	memcpy(slope_readout, slope, p->nreadout * sizeof *slope);
}
