/* SPDX-License-Identifier: Apache-2.0
 * e^(i angle), of one angle or many, and a digest of the functions whose last bits results depend on. */
#include "runtime/base/maths.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/base/shuffle.h"

enum { DIGEST_POINTS = 256 };

/* ---- e^(i angle) ----
 *
 * angle = n pi/2 + r with |r| <= pi/4, then polynomials: by operations that every IEEE machine rounds alike, so
 * that an angle has the same cosine and sine alone, among others, and wherever a worker runs. */

static const double LARGEST = 1 << 19;               /* n pi/2 is exact below; libm beyond */
static const double SHIFT = 6755399441055744.0;      /* 1.5 * 2^52: what is added to it becomes a whole number */

#define TARGET
#define WIDTH 2
#define NAME(name) name##_plain
#include "runtime/base/sincos_tmpl.h"
#undef TARGET
#undef WIDTH
#undef NAME
#ifdef QCNN_X86_KERNELS
#define TARGET __attribute__((target("avx2")))
#define WIDTH 4
#define NAME(name) name##_avx2
#include "runtime/base/sincos_tmpl.h"
#undef TARGET
#undef WIDTH
#undef NAME
#endif

cplx cplx_exp_i(double angle_rad)
{
	reals_plain x = angle_rad - (reals_plain){ 0 }, c, s;

	if (!(fabs(angle_rad) < LARGEST))
		return CMPLX(cos(angle_rad), sin(angle_rad));
	turns_of_plain(x, &c, &s);
	return CMPLX(c[0], s[0]);
}

cplx cplx_exp_i_pi(double t)
{
	reals_plain x = fabs(t) < LARGEST ? t - (reals_plain){ 0 } : t - 2 * rint(t / 2) - (reals_plain){ 0 }, c, s;

	turns_of_pi_plain(x, &c, &s);
	return CMPLX(c[0], s[0]);
}

/* Few are not worth looking for wider vectors. */
static bool turns(bool pi, size_t n, const double *angle, cplx *e)
{
#ifdef QCNN_X86_KERNELS
	if (n > 2 && __builtin_cpu_supports("avx2"))
		return turns_avx2(pi, n, angle, e);
#endif
	return turns_plain(pi, n, angle, e);
}

void cplx_exp_i_all(size_t n, const double *angle_rad, cplx *e)
{
	bool near = turns(false, n, angle_rad, e);

	for (size_t k = 0; k < n && !near; k++)
		e[k] = cplx_exp_i(angle_rad[k]);
}

void cplx_exp_i_pi_all(size_t n, const double *t, cplx *e)
{
	bool near = turns(true, n, t, e);

	for (size_t k = 0; k < n && !near; k++)
		e[k] = cplx_exp_i_pi(t[k]);
}

static double cosine_and_sine(double x)
{
	cplx e = cplx_exp_i(x);

	return creal(e) + 2 * cimag(e);
}

/* ---- the digest ---- */

static double square_root_power(double x) { return pow(x + 0.5, 1.25); }

static double log_shifted(double x) { return log(x + 0.25); }

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
