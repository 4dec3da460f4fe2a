/* SPDX-License-Identifier: Apache-2.0
 * What `qcnn run` computes of a circuit: outputs, derivatives, states and shots, as arrays. */
#pragma once

#include "cli/output/values.h"
#include "runtime/exec/evaluator.h"

enum emit { EMIT_OUTPUTS = 0, EMIT_JACOBIAN, EMIT_READOUTS, EMIT_READOUT_JACOBIAN, EMIT_STATE, EMIT_PROBABILITIES, EMIT_SAMPLES };

struct run_values {
	const struct program *program;
	const double *x;             /* (nsample, nx): samples, or NULL where the model has no inputs */
	uint32_t nx, nsample;
	const double *weight;        /* (program->nweight), which the evaluator has too */
	struct evaluator *ev;
	struct pool *pool;
	uint32_t shots;              /* 0: exact */
	uint32_t trajectories;       /* 0: the model has no noise channels */
	uint64_t key;                /* of the shots and trajectories */
	struct values *v;            /* (program->ncircuit + 2) results, which the caller releases */
	unsigned nv;                 /* how many there are, 0 at first */
};

/* Appends the arrays for `what` to r->v, the first dimension counting samples; 0, or a negative code and *e. */
int run_values_emit(struct run_values *r, enum emit what, struct err *e);
