/* SPDX-License-Identifier: Apache-2.0
 * The cuda backend: states on a GPU, one sample at a time.
 *
 * A stage is one launch where its steps fit (cuda_stage.h), all work is done on one stream, and the host waits for readouts and
 * for the sums of a backward pass. */
#ifndef QCNN_CUDA_H
#define QCNN_CUDA_H

#include "runtime/exec/statevector/backend.h"

/* The only target: what a plan for a GPU is made for. */
extern const struct target target_cuda;

#endif
