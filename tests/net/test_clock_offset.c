/* SPDX-License-Identifier: Apache-2.0
 * Offsets of clocks from exchanges of any length, between clocks that drift, and of times that no clock has. */
#include "runtime/net/cluster/clock_offset.h"

#include <stdlib.h>

#include "tests/tap.h"

#define MINUTES (INT64_C(600) * 1000000000)
#define FAST 50e-6 /* of the worker's clock */

static int64_t theirs(int64_t ours, double drift)
{
	return ours + MINUTES + (int64_t)(drift * (double)ours);
}

/* A question sent at `at` that takes there and back so long, and the worker `own` in between. */
static bool exchange(struct clock_offset *o, enum clock_when when, int64_t at, int64_t there,
	int64_t own, int64_t back, double drift)
{
	struct wire_clock m = { at, theirs(at + there, drift), theirs(at + there + own, drift) };

	return clock_offset_add(o, when, &m, at + there + own + back);
}

/* Between two times of ours. */
static int64_t uncertain(const struct clock_offset *o, int64_t begin, int64_t end, double drift)
{
	return clock_offset_uncertainty(o, theirs(begin, drift), theirs(end, drift));
}

static void test_offset(void)
{
	struct clock_offset o = { 0 };
	int64_t error;

	tap_ok(!clock_offset_best(&o)->trip, "without a sample there is no offset");
	exchange(&o, CLOCK_BEGIN, 1000000, 50000, 900000, 50000, 0);
	tap_ok(clock_offset_best(&o)->offset == MINUTES && clock_offset_best(&o)->trip == 100001,
		"an even trip gives it exactly");
	exchange(&o, CLOCK_BEGIN, 3000000, 5000000, 0, 10000, 0);
	tap_is_int(clock_offset_best(&o)->offset, MINUTES, "a long one does not change it");
	exchange(&o, CLOCK_DURING, 9000000, 2000, 0, 30000, 0);
	error = clock_offset_best(&o)->offset - MINUTES;
	tap_ok(llabs(error) <= uncertain(&o, 1500000, 9000000, 0)
			&& uncertain(&o, 1500000, 9000000, 0) <= 17600,
		"the shortest counts, and is off by %lld ns at most by half of it and the drift (%lld)",
		(long long)error, (long long)uncertain(&o, 1500000, 9000000, 0));
}

static void test_drift(void)
{
	struct clock_offset o = { 0 };
	int64_t worst = 0;

	exchange(&o, CLOCK_BEGIN, 0, 10000, 0, 10000, FAST);
	tap_ok(clock_offset_drift(&o) == 0, "no drift is known from the beginning alone");
	exchange(&o, CLOCK_END, 10000000000, 12000, 0, 8000, FAST);
	tap_ok(fabs(clock_offset_drift(&o) - FAST) < 1e-6, "that of two samples: %.3f in a million",
		1e6 * clock_offset_drift(&o));
	for (int64_t at = 0; at <= 10000000000; at += 1000000000) {
		int64_t error = clock_offset_at(&o, theirs(at, FAST)) - (theirs(at, FAST) - at);

		worst = llabs(error) > worst ? llabs(error) : worst;
	}
	tap_ok(worst <= uncertain(&o, 0, 10000000000, FAST),
		"so that the offset is known all the time, to %lld ns", (long long)worst);
	exchange(&o, CLOCK_DURING, 5000000000, 1000, 0, 1000, FAST);
	tap_ok(fabs(clock_offset_drift(&o) - FAST) < 1e-6,
		"a better one in between changes little of it");

	o = (struct clock_offset){ 0 };
	exchange(&o, CLOCK_BEGIN, 0, 10000, 0, 10000, FAST);
	exchange(&o, CLOCK_END, 10000000000, 12000000, 0, 10000, FAST);
	tap_ok(clock_offset_drift(&o) == 0, "a long trip gives no drift");
	worst = llabs(clock_offset_at(&o, theirs(10000000000, FAST))
		- (theirs(10000000000, FAST) - 10000000000));
	tap_ok(worst > 100000 && worst <= uncertain(&o, 0, 10000000000, FAST),
		"the offset is then uncertain by what clocks usually drift: off by %lld, at most %lld ns",
		(long long)worst, (long long)uncertain(&o, 0, 10000000000, FAST));
	exchange(&o, CLOCK_END, 10000000000, 100, 0, 100, 0.01);
	tap_ok(clock_offset_drift(&o) == 0, "no clock runs faster by a hundredth");
}

/* As of a worker that was busy and answered late: all samples are from the end of what was recorded. */
static void test_late(double drift, int64_t first)
{
	struct clock_offset o = { 0 };
	int64_t error;

	exchange(&o, CLOCK_BEGIN, first, 4000, 0, 5000, drift);
	exchange(&o, CLOCK_END, 10000000000, 5000, 0, 4000, drift);
	error = clock_offset_at(&o, theirs(0, drift)) - (theirs(0, drift) - 0);
	tap_ok(llabs(error) > 50000 && llabs(error) <= uncertain(&o, 0, 10000000000, drift),
		"samples from the end alone: off by %lld, at most %lld ns", (long long)error,
		(long long)uncertain(&o, 0, 10000000000, drift));
}

static void test_wrong(void)
{
	static const struct {
		struct wire_clock m;
		int64_t now;
		const char *what;
	} row[] = {
		{ { 0, 10, 5 }, 100, "an answer before its question" },
		{ { 0, 10, 200 }, 100, "longer with the worker than with us" },
		{ { 0, INT64_MIN, INT64_MAX }, 100, "the whole of time" },
		{ { 0, INT64_MAX - 5, INT64_MAX }, 100, "its end" },
		{ { 0, INT64_MIN, INT64_MIN + 5 }, 100, "its beginning" },
	};
	struct clock_offset o = { 0 };

	for (size_t k = 0; k < sizeof row / sizeof *row; k++)
		tap_ok(!clock_offset_add(&o, CLOCK_BEGIN, &row[k].m, row[k].now)
				&& !clock_offset_best(&o)->trip,
			"refused: %s", row[k].what);
}

int main(void)
{
	test_offset();
	test_drift();
	test_late(FAST, 9995000000); /* too short a time to measure the drift */
	test_late(FAST, 9980000000);
	test_wrong();
	return tap_done();
}
