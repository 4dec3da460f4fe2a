/* SPDX-License-Identifier: Apache-2.0
 * What the files of the cuda backend share: the launches of circuits, and memory on the device. */
#ifndef QCNN_CUDA_STATE_H
#define QCNN_CUDA_STATE_H

#include "runtime/base/arena.h"
#include "runtime/exec/statevector/cuda/cuda.h"
#include "runtime/exec/statevector/cuda/cuda_launch.h"
#include "runtime/exec/statevector/cuda/cuda_layout.h"

struct cuda_pauli {
	uint64_t flip, sign; /* bits of the state's index */
	uint32_t ny, readout;
	double coefficient;
};

struct cuda_probs {
	uint32_t readout, nbin; /* 2^nbin bins */
	uint8_t bit[CUDA_BITS_MAX];
	size_t sum; /* the first of its sums */
};

struct cuda_circuit {
	const struct plan_circuit *plan;
	unsigned nbit; /* of the state's index */
	/* Of each stage, forward; and backward, from the last to the first. */
	struct cuda_launch **forward, **back; /* (plan->nstage) */
	uint32_t *noise; /* (plan->nstep) number of the step among those of all circuits */
	uint32_t npauli;
	struct cuda_pauli *pauli; /* their sums come first, in this order */
	uint32_t nprobs;
	struct cuda_probs *probs;
	size_t nsum_readout, nsum_back;
};

struct backend_state {
	const struct plan *plan;
	bool twice, gradient;
	struct arena arena;
	struct cuda_circuit *circuit;
	cplx *u;       /* (nmatrix_entry) constant and shared matrices */
	int64_t holds; /* circuit whose final state psi is, or -1 */
	struct cuda_stream *stream;
	/* On the device, and what is copied from there. */
	void *psi, *lambda;
	void *sum; /* (1 + nsum) integers: those before are counts of bad parts */
	long long *sum_host;
	double *factor, *factor_host; /* of a readout's probabilities */
	double *vector, *vector_host; /* (nvector) complex numbers of the vectors of a start */
};

/* Sums of the device, and bad parts of them: 0 before a pass; on the host once it is done. nsum: as many as the pass has. */
static inline long long *cuda_sums(const struct backend_state *b)
{
	return (long long *)b->sum + 1;
}
static inline unsigned *cuda_bad(const struct backend_state *b) { return b->sum; }
void cuda_clear_sums(struct backend_state *b, size_t nsum);
/* False: some of them are not numbers, or the device failed. */
bool cuda_fetch_sums(struct backend_state *b, size_t nsum);
static inline double cuda_sum_value(const struct backend_state *b, size_t k)
{
	return (double)b->sum_host[1 + k] / (double)(1ll << CUDA_FIXED_BITS);
}

/* cuda_matrix.c: matrices of steps of that class into the launches, in the kernels' precision. */
void cuda_store_matrices(struct backend_state *b, struct cuda_circuit *c, bool sample, const cplx *u);

/* cuda_readout.c */
void cuda_compile_readouts(struct backend_state *b, struct cuda_circuit *c);
void cuda_readouts(struct backend_state *b, const struct cuda_circuit *c, double *readout);
/* lambda = sum dreadout O psi, divided by 2^(what is returned), so that its norm is at most 1. */
int cuda_lambda(struct backend_state *b, const struct cuda_circuit *c, const double *dreadout);
/* psi / |psi| */
void cuda_normalise(struct backend_state *b, const struct cuda_circuit *c);

#endif
