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
#include "runtime/program/matrix.h"

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

/* to[d * d] += that of a matrix U, from the sum s[d * d] of a step that does U^+: as d(U^+) = -U^+ dU U^+, of Y = -conj(U) Y' U^T. */
static inline void anti_hermitian_add_adjoint(unsigned d, const cplx *u, const double *s, double *to)
{
	cplx y[MATRIX_ENTRIES_MAX], part[MATRIX_ENTRIES_MAX] = { 0 },
				    whole[MATRIX_ENTRIES_MAX] = { 0 };

	anti_hermitian_transition(d, s, y);
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++)
			for (unsigned k = 0; k < d; k++)
				part[i * d + j] += cplx_mul(y[i * d + k], u[j * d + k]);
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++)
			for (unsigned k = 0; k < d; k++)
				whole[i * d + j] -= cplx_mul(conj(u[i * d + k]), part[k * d + j]);
	anti_hermitian_add(d, whole, to);
}
