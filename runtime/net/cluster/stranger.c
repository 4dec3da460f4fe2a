/* SPDX-License-Identifier: Apache-2.0
 * Connections that have not proved the key yet: those that come to a listener, and those by a worker's own standard
 * input and output. */
#include "config.h"
#include "runtime/net/cluster/member.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/arena.h"

#define STRANGER_S 2.0                   /* for the whole handshake */

/* A free place, or that of the oldest; whoever has shown a first proof goes last. */
static struct stranger *place_for_stranger(struct coordinator *c)
{
	struct stranger *best = &c->stranger[0];

	for (unsigned i = 0; i < STRANGERS_MAX; i++) {
		struct stranger *s = &c->stranger[i];

		if (s->peer.fd < 0)
			return s;
		if (s->by)
			continue;
		if (best->by || (s->challenged != best->challenged ? best->challenged : s->until < best->until))
			best = s;
	}
	return best;
}

static void stranger_init(struct coordinator *c, struct stranger *s, int fd, struct member *by, double until)
{
	peer_init(&s->peer, fd);
	memset(s->hs, 0, sizeof *s->hs);
	memcpy(s->hs->key, c->secrets->key, sizeof s->hs->key);
	memcpy(s->hs->job, c->job_id, sizeof s->hs->job);
	s->hs->encrypt = c->o.encrypt;
	s->hs->aes = crypto_has_aes();
	s->challenged = false;
	s->by = by;
	s->until = until;
}

/* It is nobody any more; whose process it was, is lost. */
static void stranger_end(struct coordinator *c, struct stranger *s, double now)
{
	struct member *m = s->by;
	struct err why;

	peer_close(&s->peer);
	s->by = NULL;
	if (!m || m->state != MEMBER_STARTED)
		return;
	err_set(&why, -ERR_AUTH, "it did not prove the job's key over its standard output");
	member_leave(c, m, &why, now);
}

static bool stranger_accept(struct coordinator *c, int listener, double now)
{
	struct stranger *s = place_for_stranger(c);
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	/* Without a descriptor left the oldest makes room, for the next turn. */
	if (fd < 0 && errno != EMFILE && errno != ENFILE)
		return false;
	if (s->by) {                 /* full of workers on their way */
		if (fd >= 0)
			close(fd);
		return false;
	}
	peer_close(&s->peer);
	if (fd < 0)
		return false;
	stranger_init(c, s, fd, NULL, now + STRANGER_S);
	stranger_read(c, s, now);    /* a worker speaks first, and may have */
	return true;
}

void stranger_carried(struct coordinator *c, struct member *m, double now)
{
	struct stranger *free_one = NULL;
	int fd;

	for (unsigned i = 0; i < STRANGERS_MAX; i++) {
		if (c->stranger[i].peer.fd >= 0 && c->stranger[i].by == m)
			return;
		if (c->stranger[i].peer.fd < 0 && !free_one)
			free_one = &c->stranger[i];
	}
	if (!free_one)
		return;                      /* next time */
	fd = fcntl(m->process.leash, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (m->process.why[0])
		coordinator_say(c, NULL, "%s %s; its standard input and output carry the work, which takes longer (%s)", m->name,
			m->process.why, launch_cure_of(m->process.why, 0));
	stranger_init(c, free_one, fd, m, now + c->o.start_s);
	stranger_read(c, free_one, now);
}

void strangers_forget(struct coordinator *c, const struct member *m)
{
	for (unsigned i = 0; i < STRANGERS_MAX; i++)
		if (c->stranger[i].peer.fd >= 0 && c->stranger[i].by == m) {
			peer_close(&c->stranger[i].peer);
			c->stranger[i].by = NULL;
		}
}

void strangers_watch(struct coordinator *c, double now)
{
	for (unsigned i = 0; i < STRANGERS_MAX; i++)
		if (c->stranger[i].peer.fd >= 0 && now > c->stranger[i].until)
			stranger_end(c, &c->stranger[i], now);
}

void strangers_accept(struct coordinator *c, int listener, double now)
{
	for (unsigned i = 0; i < STRANGERS_MAX && stranger_accept(c, listener, now); i++)
		;
}

/* A HELLO that was answered once is not answered again. */
static bool is_new(struct coordinator *c, const uint8_t public[CRYPTO_PUBLIC])
{
	for (size_t i = 0; i < c->nhello; i++)
		if (!memcmp(c->hello[i], public, CRYPTO_PUBLIC))
			return false;
	if (c->nhello == HELLOS_MAX)
		return false;
	mem_reserve(c->hello, c->nhello, c->hello_cap);
	memcpy(c->hello[c->nhello++], public, CRYPTO_PUBLIC);
	return true;
}

/* The connection is that of a worker we started, and its only one. */
static bool welcome(struct coordinator *c, struct stranger *s, double now)
{
	struct member *m = s->hs->rank < c->nmember ? &c->member[s->hs->rank] : NULL;

	if (!m || m->state != MEMBER_STARTED || (s->by && s->by != m))
		return false;
	if (!peer_trust(&s->peer, s->hs))
		return false;
	m->numerical = s->hs->numerical;
	crypto_wipe(s->hs->key, sizeof s->hs->key);
	crypto_wipe(&s->hs->read, sizeof s->hs->read);
	crypto_wipe(&s->hs->write, sizeof s->hs->write);
	m->peer = s->peer;
	m->near = peer_near(&m->peer) || m->place.launcher == LAUNCHER_LOCAL;
	s->peer = (struct peer){ .fd = -1 };
	s->by = NULL;
	m->state = MEMBER_PROVED;
	m->heard = now;
	m->beaten = 0;
	member_beat(c, m, now);      /* at once: so it knows that it is in */
	return true;
}

/* One step of the handshake; false: nothing more is said to this connection. */
static bool stranger_step(struct coordinator *c, struct stranger *s, double now)
{
	struct buf answer = BUF_INIT;
	const uint8_t *body;
	size_t len;
	bool ok;
	int n = peer_next(&s->peer, &body, &len, NULL);

	if (n <= 0)
		return n == 0;
	if (s->challenged)
		return handshake_proved(s->hs, body, len) && welcome(c, s, now);
	ok = handshake_challenge(s->hs, body, len, &answer) && is_new(c, s->hs->public_worker);
	if (ok) {
		s->challenged = true;
		peer_put(&s->peer, &answer);
		ok = !peer_flush(&s->peer, NULL);
	}
	buf_release(&answer);
	return ok;
}

void stranger_read(struct coordinator *c, struct stranger *s, double now)
{
	bool ok = !peer_fill(&s->peer, NULL) && stranger_step(c, s, now);

	if (ok && s->peer.fd < 0) {          /* now a worker's, which may have said more */
		if (c->member[s->hs->rank].peer.fd >= 0)
			member_read(c, &c->member[s->hs->rank], now);
	} else if (!ok || s->peer.in_len - s->peer.in_at > WIRE_EARLY_MAX + WIRE_HEADER)
		stranger_end(c, s, now);
}
