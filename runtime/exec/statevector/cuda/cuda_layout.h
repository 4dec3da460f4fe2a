/* SPDX-License-Identifier: Apache-2.0
 * From a stage of a plan to launches: which bits are in the tile, and which of them are registers in each round.
 *
 * Controls are never register bits where that can be avoided. Places in shared memory come from a linear map for each exchange,
 * chosen so that neither the threads that write nor those that read have bank conflicts. */
#ifndef QCNN_CUDA_LAYOUT_H
#define QCNN_CUDA_LAYOUT_H

#include "runtime/base/arena.h"
#include "runtime/exec/statevector/cuda/cuda_stage.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

/* A step in a launch. Row r of the op's matrix is row `row[r]` of the step's. */
struct cuda_placed {
	const struct plan_step *step;
	uint16_t entry; /* complex numbers before its matrix in the launch, or in each sample's */
	int16_t sum;    /* its sums in the launch, or in each sample's; or -1 */
	bool diagonal, of_sample;
	uint8_t row[MATRIX_DIM_MAX];
};

/* One launch: all of its arguments but pointers and matrices. */
struct cuda_launch {
	struct cuda_stage_args args;
	uint16_t nentry; /* complex numbers of its matrices that are no sample's */
	uint32_t nplaced;
	/* Of the backend: entries and sums of samples in the launches of the pass before it. */
	size_t entry_before, sum_before;
	struct cuda_placed placed[CUDA_OPS_MAX];
	bool idle; /* the process' part of the state is 0 still: it is left out */
	struct cuda_launch *next;
};

/* Of split states: bits of the index of a state that number processes, the highest ones, and what this process has there. The
 * index of its own part is without them. */
struct cuda_process {
	unsigned nbit;
	uint32_t number;
};

/* Samples that are computed together, as a power of two: as many as the plan's units have, and at least a tile of them. */
unsigned cuda_sample_bits(const struct plan *pl, unsigned nbit);

/* The launches of stage k of circuit c, in the order in which they are done, in memory of the arena; NULL: there is nothing to
 * do. back: of the backward pass, from behind the stage to before it. */
struct cuda_launch *cuda_layout_stage(const struct plan *pl, const struct plan_circuit *c,
	uint32_t k, bool back, struct cuda_process process, struct arena *arena);

#endif
