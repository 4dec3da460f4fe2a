/* SPDX-License-Identifier: Apache-2.0
 * One target for each instruction set. */
#include "runtime/exec/statevector/cpu/cpu_target.h"

#include <stddef.h>

#include "runtime/exec/statevector/backend.h"

/* A block of one state: two of them are half an L2 of 1 MiB. */
enum {
	BLOCK_BYTES = 256 << 10,
	ALL = TARGET_SINGLE | TARGET_THREADS | TARGET_BATCHED | TARGET_STAGES | TARGET_FUSED_LAST
		| TARGET_SPLIT | TARGET_SPLIT_OPTIMISED | TARGET_CONSTANT_PREFIX
		| TARGET_HEISENBERG_TAIL | TARGET_STATE_CACHE
};

extern const struct contraction contraction_base;
#ifdef QCNN_X86_KERNELS
extern const struct contraction contraction_avx2, contraction_avx512;
#define CONTRACTION_X86(kernel) &contraction_##kernel
#else
#define CONTRACTION_X86(kernel) NULL
#endif
#ifdef QCNN_NEON_KERNELS
extern const struct contraction contraction_neon;
#define CONTRACTION_NEON &contraction_neon
#else
#define CONTRACTION_NEON NULL
#endif

#define ROW(isa, name, bytes, gflop_s, kernels_of_tensors) \
	[isa] = { .device = "cpu", \
		.kernels = name, \
		.version = 2, \
		.capabilities = ALL, \
		.vector_bytes = bytes, \
		.block_bytes = BLOCK_BYTES, \
		.usual_gflop_s = gflop_s, \
		.backend = &backend_cpu, \
		.contraction = kernels_of_tensors }

const struct target cpu_target_row[ISA_COUNT] = {
	ROW(ISA_BASELINE, "baseline", 16, 25, &contraction_base),
	ROW(ISA_AVX2, "avx2", 32, 80, CONTRACTION_X86(avx2)),
	ROW(ISA_AVX512, "avx512", 64, 160, CONTRACTION_X86(avx512)),
	ROW(ISA_NEON, "neon", 16, 50, CONTRACTION_NEON),
};

const struct target *cpu_target(enum isa isa) { return &cpu_target_row[isa ? isa : isa_best()]; }

enum isa cpu_target_isa(const struct target *t)
{
	return t >= cpu_target_row && t < cpu_target_row + ISA_COUNT ? (enum isa)(t - cpu_target_row) : ISA_NONE;
}

const char *cpu_target_obstacle(const struct target *t)
{
	enum isa isa = cpu_target_isa(t);

	return isa ? isa_obstacle(isa) : NULL;
}
