/* SPDX-License-Identifier: Apache-2.0
 * One word a unit (open, done, or who has it), one running sum, one mutex. */
#include "config.h"
#include "runtime/net/pool_threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

enum { POOL_WORKERS_MAX = 1 << 16 };

/* A unit's word in the ledger: UNIT_TAKEN + w means that worker w has it. */
enum unit_state { UNIT_OPEN = 0, UNIT_DONE, UNIT_TAKEN };

struct pool_threads {
	struct pool pool;
	pthread_mutex_t lock;
	pthread_cond_t over;         /* every unit is in, or the step was given up */
	uint32_t *ledger;            /* (nunit) */
	size_t ledger_cap;
	uint32_t nunit, ndone;
	uint32_t first_open;         /* no unit before it is open */
	struct fixed *sum;           /* (n) */
	size_t n, sum_cap;
	struct err fault;            /* code 0 while the step goes on */
	uint64_t *share;             /* (nworker) */
	size_t share_cap;
	unsigned nworker;
};

static struct pool_threads *pool_threads_of(struct pool *p)
{
	return (struct pool_threads *)p;
}

/* Room for n elements whose old contents do not matter; NULL where there is no memory. */
static void *room(void *old, size_t *cap, size_t n, size_t size)
{
	void *p;

	if (n <= *cap && old)
		return old;
	p = mem_try(n, size);
	if (!p)
		return NULL;
	free(old);
	*cap = n;
	return p;
}

static int pool_threads_begin(struct pool *p, uint32_t nunit, size_t n, struct err *e)
{
	struct pool_threads *t = pool_threads_of(p);
	void *ledger, *sum;

	if (nunit > FIXED_TERMS_MAX)
		return err_set(e, -ERR_CONFIG, "a step has %u work units; at most %d can be summed exactly",
			nunit, FIXED_TERMS_MAX);
	ledger = room(t->ledger, &t->ledger_cap, nunit, sizeof *t->ledger);
	if (ledger)
		t->ledger = ledger;
	sum = room(t->sum, &t->sum_cap, n, sizeof *t->sum);
	if (sum)
		t->sum = sum;
	if (!ledger || !sum)
		return err_set(e, -ERR_CONFIG, "no memory for the sums of %zu numbers over %u work units", n, nunit);
	memset(t->ledger, 0, nunit * sizeof *t->ledger);
	memset(t->sum, 0, n * sizeof *t->sum);
	t->nunit = nunit;
	t->n = n;
	t->ndone = t->first_open = 0;
	t->fault.code = 0;
	return 0;
}

static int64_t pool_threads_pull(struct pool *p, unsigned worker)
{
	struct pool_threads *t = pool_threads_of(p);
	int64_t id = -1;

	pthread_mutex_lock(&t->lock);
	while (t->first_open < t->nunit && t->ledger[t->first_open] != UNIT_OPEN)
		t->first_open++;
	if (!t->fault.code && t->first_open < t->nunit && worker < t->nworker) {
		id = t->first_open++;
		t->ledger[id] = UNIT_TAKEN + worker;
	}
	pthread_mutex_unlock(&t->lock);
	return id;
}

/* Mark the ids as done; false, with nothing marked, where one of them was in already. */
static bool mark_done(struct pool_threads *t, const uint32_t *id, size_t nid)
{
	size_t k;

	for (k = 0; k < nid; k++) {
		if (id[k] >= t->nunit || t->ledger[id[k]] == UNIT_DONE)
			break;
		t->ledger[id[k]] = UNIT_DONE;
	}
	if (k == nid)
		return true;
	for (size_t i = 0; i < k; i++) {
		t->ledger[id[i]] = UNIT_OPEN;
		if (id[i] < t->first_open)
			t->first_open = id[i];
	}
	return false;
}

static void give_up(struct pool_threads *t, int code, const char *text)
{
	if (!t->fault.code)
		err_set(&t->fault, code, "%s", text);
	pthread_cond_broadcast(&t->over);
}

/* With the lock held. */
static int count_units(struct pool_threads *t, unsigned worker, const uint32_t *id, size_t nid,
	const struct fixed *v)
{
	if (t->fault.code)
		return t->fault.code;
	if (!nid || !mark_done(t, id, nid))
		return 0;
	if (t->n && !fixed_add(t->sum, v, t->n)) {
		give_up(t, -ERR_NOT_FINITE, "a sum over work units is too large for fixed point");
		return t->fault.code;
	}
	t->ndone += (uint32_t)nid;
	if (worker < t->nworker)
		t->share[worker] += nid;
	if (t->ndone == t->nunit)
		pthread_cond_broadcast(&t->over);
	return 1;
}

static int pool_threads_push(struct pool *p, unsigned worker, const uint32_t *id, size_t nid,
	const struct fixed *v)
{
	struct pool_threads *t = pool_threads_of(p);
	int result;

	pthread_mutex_lock(&t->lock);
	result = count_units(t, worker, id, nid, v);
	pthread_mutex_unlock(&t->lock);
	return result;
}

static void pool_threads_lose(struct pool *p, unsigned worker)
{
	struct pool_threads *t = pool_threads_of(p);

	pthread_mutex_lock(&t->lock);
	for (uint32_t id = t->nunit; id-- > 0; )
		if (t->ledger[id] == UNIT_TAKEN + worker) {
			t->ledger[id] = UNIT_OPEN;
			t->first_open = id < t->first_open ? id : t->first_open;
		}
	pthread_mutex_unlock(&t->lock);
}

static int pool_threads_join(struct pool *p)
{
	struct pool_threads *t = pool_threads_of(p);
	int number = -ERR_CONFIG;

	pthread_mutex_lock(&t->lock);
	if (t->nworker < POOL_WORKERS_MAX) {
		mem_reserve(t->share, t->nworker, t->share_cap);
		t->share[t->nworker] = 0;
		number = (int)t->nworker++;
	}
	pthread_mutex_unlock(&t->lock);
	return number;
}

static void pool_threads_abort(struct pool *p, const struct err *e)
{
	struct pool_threads *t = pool_threads_of(p);

	pthread_mutex_lock(&t->lock);
	give_up(t, e && e->code ? e->code : -ERR_STOPPED, e && e->code ? e->text : "the step was given up");
	pthread_mutex_unlock(&t->lock);
}

static int pool_threads_end(struct pool *p, struct fixed *sum, struct err *e)
{
	struct pool_threads *t = pool_threads_of(p);
	int code;

	pthread_mutex_lock(&t->lock);
	while (!t->fault.code && t->ndone < t->nunit)
		pthread_cond_wait(&t->over, &t->lock);
	code = t->fault.code;
	if (code)
		err_set(e, code, "%s", t->fault.text);
	else if (t->n)
		memcpy(sum, t->sum, t->n * sizeof *sum);
	t->nunit = t->ndone = t->first_open = 0;    /* late results find no open id */
	pthread_mutex_unlock(&t->lock);
	return code;
}

static size_t pool_threads_shares(const struct pool *p, uint64_t *unit_count, size_t max_worker)
{
	struct pool_threads *t = pool_threads_of((struct pool *)p);
	size_t n;

	pthread_mutex_lock(&t->lock);
	n = t->nworker < max_worker ? t->nworker : max_worker;
	memcpy(unit_count, t->share, n * sizeof *unit_count);
	pthread_mutex_unlock(&t->lock);
	return n;
}

static void pool_threads_free(struct pool *p)
{
	struct pool_threads *t = pool_threads_of(p);

	if (!t)
		return;
	pthread_cond_destroy(&t->over);
	pthread_mutex_destroy(&t->lock);
	free(t->ledger);
	free(t->sum);
	free(t->share);
	free(t);
}

static const struct pool_ops pool_threads_ops = {
	.name = "threads",
	.begin = pool_threads_begin,
	.pull = pool_threads_pull,
	.push = pool_threads_push,
	.lose = pool_threads_lose,
	.join = pool_threads_join,
	.abort = pool_threads_abort,
	.end = pool_threads_end,
	.shares = pool_threads_shares,
	.free = pool_threads_free,
};

struct pool *pool_threads_new(unsigned nworker)
{
	struct pool_threads *t = mem_alloc(1, sizeof *t);

	if (nworker > POOL_WORKERS_MAX)
		BUG("a pool of %u workers", nworker);
	t->pool.ops = &pool_threads_ops;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->over, NULL);
	t->nworker = nworker;
	t->share_cap = nworker ? nworker : 1;
	t->share = mem_alloc(t->share_cap, sizeof *t->share);
	return &t->pool;
}
