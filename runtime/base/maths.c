/* SPDX-License-Identifier: Apache-2.0
 * e^(i angle), of one angle or many, and a digest of the functions whose last bits results depend on. */
#include "config.h"
#include "runtime/base/maths.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { DIGEST_POINTS = 256 };

/* ---- e^(i angle) ----
 *
 * angle = n pi/2 + r with |r| <= pi/4, then polynomials: by operations that every IEEE machine rounds alike, so
 * that an angle has the same cosine and sine alone, among others, and wherever a worker runs. */

enum { TOGETHER = 2 };
typedef double reals __attribute__((vector_size(8 * TOGETHER)));
typedef uint64_t words __attribute__((vector_size(8 * TOGETHER)));

static const double LARGEST = 1 << 19;       /* n pi/2 is exact below; libm beyond */

/* Sine and cosine of r, from r and z = r r: W. Kahan's polynomials as in fdlibm's k_sin.c and k_cos.c, errors below
 * 2^-58; halves of a sum are independent, so that they are computed side by side. */
static inline reals sine_of(reals r, reals z)
{
	reals w = z * z;
	reals low = 8.33333333332248946124e-03 + z * -1.98412698298579493134e-04;
	reals high = 2.75573137070700676789e-06 + z * -2.50507602534068634195e-08 + w * 1.58969099521155010221e-10;

	return r + r * z * (-1.66666666666666324348e-01 + z * (low + w * high));
}

static inline reals cosine_of(reals z)
{
	reals w = z * z, half = 0.5 * z, rest = 1 - half;
	reals low = 4.16666666666666019037e-02 + z * -1.38888888888741095749e-03 + w * 2.48015872894767294178e-05;
	reals high = -2.75573143513906633035e-07 + z * 2.08757232129817482790e-09 + w * -1.13596475577881948265e-11;

	return rest + (((1 - rest) - half) + w * (low + w * z * high));
}

/* After n quarter turns, n being what 1.5 * 2^52 was added to. */
static inline void turns_from(reals shifted, reals r, reals *cosine, reals *sine)
{
	reals z = r * r;
	words quarter = (words)shifted, swap = -(quarter & 1);
	words s = (words)sine_of(r, z), c = (words)cosine_of(z), both = (s ^ c) & swap;

	*sine = (reals)(s ^ both ^ (quarter & 2) << 62);
	*cosine = (reals)(c ^ both ^ ((quarter + 1) & 2) << 62);
}

static const double SHIFT = 6755399441055744.0;      /* 1.5 * 2^52: what is added to it becomes a whole number */

static inline void turns_of(reals x, reals *cosine, reals *sine)
{
	reals shifted = x * 6.36619772367581382433e-01 + SHIFT, n = shifted - SHIFT;
	/* pi/2 in three parts; n times the first two is exact. */
	reals r = x - n * 1.57079632673412561417e+00 - n * 6.07710050630396597660e-11 - n * 2.02226624879595063154e-21;

	turns_from(shifted, r, cosine, sine);
}

static inline cplx exp_i_far(double angle_rad) { return CMPLX(cos(angle_rad), sin(angle_rad)); }

static inline void exp_i_some(const double *angle_rad, size_t n, cplx *e)
{
	reals x = { 0 }, c, s;
	bool near = true;

	memcpy(&x, angle_rad, n * sizeof *angle_rad);
	turns_of(x, &c, &s);
	for (size_t k = 0; k < n; k++) {
		e[k] = CMPLX(c[k], s[k]);
		near &= fabs(angle_rad[k]) < LARGEST;
	}
	for (size_t k = 0; !near && k < n; k++)
		if (!(fabs(angle_rad[k]) < LARGEST))
			e[k] = exp_i_far(angle_rad[k]);
}

void cplx_exp_i_all(size_t n, const double *angle_rad, cplx *e)
{
	size_t whole = n - n % TOGETHER;

	for (size_t k = 0; k < whole; k += TOGETHER)
		exp_i_some(angle_rad + k, TOGETHER, e + k);
	if (whole < n)
		exp_i_some(angle_rad + whole, n - whole, e + whole);
}

cplx cplx_exp_i(double angle_rad)
{
	reals x = angle_rad - (reals){ 0 }, c, s;

	if (!(fabs(angle_rad) < LARGEST))
		return exp_i_far(angle_rad);
	turns_of(x, &c, &s);
	return CMPLX(c[0], s[0]);
}

cplx cplx_exp_i_pi(double t)
{
	double near = t - 2 * (fabs(t) < LARGEST ? t / 2 + SHIFT - SHIFT : rint(t / 2));
	reals x = near - (reals){ 0 }, shifted = 2 * x + SHIFT, c, s;

	turns_from(shifted, PI * (x - (shifted - SHIFT) / 2), &c, &s);
	return CMPLX(c[0], s[0]);
}

static double cosine_and_sine(double x)
{
	cplx e = cplx_exp_i(x);

	return creal(e) + 2 * cimag(e);
}

/* ---- the digest ---- */

static double square_root_power(double x)
{
	return pow(x + 0.5, 1.25);
}

static double log_shifted(double x)
{
	return log(x + 0.25);
}

/* FNV-1a (Fowler, Noll, Vo) over the results' bits. */
static uint64_t fnv1a(uint64_t h, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	for (int i = 0; i < 8; i++)
		h = (h ^ (bits >> 8 * i & 0xff)) * 0x100000001b3;
	return h;
}

uint64_t maths_digest(void)
{
	static double (*const function[])(double) = {
		cosine_and_sine, sin, cos, exp, log_shifted, square_root_power, tanh,
	};
	uint64_t h = 0xcbf29ce484222325;

	for (size_t f = 0; f < sizeof function / sizeof *function; f++)
		for (int i = 0; i < DIGEST_POINTS; i++)
			h = fnv1a(h, function[f]((double)i * i / 2048 + (double)i / 7));
	return h;
}
