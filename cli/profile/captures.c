/* SPDX-License-Identifier: Apache-2.0
 * An order waits in `order`; the job's thread takes it between two steps, records, and leaves the profile in `result`. */
#include "cli/profile/captures.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/profile/recorder.h"
#include "runtime/base/system/clock.h"
#include "runtime/exec/statevector/split/split_group.h"

enum capture_state { IDLE = 0, ASKED, RUNNING, DONE };

struct captures {
	void (*describe)(void *ctx, struct profile *p);
	void *ctx;
	struct pool *pool;
	struct split_rank *rank;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	atomic_int state; /* enum capture_state; written with the lock */
	bool ended;
	struct capture_order order;
	void (*done)(void *ctx, struct profile *p); /* NULL: a thread waits */
	void *done_ctx;
	struct profile *result;
	double began, began_wall;
	uint64_t steps, samples;
};

struct captures *captures_new(void (*describe)(void *ctx, struct profile *p), void *ctx,
	struct pool *pool, struct split_rank *rank)
{
	struct captures *c = mem_alloc(1, sizeof *c);

	c->describe = describe;
	c->ctx = ctx;
	c->pool = pool;
	c->rank = rank;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	return c;
}

void captures_free(struct captures *c)
{
	if (!c)
		return;
	profile_free(c->result);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static void set_state(struct captures *c, enum capture_state state)
{
	atomic_store(&c->state, (int)state);
	pthread_cond_broadcast(&c->changed);
}

/* With the lock: the caller's order is next, or -ERR_CONFIG, -ERR_STOPPED. */
static int put_order(struct captures *c, const struct capture_order *o, struct err *e)
{
	if (c->ended)
		return err_set(e, -ERR_STOPPED, "the run has ended");
	if (atomic_load(&c->state) != IDLE)
		return err_set(e, -ERR_CONFIG,
			"another profile of this run is being taken; try again when it is done");
	c->order = *o;
	c->done = NULL;
	set_state(c, ASKED);
	return 0;
}

/* A tenth of a second from now: to look whether the caller has given up. */
static void wait_a_little(struct captures *c)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 100000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&c->changed, &c->lock, &t);
}

int captures_take(struct captures *c, const struct capture_order *o, bool (*given_up)(void *ctx),
	void *ctx, struct profile **out, struct err *e)
{
	pthread_mutex_lock(&c->lock);
	int code = put_order(c, o, e);
	while (!code && atomic_load(&c->state) != DONE) {
		bool gone = given_up && given_up(ctx);

		if (c->ended && atomic_load(&c->state) == ASKED)
			code = err_set(e, -ERR_STOPPED, "the run ended before the profile began");
		else if (gone && atomic_load(&c->state) == ASKED)
			code = err_set(e, -ERR_STOPPED, "given up");
		else if (gone) /* the job's thread ends it at its next step */
			c->order.steps = 1;
		if (!code)
			wait_a_little(c);
	}
	*out = code ? NULL : c->result;
	if (!code)
		c->result = NULL;
	if (!code || atomic_load(&c->state) == ASKED)
		set_state(c, IDLE);
	pthread_mutex_unlock(&c->lock);
	return code;
}

void captures_ask(struct captures *c, const struct capture_order *o,
	void (*done)(void *ctx, struct profile *p), void *ctx)
{
	struct err e;

	pthread_mutex_lock(&c->lock);
	if (!put_order(c, o, &e)) {
		c->done = done;
		c->done_ctx = ctx;
	}
	pthread_mutex_unlock(&c->lock);
}

/* ---- the job's thread ---- */

static void begin(struct captures *c)
{
	struct err e;

	c->steps = c->samples = 0;
	c->began = clock_seconds();
	c->began_wall = clock_wall();
	/* Workers and ranks that cannot record are missing from the profile; the job is not harmed. */
	if (c->pool && c->pool->ops->record)
		(void)c->pool->ops->record(c->pool, c->order.level, c->order.bytes_max, &e);
	if (c->rank)
		split_record(c->rank, c->order.level, c->order.bytes_max);
	recorder_start(c->order.level, c->order.bytes_max);
	set_state(c, RUNNING);
}

/* Events count from the beginning of the profile. */
static void from_zero(struct profile *p, int64_t began)
{
	for (uint32_t k = 0; k < p->nprocess; k++) {
		struct profile_process *q = &p->process[k];

		q->begin -= began;
		q->end -= began;
		for (uint32_t t = 0; t < q->nthread; t++)
			for (uint32_t i = 0; i < q->thread[t].nevent; i++) {
				struct profile_event *v =
					(struct profile_event *)&q->thread[t].event[i];

				v->begin -= began;
				v->end -= began;
			}
	}
}

static struct profile *collect(struct captures *c)
{
	struct profile *p = profile_new();
	struct profile_process own = {
		.role = "coordinator", .offset = 0, .pid = (uint32_t)getpid(), .units = c->steps
	};
	char host[256] = "localhost";
	struct err e;
	int64_t began;

	recorder_stop(p, &own);
	began = own.begin;
	gethostname(host, sizeof host - 1);
	own.host = arena_strdup(&p->arena, host);
	p->process = arena_copy(&p->arena, &own, 1, sizeof own);
	p->nprocess = 1;
	p->version = PACKAGE_VERSION;
	p->level = (int)c->order.level;
	p->began = c->began_wall;
	p->ns = own.end - own.begin;
	p->steps = c->steps;
	p->samples = c->samples;
	if (c->pool && c->pool->ops->recorded)
		(void)c->pool->ops->recorded(c->pool, p, &e);
	if (c->rank)
		split_recorded(c->rank, p);
	profile_order_messages(p);
	from_zero(p, began);
	c->describe(c->ctx, p);
	return p;
}

static void finish(struct captures *c)
{
	struct profile *p = collect(c);

	if (c->done) {
		set_state(c, IDLE);
		pthread_mutex_unlock(&c->lock);
		c->done(c->done_ctx, p);
		pthread_mutex_lock(&c->lock);
		return;
	}
	c->result = p;
	set_state(c, DONE);
}

void captures_step(struct captures *c, uint64_t samples)
{
	int state = atomic_load_explicit(&c->state, memory_order_relaxed);

	if (state != ASKED && state != RUNNING)
		return;
	pthread_mutex_lock(&c->lock);
	if (atomic_load(&c->state) == RUNNING) {
		c->steps++;
		c->samples += samples;
		if ((c->order.steps && c->steps >= c->order.steps)
			|| (c->order.seconds > 0 && clock_seconds() - c->began >= c->order.seconds))
			finish(c);
	}
	if (atomic_load(&c->state) == ASKED)
		begin(c);
	pthread_mutex_unlock(&c->lock);
}

void captures_end(struct captures *c)
{
	pthread_mutex_lock(&c->lock);
	c->ended = true;
	if (atomic_load(&c->state) == RUNNING)
		finish(c);
	if (atomic_load(&c->state) == ASKED && c->done)
		set_state(c, IDLE);
	pthread_cond_broadcast(&c->changed);
	/* Those who wait take what is there before captures_free. */
	while (atomic_load(&c->state) != IDLE)
		wait_a_little(c);
	pthread_mutex_unlock(&c->lock);
}
