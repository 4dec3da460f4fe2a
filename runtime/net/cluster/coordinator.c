/* SPDX-License-Identifier: Apache-2.0
 * The loop, and the life of a coordinator from its start to the end of all workers. */
#include "config.h"
#include "runtime/net/cluster/coordinator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/cpus.h"
#include "runtime/net/cluster/worker.h"
#include "runtime/net/launch/rendezvous.h"

#define WATCH_S 0.02                     /* between two looks at processes and clocks */

/* ---- the loop ---- */

static void watch_fd(struct coordinator *c, size_t *n, int fd, short events)
{
	if (fd < 0)
		return;
	mem_reserve(c->fds, *n, c->fds_cap);
	c->fds[(*n)++] = (struct pollfd){ .fd = fd, .events = events };
}

static short wanted(const struct peer *p)
{
	return (short)(POLLIN | (peer_waits(p) ? POLLOUT : 0));
}

/* As long as it is not a connection's. */
static int control_of(const struct worker *m)
{
	return launch_events(&m->process) ? m->process.control : -1;
}

static size_t gather_fds(struct coordinator *c)
{
	size_t n = 0;

	for (unsigned i = 0; i < c->nworker; i++) {
		watch_fd(c, &n, c->worker[i].peer.fd, wanted(&c->worker[i].peer));
		watch_fd(c, &n, c->worker[i].process.errors, POLLIN);
		watch_fd(c, &n, control_of(&c->worker[i]), launch_events(&c->worker[i].process));
	}
	for (unsigned i = 0; i < c->nlistener; i++)
		watch_fd(c, &n, c->listener[i].fd, POLLIN);
	for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++)
		watch_fd(c, &n, c->pending[i].peer.fd, POLLIN);
	return n;
}

/* What poll said of fd; the order is that of gather_fds, so one pass finds all. */
static short heard_of(const struct coordinator *c, size_t n, size_t *at, int fd)
{
	if (fd < 0 || *at >= n || c->fds[*at].fd != fd)
		return 0;
	return c->fds[(*at)++].revents;
}

static void see_to(struct coordinator *c, size_t n, double now)
{
	size_t at = 0;

	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *m = &c->worker[i];
		short events = heard_of(c, n, &at, m->peer.fd);

		c->watch_at = heard_of(c, n, &at, m->process.errors) ? 0 : c->watch_at;
		c->watch_at = heard_of(c, n, &at, control_of(m)) ? 0 : c->watch_at;
		if (events & ~POLLOUT)
			worker_read(c, m, now);
		if (events & POLLOUT)
			worker_flush(m);
	}
	for (unsigned i = 0; i < c->nlistener; i++)
		if (heard_of(c, n, &at, c->listener[i].fd))
			pending_all_accept(c, c->listener[i].fd, now);
	for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++)
		if (c->pending[i].peer.fd >= 0 && heard_of(c, n, &at, c->pending[i].peer.fd))
			pending_read(c, &c->pending[i], now);
}

void coordinator_turn(struct coordinator *c, int timeout_ms)
{
	size_t n = gather_fds(c);
	int found = 0;
	double now;

	while (!found && spin_on(&c->spin, clock_seconds()))
		found = poll(c->fds, (nfds_t)n, 0);
	if (!found)
		found = poll(c->fds, (nfds_t)n, timeout_ms);
	now = clock_seconds();
	spin_over(&c->spin, now);

	/* Who was stopped itself has not heard anybody for that long. */
	if (now - c->turned > 2 * c->o.heartbeat_s && c->turned > 0) {
		for (unsigned i = 0; i < c->nworker; i++)
			c->worker[i].heard = now;
		for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++)
			c->pending[i].until += now - c->turned;
		c->heard = now;
		c->slept += now - c->turned;
	}
	c->turned = now;
	if (found > 0)
		see_to(c, n, now);
	if (now < c->watch_at)
		return;                      /* a step's turns come in microseconds */
	workers_watch(c, now);
	c->watch_at = now + WATCH_S;
}

/* Keeps connections alive while nobody waits for a step. */
static void *keep(void *arg)
{
	struct coordinator *c = arg;

	pthread_mutex_lock(&c->lock);
	while (!c->stopping) {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += KEEPER_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&c->stop, &c->lock, &until);
		if (!c->stopping)
			coordinator_turn(c, 0);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* ---- what others see ---- */

struct pool *coordinator_pool(struct coordinator *c)
{
	return &c->pool;
}

bool coordinator_worker(const struct coordinator *c, unsigned rank, struct coordinator_worker *out)
{
	const struct worker *m = rank < c->nworker ? &c->worker[rank] : NULL;

	if (!m)
		return false;
	pthread_mutex_lock((pthread_mutex_t *)&c->lock);
	*out = (struct coordinator_worker){ m->name, m->nunit, m->seconds, m->ready.nthread, m->state == WORKER_LOST, m->nrestart,
		m->nsample, m->nsent + m->peer.nwritten, m->peer.fd < 0 ? -1 : clock_seconds() - m->heard };
	pthread_mutex_unlock((pthread_mutex_t *)&c->lock);
	return true;
}

/* ---- life ---- */

static void add_external(struct coordinator *c)
{
	const struct external_workers *g = c->o.external;

	for (unsigned k = 0; k < g->n; k++) {
		struct worker *m = &c->worker[c->nworker];

		m->rank = c->nworker++;
		m->share = 1;
		m->external = true;
		m->peer.fd = -1;
		m->process = LAUNCHED_NONE;
		snprintf(m->name, sizeof m->name, "rank %u", m->rank);
	}
}

static void add_workers(struct coordinator *c)
{
	const struct hosts *h = c->o.hosts;
	unsigned share = c->o.external && c->o.external->share ? c->o.external->share : 1;

	c->worker = mem_alloc(hosts_workers(h) + (c->o.external ? c->o.external->n : 0) + 1, sizeof *c->worker);
	for (size_t i = 0; i < h->n; i++)
		for (unsigned k = 0; k < h->host[i].nworker; k++) {
			struct worker *m = &c->worker[c->nworker];

			m->rank = c->nworker++;
			m->share = h->host[i].nworker * share;
			m->peer.fd = -1;
			m->process = LAUNCHED_NONE;
			m->place = (struct launch_place){ c->o.launcher, c->o.agent, h->host[i].name, c->o.program, c->o.push };
			if (host_is_local(&h->host[i]))
				m->place = (struct launch_place){ LAUNCHER_LOCAL, NULL, h->host[i].name, NULL, false };
			snprintf(m->name, sizeof m->name, "%s[%u]", h->host[i].name, m->rank);
		}
	if (c->o.external)
		add_external(c);
}

/* Where we listen, for those who cannot be told otherwise. */
static int write_rendezvous(struct coordinator *c, struct err *e)
{
	const struct external_workers *g = c->o.external;
	struct rendezvous *m = crypto_secret_new(sizeof *m);
	int code;

	if (!m)
		return err_set(e, -ERR_CONFIG, "no memory for the job's key");
	m->has_key = !g->key;
	m->naddress = c->nlistener;
	memcpy(m->job, c->job_id, sizeof m->job);
	memcpy(m->key, c->secrets->key, sizeof m->key);
	memcpy(m->words, g->words, sizeof m->words);
	for (unsigned i = 0; i < c->nlistener; i++)
		memcpy(m->address[i], c->listener[i].address, sizeof m->address[i]);
	code = rendezvous_write(g->rendezvous, m, e);
	crypto_secret_free(m, sizeof *m);
	c->rendezvous_written = !code;
	return code;
}

static bool all_in(const struct coordinator *c, enum worker_state state)
{
	for (unsigned i = 0; i < c->nworker; i++)
		if (c->worker[i].state < state || c->worker[i].state > WORKER_READY)
			return false;
	return true;
}

/* Grows whenever a worker comes a step nearer, or is started again. */
static unsigned long steps_taken(const struct coordinator *c)
{
	unsigned long n = 0;

	for (unsigned i = 0; i < c->nworker; i++)
		n += c->worker[i].state + (WORKER_LOST + 1ul) * c->worker[i].nstart + (unsigned long)c->worker[i].process.sent;
	return n;
}

/* Seconds in which nobody gets on before one is given up.  --wait, which is for external workers, hurries nobody else. */
static double patience(const struct coordinator *c, const struct worker *m, enum worker_state state)
{
	if (state > WORKER_DESCRIBED)
		return 10 * c->o.start_s;
	if (!c->o.external)
		return c->o.start_s;
	return m->external || c->o.external->seconds > c->o.start_s ? c->o.external->seconds : c->o.start_s;
}

/* Who is not in a state yet, and has had its time; NULL: nobody. */
static const struct worker *who_is_late(const struct coordinator *c, enum worker_state state, double seconds)
{
	for (unsigned i = 0; i < c->nworker; i++)
		if (c->worker[i].state < state && seconds > patience(c, &c->worker[i], state))
			return &c->worker[i];
	return NULL;
}

/* Turn until all are in a state; a loss on the way is the end, and so is one that is late. */
static int wait_for(struct coordinator *c, enum worker_state state, const char *what, struct err *e)
{
	unsigned long seen = steps_taken(c);
	double since = clock_seconds() - c->slept;
	const struct worker *m = NULL;

	workers_watch(c, clock_seconds());   /* they wait for their first frame */
	while (!c->first.code && !all_in(c, state) && !m) {
		coordinator_turn(c, KEEPER_MS / 5);
		if (steps_taken(c) != seen)
			since = clock_seconds() - c->slept;
		seen = steps_taken(c);
		m = who_is_late(c, state, clock_seconds() - c->slept - since);
	}
	if (c->first.code)
		return err_set(e, c->first.code, "%s", c->first.text);
	if (m)
		return err_set(e, -ERR_UNREACHABLE, "%s has not %s within %.0f s (%s gives more)%s%s", m->name, what, patience(c, m, state),
			m->external ? "--wait" : "--start-seconds", m->process.last[0] ? "; the last it said: " : "", m->process.last);
	return 0;
}

/* Nobody will hear of those that were started: their complaints would hide the reason. */
static void forget_starts(struct coordinator *c)
{
	for (unsigned i = 0; i < c->nworker; i++) {
		launch_let_go(&c->worker[i].process, true);
		launch_release(&c->worker[i].process);
	}
}

int coordinator_new(const struct coordinator_options *o, struct coordinator **out, struct err *e)
{
	pthread_condattr_t steady;
	struct secrets *secrets;
	struct coordinator *c;
	const char *rule;
	int code;

	if (!crypto_start())
		return err_set(e, -ERR_CONFIG, "this system gives no random numbers");
	code = descriptors_reserve(hosts_workers(o->hosts) + (o->external ? o->external->n : 0), e);
	if (code)
		return code;
	secrets = crypto_secret_new(sizeof *secrets);
	if (!secrets)
		return err_set(e, -ERR_CONFIG, "no memory for the job's key");
	c = mem_alloc(1, sizeof *c);
	c->pool.ops = &coordinator_ops;
	c->secrets = secrets;
	c->o = *o;
	if (o->external && o->external->key)
		memcpy(secrets->key, o->external->key, sizeof secrets->key);
	else
		crypto_random(secrets->key, sizeof secrets->key);
	if (o->external && o->external->job)
		memcpy(c->job_id, o->external->job, sizeof c->job_id);
	else
		crypto_random(c->job_id, sizeof c->job_id);
	c->o.start_s = o->start_s > 0 ? o->start_s : 15;
	c->o.heartbeat_s = o->heartbeat_s > 0 ? o->heartbeat_s : 1;
	c->o.suspect_s = o->suspect_s > 0 ? o->suspect_s : 5;
	c->o.dead_s = o->dead_s > 0 ? o->dead_s : 15;
	c->ncore = cpus_threads(&rule);
	c->starts_at_once = STARTS_AT_ONCE;
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&c->stop, &steady);
	pthread_condattr_destroy(&steady);
	for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++) {
		c->pending[i].peer.fd = -1;
		c->pending[i].hs = &secrets->hs[i];
	}
	add_workers(c);
	pthread_mutex_lock(&c->lock);
	workers_start(c, clock_seconds());   /* logging in takes the longest: where to listen is found out meanwhile */
	code = listeners_open(c, e);
	c->listening = !code;
	if (code)
		forget_starts(c);
	if (!code && o->external && o->external->rendezvous)
		code = write_rendezvous(c, e);
	if (!code)
		code = wait_for(c, WORKER_DESCRIBED, "come", e);
	pthread_mutex_unlock(&c->lock);
	if (code) {
		coordinator_free(c);
		return code;
	}
	c->has_keeper = !pthread_create(&c->keeper, NULL, keep, c);
	*out = c;
	return 0;
}

bool worker_has_kernels(const struct wire_about *a, const char *kernels)
{
	size_t len = strlen(kernels);

	for (const char *at = a->kernels; *at; at += strcspn(at, " "), at += strspn(at, " "))
		if (strcspn(at, " ") == len && !memcmp(at, kernels, len))
			return true;
	return false;
}

bool coordinator_has_kernels(const struct coordinator *c, const char *kernels, const char **worker, const char **best)
{
	for (unsigned i = 0; i < c->nworker; i++) {
		const struct wire_about *a = &c->worker[i].about;
		const char *last = strrchr(a->kernels, ' ');

		if (worker_has_kernels(a, kernels))
			continue;
		*worker = c->worker[i].name;
		*best = last ? last + 1 : a->kernels;
		return false;
	}
	return true;
}

/* All agree with what this machine gets, or, where it computes nothing, with the first of them. */
static int same_answers(struct coordinator *c, const struct wire_ready *own, struct err *e)
{
	struct err why;

	c->right = own ? *own : c->worker[0].ready;
	c->right_name = own ? "this machine" : c->worker[0].name;
	for (unsigned i = 0; i < c->nworker; i++)
		if (!job_same_answer(c, &c->worker[i], &why))
			return err_set(e, why.code, "%s: %s", c->worker[i].name, why.text);
	return 0;
}

/* What workers know of the job before is forgotten. */
static void forget_job(struct coordinator *c)
{
	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *m = &c->worker[i];

		shard_forget(m);
		m->weights = 0;
		m->unit_seconds = 0;
		if (m->state == WORKER_READY)
			worker_set_state(m, WORKER_DESCRIBED);
	}
	memset(c->set, 0, sizeof c->set);
	c->started = false;
}

int coordinator_job(struct coordinator *c, const struct wire_job *job, const struct wire_ready *own, struct err *e)
{
	int code;

	pthread_mutex_lock(&c->lock);
	forget_job(c);
	code = job_keep(c, job, e);
	for (unsigned i = 0; i < c->nworker && !code; i++)
		if (c->worker[i].state == WORKER_DESCRIBED)
			job_send(c, &c->worker[i]);
	if (!code)
		code = wait_for(c, WORKER_READY, "prepared the job", e);
	if (!code)
		code = same_answers(c, own, e);
	c->started = !code;
	pthread_mutex_unlock(&c->lock);
	return code;
}

void coordinator_ending(struct coordinator *c, int code)
{
	c->ending = code;
}

void coordinator_free(struct coordinator *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stopping = true;
	pthread_cond_signal(&c->stop);
	pthread_mutex_unlock(&c->lock);
	if (c->has_keeper)
		pthread_join(c->keeper, NULL);
	workers_shut_down(c);
	if (c->rendezvous_written)
		unlink(c->o.external->rendezvous);
	for (unsigned i = 0; i < c->nworker; i++) {
		launch_release(&c->worker[i].process);
		peer_close(&c->worker[i].peer);
		shard_forget(&c->worker[i]);
	}
	for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++)
		peer_close(&c->pending[i].peer);
	for (unsigned i = 0; i < c->nlistener; i++)
		close(c->listener[i].fd);
	pthread_cond_destroy(&c->stop);
	pthread_mutex_destroy(&c->lock);
	ledger_release(&c->ledger);
	buf_release(&c->body);
	buf_release(&c->job_body);
	free(c->hello);
	free(c->fds);
	free(c->id);
	free(c->bit);
	free(c->number);
	free(c->row);
	free(c->vector);
	free(c->worker);
	crypto_secret_free(c->secrets, sizeof *c->secrets);
	free(c);
}
