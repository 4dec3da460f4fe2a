/* SPDX-License-Identifier: Apache-2.0
 * The coordinator as a pool: a step is computed by the workers. */
#include "runtime/net/cluster/cluster_state.h"

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

const struct pool_ops coordinator_ops = {
	.begin = begin,
	.end = end,
	.record = worker_profile_record,
	.recorded = worker_profile_recorded,
	.free = free_pool,
};
