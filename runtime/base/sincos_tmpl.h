/* SPDX-License-Identifier: Apache-2.0
 * Cosines and sines of WIDTH angles side by side. Included once an instruction set: NAME() tells the functions apart,
 * TARGET is their attribute. Every angle gets the same operations, and so the same bits, whatever WIDTH is. */

typedef double NAME(reals) __attribute__((vector_size(8 * WIDTH)));
typedef uint64_t NAME(words) __attribute__((vector_size(8 * WIDTH)));
typedef double NAME(loose) __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
#define REALS NAME(reals)
#define WORDS NAME(words)
#define LOOSE NAME(loose)

/* Sine and cosine of r, from r and z = r r: W. Kahan's polynomials as in fdlibm's k_sin.c and k_cos.c, errors below
 * 2^-58; halves of a sum are independent, so that they are computed side by side. */
TARGET static inline REALS NAME(sine_of)(REALS r, REALS z)
{
	REALS w = z * z;
	REALS low = 8.33333333332248946124e-03 + z * -1.98412698298579493134e-04;
	REALS high = 2.75573137070700676789e-06 + z * -2.50507602534068634195e-08 + w * 1.58969099521155010221e-10;

	return r + r * z * (-1.66666666666666324348e-01 + z * (low + w * high));
}

TARGET static inline REALS NAME(cosine_of)(REALS z)
{
	REALS w = z * z, half = 0.5 * z, rest = 1 - half;
	REALS low = 4.16666666666666019037e-02 + z * -1.38888888888741095749e-03 + w * 2.48015872894767294178e-05;
	REALS high = -2.75573143513906633035e-07 + z * 2.08757232129817482790e-09 + w * -1.13596475577881948265e-11;

	return rest + (((1 - rest) - half) + w * (low + w * z * high));
}

/* After n quarter turns, n being what SHIFT was added to. */
TARGET static inline void NAME(turns_from)(REALS shifted, REALS r, REALS *cosine, REALS *sine)
{
	REALS z = r * r;
	WORDS quarter = (WORDS)shifted, swap = -(quarter & 1);
	WORDS s = (WORDS)NAME(sine_of)(r, z), c = (WORDS)NAME(cosine_of)(z), both = (s ^ c) & swap;

	*sine = (REALS)(s ^ both ^ (quarter & 2) << 62);
	*cosine = (REALS)(c ^ both ^ ((quarter + 1) & 2) << 62);
}

/* Of x radians. */
TARGET static inline void NAME(turns_of)(REALS x, REALS *cosine, REALS *sine)
{
	REALS shifted = x * 6.36619772367581382433e-01 + SHIFT, n = shifted - SHIFT;
	/* pi/2 in three parts; n times the first two is exact. */
	REALS r = x - n * 1.57079632673412561417e+00 - n * 6.07710050630396597660e-11 - n * 2.02226624879595063154e-21;

	NAME(turns_from)(shifted, r, cosine, sine);
}

/* Of pi x, where x is near. */
TARGET static inline void NAME(turns_of_pi)(REALS x, REALS *cosine, REALS *sine)
{
	REALS near = x - 2 * (x / 2 + SHIFT - SHIFT), shifted = 2 * near + SHIFT;

	NAME(turns_from)(shifted, PI * (near - (shifted - SHIFT) / 2), cosine, sine);
}

/* Of one vector of angles, times pi where `pi`; far: not 0 where one is not near. */
TARGET static inline void NAME(some)(bool pi, REALS x, LOOSE e[2], WORDS *far)
{
	REALS c, s;

	*far |= (WORDS)~((x < LARGEST) & (x > -LARGEST));
	if (pi)
		NAME(turns_of_pi)(x, &c, &s);
	else
		NAME(turns_of)(x, &c, &s);
	e[0] = INTERLEAVED(WIDTH, WORDS, c, s, 0);
	e[1] = INTERLEAVED(WIDTH, WORDS, c, s, 1);
}

/* e[k] for k < n, right where angle[k] is near. Are all? */
TARGET static bool NAME(turns)(bool pi, size_t n, const double *angle, cplx *e)
{
	size_t whole = n - n % WIDTH;
	WORDS far = { 0 };
	bool near = true;

	for (size_t k = 0; k < whole; k += WIDTH)
		NAME(some)(pi, *(const LOOSE *)(angle + k), (LOOSE *)(e + k), &far);
	if (whole < n) {
		LOOSE last[2];
		REALS x = { 0 };

		memcpy(&x, angle + whole, (n - whole) * sizeof *angle);
		NAME(some)(pi, x, last, &far);
		memcpy(e + whole, last, (n - whole) * sizeof *e);
	}
	for (unsigned k = 0; k < WIDTH; k++)
		near &= far[k] == 0;
	return near;
}

#undef REALS
#undef WORDS
#undef LOOSE
