/* SPDX-License-Identifier: Apache-2.0
 * Keys, proofs and sealed streams between two processes (libsodium stays behind this file). */
#ifndef QCNN_CRYPTO_SESSION_H
#define QCNN_CRYPTO_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/buf.h"

enum {
	CRYPTO_KEY = 32, CRYPTO_NONCE = 32, CRYPTO_MAC = 32,
	CRYPTO_STREAM_HEADER = 24,   /* what the reading side needs before the first message */
	CRYPTO_STREAM_MORE = 17      /* bytes that a sealed message is longer */
};

/* Before anything else here; false where the system has no random numbers. */
bool crypto_start(void);
void crypto_random(void *p, size_t len);
/* HMAC-SHA512-256 of p[0..len). */
void crypto_mac(const uint8_t key[CRYPTO_KEY], const void *p, size_t len, uint8_t out[CRYPTO_MAC]);
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

/* One direction of a connection: XChaCha20-Poly1305, messages in order, none lost or doubled. */
struct crypto_stream { uint64_t opaque[8]; };
void crypto_stream_write(struct crypto_stream *s, const uint8_t key[CRYPTO_KEY], uint8_t header[CRYPTO_STREAM_HEADER]);
bool crypto_stream_read(struct crypto_stream *s, const uint8_t key[CRYPTO_KEY], const uint8_t header[CRYPTO_STREAM_HEADER]);
/* out has len + CRYPTO_STREAM_MORE bytes; may not overlap p. */
void crypto_seal(struct crypto_stream *s, const void *p, size_t len, uint8_t *out);
/* out has len - CRYPTO_STREAM_MORE bytes; false: not what the other side sealed next. */
bool crypto_open(struct crypto_stream *s, const uint8_t *p, size_t len, uint8_t *out);

#endif
