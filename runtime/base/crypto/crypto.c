/* SPDX-License-Identifier: Apache-2.0
 * SHA-256 by libsodium, whose hashes need no initialisation; whole blocks by the processor where it can. */
#include "runtime/base/crypto/crypto.h"

#include <sodium/crypto_hash_sha256.h>
#include <sodium/utils.h>

#include "runtime/base/crypto/sha256_blocks.h"

enum { BLOCK = 64 };

_Static_assert(sizeof(struct sha256) >= sizeof(crypto_hash_sha256_state), "state fits");
_Static_assert(sizeof((crypto_hash_sha256_state *)NULL)->state == 32 && sizeof((crypto_hash_sha256_state *)NULL)->buf == BLOCK,
	"libsodium's state is that of FIPS 180-4");
_Static_assert(SHA256_BYTES == crypto_hash_sha256_BYTES, "length of a digest");

static crypto_hash_sha256_state *state(struct sha256 *h)
{
	return (crypto_hash_sha256_state *)(void *)h->opaque;
}

void sha256_init(struct sha256 *h) { crypto_hash_sha256_init(state(h)); }

/* libsodium takes what begins and ends within a block, and counts (the state's count is in bits). */
void sha256_add(struct sha256 *h, const void *p, size_t len)
{
	crypto_hash_sha256_state *s = state(h);
	size_t begun = (size_t)(s->count / 8 % BLOCK), first = begun ? BLOCK - begun : 0, n;

	if (first > len || !sha256_blocks_are_fast())
		first = len;
	crypto_hash_sha256_update(s, p, first);
	n = (len - first) / BLOCK;
	if (n) {
		sha256_blocks(s->state, (const uint8_t *)p + first, n);
		s->count += (uint64_t)n * BLOCK * 8;
	}
	crypto_hash_sha256_update(s, (const uint8_t *)p + first + n * BLOCK, len - first - n * BLOCK);
}

void sha256_end(struct sha256 *h, uint8_t out[SHA256_BYTES])
{
	crypto_hash_sha256_final(state(h), out);
}

void sha256_of(const void *p, size_t len, uint8_t out[SHA256_BYTES])
{
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, p, len);
	sha256_end(&h, out);
}

void hex_text(const void *bytes, size_t n, char *out) { sodium_bin2hex(out, 2 * n + 1, bytes, n); }

bool hex_bytes(const char *text, size_t len, void *out, size_t n)
{
	size_t got;

	return len == 2 * n && !sodium_hex2bin(out, n, text, len, NULL, &got, NULL) && got == n;
}

void sha256_hex(const uint8_t in[SHA256_BYTES], char out[SHA256_HEX + 1])
{
	hex_text(in, SHA256_BYTES, out);
}
