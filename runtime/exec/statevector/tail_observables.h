/* SPDX-License-Identifier: Apache-2.0
 * Readouts behind a heisenberg_tail U as matrices on its qubits.
 *
 * P[k,c] = sum conj(psi[k]) psi[c] over what U does not touch, psi being the state before U. With the matrices O_j of the
 * readouts, y_j = constant_j + sum_kc (U^+ O_j U)[k,c] P[k,c]; lambda = U^+ D U psi, D = sum_j dreadout_j O_j; and U's own reduced
 * transition matrix (anti_hermitian.h) is sum_kl conj((D U)[r,k]) P[k,l] U[c,l]. Matrices are (d, d) row-major. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/exec/statevector/plan/plan.h"

struct tail_observables {
	const struct plan_step *step;
	unsigned d;
	uint32_t nreadout;
	cplx *o, *ou, *uou; /* (nreadout, d, d) O_j, O_j U, U^+ O_j U */
	double *constant;   /* (nreadout) */
};

/* Of a circuit that has a tail (plan_has_tail), in memory of the arena. */
void tail_observables_init(struct tail_observables *t, const struct plan_circuit *c,
	struct arena *arena);
/* u: the matrix U. Sets ou and uou. */
void tail_observables_absorb(struct tail_observables *t, const cplx *u);
/* sum[d * d] += what readout j contributes; g[d * d]: P of all samples, times their dreadout_j. */
void tail_observables_add(const struct tail_observables *t, uint32_t j, const cplx *g, cplx *sum);
/* Adds U's own reduced transition matrix, from that sum. */
void tail_observables_gradient(const struct tail_observables *t, const cplx *sum, const cplx *u,
	double *anti_hermitian);
