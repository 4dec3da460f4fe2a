/* SPDX-License-Identifier: Apache-2.0
 * The lanes depend on nothing but their own words, so that their multiplications overlap. */
#include "runtime/net/comm/digest.h"

#include <string.h>

static const uint64_t P1 = 0x9e3779b185ebca87u, P2 = 0xc2b2ae3d27d4eb4fu;

static inline uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

static inline uint64_t take(uint64_t lane, uint64_t word) { return rotate(lane + word, 29) * P1; }

void digest_begin(struct digest *d)
{
	*d = (struct digest){ .bytes = 0 };
	for (unsigned i = 0; i < DIGEST_LANES; i++)
		d->lane[i] = (i + 1) * P2;
}

/* to: NULL, or where the stripes are copied in the same visit. */
static inline __attribute__((always_inline)) void add_stripes(uint64_t lane[DIGEST_LANES],
	const uint8_t *p, size_t nstripe, uint8_t *to)
{
	uint64_t a[DIGEST_LANES], word;

	memcpy(a, lane, sizeof a);
	for (size_t k = 0; k < nstripe; k++, p += DIGEST_STRIPE) {
#pragma GCC unroll 8
		for (unsigned i = 0; i < DIGEST_LANES; i++) {
			memcpy(&word, p + i * sizeof word, sizeof word);
			if (to)
				memcpy(to + k * DIGEST_STRIPE + i * sizeof word, &word, sizeof word);
			a[i] = take(a[i], word);
		}
	}
	memcpy(lane, a, sizeof a);
}

static inline __attribute__((always_inline)) void add(struct digest *d, uint8_t *to,
	const uint8_t *from, size_t len)
{
	size_t whole = len / DIGEST_STRIPE * DIGEST_STRIPE;
	uint8_t last[DIGEST_STRIPE] = { 0 };

	add_stripes(d->lane, from, whole / DIGEST_STRIPE, to);
	if (len > whole) {
		memcpy(last, from + whole, len - whole);
		add_stripes(d->lane, last, 1, NULL);
		if (to)
			memcpy(to + whole, last, len - whole);
	}
	d->bytes += len;
}

void digest_add(struct digest *d, const void *p, size_t len) { add(d, NULL, p, len); }

void digest_copy(struct digest *d, void *to, const void *from, size_t len)
{
	add(d, to, from, len);
}

uint64_t digest_end(struct digest *d)
{
	uint64_t h = d->bytes * P2;

	for (unsigned i = 0; i < DIGEST_LANES; i++)
		h = rotate(h ^ d->lane[i], 31) * P1;
	h = (h ^ h >> 33) * P2;
	return h ^ h >> 29;
}
