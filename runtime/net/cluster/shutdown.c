/* SPDX-License-Identifier: Apache-2.0
 * The end of all workers.  Each gets BYE.  Processes that this one has started have LEAVE_S to exit, and are killed then; one that leads
 * a group of external workers has as long as these.
 * For an external worker the coordinator waits until it has closed its side: its exit status depends on BYE, which would be
 * lost if the connection were reset because of unread heartbeats, or if this host went away. */
#include "runtime/net/cluster/cluster_state.h"

#include <sys/socket.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"

enum { LEAVE_S = 2, EXTERNAL_LEAVE_S = 10, TURN_MS = 2 };

static void send_rest(struct worker *w)
{
	if (peer_flush(&w->peer, NULL))
		peer_close(&w->peer);
	else if (!peer_waits(&w->peer))
		shutdown(w->peer.fd, SHUT_WR);
}

static void say_bye(struct coordinator *c, struct worker *w)
{
	struct wire_bye bye = { 0, "" }, early = { -c->ending, "rank 0 ended early" };

	buf_clear(&c->body);
	wire_put_bye(&c->body, w->external && c->ending ? &early : &bye);
	peer_put(&w->peer, &c->body);
	send_rest(w);
}

/* Messages are ignored now; the end of the connection is not. */
static void listen_on(struct worker *w, short events)
{
	if (events & POLLOUT)
		send_rest(w);
	if (w->peer.fd < 0 || !(events & ~POLLOUT))
		return;
	if (peer_fill(&w->peer, NULL))
		peer_close(&w->peer);
	else
		w->peer.in_at = w->peer.in_len = 0;
}

/* Wait a moment for workers whose connection is open. */
static void turn(struct coordinator *c)
{
	size_t n = 0;

	for (unsigned i = 0; i < c->nworker; i++) {
		const struct peer *p = &c->worker[i].peer;

		mem_reserve(c->loop.fds, n, c->loop.fds_cap);
		c->loop.fds[n++] = (struct pollfd){ .fd = p->fd, .events = (short)(POLLIN | (peer_waits(p) ? POLLOUT : 0)) };
	}
	poll(c->loop.fds, (nfds_t)n, TURN_MS);
	for (unsigned i = 0; i < c->nworker; i++) {
		if (c->worker[i].peer.fd >= 0)
			listen_on(&c->worker[i], c->loop.fds[i].revents);
		worker_relay(c, &c->worker[i], clock_seconds());        /* the last lines that it prints */
	}
}

/* Whether a worker is left that may still exit by itself. */
static bool is_left(struct coordinator *c, double seconds)
{
	bool left = false;

	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *w = &c->worker[i];

		if (w->external)
			left |= w->peer.fd >= 0 && seconds < EXTERNAL_LEAVE_S;
		else
			left |= w->process.pid && !launch_reap(&w->process)
				&& seconds < (c->grouped ? EXTERNAL_LEAVE_S : LEAVE_S);
	}
	return left;
}

void workers_shut_down(struct coordinator *c)
{
	double begin = clock_seconds();

	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *w = &c->worker[i];

		if (w->peer.fd >= 0)
			say_bye(c, w);
		launch_let_go(&w->process, w->state == WORKER_LOST || w->state == WORKER_STARTED);   /* it would wait for an answer */
		if (w->state != WORKER_LOST)
			worker_set_state(w, WORKER_LOST);
	}
	while (is_left(c, clock_seconds() - begin))
		turn(c);
	for (unsigned i = 0; i < c->nworker; i++)
		launch_let_go(&c->worker[i].process, true);
}
