/* SPDX-License-Identifier: Apache-2.0
 * Launches of the kernels, and the arguments of those that are no stages.
 *
 * States have 2^nbit amplitudes (re, im) by their index as stored; `twice` is double precision. Arguments are copied by the
 * call. Failures are the stream's (cuda_device.h). */
#ifndef QCNN_CUDA_LAUNCH_H
#define QCNN_CUDA_LAUNCH_H

#include "runtime/exec/statevector/cuda/cuda_device.h"
#include "runtime/exec/statevector/cuda/cuda_stage.h"

enum {
	CUDA_TERMS_MAX = 128,
	CUDA_VECTORS_MAX = CUDA_BITS_MAX,
	CUDA_NEAR_BINS = 1024 /* as many bins are summed in shared memory */
};

/* The start of a circuit: |0...0>, with vectors on some of its bits. */
struct cuda_vector {
	const double *entry; /* device: (length) re, im; further ones are 0 */
	uint64_t length;
	uint32_t nbit;
	uint8_t bit[CUDA_BITS_MAX]; /* of the state's index, the vector's lowest first */
};
struct cuda_start {
	void *psi;
	uint64_t zero; /* bits of the index that no vector has */
	uint32_t nbit, nvector;
	struct cuda_vector vector[CUDA_VECTORS_MAX];
};

/* Products of Pauli matrices: (P psi)[i] = (-i)^ny (-1)^popcount(i & sign) psi[i ^ flip]. */
struct cuda_term {
	uint64_t flip, sign;
	uint32_t ny, unused;
	double factor; /* of lambda */
};
struct cuda_readout {
	const void *psi;
	void *lambda;
	long long *sum; /* (nterm) <psi|P|psi>, added to */
	unsigned *bad;
	uint32_t nbit, nterm;
	uint32_t add, unused; /* lambda is added to, not set */
	struct cuda_term term[CUDA_TERMS_MAX];
};

/* Probabilities: bit k of the bin is bit[k] of the index. */
struct cuda_bins {
	const void *psi;
	void *lambda;
	long long *sum;       /* (2^nbin), added to */
	const double *factor; /* (2^nbin) of lambda */
	unsigned *bad;
	uint32_t nbit, nbin;
	uint32_t add, unused;
	uint8_t bit[CUDA_BITS_MAX];
};

struct cuda_scale {
	void *psi;
	double factor;
	uint32_t nbit, unused;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Before the first launch. */
void cuda_kernels_open(struct cuda_stream *s);
void cuda_launch_forward(struct cuda_stream *s, const struct cuda_stage_args *a, bool twice);
void cuda_launch_backward(struct cuda_stream *s, const struct cuda_stage_args *a, bool twice);
void cuda_launch_start(struct cuda_stream *s, const struct cuda_start *a, bool twice);
void cuda_launch_expect(struct cuda_stream *s, const struct cuda_readout *a, bool twice);
/* lambda = sum factor P psi */
void cuda_launch_lambda(struct cuda_stream *s, const struct cuda_readout *a, bool twice);
void cuda_launch_bins(struct cuda_stream *s, const struct cuda_bins *a, bool twice);
/* lambda[i] = factor[bin of i] psi[i] */
void cuda_launch_lambda_bins(struct cuda_stream *s, const struct cuda_bins *a, bool twice);
void cuda_launch_scale(struct cuda_stream *s, const struct cuda_scale *a, bool twice);

#ifdef __cplusplus
}
#endif
#endif
