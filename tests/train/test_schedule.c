/* SPDX-License-Identifier: Apache-2.0
 * Schedules against Keras's own numbers (schedules.txt), and what fills in their options. */
#include "runtime/train/optimizer/schedule.h"

#include "tests/train/numbers.h"

enum { STEPS = 6 };
static const uint64_t step[STEPS] = { 0, 1, 4, 7, 12, 23 };

static struct schedule schedule_of(const struct numbers *r)
{
	struct schedule s = { .row = schedule_find(r->name), .list = { { 4, 12 }, { 0.5, 0.25, 0.125 } } };

	if (!s.row)
		tap_bail("no schedule %s", r->name);
	numbers_options(r, s.row->option, s.row->noption, s.option);
	if (!strcmp(r->name, "piecewise")) {
		s.option[0] = 2;
		s.option[1] = 3;
	}
	return s;
}

static unsigned test_lines(void)
{
	static struct numbers r;
	FILE *f = numbers_open("schedules.txt");
	const struct schedule_row *row;
	size_t n = schedule_rows(&row);
	unsigned seen = 0;

	while (numbers_next(f, &r)) {
		struct schedule s = schedule_of(&r);

		tap_is_int(schedule_check(&s, NULL), 0, "%s: the options go together", r.what);
		schedule_resolve(&s, 0.2, 1000);
		for (int i = 0; i < STEPS; i++)
			tap_close(schedule_rate(&s, step[i]), r.part[0][i],
				strncmp(r.name, "cosine", 6) ? 5e-16 : 2e-8, "%s: after %d updates", r.what, (int)step[i]);
		for (size_t i = 0; i < n; i++)
			seen |= (unsigned)(s.row == &row[i]) << i;
	}
	fclose(f);
	return seen;
}

static struct schedule plain(const char *name)
{
	struct schedule s = { .row = schedule_find(name) };

	for (unsigned k = 0; k < s.row->noption; k++)
		s.option[k] = s.row->option[k].value;
	return s;
}

static void test_resolved(void)
{
	struct schedule s = plain("cosine");

	schedule_resolve(&s, 0.5, 40);
	tap_close(schedule_rate(&s, 0), 0.5, 0, "the optimiser's rate is the first");
	tap_close(schedule_rate(&s, 20), 0.25, 1e-16, "half of it in the middle of the training");
	tap_close(schedule_rate(&s, 40), 0, 1e-16, "nothing at its end");
	s = plain("constant");
	schedule_resolve(&s, 0.5, 40);
	tap_ok(schedule_rate(&s, 0) == 0.5 && schedule_rate(&s, 39) == 0.5, "constant stays");
	s = (struct schedule){ .row = NULL };
	schedule_resolve(&s, 0.25, 40);
	tap_ok(schedule_rate(&s, 7) == 0.25, "so does none");
}

/* Where one cosine ends the next begins, at any length. */
static void test_boundaries(void)
{
	struct schedule s = plain("cosine_restarts");
	unsigned falls = 0, tops = 0;
	uint64_t at = 0, length = 3;

	s.option[1] = (double)length;
	schedule_resolve(&s, 1, 1000);
	for (uint64_t k = 0; k < 40; k++, at += length, length *= 2) {
		tops += schedule_rate(&s, at) == 1;
		falls += schedule_rate(&s, at + length - 1) < 0.3;
	}
	tap_ok(tops == 40 && falls == 40, "%u restarts at the top, %u ends low", tops, falls);
}

static void test_piecewise(void)
{
	struct schedule s = { .row = schedule_find("piecewise"), .option = { 2, 2 }, .list = { { 4, 4 }, { 1, 2, 3 } } };
	struct err e;

	tap_is_int(schedule_check(&s, &e), -ERR_CONFIG, "too few values");
	tap_is_str(e.text, "schedule piecewise has 2 boundaries and 2 values; it needs one more value than boundaries", "are named");
	s.option[1] = 3;
	tap_is_int(schedule_check(&s, &e), -ERR_CONFIG, "boundaries that do not rise");
	tap_is_str(e.text, "the boundaries of schedule piecewise do not rise at entry 1", "are named");
}

/* Option, schedule, callback: who sets the rate of a step. */
static void test_owner(void)
{
	const double option[OPTIMIZER_OPTIONS_MAX] = { 0.5 }, slot = 4, *const slots[] = { &slot };
	const struct update u = { .opt = (const double[]){ 8 }, .slot = (double *const *)slots, .n = 1 };
	struct schedule none = { .row = NULL }, cosine = plain("cosine");
	struct learning_rate r;

	learning_rate_init(&r, optimizer_find("adam"), option, &none, 40);
	tap_ok(learning_rate_of_step(&r, NULL, 0) == 0.5 && learning_rate_of_step(&r, NULL, 39) == 0.5, "the option's, without a schedule");
	learning_rate_init(&r, optimizer_find("adam"), option, &cosine, 40);
	tap_close(learning_rate_of_step(&r, NULL, 20), 0.25, 1e-16, "the schedule's");
	r.replaced = 0.125;
	tap_ok(learning_rate_of_step(&r, NULL, 20) == 0.125 && learning_rate_of_step(&r, NULL, 21) == 0.125, "the callback's, from then on");
	r.replaced = NAN;
	tap_close(learning_rate_of_step(&r, NULL, 20), 0.25, 1e-16, "the schedule's again in the next restart");
	learning_rate_init(&r, optimizer_find("bold_driver"), option, &none, 40);
	tap_ok(learning_rate_of_step(&r, &u, 0) == 8 && learning_rate_of_step(&r, &u, 1) == 4, "an optimizer's own");
	learning_rate_init(&r, optimizer_find("rotosolve"), option, &none, 40);
	tap_ok(isnan(learning_rate_of_step(&r, &u, 0)), "none");
}

int main(void)
{
	const struct schedule_row *row;
	size_t n = schedule_rows(&row);
	unsigned seen = test_lines();

	for (size_t i = 0; i < n; i++) {
		tap_ok(seen & 1u << i || !strcmp(row[i].name, "constant"), "%s has been compared", row[i].name);
		tap_ok(schedule_find(row[i].name) == &row[i] && *row[i].doc && *row[i].source, "%s is complete", row[i].name);
	}
	tap_ok(!schedule_find("cosinus"), "an unknown name is not found");
	test_resolved();
	test_boundaries();
	test_piecewise();
	test_owner();
	return tap_done();
}
