/* SPDX-License-Identifier: Apache-2.0
 * The reference backend: complex128, one plain loop per gate, serial.
 *
 * Slow and obvious on purpose: it is what every other backend is compared with. */
#pragma once

#include "runtime/exec/statevector/backend.h"

/* The vector v[length], zero-padded, on the step's bits; they hold 0 before. */
void ref_load(const struct plan_step *s, unsigned nbit, const cplx *v, uint32_t length, cplx *psi);
