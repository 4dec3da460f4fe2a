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

#include "runtime/base/loss_terms.h"

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
	CUDA_JOINED_PRODUCTS_MAX = 48,
	CUDA_FACTORS_MAX = 8192, /* of a block's samples, that its tiles' shared memory holds */
	CUDA_BITS_MAX = 40       /* bits of the index of a state as stored */
};

/* Sums over blocks are integers in units of 2^-CUDA_FIXED_BITS, so that their order does not matter; within a warp or a tile
 * parts are added in a fixed order. A part of magnitude CUDA_FIXED_LIMIT or more, or one that is not a number, is left out and
 * sets a flag. */
enum { CUDA_FIXED_BITS = 56, CUDA_FIXED_LIMIT = 64 };
/* Factors of products that flip no bits are multiples of 1 / CUDA_FACTOR_UNITS, and sums of such up to 1 exact in any order. */
#define CUDA_FACTOR_UNITS 0x1p52

/* What each bit of an amplitude's number in a round has: the bits of the thread's number, then those of the register's. */
struct cuda_round {
	/* Places of amplitudes in shared memory, as columns of a matrix over GF(2): a place is the xor of the columns whose bit is 1.
	 * With xor a column can have several bits, so that neither the threads that store nor those that load meet in a bank. Get
	 * loads what the round before has stored by its put. The first round has no get, the last one no put. */
	uint16_t get[CUDA_TILE_MAX], put[CUDA_TILE_MAX];
	uint16_t sample[CUDA_TILE_MAX]; /* what it adds to the number of the sample: a power of two or 0 */
	uint8_t sample_regs, sample_lanes; /* register bits, and bits of the lane, that do */
	uint16_t first, count;             /* ops */
};

/* Where a target of a diagonal matrix is: bit of the amplitude's number in the round, CUDA_AT_BLOCK + bit of the block's number. */
enum {
	CUDA_AT_REG = CUDA_THREAD_BITS,
	CUDA_AT_BLOCK = 16,
	CUDA_AT_ONE = 254, /* the bit is 1 in this process' part of a split state */
	CUDA_AT_NOWHERE    /* the bit is 0, or there is no such target */
};

/* States that an op of the backward pass is undone on: any of them; none, where it is there for its sums alone. */
enum cuda_undo { CUDA_UNDO_PSI = 1, CUDA_UNDO_LAMBDA = 2 };

struct cuda_op {
	uint8_t targets;             /* mask of register bits; 0: diagonal */
	uint8_t ntarget;             /* diagonal: targets */
	uint8_t at[3];               /* diagonal: where they are */
	uint8_t undo;                /* backward: of enum cuda_undo */
	uint8_t of_sample;           /* each sample has its own matrix and sums */
	uint8_t reg_mask, reg_value; /* controls, where they are */
	uint8_t thread_mask, thread_value;
	/* Complex numbers before its matrix: row-major, targets ascending; diagonal: the diagonal alone. Backward it is the inverse of
	 * the gate's. */
	uint16_t entry;
	/* Backward: sums before its own (of the launch, or of the sample), or -1. They are made before it is undone; a diagonal op has
	 * eight. */
	int16_t sum;
	uint32_t block_mask, block_value;
};

/* Lambda, before the first op of a launch of the backward pass: what is stored; psi; -i psi, with which sums are the reduced density
 * matrix of the targets (P of tail_observables.h); the sum of the products times psi; or that and what is stored. */
enum cuda_lambda {
	CUDA_LAMBDA_STORED = 0,
	CUDA_LAMBDA_PSI,
	CUDA_LAMBDA_TURNED,
	CUDA_LAMBDA_PRODUCTS,
	CUDA_LAMBDA_ADDED
};

/* A product of Z: the amplitudes where an odd number of these bits are 1 change their sign. The bits are those of the block's
 * number, of the thread's, and register bits, forward of the last round, backward of the first; none of them numbers samples. */
struct cuda_product {
	uint32_t block;
	uint8_t thread, reg;
};

/* How a launch of the backward pass makes the factors of products itself (loss_terms.h): from the sums of the sample, its numbers, and of
 * each product its coefficient in a readout. */
struct cuda_loss_product {
	double coefficient;
	uint64_t readout;
};
struct cuda_loss {
	const double *number; /* (samples, LOSS_LABELS + nreadout); NULL: the host has made the factors */
	const struct cuda_loss_product *product; /* (products.n) */
	double option, unit; /* of the term; what factors are multiplied by: a power of two */
	uint16_t term, nreadout;
};

/* Forward: sums of psi as the launch leaves it. Backward: lambda, of psi as the launch finds it. The last tile is filled up with
 * samples from number nsample on, which have no sums, and factors of 0. A sample has `stride` sums or factors, those of the products
 * from `first` on (all of them, where there is a loss); before its sums is its flag: a part is not a number, or too large. */
struct cuda_products {
	long long *sum;       /* forward: (nsample, 1 + stride), added to */
	const double *factor; /* backward: (samples, stride) */
	struct cuda_loss loss;
	uint32_t nsample, stride, first;
	uint16_t n;
	uint16_t regs; /* forward: bit j is set where a product has the register bits j, except those that number samples */
	struct cuda_product product[CUDA_PRODUCTS_MAX];
};

/* Sums that blocks set to 0 before they do anything else: each has `each` of the n. */
struct cuda_clears {
	long long *sum;
	uint64_t n, each;
};

struct cuda_stage_args {
	void *psi, *lambda; /* amplitudes (re, im) by their index as stored; lambda: backward */
	long long *sum;     /* backward: (nsum), added to */
	const void *sample_matrix; /* (samples, nsample_entry) re, im */
	long long *sample_sum;     /* backward: (samples, nsample_sum), added to */
	unsigned *bad;             /* backward: the flag of its sums */
	/* Bits of the index that those of an amplitude's number in the first round are, and in the last one after the launch: it may
	 * exchange bits of the index within a tile. */
	uint8_t load_at[CUDA_TILE_MAX], save_at[CUDA_TILE_MAX];
	uint8_t outer[CUDA_BITS_MAX]; /* bits of the index that bits of the block's number are */
	uint16_t nouter;              /* bits of the block's number that do not number samples */
	uint16_t nnear;               /* bits of the sample's number that are tile bits */
	uint16_t sample_at;           /* the bit of the index where the others begin */
	uint16_t nround, nsum, nsample_entry, nsample_sum;
	uint16_t save;        /* backward: are the states written? Forward they always are. */
	/* Backward: the first nforward rounds are of the forward pass, from |0...0>, whose ops change psi alone. Behind them products are
	 * summed, by their register and thread bits in the last of them, as in products.regs and products.product. */
	uint16_t nforward, read_regs;
	struct cuda_product read[CUDA_JOINED_PRODUCTS_MAX];
	uint16_t lambda_from; /* backward: of enum cuda_lambda */
	/* Forward: bits of the index that were 0 so far. Amplitudes where one of them is 1 are 0, whatever memory has. The lowest bits,
	 * which number the amplitudes of a line of memory, are none of them except at the start: two amplitudes are loaded at once. */
	uint64_t zero;
	/* Forward, and where it is joined: the states are |0...0>, and memory has nothing yet; `zero` is then all bits except those of samples. */
	uint32_t start;
	/* Forward: those of the block's own samples, which are added to by no other block; and those that this launch does not add to. */
	struct cuda_clears own, others;
	struct cuda_products products;
	struct cuda_round round[CUDA_ROUNDS_MAX];
	struct cuda_op op[CUDA_OPS_MAX];
	union {
		float single[CUDA_MATRIX_BYTES / 4];
		double twice[CUDA_MATRIX_BYTES / 8];
	} matrix; /* re, im */
};

/* ---- sums of a matrix d x d (d * d, runtime/program/anti_hermitian.h), in the order of the kernels ----
 * With M[r,c] = sum of conj(lambda[r]) psi[c] over all bits except the targets: s[r,r] = Im M[r,r], and for c > r
 * s[r,c] = Re (M[r,c] - M[c,r]), s[c,r] = Im (M[r,c] + M[c,r]). Row r has s[r,r], then s[r,c] and s[c,r] for c > r. */

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

/* Number made of the bits bit[0], bit[1], ... of i. */
static inline CUDA_BOTH uint64_t cuda_gather(uint64_t i, const uint8_t *bit, uint32_t n)
{
	uint64_t out = 0;

	for (uint32_t k = 0; k < n; k++)
		out |= (i >> bit[k] & 1) << k;
	return out;
}
