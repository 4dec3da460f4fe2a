/* SPDX-License-Identifier: Apache-2.0
 * Callbacks against what Keras 3.15.1's own do with the same numbers, each also taken apart and
 * put together from its state after every epoch; templates of paths; what is refused. */
#include "config.h"
#include "runtime/train/callback_parts.h"

#include <unistd.h>

#include "tests/tap.h"
#include "tests/train/tiny.h"

enum { NEPOCH = 12, NSTEP = 3, NFILE = 16 };

static const double series[3][NEPOCH] = {
	{ 1, .75, .5, .5, .4375, .4375, .4375, .375, .375, .375, .375, .375 },
	{ .5, .625, .75, .5, .25, .3125, .25, .125, .25, .25, .25, .0625 },
	{ .25, .5, .75, .75, .875, .75, .75, .75, .75, .9375, .75, .75 },
};

static struct program *program;
static struct dataset data = { .nrow = 4, .nx = 1, .ny = 2 };

static struct train_job job_of(struct callback_set *s)
{
	struct train_job j = { .program = program, .train = { &data, NULL, 4 }, .validation = { &data, NULL, 2 },
		.epochs = NEPOCH, .batch_size = 2, .restarts = 1, .callbacks = s, .optimizer = optimizer_find("adam"),
		.measures = { .loss = loss_choice(loss_find("mse")), .nmetric = 3, .metric = { metric_choice(metric_find("accuracy")),
			metric_choice(metric_find("confusion")), metric_choice(metric_find("huber")) } } };

	for (unsigned k = 0; k < j.optimizer->noption; k++)
		j.option[k] = j.optimizer->option[k].value;
	j.option[0] = 0.5;
	return j;
}

/* ---- a start without a training ---- */

struct seen { uint32_t stopped, restored; double best; char file[NFILE][80]; unsigned nfile, ndrop; bool full; };

static int on_event(void *ctx, const struct train_event *v)
{
	struct seen *s = ctx;

	if (v->kind == TRAIN_STOPPED) {
		s->stopped = v->result->epoch;
		s->best = v->best;
	} else if (v->kind == TRAIN_RESTORED) {
		s->restored = v->best_epoch;
	} else if (v->kind == TRAIN_SAVE) {
		if (s->full)
			return -ERR_IO;
		snprintf(s->file[s->nfile++ % NFILE], sizeof *s->file, "%s", v->path);
	} else if (v->kind == TRAIN_DROP) {
		s->ndrop++;
		for (unsigned i = 0; i < s->nfile; i++)
			if (!strcmp(s->file[i % NFILE], v->path))
				*s->file[i % NFILE] = 0;
	}
	return 0;
}

/* The same callbacks in another struct, all of it from the state. */
static struct callbacks *twin(const struct train_job *j, struct callbacks *old, uint32_t start)
{
	static double list[4096];
	struct callbacks *c = callbacks_new(j, NULL);
	size_t n = callbacks_state(old, list, 4096);

	if (n > 4096 || callbacks_state(old, NULL, 0) != n || callbacks_restore(c, start, list, n, NULL))
		tap_bail("a state of %zu numbers does not come back", n);
	if (callbacks_best(old))
		memcpy(callbacks_best(c), callbacks_best(old), program->nweight * sizeof(double));
	callbacks_free(old);
	return c;
}

static struct epoch_result epoch_of(uint32_t e, double value)
{
	return (struct epoch_result){ .epoch = e, .step = (uint64_t)e * NSTEP, .loss = value, .val_loss = value,
		.has_validation = true, .learning_rate = 0.5 };
}

/* rate[NEPOCH]: after each epoch (may be NULL).  How many epochs; weight[0] is the epoch whose they are. */
static unsigned run(const struct train_job *j, const double *value, double *rate, struct seen *s, double *weight)
{
	const struct train_observer o = { .ctx = s, .event = on_event };
	struct callbacks *c = callbacks_new(j, NULL);
	struct epoch_result r = { .epoch = 0 };
	unsigned e = 0;

	callbacks_begin(c, 0);
	while (e < NEPOCH && !callbacks_stopped(c)) {
		r = epoch_of(e + 1, value[e]);
		for (uint32_t k = 1; k <= NSTEP; k++) {
			if (callbacks_step(c))
				callbacks_save(c, &o, &r, k, weight);
			c = twin(j, c, 0);
		}
		weight[0] = ++e;
		callbacks_epoch(c, &o, &r, NSTEP, weight);
		c = twin(j, c, 0);
		if (rate)
			rate[e - 1] = callbacks_rate(c, 77);
	}
	callbacks_finish(c, &o, &r, weight);
	tap_is_int(r.epoch, (int)weight[0], "the last numbers are those of the weights");
	callbacks_free(c);
	return e;
}

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
		set.of[CALLBACK_early_stopping].wanted = true;
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
		struct seen s = { 0 };
		struct train_job j = job_of(&set);

		callback_defaults(&set);
		set.of[CALLBACK_reduce_lr_on_plateau].wanted = true;
		opt[PLATEAU_PATIENCE] = row[i].patience;
		opt[PLATEAU_MODE] = row[i].mode;
		opt[PLATEAU_COOLDOWN] = row[i].cooldown;
		opt[PLATEAU_FACTOR] = row[i].factor;
		opt[PLATEAU_MIN_LR] = row[i].min_lr;
		opt[PLATEAU_MIN_DELTA] = row[i].min_delta;
		tap_is_int(callbacks_check(&j, NULL), 0, "plateau %zu is well", i);
		tap_is_int(run(&j, series[row[i].series], rate, &s, weight), NEPOCH, "plateau %zu ends no start", i);
		tap_is_mem(rate, row[i].rate, sizeof rate, "plateau %zu: rates", i);
	}
}

static void want_files(const struct train_job *j, int which, const char *want, const char *what)
{
	struct seen s = { 0 };
	double weight[8] = { 0 };
	char got[NFILE * 80] = "";

	tap_is_int(callbacks_check(j, NULL), 0, "%s is well", what);
	run(j, series[which], NULL, &s, weight);
	for (unsigned i = 0; i < s.nfile && i < NFILE; i++)
		if (*s.file[i]) {
			strcat(got, *got ? " " : "");
			strcat(got, s.file[i]);
		}
	tap_is_str(got, want, "%s", what);
}

static void test_checkpoint(void)
{
	struct callback_set set;
	struct callback_choice *o = &set.of[CALLBACK_checkpoint];
	struct train_job j = job_of(&set);

	callback_defaults(&set);
	o->wanted = true;
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

/* A file that could not be written is no best one, and costs no older file. */
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
	o->wanted = true;
	o->text[SAVE_PATH] = "{epoch}";
	o->option[SAVE_BEST_ONLY] = o->option[SAVE_KEEP] = 1;
	c = callbacks_new(&j, NULL);
	callbacks_begin(c, 0);
	for (uint32_t e = 1; e <= 3; e++) {
		struct epoch_result r = epoch_of(e, e == 1 ? 1 : e == 2 ? .25 : .5);

		s.full = e == 2;
		callbacks_epoch(c, &observer, &r, NSTEP, weight);
		if (e == 2)
			tap_ok(s.nfile == 1 && !s.ndrop, "the old file stays where the new one fails");
	}
	tap_ok(s.nfile == 2 && !strcmp(s.file[1], "3") && s.ndrop == 1, "and the next better one is written");
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
	set.of[CALLBACK_early_stopping].wanted = true;
	set.of[CALLBACK_early_stopping].option[STOP_PATIENCE] = 2;
	c = callbacks_new(&j, NULL);
	callbacks_begin(c, 0);
	for (e = 1; e <= NEPOCH && !callbacks_stopped(c); e++) {
		struct epoch_result r = epoch_of(e, 1);

		r.has_validation = e % 3 == 0;
		callbacks_epoch(c, &observer, &r, NSTEP, weight);
	}
	tap_is_int(e - 1, 9, "epochs without validation do not count");
	callbacks_begin(c, 0);
	for (e = 1; e <= NEPOCH && !callbacks_stopped(c); e++) {
		struct epoch_result r = epoch_of(e, e == 1 ? NAN : e == 4 ? NAN : 1.0 / e);

		callbacks_epoch(c, &observer, &r, NSTEP, weight);
	}
	tap_is_int(e - 1, NEPOCH, "a NaN is never the best, and the next number is");
	set.of[CALLBACK_early_stopping].option[STOP_PATIENCE] = 0;
	callbacks_begin(c, 0);
	for (e = 1; e <= NEPOCH && !callbacks_stopped(c); e++) {
		struct epoch_result r = epoch_of(e, e == 1 ? NAN : e < 5 ? 1.0 / e : 1);

		callbacks_epoch(c, &observer, &r, NSTEP, weight);
	}
	tap_is_int(e - 1, 5, "no patience at all, but the first epoch ends nothing");
	callbacks_free(c);
}

/* ---- paths ---- */

static void want_path(const char *template, const char *want, uint32_t restarts)
{
	struct train_job j = job_of(NULL);
	struct epoch_result r = { .start = 1, .epoch = 7, .loss = 0.1, .val_loss = 12.34567, .has_validation = true, .learning_rate = 0.001 };
	struct buf b = BUF_INIT;
	struct err e = { 0 };

	r.metric[0] = 0.75;
	j.restarts = restarts;
	if (want) {
		tap_is_int(callback_path(&j, template, &r, 42, &b, &e), 0, "%s", template);
		tap_is_str(b.data, want, "%s is %s", template, want);
	} else {
		tap_is_int(callback_path(&j, template, &r, 42, &b, &e), -ERR_CONFIG, "%s is refused", template);
		tap_note("%s", e.text);
	}
	buf_release(&b);
}

static void test_paths(void)
{
	char longest[CALLBACK_PATH_MAX + 2];

	want_path("a/{epoch:03d}-{batch}-{loss:.2f}.bin", "a/007-42-0.10.bin", 1);
	want_path("{epoch:5d}|{epoch:05d}|{val_loss:8.2f}|{val_loss:08.2f}|{accuracy:e}", "    7|00007|   12.35|00012.35|7.500000e-01", 1);
	want_path("{loss}-{val_loss:.3}-{learning_rate:g}-{epoch:.1f}", "0.1-12.3-0.001-7.0", 1);
	want_path("{{x}}{epoch}", "{x}7", 1);
	want_path("m", "start-2/m", 3);
	want_path("/a/b/m{epoch}", "/a/b/start-2/m7", 3);
	want_path("a/{start:02d}/m", "a/02/m", 3);
	want_path("a/{{start}}/m", "a/{start}/start-2/m", 3);
	want_path("{val_huber:.1f}", "0.0", 1);
	want_path("{nothing}", NULL, 1);
	want_path("{confusion}", NULL, 1);
	want_path("{epoch:x}", NULL, 1);
	want_path("{epoch:.2d}", NULL, 1);
	want_path("{loss:d}", NULL, 1);
	want_path("{loss:999f}", NULL, 1);
	want_path("{loss:.99f}", NULL, 1);
	want_path("{loss", NULL, 1);
	want_path("{", NULL, 1);
	want_path("loss}", NULL, 1);
	want_path("{}", NULL, 1);
	want_path("", NULL, 1);
	want_path("a/", NULL, 1);
	want_path("{a_name_that_is_much_longer_than_any_metric_could_ever_be_in_this_program_or_another}", NULL, 1);
	memset(longest, 'x', sizeof longest);
	longest[CALLBACK_PATH_MAX] = 0;
	want_path(longest, longest, 1);
	longest[CALLBACK_PATH_MAX] = 'x';
	longest[CALLBACK_PATH_MAX + 1] = 0;
	want_path(longest, NULL, 1);
}

/* ---- what is refused ---- */

static void test_refusals(void)
{
	struct callback_set set;
	struct train_job j = job_of(&set);
	struct err e;

	callback_defaults(&set);
	set.of[CALLBACK_early_stopping].wanted = true;
	j.validation.nrow = 0;
	tap_is_int(callbacks_check(&j, &e), -ERR_CONFIG, "val_loss without validation data: %s", e.text);
	set.of[CALLBACK_early_stopping].text[STOP_MONITOR] = "nonsense";
	tap_is_int(callbacks_check(&j, &e), -ERR_CONFIG, "an unknown name: %s", e.text);
	set.of[CALLBACK_early_stopping].text[STOP_MONITOR] = "confusion";
	tap_is_int(callbacks_check(&j, &e), -ERR_CONFIG, "a matrix");
	set.of[CALLBACK_early_stopping].text[STOP_MONITOR] = "huber";
	tap_is_int(callbacks_check(&j, &e), 0, "a metric");
	j.validation.nrow = 2;
	set.of[CALLBACK_reduce_lr_on_plateau].wanted = true;
	tap_is_int(callbacks_check(&j, &e), 0, "two callbacks");
	j.schedule.row = schedule_find("constant");
	tap_is_int(callbacks_check(&j, &e), 0, "with a constant schedule");
	j.schedule.row = schedule_find("cosine");
	tap_is_int(callbacks_check(&j, &e), -ERR_CONFIG, "with another: %s", e.text);
	j.schedule.row = NULL;
	set.of[CALLBACK_csv].wanted = true;
	set.of[CALLBACK_csv].text[CSV_SEPARATOR] = "\t";
	tap_is_int(callbacks_check(&j, &e), 0, "a tab as separator");
	for (const char *const *s = (const char *const[]){ "", ";;", "a", "0", "-", ".", "\n", "\"", "\xc3", NULL }; *s; s++) {
		set.of[CALLBACK_csv].text[CSV_SEPARATOR] = *s;
		tap_is_int(callbacks_check(&j, &e), -ERR_CONFIG, "separator \"%s\"", *s[0] == '\n' ? "newline" : *s);
	}
	set.of[CALLBACK_csv].wanted = false;
	set.of[CALLBACK_command].wanted = true;
	set.of[CALLBACK_command].option[HOOK_ON] = ON_CHECKPOINT;
	tap_is_int(callbacks_check(&j, &e), -ERR_CONFIG, "a command that waits for no files: %s", e.text);
	set.of[CALLBACK_checkpoint].wanted = true;
	tap_is_int(callbacks_check(&j, &e), 0, "with files");
	set.of[CALLBACK_checkpoint].option[SAVE_FREQ] = 5;
	set.of[CALLBACK_checkpoint].option[SAVE_BEST_ONLY] = 1;
	tap_is_int(callbacks_check(&j, &e), -ERR_CONFIG, "val_loss in mid-epoch: %s", e.text);
}

static const struct callback_part *part_of(const struct callbacks *c, enum callback_id id)
{
	for (unsigned i = 0; i < c->npart; i++)
		if (c->part[i].choice->id == id)
			return &c->part[i];
	tap_bail("no callback of that kind");
	return NULL;
}

/* Several of a kind: each state comes back to its own, also where files have changed places. */
static void test_several(void)
{
	struct callback_set set;
	struct train_job j = job_of(&set);
	struct callback_choice *a, *b;
	struct callbacks *c, *other;
	struct seen s = { 0 };
	const struct train_observer observer = { .ctx = &s, .event = on_event };
	double weight[8] = { 0 }, list[512];
	size_t n;

	callback_defaults(&set);
	callback_add(&set, CALLBACK_early_stopping)->option[STOP_PATIENCE] = 50;
	callback_add(&set, CALLBACK_early_stopping)->option[STOP_PATIENCE] = 5;
	a = callback_add(&set, CALLBACK_checkpoint);
	b = callback_add(&set, CALLBACK_checkpoint);
	a->text[SAVE_PATH] = "a{epoch}";
	b->text[SAVE_PATH] = "b{epoch}-{batch}";
	b->option[SAVE_FREQ] = 2;
	a->option[SAVE_KEEP] = b->option[SAVE_KEEP] = 2;
	tap_is_int(callbacks_check(&j, NULL), 0, "several of a kind are well");
	want_files(&j, 2, "a5 b6-1 b6-3 a6", "two checkpoints, each with its own count, ended by the less patient");
	c = callbacks_new(&j, NULL);
	for (uint32_t e = 1; e <= 4; e++) {
		struct epoch_result r = epoch_of(e, 1);

		callbacks_step(c);
		callbacks_epoch(c, &observer, &r, NSTEP, weight);
	}
	n = callbacks_state(c, list, 512);
	a->text[SAVE_PATH] = "b{epoch}-{batch}";
	b->text[SAVE_PATH] = "a{epoch}";
	a->option[SAVE_FREQ] = 2;
	b->option[SAVE_FREQ] = NAN;
	other = callbacks_new(&j, NULL);
	tap_is_int(callbacks_restore(other, 0, list, n, NULL), 0, "two that have changed places are known by their paths");
	tap_ok(part_of(other, CALLBACK_checkpoint)->save.nsaved == 0 && part_of(other, CALLBACK_checkpoint)[1].save.nsaved == 2, "each to its own");
	callbacks_free(other);
	a->text[SAVE_PATH] = "a{epoch}";
	tap_is_int(callbacks_check(&j, NULL), -ERR_CONFIG, "two for one path are refused");
	tap_is_str(callback_stop_monitor(&j, 1), "val_loss", "the second early_stopping");
	tap_ok(!callback_stop_monitor(&j, 2), "there is no third");
	callbacks_free(c);
}

/* Any list of numbers is refused or taken, and none does harm. */
static void test_bad_states(void)
{
	struct callback_set set;
	struct train_job j = job_of(&set);
	double list[512] = { 0 }, bad[512];
	struct callbacks *c, *other;
	struct seen s = { 0 };
	const struct train_observer observer = { .ctx = &s, .event = on_event };
	double weight[8] = { 0 };
	size_t n;
	unsigned refused = 0;

	callback_defaults(&set);
	for (unsigned i = 0; i < CALLBACK_COUNT; i++)
		set.of[i].wanted = true;
	set.of[CALLBACK_early_stopping].option[STOP_RESTORE_BEST_WEIGHTS] = 1;
	set.of[CALLBACK_checkpoint].option[SAVE_KEEP] = 3;
	c = callbacks_new(&j, NULL);
	other = callbacks_new(&j, NULL);
	for (uint32_t e = 1; e <= 4; e++) {
		struct epoch_result r = epoch_of(e, 1);

		callbacks_epoch(c, &observer, &r, NSTEP, weight);
	}
	n = callbacks_state(c, list, 512);
	tap_ok(n <= 512 && n > 60, "a state of %zu numbers", n);
	tap_is_int(callbacks_restore(other, 0, list, n, NULL), 0, "comes back");
	for (size_t k = 0; k < n; k++)
		refused += callbacks_restore(other, 0, list, k, NULL) != 0;
	tap_is_int(refused, n, "none that is cut short does");
	memcpy(bad, list, sizeof bad);
	tap_is_int(callbacks_restore(other, 0, bad, n + 1, NULL), -ERR_BAD_DATA, "nor one that is too long");
	for (size_t k = 0; k < n; k++)
		for (int way = 0; way < 4; way++) {
			bad[k] = way == 0 ? NAN : way == 1 ? -1 : way == 2 ? 1e300 : 2.5;
			callbacks_restore(other, 0, bad, n, NULL);
			bad[k] = list[k];
		}
	tap_is_int(callbacks_restore(other, 0, list, n, NULL), 0, "after odd ones a good one is taken");
	tap_ok(callbacks_state(other, bad, 512) == n && !memcmp(bad, list, n * sizeof *bad), "to the same bits");
	callbacks_free(other);
	set.of[CALLBACK_csv].text[CSV_PATH] = "other.csv";
	set.of[CALLBACK_checkpoint].wanted = false;
	other = callbacks_new(&j, NULL);
	tap_is_int(callbacks_restore(other, 0, list, n, NULL), 0, "callbacks that change no result may be other ones");
	tap_ok(!part_of(other, CALLBACK_csv)->csv.begun
		&& part_of(other, CALLBACK_early_stopping)->stop.wait == part_of(c, CALLBACK_early_stopping)->stop.wait
		&& part_of(other, CALLBACK_reduce_lr_on_plateau)->plateau.wait == part_of(c, CALLBACK_reduce_lr_on_plateau)->plateau.wait,
		"another file is not taken for the one begun");
	callbacks_free(other);
	set.of[CALLBACK_early_stopping].wanted = false;
	other = callbacks_new(&j, NULL);
	tap_is_int(callbacks_restore(other, 0, list, n, NULL), -ERR_BAD_DATA, "those that change it may not");
	callbacks_free(other);
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
	test_paths();
	test_refusals();
	test_several();
	test_bad_states();
	program_free(program);
	return tap_done();
}
