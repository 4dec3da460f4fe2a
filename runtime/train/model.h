/* SPDX-License-Identifier: Apache-2.0
 * A program with weights: head, loss and metrics on top of the readouts. */
#ifndef QCNN_MODEL_H
#define QCNN_MODEL_H

#include "runtime/program/program.h"

/* Outputs of the head for one sample; tape[model_tape()] keeps what reverse needs, and
 * has room for its slopes.  Without dense layers output = readout. weight: all nweight weights. */
size_t model_tape(const struct program *p);
void model_head(const struct program *p, const double *weight, const double *readout, double *output, double *tape);
/* slope_output[noutput] -> slope_readout[nreadout]; adds dL/d(head weights) into
 * head[nweight - nweight_circuit] (may be NULL).  May be called again for the same tape. */
void model_head_reverse(const struct program *p, const double *weight, double *tape,
	const double *slope_output, double *slope_readout, double *head);

#endif
