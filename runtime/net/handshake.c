/* SPDX-License-Identifier: Apache-2.0
 * Proofs over what was said so far. */
#include "config.h"
#include "runtime/net/handshake.h"

#include <string.h>

enum { LABEL = 16, SAID_MAX = LABEL + 2 + 4 + 2 * CRYPTO_NONCE + 1 + 2 * CRYPTO_STREAM_HEADER };

/* What a proof covers. */
struct said { uint8_t byte[SAID_MAX]; size_t len; };

static void say(struct said *s, const void *p, size_t len)
{
	memcpy(s->byte + s->len, p, len);
	s->len += len;
}

static struct said said_hello(const struct handshake *h, const char *label)
{
	struct said s = { .len = LABEL };
	uint16_t version = WIRE_VERSION;
	uint8_t number[6] = { (uint8_t)version, (uint8_t)(version >> 8), (uint8_t)h->rank, (uint8_t)(h->rank >> 8),
		(uint8_t)(h->rank >> 16), (uint8_t)(h->rank >> 24) };

	memcpy(s.byte, label, strlen(label));
	say(&s, number, sizeof number);
	say(&s, h->nonce_worker, sizeof h->nonce_worker);
	return s;
}

static struct said said_challenge(const struct handshake *h, const char *label)
{
	struct said s = said_hello(h, label);
	uint8_t encrypt = h->encrypt;

	say(&s, &encrypt, 1);
	say(&s, h->nonce_coordinator, sizeof h->nonce_coordinator);
	say(&s, h->header_coordinator, sizeof h->header_coordinator);
	return s;
}

static void prove(const struct handshake *h, const struct said *s, uint8_t proof[CRYPTO_MAC])
{
	crypto_mac(h->key, s->byte, s->len, proof);
}

static bool proves(const struct handshake *h, const struct said *s, const uint8_t proof[CRYPTO_MAC])
{
	uint8_t right[CRYPTO_MAC];

	prove(h, s, right);
	return crypto_equal(right, proof, sizeof right);
}

static void prove_hello(const struct handshake *h, uint8_t proof[CRYPTO_MAC])
{
	struct said s = said_hello(h, "qcnn hello");

	prove(h, &s, proof);
}

/* The key of one direction. */
static void stream_key(const struct handshake *h, const char *label, uint8_t key[CRYPTO_KEY])
{
	struct said s = { .len = LABEL };

	memcpy(s.byte, label, strlen(label));
	say(&s, h->nonce_worker, sizeof h->nonce_worker);
	say(&s, h->nonce_coordinator, sizeof h->nonce_coordinator);
	crypto_mac(h->key, s.byte, s.len, key);
}

static void open_write(struct handshake *h, const char *label, uint8_t header[CRYPTO_STREAM_HEADER])
{
	uint8_t key[CRYPTO_KEY];

	memset(header, 0, CRYPTO_STREAM_HEADER);
	if (!h->encrypt)
		return;
	stream_key(h, label, key);
	crypto_stream_write(&h->write, key, header);
	crypto_wipe(key, sizeof key);
}

static bool open_read(struct handshake *h, const char *label, const uint8_t header[CRYPTO_STREAM_HEADER])
{
	uint8_t key[CRYPTO_KEY];
	bool ok;

	if (!h->encrypt)
		return true;
	stream_key(h, label, key);
	ok = crypto_stream_read(&h->read, key, header);
	crypto_wipe(key, sizeof key);
	return ok;
}

/* ---- the worker ---- */

void handshake_hello(struct handshake *h, struct buf *out)
{
	struct wire_hello m = { .version = WIRE_VERSION, .rank = h->rank };

	crypto_random(h->nonce_worker, sizeof h->nonce_worker);
	memcpy(m.nonce, h->nonce_worker, sizeof m.nonce);
	prove_hello(h, m.proof);
	wire_put_hello(out, &m);
}

bool handshake_answer(struct handshake *h, const uint8_t *body, size_t len, struct buf *out)
{
	struct wire_challenge c;
	struct wire_proof p;
	struct said s;

	if (!wire_get_challenge(body, len, &c))
		return false;
	h->encrypt = c.encrypt;
	memcpy(h->nonce_coordinator, c.nonce, sizeof c.nonce);
	memcpy(h->header_coordinator, c.header, sizeof c.header);
	s = said_challenge(h, "qcnn challenge");
	if (!proves(h, &s, c.proof) || !open_read(h, "qcnn to worker", c.header))
		return false;
	open_write(h, "qcnn to coord", p.header);
	s = said_challenge(h, "qcnn proof");
	say(&s, p.header, sizeof p.header);
	prove(h, &s, p.proof);
	wire_put_proof(out, &p);
	return true;
}

/* ---- the coordinator ---- */

bool handshake_challenge(struct handshake *h, const uint8_t *body, size_t len, struct buf *out)
{
	struct wire_hello m;
	struct wire_challenge c = { .encrypt = h->encrypt };
	struct said s;

	if (!wire_get_hello(body, len, &m) || m.version != WIRE_VERSION)
		return false;
	h->rank = m.rank;
	memcpy(h->nonce_worker, m.nonce, sizeof m.nonce);
	s = said_hello(h, "qcnn hello");
	if (!proves(h, &s, m.proof))
		return false;
	crypto_random(h->nonce_coordinator, sizeof h->nonce_coordinator);
	memcpy(c.nonce, h->nonce_coordinator, sizeof c.nonce);
	open_write(h, "qcnn to worker", h->header_coordinator);
	memcpy(c.header, h->header_coordinator, sizeof c.header);
	s = said_challenge(h, "qcnn challenge");
	prove(h, &s, c.proof);
	wire_put_challenge(out, &c);
	return true;
}

bool handshake_proved(struct handshake *h, const uint8_t *body, size_t len)
{
	struct wire_proof p;
	struct said s;

	if (!wire_get_proof(body, len, &p))
		return false;
	s = said_challenge(h, "qcnn proof");
	say(&s, p.header, sizeof p.header);
	return proves(h, &s, p.proof) && open_read(h, "qcnn to coord", p.header);
}
