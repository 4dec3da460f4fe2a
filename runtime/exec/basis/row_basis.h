/* SPDX-License-Identifier: Apache-2.0
 * Which rows of a matrix span the others, and by which coefficients.
 *
 * Gram-Schmidt with the largest rest first, then exchanges until no coefficient is
 * large (a basis of nearly the largest volume: Goreinov, Tyrtyshnikov, Zamarashkin,
 * Linear Algebra Appl. 261 (1997)), so that combining rows loses no accuracy. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "runtime/base/maths.h"

/* y: (n, 2, ncol) row-major, real parts before imaginary ones of each row; destroyed.
 * pivot[max]: the rows of the basis; c[(n, max)]: row s is sum_k c[s * *rank + k] y[pivot[k]],
 * dense in *rank columns, basis rows exact, what is below rounding exactly 0.  *rank is
 * max + 1, and the rest undefined, where the rows span more than max dimensions.
 * False: no memory. */
bool rank_basis(uint32_t n, uint32_t ncol, double *y, uint32_t max, uint32_t *rank, uint32_t *pivot,
	cplx *c);
