/* SPDX-License-Identifier: Apache-2.0
 * From a stage of a plan to launches: which bits are in the tile, and which of them are registers in each round.
 *
 * Controls are never register bits where that can be avoided. Places in shared memory come from a linear map for each exchange,
 * chosen so that neither the threads that write nor those that read have bank conflicts. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/exec/statevector/cuda/cuda_stage.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

/* A step in a launch, and its op. Row r of the op's matrix is row `row[r]` of the step's. */
struct cuda_placed {
	const struct plan_step *step;
	const struct cuda_op *op;
	bool diagonal;
	bool back; /* its matrix is the inverse */
	bool tail; /* its matrix is what makes lambda of psi (cuda_tail.c) */
	uint8_t row[MATRIX_DIM_MAX];
};

/* One launch: all of its arguments but pointers and matrices. */
struct cuda_launch {
	struct cuda_stage_args args;
	uint16_t nentry; /* complex numbers of its matrices that are no sample's */
	uint32_t nplaced;
	/* Of the backend: entries and sums of samples in the launches of the pass before it. */
	size_t entry_before, sum_before;
	char *matrix_host; /* what args.sample_matrix is copied from */
	bool makes_lambda; /* one of its steps does, by a matrix of each sample */
	struct cuda_placed placed[CUDA_OPS_MAX];
	bool idle; /* the process' part of the state is 0 still: it is left out */
	uint64_t bits; /* of the circuit that its blocks have: amplitudes where another is 1 are left out */
	struct cuda_launch *next;
};

/* Of split states: bits of the index of a state that number processes, the highest ones, and what this process has there. The
 * index of its own part is without them. */
struct cuda_process {
	unsigned nbit;
	uint32_t number;
};

/* Bits of the index of a tile, and those of its registers. */
static inline unsigned cuda_reg_bits(const struct plan *pl)
{
	return pl->precision == PRECISION_DOUBLE ? CUDA_REGS_DOUBLE : CUDA_REGS_SINGLE;
}
static inline unsigned cuda_tile_bits(const struct plan *pl)
{
	return CUDA_THREAD_BITS + cuda_reg_bits(pl);
}

/* Samples that are computed together, as a power of two: as many as the plan's units have, and at least a tile of them. */
unsigned cuda_sample_bits(const struct plan *pl, unsigned nbit);

/* Launches of a stage. Forward, memory has the amplitudes whose bits of the circuit outside `stored` are 0, and all others are 0;
 * where `stored` is empty, there is no state yet. The backward pass goes from behind the stage to before it. TAIL: of a last stage,
 * without the step that is a heisenberg_tail; back, they begin with what makes lambda of psi. TAIL_SUMS: P alone, of the states that
 * TAIL_FORWARD leaves. */
enum cuda_sweep {
	CUDA_FORWARD = 0,
	CUDA_BACKWARD,
	CUDA_TAIL_FORWARD,
	CUDA_TAIL_BACKWARD,
	CUDA_TAIL_SUMS
};
static inline bool cuda_goes_back(enum cuda_sweep pass)
{
	return pass != CUDA_FORWARD && pass != CUDA_TAIL_FORWARD;
}

/* Places in shared memory of an exchange: from and to are the tile bits that the bits of an amplitude's number in a round are, before and
 * after it; put and get are columns, as in a round. */
void cuda_layout_exchange(const struct plan *pl, const uint8_t *from, const uint8_t *to,
	uint16_t *put, uint16_t *get);

/* The launches of stage k of circuit c, in the order in which they are done, in memory of the arena; NULL: there is nothing to do. */
struct cuda_launch *cuda_layout_stage(const struct plan *pl, const struct plan_circuit *c, uint32_t k,
	enum cuda_sweep pass, uint64_t stored, struct cuda_process process, struct arena *arena);
