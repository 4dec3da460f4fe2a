/* SPDX-License-Identifier: Apache-2.0
 * Observables of a complex128 state, in plain loops.
 *
 * psi and lambda have 2^nbit amplitudes; a circuit's outputs name bits (plan.h). */
#pragma once

#include "runtime/exec/statevector/plan/plan.h"

/* readout[c->nreadout]: expectations and probabilities, in the order of the outputs. */
void observable_readouts(const struct plan_circuit *c, const cplx *psi, double *readout);

/* lambda = sum_k dreadout[k] O_k psi. */
void observable_lambda(const struct plan_circuit *c, const cplx *psi, const double *dreadout,
	cplx *lambda);
