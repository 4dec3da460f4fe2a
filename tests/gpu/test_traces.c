/* SPDX-License-Identifier: Apache-2.0
 * While CUPTI records the units of one stream, another stream begins or ends: which record is of which stream stays known.
 *
 * test_traces made|ended: the other one is made after recording began, or ends before it stops. The emulated CUPTI has a record of it
 * in a unit of the first (EMU_CUPTI=beside:n). */
#include "config.h"

#include <string.h>

#include "runtime/base/profile/recorder.h"
#include "runtime/exec/statevector/statevector.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/compile_file.h"
#include "tests/tap.h"

static struct evaluator *new_evaluator(const struct program *p)
{
	struct evaluator_options o = { .nthread = 1, .target = target_find("cuda", NULL) };
	struct evaluator *ev;
	struct err e = { 0, "" };

	if (evaluator_new(p, &o, &ev, &e) || evaluator_weights(ev, (const double[]){ 0.5 }, &e))
		tap_bail("%s", e.text);
	return ev;
}

static void run_units(struct evaluator *ev, struct pool *pool, unsigned n)
{
	struct batch b = { .nsample = 1, .input = NULL };
	double readout;
	struct err e = { 0, "" };

	while (n--) {
		evaluator_prepare(ev, &b, false, NULL, NULL, &readout);
		if (evaluator_run(ev, pool, NULL, &e))
			tap_bail("%s", e.text);
	}
}

/* Of the first stream: all of its kernels and copies have their times. */
static void check(const struct profile_process *p, const char *what)
{
	const struct profile_thread *row = NULL;

	for (uint32_t k = 0; k < p->nthread; k++)
		if (p->thread[k].device && p->thread[k].launches)
			row = &p->thread[k];
	tap_ok(row && row->timing && !strcmp(row->timing, "CUPTI") && !row->timing_note,
		"%s: timed by %s: %s", what, row && row->timing ? row->timing : "nothing",
		row && row->timing_note ? row->timing_note : "all");
}

int main(int argc, char **argv)
{
	bool made = argc > 1 && !strcmp(argv[1], "made");
	struct program *p =
		compile_text("QCNN 1; qubit q; param float w; ry(w) q; observe z(q);", NULL);
	struct pool *pool = pool_threads_new(1);
	struct profile *profile = profile_new();
	struct profile_process process = { 0 };
	struct evaluator *first = new_evaluator(p), *other = made ? NULL : new_evaluator(p);

	recorder_start(PROFILE_PHASES, 1 << 20);
	run_units(first, pool, 1);
	if (made)
		other = new_evaluator(p);
	run_units(first, pool, 4); /* records of the first three are read at once */
	if (!made)
		evaluator_free(other);
	recorder_stop(profile, &process);
	check(&process, made ? "a stream is made" : "a stream ends");
	if (made)
		evaluator_free(other);
	evaluator_free(first);
	profile_free(profile);
	pool->ops->free(pool);
	program_free(p);
	return tap_done();
}
