/* SPDX-License-Identifier: Apache-2.0
 * SHA-256 by libsodium, whose hashes need no initialisation. */
#include "config.h"
#include "runtime/base/crypto.h"

#include <sodium/crypto_hash_sha256.h>
#include <sodium/utils.h>

_Static_assert(sizeof(struct sha256) >= sizeof(crypto_hash_sha256_state), "state fits");
_Static_assert(SHA256_BYTES == crypto_hash_sha256_BYTES, "length of a digest");

static crypto_hash_sha256_state *state(struct sha256 *h)
{
	return (crypto_hash_sha256_state *)(void *)h->opaque;
}

void sha256_init(struct sha256 *h)
{
	crypto_hash_sha256_init(state(h));
}

void sha256_add(struct sha256 *h, const void *p, size_t len)
{
	crypto_hash_sha256_update(state(h), p, len);
}

void sha256_end(struct sha256 *h, uint8_t out[SHA256_BYTES])
{
	crypto_hash_sha256_final(state(h), out);
}

void sha256_of(const void *p, size_t len, uint8_t out[SHA256_BYTES])
{
	crypto_hash_sha256(out, p, len);
}

void sha256_hex(const uint8_t in[SHA256_BYTES], char out[SHA256_HEX + 1])
{
	sodium_bin2hex(out, SHA256_HEX + 1, in, SHA256_BYTES);
}
