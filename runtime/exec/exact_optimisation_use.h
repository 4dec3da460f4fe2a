/* SPDX-License-Identifier: Apache-2.0
 * Which exact optimisations an evaluator has taken, and the work that they have saved. */
#pragma once

#include <stdint.h>

#include "runtime/base/buf.h"

struct evaluator;

/* Batches are those that the evaluator is for: with a gradient, where it makes gradients. */
struct optimisation_use {
	uint64_t nbatch, nrank;      /* batches; those by batch rank */
	uint64_t nstate, nsample;    /* of the latter, summed: states that were evolved, samples they stood for */
	uint32_t ncone, cone_qubits; /* circuits that light cones made, the widest of them; 0: not taken */
	uint64_t ntail;
	uint32_t tail_qubits; /* batches without batch rank by Heisenberg tails, the widest of them */
	uint32_t ncircuit, qubits;   /* the same of the model as it is written */
	double flops, plain_flops;   /* of all batches: executed; had no optimisation been taken */
};

/* What has been done since the evaluator was made (evaluator.h). */
void evaluator_use(const struct evaluator *ev, struct optimisation_use *out);
/* Another evaluator of the same job. */
void optimisation_use_add(struct optimisation_use *u, const struct optimisation_use *more);
/* "batch_rank: 9 states instead of 112 in every batch; 6.3 times fewer operations", without an end of line. Nothing
 * where they did not reduce the number of operations by a twentieth or more. */
void optimisation_use_text(const struct optimisation_use *u, struct buf *out);
