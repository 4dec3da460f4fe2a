/* SPDX-License-Identifier: Apache-2.0
 * Principal powers of constant gates: eigenphases in (-pi, pi], multiplied. */
#pragma once

#include "compiler/circuit.h"

/* *out = the matrix of (matrix)^power.  False when some angle is not constant
 * (*constant tells) or the gate has no exact form for it. */
bool principal_power(struct design *d, uint32_t matrix, double power, uint32_t *out, bool *constant);
