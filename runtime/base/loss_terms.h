/* SPDX-License-Identifier: Apache-2.0
 * Losses whose gradient a device can compute itself: the mean, over the readouts of a sample, of
 * a term, a function of one readout and its label.
 *
 * Processors and devices compile the same functions and must get the same bits: they add,
 * subtract, multiply and compare, and do not call functions that round differently there, as
 * exp. The gradient with respect to a readout is the term's derivative / nreadout * weight *
 * scale, in this order. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define LOSS_TERMS_BOTH static __host__ __device__ inline
#else
#define LOSS_TERMS_BOTH static inline
#endif

enum loss_term {
	LOSS_TERM_NONE = 0, /* another loss, or a model with a head between readouts and outputs */
	LOSS_TERM_MSE,
	LOSS_TERM_MAE,
	LOSS_TERM_HUBER,
	LOSS_TERM_HINGE,
	LOSS_TERM_SQUARED_HINGE,
	LOSS_TERM_OUTPUT, /* the readout itself, whatever its label */
	LOSS_TERM_COUNT
};

struct loss_terms {
	enum loss_term term;
	uint32_t nlabel; /* of a sample: one for each readout; any number for LOSS_TERM_OUTPUT */
	double option;   /* delta of huber */
};

/* The numbers of a sample that its gradient needs besides the readouts: where its scale (a factor
 * of every sample), its weight and the first of its labels are. */
enum { LOSS_SCALE = 0, LOSS_WEIGHT, LOSS_LABELS };

/* How many these are. */
static inline size_t loss_numbers(const struct loss_terms *t)
{
	return LOSS_LABELS + (size_t)t->nlabel;
}

LOSS_TERMS_BOTH double loss_sign(double x) { return (x > 0) - (x < 0); }
LOSS_TERMS_BOTH double loss_plus_or_minus(double label) { return label == 0 ? -1 : label; }

/* The term of a readout (loss.def has the formulas). *d: its derivative with respect to it. */
LOSS_TERMS_BOTH double loss_term_value(enum loss_term term, double option, double readout,
	double label, double *d)
{
	const double error = readout - label, size = fabs(error), y = loss_plus_or_minus(label);
	const double gap = 1 - y * readout;

	switch (term) {
	case LOSS_TERM_MSE: *d = 2 * error; return error * error;
	case LOSS_TERM_MAE: *d = loss_sign(error); return size;
	case LOSS_TERM_HUBER:
		*d = size <= option ? error : option * loss_sign(error);
		return size <= option ? 0.5 * error * error : option * size - 0.5 * option * option;
	case LOSS_TERM_HINGE: *d = gap > 0 ? -y : 0; return gap > 0 ? gap : 0;
	case LOSS_TERM_SQUARED_HINGE:
		*d = gap > 0 ? -2 * y * gap : 0;
		return gap > 0 ? gap * gap : 0;
	case LOSS_TERM_OUTPUT:
	case LOSS_TERM_NONE:
	case LOSS_TERM_COUNT: break;
	}
	*d = 1;
	return readout;
}

/* The gradient of a sample's loss with respect to readout k of nreadout; number: the sample's. */
LOSS_TERMS_BOTH double loss_gradient(enum loss_term term, double option, double readout,
	const double *number, uint32_t k, uint32_t nreadout)
{
	double d;

	loss_term_value(term, option, readout, number[LOSS_LABELS + k], &d);
	return d / nreadout * number[LOSS_WEIGHT] * number[LOSS_SCALE];
}

/* The largest magnitude of the derivative, for readouts from -most to most. */
static inline double loss_term_steepest(enum loss_term term, double option, double most, double label)
{
	const double y = fabs(loss_plus_or_minus(label));

	switch (term) {
	case LOSS_TERM_MSE: return 2 * (most + fabs(label));
	case LOSS_TERM_HUBER: return fmin(option, most + fabs(label));
	case LOSS_TERM_HINGE: return y;
	case LOSS_TERM_SQUARED_HINGE: return 2 * y * (1 + y * most);
	case LOSS_TERM_MAE:
	case LOSS_TERM_OUTPUT:
	case LOSS_TERM_NONE:
	case LOSS_TERM_COUNT: break;
	}
	return 1;
}
