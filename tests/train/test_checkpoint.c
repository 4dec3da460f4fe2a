/* SPDX-License-Identifier: Apache-2.0
 * A training that stops after any update and goes on from a checkpoint has the bits of one
 * that never stopped: weights, optimiser, every epoch's numbers; and what no state may say is refused. */
#include "runtime/train/checkpoint/checkpoint.h"
#include "runtime/train/checkpoint/end_states.h"
#include "runtime/train/train.h"

#include <math.h>

#include "runtime/base/rng.h"
#include "runtime/exec/evaluator.h"
#include "runtime/train/score.h"
#include "tests/tap.h"
#include "tests/train/tiny.h"

enum { NROW = 11, EPOCHS = 3, STEPS = 9, RESULTS_MAX = 64 };

static double input[NROW], label[2 * NROW];
static struct dataset data = { .nrow = NROW, .nx = 1, .ny = 2, .x = input, .y = label, .source = "tiny.csv" };
static const struct metadata meta[] = { { "config", "{}" } };

static void make_data(void)
{
	for (uint32_t i = 0; i < NROW; i++)
		input[i] = 2 * rng_uniform(3, RNG_TEST, 0, i) - 1;
	for (uint32_t i = 0; i < 2 * NROW; i++)
		label[i] = rng_uniform(3, RNG_TEST, 1, i) < 0.5 ? -1 : 1;
}

static struct train_job job_of(const struct program *p, const char *optimizer)
{
	struct train_job j = { .program = p,
		.exec = { .target = &target_ref, .precision = PRECISION_DOUBLE, .nthread = 1, .gradient = GRADIENT_ADJOINT },
		.train = { &data, NULL, NROW }, .validation = { &data, NULL, 5 },
		.epochs = EPOCHS, .batch_size = 4,
		.measures = { .loss = loss_choice(loss_find("mse")), .metric = { metric_choice(metric_find("sign_accuracy")) }, .nmetric = 1 },
		.optimizer = optimizer_find(optimizer), .seed = 7, .shuffle = true, .restarts = 1 };

	for (unsigned k = 0; k < j.optimizer->noption; k++)
		j.option[k] = j.optimizer->option[k].value;
	if (optimizer_has_rate(j.optimizer))
		j.option[OPTIMIZER_LEARNING_RATE] = 0.05;
	return j;
}

/* ---- stopping and going on ---- */

/* What is seen, and where to stop. */
struct watch {
	const struct train_job *job;
	uint64_t steps, stop_after;
	struct epoch_record epoch[RESULTS_MAX]; unsigned nepoch;
	double gradient[RESULTS_MAX], readout[RESULTS_MAX];      /* sums at the epochs' ends */
	double restart_loss[RESULTS_MAX]; unsigned nstart;
	struct buf file;
};

static int on_between(void *ctx, const struct train_state *s, struct err *e)
{
	struct watch *w = ctx;
	struct checkpoint_image image;

	w->steps += !s->failed;
	if (!s->failed && w->steps != w->stop_after)
		return 0;
	buf_clear(&w->file);
	checkpoint_image(w->job, s, NULL, 0, meta, 1, &image);
	file_parts_join(&image.weights.file, &w->file);
	checkpoint_image_release(&image);
	return err_set(e, -ERR_STOPPED, "enough");
}

/* What computes is lost in that evaluation, of a batch or a validation, counted from 1; 0: in none. */
static uint64_t nevaluation, lost_at;
static bool is_lost;

int __real_evaluator_run(struct evaluator *ev, struct pool *pool, double *gradient, struct err *e);
int __wrap_evaluator_run(struct evaluator *ev, struct pool *pool, double *gradient, struct err *e);
int __wrap_evaluator_run(struct evaluator *ev, struct pool *pool, double *gradient, struct err *e)
{
	int code = __real_evaluator_run(ev, pool, gradient, e);

	if (code || ++nevaluation != lost_at)
		return code;
	is_lost = true;
	return err_set(e, -ERR_STOPPED, "the state was lost");
}

/* Numbers of a lost state need not be finite. */
int __real_score_check(const struct score *s, uint32_t n, struct err *e);
int __wrap_score_check(const struct score *s, uint32_t n, struct err *e);
int __wrap_score_check(const struct score *s, uint32_t n, struct err *e)
{
	return is_lost ? err_set(e, -ERR_NOT_FINITE, "a number is not finite")
		       : __real_score_check(s, n, e);
}

static void on_epoch(void *ctx, const struct epoch_record *r)
{
	struct watch *w = ctx;

	w->epoch[w->nepoch++] = *r;
}

static void on_state(void *ctx, const struct epoch_record *r, const struct epoch_state *s)
{
	struct watch *w = ctx;
	const struct program *p = w->job->program;

	(void)r;
	for (uint32_t i = 0; i < p->nweight; i++)
		w->gradient[w->nepoch - 1] += (i + 1) * s->gradient[i];
	for (uint32_t i = 0; i < s->nbatch * p->nreadout; i++)
		w->readout[w->nepoch - 1] += (i + 1) * s->readout[i];
}

static void on_ended(void *ctx, uint32_t restart, double final_loss, const double *weight)
{
	struct watch *w = ctx;

	(void)restart, (void)weight;
	w->restart_loss[w->nstart++] = final_loss;
}

static struct err last_error;      /* of the last run */

static int run(struct train_job *j, struct watch *w, struct train_result *r)
{
	struct train_observer o = { .ctx = w, .between = on_between, .epoch = on_epoch, .state = on_state, .ended = on_ended };

	w->job = j;
	return train_run(j, &o, r, &last_error);
}

/* From the file of w, in the same watch. */
static int go_on(struct train_job *j, struct watch *w, struct train_result *r)
{
	struct weights *file = NULL;
	struct checkpoint c;
	struct err e = { 0 };
	int code = weights_parse(w->file.data, w->file.len, &file, &e);

	if (!code)
		code = checkpoint_read(j, file, &c, &e);
	if (code)
		tap_bail("a checkpoint cannot be read: %s", e.text);
	w->stop_after = 0;
	j->resume = &c.state;
	code = run(j, w, r);
	j->resume = NULL;
	checkpoint_release(&c);
	weights_free(file);
	return code;
}

static bool same(const double *a, const double *b, size_t n)
{
	return !memcmp(a, b, n * sizeof *a);
}

static bool same_epoch(const struct epoch_record *a, const struct epoch_record *b)
{
	return a->restart == b->restart && a->epoch == b->epoch && a->step == b->step && same(&a->loss, &b->loss, 1)
		&& same(a->metric, b->metric, 1) && a->has_validation == b->has_validation && same(&a->val_loss, &b->val_loss, 1)
		&& same(a->val_metric, b->val_metric, 1) && same(&a->learning_rate, &b->learning_rate, 1);
}

static bool same_result(const struct train_job *j, const struct train_result *a, const struct train_result *b)
{
	size_t n = j->program->nweight;
	bool all = same(a->weight, b->weight, n) && a->winner == b->winner && a->step == b->step
		&& same(a->restart_loss, b->restart_loss, j->restarts) && same_epoch(&a->last, &b->last)
		&& !memcmp(a->end, b->end, j->restarts * sizeof *a->end);

	for (unsigned k = 0; k < optimizer_slots(j->optimizer, j->option); k++)
		all = all && same(a->slot[k], b->slot[k], n);
	return all;
}

static bool same_watch(const struct watch *a, const struct watch *b)
{
	bool all = a->nepoch == b->nepoch && a->nstart == b->nstart && same(a->restart_loss, b->restart_loss, a->nstart)
		&& same(a->gradient, b->gradient, a->nepoch) && same(a->readout, b->readout, a->nepoch);

	for (unsigned k = 0; all && k < a->nepoch; k++)
		all = same_epoch(&a->epoch[k], &b->epoch[k]);
	return all;
}

/* Stop after each update in turn; all that is seen together is what is seen of an uninterrupted run. */
static void test_everywhere(struct train_job j, const char *what)
{
	struct watch calm = { 0 };
	struct train_result want, got;
	unsigned wrong = 0;

	if (run(&j, &calm, &want))
		tap_bail("the uninterrupted run failed: %s", last_error.text);
	for (uint64_t stop = 1; stop <= calm.steps; stop++) {
		struct watch w = { .stop_after = stop };

		if (run(&j, &w, &got) != -ERR_STOPPED || go_on(&j, &w, &got)) {
			wrong++;
			continue;
		}
		wrong += !same_result(&j, &want, &got) || !same_watch(&calm, &w);
		train_result_release(&got);
		buf_release(&w.file);
	}
	tap_ok(!wrong, "%s: stopped after each of %llu updates, %u differ", what, (unsigned long long)calm.steps, wrong);
	train_result_release(&want);
}

/* Each evaluation in turn fails, but for those of the first step, which leave no checkpoint. */
static void test_lost(struct train_job j, const char *what)
{
	struct watch calm = { 0 };
	struct train_result want, got;
	unsigned wrong = 0, saved = 0;
	uint64_t all;

	nevaluation = 0;
	if (run(&j, &calm, &want))
		tap_bail("the uninterrupted run failed: %s", last_error.text);
	all = nevaluation;
	for (uint64_t at = 1; at <= all; at++) {
		struct watch w = { 0 };
		int code;

		nevaluation = 0;
		lost_at = at;
		code = run(&j, &w, &got);
		lost_at = 0;
		is_lost = false;
		if (!w.file.len && code == -ERR_CONFIG)
			continue;
		saved++;
		if (code != -ERR_STOPPED || go_on(&j, &w, &got)) {
			wrong++;
			continue;
		}
		wrong += !same_result(&j, &want, &got) || !same_watch(&calm, &w);
		train_result_release(&got);
		buf_release(&w.file);
	}
	tap_ok(saved && !wrong, "%s: lost in each of %llu evaluations, %u saved, %u differ", what,
		(unsigned long long)all, saved, wrong);
	train_result_release(&want);
}

static void test_optimizers(const struct program *head, const struct program *bare)
{
	const struct optimizer_row *row;
	size_t n = optimizer_rows(&row);

	for (size_t k = 0; k < n; k++)
		if (!row[k].lacks) {
			test_everywhere(job_of(row[k].check && row[k].check(head, NULL) ? bare : head, row[k].name), row[k].name);
			test_lost(job_of(row[k].check && row[k].check(head, NULL) ? bare : head,
					  row[k].name),
				row[k].name);
		}
}

/* Searches over all samples: their record, the best so far, and its shots; the end
 * that they find themselves. */
static void test_searches(const struct program *p)
{
	static const char *const name[] = { "cobyla", "bobyqa", "nelder_mead", "lbfgs" };
	struct train_job j;

	for (unsigned k = 0; k < 4 && !optimizer_find(name[k])->lacks; k++) {
		j = job_of(p, name[k]);
		j.epochs = 7;
		j.restarts = 2;
		test_everywhere(j, name[k]);
		j.option[1] = 0.3;
		j.epochs = 20;
		test_everywhere(j, "until it ends");
		j.exec.shots = 20;
		j.exec.gradient = GRADIENT_SHIFT;
		j.epochs = 5;
		test_everywhere(j, "with shots");
	}
}

static void test_jobs(const struct program *p)
{
	struct train_job j = job_of(p, "sgd");

	j.option[1] = 0.9;
	test_everywhere(j, "momentum");
	j.option[j.optimizer->nown + SHARED_USE_EMA] = 1;
	test_everywhere(j, "momentum and a running mean");
	j = job_of(p, "adam");
	j.restarts = 3;
	test_everywhere(j, "three starts");
	j.measures.nmetric = 0;
	j.validation.nrow = 0;
	test_everywhere(j, "without metrics and validation");
	j = job_of(p, "adam");
	j.max_steps = 5;
	test_everywhere(j, "max_steps in an epoch");
	j.max_steps = 6;
	test_everywhere(j, "max_steps at its end");
	j.max_steps = 0;
	j.batch_size = 100;
	test_everywhere(j, "one batch");
	j.schedule.row = schedule_find("cosine");
	for (unsigned k = 0; k < j.schedule.row->noption; k++)
		j.schedule.option[k] = j.schedule.row->option[k].value;
	j.batch_size = 3;
	test_everywhere(j, "a schedule");
}

/* Epochs that are no passes, and callbacks in the middle of their counts. */
static void test_callbacks(const struct program *p)
{
	struct callback_set set;
	struct train_job j = job_of(p, "adam");

	j.steps_per_epoch = 3;
	test_everywhere(j, "epochs shorter than a pass");
	j.steps_per_epoch = 7;
	j.initial_epoch = 1;
	j.validation_freq = 2;
	test_everywhere(j, "epochs longer than a pass, from the second one");
	j.max_steps = 10;
	test_everywhere(j, "the same with max_steps");
	callback_defaults(&set);
	j = job_of(p, "adam");
	j.callbacks = &set;
	j.epochs = 6;
	j.restarts = 3;
	j.option[0] = 0.5;
	set.of[CALLBACK_early_stopping].enabled = set.of[CALLBACK_reduce_lr_on_plateau].enabled = true;
	set.of[CALLBACK_checkpoint].enabled = set.of[CALLBACK_csv].enabled = true;
	set.of[CALLBACK_early_stopping].option[STOP_PATIENCE] = 2;
	set.of[CALLBACK_early_stopping].option[STOP_RESTORE_BEST_WEIGHTS] = 1;
	set.of[CALLBACK_reduce_lr_on_plateau].option[PLATEAU_PATIENCE] = 1;
	set.of[CALLBACK_reduce_lr_on_plateau].option[PLATEAU_FACTOR] = 0.5;
	set.of[CALLBACK_checkpoint].option[SAVE_KEEP] = 2;
	set.of[CALLBACK_checkpoint].option[SAVE_FREQ] = 4;
	test_everywhere(j, "callbacks");
	set.of[CALLBACK_early_stopping].text[STOP_MONITOR] = "loss";
	set.of[CALLBACK_early_stopping].option[STOP_RESTORE_BEST_WEIGHTS] = 0;
	j.validation_freq = 2;
	test_everywhere(j, "callbacks that miss their numbers in some epochs");
}

/* Stopped again and again, by one update each time. */
static void test_step_by_step(const struct program *p)
{
	struct train_job j = job_of(p, "adam");
	struct watch calm = { 0 }, w = { .stop_after = 1 };
	struct train_result want, got;
	struct weights *file;
	struct checkpoint c;
	int code;

	run(&j, &calm, &want);
	code = run(&j, &w, &got);
	for (unsigned k = 1; code == -ERR_STOPPED && k < STEPS + 2; k++) {
		if (weights_parse(w.file.data, w.file.len, &file, NULL) || checkpoint_read(&j, file, &c, NULL))
			tap_bail("a checkpoint cannot be read");
		j.resume = &c.state;
		w.stop_after = w.steps + 1;
		code = run(&j, &w, &got);
		checkpoint_release(&c);
		weights_free(file);
	}
	tap_ok(!code && w.steps == STEPS && same_result(&j, &want, &got) && same_watch(&calm, &w), "stopped after every update");
	train_result_release(&want);
	train_result_release(&got);
	buf_release(&w.file);
}

/* ---- what is refused ---- */

/* The checkpoint after `stop` updates with one vector changed: its number `at` is `value`, or, at SIZE_MAX, it has one
 * number less; at SIZE_MAX - 1 it is left out. */
static void refused(const struct program *p, uint64_t stop, const char *name, size_t at, double value, const char *what)
{
	struct train_job j = job_of(p, "adam");
	struct watch w = { .stop_after = stop };
	struct train_result r;
	struct weights *file;
	struct checkpoint c;
	struct err e = { 0 };
	unsigned n = 0;

	j.restarts = 3;
	run(&j, &w, &r);
	if (weights_parse(w.file.data, w.file.len, &file, NULL))
		tap_bail("a checkpoint cannot be read");
	for (unsigned k = 0; k < file->nvector; k++) {
		struct weights_vector v = file->vector[k];
		bool this = !strcmp(v.name, name);

		if (this && at < v.n)
			((double *)v.value)[at] = value;
		if (this && at == SIZE_MAX)
			v.n--;
		if (!this || at != SIZE_MAX - 1)
			file->vector[n++] = v;
	}
	file->nvector = n;
	tap_is_int(checkpoint_read(&j, file, &c, &e), -ERR_BAD_DATA, "%s: %s", what, e.text);
	checkpoint_release(&c);
	weights_free(file);
	buf_release(&w.file);
}

static void test_refused(const struct program *p)
{
	enum { START, EPOCH, STEP, AT, LOSS_SUM, SECONDS, BATCH };
	static const char counters[] = "training/counters";

	refused(p, 13, counters, START, 2, "another start");
	refused(p, 13, counters, START, 1e300, "a start beyond all numbers");
	refused(p, 13, counters, EPOCH, 0, "epoch 0");
	refused(p, 13, counters, EPOCH, EPOCHS + 1, "an epoch too many");
	refused(p, 13, counters, STEP, 5, "a step of another epoch");
	refused(p, 13, counters, STEP, 3.5, "half a step");
	refused(p, 13, counters, AT, 0, "no sample seen");
	refused(p, 13, counters, AT, 3, "a place inside of a batch");
	refused(p, 13, counters, AT, 12, "more samples than there are");
	refused(p, 13, counters, LOSS_SUM, NAN, "a sum that is no number");
	refused(p, 13, counters, SECONDS, -1, "negative time");
	refused(p, 13, counters, BATCH, 2, "a last update in the middle of an epoch");
	refused(p, 12, counters, BATCH, 0, "no last update at its end");
	refused(p, 12, counters, BATCH, 4e9, "a last update beyond all sizes");
	refused(p, 13, counters, SIZE_MAX, 0, "a counter less");
	refused(p, 13, "optimizer/momentum", SIZE_MAX, 0, "a number less of the optimiser");
	refused(p, 13, "optimizer/momentum", SIZE_MAX - 1, 0, "no state of the optimiser");
	refused(p, 13, "training/outputs", SIZE_MAX, 0, "an output less");
	refused(p, 12, "training/gradient", SIZE_MAX, 0, "a gradient less");
	refused(p, 12, "training/readouts", SIZE_MAX - 1, 0, "no readouts");
	refused(p, 13, "training/start_losses", SIZE_MAX - 1, 0, "no losses of the starts before");
	refused(p, 13, "best/result", 0, 1, "a winner that has not ended");
	refused(p, 13, "best/result", 0, -1, "a negative winner");
	refused(p, 13, "best/weights", SIZE_MAX - 1, 0, "no winner");
	refused(p, 13, "training/start_ends", SIZE_MAX - 1, 0, "no ends of the starts before");
	refused(p, 13, "callbacks/state", SIZE_MAX - 1, 0, "nothing of the callbacks");
	refused(p, 13, "callbacks/state", 0, 7, "callbacks of another kind");
}

/* A record as numbers: the same one comes back, and numbers that are no values of their fields do not. */
static void test_record(void)
{
	static const double wrong[] = { -1, 0.5, NAN, 1e300 };
	struct epoch_record r = { .restart = 3, .epoch = 7, .step = 1ull << 40, .loss = -0.0, .metric = { 1, 2 }, .has_validation = true,
		.val_loss = 5, .val_metric = { 3, 4 }, .learning_rate = NAN, .seconds = 8, .samples_per_second = 9 }, back;
	double list[16], again[16];
	unsigned refused = 0;

	tap_is_int((int)epoch_record_size(2), 13, "nine numbers, and twice two of metrics");
	epoch_record_pack(&r, 2, list);
	memset(&back, 0, sizeof back);
	tap_ok(epoch_record_unpack(&back, 2, list), "a record is read");
	epoch_record_pack(&back, 2, again);
	tap_ok(!memcmp(list, again, 13 * sizeof *list) && back.step == r.step && back.val_metric[1] == 4, "and is the same one");
	for (unsigned k = 0; k < 3; k++)
		for (unsigned i = 0; i < 4; i++) {
			double kept = list[k];

			list[k] = wrong[i];
			refused += !epoch_record_unpack(&back, 2, list);
			list[k] = kept;
		}
	list[EPOCH_FIELD_has_validation - 1] = 2;
	refused += !epoch_record_unpack(&back, 2, list);
	tap_is_int((int)refused, 13, "numbers that are no counts and no flags are refused");
}

/* Last states of restarts of 2^20 weights with room for five vectors: 40 MiB each. */
static bool keeps_end(uint32_t restarts)
{
	static double zero[1 << 20];
	const struct program large = { .nweight = 1 << 20 };
	struct train_job j = job_of(&large, "adam");
	const struct restart_state at = { .weight = zero, .slot = { zero, zero, zero } };

	j.restarts = restarts;
	struct end_states *s = end_states_new(&j);
	end_states_add(s, &at);
	bool kept = end_states_of(s, 0) != NULL;
	end_states_free(s);
	return kept;
}

static void test_large_ends(void)
{
	tap_ok(keeps_end(1), "the last state of one restart is kept");
	tap_ok(keeps_end(6), "and those of several in 256 MiB");
	tap_ok(!keeps_end(7), "of larger ones none");
}

int main(void)
{
	struct program *bare = tiny_program(0, 0, 0), *head = tiny_program(ACTIVATION_TANH, ACTIVATION_SIGMOID, 2);

	make_data();
	test_optimizers(head, bare);
	test_searches(bare);
	test_jobs(bare);
	test_callbacks(bare);
	test_step_by_step(head);
	test_refused(bare);
	test_record();
	test_large_ends();
	program_free(bare);
	program_free(head);
	return tap_done();
}
