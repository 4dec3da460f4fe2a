/* SPDX-License-Identifier: Apache-2.0
 * One dense layer, forward and in reverse, always in double. */
#ifndef QCNN_HEAD_H
#define QCNN_HEAD_H

#include <stdint.h>
#include "runtime/program/program.h"

/* out[nout] = activation(in[nin] kernel(nin, nout) + bias[nout]). */
void head_forward(enum activation a, uint32_t nin, uint32_t nout, const double *kernel,
	const double *bias, const double *in, double *out);
/* slope[nout] = dL/d out becomes dL/d(sum before the activation); slope_in[nin] gets dL/d in.
 * Adds into slope_kernel and slope_bias unless they are NULL. */
void head_reverse(enum activation a, uint32_t nin, uint32_t nout, const double *kernel,
	const double *in, const double *out, double *slope, double *slope_in,
	double *slope_kernel, double *slope_bias);

#endif
