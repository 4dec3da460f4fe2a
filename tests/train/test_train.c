/* SPDX-License-Identifier: Apache-2.0
 * The step loop on a tiny program: slopes against differences, batches, shuffling, starts,
 * the same bits for any number of threads, and what ends a run early. */
#include "config.h"
#include "runtime/train/train.h"

#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/rng.h"
#include "runtime/net/pool_threads.h"
#include "runtime/train/score.h"
#include "tests/tap.h"
#include "tests/train/tiny.h"

enum { NROW = 11, NWEIGHT_MAX = 32 };

static double input[NROW], label[2 * NROW];
static struct dataset data = { .nrow = NROW, .nx = 1, .ny = 2, .x = input, .y = label, .source = "tiny.csv" };

static void make_data(uint32_t ny)
{
	data.ny = ny;
	for (uint32_t i = 0; i < NROW; i++)
		input[i] = 2 * rng_uniform(3, RNG_TEST, 0, i) - 1;
	for (uint32_t i = 0; i < ny * NROW; i++)
		label[i] = rng_uniform(3, RNG_TEST, 1, i) < 0.5 ? -1 : 1;
}

static struct train_job job_of(const struct program *p)
{
	struct train_job j = { .program = p,
		.exec = { .device = "ref", .precision = PRECISION_DOUBLE, .nthread = 1, .gradient = GRADIENT_ADJOINT },
		.train = { &data, NULL, NROW }, .validation = { &data, NULL, 5 },
		.epochs = 3, .batch_size = 4,
		.measures = { .loss = loss_choice(loss_find("mse")), .metric = { metric_choice(metric_find("sign_accuracy")) }, .nmetric = 1 },
		.optimizer = optimizer_find("adam"), .seed = 7, .shuffle = true, .restarts = 1 };

	for (unsigned k = 0; k < j.optimizer->noption; k++)
		j.option[k] = j.optimizer->option[k].value;
	j.option[0] = 0.05;
	return j;
}

/* Gradient descent with rate 1: a step is the gradient. */
static void plain_descent(struct train_job *j)
{
	j->optimizer = optimizer_find("sgd");
	for (unsigned k = 0; k < j->optimizer->noption; k++)
		j->option[k] = j->optimizer->option[k].value;
	j->option[0] = 1;
	j->shuffle = false;
	j->epochs = 1;
}

static struct train_result run(const struct train_job *j, const struct train_observer *o)
{
	struct train_result r;
	struct err e = { 0 };

	if (train_run(j, o, &r, &e))
		tap_bail("training failed: %s", e.text);
	return r;
}

static void evaluate(const struct train_job *j, const struct part *part, const double *weight, double *output,
	double *loss, double *metric)
{
	struct evaluator_options o = j->exec;
	struct evaluator *ev;
	struct pool *pool = pool_threads_new(o.nthread);
	struct err e = { 0 };

	o.gradient = GRADIENT_NONE;
	if (evaluator_new(j->program, &o, &ev, &e)
		|| evaluate_part(ev, part, &j->measures, weight, output, loss, metric, pool, &e))
		tap_bail("evaluation failed: %s", e.text);
	pool->ops->free(pool);
	evaluator_free(ev);
}

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

/* Weights, losses and metrics of two runs are the same bits. */
static bool same_bits(const struct train_result *a, const struct train_result *b, const struct program *p, uint32_t restarts)
{
	return !memcmp(a->weight, b->weight, p->nweight * sizeof *a->weight)
		&& !memcmp(a->start_loss, b->start_loss, restarts * sizeof *a->start_loss)
		&& a->last.loss == b->last.loss && a->last.val_loss == b->last.val_loss
		&& a->last.metric[0] == b->last.metric[0] && a->last.val_metric[0] == b->last.val_metric[0]
		&& a->winner == b->winner && a->step == b->step;
}

static void test_threads(const struct program *p, const char *device, enum precision precision)
{
	struct train_job j = job_of(p);
	struct train_result first, r;
	double output[2 * NROW], loss, metric;

	j.exec.device = device;
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

/* ---- choices ---- */

static void test_shuffle(const struct program *p)
{
	struct train_job j = job_of(p);
	struct train_result a, b;
	uint32_t order[NROW];

	j.epochs = 1;
	a = run(&j, NULL);
	for (uint32_t i = 0; i < NROW; i++)
		order[i] = i;
	rng_shuffle(j.seed, RNG_SHUFFLE, 1, order, NROW);
	j.shuffle = false;
	j.train.row = order;
	b = run(&j, NULL);
	tap_ok(same_bits(&a, &b, p, 1), "the first epoch's order is that of (seed, 1)");
	train_result_release(&b);
	j.train.row = NULL;
	b = run(&j, NULL);
	tap_ok(!same_bits(&a, &b, p, 1), "and not that of the file");
	train_result_release(&b);
	train_result_release(&a);
}

static void test_starts(const struct program *p)
{
	struct train_job j = job_of(p), one = j;
	struct train_result all, single;
	double weight[NWEIGHT_MAX];
	uint32_t best = 0;

	j.restarts = 4;
	all = run(&j, NULL);
	for (uint32_t i = 0; i < 4; i++) {
		program_init_weights(p, j.seed, i, weight);
		one.init = weight;
		single = run(&one, NULL);
		tap_ok(single.last.loss == all.start_loss[i], "start %u is stream %u of the seed", i, i);
		if (all.start_loss[i] < all.start_loss[best])
			best = i;
		if (i == all.winner)
			tap_is_mem(all.weight, single.weight, p->nweight * sizeof *weight, "the winner's weights are kept");
		if (i == all.winner)
			tap_is_mem(all.slot[1], single.slot[1], p->nweight * sizeof *weight, "and its optimiser's state");
		train_result_release(&single);
	}
	tap_is_int(all.winner, best, "the lowest final loss wins");
	train_result_release(&all);
}

static void test_limits(const struct program *p)
{
	struct train_job j = job_of(p);
	struct train_result r;

	j.max_steps = 4;
	r = run(&j, NULL);
	tap_ok(r.step == 4 && r.last.epoch == 2 && r.last.step == 4, "max_steps ends an epoch early");
	train_result_release(&r);
	j.max_steps = 3;
	r = run(&j, NULL);
	tap_ok(r.step == 3 && r.last.epoch == 1, "and begins none for nothing");
	train_result_release(&r);
	j.max_steps = 0;
	j.batch_size = 1000;
	r = run(&j, NULL);
	tap_is_int((long long)r.step, 3, "a batch larger than the data is the data");
	train_result_release(&r);
	j.validation.nrow = 0;
	r = run(&j, NULL);
	tap_ok(!r.last.has_validation, "no validation where there are no rows");
	train_result_release(&r);
}

static void test_frozen(void)
{
	struct program *p = tiny_program(ACTIVATION_TANH, ACTIVATION_LINEAR, 1);
	struct train_job j;
	struct train_result r;
	double weight[NWEIGHT_MAX];

	make_data(1);
	p->weight_group[0].frozen = p->weight_group[2].frozen = true;
	j = job_of(p);
	r = run(&j, NULL);
	program_init_weights(p, j.seed, 0, weight);
	tap_is_mem(r.weight, weight, 2 * sizeof *weight, "frozen circuit weights stay");
	tap_is_mem(r.weight + 3, weight + 3, 6 * sizeof *weight, "frozen head weights stay");
	tap_ok(r.weight[2] != weight[2] && r.weight[9] != weight[9], "the others move");
	train_result_release(&r);
	program_free(p);
	make_data(2);
}

static void fails(const struct train_job *j, int code, const char *text, const char *what)
{
	struct train_result r = { 0 };
	struct err e = { 0 };

	tap_is_int(train_run(j, NULL, &r, &e), code, "%s", what);
	tap_is_str(e.text, text, "and is named");
	tap_ok(!r.weight, "no result");
}

/* ---- weights, penalties, rates ---- */

/* A sample of weight 2 counts as two, but not among those that are divided by. */
static void test_weights(const struct program *p)
{
	struct train_job j = job_of(p);
	static double weight[NROW];
	const double negative = -1, three = 3;
	struct train_result by_class, by_sample, plain;
	double loss;

	plain_descent(&j);
	j.batch_size = NROW;
	data.ny = 2;
	plain = run(&j, NULL);
	for (uint32_t i = 0; i < NROW; i++)
		weight[i] = label_class(label + 2 * i, 2) == 1 ? 3 : 1;
	data.weight = weight;
	by_sample = run(&j, NULL);
	data.weight = NULL;
	j.class_weights = (struct class_weights){ 1, (const double[]){ 1 }, &three };
	by_class = run(&j, NULL);
	tap_is_mem(by_class.weight, by_sample.weight, p->nweight * sizeof *weight, "class weights are sample weights");
	tap_ok(by_class.last.loss == by_sample.last.loss && by_class.last.loss > plain.last.loss, "in the loss too");
	tap_ok(by_class.last.val_loss != by_sample.last.val_loss, "validation: class weights do not count");
	loss = by_class.last.loss;
	train_result_release(&by_class);
	train_result_release(&by_sample);
	for (uint32_t i = 0; i < NROW; i++)
		weight[i] = 2;
	data.weight = weight;
	by_sample = run(&j, NULL);
	data.weight = NULL;
	tap_close(by_sample.last.loss, 2 * loss, 1e-14, "twice the weight is twice the loss, and both kinds multiply");
	train_result_release(&by_sample);
	train_result_release(&plain);
	j.class_weights.label = &negative;
	fails(&j, -ERR_CONFIG, "class_weight names class -1, which no label of the training data has", "a class that is none");
}

static void test_penalties(const struct program *p)
{
	struct train_job j = job_of(p);
	struct train_result plain, penalised;
	double weight[NWEIGHT_MAX], loss = 0, val_loss = 0, worst = 0;

	plain_descent(&j);
	j.batch_size = NROW;
	plain = run(&j, NULL);
	program_init_weights(p, j.seed, 0, weight);
	j.measures.npenalty = 2;
	j.measures.penalty[0] = (struct penalty){ regularizer_find("l2"), 0.1, NULL };
	j.measures.penalty[1] = (struct penalty){ regularizer_find("l1"), 0.01, "conv*.t" };
	penalised = run(&j, NULL);
	for (uint32_t i = 0; i < p->nweight; i++) {
		double l1 = i < 2 ? 0.01 : 0, got = penalised.weight[i];

		worst = tap_worst(worst, fabs(plain.weight[i] - penalised.weight[i] - 0.2 * weight[i] - copysign(l1, weight[i])));
		loss += 0.1 * weight[i] * weight[i] + l1 * fabs(weight[i]);
		val_loss += 0.1 * got * got + l1 * fabs(got);
	}
	tap_close(worst, 0, 1e-15, "%u weights: slopes of the penalties", p->nweight);
	tap_close(penalised.last.loss - plain.last.loss, loss, 1e-14, "penalties are part of the loss");
	j.measures.npenalty = 0;
	evaluate(&j, &j.validation, penalised.weight, (double[2 * NROW]){ 0 }, &loss, NULL);
	tap_close(penalised.last.val_loss - loss, val_loss, 1e-14, "and of the validation's");
	train_result_release(&plain);
	train_result_release(&penalised);
	j.measures.npenalty = 2;
	j.measures.penalty[1].pattern = "con?";
	fails(&j, -ERR_CONFIG, "regularizer l1: no weights that may move match `con?`", "a pattern for nothing");
}

static void test_patterns(void)
{
	static const struct { const char *pattern, *path; bool want; } rows[] = {
		{ "*", "", true }, { "conv[0].t", "conv[0].t", true }, { "conv[0].t", "conv[0].tt", false },
		{ "*.kernel", "head.dense[1].kernel", true }, { "*.kernel", "head.kernel.bias", false },
		{ "h*d*", "head.dense", true }, { "h*d*z", "head.dense", false }, { "?ead.*", "head.dense", true },
		{ "**e", "dense", true }, { "*ense", "densense", true }, { "", "a", false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		tap_ok(penalty_matches(rows[i].pattern, rows[i].path) == rows[i].want, "`%s` and `%s`", rows[i].pattern, rows[i].path);
}

/* With plain descent a step is the rate times the gradient. */
static void test_rates(const struct program *p)
{
	struct train_job j = job_of(p);
	struct train_result fixed, falling;

	plain_descent(&j);
	j.epochs = 2;
	j.max_steps = 2;
	j.batch_size = NROW;
	j.option[0] = 0.125;
	fixed = run(&j, NULL);
	tap_ok(fixed.last.learning_rate == 0.125, "the rate is told");
	j.option[0] = 7;
	j.schedule = (struct schedule){ .row = schedule_find("piecewise"), .option = { 1, 2 }, .list = { { 1 }, { 0.125, 0.5 } } };
	falling = run(&j, NULL);
	tap_is_mem(falling.weight, fixed.weight, p->nweight * sizeof(double), "a schedule's rate is that of its step");
	tap_ok(falling.last.learning_rate == 0.5, "the next step's rate is told");
	train_result_release(&fixed);
	train_result_release(&falling);
}

static void test_mean(const struct program *p)
{
	struct train_job j = job_of(p);
	struct train_result plain, mean;
	const struct optimizer_row *o = j.optimizer;

	plain = run(&j, NULL);
	j.option[o->nown + SHARED_USE_EMA] = 1;
	mean = run(&j, NULL);
	tap_ok(mean.last.loss == plain.last.loss, "the mean changes nothing on the way");
	tap_is_mem(mean.weight, mean.slot[o->nslot], p->nweight * sizeof(double), "and is what the run ends with");
	tap_ok(memcmp(mean.weight, plain.weight, p->nweight * sizeof(double)), "which differs from the last weights");
	train_result_release(&plain);
	train_result_release(&mean);
}

static void all_options(struct train_job *j)
{
	j->option[0] = 0.05;
	j->option[j->optimizer->nown + SHARED_CLIPNORM] = 0.2;
	j->option[j->optimizer->nown + SHARED_USE_EMA] = 1;
	j->schedule.row = schedule_find("cosine");
	for (unsigned k = 0; k < j->schedule.row->noption; k++)
		j->schedule.option[k] = j->schedule.row->option[k].value;
}

/* Optimisers that ask for losses: what an epoch tells is the loss of the weights that its steps begin
 * with, the mean gradient never made; no schedule is theirs. */
static void test_searches(const struct program *p)
{
	struct train_job j = job_of(p);
	double weight[NWEIGHT_MAX], output[2 * NROW], loss, metric;
	struct train_result r;
	struct err e = { 0 };

	j.optimizer = optimizer_find("spsa");
	for (unsigned k = 0; k < j.optimizer->noption; k++)
		j.option[k] = j.optimizer->option[k].value;
	j.epochs = 1;
	j.batch_size = NROW;
	j.shuffle = false;
	j.init = weight;
	j.exec.gradient = GRADIENT_SHIFT;
	j.measures.penalty[j.measures.npenalty++] = (struct penalty){ regularizer_find("l2"), 0.1, NULL };
	program_init_weights(p, 5, 0, weight);
	evaluate(&j, &j.train, weight, output, &loss, &metric);
	r = run(&j, NULL);
	tap_ok(r.last.loss == loss && r.last.metric[0] == metric, "spsa: loss and metric of an epoch are those of the weights before");
	tap_ok(r.last.learning_rate == r.slot[0][0] / pow(2, 0.602), "the next step's gain is told");
	train_result_release(&r);
	j.batch_size = 4;
	j.epochs = 60;
	r = run(&j, NULL);
	tap_ok(r.last.loss < 0.9 * loss, "and the loss falls: %g, %g", loss, r.last.loss);
	train_result_release(&r);
	j.schedule.row = schedule_find("cosine");
	tap_is_int(train_run(&j, NULL, &r, &e), -ERR_CONFIG, "a schedule for spsa is refused");
	tap_is_str(e.text, "schedule cosine changes a learning rate; the optimizer spsa takes none from outside", "with its reason");
}

/* Every optimiser and option together, at any number of threads. */
static void test_options_threads(const struct program *head, const struct program *bare)
{
	const struct optimizer_row *row;
	size_t n = optimizer_rows(&row);

	for (size_t i = 0; i < n; i++) {
		const struct program *p = row[i].check && row[i].check(head, NULL) ? bare : head;
		struct train_job j = job_of(p);
		struct train_result one, four;

		j.optimizer = &row[i];
		for (unsigned k = 0; k < row[i].noption; k++)
			j.option[k] = row[i].option[k].value;
		if (row[i].lacks)
			continue;
		j.measures.penalty[j.measures.npenalty++] = (struct penalty){ regularizer_find("l2"), 0.1, NULL };
		if (optimizer_has_rate(&row[i]))
			all_options(&j);
		one = run(&j, NULL);
		j.exec.nthread = 4;
		four = run(&j, NULL);
		tap_ok(same_bits(&one, &four, p, 1), "%s: the same bits with 4 threads", row[i].name);
		train_result_release(&one);
		train_result_release(&four);
	}
}

static void test_class_labels(void)
{
	struct program *p = tiny_program(ACTIVATION_TANH, ACTIVATION_SOFTMAX, 3);
	struct train_job j;
	struct train_result r;

	data.ny = 1;
	for (uint32_t i = 0; i < NROW; i++)
		label[i] = i % 3;
	j = job_of(p);
	j.measures.loss = loss_choice(loss_find("categorical_crossentropy"));
	j.measures.metric[0] = metric_choice(metric_find("confusion"));
	r = run(&j, NULL);
	tap_ok(r.last.metric[0] + r.last.metric[1] + r.last.metric[2] == 4, "a class's row of the confusion counts its samples");
	train_result_release(&r);
	label[4] = 3;
	fails(&j, -ERR_BAD_DATA, "the label of row 4 of the training data is 3: for loss categorical_crossentropy it is the number of one of 3 outputs, from 0",
		"a class beyond the outputs");
	program_free(p);
	make_data(2);
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
	fails(&j, -ERR_NOT_FINITE, "start 1, step 1 (epoch 1): entry 0 of weight conv[0].t is not finite after the update",
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

static void see_step(void *ctx, uint32_t start, uint32_t epoch, uint64_t step, uint32_t step_in_epoch,
	uint32_t steps_per_epoch, double batch_loss)
{
	struct seen *s = ctx;

	(void)start;
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

static void see_epoch(void *ctx, const struct epoch_result *r)
{
	struct seen *s = ctx;

	s->epochs += r->step == 3 * r->epoch && r->seconds > 0 && r->samples_per_second > 0;
}

static void see_start(void *ctx, uint32_t start, double final_loss, const double *weight)
{
	struct seen *s = ctx;

	s->starts += start == s->starts && final_loss > 0 && weight != NULL;
}

static void test_observer(const struct program *p)
{
	struct train_job j = job_of(p);
	struct seen s = { 0 };
	struct train_observer o = { .ctx = &s, .step = see_step, .between = see_place, .epoch = see_epoch, .start = see_start };
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
	test_shuffle(head);
	test_starts(bare);
	test_limits(bare);
	test_frozen();
	test_not_finite(bare);
	test_misfits(bare);
	test_weights(bare);
	test_penalties(head);
	test_patterns();
	test_rates(bare);
	test_mean(head);
	test_searches(bare);
	test_options_threads(head, bare);
	test_class_labels();
	test_observer(bare);
	program_free(bare);
	program_free(head);
	return tap_done();
}
