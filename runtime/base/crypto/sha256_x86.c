/* SPDX-License-Identifier: Apache-2.0
 * SHA-256's compression by the SHA instructions of x86 (Intel Architecture Instruction Set Extensions, chapter 8;
 * FIPS 180-4, 6.2.2), five times as fast as without. */
#include "runtime/base/crypto/sha256_blocks.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

/* FIPS 180-4, 4.2.2. */
static const uint32_t constant[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* Asked once: in a virtual machine the question takes longer than a hash. */
bool sha256_blocks_are_fast(void)
{
	static atomic_int known;     /* 0: not yet; 1: no; 2: yes */
	unsigned a, b = 0, c, d;

	if (!atomic_load_explicit(&known, memory_order_relaxed))
		atomic_store_explicit(&known, __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) ? 2 : 1, memory_order_relaxed);
	return atomic_load_explicit(&known, memory_order_relaxed) == 2;
}

/* The instructions want the state as (a, b, e, f) and (c, d, g, h), highest lane first. */
__attribute__((target("sha,sse4.1")))
void sha256_blocks(uint32_t state[8], const uint8_t *p, size_t nblock)
{
	const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
	__m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0x1b);
	__m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
	__m128i abef = _mm_unpackhi_epi64(efgh, abcd), cdgh = _mm_unpacklo_epi64(efgh, abcd);

	for (; nblock; nblock--, p += 64) {
		__m128i w[4], abef_before = abef, cdgh_before = cdgh;

		for (int i = 0; i < 4; i++)
			w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p + i), swap);
#pragma GCC unroll 16
		for (int i = 0; i < 16; i++) {         /* four rounds each */
			__m128i wk = _mm_add_epi32(w[i & 3], _mm_loadu_si128((const __m128i *)constant + i));

			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
			if (i < 12)                    /* the words of four rounds that come 16 later */
				w[i & 3] = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]),
					_mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4)), w[(i + 3) & 3]);
		}
		abef = _mm_add_epi32(abef, abef_before);
		cdgh = _mm_add_epi32(cdgh, cdgh_before);
	}
	abcd = _mm_unpackhi_epi64(cdgh, abef);
	efgh = _mm_unpacklo_epi64(cdgh, abef);
	_mm_storeu_si128((__m128i *)state, _mm_shuffle_epi32(abcd, 0x1b));
	_mm_storeu_si128((__m128i *)(state + 4), _mm_shuffle_epi32(efgh, 0x1b));
}
#else
#include "runtime/base/err.h"

bool sha256_blocks_are_fast(void) { return false; }

void sha256_blocks(uint32_t state[8], const uint8_t *p, size_t nblock)
{
	(void)state;
	(void)p;
	(void)nblock;
	BUG("no instructions for SHA-256");
}
#endif
