/* SPDX-License-Identifier: Apache-2.0
 * Arguments of the kernels of a stage, shared by host (C) and device (C++).
 *
 * A stage is one launch or several. Each block of 256 threads holds a tile of the state in
 * registers: 2^12 amplitudes in single precision, 16 in each thread; 2^11 in double precision, 8
 * in each. The tile bits are the 12 (11) bits of the index in which amplitudes of a tile differ.
 *
 * A launch consists of rounds. In each, CUDA_REGS_SINGLE (CUDA_REGS_DOUBLE) of the tile bits
 * number the registers of a thread and the other 8 number the threads: an amplitude's number in
 * the round has the 8 thread bits, then the register bits. Targets of dense matrices are
 * register bits, so ops need no other thread's amplitudes. Between rounds amplitudes are
 * exchanged through shared memory.
 *
 * The states of a unit's samples are stored one after the other: the highest bits of the index
 * are the sample's number. A tile holds several samples where states are smaller than a tile:
 * the lowest bits of the sample's number are then tile bits. Its other bits are the highest ones
 * of the block's number. */
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
	CUDA_PRODUCTS_MAX = 128,       /* products of Z in a launch */
	CUDA_JOINED_PRODUCTS_MAX = 48, /* in a launch that does both passes */
	CUDA_FACTORS_MAX = 8192, /* factors of a block's samples: they fit into its shared memory */
	CUDA_BITS_MAX = 40       /* bits of the index of a state as stored */
};

/* Sums over blocks are integers in units of 2^-CUDA_FIXED_BITS, so that they do not depend on the
 * order of the blocks; within a warp or a tile, terms are added in a fixed order. A term whose
 * magnitude is CUDA_FIXED_LIMIT or more, or which is not a number, is left out and sets a flag. */
enum { CUDA_FIXED_BITS = 56, CUDA_FIXED_LIMIT = 64 };
/* Factors of products of Z are multiples of 1 / CUDA_FACTOR_UNITS: sums of them are exact in double
 * precision, and independent of order, up to a magnitude of 1. */
#define CUDA_FACTOR_UNITS 0x1p52

/* A round. Arrays have an element for each bit of an amplitude's number in the round. */
struct cuda_round {
	/* Where an amplitude is in shared memory: at the xor of the elements (columns of a matrix
	 * over GF(2)) of the bits that are 1 in its number. The columns are chosen so that there
	 * are no bank conflicts when a round stores (put) and the next one loads (get). The first
	 * round has no get, the last one no put. */
	uint16_t get[CUDA_TILE_MAX], put[CUDA_TILE_MAX];
	uint16_t sample[CUDA_TILE_MAX]; /* what the bit adds to the sample's number, or 0 */
	uint8_t sample_regs;            /* mask of the register bits that number samples */
	uint8_t sample_lanes;           /* mask of the bits of the lane (thread % 32) that do */
	uint16_t first, count;          /* ops */
};

/* The bit that is a target of a diagonal matrix: a thread bit; CUDA_AT_REG + register bit;
 * CUDA_AT_BLOCK + bit of the block's number; or a constant. */
enum {
	CUDA_AT_REG = CUDA_THREAD_BITS,
	CUDA_AT_BLOCK = 16,
	CUDA_AT_ONE = 254, /* the bit is 1 in this process' part of a split state */
	CUDA_AT_NOWHERE    /* the bit is 0, or the matrix has fewer targets */
};

/* The states that an op of the backward kernel changes; none where only its sums are needed. */
enum cuda_undo { CUDA_UNDO_PSI = 1, CUDA_UNDO_LAMBDA = 2 };

/* A matrix on register bits, or a diagonal one on any bits, under controls. */
struct cuda_op {
	uint8_t targets;             /* mask of register bits; 0: the matrix is diagonal */
	uint8_t ntarget;             /* diagonal: number of targets */
	uint8_t at[3];               /* diagonal: the bits that are targets (CUDA_AT_REG ...) */
	uint8_t undo;                /* backward: of enum cuda_undo */
	uint8_t of_sample;           /* each sample has its own matrix and sums */
	uint8_t reg_mask, reg_value; /* controls that are register bits, and their values */
	uint8_t thread_mask, thread_value;
	/* The first entry among the matrices of the launch, or of a sample: row-major, targets
	 * ascending; of a diagonal matrix the diagonal alone. In the rounds of the backward pass it
	 * is the inverse of the gate's matrix. */
	uint16_t entry;
	/* Backward: the first of the op's sums among those of the launch, or of a sample; -1: it
	 * has none. They are made before the op changes psi and lambda; a diagonal op has 8. */
	int16_t sum;
	uint32_t block_mask, block_value; /* controls that are bits of the block's number */
};

/* What lambda is before the first op of a launch of the backward pass. */
enum cuda_lambda {
	CUDA_LAMBDA_STORED = 0, /* what memory holds */
	CUDA_LAMBDA_PSI,
	CUDA_LAMBDA_MINUS_I_PSI, /* then sums give P of tail_observables.h */
	CUDA_LAMBDA_PRODUCTS,    /* the sum over the products of factor P psi */
	CUDA_LAMBDA_ADDED        /* that, added to what memory holds */
};

/* A product P of Z: masks of its bits in the block's number, and of the thread and register bits
 * (of the last round in the forward pass, of the first one in the backward pass). P changes the
 * sign of amplitudes in which an odd number of them are 1. Bits of the sample's number are not
 * among them. */
struct cuda_product {
	uint32_t block;
	uint8_t thread, reg;
};

/* The loss, where a launch of the backward pass computes its gradient, and from that the factors of
 * the products (loss_factor in cuda_products.cuh): readouts are sums of the products' expectations
 * times their coefficients. */
struct cuda_loss_product {
	double coefficient;
	uint32_t readout;
	uint16_t first, end; /* products of this readout: those from `first` to `end` - 1 */
};
struct cuda_loss {
	/* (samples, LOSS_LABELS + nreadout): loss_terms.h; NULL: the host computes the factors. */
	const double *number;
	const struct cuda_loss_product *product; /* (products.n) */
	double option;                           /* of the loss */
	double unit; /* factors are multiplied by this power of two (2^-exponent of cuda_circuit) */
	uint16_t term, nreadout; /* term: of enum loss_term */
};

/* Products of Z. A forward launch adds their expectations, in the states that it leaves, to the
 * sums; a backward launch makes lambda of the states that it finds, and of the factors. For each
 * sample memory has a flag, set where a term of a sum is not a number or too large, and `stride`
 * sums; and `stride` factors. The first product's is number `first` (0 where there is a loss). The
 * last tile may have samples from number nsample on: they have no sums, and factors of 0. */
struct cuda_products {
	long long *sum; /* (nsample, 1 + stride): forward added to, backward read for a loss */
	const double *factor; /* backward, of the host: (samples, stride) */
	struct cuda_loss loss;
	uint32_t nsample, stride, first;
	uint16_t n;
	/* Forward: bit j is set if register j will hold the expectation of a product: bits of j are
	 * those of its `reg`, with any bits of samples. */
	uint16_t regs;
	struct cuda_product product[CUDA_PRODUCTS_MAX];
};

/* Sums that a launch sets to 0 before anything else: each block its `each` of the n. */
struct cuda_clears {
	long long *sum;
	uint64_t n, each;
};

struct cuda_stage_args {
	void *psi, *lambda; /* amplitudes (re, im) by their index as stored; lambda: backward */
	long long *sum;     /* backward: (nsum), added to */
	const void *sample_matrix; /* (samples, nsample_entry) re, im */
	long long *sample_sum;     /* backward: (samples, nsample_sum), added to */
	unsigned *bad;             /* backward: the flag of both kinds of sums */
	/* The bit of the index that each bit of an amplitude's number is: in the first round, where
	 * amplitudes are loaded, and in the last one, where they are saved. They can be other bits
	 * of the same tile: a launch may permute them. */
	uint8_t load_at[CUDA_TILE_MAX], save_at[CUDA_TILE_MAX];
	uint8_t outer[CUDA_BITS_MAX]; /* bits of the index that bits of the block's number are */
	uint16_t nouter;              /* bits of the block's number that do not number samples */
	uint16_t nnear;               /* bits of the sample's number that are tile bits */
	uint16_t sample_at;           /* the bit of the index where its other bits begin */
	uint16_t nround, nsum, nsample_entry, nsample_sum;
	uint16_t save; /* backward: whether the states are written; forward they always are */
	/* A launch that does both passes: the first nforward rounds are those of the forward pass
	 * from |0...0>; their ops change psi alone. Then the kernel sums the expectations of the
	 * products by `read` and read_regs, which are products.product and .regs in the last of
	 * these rounds. */
	uint16_t nforward, read_regs;
	struct cuda_product read[CUDA_JOINED_PRODUCTS_MAX];
	uint16_t lambda_from; /* backward: of enum cuda_lambda */
	/* Forward: amplitudes where one of these bits of the index is 1 are 0, and are not read:
	 * memory may hold anything. The lowest bits, which number the amplitudes of a line of
	 * memory, are among them only at the start: two amplitudes are loaded at once. */
	uint64_t zero;
	/* Forward pass: whether it begins with |0...0>; memory then has no state yet, and `zero`
	 * has all bits but those of the sample's number. */
	uint32_t start;
	/* Forward, sums to clear: those of the block's own samples, which no other block adds to;
	 * and those that this launch does not add to. */
	struct cuda_clears own, others;
	struct cuda_products products;
	struct cuda_round round[CUDA_ROUNDS_MAX];
	struct cuda_op op[CUDA_OPS_MAX];
	union {
		float single[CUDA_MATRIX_BYTES / 4];
		double twice[CUDA_MATRIX_BYTES / 8];
	} matrix; /* re, im */
};

/* ---- the d * d sums of a matrix d x d (anti_hermitian.h), in the order of the kernels ----
 * With M[r,c] = sum of conj(lambda[r]) psi[c] over all bits except the targets: s[r,r] = Im M[r,r],
 * and for c > r: s[r,c] = Re (M[r,c] - M[c,r]), s[c,r] = Im (M[r,c] + M[c,r]).
 * They are numbered s[0,0], s[0,1], s[1,0], s[0,2], s[2,0] ..., s[1,1], s[1,2], s[2,1] ... */

#ifdef __CUDACC__
#define CUDA_BOTH __host__ __device__ constexpr
#else
#define CUDA_BOTH
#endif

/* For r <= c, the number of s[r,c] (upper: 1) or of s[c,r] (upper: 0); of s[r,r]: upper is 0. */
static inline CUDA_BOTH int cuda_sum_number(int d, int r, int c, int upper)
{
	return r * (2 * d - r) + 2 * (c - r) - upper;
}

/* The number whose bit k is bit bit[k] of i, for k < n. */
static inline CUDA_BOTH uint64_t cuda_gather(uint64_t i, const uint8_t *bit, uint32_t n)
{
	uint64_t out = 0;

	for (uint32_t k = 0; k < n; k++)
		out |= (i >> bit[k] & 1) << k;
	return out;
}
