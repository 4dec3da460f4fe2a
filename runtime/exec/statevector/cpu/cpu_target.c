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

const struct target cpu_target_row[ISA_COUNT] = {
	[ISA_BASELINE] = { "cpu", "baseline", 2, ALL, 16, BLOCK_BYTES, 25, &backend_cpu },
	[ISA_AVX2] = { "cpu", "avx2", 2, ALL, 32, BLOCK_BYTES, 80, &backend_cpu },
	[ISA_AVX512] = { "cpu", "avx512", 2, ALL, 64, BLOCK_BYTES, 160, &backend_cpu },
	[ISA_NEON] = { "cpu", "neon", 2, ALL, 16, BLOCK_BYTES, 50, &backend_cpu },
};

const struct target *const cpu_targets[CPU_TARGETS] = { &cpu_target_row[ISA_BASELINE],
	&cpu_target_row[ISA_AVX2], &cpu_target_row[ISA_AVX512], &cpu_target_row[ISA_NEON] };

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
