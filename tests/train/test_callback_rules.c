/* SPDX-License-Identifier: Apache-2.0
 * Callbacks' templates of paths, what is refused, several of a kind, and states that are none. */
#include "runtime/train/callback/callback_parts.h"

#include "tests/train/callback_run.h"

/* ---- paths ---- */

static void want_path(const char *template, const char *want, uint32_t restarts)
{
	struct train_job j = job_of(NULL);
	struct epoch_record r = { .restart = 1, .epoch = 7, .loss = 0.1, .val_loss = 12.34567, .has_validation = true, .learning_rate = 0.001 };
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
	set.of[CALLBACK_early_stopping].enabled = true;
	j.validation.nrow = 0;
	tap_is_int(callbacks_check(&j, &e), -ERR_CONFIG, "val_loss without validation data: %s", e.text);
	set.of[CALLBACK_early_stopping].text[STOP_MONITOR] = "nonsense";
	tap_is_int(callbacks_check(&j, &e), -ERR_CONFIG, "an unknown name: %s", e.text);
	set.of[CALLBACK_early_stopping].text[STOP_MONITOR] = "confusion";
	tap_is_int(callbacks_check(&j, &e), -ERR_CONFIG, "a matrix");
	set.of[CALLBACK_early_stopping].text[STOP_MONITOR] = "huber";
	tap_is_int(callbacks_check(&j, &e), 0, "a metric");
	j.validation.nrow = 2;
	set.of[CALLBACK_reduce_lr_on_plateau].enabled = true;
	tap_is_int(callbacks_check(&j, &e), 0, "two callbacks");
	j.schedule.row = schedule_find("constant");
	tap_is_int(callbacks_check(&j, &e), 0, "with a constant schedule");
	j.schedule.row = schedule_find("cosine");
	tap_is_int(callbacks_check(&j, &e), -ERR_CONFIG, "with another: %s", e.text);
	j.schedule.row = NULL;
	set.of[CALLBACK_csv].enabled = true;
	set.of[CALLBACK_csv].text[CSV_SEPARATOR] = "\t";
	tap_is_int(callbacks_check(&j, &e), 0, "a tab as separator");
	for (const char *const *s = (const char *const[]){ "", ";;", "a", "0", "-", ".", "\n", "\"", "\xc3", NULL }; *s; s++) {
		set.of[CALLBACK_csv].text[CSV_SEPARATOR] = *s;
		tap_is_int(callbacks_check(&j, &e), -ERR_CONFIG, "separator \"%s\"", *s[0] == '\n' ? "newline" : *s);
	}
	set.of[CALLBACK_csv].enabled = false;
	set.of[CALLBACK_command].enabled = true;
	set.of[CALLBACK_command].option[HOOK_ON] = ON_CHECKPOINT;
	tap_is_int(callbacks_check(&j, &e), -ERR_CONFIG, "a command that waits for no files: %s", e.text);
	set.of[CALLBACK_checkpoint].enabled = true;
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
	c = callbacks_new(&j, rate_of_job, NULL);
	for (uint32_t e = 1; e <= 4; e++) {
		struct epoch_record r = epoch_of(e, 1);

		callbacks_step(c);
		callbacks_epoch(c, &observer, &r, NSTEP, weight);
	}
	n = callbacks_state(c, list, 512);
	a->text[SAVE_PATH] = "b{epoch}-{batch}";
	b->text[SAVE_PATH] = "a{epoch}";
	a->option[SAVE_FREQ] = 2;
	b->option[SAVE_FREQ] = NAN;
	other = callbacks_new(&j, rate_of_job, NULL);
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
		set.of[i].enabled = true;
	set.of[CALLBACK_early_stopping].option[STOP_RESTORE_BEST_WEIGHTS] = 1;
	set.of[CALLBACK_checkpoint].option[SAVE_KEEP] = 3;
	c = callbacks_new(&j, rate_of_job, NULL);
	other = callbacks_new(&j, rate_of_job, NULL);
	for (uint32_t e = 1; e <= 4; e++) {
		struct epoch_record r = epoch_of(e, 1);

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
	set.of[CALLBACK_checkpoint].enabled = false;
	other = callbacks_new(&j, rate_of_job, NULL);
	tap_is_int(callbacks_restore(other, 0, list, n, NULL), 0, "callbacks that change no result may be other ones");
	tap_ok(!part_of(other, CALLBACK_csv)->csv.begun
		&& part_of(other, CALLBACK_early_stopping)->stop.wait == part_of(c, CALLBACK_early_stopping)->stop.wait
		&& part_of(other, CALLBACK_reduce_lr_on_plateau)->plateau.wait == part_of(c, CALLBACK_reduce_lr_on_plateau)->plateau.wait,
		"another file is not taken for the one begun");
	callbacks_free(other);
	set.of[CALLBACK_early_stopping].enabled = false;
	other = callbacks_new(&j, rate_of_job, NULL);
	tap_is_int(callbacks_restore(other, 0, list, n, NULL), -ERR_BAD_DATA, "those that change it may not");
	callbacks_free(other);
	callbacks_free(c);
}

/* An observer may leave out `event`: what it would do counts as done. */
static void test_no_observer(void)
{
	static const struct train_observer none = { .ctx = NULL };
	struct callback_set set;
	struct train_job j = job_of(&set);
	struct callbacks *c;
	double weight[8] = { 0 };

	callback_defaults(&set);
	callback_add(&set, CALLBACK_checkpoint)->text[SAVE_PATH] = "a{epoch}";
	callback_add(&set, CALLBACK_early_stopping)->option[STOP_PATIENCE] = 2;
	tap_is_int(callbacks_check(&j, NULL), 0, "callbacks without an observer of events");
	c = callbacks_new(&j, rate_of_job, NULL);
	callbacks_begin(c, 0);
	for (uint32_t e = 1; e <= 3; e++) {
		struct epoch_record r = epoch_of(e, 1);

		callbacks_epoch(c, &none, &r, NSTEP, weight);
	}
	tap_ok(callbacks_stopped(c), "end the start");
	tap_is_int(part_of(c, CALLBACK_checkpoint)->save.nwaiting, 0, "and no file waits to be written");
	callbacks_free(c);
}

int main(void)
{
	program = tiny_program(ACTIVATION_LINEAR, ACTIVATION_LINEAR, 0);
	test_paths();
	test_refusals();
	test_several();
	test_no_observer();
	test_bad_states();
	program_free(program);
	return tap_done();
}
