/* SPDX-License-Identifier: Apache-2.0
 * The coordinator as a pool: a step is computed by the workers. */
#include "config.h"
#include "runtime/net/cluster/cluster_state.h"

static struct coordinator *coordinator_of(struct pool *p)
{
	return (struct coordinator *)p;
}

static int begin(struct pool *p, const struct pool_step *step, uint32_t nunit, size_t n, struct err *e)
{
	struct coordinator *c = coordinator_of(p);
	int code;

	pthread_mutex_lock(&c->loop.lock);
	code = scheduler_begin(c->scheduler, step, nunit, n, e);
	pthread_mutex_unlock(&c->loop.lock);
	return code;
}

/* Whether a core is left on which this process can spin, beside the workers of this machine. */
static bool has_core(const struct coordinator *c)
{
	unsigned busy = 1;

	for (unsigned i = 0; i < c->nworker; i++)
		busy += c->worker[i].near && c->worker[i].state == WORKER_READY ? c->worker[i].ready.nthread : 0;
	return busy <= c->ncore;
}

static int end(struct pool *p, struct fixed *sum, struct err *e)
{
	struct coordinator *c = coordinator_of(p);
	int code;

	pthread_mutex_lock(&c->loop.lock);
	c->loop.spin.allowed = has_core(c);
	while (!scheduler_done(c->scheduler)) {
		scheduler_assign(c->scheduler, c->loop.turned);
		loop_turn(c, KEEPER_MS);
	}
	c->loop.spin.allowed = false;
	code = scheduler_end(c->scheduler, sum, e);
	pthread_mutex_unlock(&c->loop.lock);
	return code;
}

static void free_pool(struct pool *p)
{
	coordinator_free(coordinator_of(p));
}

const struct pool_ops coordinator_ops = { .begin = begin, .end = end, .free = free_pool };
