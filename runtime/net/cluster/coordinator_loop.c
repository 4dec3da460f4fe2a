/* SPDX-License-Identifier: Apache-2.0
 * The loop: one thread at a time polls all sockets and handles what has come. */
#include "runtime/net/cluster/cluster_state.h"

#include <stdlib.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"

#define WATCH_S 0.02                     /* between two checks of processes and clocks */

static void watch_fd(struct coordinator *c, size_t *n, int fd, short events)
{
	if (fd < 0)
		return;
	mem_reserve(c->loop.fds, *n, c->loop.fds_cap);
	c->loop.fds[(*n)++] = (struct pollfd){ .fd = fd, .events = events };
}

/* The worker's control pipe, or -1 once it carries protocol frames. */
static int control_of(const struct worker *w)
{
	return launch_events(&w->process) ? w->process.control : -1;
}

static size_t gather_fds(struct coordinator *c)
{
	size_t n = 0;

	for (unsigned i = 0; i < c->nworker; i++) {
		watch_fd(c, &n, c->worker[i].peer.fd,
			(short)(POLLIN | (peer_waits(&c->worker[i].peer) ? POLLOUT : 0)));
		watch_fd(c, &n, c->worker[i].process.errors, POLLIN);
		watch_fd(c, &n, control_of(&c->worker[i]), launch_events(&c->worker[i].process));
	}
	for (unsigned i = 0; i < c->listeners.n; i++)
		watch_fd(c, &n, c->listeners.at[i].fd, POLLIN);
	for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++)
		watch_fd(c, &n, c->pending.at[i].peer.fd, POLLIN);
	return n;
}

/* The events of fd; the order is that of gather_fds, so one pass finds all. */
static short events_of(const struct coordinator *c, size_t n, size_t *at, int fd)
{
	if (fd < 0 || *at >= n || c->loop.fds[*at].fd != fd)
		return 0;
	return c->loop.fds[(*at)++].revents;
}

static void handle_events(struct coordinator *c, size_t n, double now)
{
	size_t at = 0;

	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *w = &c->worker[i];
		short events = events_of(c, n, &at, w->peer.fd);

		c->liveness.watch_at = events_of(c, n, &at, w->process.errors) ? 0 : c->liveness.watch_at;
		c->liveness.watch_at = events_of(c, n, &at, control_of(w)) ? 0 : c->liveness.watch_at;
		if (events & ~POLLOUT)
			worker_read(c, w, now);
		if (events & POLLOUT)
			worker_flush(w);
	}
	for (unsigned i = 0; i < c->listeners.n; i++)
		if (events_of(c, n, &at, c->listeners.at[i].fd))
			pending_accept_all(c, c->listeners.at[i].fd, now);
	for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++)
		if (c->pending.at[i].peer.fd >= 0 && events_of(c, n, &at, c->pending.at[i].peer.fd))
			pending_read(c, &c->pending.at[i], now);
}

int loop_wait(struct coordinator *c, int timeout_ms)
{
	size_t n = gather_fds(c);
	int found = 0;

	c->loop.nfds = n;
	while (!found && spin_on(&c->loop.spin, clock_seconds()))
		found = poll(c->loop.fds, (nfds_t)n, 0);
	if (!found)
		found = poll(c->loop.fds, (nfds_t)n, timeout_ms);
	return found;
}

void loop_handle(struct coordinator *c, int found)
{
	double now = clock_seconds();

	spin_over(&c->loop.spin, now);

	/* We were suspended ourselves, so the silence says nothing about the workers. */
	if (now - c->loop.last_at > 2 * c->o.heartbeat_s && c->loop.last_at > 0) {
		for (unsigned i = 0; i < c->nworker; i++)
			c->worker[i].heard = now;
		for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++)
			c->pending.at[i].until += now - c->loop.last_at;
		c->liveness.heard = now;
		c->loop.slept += now - c->loop.last_at;
	}
	c->loop.last_at = now;
	if (found > 0)
		handle_events(c, c->loop.nfds, now);
	if (now < c->liveness.watch_at)
		return;                      /* the turns of a step are microseconds apart */
	workers_watch(c, now);
	c->liveness.watch_at = now + WATCH_S;
}

void loop_turn(struct coordinator *c, int timeout_ms) { loop_handle(c, loop_wait(c, timeout_ms)); }

/* Whether a core is left on which this process can spin, beside the workers of this machine. */
static bool has_core(const struct coordinator *c)
{
	unsigned busy = 1;

	for (unsigned i = 0; i < c->nworker; i++)
		busy += c->worker[i].on_this_host && c->worker[i].state == WORKER_READY
			? c->worker[i].ready.nthread
			: 0;
	return busy <= c->ncore;
}

void loop_allow_spin(struct coordinator *c, bool allow)
{
	c->loop.spin.allowed = allow && has_core(c);
}

/* Keeps connections alive between steps. */
static void *keep(void *arg)
{
	struct coordinator *c = arg;

	mutex_auto held = mutex_hold(&c->loop.lock);
	while (!c->loop.stopping) {
		cond_wait_for(&c->loop.stop, &c->loop.lock, KEEPER_MS / 1e3);
		if (!c->loop.stopping)
			loop_turn(c, 0);
	}
	return NULL;
}

void loop_init(struct coordinator *c)
{
	pthread_mutex_init(&c->loop.lock, NULL);
	cond_init(&c->loop.stop);
}

void loop_keep(struct coordinator *c)
{
	c->loop.has_keeper = !pthread_create(&c->loop.keeper, NULL, keep, c);
}

void loop_stop(struct coordinator *c)
{
	pthread_mutex_lock(&c->loop.lock);
	c->loop.stopping = true;
	pthread_cond_signal(&c->loop.stop);
	pthread_mutex_unlock(&c->loop.lock);
	if (c->loop.has_keeper)
		pthread_join(c->loop.keeper, NULL);
}

void loop_release(struct coordinator *c)
{
	pthread_cond_destroy(&c->loop.stop);
	pthread_mutex_destroy(&c->loop.lock);
	free(c->loop.fds);
}
