/* SPDX-License-Identifier: Apache-2.0
 * Thin names over libsodium's crypto_auth, crypto_scalarmult, crypto_aead and crypto_shorthash. */
#include "runtime/base/crypto/crypto_session.h"

#include <ctype.h>
#include <sodium.h>
#include <string.h>
#include <sys/mman.h>

enum { NONCE = 12 };
enum { STACK_BYTES = 16384 };            /* more than hashing, copying and the loader's saved registers take */

_Static_assert(CRYPTO_KEY == crypto_auth_KEYBYTES && CRYPTO_KEY == crypto_aead_chacha20poly1305_ietf_KEYBYTES, "one key length");
_Static_assert(CRYPTO_MAC == crypto_auth_BYTES, "length of a proof");
_Static_assert(CRYPTO_KEY == crypto_scalarmult_SCALARBYTES && CRYPTO_PUBLIC == crypto_scalarmult_BYTES, "lengths of X25519");
_Static_assert(CRYPTO_LENGTH_KEY == crypto_shorthash_KEYBYTES && CRYPTO_LENGTH_TAG == crypto_shorthash_BYTES, "lengths of SipHash");
_Static_assert(CRYPTO_SEAL == crypto_aead_chacha20poly1305_ietf_ABYTES && CRYPTO_SEAL == crypto_aead_aes256gcm_ABYTES, "length of a seal");
_Static_assert(CRYPTO_KEY == crypto_aead_aes256gcm_KEYBYTES && sizeof(crypto_aead_aes256gcm_state) == CRYPTO_AES_STATE, "AES fits");
_Static_assert(NONCE == crypto_aead_chacha20poly1305_ietf_NPUBBYTES && NONCE == crypto_aead_aes256gcm_NPUBBYTES, "one length of nonces");

bool crypto_start(void) { return sodium_init() >= 0; }

void crypto_random(void *p, size_t len) { randombytes_buf(p, len); }

void crypto_mac(const uint8_t key[CRYPTO_KEY], const void *p, size_t len, uint8_t out[CRYPTO_MAC])
{
	crypto_auth_hmacsha512256_state s;       /* as good as the key; crypto_auth leaves it on the stack */

	crypto_auth_hmacsha512256_init(&s, key, CRYPTO_KEY);
	crypto_auth_hmacsha512256_update(&s, p, len);
	crypto_auth_hmacsha512256_final(&s, out);
	sodium_memzero(&s, sizeof s);
	crypto_forget();
}

static bool is_printable(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && (isprint((unsigned char)text[i]) || isspace((unsigned char)text[i])))
		i++;
	return i == len;
}

bool crypto_key_of_text(const char *text, size_t len, uint8_t key[CRYPTO_KEY])
{
	size_t n = 0;

	if (len == CRYPTO_KEY) {
		memcpy(key, text, len);
		return !is_printable(text, len);
	}
	if (len == 2 * CRYPTO_KEY)
		return !sodium_hex2bin(key, CRYPTO_KEY, text, len, NULL, &n, NULL) && n == CRYPTO_KEY;
	if (len && text[len - 1] == '=')
		len--;
	return !sodium_base642bin(key, CRYPTO_KEY, text, len, NULL, &n, NULL, sodium_base64_VARIANT_ORIGINAL_NO_PADDING) && n == CRYPTO_KEY;
}

bool crypto_equal(const void *a, const void *b, size_t len)
{
	return sodium_memcmp(a, b, len) == 0;
}

void crypto_wipe(void *p, size_t len) { sodium_memzero(p, len); }

void crypto_forget(void) { sodium_stackzero(STACK_BYTES); }

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

void crypto_exchange_new(uint8_t secret[CRYPTO_KEY], uint8_t public[CRYPTO_PUBLIC])
{
	randombytes_buf(secret, CRYPTO_KEY);
	crypto_scalarmult_base(public, secret);
	crypto_forget();
}

bool crypto_exchange(const uint8_t secret[CRYPTO_KEY], const uint8_t public[CRYPTO_PUBLIC], uint8_t shared[CRYPTO_KEY])
{
	bool ok = crypto_scalarmult(shared, secret, public) == 0;

	crypto_forget();
	return ok;
}

static void put_le64(uint8_t out[8], uint64_t v)
{
	for (int i = 0; i < 8; i++)
		out[i] = (uint8_t)(v >> 8 * i);
}

void crypto_tag_length(const struct crypto_channel *c, uint32_t len, uint8_t tag[CRYPTO_LENGTH_TAG])
{
	uint8_t said[12];

	put_le64(said, c->count);
	for (int i = 0; i < 4; i++)
		said[8 + i] = (uint8_t)(len >> 8 * i);
	crypto_shorthash(tag, said, sizeof said, c->keys.length);
}

bool crypto_has_aes(void) { return crypto_aead_aes256gcm_is_available() != 0; }

static crypto_aead_aes256gcm_state *aes_state(struct crypto_channel *c)
{
	return (crypto_aead_aes256gcm_state *)(void *)c->aes_state;
}

void crypto_channel_open(struct crypto_channel *c, const struct crypto_keys *keys, bool encrypt, bool aes)
{
	c->keys = *keys;
	c->count = 0;
	c->encrypt = encrypt;
	c->aes = aes;
	if (aes)
		crypto_aead_aes256gcm_beforenm(aes_state(c), keys->body);
}

struct nonce { uint8_t byte[NONCE]; };

/* Four zero bytes, then the number of the message: used once with a key. */
static struct nonce next_nonce(struct crypto_channel *c)
{
	struct nonce n = { { 0 } };

	put_le64(n.byte + 4, c->count++);
	return n;
}

/* A body that stays readable is the additional data of an empty message. */
void crypto_seal(struct crypto_channel *c, uint8_t *p, size_t len, uint8_t tag[CRYPTO_SEAL])
{
	struct nonce n = next_nonce(c);
	size_t hidden = c->encrypt ? len : 0, open = len - hidden;

	if (c->aes)
		crypto_aead_aes256gcm_encrypt_detached_afternm(p, tag, NULL, p, hidden, p, open, NULL, n.byte, aes_state(c));
	else
		crypto_aead_chacha20poly1305_ietf_encrypt_detached(p, tag, NULL, p, hidden, p, open, NULL, n.byte, c->keys.body);
}

bool crypto_open(struct crypto_channel *c, uint8_t *p, size_t len, const uint8_t tag[CRYPTO_SEAL])
{
	struct nonce n = next_nonce(c);
	size_t hidden = c->encrypt ? len : 0, open = len - hidden;

	if (c->aes)
		return !crypto_aead_aes256gcm_decrypt_detached_afternm(p, NULL, p, hidden, tag, p, open, n.byte, aes_state(c));
	return !crypto_aead_chacha20poly1305_ietf_decrypt_detached(p, NULL, p, hidden, tag, p, open, n.byte, c->keys.body);
}
