/* SPDX-License-Identifier: Apache-2.0
 * Where a thread's amplitudes are in a stage: indices, numbers of samples. Register j has bit k where bit k of j is register bit k of
 * the round. */
#pragma once

#include "runtime/exec/statevector/cuda/cuda_complex.cuh"

/* Bits of k at the places that are 1 in mask, the lowest first. */
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

/* x, of which the compiler knows nothing: what is made of it is made where it is used, and takes no registers in between. */
DEVICE unsigned opaque(unsigned x)
{
#ifdef __CUDA_ARCH__
	asm volatile("" : "+r"(x));
#endif
	return x;
}

/* Index of the block's first amplitude. */
DEVICE size_t block_index(const cuda_stage_args &a)
{
	size_t at = (size_t)(blockIdx.x >> a.nouter) << a.sample_at;

	for (uint32_t k = 0; k < a.nouter; k++)
		at |= (size_t)(blockIdx.x >> k & 1) << a.outer[k];
	return at;
}

/* The xor of the columns of a round whose bits are 1 in the thread's number, */
DEVICE unsigned thread_column(const uint16_t *column, unsigned t)
{
	unsigned out = 0;

#pragma unroll
	for (int b = 0; b < CUDA_THREAD_BITS; b++)
		out ^= (0u - (t >> b & 1)) & column[b];
	return out;
}

/* and in the register's. */
DEVICE unsigned reg_column(const uint16_t *column, unsigned j)
{
	unsigned out = 0;

#pragma unroll
	for (int b = 0; b < CUDA_REGS_MAX; b++)
		out ^= (0u - (j >> b & 1)) & column[CUDA_THREAD_BITS + b];
	return out;
}

/* Number of the sample that the thread's register 0 is of; to that of register j, reg_column is added. */
DEVICE size_t thread_sample(const cuda_stage_args &a, const cuda_round &r, unsigned t)
{
	return (size_t)(blockIdx.x >> a.nouter) << a.nnear | thread_column(r.sample, t);
}

/* Bits of the index: those of the thread, */
DEVICE size_t thread_index(const uint8_t *bit, unsigned t)
{
	size_t at = 0;

	t = opaque(t);
#pragma unroll
	for (int k = 0; k < CUDA_THREAD_BITS; k++)
		at |= (size_t)(t >> k & 1) << bit[k];
	return at;
}

/* and those of register j. */
DEVICE size_t reg_index(const uint8_t *bit, int j)
{
	size_t at = 0;

#pragma unroll
	for (int k = 0; k < CUDA_REGS_MAX; k++)
		if (j >> k & 1)
			at |= (size_t)1 << bit[CUDA_THREAD_BITS + k];
	return at;
}
