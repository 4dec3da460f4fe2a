/* SPDX-License-Identifier: Apache-2.0
 * A program with weights: head, loss and metrics on top of the readouts. */
#pragma once

#include "runtime/program/program.h"

/* Compute the outputs of the head for one sample; memory[model_memory()] keeps values and
 * gradients for the backward pass.  Without dense layers output = readout. weight: all nweight weights. */
size_t model_memory(const struct program *p);
void model_head(const struct program *p, const double *weight, const double *readout, double *output, double *memory);
/* output_gradient[noutput] -> readout_gradient[nreadout]; adds dL/d(head weights) into
 * head[nweight - nweight_circuit] (may be NULL).  May be called again for the same memory. */
void model_head_backward(const struct program *p, const double *weight, double *memory,
	const double *output_gradient, double *readout_gradient, double *head);
