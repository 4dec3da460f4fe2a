/* SPDX-License-Identifier: Apache-2.0
 * Arguments of the kernels, shared by host (C) and device (C++).
 *
 * A stage is run by one or more launches. A block of threads holds a tile of the state in registers: 2^12 amplitudes in single
 * precision, 16 for each of 256 threads; 2^11 in double precision, 8 for each. A tile bit is one of the tile's 12 (11) index
 * bits. In a round, `nreg` tile bits number a thread's registers and the others number the threads; ops of the round act on
 * registers alone. Between rounds amplitudes are exchanged through shared memory.
 *
 * The states of a unit's samples lie one behind the other: the highest bits of the index number the sample. Of these the
 * lowest may be tile bits, so that a tile holds many small states; the others are the highest of the block's number. */
#pragma once

#include <stdint.h>

enum {
	CUDA_THREAD_BITS = 8,
	CUDA_THREADS = 1 << CUDA_THREAD_BITS,
	CUDA_WARPS = CUDA_THREADS / 32,
	CUDA_REGS_SINGLE = 4, /* register bits in single precision */
	CUDA_REGS_DOUBLE = 3,
	CUDA_REGS_MAX = 4,
	CUDA_TILE_MAX = CUDA_THREAD_BITS + CUDA_REGS_MAX,
	CUDA_ROUNDS_MAX = 32,
	CUDA_OPS_MAX = 160,
	CUDA_SUMS_MAX = 256, /* sums of a launch of the backward pass */
	CUDA_MATRIX_BYTES = 24 << 10,
	CUDA_PRODUCTS_MAX = 128, /* products of Z that a launch reads, or makes lambda of */
	CUDA_BITS_MAX = 40       /* bits of the index of a state as stored */
};

/* Sums are integers in units of 2^-CUDA_FIXED_BITS, so that their order does not matter; a part of magnitude CUDA_FIXED_LIMIT
 * or more, or one that is not a number, is counted as bad and left out. */
enum { CUDA_FIXED_BITS = 56, CUDA_FIXED_LIMIT = 64 };

/* Places of tile bits in shared memory, as columns of a matrix over GF(2): the place of an amplitude, counted in amplitudes, is
 * the xor of the columns whose bit is 1. */
struct cuda_map {
	uint16_t reg[CUDA_REGS_MAX], thread[CUDA_THREAD_BITS];
};

struct cuda_round {
	struct cuda_map get, put; /* get: unused in the first round; put: in the last */
	uint16_t first, count;    /* ops */
	/* What a register's and a thread's bits add to the number of the sample: a power of two or 0. */
	uint16_t sample_reg[CUDA_REGS_MAX], sample_thread[CUDA_THREAD_BITS];
	uint8_t sample_regs, sample_lanes; /* register bits, and bits of the lane, that do */
};

/* Where a target of a diagonal matrix is: register bit, CUDA_AT_THREAD + thread bit, CUDA_AT_BLOCK + bit of the block's number. */
enum {
	CUDA_AT_THREAD = 8,
	CUDA_AT_BLOCK = 16,
	CUDA_AT_ONE = 254, /* the bit is 1 */
	CUDA_AT_NOWHERE    /* the bit is 0 */
};

/* What an op of the backward pass changes: both, or it is there for its sums alone. */
enum cuda_undo { CUDA_UNDO_PSI = 1, CUDA_UNDO_LAMBDA = 2 };

struct cuda_op {
	uint8_t targets;             /* mask of register bits; 0: diagonal */
	uint8_t ntarget;             /* diagonal: targets */
	uint8_t at[3];               /* diagonal: where they are */
	uint8_t undo;                /* backward: of enum cuda_undo */
	uint8_t of_sample;           /* each sample has its own matrix and sums */
	uint8_t reg_mask, reg_value; /* controls, where they are */
	uint8_t thread_mask, thread_value;
	uint16_t entry; /* complex numbers before its matrix: row-major, targets ascending; diagonal: the diagonal alone */
	int16_t sum; /* backward: sums before its own (of the launch, or of the sample), or -1 */
	uint32_t block_mask, block_value;
};

/* Lambda, before the first op of a launch of the backward pass: what is stored; psi; -i psi: sums are then those of all of P
 * (tail_observables.h); the sum of the products times psi; or that and what is stored. */
enum cuda_lambda {
	CUDA_LAMBDA_STORED = 0,
	CUDA_LAMBDA_PSI,
	CUDA_LAMBDA_TURNED,
	CUDA_LAMBDA_PRODUCTS,
	CUDA_LAMBDA_ADDED
};

/* A product of Z: the amplitudes where an odd number of these bits are 1 change their sign. The bits are those of the block's
 * number, of the thread's, and register bits; none of them numbers samples. */
struct cuda_product {
	uint32_t block;
	uint8_t thread, reg;
};

/* Forward: sums of psi as the launch leaves it. Backward: lambda, of psi as the launch finds it. Samples behind nsample have no
 * sums, and factors of 0. A sample has `stride` sums or factors, those of the products from `first` on; before its sums is a count
 * of parts that are not numbers, or too large. */
struct cuda_products {
	long long *sum;       /* forward: (nsample, 1 + stride), added to */
	const double *factor; /* backward: (samples, stride) */
	uint32_t nsample, stride, first;
	uint16_t n;
	uint16_t regs; /* forward: bit j is 1 where a product has the register bits j but those that number samples */
	struct cuda_product product[CUDA_PRODUCTS_MAX];
};

struct cuda_stage_args {
	void *psi, *lambda; /* amplitudes (re, im) by their index as stored; lambda: backward */
	long long *sum;     /* backward: (nsum), added to */
	const void *sample_matrix; /* (samples, nsample_entry) re, im */
	long long *sample_sum;     /* backward: (samples, nsample_sum), added to */
	unsigned *bad;             /* parts that are not numbers, or too large */
	uint8_t load_reg[CUDA_REGS_MAX],
		load_thread[CUDA_THREAD_BITS]; /* bits of the index of tile bits, */
	uint8_t save_reg[CUDA_REGS_MAX], save_thread[CUDA_THREAD_BITS]; /* and after the launch */
	uint8_t outer[CUDA_BITS_MAX]; /* of the bits of the block's number */
	uint16_t nouter;              /* bits of the block's number without those of samples, */
	uint16_t nnear;               /* bits of the sample's number that are tile bits; */
	uint16_t sample_at;           /* the bit of the index where the others begin */
	uint16_t nround, nsum, nsample_entry, nsample_sum;
	uint16_t save;        /* does it write the states? */
	uint16_t lambda_from; /* of enum cuda_lambda */
	/* Forward: bits of the index that were 0 so far. Amplitudes where one of them is 1 are 0, whatever memory has. Bits of a line of
	 * memory are none of them, but at the start. */
	uint64_t zero;
	uint32_t start; /* forward: the states are |0...0>, and memory has nothing yet */
	struct cuda_products products;
	struct cuda_round round[CUDA_ROUNDS_MAX];
	struct cuda_op op[CUDA_OPS_MAX];
	union {
		float single[CUDA_MATRIX_BYTES / 4];
		double twice[CUDA_MATRIX_BYTES / 8];
	} matrix; /* re, im */
};

/* ---- sums of a matrix d x d (d * d, runtime/program/anti_hermitian.h), in the order of the kernels ----
 * Row r has s[r,r], then s[r,c] and s[c,r] for c > r. */

#ifdef __CUDACC__
#define CUDA_BOTH __host__ __device__ constexpr
#else
#define CUDA_BOTH
#endif

/* Number of s[r,c] (upper) or s[c,r], where r <= c; s[r,r] is the lower one. */
static inline CUDA_BOTH int cuda_sum_number(int d, int r, int c, int upper)
{
	return r * (2 * d - r) + 2 * (c - r) - upper;
}
