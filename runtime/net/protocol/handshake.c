/* SPDX-License-Identifier: Apache-2.0
 * Proofs over what was said so far, and the keys that follow from it. */
#include "runtime/net/protocol/handshake.h"

#include <string.h>

enum { LABEL = 16, SAID_MAX = LABEL + CRYPTO_KEY + WIRE_JOB_ID + 2 + 4 + 4 + 1 + 1 + 1 + 2 * CRYPTO_PUBLIC };

/* What a MAC covers. */
struct said { uint8_t byte[SAID_MAX]; size_t len; };

static struct said said_label(const char *label)
{
	struct said s = { .len = LABEL };

	memcpy(s.byte, label, strlen(label));
	return s;
}

static void say(struct said *s, const void *p, size_t len)
{
	memcpy(s->byte + s->len, p, len);
	s->len += len;
}

static void say_number(struct said *s, uint32_t v, int nbyte)
{
	for (int i = 0; i < nbyte; i++)
		s->byte[s->len++] = (uint8_t)(v >> 8 * i);
}

static void say_hello(struct said *s, const struct handshake *h, bool aes)
{
	say(s, h->job, sizeof h->job);
	say_number(s, WIRE_VERSION, 2);
	say_number(s, h->numerical, 4);
	say_number(s, h->rank, 4);
	say_number(s, aes, 1);
	say(s, h->public_worker, sizeof h->public_worker);
}

static void mac(const uint8_t key[CRYPTO_KEY], struct said *s, uint8_t out[CRYPTO_MAC])
{
	crypto_mac(key, s->byte, s->len, out);
	crypto_wipe(s, sizeof *s);
}

static bool mac_is(const uint8_t key[CRYPTO_KEY], struct said *s, const uint8_t proof[CRYPTO_MAC])
{
	uint8_t right[CRYPTO_MAC];

	mac(key, s, right);
	bool same = crypto_equal(right, proof, sizeof right);
	crypto_wipe(right, sizeof right);
	return same;
}

/* aes: what the worker said of itself. */
static void prove_hello(const struct handshake *h, bool aes, uint8_t proof[CRYPTO_MAC])
{
	struct said s = said_label("qcnn hello");

	say_hello(&s, h, aes);
	mac(h->key, &s, proof);
}

/* The secret of this connection; the own half of the exchange is used up. */
static bool agree(struct handshake *h, bool worker_aes, const uint8_t other[CRYPTO_PUBLIC])
{
	struct said s = said_label("qcnn secret");
	bool ok = crypto_exchange(h->own, other, s.byte + s.len);

	crypto_wipe(h->own, sizeof h->own);
	s.len += CRYPTO_KEY;
	say_hello(&s, h, worker_aes);
	say_number(&s, h->encrypt, 1);
	say_number(&s, h->aes, 1);
	say(&s, h->public_coordinator, sizeof h->public_coordinator);
	mac(h->key, &s, h->secret);
	return ok;
}

static void derive(const struct handshake *h, const char *label, const char *length_label, struct crypto_keys *out)
{
	struct said s = said_label(label), lengths = said_label(length_label);
	uint8_t key[CRYPTO_MAC];

	mac(h->secret, &s, out->body);
	mac(h->secret, &lengths, key);
	memcpy(out->length, key, sizeof out->length);
	crypto_wipe(key, sizeof key);
}

/* Both sides have proved: nothing but the keys of the connection is left. */
static void derive_both(struct handshake *h, struct crypto_keys *to_worker, struct crypto_keys *to_coordinator)
{
	derive(h, "qcnn to worker", "qcnn len worker", to_worker);
	derive(h, "qcnn to coord", "qcnn len coord", to_coordinator);
	crypto_wipe(h->secret, sizeof h->secret);
}

/* ---- the worker ---- */

void handshake_hello(struct handshake *h, struct buf *out)
{
	struct wire_hello m = { .version = WIRE_VERSION, .numerical = h->numerical, .rank = h->rank, .aes = h->aes };

	crypto_exchange_new(h->own, h->public_worker);
	memcpy(m.public, h->public_worker, sizeof m.public);
	prove_hello(h, h->aes, m.proof);
	wire_put_hello(out, &m);
}

bool handshake_answer(struct handshake *h, const uint8_t *body, size_t len, struct buf *out)
{
	struct wire_challenge c;
	struct wire_proof p;
	struct said theirs = said_label("qcnn challenge"), ours = said_label("qcnn proof");

	if (!wire_get_challenge(body, len, &c) || (c.aes && !h->aes))
		return false;
	h->encrypt = c.encrypt;
	bool has = h->aes;
	h->aes = c.aes;
	memcpy(h->public_coordinator, c.public, sizeof c.public);
	if (!agree(h, has, c.public) || !mac_is(h->secret, &theirs, c.proof))
		return false;
	mac(h->secret, &ours, p.proof);
	wire_put_proof(out, &p);
	derive_both(h, &h->read, &h->write);
	return true;
}

/* ---- the coordinator ---- */

bool handshake_take_hello(struct handshake *h, const uint8_t *body, size_t len)
{
	struct wire_hello m;
	uint8_t right[CRYPTO_MAC];

	if (!wire_get_hello(body, len, &m) || m.version != WIRE_VERSION)
		return false;
	if (m.rank == WIRE_RANK_PROFILER)
		memset(h->job, 0, sizeof h->job);
	h->rank = m.rank;
	h->numerical = m.numerical;
	h->worker_aes = m.aes;
	memcpy(h->public_worker, m.public, sizeof m.public);
	prove_hello(h, m.aes, right);
	return crypto_equal(right, m.proof, sizeof right);
}

bool handshake_challenge(struct handshake *h, struct buf *out)
{
	struct wire_challenge c = { .encrypt = h->encrypt };
	struct said ours = said_label("qcnn challenge");

	crypto_exchange_new(h->own, h->public_coordinator);
	memcpy(c.public, h->public_coordinator, sizeof c.public);
	c.aes = h->aes = h->aes && h->worker_aes;
	if (!agree(h, h->worker_aes, h->public_worker))
		return false;
	mac(h->secret, &ours, c.proof);
	wire_put_challenge(out, &c);
	return true;
}

bool handshake_proved(struct handshake *h, const uint8_t *body, size_t len)
{
	struct said theirs = said_label("qcnn proof");
	struct wire_proof p;

	if (!wire_get_proof(body, len, &p) || !mac_is(h->secret, &theirs, p.proof))
		return false;
	derive_both(h, &h->write, &h->read);
	return true;
}
