/* SPDX-License-Identifier: Apache-2.0
 * A ledger behind one mutex. */
#include "runtime/net/scheduler/pool_threads.h"

#include <stdlib.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/threads.h"
#include "runtime/net/scheduler/ledger.h"

struct pool_threads {
	struct pool pool;
	pthread_mutex_t lock;
	pthread_cond_t over;         /* every unit is in, or the step was given up */
	struct ledger ledger;
	struct err fault;            /* code 0 while the step goes on */
	unsigned nworker;
};

static struct pool_threads *pool_threads_of(struct pool *p) { return (struct pool_threads *)p; }

static int pool_threads_begin(struct pool *p, const struct pool_step *step, uint32_t nunit, size_t n, struct err *e)
{
	struct pool_threads *t = pool_threads_of(p);
	int code = ledger_begin(&t->ledger, nunit, n, e);

	(void)step;
	if (!code)
		t->fault.code = 0;
	return code;
}

static int64_t pool_threads_pull(struct pool *p, unsigned worker)
{
	struct pool_threads *t = pool_threads_of(p);
	mutex_auto held = mutex_hold(&t->lock);

	return !t->fault.code && worker < t->nworker ? ledger_take(&t->ledger, worker) : -1;
}

static void give_up(struct pool_threads *t, int code, const char *text)
{
	if (!t->fault.code)
		err_set(&t->fault, code, "%s", text);
	pthread_cond_broadcast(&t->over);
}

static int pool_threads_push(struct pool *p, unsigned worker, uint32_t id, const struct fixed *v)
{
	struct pool_threads *t = pool_threads_of(p);
	mutex_auto held = mutex_hold(&t->lock);

	if (t->fault.code)
		return t->fault.code;
	int result = ledger_put(&t->ledger, worker, &id, 1, v);
	if (result < 0)
		give_up(t, result, "a sum over work units is too large for fixed point");
	if (result <= 0)
		return result;
	if (t->ledger.ndone == t->ledger.nunit)
		pthread_cond_broadcast(&t->over);
	return 1;
}

static void pool_threads_abort(struct pool *p, const struct err *e)
{
	struct pool_threads *t = pool_threads_of(p);
	mutex_auto held = mutex_hold(&t->lock);

	give_up(t, e && e->code ? e->code : -ERR_STOPPED,
		e && e->code ? e->text : "the step was given up");
}

static int pool_threads_end(struct pool *p, struct fixed *sum, struct err *e)
{
	struct pool_threads *t = pool_threads_of(p);
	mutex_auto held = mutex_hold(&t->lock);

	while (!t->fault.code && t->ledger.ndone < t->ledger.nunit)
		pthread_cond_wait(&t->over, &t->lock);
	return ledger_end(&t->ledger, &t->fault, sum, e);
}

static void pool_threads_free(struct pool *p)
{
	struct pool_threads *t = pool_threads_of(p);

	if (!t)
		return;
	pthread_cond_destroy(&t->over);
	pthread_mutex_destroy(&t->lock);
	ledger_release(&t->ledger);
	free(t);
}

static const struct pool_ops pool_threads_ops = { .begin = pool_threads_begin, .end = pool_threads_end, .free = pool_threads_free };

static const struct pool_thread_ops pool_threads_thread_ops = {
	.pull = pool_threads_pull, .push = pool_threads_push, .abort = pool_threads_abort,
};

struct pool *pool_threads_new(unsigned nworker)
{
	struct pool_threads *t = mem_alloc(1, sizeof *t);

	if (nworker > LEDGER_WORKERS_MAX)
		BUG("a pool of %u workers", nworker);
	t->pool.ops = &pool_threads_ops;
	t->pool.threads = &pool_threads_thread_ops;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->over, NULL);
	t->nworker = nworker;
	return &t->pool;
}
