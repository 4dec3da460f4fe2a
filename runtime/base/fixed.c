/* SPDX-License-Identifier: Apache-2.0
 * Two-limb fixed point; every step of the conversion is exact but the last rounding. */
#include "config.h"
#include "runtime/base/fixed.h"

#include <math.h>

bool fixed_from(double x, struct fixed *f)
{
	double high;

	if (!(fabs(x) < FIXED_LIMIT))    /* also not a number */
		return false;
	high = nearbyint(x * 0x1p20);
	f->a = (int64_t)high;
	/* The rest is a multiple of x's last bit and at most 2^-21, hence exact. */
	f->b = (int64_t)nearbyint((x - high * 0x1p-20) * 0x1p60);
	return true;
}

double fixed_value(struct fixed f)
{
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
