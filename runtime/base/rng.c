/* SPDX-License-Identifier: Apache-2.0
 * Philox4x32-10: ten rounds of two multiplications (Salmon et al., SC'11, section 4). */
#include "runtime/base/rng.h"

#include <assert.h>
#include <math.h>

#include "runtime/base/maths.h"

enum { ROUNDS = 10 };

/* Multipliers and Weyl increments of the paper. */
static const uint32_t mul0 = 0xD2511F53, mul1 = 0xCD9E8D57;
static const uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;

void rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
	uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
	uint32_t k0 = key[0], k1 = key[1];

	for (int i = 0; i < ROUNDS; i++, k0 += weyl0, k1 += weyl1) {
		uint64_t p = (uint64_t)mul0 * c0, q = (uint64_t)mul1 * c2;

		c0 = (uint32_t)(q >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)q;
		c2 = (uint32_t)(p >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)p;
	}
	out[0] = c0;
	out[1] = c1;
	out[2] = c2;
	out[3] = c3;
}

/* Two independent 64-bit draws for (seed, p, a, b). */
static void draw(uint64_t seed, enum rng_purpose p, uint64_t a, uint64_t b, uint64_t v[2])
{
	uint32_t out[4];

	assert(a >> 56 == 0);
	rng_philox((const uint32_t[4]){ (uint32_t)b, (uint32_t)(b >> 32), (uint32_t)a,
			(uint32_t)(a >> 32) | (uint32_t)p << 24 },
		(const uint32_t[2]){ (uint32_t)seed, (uint32_t)(seed >> 32) }, out);
	v[0] = out[0] | (uint64_t)out[1] << 32;
	v[1] = out[2] | (uint64_t)out[3] << 32;
}

static double to_uniform(uint64_t v) { return (double)(v >> 11) * 0x1p-53; }

uint64_t rng_u64(uint64_t seed, enum rng_purpose p, uint64_t a, uint64_t b)
{
	uint64_t v[2];

	draw(seed, p, a, b, v);
	return v[0];
}

double rng_uniform(uint64_t seed, enum rng_purpose p, uint64_t a, uint64_t b)
{
	return to_uniform(rng_u64(seed, p, a, b));
}

/* Box and Muller, Ann. Math. Stat. 29 (1958), the cosine half. */
double rng_normal(uint64_t seed, enum rng_purpose p, uint64_t a, uint64_t b)
{
	uint64_t v[2];

	draw(seed, p, a, b, v);
	return sqrt(-2 * log(1 - to_uniform(v[0]))) * cos(2 * PI * to_uniform(v[1]));
}

void rng_shuffle(uint64_t seed, enum rng_purpose p, uint64_t a, uint32_t *order, size_t n)
{
	for (size_t i = n; i-- > 1; ) {
		/* High part of the product, from those of its halves (n is at most 2^32): the bias is below n / 2^64. */
		uint64_t drawn = rng_u64(seed, p, a, i), size = i + 1;
		size_t j = (size_t)(((drawn >> 32) * size + ((drawn & UINT32_MAX) * size >> 32)) >> 32);
		uint32_t t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
}
