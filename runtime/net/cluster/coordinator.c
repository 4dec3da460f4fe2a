/* SPDX-License-Identifier: Apache-2.0
 * The life of a coordinator, from the start of its workers to their end. */
#include "runtime/net/cluster/coordinator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/cpus.h"
#include "runtime/net/cluster/cluster_state.h"

/* ---- queries ---- */

struct pool *coordinator_pool(struct coordinator *c) { return &c->pool; }

void coordinator_on_profiler(struct coordinator *c, void (*fn)(void *ctx, struct peer *p), void *ctx)
{
	mutex_auto held = mutex_hold(&c->loop.lock);

	c->on_profiler = fn;
	c->profiler_ctx = ctx;
}

/* NULL: there are no more. */
static const struct worker *nth_worker(const struct coordinator *c, unsigned n)
{
	for (unsigned i = 0; i < c->nworker; i++)
		if (!c->worker[i].follows && !n--)
			return &c->worker[i];
	return NULL;
}

bool coordinator_worker(struct coordinator *c, unsigned n, struct coordinator_worker *out)
{
	const struct worker *w = nth_worker(c, n);

	if (!w)
		return false;
	mutex_auto held = mutex_hold(&c->loop.lock);
	struct scheduler_stats done = scheduler_stats(c->scheduler, w->rank);
	*out = (struct coordinator_worker){ w->name, done.nunit, done.seconds, w->ready.nthread,
		w->state == WORKER_LOST, w->nrestart, done.nsample, worker_traffic(w).sent,
		w->peer.fd < 0 ? -1 : clock_seconds() - w->heard };
	return true;
}

/* ---- life ---- */

static void add_external(struct coordinator *c)
{
	const struct external_workers *g = c->o.external;

	c->first_rank = !c->nworker;
	for (unsigned k = 0; k < g->n; k++) {
		struct worker *w = &c->worker[c->nworker];

		w->rank = c->nworker++;
		w->share = 1;
		w->external = true;
		w->peer.fd = -1;
		w->process = LAUNCHED_NONE;
		snprintf(w->name, sizeof w->name, "rank %u", c->first_rank + w->rank);
	}
}

static void add_workers(struct coordinator *c)
{
	const struct hosts *h = c->o.hosts;
	unsigned share = c->o.external && c->o.external->share ? c->o.external->share : 1;

	c->worker = mem_alloc(hosts_workers(h) + (c->o.external ? c->o.external->n : 0) + 1, sizeof *c->worker);
	for (size_t i = 0; i < h->n; i++)
		for (unsigned k = 0; k < h->host[i].nworker; k++) {
			struct worker *w = &c->worker[c->nworker];

			w->rank = c->nworker++;
			w->share = h->host[i].nworker * share;
			w->local = k;
			w->peer.fd = -1;
			w->process = LAUNCHED_NONE;
			w->place = (struct launch_place){ c->o.launcher, c->o.agent,
				h->host[i].name, c->o.program, c->o.push, false };
			if (host_is_local(&h->host[i]))
				w->place = (struct launch_place){ LAUNCHER_LOCAL, NULL,
					h->host[i].name, NULL, false, false };
			snprintf(w->name, sizeof w->name, "%s[%u]", h->host[i].name, w->rank);
		}
	if (c->o.external)
		add_external(c);
}

/* Write where we listen, for workers that others have started. */
static int write_rendezvous(struct coordinator *c, struct err *e)
{
	const struct external_workers *g = c->o.external;
	struct rendezvous *m = crypto_secret_new(sizeof *m);

	if (!m)
		return err_set(e, -ERR_CONFIG, "no memory for the job's key");
	m->has_key = !g->key;
	m->naddress = c->listeners.n;
	memcpy(m->job, c->job_id, sizeof m->job);
	memcpy(m->key, c->secrets->key, sizeof m->key);
	memcpy(m->words, g->words, sizeof m->words);
	for (unsigned i = 0; i < c->listeners.n; i++)
		memcpy(m->address[i], c->listeners.at[i].address, sizeof m->address[i]);
	int code = rendezvous_write(g->rendezvous, m, e);
	crypto_secret_free(m, sizeof *m);
	c->rendezvous_written = !code;
	return code;
}

static bool all_in(const struct coordinator *c, enum worker_state state)
{
	for (unsigned i = 0; i < c->nworker; i++)
		if (!c->worker[i].missed
			&& (c->worker[i].state < state || c->worker[i].state > WORKER_READY))
			return false;
	return true;
}

static bool is_connected(const struct worker *w)
{
	return w->state >= WORKER_DESCRIBED && w->state <= WORKER_READY;
}

/* Without those that are missed: are the others enough? */
static int check_number(const struct coordinator *c, struct err *e)
{
	const struct worker *missed = NULL;
	unsigned n = 0;

	for (unsigned i = c->nworker; i-- > 0;) {
		n += is_connected(&c->worker[i]);
		missed = c->worker[i].missed ? &c->worker[i] : missed;
	}
	if (n >= c->o.least)
		return 0;
	if (!missed)
		return err_set(e, -ERR_UNREACHABLE, "there are %u workers, and --min-workers is %u",
			n, c->o.least);
	err_set(e, missed->left.code, "%s: %s", missed->name, missed->left.text);
	if (n)
		err_prefix(e, "%u of %u workers are ready, and --min-workers is %u", n, c->nworker,
			c->o.least);
	return e ? e->code : -ERR_UNREACHABLE;
}

/* Grows whenever a worker advances, or is started again. */
static unsigned long steps_taken(const struct coordinator *c)
{
	unsigned long n = 0;

	for (unsigned i = 0; i < c->nworker; i++)
		n += c->worker[i].state + (WORKER_LOST + 1ul) * c->worker[i].nstart + (unsigned long)c->worker[i].process.sent;
	return n;
}

/* Seconds without progress of any worker after which one is given up.  --wait, which is for external workers, shortens
 * the time of no other. */
static double patience(const struct coordinator *c, const struct worker *w, enum worker_state state)
{
	if (state > WORKER_DESCRIBED)
		return 10 * c->o.start_s;
	if (!c->o.external)
		return c->o.start_s;
	return w->external || c->o.external->seconds > c->o.start_s ? c->o.external->seconds : c->o.start_s;
}

static void late_text(const struct coordinator *c, const struct worker *w, const char *name,
	enum worker_state state, const char *what, struct err *e)
{
	err_set(e, -ERR_UNREACHABLE, "%s has not %s within %.0f s (%s gives more)%s%s", name, what,
		patience(c, w, state), w->external ? "--wait" : "--start-seconds",
		w->process.last[0] ? "; its last output: " : "", w->process.last);
}

/* Workers that have not reached a state in their time are lost, if they may be missed; else the first of them is the result,
 * and *e says so. NULL: none. */
static const struct worker *lose_late(struct coordinator *c, enum worker_state state,
	const char *what, double seconds, struct err *e)
{
	struct err why;

	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *w = &c->worker[i];

		if (w->state >= state || seconds <= patience(c, w, state))
			continue;
		late_text(c, w, "it", state, what, &why);
		if (!worker_may_miss(c, w, &why)) {
			late_text(c, w, w->name, state, what, e);
			return w;
		}
		worker_lose(c, w, &why);
	}
	return NULL;
}

int workers_wait(struct coordinator *c, enum worker_state state, const char *what, struct err *e)
{
	unsigned long seen = steps_taken(c);
	double since = clock_seconds() - c->loop.slept;
	const struct worker *w = NULL;

	workers_watch(c, clock_seconds());   /* workers wait for their first frame */
	while (!c->liveness.first.code && !all_in(c, state) && !w) {
		loop_turn(c, KEEPER_MS / 5);
		if (steps_taken(c) != seen)
			since = clock_seconds() - c->loop.slept;
		seen = steps_taken(c);
		w = lose_late(c, state, what, clock_seconds() - c->loop.slept - since, e);
	}
	if (c->liveness.first.code)
		return err_set(e, c->liveness.first.code, "%s", c->liveness.first.text);
	return w ? -ERR_UNREACHABLE : check_number(c, e);
}

int descriptors_reserve(unsigned nworker, struct err *e)
{
	enum {
		EACH_WORKER = 3,
		OTHERS = 64
	}; /* control pipe, standard error, connection; data, logs, checkpoints */
	unsigned long long need = (unsigned long long)EACH_WORKER * nworker
		+ PENDING_CONNECTIONS_MAX + LISTENERS_MAX + OTHERS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY
		|| limit.rlim_cur >= need)
		return 0;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < need)
		return err_set(e, -ERR_CONFIG,
			"%u worker%s need%s %llu open files here, and the system allows %llu: raise `ulimit -Hn`, or use fewer workers",
			nworker, nworker == 1 ? "" : "s", nworker == 1 ? "s" : "", need,
			(unsigned long long)limit.rlim_max);
	limit.rlim_cur = need;
	setrlimit(RLIMIT_NOFILE, &limit);
	return 0;
}

/* Drop the workers that were started, without their messages, which would hide the reason. */
static void forget_starts(struct coordinator *c)
{
	for (unsigned i = 0; i < c->nworker; i++) {
		launch_let_go(&c->worker[i].process, true);
		launch_release(&c->worker[i].process);
	}
}

/* ---- a step, which the workers compute ---- */

static int begin(struct pool *p, const struct pool_step *step, uint32_t nunit, size_t n, struct err *e)
{
	struct coordinator *c = coordinator_of(p);

	mutex_auto held = mutex_hold(&c->loop.lock);
	return scheduler_begin(c->scheduler, step, nunit, n, e);
}

static int end(struct pool *p, struct fixed *sum, struct err *e)
{
	struct coordinator *c = coordinator_of(p);

	mutex_auto held = mutex_hold(&c->loop.lock);
	loop_allow_spin(c, true);
	c->loop.stepping = true;
	while (!scheduler_done(c->scheduler)) {
		scheduler_assign(c->scheduler, c->loop.last_at);
		recorder_mark(PHASE_SEND);
		int found = loop_wait(c, KEEPER_MS);
		recorder_mark(PHASE_WAIT);
		loop_handle(c, found);
		recorder_mark(PHASE_RECEIVE);
	}
	c->loop.stepping = false;
	loop_allow_spin(c, false);
	return scheduler_end(c->scheduler, sum, e);
}

static void free_pool(struct pool *p) { coordinator_free(coordinator_of(p)); }

static const struct pool_ops coordinator_ops = {
	.begin = begin,
	.end = end,
	.record = worker_profile_record,
	.recorded = worker_profile_recorded,
	.free = free_pool,
};

/* ---- start ---- */

int coordinator_new(const struct coordinator_options *o, struct coordinator **out, struct err *e)
{
	if (!crypto_start())
		return err_set(e, -ERR_CONFIG, "the system provides no random numbers");
	int code =
		descriptors_reserve(hosts_workers(o->hosts) + (o->external ? o->external->n : 0), e);
	if (code)
		return code;
	struct secrets *secrets = crypto_secret_new(sizeof *secrets);
	if (!secrets)
		return err_set(e, -ERR_CONFIG, "no memory for the job's key");
	struct coordinator *c = mem_alloc(1, sizeof *c);
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
	c->ncore = cpus_threads(NULL);
	c->liveness.starts_at_once = STARTS_AT_ONCE;
	loop_init(c);
	for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++) {
		c->pending.at[i].peer.fd = -1;
		c->pending.at[i].hs = &secrets->hs[i];
	}
	add_workers(c);
	c->scheduler = scheduler_new(c->nworker, o->shard);
	pthread_mutex_lock(&c->loop.lock);
	workers_start(c, clock_seconds());   /* logging in takes longest: addresses to listen on are looked up meanwhile */
	code = listeners_open(c, e);
	c->listeners.open = !code;
	if (code)
		forget_starts(c);
	if (!code && o->external && o->external->rendezvous)
		code = write_rendezvous(c, e);
	if (!code)
		code = workers_wait(c, WORKER_DESCRIBED, "come", e);
	pthread_mutex_unlock(&c->loop.lock);
	if (code) {
		coordinator_free(c);
		return code;
	}
	loop_keep(c);
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

		if (!is_connected(&c->worker[i]) || worker_has_kernels(a, kernels))
			continue;
		*worker = c->worker[i].name;
		*best = last ? last + 1 : a->kernels;
		return false;
	}
	return true;
}

/* All workers answer as this machine does or, where it computes nothing, as the first of them. */
static int same_answers(struct coordinator *c, const struct wire_ready *own, struct err *e)
{
	unsigned first = 0;
	struct err why;

	while (!is_connected(&c->worker[first]))
		first++;
	c->job.right = own ? *own : c->worker[first].ready;
	c->job.right_name = own ? "this machine" : c->worker[first].name;
	for (unsigned i = 0; i < c->nworker; i++)
		if (is_connected(&c->worker[i]) && !c->worker[i].follows
			&& !job_same_answer(c, &c->worker[i], &why))
			return err_set(e, why.code, "%s: %s", c->worker[i].name, why.text);
	return 0;
}

void workers_forget_job(struct coordinator *c)
{
	scheduler_forget_job(c->scheduler);
	for (unsigned i = 0; i < c->nworker; i++)
		if (c->worker[i].state == WORKER_READY && !c->worker[i].follows)
			worker_set_state(&c->worker[i], WORKER_DESCRIBED);
	c->liveness.started = false;
}

int coordinator_job(struct coordinator *c, const struct wire_job *job, const struct wire_ready *own, struct err *e)
{
	mutex_auto held = mutex_hold(&c->loop.lock);

	workers_forget_job(c);
	int code = job_keep(c, job, e);
	for (unsigned i = 0; i < c->nworker && !code; i++)
		if (c->worker[i].state == WORKER_DESCRIBED)
			job_send(c, &c->worker[i]);
	if (!code)
		code = workers_wait(c, WORKER_READY, "prepared the job", e);
	if (!code)
		code = same_answers(c, own, e);
	c->liveness.started = !code;
	if (!code)
		workers_start_missed(c, clock_seconds());
	return code;
}

void coordinator_ending(struct coordinator *c, int code) { c->ending = code; }

void coordinator_free(struct coordinator *c)
{
	if (!c)
		return;
	loop_stop(c);
	workers_shut_down(c);
	if (c->rendezvous_written)
		unlink(c->o.external->rendezvous);
	for (unsigned i = 0; i < c->nworker; i++) {
		launch_release(&c->worker[i].process);
		peer_close(&c->worker[i].peer);
	}
	for (unsigned i = 0; i < PENDING_CONNECTIONS_MAX; i++)
		peer_close(&c->pending.at[i].peer);
	for (unsigned i = 0; i < c->listeners.n; i++)
		close(c->listeners.at[i].fd);
	loop_release(c);
	worker_profile_release(c);
	scheduler_free(c->scheduler);
	buf_release(&c->body);
	buf_release(&c->job.body);
	free(c->pending.hello);
	free(c->worker);
	crypto_secret_free(c->secrets, sizeof *c->secrets);
	free(c);
}
