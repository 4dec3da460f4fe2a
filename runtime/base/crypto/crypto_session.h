/* SPDX-License-Identifier: Apache-2.0
 * Keys, proofs and sealed streams between two processes (libsodium stays behind this file). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/buf.h"

enum {
	CRYPTO_KEY = 32, CRYPTO_PUBLIC = 32, CRYPTO_MAC = 32,
	CRYPTO_LENGTH_KEY = 16, CRYPTO_LENGTH_TAG = 8,
	CRYPTO_SEAL = 16,            /* bytes of the tag of a sealed message */
	CRYPTO_AES_STATE = 512
};

/* Before anything else here; false where the system has no random numbers. */
bool crypto_start(void);
void crypto_random(void *p, size_t len);
/* HMAC-SHA512-256 of p[0..len). */
void crypto_mac(const uint8_t key[CRYPTO_KEY], const void *p, size_t len, uint8_t out[CRYPTO_MAC]);
/* The 32 bytes that a text gives: as 64 hexadecimal digits, as base64, or as they are, unless all of them are printable:
 * that is a passphrase, which can be guessed.  False: it is none of these. */
bool crypto_key_of_text(const char *text, size_t len, uint8_t key[CRYPTO_KEY]);
/* In a time that does not tell where they differ. */
bool crypto_equal(const void *a, const void *b, size_t len);
void crypto_wipe(void *p, size_t len);
/* Wipe what functions that have returned left on this thread's stack: registers that were saved with a key in them.
 * crypto_mac and crypto_secret_free do so. */
void crypto_forget(void);
/* Zeroed memory for keys, which no core file has; NULL: there is none.  Freed it is wiped; NULL may be freed. */
void *crypto_secret_new(size_t size);
void crypto_secret_free(void *p, size_t size);
/* A buffer in such memory, which size bytes must be enough for: it cannot grow.  False: there is none. */
bool crypto_secret_buf(struct buf *b, size_t size);
void crypto_secret_buf_free(struct buf *b);

/* X25519: a new secret and its public half. */
void crypto_exchange_new(uint8_t secret[CRYPTO_KEY], uint8_t public[CRYPTO_PUBLIC]);
/* What both sides get from their own secret and the other's public half; false: that is a point of small order, which
 * gives the same to everybody. */
bool crypto_exchange(const uint8_t secret[CRYPTO_KEY], const uint8_t public[CRYPTO_PUBLIC], uint8_t shared[CRYPTO_KEY]);

/* Does this processor do AES-256-GCM by its own instructions?  Then a short message takes a third of the time. */
bool crypto_has_aes(void);

/* One direction of a connection.  Messages are numbered from 0, and the number is part of every tag: a message that was
 * changed, repeated, left out or moved is refused.  Bodies by AES-256-GCM or ChaCha20-Poly1305 (RFC 8439), lengths by
 * SipHash-2-4. */
struct crypto_keys { uint8_t body[CRYPTO_KEY], length[CRYPTO_LENGTH_KEY]; };
struct crypto_channel {
	_Alignas(16) uint8_t aes_state[CRYPTO_AES_STATE];
	struct crypto_keys keys;
	uint64_t count;              /* messages so far */
	bool encrypt;                /* false: bodies stay readable, and have the tag alone */
	bool aes;
};
/* c is in memory for keys. */
void crypto_channel_open(struct crypto_channel *c, const struct crypto_keys *keys, bool encrypt, bool aes);
/* The tag of the next message's length: with it a receiver need not wait for a length that nobody sent. */
void crypto_tag_length(const struct crypto_channel *c, uint32_t len, uint8_t tag[CRYPTO_LENGTH_TAG]);
/* Seals the next message in place. */
void crypto_seal(struct crypto_channel *c, uint8_t *p, size_t len, uint8_t tag[CRYPTO_SEAL]);
/* Opens the next message in place; false: it is not what the other side sealed next, and p holds nothing of use. */
bool crypto_open(struct crypto_channel *c, uint8_t *p, size_t len, const uint8_t tag[CRYPTO_SEAL]);
