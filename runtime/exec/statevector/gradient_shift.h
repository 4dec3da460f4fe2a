/* SPDX-License-Identifier: Apache-2.0
 * Gradients from shifted circuits: the parameter-shift rule and central differences.
 *
 * Both need a plan with own_matrices; both are slow and there to check the adjoint
 * method, and for those who ask for them. */
#pragma once

#include "runtime/exec/statevector/statevector.h"

enum {
	SHIFT_USES_MAX = 1 << 20
}; /* uses of trained angles: each is at least two circuits per sample */

/* Counts the uses of trained angles in the matrices of sv's plan, for shift_unit.  -ERR_CONFIG: the circuits have more
 * than SHIFT_USES_MAX together. */
int shift_prepare(struct statevector *sv, struct err *e);

/* w->gradient[circuit weights] += the unit's gradient by parameter shift: every angle of
 * every use of a gate is shifted alone, by its row's frequencies (Wierichs et al.,
 * arXiv:2107.12390, eq. 22); exact but for rounding. */
int shift_unit(struct statevector *sv, struct scratch *w, uint32_t count, unsigned worker,
	struct err *e);

/* The same by central differences with step 1e-4 (single precision: 1e-2) for each
 * weight: the error is about step^2 / 6 times the third derivative, and the rounding of
 * a state over the step. */
void difference_unit(struct statevector *sv, struct scratch *w, uint32_t count, unsigned worker);
