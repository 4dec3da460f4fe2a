/* SPDX-License-Identifier: Apache-2.0
 * Where a thread's amplitudes are in a stage: their indices, and the samples that they are of.
 * Bit k of a register's number j is register bit k of the round (cuda_stage.h). */
#pragma once

#include "runtime/exec/statevector/cuda/cuda_complex.cuh"

/* The number that has the bits of k, the lowest first, where mask has ones. */
DEVICE constexpr int deposit(int k, int mask)
{
	int out = 0;

	for (int b = 0; b < CUDA_REGS_MAX; b++)
		if (mask >> b & 1) {
			out |= (k & 1) << b;
			k >>= 1;
		}
	return out;
}

DEVICE constexpr int count_bits(int mask)
{
	int n = 0;

	for (int b = 0; b < CUDA_REGS_MAX; b++)
		n += mask >> b & 1;
	return n;
}

/* x, as a value that the compiler cannot relate to others: what is computed from it is computed
 * again where it is needed, and holds no registers in between. */
DEVICE unsigned opaque(unsigned x)
{
#ifdef __CUDA_ARCH__
	asm volatile("" : "+r"(x));
#endif
	return x;
}

/* The index of the block's first amplitude. */
DEVICE size_t block_index(const cuda_stage_args &a)
{
	size_t at = (size_t)(blockIdx.x >> a.nouter) << a.sample_at;

	for (uint32_t k = 0; k < a.nouter; k++)
		at |= (size_t)(blockIdx.x >> k & 1) << a.outer[k];
	return at;
}

/* The xor of the columns (cuda_round) of the bits that are 1 in the thread's number. */
DEVICE unsigned thread_column(const uint16_t *column, unsigned t)
{
	unsigned out = 0;

#pragma unroll
	for (int b = 0; b < CUDA_THREAD_BITS; b++)
		out ^= (0u - (t >> b & 1)) & column[b];
	return out;
}

/* The xor of the columns of the bits that are 1 in the register's number. */
DEVICE unsigned reg_column(const uint16_t *column, unsigned j)
{
	unsigned out = 0;

#pragma unroll
	for (int b = 0; b < CUDA_REGS_MAX; b++)
		out ^= (0u - (j >> b & 1)) & column[CUDA_THREAD_BITS + b];
	return out;
}

/* The number of the sample of register 0; for register j, add reg_column(r.sample, j). */
DEVICE size_t thread_sample(const cuda_stage_args &a, const cuda_round &r, unsigned t)
{
	return (size_t)(blockIdx.x >> a.nouter) << a.nnear | thread_column(r.sample, t);
}

/* The bits of an amplitude's index that come from the thread's number. bit: load_at or save_at. */
DEVICE size_t thread_index(const uint8_t *bit, unsigned t)
{
	size_t at = 0;

	t = opaque(t);
#pragma unroll
	for (int k = 0; k < CUDA_THREAD_BITS; k++)
		at |= (size_t)(t >> k & 1) << bit[k];
	return at;
}

/* Those that come from the register's number. */
DEVICE size_t reg_index(const uint8_t *bit, int j)
{
	size_t at = 0;

#pragma unroll
	for (int k = 0; k < CUDA_REGS_MAX; k++)
		if (j >> k & 1)
			at |= (size_t)1 << bit[CUDA_THREAD_BITS + k];
	return at;
}
