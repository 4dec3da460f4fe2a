/* SPDX-License-Identifier: Apache-2.0
 * The target: blocks of stages that fill a tile (cuda_stage.h). */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda.h"

/* The lanes of a vector of 64 bytes are the amplitudes of a line of memory of 128; a block is a tile. */
const struct target target_cuda = { .device = "cuda",
	.kernels = "cuda",
	.version = 1,
	.capabilities = TARGET_SINGLE | TARGET_STAGES | TARGET_HEISENBERG_TAIL | TARGET_SPLIT
		| TARGET_STATE_CACHE,
	.vector_bytes = 64,
	.block_bytes = 32 << 10,
	.unit_bits = 20,
	.usual_gflop_s = 20000,
	.usual_stream_gb_s = 2000,
	.backend = &backend_cuda };
