/* SPDX-License-Identifier: Apache-2.0
 * The numbers of a tensor plan, for those who print it. */
#pragma once

#include "runtime/exec/engine.h"

/* Of a batch, where the problem does not say: a model without inputs has one sample. */
static inline uint32_t tensor_usual_samples(const struct program *p)
{
	return p->ninput ? 1000 : 1;
}

struct tensor_summary {
	uint32_t batch;    /* samples that the operations are counted for */
	uint32_t nnetwork; /* products of Pauli operators that the readouts are made of */
	uint32_t ngate;    /* tensors of gates, of all networks */
	uint32_t ncontraction, nsample_contraction; /* of all networks; those that each sample has */
	unsigned width;                             /* samples of a unit */
	double forward_flops, gradient_flops;       /* of a sample */
	double largest;                             /* entries of the largest tensor */
	double thread_bytes,
		shared_bytes; /* memory of each thread, and of all together; with options->gradient, gradients, too */
};

/* False: the problem has an obstacle, or its tensors are too large. */
bool tensor_summary(const struct engine_problem *p, struct tensor_summary *out);
/* As struct engine says. */
int tensor_memory(const struct engine_problem *p, double *nbyte);
/* The lines of `qcnn compile --emit=plan`. */
void tensor_summary_print(const struct engine_problem *p, const struct tensor_summary *s,
	struct buf *out);
