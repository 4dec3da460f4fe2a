/* SPDX-License-Identifier: Apache-2.0
 * The engine of batch rank: where the encoded states of a batch span r dimensions, r of its samples
 * are evolved and everything is combined from them.
 *
 * A final state is linear in each matrix and vector of the encoding, so what is linear
 * between the samples' encodings (the products of these) is linear between their states,
 * whatever the weights: psi_s = sum_k c_sk psi_p(k), c constant.  Then readout j of sample
 * s is c_s^+ M_j c_s with M_j[k,l] = <psi_p(k)|O_j|psi_p(l)>, and the batch's gradient is
 * that of r samples with lambda_k = sum_jl A_j[k,l] O_j psi_p(l), A_j = sum_s dreadout_sj
 * conj(c_s) c_s^T.  Work units are units of basis states.
 *
 * Dimensions are read off random rank-one projections of the encodings, which are products
 * of small numbers; no state is looked at.  The states themselves are those of the engine below,
 * a state vector whose backend keeps many of them side by side. */
#pragma once

#include "runtime/exec/statevector/pauli_observables.h"
#include "runtime/exec/statevector/statevector.h"

enum {
	RANK_MAX = 256, /* dimensions */
	RANK_ENTRIES_MAX =
		1 << 22 /* numbers of the tables by readouts and pairs, of the projections' weights */
};
/* Of the states side by side. Of split states, those of all ranks together: what is computed depends neither on how many
 * processes take part nor on groups, and with several of these one process has whole states. */
#define RANK_BYTES_MAX (UINT64_C(1) << 33)

struct basis {
	struct statevector *sv; /* the engine below: its batch is that of the basis while this one evaluates */
	const struct plan *pl; /* sv's */
	bool proved;
	uint32_t r, nsample;
	struct batch whole;          /* the batch that was offered last */
	uint32_t *pivot, *row;       /* (r) places in the batch, rows of the caller's data */
	cplx *c;                     /* (nsample, r) */
	struct forms *forms;         /* (ncircuit) */
	uint32_t *first_form, nform; /* of each circuit among all; of all */
	/* Of the batch that was looked at last; in `memory`, as the tables above and below: */
	struct mem_list memory;
	double *kept; /* (nsample, ninput), NULL: not remembered */
	uint32_t nkept;
	bool kept_gradient, kept_on;
	bool keeps; /* the encoding depends on inputs alone */
	/* With these weights: */
	cplx *m, *a;      /* (nform, r, r) */
	double *dreadout; /* (nsample, nform) */
	double *value;    /* (nworker, nform) room */
	double *read;     /* (nreadout) of a sample that is checked */
	uint32_t ncached; /* states that the backend has room for side by side */
	struct arena arena;
};

/* Row number in the caller's data of a sample of the whole batch. */
static inline uint32_t whole_row(const struct basis *k, uint32_t sample)
{
	return batch_row(&k->whole, sample);
}

/* ---- batch_rank_cost.c: from the plan alone ---- */

/* NULL: it can apply, since outputs are forms, the encoding has no trained weight and is not too
 * large.  Otherwise why not, as a phrase. */
const char *rank_obstacle(const struct plan *pl, bool gradient);
/* Floating-point operations of a batch: as it is, and with a basis of r states, which is looked for each time or, where
 * the same batch comes again, once. */
double rank_cost_off(const struct plan *pl, uint32_t nsample, bool gradient);
double rank_cost_on(const struct plan *pl, uint32_t nsample, uint32_t r, bool gradient, bool again);
/* Operations executed, as plan_flops counts them. */
double rank_flops(const struct plan *pl, uint32_t nsample, uint32_t r, bool gradient);
/* The most dimensions for which it is taken; 0: never for so few samples. */
uint32_t rank_worth(const struct plan *pl, uint32_t nsample, bool gradient, bool again);

/* ---- of a batch ---- */

/* batch_rank_find.c: the basis of k->sv->batch, of at most max dimensions: *r, pivot[max], c[(nsample, max)], dense in
 * *r columns.  False where there is none, or a fault that the evaluation itself will meet. */
bool rank_find(struct basis *k, uint32_t max, uint32_t *r, uint32_t *pivot, cplx *c);

/* batch_rank_readouts.c: readouts of a sample of the whole batch from the overlaps; its gradient with respect to these;
 * the tables for the backward pass.  Functions of the engine (engine.h): basis is a struct basis. */
void rank_combine(void *basis, unsigned worker, uint32_t sample, double *readout);
void rank_gradient(void *basis, uint32_t sample, const double *dreadout);
int rank_mix(void *basis, struct err *e);
/* batch_rank_check.c: the samples whose combinations are the largest, evolved by themselves, must read the same. */
int rank_prove(struct basis *k, struct err *e);

/* Items 0 .. n-1 by all workers: fn gets k. */
static inline int basis_items(struct basis *k, uint32_t n, engine_item_fn fn, void *ctx, struct err *e)
{
	return engine_items(&engine_statevector, k->sv, n, fn, ctx, PHASE_COMBINE, e);
}
