/* SPDX-License-Identifier: Apache-2.0
 * The functions whose last bits results depend on, in one place, and a digest of
 * them for comparing machines; complex numbers for small matrices. */
#pragma once

#include <complex.h>
#include <stddef.h>
#include <stdint.h>

typedef double _Complex cplx;

#ifndef CMPLX     /* glibc defines it for gcc alone */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

#define PI  3.14159265358979323846

static inline cplx cplx_of(double re, double im) { return CMPLX(re, im); }
/* Products without the NaN rules of Annex G: four multiplications, two additions. */
static inline cplx cplx_mul(cplx x, cplx y)
{
	double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
	return CMPLX(a * c - b * d, a * d + b * c);
}
/* e^(i angle), within 2^-52 of the parts' true values; one angle has the same bits alone and among others. */
cplx cplx_exp_i(double angle_rad);
/* e^(i pi t), exact where t is a multiple of 1/2. */
cplx cplx_exp_i_pi(double t);
/* Of n angles; e may not overlap them. */
void cplx_exp_i_all(size_t n, const double *angle_rad, cplx *e);
void cplx_exp_i_pi_all(size_t n, const double *t, cplx *e);

/* Digest of a fixed self-test of e^(i angle), sin, cos, exp, log, pow, tanh: two machines
 * whose libm rounds differently get different digests. */
uint64_t maths_digest(void);
