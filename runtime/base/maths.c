/* SPDX-License-Identifier: Apache-2.0
 * The functions of libm whose last bits results depend on. */
#include "config.h"
#include "runtime/base/maths.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { DIGEST_POINTS = 256 };

cplx cplx_exp_i(double angle_rad)
{
	return CMPLX(cos(angle_rad), sin(angle_rad));
}

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
		sin, cos, exp, log_shifted, square_root_power, tanh,
	};
	uint64_t h = 0xcbf29ce484222325;

	for (size_t f = 0; f < sizeof function / sizeof *function; f++)
		for (int i = 0; i < DIGEST_POINTS; i++)
			h = fnv1a(h, function[f]((double)i * i / 2048 + (double)i / 7));
	return h;
}
