/* SPDX-License-Identifier: Apache-2.0
 * Parts of work that all workers share, besides units. */
#include "config.h"
#include "runtime/exec/basis/batch_rank_state.h"

#include <stdatomic.h>

struct parts {
	struct evaluator *ev;
	part_fn fn;
	uint32_t n;
	atomic_uint next;
	pthread_mutex_t lock;
	uint32_t first_bad;          /* the earliest item that failed: its error is told */
	struct err e;
};

static void claim_none(void *ctx, unsigned worker)
{
	(void)ctx;
	(void)worker;
}

static void work_parts(void *ctx, unsigned worker)
{
	struct parts *p = ctx;
	uint32_t item;

	while ((item = atomic_fetch_add(&p->next, 1)) < p->n) {
		struct err e = { 0, "" };

		if (!p->fn(p->ev, worker, item, &e))
			continue;
		pthread_mutex_lock(&p->lock);
		if (item < p->first_bad) {
			p->first_bad = item;
			p->e = e;
		}
		pthread_mutex_unlock(&p->lock);
	}
}

int rank_parts(struct evaluator *ev, uint32_t n, part_fn fn, struct err *e)
{
	struct parts p = { .ev = ev, .fn = fn, .n = n, .lock = PTHREAD_MUTEX_INITIALIZER, .first_bad = UINT32_MAX };
	struct unit_job job = { .ctx = &p, .nunit = n, .claim = claim_none, .work = work_parts };

	ev->backend->run(ev->state, &job);
	if (p.first_bad == UINT32_MAX)
		return 0;
	if (e)
		*e = p.e;
	return p.e.code;
}
