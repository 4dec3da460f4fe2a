/* SPDX-License-Identifier: Apache-2.0
 * Items of work, besides units, that all workers share. */
#include "runtime/base/profile/recorder.h"
#include "runtime/exec/engine.h"

#include <pthread.h>
#include <stdatomic.h>

struct items {
	engine_item_fn fn;
	void *ctx;
	uint32_t n;
	atomic_uint next;
	pthread_mutex_t lock;
	uint32_t first_bad; /* the earliest item that failed */
	struct err e;       /* its error */
	enum profile_phase phase;
	struct recorder_region region;
};

static void enter(void *ctx, unsigned worker)
{
	recorder_enter(&((struct items *)ctx)->region, worker);
}

static void work_items(void *ctx, unsigned worker)
{
	struct items *p = ctx;
	uint32_t item;

	while ((item = atomic_fetch_add(&p->next, 1)) < p->n) {
		struct err e = { 0, "" };
		int code = p->fn(p->ctx, worker, item, &e);

		recorder_mark(p->phase);
		if (!code)
			continue;
		pthread_mutex_lock(&p->lock);
		if (item < p->first_bad) {
			p->first_bad = item;
			p->e = e;
		}
		pthread_mutex_unlock(&p->lock);
	}
}

int engine_items(const struct engine *engine, void *state, uint32_t n, engine_item_fn fn, void *ctx,
	enum profile_phase phase, struct err *e)
{
	struct items p = { .fn = fn,
		.ctx = ctx,
		.n = n,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.first_bad = UINT32_MAX,
		.phase = phase };
	struct unit_job job = { .ctx = &p, .nunit = n, .claim = enter, .work = work_items };

	recorder_mark(phase);
	recorder_region_begin(&p.region);
	engine->run(state, &job);
	recorder_region_end(&p.region);
	if (p.first_bad == UINT32_MAX)
		return 0;
	if (e)
		*e = p.e;
	return p.e.code;
}
