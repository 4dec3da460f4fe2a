/* SPDX-License-Identifier: Apache-2.0
 * Both sides of a connection prove that they hold the job's key, without revealing it, and agree on keys for this
 * connection only, as in the Noise pattern NNpsk0.
 *
 * The worker sends HELLO; the coordinator, if the proof in it is valid, CHALLENGE; the worker PROOF.
 * With MAC(key, label, text) for HMAC-SHA512-256 over a label of 16 bytes and the text:
 *
 *   hello     = the job, version, numerical version, rank, aes, the worker's public key
 *   HELLO       proof = MAC(job's key, "qcnn hello", hello)
 *   secret    = MAC(job's key, "qcnn secret", X25519 of both keys, hello, encrypt, aes, the coordinator's public key)
 *   CHALLENGE   proof = MAC(secret, "qcnn challenge", "")
 *   PROOF       proof = MAC(secret, "qcnn proof", "")
 *
 * A profiler (WIRE_RANK_PROFILER) has the worker's role, with zeros for the job.
 *
 * The two keys of each direction are MAC(secret, ...) with different labels.  So no message can be used for another
 * purpose, in another job or connection, or by the other role; and since the private keys of the exchange are wiped, an
 * attacker who learns the job's key later cannot decrypt recorded messages. */
#pragma once

#include "runtime/net/protocol/wire.h"

struct handshake {
	uint8_t key[CRYPTO_KEY], job[WIRE_JOB_ID];
	uint32_t rank, numerical;    /* numerical: the worker's NUMERICAL_VERSION */
	bool encrypt;
	bool aes;        /* crypto_has_aes() of this side; after the handshake: of both sides */
	bool worker_aes; /* the coordinator's side: aes of HELLO */
	uint8_t own[CRYPTO_KEY]; /* private key of the exchange, wiped once it is used */
	uint8_t public_worker[CRYPTO_PUBLIC], public_coordinator[CRYPTO_PUBLIC];
	uint8_t secret[CRYPTO_KEY];          /* of this connection, wiped in the last step */
	struct crypto_keys read, write;      /* after the last step */
};

/* The worker's side: key, job, rank, numerical and aes are set.  Bodies are appended to *out. */
void handshake_hello(struct handshake *h, struct buf *out);
bool handshake_answer(struct handshake *h, const uint8_t *body, size_t len, struct buf *out);

/* The coordinator's side: key, job, encrypt and aes are set.  False: send nothing to the peer.
 * handshake_take_hello verifies HELLO, which costs a MAC; then rank, numerical and public_worker are set, and the caller
 * decides whether to answer: only handshake_challenge computes X25519. */
bool handshake_take_hello(struct handshake *h, const uint8_t *body, size_t len);
bool handshake_challenge(struct handshake *h, struct buf *out);
bool handshake_proved(struct handshake *h, const uint8_t *body, size_t len);
