/* SPDX-License-Identifier: Apache-2.0
 * What is recorded of phases, regions and items, and hardware counters from numbers that a kernel gave. */
#include <math.h>
#include <pthread.h>

#include "runtime/base/profile/counters.h"
#include "runtime/base/profile/recorder.h"
#include "tests/tap.h"

/* Until that much time has passed by the recorder's clock. */
static void work(int64_t ns)
{
	int64_t end = recorder_clock() + ns;

	while (recorder_clock() < end)
		;
}

enum {
	MS = 1000000,
	NEAR = 5000 /* two clocks, which are compared within nanoseconds at the ends of a profile */
};

static struct profile *stop(struct profile_process *q)
{
	struct profile *p = profile_new();

	*q = (struct profile_process){ 0 };
	recorder_stop(p, q);
	return p;
}

static void test_phases(void)
{
	struct profile_process q;
	struct profile *p;
	uint64_t sum = 0;

	recorder_mark(PHASE_DATA);
	recorder_start(PROFILE_PHASES, 1 << 20);
	work(2 * MS);
	recorder_mark(PHASE_FORWARD);
	work(4 * MS);
	recorder_mark(PHASE_BACKWARD);
	recorder_as(PHASE_VALIDATION);
	work(MS);
	recorder_mark(PHASE_FORWARD);
	recorder_as(PHASE_NONE);
	p = stop(&q);
	for (unsigned k = 0; k < PHASE_COUNT; k++)
		sum += q.wall_ns[k];
	tap_ok(q.wall_ns[PHASE_FORWARD] >= 2 * MS - NEAR && q.wall_ns[PHASE_BACKWARD] >= 4 * MS - NEAR
			&& q.wall_ns[PHASE_VALIDATION] >= MS - NEAR && q.wall_ns[PHASE_DATA] == 0,
		"each mark has the time since the one before, and what is before the start has none");
	tap_ok(llabs((long long)sum - (q.end - q.begin)) <= PHASE_COUNT,
		"the phases add up to the wall time: %llu of %lld ns", (unsigned long long)sum,
		(long long)(q.end - q.begin));
	tap_ok(q.nthread == 1 && q.thread[0].nevent == 3 && q.thread[0].event[2].id == PHASE_FORWARD
			&& q.thread[0].count[PHASE_VALIDATION] == 1,
		"events keep their own phase");
	profile_free(p);
	recorder_mark(PHASE_DATA);
	recorder_start(PROFILE_PHASES, 1 << 20);
	p = stop(&q);
	tap_ok(q.wall_ns[PHASE_FORWARD] == 0 && q.nitem == 0, "the next profile begins with nothing");
	profile_free(p);
}

struct side {
	struct recorder_region *region;
	unsigned worker;
	int64_t ns;
};

static void *side(void *ctx)
{
	struct side *s = ctx;

	recorder_enter(s->region, s->worker);
	work(s->ns);
	recorder_mark(PHASE_FORWARD);
	return NULL;
}

static void test_region(void)
{
	struct recorder_region region;
	struct side own = { &region, 0, 2 * MS }, other = { &region, 1, 6 * MS };
	struct profile_process q;
	struct profile *p;
	pthread_t thread;
	uint64_t mine, its, mean;

	recorder_start(PROFILE_PHASES, 1 << 20);
	recorder_region_begin(&region);
	pthread_create(&thread, NULL, side, &other);
	side(&own);
	pthread_join(thread, NULL);
	recorder_region_end(&region);
	p = stop(&q);
	mine = q.thread[0].ns[PHASE_FORWARD];
	its = q.nthread > 1 ? q.thread[1].ns[PHASE_FORWARD] : 0;
	mean = (mine + its) / 2;
	tap_ok(mine >= 2 * MS - NEAR && its >= 6 * MS - NEAR, "threads have their own times");
	tap_ok(fabs((double)q.wall_ns[PHASE_FORWARD] / (double)mean - 1) < 1e-3,
		"threads side by side count by their mean");
	/* Either may take longer than it works, on a busy machine. */
	tap_ok(q.wall_ns[PHASE_WAIT] + mean >= (mine > its ? mine : its) - NEAR,
		"and the rest is waiting: %.3f ms", 1e-6 * (double)q.wall_ns[PHASE_WAIT]);
	profile_free(p);
}

static void test_items(void)
{
	struct profile_process q;
	struct profile *p;
	_Atomic uint64_t *item;
	int64_t last;

	tap_ok(!recorder_items(3), "no items while nothing is recorded");
	recorder_start(PROFILE_PHASES, 1 << 20);
	tap_ok(!recorder_items(3), "nor with phases alone");
	recorder_stop(NULL, NULL);
	recorder_start(PROFILE_LAYERS, 1 << 20);
	item = recorder_items(3);
	last = recorder_ticks();
	work(MS);
	recorder_item(&item[1], &last);
	work(2 * MS);
	recorder_item(&item[3 + 2], &last);
	recorder_states(false, 3);
	recorder_states(false, 4);
	recorder_states(true, 5);
	recorder_as(PHASE_VALIDATION);
	tap_ok(!recorder_items(3), "nor for what is no step");
	recorder_states(true, 100);
	p = stop(&q);
	tap_ok(q.forward_states == 7 && q.backward_states == 5, "states that they are about");
	tap_ok(q.nitem == 3 && q.item_ns[0][1] >= MS - NEAR && q.item_ns[1][2] >= 2 * MS - NEAR
			&& !q.item_ns[0][0] && !q.item_ns[0][2],
		"items forward and backward");
	profile_free(p);
}

static void test_exchanges(void)
{
	struct profile_process q;
	struct profile *p;
	int64_t began;

	recorder_exchange(1, false, recorder_begin(), recorder_begin(), 1, 0);
	recorder_start(PROFILE_PHASES, 1 << 20);
	for (unsigned k = 0; k < 3; k++) {
		began = recorder_begin();
		work(MS);
		recorder_exchange(2 << 16 | 1, k > 0, began, recorder_begin(), 100 + k, 1e-4);
	}
	p = stop(&q);
	tap_ok(q.nexchange == 2 && q.exchange[0].circuit == 2 && q.exchange[0].segment == 1
			&& !q.exchange[0].backward && q.exchange[1].backward,
		"exchanges by their direction, of the time that was recorded");
	tap_ok(q.exchange[0].count == 1 && q.exchange[0].bytes == 100 && q.exchange[1].count == 2
			&& q.exchange[1].bytes == 203 && q.exchange[1].wait_ns == 200000,
		"their number, bytes and waiting");
	tap_ok(q.exchange[0].ns >= MS - NEAR && q.exchange[1].ns >= 2 * MS - NEAR, "and time");
	tap_ok(q.thread[0].nevent == 3 && q.thread[0].event[2].kind == EVENT_EXCHANGE
			&& q.thread[0].event[2].id == (2 << 16 | 1)
			&& q.thread[0].event[2].peer == 1 && !q.thread[0].event[0].peer,
		"an event of each");
	profile_free(p);
	recorder_start(PROFILE_PHASES, 1 << 20);
	p = stop(&q);
	tap_is_int(q.nexchange, 0, "none of a former profile");
	profile_free(p);
}

/* What a device did is recorded as it goes on, or when recording stops. */
static void stopped(void *queue)
{
	recorder_queue_event(queue, EVENT_COPY, 1, recorder_clock() - MS, recorder_clock());
	recorder_queue_timed(queue, "CUPTI", "a note");
}

static const struct profile_thread *device_of(const struct profile_process *q)
{
	for (uint32_t k = 0; k < q->nthread; k++)
		if (q->thread[k].device)
			return &q->thread[k];
	return NULL;
}

static void test_queues(void)
{
	struct recorder_queue *queue = recorder_queue_new("cuda:3");
	struct profile_process q;
	struct profile *p;
	int64_t began;

	for (unsigned k = 0; k < 2; k++) { /* nothing is left of the first recording */
		recorder_start(PROFILE_PHASES, 1 << 20);
		began = recorder_clock();
		recorder_queue_event(queue, EVENT_FORWARD, 5, began, began + 10);
		recorder_queue_count(queue, 7, 100);
		recorder_queue_timed(queue, "events", "no CUPTI");
		p = stop(&q);
		tap_ok(device_of(&q) && !strcmp(device_of(&q)->device, "cuda:3")
				&& device_of(&q)->launches == 7 && device_of(&q)->copied_bytes == 100
				&& device_of(&q)->ns[PHASE_FORWARD] == 10 && device_of(&q)->nevent == 1
				&& !strcmp(device_of(&q)->timing, "events")
				&& !strcmp(device_of(&q)->timing_note, "no CUPTI"),
			"a device's row %u", k);
		profile_free(p);
	}
	recorder_queue_at_stop(queue, stopped, queue);
	recorder_start(PROFILE_PHASES, 1 << 20);
	p = stop(&q);
	tap_ok(device_of(&q) && device_of(&q)->copy_ns >= MS - NEAR && device_of(&q)->nevent == 1
			&& !device_of(&q)->launches && !strcmp(device_of(&q)->timing, "CUPTI"),
		"what is known when recording stops is in it");
	profile_free(p);
	recorder_queue_free(queue);
	recorder_start(PROFILE_PHASES, 1 << 20);
	p = stop(&q);
	tap_ok(!device_of(&q), "a queue that is freed is not asked");
	profile_free(p);
}

static void test_until(void)
{
	struct profile_process q;
	struct profile *p;
	int64_t between;

	recorder_mark_until(PHASE_LOG, recorder_begin());
	recorder_start(PROFILE_PHASES, 1 << 20);
	work(2 * MS);
	between = recorder_begin();
	work(MS);
	recorder_mark_until(PHASE_FORWARD, between);
	recorder_mark(PHASE_LOSSES);
	recorder_mark_until(PHASE_BACKWARD, between);
	recorder_mark_until(PHASE_BACKWARD, 0);
	p = stop(&q);
	tap_ok(q.thread[0].ns[PHASE_FORWARD] >= 2 * MS - NEAR
			&& q.thread[0].ns[PHASE_LOSSES] >= MS - NEAR
			&& !q.thread[0].ns[PHASE_BACKWARD],
		"a phase that has ended before it is marked");
	profile_free(p);
}

static void test_limit(void)
{
	struct profile_process q;
	struct profile *p;

	recorder_start(PROFILE_PHASES, 300000);
	for (int k = 0; k < 20000; k++)
		recorder_mark(PHASE_LOG);
	p = stop(&q);
	tap_ok(q.thread[0].nevent > 0 && q.thread[0].nevent * sizeof(struct profile_event) <= 300000
			&& q.thread[0].nevent + q.thread[0].dropped == q.thread[0].count[PHASE_LOG],
		"events beyond the limit of memory are counted: %u kept, %llu not",
		q.thread[0].nevent, (unsigned long long)q.thread[0].dropped);
	profile_free(p);
}

static void test_counters(void)
{
	const uint64_t whole[3] = { 1000, 50, 50 }, half[3] = { 1000, 50, 25 },
		       never[3] = { 0, 50, 0 };
	struct profile_process q = { 0 };
	struct profile *p = profile_new();

	tap_ok(counters_scaled(whole) == 1000 && counters_scaled(half) == 2000
			&& isnan(counters_scaled(never)),
		"a counter that ran half of the time counts twice");
	counters_stop(counters_start(), p, &q);
	tap_ok(q.ncounter ? !q.no_counters : q.no_counters != NULL,
		"counters, or a sentence why there are none");
	profile_free(p);
}

int main(void)
{
	test_phases();
	test_region();
	test_items();
	test_exchanges();
	test_queues();
	test_until();
	test_limit();
	test_counters();
	return tap_done();
}
