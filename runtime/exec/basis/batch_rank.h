/* SPDX-License-Identifier: Apache-2.0
 * Batch rank: where the encoded states of a batch span r dimensions, r of its samples
 * are evolved and everything is combined from them.
 *
 * A final state is linear in each matrix and vector of the encoding, so what is linear
 * between the samples' encodings (the products of these) is linear between their states,
 * whatever the weights: psi_s = sum_k c_sk psi_p(k), c constant.  Then readout j of sample
 * s is c_s^+ M_j c_s with M_j[k,l] = <psi_p(k)|O_j|psi_p(l)>, and the batch's gradient is
 * that of r samples with lambda_k = sum_jl A_j[k,l] O_j psi_p(l), A_j = sum_s slope_sj
 * conj(c_s) c_s^T.  Work units are units of basis samples.
 *
 * Dimensions are read off random rank-one projections of the encodings, which are products
 * of small numbers; no state is looked at. */
#ifndef QCNN_RANK_H
#define QCNN_RANK_H

#include "runtime/exec/statevector/statevector.h"

enum {
	RANK_MAX = 256,              /* dimensions */
	RANK_ENTRIES_MAX = 1 << 22   /* numbers of the tables by readouts and pairs, of the projections' weights */
};
#define RANK_BYTES_MAX (UINT64_C(1) << 33)   /* of the states side by side */

struct rank;

/* ---- from the plan alone ---- */

/* Can it apply?  Outputs are forms, the encoding has no trained weight and is not too
 * large.  Otherwise *why is a phrase. */
bool rank_possible(const struct plan *pl, bool gradient, const char **why);
/* Floating-point operations of a batch: as it is, and with a basis of r states, which is looked for each time or, where
 * the same batch comes again, once. */
double rank_cost_off(const struct plan *pl, uint32_t nsample, bool gradient);
double rank_cost_on(const struct plan *pl, uint32_t nsample, uint32_t r, bool gradient, bool again);
/* Operations executed, as plan_flops counts them. */
double rank_flops(const struct plan *pl, uint32_t nsample, uint32_t r, bool gradient);
/* Could a batch of so many samples have one, with or without a gradient?  Else it may come without inputs. */
bool rank_looks(const struct evaluator *ev, uint32_t nsample);
/* The most dimensions for which it is taken; 0: never for so few samples. */
uint32_t rank_worth(const struct plan *pl, uint32_t nsample, bool gradient, bool again);

/* The line of each allowed shortcut into pl->shortcut: predicted costs with and without. */
void plan_shortcuts(struct plan *pl, unsigned allowed);

/* ---- of an evaluator ---- */

/* ev->rank, NULL where the shortcut cannot apply. */
int rank_new(struct evaluator *ev, struct err *e);
void rank_free(struct rank *k);
/* ev->batch is the caller's; where the shortcut applies it becomes that of the basis. */
void rank_prepare(struct evaluator *ev);
bool rank_on(const struct evaluator *ev);
/* Dimensions and samples of the prepared batch; false when it is not taken. */
bool rank_size(const struct evaluator *ev, uint32_t *r, uint32_t *nsample);
/* All before the backward pass: basis states, readouts of all samples, slopes.  Once a call of prepare
 * and weights.  With the evaluator's threads. */
int rank_begin(struct evaluator *ev, struct err *e);
/* The whole batch: begin, the backward pass, and sums into ev->sum. */
int rank_run(struct evaluator *ev, struct err *e);
/* A unit of basis samples, as evaluator_unit; begins where nobody has. */
int rank_unit(struct evaluator *ev, unsigned worker, uint32_t unit, struct fixed *v, struct err *e);
/* New weights: what was begun is over. */
void rank_weights(struct evaluator *ev);

#endif
