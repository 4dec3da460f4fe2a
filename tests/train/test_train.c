/* SPDX-License-Identifier: Apache-2.0
 * The step loop on a tiny program: gradients against differences, batches, the same bits for any number
 * of threads, and what ends a run early. */
#include "runtime/train/train.h"

#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/data/format/dataset_read.h"
#include "runtime/data/format/npz.h"
#include "tests/train/small_job.h"

/* ---- numbers ---- */

static void test_gradient(const struct program *p)
{
	struct train_job j = job_of(p);
	double weight[NWEIGHT_MAX], output[2 * NROW], up, down, h = 1e-5, worst = 0;
	struct train_result r;

	plain_descent(&j);
	j.batch_size = NROW;
	j.init = weight;
	program_init_weights(p, 99, 0, weight);
	r = run(&j, NULL);
	evaluate(&j, &j.train, weight, output, &up, NULL);
	tap_ok(r.last.loss == up, "the loss of a full batch is that of the weights before the step");
	for (uint32_t i = 0; i < p->nweight; i++) {
		double at = weight[i], step = at - r.weight[i];

		weight[i] = at + h;
		evaluate(&j, &j.train, weight, output, &up, NULL);
		weight[i] = at - h;
		evaluate(&j, &j.train, weight, output, &down, NULL);
		weight[i] = at;
		worst = tap_worst(worst, fabs(step - (up - down) / (2 * h)));
	}
	tap_close(worst, 0, 1e-8, "%u weights: a step of descent is the loss's difference", p->nweight);
	train_result_release(&r);
}

/* Batches of 4, 4 and 3 are three runs of one batch each; the last one's mean is over 3. */
static void test_batches(const struct program *p)
{
	struct train_job j = job_of(p), one;
	uint32_t rows[NROW];
	double weight[NWEIGHT_MAX], sum = 0;
	struct train_result whole, part;

	for (uint32_t i = 0; i < NROW; i++)
		rows[i] = (i + 3) % NROW;
	plain_descent(&j);
	j.train.row = rows;
	whole = run(&j, NULL);
	program_init_weights(p, j.seed, 0, weight);
	for (uint32_t at = 0; at < NROW; at += 4) {
		one = j;
		one.train = (struct part){ &data, rows + at, at + 4 < NROW ? 4 : NROW - at };
		one.init = weight;
		part = run(&one, NULL);
		sum += part.last.loss * one.train.nrow;
		memcpy(weight, part.weight, p->nweight * sizeof *weight);
		train_result_release(&part);
	}
	tap_is_mem(whole.weight, weight, p->nweight * sizeof *weight, "an epoch is its batches one after the other");
	tap_close(whole.last.loss, sum / NROW, 1e-15, "its loss is the mean over samples as the weights move");
	tap_is_int((long long)whole.step, 3, "three steps");
	train_result_release(&whole);
}

static void test_threads(const struct program *p, const char *device, enum precision precision)
{
	struct train_job j = job_of(p);
	struct train_result first, r;
	double output[2 * NROW], loss, metric;

	j.exec.target = target_find(device, NULL);
	j.exec.precision = precision;
	j.restarts = 2;
	first = run(&j, NULL);
	for (unsigned n = 1; n <= 4; n++) {
		j.exec.nthread = n;
		r = run(&j, NULL);
		tap_ok(same_bits(&first, &r, p, 2), "%s, precision %d, %u threads: the same bits", device, (int)precision, n);
		train_result_release(&r);
	}
	evaluate(&j, &j.validation, first.weight, output, &loss, &metric);
	tap_ok(loss == first.last.val_loss && metric == first.last.val_metric[0], "inference has the validation's bits");
	train_result_release(&first);
}

static void test_learning(const struct program *p)
{
	struct train_job j = job_of(p);
	double target[NWEIGHT_MAX], first;
	struct train_result r;

	program_init_weights(p, 5, 0, target);
	evaluate(&j, &j.train, target, label, NULL, NULL);
	j.measures.metric[0] = metric_choice(metric_find("mse"));
	j.epochs = 1;
	r = run(&j, NULL);
	first = r.last.loss;
	train_result_release(&r);
	j.epochs = 60;
	r = run(&j, NULL);
	tap_ok(r.last.loss < 0.1 * first, "the loss falls from %g to %g", first, r.last.loss);
	tap_close(r.last.metric[0], r.last.loss, 1e-15, "the loss as a metric is the loss");
	train_result_release(&r);
	make_data(p->noutput);
}

/* The inputs in a file, read batch by batch; and what happens when it shrinks on the way. */
static void test_streamed(const struct program *p)
{
	static const struct input_want want = { .name = "x", .count = 1 };
	const struct read_options o = { .want = &want, .nwant = 1, .streamed = true };
	struct array a = { 2, { NROW, 1 }, false, NROW, input };
	struct train_job j = job_of(p);
	struct train_result in_memory, streamed;
	struct dataset *d = NULL;
	struct buf b = BUF_INIT;
	struct err e = { 0 };
	uint32_t order[NROW];

	npy_format(&a, &b);
	if (buf_write_file(&b, "tiny.npy", 0, &e) || dataset_read("tiny.npy", &o, NULL, &d, &e))
		tap_bail("%s", e.text);
	d->ny = data.ny;
	d->y = mem_alloc(NROW * data.ny, sizeof *d->y);
	memcpy(d->y, label, NROW * data.ny * sizeof *d->y);
	for (uint32_t i = 0; i < NROW; i++)
		order[i] = (i * 4 + 1) % NROW;
	for (size_t s = 0; s < (p->ndense ? 2 : 3); s++) {
		static const char *const name[] = { "adam", "spsa", "rotosolve" };

		if (s) {
			j.optimizer = optimizer_find(name[s]);
			for (unsigned k = 0; k < j.optimizer->noption; k++)
				j.option[k] = j.optimizer->option[k].value;
		}
		j.train = (struct part){ &data, order, NROW };
		j.validation = (struct part){ &data, NULL, 5 };
		in_memory = run(&j, NULL);
		j.train.data = j.validation.data = d;
		streamed = run(&j, NULL);
		tap_ok(d->rows && same_bits(&in_memory, &streamed, p, 1) && in_memory.last.val_loss == streamed.last.val_loss,
			"%s with inputs in a file: the same bits", j.optimizer->name);
		train_result_release(&in_memory);
		train_result_release(&streamed);
	}
	b.len -= 8;
	if (truncate("tiny.npy", (off_t)b.len))
		tap_bail("cannot truncate");
	tap_ok(train_run(&j, NULL, &streamed, &e) == -ERR_IO && strstr(e.text, "tiny.npy has become shorter while it was read"),
		"a file that shrinks ends the run: %s", e.text);
	buf_release(&b);
	dataset_free(d);
}

/* ---- ends ---- */

static void test_not_finite(const struct program *p)
{
	struct train_job j = job_of(p);
	double good = label[2 * 9];

	j.shuffle = false;
	label[2 * 9] = INFINITY;
	fails(&j, -ERR_NOT_FINITE, "step 3 (epoch 1): the loss of sample 1 (row 9 of tiny.csv, from 0) is not finite",
		"an infinite label ends training");
	j.train.nrow = 8;
	j.validation.nrow = NROW;
	fails(&j, -ERR_NOT_FINITE, "step 2 (epoch 1): validation: the loss of sample 9 (row 9 of tiny.csv, from 0) is not finite",
		"in validation too");
	label[2 * 9] = good;
	j.option[0] = INFINITY;
	j.restarts = 2;
	fails(&j, -ERR_NOT_FINITE,
		"restart 1, step 1 (epoch 1): entry 0 of weight conv[0].t is not finite after the update",
		"an infinite step ends training");
}

static void test_misfits(const struct program *p)
{
	struct train_job j = job_of(p);

	data.ny = 1;
	fails(&j, -ERR_BAD_DATA, "the training data has 1 label a row, the model has 2 outputs, and loss mse compares them one by one; where the label is "
		"the number of a class, loss categorical_crossentropy and metric categorical_accuracy take it",
		"labels that do not fit");
	data.ny = 0;
	fails(&j, -ERR_BAD_DATA, "the training data has no labels", "no labels");
	data.ny = 2;
	data.nx = 2;
	fails(&j, -ERR_BAD_DATA, "the training data has 2 numbers a row, the model's inputs take 1", "inputs that do not fit");
	data.nx = 1;
	j.train.nrow = 0;
	fails(&j, -ERR_BAD_DATA, "the training data has no rows", "no rows");
	j = job_of(p);
	j.restarts = TRAIN_RESTARTS_MAX + 1;
	fails(&j, -ERR_CONFIG, "restarts must be between 1 and 10000", "one start beyond the limit");
}

struct seen { uint32_t steps, epochs, starts, stop_at; double losses; };

static void see_step(void *ctx, uint32_t restart, uint32_t epoch, uint64_t step, uint32_t step_in_epoch,
	uint32_t steps_per_epoch, double batch_loss)
{
	struct seen *s = ctx;

	(void)restart;
	if (steps_per_epoch == 3 && step_in_epoch == (step - 1) % 3 + 1 && epoch == (step - 1) / 3 + 1)
		s->steps++;
	s->losses += batch_loss;
}

static int see_place(void *ctx, const struct train_state *at, struct err *e)
{
	struct seen *s = ctx;

	(void)at;
	return s->steps == s->stop_at ? err_set(e, -ERR_STOPPED, "enough") : 0;
}

static void see_epoch(void *ctx, const struct epoch_record *r)
{
	struct seen *s = ctx;

	s->epochs += r->step == 3 * r->epoch && r->seconds > 0 && r->samples_per_second > 0;
}

static void see_ended(void *ctx, uint32_t restart, double final_loss, const double *weight)
{
	struct seen *s = ctx;

	s->starts += restart == s->starts && final_loss > 0 && weight != NULL;
}

static void test_observer(const struct program *p)
{
	struct train_job j = job_of(p);
	struct seen s = { 0 };
	struct train_observer o = { .ctx = &s, .step = see_step, .between = see_place, .epoch = see_epoch, .ended = see_ended };
	struct train_result r = run((j.restarts = 2, &j), &o);
	struct err e;

	tap_ok(s.steps == 18 && s.epochs == 6 && s.starts == 2, "%u steps, %u epochs, %u starts are seen", s.steps, s.epochs, s.starts);
	train_result_release(&r);
	s = (struct seen){ .stop_at = 5 };
	tap_is_int(train_run(&j, &o, &r, &e), -ERR_STOPPED, "an observer can end the run");
	tap_is_int(s.steps, 5, "at once");
}

int main(void)
{
	struct program *bare = tiny_program(0, 0, 0), *head = tiny_program(ACTIVATION_TANH, ACTIVATION_SIGMOID, 2);

	make_data(2);
	test_gradient(bare);
	test_gradient(head);
	test_batches(bare);
	test_batches(head);
	test_threads(bare, "ref", PRECISION_DOUBLE);
	test_threads(head, "ref", PRECISION_DOUBLE);
	test_threads(bare, "cpu", PRECISION_DOUBLE);
	test_threads(head, "cpu", PRECISION_SINGLE);
	test_learning(bare);
	test_streamed(bare);
	test_streamed(head);
	test_not_finite(bare);
	test_misfits(bare);
	test_observer(bare);
	program_free(bare);
	program_free(head);
	return tap_done();
}
