/* SPDX-License-Identifier: Apache-2.0
 * The pool of one process and its ledger: every unit counts exactly once, whoever computes it, and however often. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/base/rng.h"
#include "runtime/net/scheduler/ledger.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/tap.h"

enum { NUNIT = 1000, N = 5, NTHREAD = 4 };

/* What unit u adds to entry i: no two units alike. */
static struct fixed part(uint32_t u, size_t i)
{
	return (struct fixed){ (int64_t)u * u + (int64_t)i, -(int64_t)u - 3 };
}

static void fill(uint32_t u, struct fixed *v)
{
	for (size_t i = 0; i < N; i++)
		v[i] = part(u, i);
}

static bool sums_right(const struct fixed *sum)
{
	struct fixed want[N] = { { 0, 0 } }, v[N];

	for (uint32_t u = 0; u < NUNIT; u++) {
		fill(u, v);
		fixed_add(want, v, N);
	}
	return !memcmp(sum, want, sizeof want);
}

/* ---- threads with accidents ---- */

struct player { struct pool *pool; unsigned worker; pthread_barrier_t *start; };

/* Computes units; sometimes sends one twice. */
static void *play(void *arg)
{
	struct player *me = arg;
	const struct pool_thread_ops *ops = me->pool->threads;
	struct fixed v[N];
	int64_t id;
	uint64_t n = 0;

	pthread_barrier_wait(me->start);
	while ((id = ops->pull(me->pool, me->worker)) >= 0) {
		uint32_t u = (uint32_t)id;
		unsigned luck = (unsigned)(rng_u64(3, RNG_TEST, me->worker, n++) % 10);

		fill(u, v);
		ops->push(me->pool, me->worker, u, v);
		if (luck == 1)
			ops->push(me->pool, me->worker, u, v);
	}
	return NULL;
}

static void test_threads(void)
{
	struct pool *pool = pool_threads_new(NTHREAD);
	struct player player[NTHREAD];
	pthread_t thread[NTHREAD];
	pthread_barrier_t start;
	struct fixed sum[N];

	for (int round = 0; round < 3; round++) {
		pthread_barrier_init(&start, NULL, NTHREAD);
		tap_is_int(pool->ops->begin(pool, NULL, NUNIT, N, NULL), 0, "a step begins");
		for (unsigned k = 0; k < NTHREAD; k++) {
			player[k] = (struct player){ pool, k, &start };
			pthread_create(&thread[k], NULL, play, &player[k]);
		}
		for (unsigned k = 0; k < NTHREAD; k++)
			pthread_join(thread[k], NULL);
		pthread_barrier_destroy(&start);
		tap_is_int(pool->ops->end(pool, sum, NULL), 0, "and ends");
		tap_ok(sums_right(sum), "every unit counted once, with doubled results");
	}
	pool->ops->free(pool);
}

/* ---- the ledger, call by call ---- */

static void test_ledger(void)
{
	struct ledger l = { 0 };
	struct fixed v = { 1, 0 };
	uint32_t both[2] = { 0, 1 }, twice[2] = { 2, 2 }, third[2] = { 1, 2 }, beyond = 3;

	ledger_begin(&l, 3, 1, NULL);
	tap_is_int(ledger_take(&l, 0), 0, "units are handed out in order");
	tap_is_int(ledger_take(&l, 1), 1, "to all workers");
	tap_is_int(ledger_lose(&l, 0), 1, "a worker is lost with one unit");
	tap_is_int(ledger_take(&l, 1), 0, "which is pending again");
	tap_is_int(ledger_put(&l, 0, both, 2, &v), 1, "two units in one result");
	tap_is_int(ledger_put(&l, 1, both, 1, &v), 0, "a second result for one of them is dropped");
	tap_is_int(ledger_put(&l, 1, third, 2, &v), 0, "and one that overlaps is dropped whole");
	tap_is_int(ledger_put(&l, 1, twice, 2, &v), 0, "and one that names a unit twice");
	tap_is_int(ledger_put(&l, 1, &beyond, 1, &v), 0, "and one that is beyond the step");
	tap_is_int(ledger_take(&l, 2), 2, "another worker gets the last unit");
	tap_is_int(ledger_take(&l, 0), -1, "then there is none");
	tap_is_int(ledger_put(&l, 2, twice, 1, &v), 1, "the last result");
	tap_ok(l.ndone == 3 && l.sum[0].a == 2, "all units are done, by two results");
	ledger_close(&l);
	tap_is_int(ledger_put(&l, 0, both, 1, &v), 0, "a result that comes late is dropped");
	ledger_release(&l);
}

static void test_faults(void)
{
	struct pool *p = pool_threads_new(1);
	const struct pool_ops *ops = p->ops;
	const struct pool_thread_ops *threads = p->threads;
	struct fixed v = { INT64_MAX, 0 }, sum;
	struct err e = { 0, "" };
	uint32_t id = 0;

	ops->begin(p, NULL, 2, 1, NULL);
	tap_is_int(threads->push(p, 0, id, &v), 1, "the largest limb");
	id = 1;
	tap_is_int(threads->push(p, 0, id, &v), -ERR_NOT_FINITE, "a limb that overflows is an error");
	tap_is_int(ops->end(p, &sum, &e), -ERR_NOT_FINITE, "of the step");
	ops->begin(p, NULL, 2, 1, NULL);
	tap_is_int(threads->pull(p, 9), -1, "a thread that there is none of gets nothing");
	tap_is_int(threads->pull(p, 0), 0, "the next step begins afresh");
	err_set(&e, -ERR_BAD_DATA, "sample 7 is odd");
	threads->abort(p, &e);
	tap_is_int(threads->pull(p, 0), -1, "after an abort there is no unit");
	e.text[0] = '\0';
	tap_is_int(ops->end(p, &sum, &e), -ERR_BAD_DATA, "and the step ends with the code");
	tap_is_str(e.text, "sample 7 is odd", "and the text given");
	tap_is_int(ops->begin(p, NULL, FIXED_TERMS_MAX, 1, &e), 0, "4194304 units are allowed");
	threads->abort(p, NULL);
	tap_is_int(ops->end(p, &sum, &e), -ERR_STOPPED, "and given up");
	tap_is_int(ops->begin(p, NULL, FIXED_TERMS_MAX + 1, 1, &e), -ERR_CONFIG, "one more is refused");
	tap_is_int(ops->begin(p, NULL, 0, 0, &e), 0, "a step of nothing");
	tap_is_int(ops->end(p, NULL, &e), 0, "ends at once");
	ops->free(p);
}

int main(void)
{
	test_ledger();
	test_faults();
	test_threads();
	return tap_done();
}
