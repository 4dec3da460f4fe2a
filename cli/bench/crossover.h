/* SPDX-License-Identifier: Apache-2.0
 * From how many operations of a step on a GPU is faster than the processor: what --device=auto goes by. */
#pragma once

#include "cli/command.h"

/* Measures gradients of a QCNN on 8 qubits for growing batches, with all GPUs and with nthread threads; infinite where the
 * processor is faster for any batch. */
int crossover_measure(struct cli *c, unsigned nthread, double *operations, struct err *e);
