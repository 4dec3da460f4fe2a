/* SPDX-License-Identifier: Apache-2.0
 * Both sides of a connection prove that they hold the job's key, without showing it, and agree on keys of this
 * connection alone, in the manner of the Noise pattern NNpsk0.
 *
 * Worker: HELLO.  Coordinator, only when the proof in it holds: CHALLENGE.  Worker: PROOF.
 * With MAC(key, label, text) for HMAC-SHA512-256 over a label of 16 bytes and the text:
 *
 *   hello     = the job, version, numerical version, rank, aes, the worker's public half
 *   HELLO       proof = MAC(job's key, "qcnn hello", hello)
 *   secret    = MAC(job's key, "qcnn secret", X25519 of both halves, hello, encrypt, aes, the coordinator's public
 *               half)
 *   CHALLENGE   proof = MAC(secret, "qcnn challenge", nothing)
 *   PROOF       proof = MAC(secret, "qcnn proof", nothing)
 *
 * A profiler (WIRE_RANK_PROFILER) takes the worker's part, with zeros for the job.
 *
 * Each direction's two keys are MAC(secret, ...) under labels of their own.  So no message can be used for another
 * purpose, in another job or connection, or by the other role; and since the secret halves of the exchange are wiped,
 * someone who learns the job's key later cannot read what was recorded. */
#ifndef QCNN_HANDSHAKE_H
#define QCNN_HANDSHAKE_H

#include "runtime/net/protocol/wire.h"

struct handshake {
	uint8_t key[CRYPTO_KEY], job[WIRE_JOB_ID];
	uint32_t rank, numerical;    /* numerical: the worker's NUMERICAL_VERSION */
	bool encrypt;
	bool aes;                    /* does this side have crypto_has_aes? in the end: do both? */
	bool worker_aes;             /* the coordinator's side: what HELLO says of it */
	uint8_t own[CRYPTO_KEY];     /* the secret half of the exchange, until it is used */
	uint8_t public_worker[CRYPTO_PUBLIC], public_coordinator[CRYPTO_PUBLIC];
	uint8_t secret[CRYPTO_KEY];  /* of this connection, until the last step */
	struct crypto_keys read, write;      /* after the last step */
};

/* The worker's side: key, job, rank, numerical and aes are set.  Bodies are appended to *out. */
void handshake_hello(struct handshake *h, struct buf *out);
bool handshake_answer(struct handshake *h, const uint8_t *body, size_t len, struct buf *out);

/* The coordinator's: key, job, encrypt and aes are set.  False: nothing is to be sent to the other side.
 * A HELLO is verified first, which takes a MAC; then rank, numerical and public_worker are known, and the caller decides
 * whether it answers: only the challenge takes operations of X25519. */
bool handshake_take_hello(struct handshake *h, const uint8_t *body, size_t len);
bool handshake_challenge(struct handshake *h, struct buf *out);
bool handshake_proved(struct handshake *h, const uint8_t *body, size_t len);

#endif
