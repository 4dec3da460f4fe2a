/* SPDX-License-Identifier: Apache-2.0
 * Pending connections: those that have not proved the job's key yet.  They come to a listener, or are the standard
 * input and output of a worker. */
#include "runtime/net/cluster/cluster_state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/arena.h"

#define HANDSHAKE_S 2.0                   /* for the whole handshake */

/* A free place, or that of the oldest connection; those with a valid HELLO are replaced last. */
static struct pending *place_for_pending(struct coordinator *c)
{
	struct pending *best = &c->pending.at[0];

	for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++) {
		struct pending *s = &c->pending.at[i];

		if (s->peer.fd < 0)
			return s;
		if (s->by)
			continue;
		if (best->by || (s->challenged != best->challenged ? best->challenged : s->until < best->until))
			best = s;
	}
	return best;
}

static void pending_init(struct coordinator *c, struct pending *s, int fd, struct worker *by, double until)
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

/* Close it.  The worker whose standard output it was is lost. */
static void pending_end(struct coordinator *c, struct pending *s, double now)
{
	struct worker *w = s->by;
	struct err why;

	peer_close(&s->peer);
	s->by = NULL;
	if (!w || w->state != WORKER_STARTED)
		return;
	err_set(&why, -ERR_AUTH, "it did not prove the job's key over its standard output");
	worker_leave(c, w, &why, now);
}

static bool pending_accept(struct coordinator *c, int listener, double now)
{
	struct pending *s = place_for_pending(c);
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	/* Without a free descriptor the oldest connection is closed, for the next turn. */
	if (fd < 0 && errno != EMFILE && errno != ENFILE)
		return false;
	if (s->by) {                 /* all places have workers that are connecting */
		fd_close(fd);
		return false;
	}
	peer_close(&s->peer);
	if (fd < 0)
		return false;
	pending_init(c, s, fd, NULL, now + HANDSHAKE_S);
	pending_read(c, s, now);    /* a worker sends first, and may have done so */
	return true;
}

void pending_tunnelled(struct coordinator *c, struct worker *w, double now)
{
	struct pending *free_one = NULL;

	for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++) {
		if (c->pending.at[i].peer.fd >= 0 && c->pending.at[i].by == w)
			return;
		if (c->pending.at[i].peer.fd < 0 && !free_one)
			free_one = &c->pending.at[i];
	}
	if (!free_one)
		return;                      /* in the next turn */
	int fd = fcntl(w->process.control, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (w->process.why[0])
		coordinator_say(c, NULL,
			"%s %s; its standard input and output are used instead, which is slower (%s)",
			w->name, w->process.why, launch_hint_of(w->process.why, 0));
	pending_init(c, free_one, fd, w, now + c->o.start_s);
	pending_read(c, free_one, now);
}

void pending_forget(struct coordinator *c, const struct worker *w)
{
	for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++)
		if (c->pending.at[i].peer.fd >= 0 && c->pending.at[i].by == w) {
			peer_close(&c->pending.at[i].peer);
			c->pending.at[i].by = NULL;
		}
}

void pending_watch(struct coordinator *c, double now)
{
	for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++)
		if (c->pending.at[i].peer.fd >= 0 && now > c->pending.at[i].until)
			pending_end(c, &c->pending.at[i], now);
}

void pending_accept_all(struct coordinator *c, int listener, double now)
{
	for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX && pending_accept(c, listener, now); i++)
		;
}

/* A HELLO that was answered once is not answered again. */
static bool is_new(struct coordinator *c, const uint8_t public[CRYPTO_PUBLIC])
{
	for (size_t i = 0; i < c->pending.nhello; i++)
		if (!memcmp(c->pending.hello[i], public, CRYPTO_PUBLIC))
			return false;
	if (c->pending.nhello == HELLOS_MAX)
		return false;
	mem_reserve(c->pending.hello, c->pending.nhello, c->pending.hello_cap);
	memcpy(c->pending.hello[c->pending.nhello++], public, CRYPTO_PUBLIC);
	return true;
}

static void wipe_keys(struct handshake *hs)
{
	crypto_wipe(hs->key, sizeof hs->key);
	crypto_wipe(&hs->read, sizeof hs->read);
	crypto_wipe(&hs->write, sizeof hs->write);
}

/* No worker: someone who takes a profile. */
static bool welcome_profiler(struct coordinator *c, struct pending *s)
{
	if (s->by || !c->on_profiler || !peer_trust(&s->peer, s->hs))
		return false;
	wipe_keys(s->hs);
	c->on_profiler(c->profiler_ctx, &s->peer);
	s->peer = (struct peer){ .fd = -1 };
	return true;
}

/* NULL: there is none of this rank. */
static struct worker *worker_of_rank(struct coordinator *c, uint32_t rank)
{
	return rank >= c->first_rank && rank - c->first_rank < c->nworker
		? &c->worker[rank - c->first_rank]
		: NULL;
}

/* Make it the connection of its worker, which must have none yet. */
static bool welcome(struct coordinator *c, struct pending *s, double now)
{
	struct worker *w = worker_of_rank(c, s->hs->rank);

	if (s->hs->rank == WIRE_RANK_PROFILER)
		return welcome_profiler(c, s);
	if (!w || w->state != WORKER_STARTED || (s->by && s->by != w))
		return false;
	if (!peer_trust(&s->peer, s->hs))
		return false;
	w->numerical = s->hs->numerical;
	wipe_keys(s->hs);
	w->peer = s->peer;
	w->on_this_host = peer_is_local(&w->peer) || w->place.launcher == LAUNCHER_LOCAL;
	s->peer = (struct peer){ .fd = -1 };
	s->by = NULL;
	worker_set_state(w, WORKER_PROVED);
	w->heard = now;
	w->heartbeat_at = 0;
	worker_heartbeat(c, w, now);      /* at once: it tells the worker that its proof was accepted */
	return true;
}

/* One step of the handshake; false: close the connection without an answer. */
static bool pending_step(struct coordinator *c, struct pending *s, double now)
{
	buf_auto answer = BUF_INIT;
	const uint8_t *body;
	size_t len;
	int n = peer_next(&s->peer, &body, &len, NULL);

	if (n <= 0)
		return n == 0;
	if (s->challenged)
		return handshake_proved(s->hs, body, len) && welcome(c, s, now);
	bool ok = handshake_take_hello(s->hs, body, len) && is_new(c, s->hs->public_worker)
		&& handshake_challenge(s->hs, &answer);
	if (ok) {
		s->challenged = true;
		peer_put(&s->peer, &answer);
		ok = !peer_flush(&s->peer, NULL);
	}
	return ok;
}

void pending_read(struct coordinator *c, struct pending *s, double now)
{
	bool ok = !peer_fill(&s->peer, NULL) && pending_step(c, s, now);
	struct worker *w;

	if (ok && s->peer.fd < 0) {          /* it is a worker's now, and more messages may have come */
		w = worker_of_rank(c, s->hs->rank);
		if (w && w->peer.fd >= 0)
			worker_read(c, w, now);
	} else if (!ok || s->peer.in_len - s->peer.in_at > WIRE_EARLY_MAX + WIRE_HEADER)
		pending_end(c, s, now);
}
