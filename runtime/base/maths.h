/* SPDX-License-Identifier: Apache-2.0
 * The functions of libm whose last bits results depend on, in one place, and a
 * digest of them for comparing machines; complex numbers for small matrices. */
#ifndef QCNN_MATHS_H
#define QCNN_MATHS_H

#include <complex.h>
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
cplx cplx_exp_i(double angle_rad);                   /* e^(i angle) */

/* Digest of a fixed self-test of sin, cos, exp, log, pow, tanh: two machines
 * whose libm rounds differently get different digests. */
uint64_t maths_digest(void);

#endif
