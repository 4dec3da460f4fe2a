/* SPDX-License-Identifier: Apache-2.0
 * A step from its offer to its sums: the coordinator as a pool. */
#include "config.h"
#include "runtime/net/cluster/worker.h"

#include <string.h>

static struct coordinator *coordinator_of(struct pool *p)
{
	return (struct coordinator *)p;
}

static int offer(struct pool *p, const struct pool_step *s, struct err *e)
{
	struct coordinator *c = coordinator_of(p);

	if (s->nin > (WIRE_BODY_MAX / 2) / sizeof(double) / s->width || s->nweight > (WIRE_BODY_MAX / 2) / sizeof(double))
		return err_set(e, -ERR_CONFIG, "samples of %u numbers are too large for a message to a worker", s->nin);
	c->step = s;
	return 0;
}

/* Is there a core on which this process can look out for results, beside the workers of this machine? */
static bool has_core(const struct coordinator *c)
{
	unsigned busy = 1;

	for (unsigned i = 0; i < c->nworker; i++)
		busy += c->worker[i].near && c->worker[i].state == WORKER_READY ? c->worker[i].ready.nthread : 0;
	return busy <= c->ncore;
}

static int begin(struct pool *p, uint32_t nunit, size_t n, struct err *e)
{
	struct coordinator *c = coordinator_of(p);
	int code;

	pthread_mutex_lock(&c->lock);
	code = ledger_begin(&c->ledger, nunit, n, e);
	c->fault.code = 0;
	c->nstep++;
	pthread_mutex_unlock(&c->lock);
	return code;
}

static int end(struct pool *p, struct fixed *sum, struct err *e)
{
	struct coordinator *c = coordinator_of(p);
	int code;

	pthread_mutex_lock(&c->lock);
	c->spin.allowed = has_core(c);
	while (!c->fault.code && c->ledger.ndone < c->ledger.nunit) {
		workers_assign(c);
		coordinator_turn(c, KEEPER_MS);
	}
	c->spin.allowed = false;
	code = c->fault.code;
	if (code)
		err_set(e, code, "%s", c->fault.text);
	else if (c->ledger.n)
		memcpy(sum, c->ledger.sum, c->ledger.n * sizeof *sum);
	ledger_close(&c->ledger);
	workers_forget(c);
	c->step = NULL;
	c->nstep++;                  /* what comes late is of an earlier step */
	pthread_mutex_unlock(&c->lock);
	return code;
}

static int64_t pull(struct pool *p, unsigned worker)
{
	(void)p;
	(void)worker;
	return -1;
}

static int push(struct pool *p, unsigned worker, const uint32_t *id, size_t nid, const struct fixed *v)
{
	(void)p;
	(void)worker;
	(void)id;
	(void)nid;
	(void)v;
	return 0;
}

static void lose(struct pool *p, unsigned worker)
{
	struct coordinator *c = coordinator_of(p);
	struct err e;

	pthread_mutex_lock(&c->lock);
	err_set(&e, -ERR_STOPPED, "it was asked to stop");
	if (worker < c->nworker)
		worker_lose(c, &c->worker[worker], &e);
	pthread_mutex_unlock(&c->lock);
}

static int join(struct pool *p)
{
	(void)p;
	return -ERR_CONFIG;          /* workers come by their connections */
}

static void abort_step(struct pool *p, const struct err *e)
{
	struct coordinator *c = coordinator_of(p);

	pthread_mutex_lock(&c->lock);
	if (!c->fault.code)
		c->fault = *e;
	pthread_mutex_unlock(&c->lock);
}

static size_t shares(const struct pool *p, uint64_t *unit_count, size_t max_worker)
{
	const struct coordinator *c = (const struct coordinator *)p;
	size_t n = c->nworker < max_worker ? c->nworker : max_worker;

	for (size_t i = 0; i < n; i++)
		unit_count[i] = c->worker[i].nunit;
	return n;
}

static void free_pool(struct pool *p)
{
	coordinator_free(coordinator_of(p));
}

const struct pool_ops coordinator_ops = {
	.name = "coordinator", .offer = offer, .begin = begin, .pull = pull, .push = push, .lose = lose, .join = join,
	.abort = abort_step, .end = end, .shares = shares, .free = free_pool,
};
