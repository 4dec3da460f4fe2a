/* SPDX-License-Identifier: Apache-2.0
 * The pool of one process: every unit counts exactly once, whoever does it, however
 * often it is done, and whoever is lost. */
#include "config.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/base/rng.h"
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

/* Does units; sometimes forgets one and is lost, sometimes sends one twice. */
static void *play(void *arg)
{
	struct player *me = arg;
	const struct pool_ops *ops = me->pool->ops;
	struct fixed v[N];
	int64_t id;
	uint64_t n = 0;

	pthread_barrier_wait(me->start);
	while ((id = ops->pull(me->pool, me->worker)) >= 0) {
		uint32_t u = (uint32_t)id;
		unsigned luck = (unsigned)(rng_u64(3, RNG_TEST, me->worker, n++) % 10);

		if (luck == 0) {
			ops->lose(me->pool, me->worker);
			continue;
		}
		fill(u, v);
		ops->push(me->pool, me->worker, &u, 1, v);
		if (luck == 1)
			ops->push(me->pool, me->worker, &u, 1, v);
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
	uint64_t share[NTHREAD], total = 0;

	for (int round = 0; round < 3; round++) {
		pthread_barrier_init(&start, NULL, NTHREAD);
		tap_is_int(pool->ops->begin(pool, NUNIT, N, NULL), 0, "a step begins");
		for (unsigned k = 0; k < NTHREAD; k++) {
			player[k] = (struct player){ pool, k, &start };
			pthread_create(&thread[k], NULL, play, &player[k]);
		}
		for (unsigned k = 0; k < NTHREAD; k++)
			pthread_join(thread[k], NULL);
		pthread_barrier_destroy(&start);
		pthread_barrier_init(&start, NULL, 1);
		play(&(struct player){ pool, 0, &start });     /* what the last one lost */
		pthread_barrier_destroy(&start);
		tap_is_int(pool->ops->end(pool, sum, NULL), 0, "and ends");
		tap_ok(sums_right(sum), "every unit counted once, with lost workers and doubled results");
	}
	pool->ops->shares(pool, share, NTHREAD);
	for (unsigned k = 0; k < NTHREAD; k++)
		total += share[k];
	tap_is_int((long long)total, 3 * NUNIT, "shares add up to the units counted");
	pool->ops->free(pool);
}

/* ---- the ledger, call by call ---- */

static void test_ledger(void)
{
	struct pool *p = pool_threads_new(2);
	const struct pool_ops *ops = p->ops;
	struct fixed v = { 1, 0 }, sum = { 0, 0 };
	uint32_t both[2] = { 0, 1 }, twice[2] = { 2, 2 }, third[2] = { 1, 2 }, beyond = 3;
	int joined;

	ops->begin(p, 3, 1, NULL);
	tap_is_int(ops->pull(p, 0), 0, "units are handed out in order");
	tap_is_int(ops->pull(p, 1), 1, "to all workers");
	ops->lose(p, 0);
	tap_is_int(ops->pull(p, 1), 0, "a lost worker's unit is open again");
	tap_is_int(ops->push(p, 0, both, 2, &v), 1, "two units in one result");
	tap_is_int(ops->push(p, 1, both, 1, &v), 0, "a second result for one of them is dropped");
	tap_is_int(ops->push(p, 1, third, 2, &v), 0, "and one that overlaps is dropped whole");
	tap_is_int(ops->push(p, 1, twice, 2, &v), 0, "and one that names a unit twice");
	tap_is_int(ops->push(p, 1, &beyond, 1, &v), 0, "and one that is beyond the step");
	tap_is_int(ops->pull(p, 9), -1, "a worker that never joined gets nothing");
	joined = ops->join(p);
	tap_is_int(joined, 2, "a worker joins");
	tap_is_int(ops->pull(p, (unsigned)joined), 2, "and gets what is open");
	tap_is_int(ops->pull(p, 0), -1, "then there is nothing");
	tap_is_int(ops->push(p, (unsigned)joined, twice, 1, &v), 1, "the last result");
	tap_is_int(ops->end(p, &sum, NULL), 0, "the step ends");
	tap_is_int(sum.a, 2, "with two results counted");
	tap_is_int(ops->push(p, 0, both, 1, &v), 0, "a result that comes late is dropped");
	ops->free(p);
}

static void test_faults(void)
{
	struct pool *p = pool_threads_new(1);
	const struct pool_ops *ops = p->ops;
	struct fixed v = { INT64_MAX, 0 }, sum;
	struct err e = { 0, "" };
	uint32_t id = 0;

	ops->begin(p, 2, 1, NULL);
	tap_is_int(ops->push(p, 0, &id, 1, &v), 1, "the largest limb");
	id = 1;
	tap_is_int(ops->push(p, 0, &id, 1, &v), -ERR_NOT_FINITE, "a limb that overflows is an error");
	tap_is_int(ops->end(p, &sum, &e), -ERR_NOT_FINITE, "of the step");
	ops->begin(p, 2, 1, NULL);
	tap_is_int(ops->pull(p, 0), 0, "the next step begins afresh");
	err_set(&e, -ERR_BAD_DATA, "sample 7 is odd");
	ops->abort(p, &e);
	tap_is_int(ops->pull(p, 0), -1, "after an abort there is no unit");
	e.text[0] = '\0';
	tap_is_int(ops->end(p, &sum, &e), -ERR_BAD_DATA, "and the step ends with the code");
	tap_is_str(e.text, "sample 7 is odd", "and the text given");
	tap_is_int(ops->begin(p, FIXED_TERMS_MAX, 1, &e), 0, "4194304 units are allowed");
	ops->abort(p, NULL);
	tap_is_int(ops->end(p, &sum, &e), -ERR_STOPPED, "and given up");
	tap_is_int(ops->begin(p, FIXED_TERMS_MAX + 1, 1, &e), -ERR_CONFIG, "one more is refused");
	tap_is_int(ops->begin(p, 0, 0, &e), 0, "a step of nothing");
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
