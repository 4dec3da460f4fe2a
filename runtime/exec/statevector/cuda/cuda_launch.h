/* SPDX-License-Identifier: Apache-2.0
 * Launches of the kernels, and the arguments of those that are no stages.
 *
 * The states of nsample samples lie one behind the other, each of 2^nbit amplitudes (re, im) by their index as stored; `twice`
 * is double precision. Arguments are copied by the call. Failures are the stream's (cuda_device.h). */
#pragma once

#include "runtime/exec/statevector/cuda/cuda_device.h"
#include "runtime/exec/statevector/cuda/cuda_stage.h"

enum {
	CUDA_TERMS_MAX = 128,
	CUDA_VECTORS_MAX = CUDA_BITS_MAX,
	CUDA_MIX_ROWS = 8,      /* states of a mixture that a thread computes together */
	CUDA_OVERLAP_SIDE = 16, /* states on each side of a block of overlaps */
	CUDA_CHUNK_BITS = 11    /* a block has 2^11 amplitudes of one sample, or all of them */
};

/* The start of a circuit: |0...0>, with vectors on some of its bits. */
struct cuda_vector {
	const double *entry; /* device: re, im of the first sample's; `length` of them, further ones are 0 */
	uint64_t length;
	uint32_t nbit;
	uint8_t bit[CUDA_BITS_MAX]; /* of the state's index, the vector's lowest first */
};
struct cuda_start {
	void *psi;
	uint64_t first; /* what the bits of the index above nbit are: others where states are split */
	uint64_t zero; /* bits of the index that no vector has */
	uint64_t stride; /* complex numbers of all vectors of a sample: the next sample's are as far behind */
	uint32_t nbit, nsample, nvector;
	struct cuda_vector vector[CUDA_VECTORS_MAX];
};

/* The amplitudes of a block: bits at[] of the index are those of the amplitude's number in the
 * chunk, bits other[] those of the block's number. Both ascend. */
struct cuda_chunk {
	uint8_t at[CUDA_CHUNK_BITS], other[CUDA_BITS_MAX];
};

/* Products of Pauli matrices: (P psi)[i] = (-i)^ny (-1)^popcount(i & sign) psi[i ^ flip]. */
struct cuda_term {
	uint64_t flip, sign;
	uint8_t ny;
	/* Set by the launch: whether the product flips bits that a chunk has not; flip and sign
	 * within a chunk. */
	uint8_t is_far;
	uint16_t near_flip, near_sign;
};

/* Readouts. A sample has `stride` sums, those of its terms or bins from `first` on; before them is its flag: a part is
 * not a number, or too large. Factors of lambda are numbered alike, without that flag. */
struct cuda_readout {
	const void *psi;
	void *lambda;
	long long *sum;       /* (nsample, 1 + stride), added to */
	const double *factor; /* (nsample, stride) */
	uint32_t nbit, nsample, stride, first;
	uint32_t part_bits; /* chunks have some of the lowest part_bits bits of the index: the same in all parts of split states */
	uint32_t add; /* lambda is added to, not set */
};
/* <psi|P|psi> */
struct cuda_terms {
	struct cuda_readout to;
	uint32_t nterm, parts; /* the launch sets parts and chunk */
	struct cuda_chunk chunk;
	struct cuda_term term[CUDA_TERMS_MAX];
};
/* Probabilities: bit k of the bin is bit[k] of the index. The launch sets the rest: the bins of a
 * chunk's amplitudes differ in bits near_bin[] of their number, which are bits near_at[] of an
 * amplitude's number in the chunk (near_mask); bits warp_at[] of it number warps whose bins are the same. */
struct cuda_bins {
	struct cuda_readout to;
	uint32_t nbin;
	uint8_t bit[CUDA_BITS_MAX];
	struct cuda_chunk chunk;
	uint8_t near_at[CUDA_CHUNK_BITS], near_bin[CUDA_CHUNK_BITS];
	uint32_t nnear, near_mask;
	uint8_t warp_at[CUDA_THREAD_BITS - 5];
	uint32_t nwarp;
};

/* A product of Pauli matrices of a sum of such, number `form`. */
struct cuda_form_term {
	struct cuda_term term;
	double coefficient;
	uint32_t form, unused;
};

/* <state k|P|state l> of states side by side, for k <= l: each state is 2^nbit amplitudes. Blocks of CUDA_OVERLAP_SIDE states by as
 * many are numbered (0,0), (0,1), (1,1), (0,2) ...; the launch does numbers first, first + step, ... */
struct cuda_overlaps {
	const void *state;
	long long *sum; /* a flag of bad parts, then (nterm, nstate, nstate) re, im; added to */
	uint32_t nbit, nstate, nterm, first, step;
	struct cuda_term term[CUDA_TERMS_MAX];
};
/* lambda k = sum over terms and states l of factor[form, l, k] coefficient P state l, for k < nlambda. */
struct cuda_mixture {
	const void *state;
	void *lambda;
	const void *factor; /* (nform, nstate, nlambda up to a multiple of CUDA_MIX_ROWS) re, im in the kernel's precision */
	uint32_t nbit, nstate, nlambda, nterm;
	uint32_t add; /* lambda is added to, not set */
	struct cuda_form_term term[CUDA_TERMS_MAX];
};

/* Digests of `nplace` places of nword words each, side by side: sums of what a word and its number, from first on, are mixed to. */
struct cuda_digest {
	const uint64_t *data;
	unsigned long long *sum; /* (nplace), added to; not of `own` */
	uint64_t nword, first;
	uint32_t nplace, own;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Before the first launch. */
void cuda_kernels_open(struct cuda_stream *s);
/* Whether one launch has chunks in which all products stay that flip no other bits than these. */
bool cuda_flips_fit(uint64_t flip, uint32_t part_bits);
/* nblock: as many as the samples that are computed have. */
void cuda_launch_stage(struct cuda_stream *s, const struct cuda_stage_args *a, uint64_t nblock,
	bool back, bool twice);
void cuda_launch_start(struct cuda_stream *s, const struct cuda_start *a, bool twice);
/* Expectations; or lambda = sum factor P psi. */
void cuda_launch_terms(struct cuda_stream *s, const struct cuda_terms *a, bool lambda, bool twice);
void cuda_launch_bins(struct cuda_stream *s, const struct cuda_bins *a, bool twice);
/* lambda[i] = factor[bin of i] psi[i]; they may be the same state. */
void cuda_launch_lambda_bins(struct cuda_stream *s, const struct cuda_bins *a, bool twice);
void cuda_launch_digest(struct cuda_stream *s, const struct cuda_digest *a);
void cuda_launch_overlaps(struct cuda_stream *s, const struct cuda_overlaps *a, bool twice);
void cuda_launch_mixture(struct cuda_stream *s, const struct cuda_mixture *a, bool twice);

#ifdef __cplusplus
}
#endif
