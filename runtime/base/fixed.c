/* SPDX-License-Identifier: Apache-2.0
 * Two-limb fixed point; every step of the conversion is exact but the last rounding. */
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

/* a 2^40 + b in two words of 64 bits, of which the 64 leading bits and whether others follow are rounded once. */
static double rounded(struct fixed f)
{
	uint64_t low = (uint64_t)f.a << 40, high = (uint64_t)(f.a >> 24), top;

	low += (uint64_t)f.b;
	high += (f.b < 0 ? UINT64_MAX : 0) + (low < (uint64_t)f.b);
	bool minus = high >> 63;
	if (minus) {
		low = 0 - low;
		high = ~high + (low == 0);
	}
	if (high == 0)
		return minus ? -(double)low : (double)low;
	int n = __builtin_clzll(high);
	top = (n ? high << n | low >> (64 - n) : high) | (low << n != 0);
	return ldexp(minus ? -(double)top : (double)top, 64 - n);
}

double fixed_value(struct fixed f)
{
	const int64_t exact = INT64_C(1) << 53;
	if (f.a < exact && f.a > -exact && f.b < exact && f.b > -exact)     /* both are doubles: their sum is rounded once */
		return (double)f.a * 0x1p-20 + (double)f.b * 0x1p-60;
	return rounded(f) * 0x1p-60;
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
