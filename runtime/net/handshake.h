/* SPDX-License-Identifier: Apache-2.0
 * Both sides of a connection prove that they hold the job's key, without showing it.
 *
 * Worker: HELLO.  Coordinator, only when the first proof holds: CHALLENGE.  Worker: PROOF.
 * A proof is HMAC-SHA512-256 by the job's key over a label of 16 bytes and
 *   HELLO      version, rank, the worker's nonce
 *   CHALLENGE  the same, encrypt, the coordinator's nonce, the coordinator's stream header
 *   PROOF      the same, the worker's stream header
 * so none can be used for another purpose, in another connection, or a second time.  Where
 * frames are sealed, each direction's key is the same function of its own label and both nonces. */
#ifndef QCNN_HANDSHAKE_H
#define QCNN_HANDSHAKE_H

#include "runtime/net/wire.h"

struct handshake {
	uint8_t key[CRYPTO_KEY];
	uint32_t rank;
	bool encrypt;
	uint8_t nonce_worker[CRYPTO_NONCE], nonce_coordinator[CRYPTO_NONCE];
	uint8_t header_worker[CRYPTO_STREAM_HEADER], header_coordinator[CRYPTO_STREAM_HEADER];
	struct crypto_stream read, write;    /* where encrypt is set, after the last step */
};

/* The worker's side: h->key and h->rank are set.  Bodies are appended to *out. */
void handshake_hello(struct handshake *h, struct buf *out);
bool handshake_answer(struct handshake *h, const uint8_t *body, size_t len, struct buf *out);

/* The coordinator's: h->key and h->encrypt are set.  False: not one word to the other side. */
bool handshake_challenge(struct handshake *h, const uint8_t *body, size_t len, struct buf *out);
bool handshake_proved(struct handshake *h, const uint8_t *body, size_t len);

#endif
