/* SPDX-License-Identifier: Apache-2.0
 * The end for all workers: each is told, those that this process has started have a moment to go and are ended then,
 * and who was started by others is waited for until it has closed its side: its own status depends on the last word,
 * which a connection that ends with unread signs of life in it, or a host that is gone, would take away. */
#include "config.h"
#include "runtime/net/cluster/worker.h"

#include <sys/socket.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"

enum { LEAVE_S = 2, EXTERNAL_LEAVE_S = 10, TURN_MS = 2 };

static void send_rest(struct worker *m)
{
	if (peer_flush(&m->peer, NULL))
		peer_close(&m->peer);
	else if (!peer_waits(&m->peer))
		shutdown(m->peer.fd, SHUT_WR);
}

static void say_bye(struct coordinator *c, struct worker *m)
{
	struct wire_bye bye = { 0, "" }, early = { -c->ending, "rank 0 ended early" };

	buf_clear(&c->body);
	wire_put_bye(&c->body, m->external && c->ending ? &early : &bye);
	peer_put(&m->peer, &c->body);
	send_rest(m);
}

/* What it still says means nothing; its end does. */
static void listen_on(struct worker *m, short events)
{
	if (events & POLLOUT)
		send_rest(m);
	if (m->peer.fd < 0 || !(events & ~POLLOUT))
		return;
	if (peer_fill(&m->peer, NULL))
		peer_close(&m->peer);
	else
		m->peer.in_at = m->peer.in_len = 0;
}

/* Wait a moment for those whose connection is open. */
static void turn(struct coordinator *c)
{
	size_t n = 0;

	for (unsigned i = 0; i < c->nworker; i++) {
		const struct peer *p = &c->worker[i].peer;

		mem_reserve(c->fds, n, c->fds_cap);
		c->fds[n++] = (struct pollfd){ .fd = p->fd, .events = (short)(POLLIN | (peer_waits(p) ? POLLOUT : 0)) };
	}
	poll(c->fds, (nfds_t)n, TURN_MS);
	for (unsigned i = 0; i < c->nworker; i++) {
		if (c->worker[i].peer.fd >= 0)
			listen_on(&c->worker[i], c->fds[i].revents);
		worker_relay(c, &c->worker[i], clock_seconds());        /* its last lines */
	}
}

/* Is there one that may still go by itself? */
static bool is_left(struct coordinator *c, double seconds)
{
	bool left = false;

	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *m = &c->worker[i];

		if (m->external)
			left |= m->peer.fd >= 0 && seconds < EXTERNAL_LEAVE_S;
		else
			left |= m->process.pid && !launch_reap(&m->process) && seconds < LEAVE_S;
	}
	return left;
}

void workers_shut_down(struct coordinator *c)
{
	double begin = clock_seconds();

	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *m = &c->worker[i];

		if (m->peer.fd >= 0)
			say_bye(c, m);
		launch_let_go(&m->process, m->state == WORKER_LOST || m->state == WORKER_STARTED);   /* waits for an answer */
		if (m->state != WORKER_LOST)
			worker_set_state(m, WORKER_LOST);
	}
	while (is_left(c, clock_seconds() - begin))
		turn(c);
	for (unsigned i = 0; i < c->nworker; i++)
		launch_let_go(&c->worker[i].process, true);
}
