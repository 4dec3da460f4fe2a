/* SPDX-License-Identifier: Apache-2.0
 * Which exact optimisations an evaluator has taken, and the work that they have saved.
 *
 * Engines count the batches (engine.h, `count`) and word what was saved (`uses`); nothing here knows
 * an optimisation by name. */
#pragma once

#include <stdint.h>

#include "runtime/base/buf.h"
#include "runtime/exec/exact_optimisation.h"

struct evaluator;

/* One optimisation, as its engine counts it: what it does not count is 0. */
struct optimisation_tally {
	uint64_t nbatch;          /* batches in which it was used */
	uint64_t nsample, nstate; /* of these, summed: samples, states that were evolved for them */
	uint32_t ncircuit;        /* circuits that are evaluated in place of the program's */
	uint32_t nqubit;          /* qubits of the widest of them, or that it is about */
};

/* Batches are those that the evaluator is for: with a gradient, where it makes gradients. */
struct optimisation_use {
	uint64_t nbatch;
	uint32_t ncircuit, nqubit; /* circuits of the model as it is written, the widest of them */
	double flops,
		plain_flops; /* of all batches: executed; had no optimisation been taken, or 0: unknown */
	struct optimisation_tally row[OPTIMISATIONS_COUNT]; /* by enum optimisation_row */
};

/* What has been done since the evaluator was made (evaluator.h). */
void evaluator_use(const struct evaluator *ev, struct optimisation_use *out);
/* Another evaluator of the same job. */
void optimisation_use_add(struct optimisation_use *u, const struct optimisation_use *more);
/* Was any taken? */
bool optimisation_use_any(const struct optimisation_use *u);
/* "batch_rank: 9 states instead of 112 in every batch; 6.3 times fewer operations", without an end of line. Nothing
 * where it is known that they did not reduce the number of operations by a twentieth or more. */
void optimisation_use_text(const struct optimisation_use *u, struct buf *out);

/* Parts of such a text, for engines. " in every batch", or " in 3 of 40 batches". */
void optimisation_text_batches(const struct optimisation_use *u, uint64_t n, struct buf *out);
/* A mean: with one decimal where it needs any. */
void optimisation_text_number(struct buf *out, double v);
