/* SPDX-License-Identifier: Apache-2.0
 * Two-limb fixed point; every step of the conversion is exact but the last rounding. */
#include "config.h"
#include "runtime/base/fixed.h"

#include <math.h>

/* Nearest integer of |x| < 2^51, half to even, in the rounding that is in force. */
static inline double nearest(double x)
{
	const double shift = 0x1.8p52;

	return x + shift - shift;
}

static inline struct fixed limbs(double x)
{
	double high = nearest(x * 0x1p20);

	/* The rest is a multiple of x's last bit and at most 2^-21, hence exact. */
	return (struct fixed){ (int64_t)high, (int64_t)nearest((x - high * 0x1p-20) * 0x1p60) };
}

bool fixed_from(double x, struct fixed *f)
{
	if (!(fabs(x) < FIXED_LIMIT))    /* also not a number */
		return false;
	*f = limbs(x);
	return true;
}

bool fixed_from_all(const double *x, size_t n, struct fixed *f)
{
	bool good = true;

	for (size_t i = 0; i < n; i++) {
		good &= fabs(x[i]) < FIXED_LIMIT;
		f[i] = limbs(fabs(x[i]) < FIXED_LIMIT ? x[i] : 0);
	}
	return good;
}

double fixed_value(struct fixed f)
{
	const int64_t exact = INT64_C(1) << 53;
	if (f.a < exact && f.a > -exact && f.b < exact && f.b > -exact)     /* both are doubles: their sum is rounded once */
		return (double)f.a * 0x1p-20 + (double)f.b * 0x1p-60;

	__int128 sum = (__int128)f.a * ((__int128)1 << 40) + f.b;

	return (double)sum * 0x1p-60;
}

bool fixed_add(struct fixed *v, const struct fixed *w, size_t n)
{
	bool overflow = false;

	for (size_t i = 0; i < n; i++) {
		overflow |= __builtin_add_overflow(v[i].a, w[i].a, &v[i].a);
		overflow |= __builtin_add_overflow(v[i].b, w[i].b, &v[i].b);
	}
	return !overflow;
}
