/* SPDX-License-Identifier: Apache-2.0
 * Reduced transition matrices, as far as gradients of unitary matrices need them.
 *
 * The reduced transition matrix of a step is Y[r,c] = sum conj(lambda[r]) psi[c] over what the step leaves alone, both states being those
 * behind it. A unitary U changes by dU = i A U, A Hermitian, and so dL = -2 Im sum A[r,c] Y[r,c]: the part of Y that equals
 * its own conjugate transpose gives nothing, and d * d real numbers are all that is needed:
 *
 *     s[r d + c] = Re(Y[r,c] - Y[c,r]),  s[c d + r] = Im(Y[r,c] + Y[c,r])  for r < c,  s[r d + r] = Im Y[r,r].
 *
 * (Jones and Gacon, arXiv:2009.02823, have the sums over states; the rest is trace algebra.) */
#pragma once

#include "runtime/base/maths.h"

/* s[d * d] += of y[d * d]. */
static inline void anti_hermitian_add(unsigned d, const cplx *y, double *s)
{
	for (unsigned r = 0; r < d; r++) {
		s[r * d + r] += cimag(y[r * d + r]);
		for (unsigned c = r + 1; c < d; c++) {
			s[r * d + c] += creal(y[r * d + c]) - creal(y[c * d + r]);
			s[c * d + r] += cimag(y[r * d + c]) + cimag(y[c * d + r]);
		}
	}
}

/* A reduced transition matrix that has this s: its lower triangle is 0. */
static inline void anti_hermitian_transition(unsigned d, const double *s, cplx *y)
{
	for (unsigned r = 0; r < d; r++)
		for (unsigned c = 0; c < d; c++)
			y[r * d + c] = r < c ? cplx_of(s[r * d + c], s[c * d + r]) : r == c ? cplx_of(0, s[r * d + r]) : 0;
}
