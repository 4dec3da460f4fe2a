/* SPDX-License-Identifier: Apache-2.0
 * Two-limb fixed point: edges of the range, rounding, independence of order. */
#include "runtime/base/fixed.h"

#include "runtime/base/rng.h"
#include "tests/tap.h"

enum { TERMS = 5000 };

static void limbs(void)
{
	static const struct { double x; int64_t a, b; } row[] = {
		{ 0, 0, 0 },
		{ 1, 1 << 20, 0 },
		{ -1, -(1 << 20), 0 },
		{ 0x1p-20, 1, 0 },
		{ 0x1p-60, 0, 1 },
		{ 0x1p-61, 0, 0 },               /* half to even */
		{ 3 * 0x1p-61, 0, 2 },
		{ -3 * 0x1p-61, 0, -2 },
		{ 0x1p-21, 0, 1ll << 39 },       /* half to even in the high limb */
		{ 3 * 0x1p-21, 2, -(1ll << 39) },
		{ 0x1.fffffffffffffp19, 1ll << 40, -(1ll << 27) },
		{ 5e-324, 0, 0 },
	};
	struct fixed f;

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		bool taken = fixed_from(row[i].x, &f);

		tap_ok(taken && f.a == row[i].a && f.b == row[i].b, "limbs of %a", row[i].x);
	}
}

static void refused(void)
{
	static const double bad[] = { 0x1p20, -0x1p20, 1e300, INFINITY, -INFINITY, NAN };
	struct fixed f = { 3, 4 };

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		tap_ok(!fixed_from(bad[i], &f) && f.a == 3 && f.b == 4, "%g is refused", bad[i]);
}

static void round_trips(void)
{
	struct fixed f;
	double x, worst = 0;
	bool exact = true;

	for (int i = 0; i < TERMS; i++) {
		x = ldexp(rng_uniform(3, RNG_TEST, 0, i) - 0.5, (int)(rng_u64(3, RNG_TEST, 1, i) % 40) - 19);
		exact &= fixed_from(x, &f);
		worst = tap_worst(worst, fabs(fixed_value(f) - x));
		if (fabs(x) >= 0x1p-7)
			exact &= fixed_value(f) == x;
	}
	tap_ok(exact, "values with at most 60 bits behind the point come back exactly");
	tap_ok(worst <= 0x1p-61, "others within half a unit");
}

static void order(void)
{
	struct fixed forward = { 0, 0 }, backward = { 0, 0 }, f;
	long double sum = 0;
	double x;

	for (int i = 0; i < 2 * TERMS; i++) {
		int k = i < TERMS ? i : 2 * TERMS - 1 - i;

		x = rng_normal(4, RNG_TEST, 0, k) * exp(5 * rng_normal(4, RNG_TEST, 1, k));
		if (!fixed_from(x, &f))
			continue;
		fixed_add(i < TERMS ? &forward : &backward, &f, 1);
		if (i < TERMS)
			sum += x;
	}
	tap_ok(forward.a == backward.a && forward.b == backward.b, "sums do not depend on the order");
	tap_close(fixed_value(forward), (double)sum, 1e-9, "and are right");
}

static void overflow(void)
{
	struct fixed v = { INT64_MAX, 0 }, one = { 1, 1 }, f, sum = { 0, 0 };
	bool fits = true;

	tap_ok(!fixed_add(&v, &one, 1), "an overflow of the high limb is told");
	v = (struct fixed){ 0, INT64_MIN };
	one = (struct fixed){ 0, -1 };
	tap_ok(!fixed_add(&v, &one, 1), "an overflow of the low limb is told");
	fixed_from(-0x1.fffffffffffffp19, &f);
	for (int i = 0; i < FIXED_TERMS_MAX; i++)
		fits &= fixed_add(&sum, &f, 1);
	tap_ok(fits, "the largest sum fits");
	tap_ok(fixed_value(sum) == -0x1.fffffffffffffp41, "and is exact");
#ifdef __SIZEOF_INT128__
	static const int64_t near[] = { 0, 1, 3, INT64_C(1) << 24, INT64_C(1) << 39, INT64_C(1) << 40, INT64_C(3) << 39,
		(INT64_C(1) << 53) - 2, INT64_C(1) << 53, INT64_C(3) << 52, (INT64_C(1) << 61) + 12345, INT64_MAX - 2 };
	enum { NNEAR = sizeof near / sizeof *near };
	int off = 0;

	for (int i = 0; i < NNEAR * NNEAR; i++)
		for (int k = 0; k < 4 * 25; k++) {
			struct fixed x = { (near[i % NNEAR] + (k / 20 % 5 - 2)) * (k & 1 ? -1 : 1),
				(near[i / NNEAR] + (k / 4 % 5 - 2)) * (k & 2 ? -1 : 1) };

			off += fixed_value(x) != (double)((__int128)x.a * ((__int128)1 << 40) + x.b) * 0x1p-60;
		}
	tap_is_int(off, 0, "sums where a limb is no double any more are rounded once");
#endif
	tap_ok(fixed_value((struct fixed){ 1, -(1ll << 40) }) == 0, "limbs of different signs cancel");
	tap_ok(fixed_value((struct fixed){ INT64_MAX, INT64_MAX }) > 0x1p42, "the largest limbs can be read");
}

int main(void)
{
	limbs();
	refused();
	round_trips();
	order();
	overflow();
	return tap_done();
}
