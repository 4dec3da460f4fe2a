/* SPDX-License-Identifier: Apache-2.0
 * Thin names over libsodium's crypto_auth and crypto_secretstream. */
#include "config.h"
#include "runtime/base/crypto_session.h"

#include <sodium.h>
#include <sys/mman.h>

enum { STACK_BYTES = 16384 };            /* more than hashing, copying and the loader's saved registers take */

_Static_assert(CRYPTO_KEY == crypto_auth_KEYBYTES && CRYPTO_KEY == crypto_secretstream_xchacha20poly1305_KEYBYTES, "one key length");
_Static_assert(CRYPTO_MAC == crypto_auth_BYTES, "length of a proof");
_Static_assert(CRYPTO_STREAM_HEADER == crypto_secretstream_xchacha20poly1305_HEADERBYTES, "length of a header");
_Static_assert(CRYPTO_STREAM_MORE == crypto_secretstream_xchacha20poly1305_ABYTES, "length of a seal");
_Static_assert(sizeof(struct crypto_stream) >= sizeof(crypto_secretstream_xchacha20poly1305_state), "state fits");

static crypto_secretstream_xchacha20poly1305_state *state(struct crypto_stream *s)
{
	return (crypto_secretstream_xchacha20poly1305_state *)(void *)s->opaque;
}

bool crypto_start(void)
{
	return sodium_init() >= 0;
}

void crypto_random(void *p, size_t len)
{
	randombytes_buf(p, len);
}

void crypto_mac(const uint8_t key[CRYPTO_KEY], const void *p, size_t len, uint8_t out[CRYPTO_MAC])
{
	crypto_auth_hmacsha512256_state s;       /* as good as the key; crypto_auth leaves it on the stack */

	crypto_auth_hmacsha512256_init(&s, key, CRYPTO_KEY);
	crypto_auth_hmacsha512256_update(&s, p, len);
	crypto_auth_hmacsha512256_final(&s, out);
	sodium_memzero(&s, sizeof s);
	crypto_forget();
}

bool crypto_equal(const void *a, const void *b, size_t len)
{
	return sodium_memcmp(a, b, len) == 0;
}

void crypto_wipe(void *p, size_t len)
{
	sodium_memzero(p, len);
}

void crypto_forget(void)
{
	sodium_stackzero(STACK_BYTES);
}

void *crypto_secret_new(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
#ifdef MADV_DONTDUMP
	madvise(p, size, MADV_DONTDUMP);
#endif
	mlock(p, size);              /* never to a disk, where the limit on that allows it */
	return p;
}

void crypto_secret_free(void *p, size_t size)
{
	if (!p)
		return;
	sodium_memzero(p, size);
	munmap(p, size);
	crypto_forget();
}

bool crypto_secret_buf(struct buf *b, size_t size)
{
	*b = (struct buf){ crypto_secret_new(size), 0, size };
	return b->data != NULL;
}

void crypto_secret_buf_free(struct buf *b)
{
	crypto_secret_free(b->data, b->cap);
	*b = (struct buf)BUF_INIT;
}

void crypto_stream_write(struct crypto_stream *s, const uint8_t key[CRYPTO_KEY], uint8_t header[CRYPTO_STREAM_HEADER])
{
	crypto_secretstream_xchacha20poly1305_init_push(state(s), header, key);
}

bool crypto_stream_read(struct crypto_stream *s, const uint8_t key[CRYPTO_KEY], const uint8_t header[CRYPTO_STREAM_HEADER])
{
	return crypto_secretstream_xchacha20poly1305_init_pull(state(s), header, key) == 0;
}

void crypto_seal(struct crypto_stream *s, const void *p, size_t len, uint8_t *out)
{
	crypto_secretstream_xchacha20poly1305_push(state(s), out, NULL, p, len, NULL, 0, 0);
}

bool crypto_open(struct crypto_stream *s, const uint8_t *p, size_t len, uint8_t *out)
{
	unsigned char tag;

	return crypto_secretstream_xchacha20poly1305_pull(state(s), out, NULL, &tag, p, len, NULL, 0) == 0;
}
