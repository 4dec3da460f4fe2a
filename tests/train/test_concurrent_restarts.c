/* SPDX-License-Identifier: Apache-2.0
 * Starts side by side: everything that the observer hears, in its order, and every bit are those of
 * starts one after the other; so are what ends a run and where it goes on. */
#include "runtime/train/concurrent_restarts.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/base/rng.h"
#include "runtime/train/checkpoint/checkpoint.h"
#include "tests/tap.h"
#include "tests/train/tiny.h"

enum { NROW = 11, EPOCHS = 4, LANES = 3 };

static double input[NROW], label[2 * NROW];
static struct dataset data = { .nrow = NROW, .nx = 1, .ny = 2, .x = input, .y = label, .source = "tiny.csv" };

static void make_data(void)
{
	for (uint32_t i = 0; i < NROW; i++)
		input[i] = 2 * rng_uniform(3, RNG_TEST, 0, i) - 1;
	for (uint32_t i = 0; i < 2 * NROW; i++)
		label[i] = rng_uniform(3, RNG_TEST, 1, i) < 0.5 ? -1 : 1;
}

static struct train_job job_of(const struct program *p, uint32_t restarts)
{
	struct train_job j = { .program = p,
		.exec = { .target = &target_ref, .precision = PRECISION_DOUBLE, .nthread = LANES, .gradient = GRADIENT_ADJOINT },
		.train = { &data, NULL, NROW }, .validation = { &data, NULL, 5 },
		.epochs = EPOCHS, .batch_size = 4,
		.measures = { .loss = loss_choice(loss_find("mse")), .metric = { metric_choice(metric_find("sign_accuracy")) }, .nmetric = 1 },
		.optimizer = optimizer_find("adam"), .seed = 7, .shuffle = true, .restarts = restarts };

	for (unsigned k = 0; k < j.optimizer->noption; k++)
		j.option[k] = j.optimizer->option[k].value;
	j.option[0] = 0.05;
	return j;
}

/* ---- what is heard, as numbers ---- */

struct heard {
	const struct train_job *job;
	double *value; size_t n, cap;
	uint64_t steps, stop_after;
	struct buf file;             /* a checkpoint where it was stopped */
	unsigned patience_us;
};

static void hear(struct heard *h, double v)
{
	mem_reserve(h->value, h->n, h->cap);
	h->value[h->n++] = v;
}

static void on_step(void *ctx, uint32_t restart, uint32_t epoch, uint64_t step, uint32_t k, uint32_t per_epoch, double loss)
{
	const double all[] = { 1, restart, epoch, (double)step, k, per_epoch, loss };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hear(ctx, all[i]);
}

static void on_epoch(void *ctx, const struct epoch_record *r)
{
	const double all[] = { 2, r->restart, r->epoch, (double)r->step, r->loss, r->metric[0], r->has_validation, r->val_loss,
		r->val_metric[0], r->learning_rate };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hear(ctx, all[i]);
}

static void on_state(void *ctx, const struct epoch_record *r, const struct epoch_state *s)
{
	struct heard *h = ctx;
	const struct program *p = h->job->program;

	hear(h, 3);
	hear(h, r->restart);
	hear(h, r->epoch);
	for (uint32_t i = 0; i < p->nweight; i++)
		hear(h, s->weight[i]);
	for (uint32_t i = 0; i < p->nweight; i++)
		hear(h, s->gradient[i]);
	for (uint32_t i = 0; i < s->nbatch * p->nreadout; i++)
		hear(h, s->readout[i]);
}

static int on_event(void *ctx, const struct train_event *v)
{
	const double all[] = { 4, v->kind, v->restart, v->record->epoch, v->best, v->rate, v->best_epoch,
		v->monitor ? (double)strlen(v->monitor) : 0 };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hear(ctx, all[i]);
	return 0;
}

static void on_ended(void *ctx, uint32_t restart, double final_loss, const double *weight)
{
	hear(ctx, 5);
	hear(ctx, restart);
	hear(ctx, final_loss);
	hear(ctx, weight[0]);
}

static int on_between(void *ctx, const struct train_state *s, struct err *e)
{
	struct heard *h = ctx;
	static const struct metadata meta[] = { { "config", "{}" } };
	struct checkpoint_image image;

	if (++h->steps != h->stop_after)
		return 0;
	if (h->patience_us)
		usleep(h->patience_us);      /* the other lanes go ahead */
	checkpoint_image(h->job, s, NULL, 0, meta, 1, &image);
	file_parts_join(&image.weights.file, &h->file);
	checkpoint_image_release(&image);
	return err_set(e, -ERR_STOPPED, "enough");
}

static int run(const struct train_job *j, struct heard *h, struct train_result *r, struct err *e)
{
	struct train_observer o = { .ctx = h, .step = on_step, .between = on_between, .epoch = on_epoch, .state = on_state,
		.event = on_event, .ended = on_ended };

	h->job = j;
	return train_run(j, &o, r, e);
}

static bool same(const double *a, const double *b, size_t n)
{
	return !memcmp(a, b, n * sizeof *a);
}

static bool same_heard(const struct heard *a, const struct heard *b)
{
	/* NaN is a bit pattern like others. */
	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (memcmp(a->value + i, b->value + i, sizeof *a->value)) {
			printf("# number %zu is %g, not %g; before it %g %g %g\n", i, b->value[i], a->value[i], i > 2 ? a->value[i - 3] : 0,
				i > 1 ? a->value[i - 2] : 0, i ? a->value[i - 1] : 0);
			return false;
		}
	return a->n == b->n;
}

static bool same_result(const struct train_job *j, const struct train_result *a, const struct train_result *b)
{
	size_t n = j->program->nweight;
	bool all = same(a->weight, b->weight, n) && a->winner == b->winner && a->step == b->step
		&& same(a->restart_loss, b->restart_loss, j->restarts) && a->last.epoch == b->last.epoch && same(&a->last.val_loss, &b->last.val_loss, 1)
		&& !memcmp(a->end, b->end, j->restarts * sizeof *a->end);

	for (unsigned k = 0; k < optimizer_slots(j->optimizer, j->option); k++)
		all = all && same(a->slot[k], b->slot[k], n);
	return all;
}

static void test_same(struct train_job j, const char *what)
{
	struct heard calm = { 0 }, side = { 0 };
	struct train_result want, got;
	struct train_job one = j;
	struct err e = { 0 };

	one.exec.nthread = 1;
	tap_ok(concurrent_restarts_possible(&j) && !concurrent_restarts_possible(&one), "%s: goes side by side", what);
	if (run(&one, &calm, &want, &e) || run(&j, &side, &got, &e))
		tap_bail("%s: %s", what, e.text);
	tap_ok(same_result(&j, &want, &got), "%s: the same result", what);
	tap_ok(same_heard(&calm, &side), "%s: the same is heard, %zu numbers", what, calm.n);
	train_result_release(&want);
	train_result_release(&got);
	free(calm.value);
	free(side.value);
}

static void test_jobs(const struct program *p)
{
	struct train_job j = job_of(p, 7);
	struct callback_set set;

	test_same(j, "seven starts on three lanes");
	j.restarts = 2;
	test_same(j, "two starts");
	j.restarts = 40;
	j.epochs = 1;
	test_same(j, "forty starts");
	callback_defaults(&set);
	set.of[CALLBACK_early_stopping].enabled = set.of[CALLBACK_reduce_lr_on_plateau].enabled = true;
	set.of[CALLBACK_early_stopping].option[STOP_PATIENCE] = 1;
	set.of[CALLBACK_early_stopping].option[STOP_RESTORE_BEST_WEIGHTS] = 1;
	set.of[CALLBACK_reduce_lr_on_plateau].option[PLATEAU_PATIENCE] = 1;
	j.callbacks = &set;
	j.epochs = 12;
	j.option[0] = 0.7;
	test_same(j, "starts of different lengths");
	set.of[CALLBACK_csv].enabled = true;
	tap_ok(!concurrent_restarts_possible(&j), "not where callbacks write files");
}

/* The first start that fails ends the run, as it does in order, though others may have failed before it. */
static void test_failure(const struct program *p)
{
	struct train_job j = job_of(p, 9), one;
	struct heard calm = { 0 }, side = { 0 };
	struct train_result r;
	struct err e = { 0 }, f = { 0 };
	double rate = 1e303;
	int code = 0;

	j.optimizer = optimizer_find("sgd");
	for (unsigned k = 0; k < j.optimizer->noption; k++)
		j.option[k] = j.optimizer->option[k].value;
	/* Weights that leave the numbers: a rate that the first start survives and another does not. */
	for (uint32_t i = 0; i < 2 * NROW; i++)
		label[i] *= 1000;
	while (!code && rate < 1e308) {
		one = j;
		one.exec.nthread = 1;
		one.option[0] = rate *= 1.02;
		calm.n = 0;
		code = run(&one, &calm, &r, &e);
		if (!code)
			train_result_release(&r);
	}
	j.option[0] = rate;
	tap_ok(code == -ERR_NOT_FINITE && strncmp(e.text, "restart 1,", 10),
		"a later restart fails: %s", e.text);
	tap_is_int(run(&j, &side, &r, &f), -ERR_NOT_FINITE, "side by side, too");
	tap_is_str(f.text, e.text, "with the same words");
	tap_ok(same_heard(&calm, &side), "after the same was heard");
	free(calm.value);
	free(side.value);
	make_data();
}

/* Stopped after any update that is heard, it goes on to the same bits, on lanes or not. */
static void test_stops(const struct program *p, struct callback_set *callbacks)
{
	struct train_job j = job_of(p, 5);
	struct heard calm = { 0 };
	struct train_result want, got;
	struct err e = { 0 };
	unsigned wrong = 0, nstop = 0, nbeside = 0;

	j.callbacks = callbacks;
	j.exec.nthread = 1;
	if (run(&j, &calm, &want, &e))
		tap_bail("%s", e.text);
	for (uint64_t stop = 1; stop <= calm.steps; stop++) {
		struct heard h = { .stop_after = stop, .patience_us = nbeside < 5 ? 50000 : 0 };
		struct weights *w;
		struct checkpoint c;
		int code;

		j.resume = NULL;
		j.exec.nthread = stop % 2 ? LANES : 1;
		code = run(&j, &h, &got, &e);
		if (!code) {         /* not every update is heard from a lane's own thread */
			wrong += !same_result(&j, &want, &got) || !same_heard(&calm, &h);
			train_result_release(&got);
			free(h.value);
			continue;
		}
		nstop++;
		if (code != -ERR_STOPPED || weights_parse(h.file.data, h.file.len, &w, &e) || checkpoint_read(&j, w, &c, &e))
			tap_bail("stop %llu: %s", (unsigned long long)stop, e.text);
		nbeside += c.state.nrunning > 1;
		j.resume = &c.state;
		j.exec.nthread = stop % 3 ? LANES : 1;
		h.stop_after = 0;
		if (run(&j, &h, &got, &e))
			tap_bail("stop %llu: %s", (unsigned long long)stop, e.text);
		wrong += !same_result(&j, &want, &got) || !same_heard(&calm, &h);
		train_result_release(&got);
		checkpoint_release(&c);
		weights_free(w);
		buf_release(&h.file);
		free(h.value);
	}
	tap_ok(!wrong && nstop > calm.steps / 2, "stopped after %u of %llu updates: %u differ", nstop, (unsigned long long)calm.steps, wrong);
	tap_ok(nbeside > 0, "%u of the checkpoints hold several starts", nbeside);
	train_result_release(&want);
	free(calm.value);
}

/* Do n numbers make a queue, and it the same numbers? */
static bool is_whole(const struct train_job *j, const double *value, size_t n)
{
	const struct event_queue q = { .job = j, .value = (double *)value, .n = n };
	struct event_queue again = { .job = j };
	const struct train_observer o = event_queue_observer(&again);
	bool whole = event_queue_is_whole(&q);

	if (whole)
		event_queue_play(&q, 0, &o);
	whole &= again.n == n && (!n || !memcmp(again.value, value, n * sizeof *value));
	event_queue_clear(&again);
	return whole;
}

/* What a file says of a queue is read before it is believed. */
static void test_numbers(const struct program *p)
{
	struct train_job j = job_of(p, 2);
	struct event_queue q = { .job = &j };
	const struct train_observer o = event_queue_observer(&q);
	struct callback_set set;
	struct epoch_record r = { .epoch = 1, .step = 3 };
	double zero[64] = { 0 };
	unsigned wrong = 0;

	tap_ok(is_whole(&j, zero, 0), "an empty queue");
	callback_defaults(&set);
	callback_add(&set, CALLBACK_early_stopping);
	o.step(o.ctx, 0, 1, 3, 3, 3, 0.5);
	o.epoch(o.ctx, &r);
	o.state(o.ctx, &r, &(struct epoch_state){ zero, zero, zero, 3 });
	o.event(o.ctx, &(struct train_event){ .kind = TRAIN_STOPPED, .record = &r, .best_epoch = 1 });
	tap_ok(!is_whole(&j, q.value, q.n), "an event of a callback that is not there");
	j.callbacks = &set;
	tap_ok(is_whole(&j, q.value, q.n), "a queue of %zu numbers", q.n);
	for (size_t n = 1; n < q.n; n++)
		wrong += is_whole(&j, q.value, n) && n != 7; /* the step alone is whole */
	tap_ok(wrong <= 2, "cut between messages alone it stays one");
	wrong = 0;
	for (size_t at = 0; at < q.n; at++) {
		static const double bad[] = { NAN, -1, 1e300 };
		double kept = q.value[at];

		/* Where a length or a kind is no number, it is refused; values may be anything. */
		for (unsigned k = 0; k < 3 && (at < 2 || at == 7 || at == 8); k++) {
			q.value[at] = bad[k];
			wrong += is_whole(&j, q.value, q.n);
		}
		q.value[at] = kept;
	}
	tap_ok(!wrong, "bad lengths and kinds are refused");
	event_queue_clear(&q);
}

int main(void)
{
	struct callback_set set;
	struct program *bare = tiny_program(0, 0, 0), *head = tiny_program(ACTIVATION_TANH, ACTIVATION_SIGMOID, 2);

	make_data();
	test_jobs(head);
	test_failure(bare);
	test_stops(bare, NULL);
	callback_defaults(&set);
	set.of[CALLBACK_early_stopping].enabled = true;
	set.of[CALLBACK_early_stopping].option[STOP_MIN_DELTA] = 0.02;
	set.of[CALLBACK_early_stopping].option[STOP_RESTORE_BEST_WEIGHTS] = 1;
	test_stops(bare, &set);
	test_numbers(bare);
	program_free(bare);
	program_free(head);
	return tap_done();
}
