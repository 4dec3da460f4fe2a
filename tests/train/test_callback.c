/* SPDX-License-Identifier: Apache-2.0
 * Callbacks against what Keras 3.15.1's own do with the same numbers, each also taken apart and
 * put together from its state after every epoch. */
#include "runtime/train/callback/callback_parts.h"

#include <unistd.h>

#include "tests/train/callback_run.h"

/* ---- Keras's own results ---- */

static void test_early_stopping(void)
{
	static const struct { int series, patience, mode, from; double min_delta, baseline; bool restore;
		unsigned epochs, stopped, weights; } row[] = {
		{ 0, 0, 0, 0, 0, NAN, false, 4, 4, 4 }, { 0, 2, 0, 0, 0, NAN, false, 7, 7, 7 }, { 0, 3, 0, 0, 0, NAN, false, 11, 11, 11 },
		{ 0, 3, 0, 0, .0625, NAN, false, 6, 6, 6 }, { 0, 3, 0, 0, .125, NAN, true, 6, 6, 3 },
		{ 1, 2, 1, 0, 0, NAN, false, 3, 3, 3 }, { 1, 3, 1, 0, 0, NAN, true, 4, 4, 1 }, { 1, 3, 0, 2, 0, NAN, true, 11, 11, 8 },
		{ 1, 4, 0, 0, 0, .25, false, 4, 4, 4 }, { 1, 4, 0, 0, 0, .25, true, 4, 4, 1 }, { 1, 3, 0, 0, 0, .5, true, 3, 3, 1 },
		{ 2, 2, 2, 0, 0, NAN, false, 7, 7, 7 }, { 2, 5, 2, 0, 0, NAN, true, 12, 0, 10 }, { 2, 4, 2, 0, .125, NAN, true, 7, 7, 3 },
		{ 1, 5, 0, 0, 0, NAN, true, 12, 0, 12 }, { 1, 0, 0, 4, 0, NAN, false, 6, 6, 6 },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct callback_set set;
		double weight[8] = { 0 }, *opt = set.of[CALLBACK_early_stopping].option;
		struct seen s = { 0 };
		struct train_job j = job_of(&set);
		unsigned n;

		callback_defaults(&set);
		set.of[CALLBACK_early_stopping].enabled = true;
		opt[STOP_PATIENCE] = row[i].patience;
		opt[STOP_MODE] = row[i].mode;
		opt[STOP_START_FROM_EPOCH] = row[i].from;
		opt[STOP_MIN_DELTA] = row[i].min_delta;
		opt[STOP_BASELINE] = row[i].baseline;
		opt[STOP_RESTORE_BEST_WEIGHTS] = row[i].restore;
		tap_is_int(callbacks_check(&j, NULL), 0, "early_stopping %zu is well", i);
		n = run(&j, series[row[i].series], NULL, &s, weight);
		tap_is_int(n, row[i].epochs, "early_stopping %zu: epochs", i);
		tap_is_int(s.stopped, row[i].stopped, "early_stopping %zu: stopped", i);
		tap_is_int((int)weight[0], row[i].weights, "early_stopping %zu: weights", i);
		tap_is_int(s.restored, row[i].restore ? row[i].weights : 0, "early_stopping %zu: restored", i);
	}
}

static void test_plateau(void)
{
	static const struct { int series, patience, mode, cooldown; double factor, min_lr, min_delta, rate[NEPOCH]; } row[] = {
		{ 0, 1, 0, 0, .5, 0, 1e-4, { .5, .5, .5, .25, .25, .125, .0625, .0625, .03125, .015625, .0078125, .00390625 } },
		{ 0, 2, 0, 0, .5, 0, 1e-4, { .5, .5, .5, .5, .5, .5, .25, .25, .25, .125, .125, .0625 } },
		{ 0, 2, 0, 2, .5, 0, 1e-4, { .5, .5, .5, .5, .5, .5, .25, .25, .25, .125, .125, .125 } },
		{ 1, 2, 0, 1, .25, 0, 1e-4, { .5, .5, .125, .125, .125, .125, .03125, .03125, .03125, .0078125, .0078125, .0078125 } },
		{ 1, 1, 0, 0, .5, .125, 1e-4, { .5, .25, .125, .125, .125, .125, .125, .125, .125, .125, .125, .125 } },
		{ 1, 1, 0, 0, .25, .0625, .125, { .5, .125, .0625, .0625, .0625, .0625, .0625, .0625, .0625, .0625, .0625, .0625 } },
		{ 2, 2, 2, 0, .5, 0, .125, { .5, .5, .5, .5, .25, .25, .125, .125, .0625, .0625, .0625, .03125 } },
		{ 2, 0, 2, 0, .5, 0, 1e-4, { .5, .5, .5, .25, .25, .125, .0625, .03125, .015625, .015625, .0078125, .00390625 } },
		{ 1, 1, 0, 3, .5, .2, 1e-4, { .5, .25, .25, .25, .25, .2, .2, .2, .2, .2, .2, .2 } },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct callback_set set;
		double weight[8] = { 0 }, rate[NEPOCH], *opt = set.of[CALLBACK_reduce_lr_on_plateau].option;
		int nchange = 0;
		struct seen s = { 0 };
		struct train_job j = job_of(&set);

		callback_defaults(&set);
		set.of[CALLBACK_reduce_lr_on_plateau].enabled = true;
		opt[PLATEAU_PATIENCE] = row[i].patience;
		opt[PLATEAU_MODE] = row[i].mode;
		opt[PLATEAU_COOLDOWN] = row[i].cooldown;
		opt[PLATEAU_FACTOR] = row[i].factor;
		opt[PLATEAU_MIN_LR] = row[i].min_lr;
		opt[PLATEAU_MIN_DELTA] = row[i].min_delta;
		tap_is_int(callbacks_check(&j, NULL), 0, "plateau %zu is well", i);
		tap_is_int(run(&j, series[row[i].series], rate, &s, weight), NEPOCH, "plateau %zu ends no start", i);
		tap_is_mem(rate, row[i].rate, sizeof rate, "plateau %zu: rates", i);
		for (unsigned e = 0; e < NEPOCH; e++)
			nchange += rate[e] != (e ? rate[e - 1] : 0.5);
		tap_is_int(s.nrate, nchange, "plateau %zu: each change is an event", i);
		tap_ok(!nchange || s.rate == rate[NEPOCH - 1], "plateau %zu: with the new rate", i);
	}
}

static void test_checkpoint(void)
{
	struct callback_set set;
	struct callback_choice *o = &set.of[CALLBACK_checkpoint];
	struct train_job j = job_of(&set);

	callback_defaults(&set);
	o->enabled = true;
	o->text[SAVE_PATH] = "{epoch:02d}-{val_loss:.3f}";
	o->text[SAVE_MONITOR] = "loss";
	want_files(&j, 1, "01-0.500 02-0.625 03-0.750 04-0.500 05-0.250 06-0.312 07-0.250 08-0.125 09-0.250 10-0.250 11-0.250 12-0.062",
		"a file each epoch");
	o->option[SAVE_FREQ] = 4;
	want_files(&j, 1, "02-0.625 03-0.750 04-0.500 06-0.312 07-0.250 08-0.125 10-0.250 11-0.250 12-0.062", "every 4 updates");
	o->option[SAVE_FREQ] = 7;
	want_files(&j, 1, "03-0.750 05-0.250 07-0.250 10-0.250 12-0.062", "every 7 updates");
	o->option[SAVE_BEST_ONLY] = 1;
	o->option[SAVE_FREQ] = 2;
	want_files(&j, 1, "01-0.500 05-0.250 08-0.125 12-0.062", "the best of every 2 updates");
	o->option[SAVE_FREQ] = NAN;
	want_files(&j, 1, "01-0.500 05-0.250 08-0.125 12-0.062", "the best epochs");
	o->option[SAVE_MODE] = MODE_MAX;
	want_files(&j, 2, "01-0.250 02-0.500 03-0.750 05-0.875 10-0.938", "the largest");
	o->option[SAVE_INITIAL_VALUE_THRESHOLD] = .8;
	want_files(&j, 2, "05-0.875 10-0.938", "better than a threshold");
	o->option[SAVE_INITIAL_VALUE_THRESHOLD] = NAN;
	o->option[SAVE_KEEP] = 2;
	want_files(&j, 2, "05-0.875 10-0.938", "the newest two are kept");
	o->text[SAVE_PATH] = "best";
	o->option[SAVE_KEEP] = 1;
	want_files(&j, 2, "best best best best best", "one name is overwritten, never removed");
}

/* A file that could not be written costs no older file, and is written later, unless there is a better one. */
static void test_full_disk(void)
{
	struct callback_set set;
	struct callback_choice *o = &set.of[CALLBACK_checkpoint];
	struct train_job j = job_of(&set);
	struct seen s = { 0 };
	const struct train_observer observer = { .ctx = &s, .event = on_event };
	struct callbacks *c;
	double weight[8] = { 0 };

	callback_defaults(&set);
	o->enabled = true;
	o->text[SAVE_PATH] = "{epoch}";
	o->option[SAVE_BEST_ONLY] = o->option[SAVE_KEEP] = 1;
	c = callbacks_new(&j, rate_of_job, NULL);
	callbacks_begin(c, 0);
	for (uint32_t e = 1; e <= 3; e++) {
		struct epoch_record r = epoch_of(e, e == 1 ? 1 : e == 2 ? .25 : .5);

		s.full = e == 2;
		weight[0] = e;
		callbacks_epoch(c, &observer, &r, NSTEP, weight);
		if (e == 2)
			tap_ok(s.nfile == 1 && !s.ndrop, "the old file stays where the new one fails");
	}
	tap_ok(s.nfile == 2 && !strcmp(s.file[1], "2") && s.saved == 2 && s.ndrop == 1, "and is written when there is room, not the worse one after it");
	callbacks_free(c);

	/* Twelve epochs of which each is a file of its own, all but the last without room. */
	o->option[SAVE_BEST_ONLY] = 0;
	o->option[SAVE_KEEP] = NAN;
	c = callbacks_new(&j, rate_of_job, NULL);
	callbacks_begin(c, 0);
	s = (struct seen){ .full = true };
	for (uint32_t e = 1; e <= 12; e++) {
		struct epoch_record r = epoch_of(e, 1);

		s.full = e < 12;
		weight[0] = e;
		callbacks_epoch(c, &observer, &r, NSTEP, weight);
	}
	tap_ok(s.nfile == 9 && !strcmp(s.file[0], "4") && !strcmp(s.file[7], "11") && !strcmp(s.file[8], "12") && s.saved == 12,
		"eight that wait, then the new one");
	callbacks_free(c);
}

/* ---- epochs without validation, and values that are no numbers ---- */

static void test_gaps(void)
{
	struct callback_set set;
	struct train_job j = job_of(&set);
	struct seen s = { 0 };
	const struct train_observer observer = { .ctx = &s, .event = on_event };
	struct callbacks *c;
	double weight[8] = { 0 };
	uint32_t e;

	callback_defaults(&set);
	set.of[CALLBACK_early_stopping].enabled = true;
	set.of[CALLBACK_early_stopping].option[STOP_PATIENCE] = 2;
	c = callbacks_new(&j, rate_of_job, NULL);
	callbacks_begin(c, 0);
	for (e = 1; e <= NEPOCH && !callbacks_stopped(c); e++) {
		struct epoch_record r = epoch_of(e, 1);

		r.has_validation = e % 3 == 0;
		callbacks_epoch(c, &observer, &r, NSTEP, weight);
	}
	tap_is_int(e - 1, 9, "epochs without validation do not count");
	callbacks_begin(c, 0);
	for (e = 1; e <= NEPOCH && !callbacks_stopped(c); e++) {
		struct epoch_record r = epoch_of(e, e == 1 ? NAN : e == 4 ? NAN : 1.0 / e);

		callbacks_epoch(c, &observer, &r, NSTEP, weight);
	}
	tap_is_int(e - 1, NEPOCH, "a NaN is never the best, and the next number is");
	set.of[CALLBACK_early_stopping].option[STOP_PATIENCE] = 0;
	callbacks_begin(c, 0);
	for (e = 1; e <= NEPOCH && !callbacks_stopped(c); e++) {
		struct epoch_record r = epoch_of(e, e == 1 ? NAN : e < 5 ? 1.0 / e : 1);

		callbacks_epoch(c, &observer, &r, NSTEP, weight);
	}
	tap_is_int(e - 1, 5, "no patience at all, but the first epoch ends nothing");
	callbacks_free(c);
}

int main(void)
{
	program = tiny_program(ACTIVATION_LINEAR, ACTIVATION_LINEAR, 0);
	test_early_stopping();
	test_plateau();
	test_checkpoint();
	test_full_disk();
	test_gaps();
	program_free(program);
	return tap_done();
}
