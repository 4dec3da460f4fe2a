/* SPDX-License-Identifier: Apache-2.0
 * Converts numbers of files to doubles: one loop for types in the machine's byte order, one for all others. */
#include "runtime/data/number.h"

#include <string.h>

static uint64_t bits_of(const uint8_t *p, unsigned nbytes, bool big)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < nbytes; i++)
		v |= (uint64_t)p[big ? nbytes - 1 - i : i] << 8 * i;
	return v;
}

static double float_of(uint64_t bits, unsigned nbytes)
{
	uint32_t low = (uint32_t)bits;
	float f;
	double v;

	if (nbytes == 4) {
		memcpy(&f, &low, sizeof f);
		return f;
	}
	memcpy(&v, &bits, sizeof v);
	return v;
}

static bool one_number(struct number t, uint64_t bits, double *v)
{
	int64_t i;

	switch (t.kind) {
	case 'f': *v = float_of(bits, t.nbytes); return true;
	case 'i':
		i = (int64_t)(bits << (64 - 8 * t.nbytes)) >> (64 - 8 * t.nbytes);
		*v = (double)i;
		return i >= -(1ll << 53) && i <= 1ll << 53;
	case 'b': *v = (double)bits; return bits <= 1;
	default: *v = (double)bits; return bits <= 1ull << 53;
	}
}

size_t numbers_decode(struct number t, const uint8_t *p, size_t n, double *out)
{
	if (t.kind == 'u' && t.nbytes == 1) {
		for (size_t i = 0; i < n; i++)
			out[i] = p[i];
		return n;
	}
	for (size_t i = 0; i < n; i++)
		if (!one_number(t, bits_of(p + i * t.nbytes, t.nbytes, t.big), &out[i]))
			return i;
	return n;
}
