/* SPDX-License-Identifier: Apache-2.0
 * qcnn bench on a busy machine, with times that are given. */
#include "cli/bench/bench.h"
#include "tests/tap.h"

#include <string.h>

enum { CALLS = 100 };

/* Calls of 1 ms, `slow` of them of 5 ms: what an overloaded machine makes of them. */
static void calls(struct bench_result *r, unsigned slow, double share_of_floor)
{
	double t[CALLS];

	for (unsigned k = 0; k < CALLS; k++)
		t[k] = k * 37 % CALLS < slow ? 5e-3 : 1e-3;
	*r = (struct bench_result){ .circuit = "sel",
		.precision = "single",
		.method = "statevector",
		.start = "zero",
		.isa = "avx2",
		.method = "statevector",
		.device = "cpu",
		.shape = "state",
		.limit = "fma",
		.optimisations = "",
		.qubits = 4,
		.batch = 1,
		.threads = 1,
		.share_of_limit = NAN,
		.share_of_floor = share_of_floor };
	bench_statistics(t, CALLS, r);
}

/* Measurements in order: how many calls are slow, and the share of the floor. */
struct series { unsigned slow[4]; double share[4]; unsigned at, shares; double scale; };

static int once(void *ctx, enum bench_doubt doubt, struct bench_result *out, struct err *e)
{
	struct series *p = ctx;

	(void)e;
	p->shares += doubt == BENCH_DOUBT_SHARE;
	calls(out, p->slow[p->at], p->share[p->at]);
	if (p->scale)
		out->mean *= p->scale;
	out->optimisations = strcpy(out->optimisation_text, "batch_rank");
	p->at++;
	return 0;
}

static void check_repeat(const char *what, struct series p, uint64_t measured, bool reliable, const char *doubt)
{
	struct bench_result r;
	struct err e;

	bench_repeat(once, &p, &r, &e);
	tap_is_int((long long)r.measured, (long long)measured, "%s: measured %llu times", what, (unsigned long long)measured);
	tap_is_int(r.reliable, reliable, "%s: %s", what, reliable ? "reliable" : "not reliable");
	tap_is_str(r.doubt, doubt, "%s: the reason", what);
	tap_ok(r.optimisations == r.optimisation_text, "%s: texts are those of the result", what);
}

static void check_statistics(void)
{
	struct bench_result r;

	calls(&r, 5, 0.9);
	tap_ok(r.high == 1e-3 && r.max == 5e-3 && r.low == 1e-3 && !bench_doubt(&r), "5 slow calls of 100 are outliers: the spread has none of them");
	calls(&r, 6, 0.9);
	tap_ok(r.high == 5e-3 && bench_doubt(&r) == BENCH_DOUBT_SPREAD, "6 of 100 are not");
	calls(&r, 0, 1.09);
	tap_ok(!bench_doubt(&r), "a share of the floor of 109 %% is within the tolerance");
	calls(&r, 0, 3.17);
	tap_ok(bench_doubt(&r) == BENCH_DOUBT_SHARE, "317 %% is not");
	r.share_of_floor = NAN;
	r.share_of_limit = 1.11;
	tap_ok(bench_doubt(&r) == BENCH_DOUBT_SHARE, "nor is 111 %% of the limit");
	bench_statistics((double[]){ 2, 1, 3 }, 3, &r);
	tap_ok(r.low == 1 && r.high == 3 && r.median == 2, "of few calls none is an outlier");
}

static void check_text(void)
{
	struct bench_result r[2];
	struct bench_report report = { .result = r, .n = 2 };
	struct buf b = BUF_INIT;
	struct err e;

	bench_repeat(once, &(struct series){ .slow = { 40, 40, 40 }, .share = { NAN, NAN, NAN } }, &r[0], &e);
	bench_repeat(once, &(struct series){ .share = { NAN } }, &r[1], &e);
	bench_text(&report, &b);
	tap_ok(strstr(b.data, "the machine is busy: not reliable: sel on 4 qubits, batch 1, 1 thread: calls of very different times, measured 3 times\n") != NULL,
		"the text says it");
	tap_ok(strstr(b.data, "busy -0+400 %") != NULL, "and its row");
	buf_clear(&b);
	bench_markdown(&report, &b);
	tap_ok(strstr(b.data, "|\n\nthe machine is busy: not reliable: sel on 4 qubits") != NULL, "markdown");
	buf_clear(&b);
	bench_csv(&report, &b);
	tap_ok(strstr(b.data, ",reliable,doubt,measured,") && strstr(b.data, ",false,\"calls of very different times\",3,")
		&& strstr(b.data, ",true,\"\",1,"), "CSV");
	buf_clear(&b);
	bench_json(&report, &b);
	tap_ok(strstr(b.data, "\"reliable\": false, \"doubt\": \"calls of very different times\", \"measured\": 3") != NULL, "JSON");
	buf_release(&b);
}

/* Slower than a file says, by calls that are not reliable. */
static void check_compare(void)
{
	struct bench_result r;
	struct bench_report report = { .result = &r, .n = 1 };
	struct buf b = BUF_INIT;
	unsigned slower;
	struct err e;

	bench_repeat(once, &(struct series){ .share = { NAN } }, &r, &e);
	bench_json(&report, &b);
	tap_is_int(buf_write_file(&b, "old.json", 0, &e), 0, "an earlier run");
	buf_clear(&b);
	bench_repeat(once, &(struct series){ .share = { 2, 2, 2 } }, &r, &e);
	r.min = r.median = 1;
	tap_is_int(bench_compare(&report, "old.json", &b, &slower, &e), 0, "is compared");
	tap_ok(slower == 1 && strstr(b.data, "slower, but not reliable, as the machine is busy: sel on 4 qubits"), "a regression that is not reliable says so");
	buf_release(&b);
}

int main(void)
{
	check_statistics();
	check_repeat("a quiet machine", (struct series){ .share = { 0.9 } }, 1, true, "");
	check_repeat("busy once", (struct series){ .slow = { 40, 0 }, .share = { 0.9, 0.9 } }, 2, true, "");
	check_repeat("limits too low once", (struct series){ .share = { 3.17, 0.9 } }, 2, true, "");
	check_repeat("always busy", (struct series){ .slow = { 40, 30, 20, 0 }, .share = { 0.9, 0.9, 0.9, 0.9 } }, 1 + BENCH_REPEATS, false,
		"calls of very different times");
	check_repeat("always too fast", (struct series){ .share = { 2, 3, 2, 1 } }, 1 + BENCH_REPEATS, false, "faster than the measured limits allow");
	check_repeat("a long case", (struct series){ .slow = { 40, 0 }, .share = { 0.9, 0.9 }, .scale = 1e4 }, 1, false, "calls of very different times");
	check_text();
	check_compare();
	return tap_done();
}
