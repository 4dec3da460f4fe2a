/* SPDX-License-Identifier: Apache-2.0
 * The adjoint method around a backend: readout gradients in, reduced transition matrices out, and from the
 * sums of reduced transition matrices to the gradient.
 *
 * Reduced transition matrices of shared matrices are summed over units and run in reverse once a
 * step; those of per-sample matrices run in reverse here, sample by sample. */
#pragma once

#include "runtime/exec/statevector/statevector.h"

/* Backward sweeps of a unit whose forward and readout gradients are done; w->anti_hermitian_shared and
 * w->gradient get what lay_out lists. */
void adjoint_unit(struct statevector *sv, struct scratch *w, uint32_t count, unsigned worker);

/* What is left of that behind the sweeps. */
void adjoint_samples(const struct statevector *sv, struct scratch *w, uint32_t count);

/* Reduced transition matrices of the scratch that are added to: 0. */
void adjoint_clear(const struct statevector *sv, struct scratch *w);

/* v[nvector] from the scratch; -ERR_NOT_FINITE where a number cannot be summed. */
int adjoint_vector(const struct statevector *sv, const struct scratch *w, uint32_t first,
	uint32_t count, struct fixed *v, struct err *e);
