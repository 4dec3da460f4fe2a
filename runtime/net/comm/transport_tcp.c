/* SPDX-License-Identifier: Apache-2.0
 * Ranks of different hosts: a connection for each pair. The system's buffers move on while this
 * process computes, and several chunks for each rank are in its own. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/cpus.h"
#include "runtime/net/comm/tcp_join.h"

struct tcp {
	unsigned rank, size;
	bool aborted;
	double silent_s; /* that another rank may be */
	struct spin spin;
	struct tcp_link link[GROUP_RANKS_MAX];
};

static int tcp_open(const struct group_opening *g, void **out, struct err *e)
{
	struct tcp *t = mem_alloc(1, sizeof *t);

	t->rank = g->rank;
	t->size = g->size;
	t->silent_s = g->offer->options.deadline_ms / 1e3;
	t->spin.allowed = cpus_threads(NULL) > 1;
	int code = tcp_join(g, t->link, e);
	if (code)
		free(t);
	else
		*out = t;
	return code;
}

static void tcp_close(void *p)
{
	struct tcp *t = p;

	if (!t->aborted)
		links_leave(t->link, t->size, t->silent_s);
	for (unsigned r = 0; r < t->size; r++)
		link_close(&t->link[r]);
	free(t);
}

static struct tcp_link *link_of(void *t, unsigned rank) { return &((struct tcp *)t)->link[rank]; }

static struct chunk *tcp_reserve(void *t, unsigned rank) { return link_reserve(link_of(t, rank)); }
static void tcp_send(void *t, unsigned rank) { link_send(link_of(t, rank)); }
static bool tcp_flushed(void *t, unsigned rank) { return link_is_flushed(link_of(t, rank)); }
static const struct chunk *tcp_next(void *t, unsigned rank) { return link_next(link_of(t, rank)); }
static void tcp_release(void *t, unsigned rank) { link_release(link_of(t, rank)); }

/* ---- waiting ---- */

/* An abort, or the end of a rank that is needed, of which all that could be used was. */
static bool find_fault(const struct tcp *t, const bool *needed, struct group_fault *fault)
{
	for (unsigned r = 0; r < t->size; r++)
		if (t->link[r].abort.code) {
			*fault = t->link[r].abort;
			return true;
		}
	for (unsigned r = 0; r < t->size; r++) {
		const struct tcp_link *l = &t->link[r];

		if (!needed[r] || !(l->damaged || l->ended))
			continue;
		*fault = (struct group_fault){ .code = l->damaged ? -ERR_IO : -ERR_UNREACHABLE,
			.rank = r };
		snprintf(fault->text, sizeof fault->text, "has ended or left%s%s%s",
			l->peer.fault ? " (" : "", l->peer.fault ? strerror(l->peer.fault) : "",
			l->peer.fault ? ")" : "");
		return true;
	}
	return false;
}

/* Moves what can be moved within ms; true: something was, or an end was found. */
static bool turn(struct tcp *t, unsigned ms)
{
	struct pollfd f[GROUP_RANKS_MAX];
	bool moved = false;

	for (unsigned r = 0; r < t->size; r++) {
		short events = r == t->rank ? 0 : link_events(&t->link[r]);

		f[r] = (struct pollfd){ .fd = events ? t->link[r].peer.fd : -1, .events = events };
		if (link_has_early(&t->link[r]))
			moved |= link_fill(&t->link[r]);
	}
	if (poll(f, t->size, moved ? 0 : (int)ms) <= 0)
		return moved;
	for (unsigned r = 0; r < t->size; r++) {
		if (f[r].revents & POLLOUT)
			moved |= link_flush(&t->link[r]);
		if (f[r].revents & (POLLIN | POLLHUP | POLLERR))
			moved |= link_fill(&t->link[r]);
	}
	return moved;
}

/* Polls for a short time where that pays, then sleeps. */
static void move_within(struct tcp *t, unsigned ms)
{
	double now = clock_seconds();
	bool moved = false;

	while (!moved && spin_on(&t->spin, now)) {
		moved = turn(t, 0);
		now = clock_seconds();
	}
	if (!moved)
		turn(t, ms);
	spin_over(&t->spin, clock_seconds());
}

static void tcp_wait(void *p, const bool *needed, unsigned ms, struct group_fault *fault)
{
	struct tcp *t = p;

	/* The caller has used what it could: what has ended by now brings nothing more. */
	if (find_fault(t, needed, fault))
		return;
	if (!turn(t, 0) && ms)
		move_within(t, ms);
	for (unsigned r = 0; r < t->size && !fault->code; r++)
		*fault = t->link[r].abort;
}

static void tcp_heartbeat(void *p)
{
	struct tcp *t = p;

	for (unsigned r = 0; r < t->size; r++)
		if (r != t->rank)
			link_heartbeat(&t->link[r]);
}

static uint32_t tcp_heartbeats(void *t, unsigned rank) { return link_of(t, rank)->heartbeats; }

static void tcp_abort(void *p, unsigned rank, const char *reason)
{
	struct tcp *t = p;

	t->aborted = true;
	links_abort(t->link, t->size, rank, reason);
}

const struct group_transport transport_tcp = {
	.name = "tcp",
	.seals = true,
	.nbyte_chunk = 256 << 10,
	.offer = tcp_offer,
	.open = tcp_open,
	.close = tcp_close,
	.reserve = tcp_reserve,
	.send = tcp_send,
	.flushed = tcp_flushed,
	.next = tcp_next,
	.release = tcp_release,
	.wait = tcp_wait,
	.heartbeat = tcp_heartbeat,
	.heartbeats = tcp_heartbeats,
	.abort = tcp_abort,
};
