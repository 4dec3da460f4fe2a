/* SPDX-License-Identifier: Apache-2.0
 * One dense layer, forward and backward, always in double. */
#pragma once

#include <stdint.h>
#include "runtime/program/program.h"

/* out[nout] = activation(in[nin] kernel(nin, nout) + bias[nout]). */
void head_forward(enum activation a, uint32_t nin, uint32_t nout, const double *kernel,
	const double *bias, const double *in, double *out);
/* gradient[nout] = dL/d out becomes dL/d(sum before the activation); in_gradient[nin] gets dL/d in.
 * Adds into kernel_gradient and bias_gradient unless they are NULL. */
void head_backward(enum activation a, uint32_t nin, uint32_t nout, const double *kernel,
	const double *in, const double *out, double *gradient, double *in_gradient,
	double *kernel_gradient, double *bias_gradient);
