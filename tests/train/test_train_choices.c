/* SPDX-License-Identifier: Apache-2.0
 * What a training may be told, on a tiny program: order, starts, weights of samples and classes, penalties,
 * rates, running means and optimisers that ask for losses. */
#include "runtime/train/train.h"

#include "runtime/base/arena.h"
#include "tests/train/small_job.h"

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
		tap_ok(single.last.loss == all.restart_loss[i], "start %u is stream %u of the seed", i, i);
		if (all.restart_loss[i] < all.restart_loss[best])
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
	tap_close(worst, 0, 1e-15, "%u weights: gradients of the penalties", p->nweight);
	tap_close(penalised.last.loss - plain.last.loss, loss, 1e-14, "penalties are part of the loss");
	j.measures.npenalty = 0;
	evaluate(&j, &j.validation, penalised.weight, (double[2 * NROW]){ 0 }, &loss, NULL);
	tap_close(penalised.last.val_loss - loss, val_loss, 1e-14, "and of the validation's");
	train_result_release(&plain);
	train_result_release(&penalised);
	j.measures.npenalty = 2;
	j.measures.penalty[1].pattern = "con?";
	fails(&j, -ERR_CONFIG, "regularizer l1: no trainable weights match `con?`",
		"a pattern for nothing");
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
	tap_is_str(e.text,
		"schedule cosine changes the learning rate, but the optimizer spsa controls its own",
		"with its reason");
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

int main(void)
{
	struct program *bare = tiny_program(0, 0, 0), *head = tiny_program(ACTIVATION_TANH, ACTIVATION_SIGMOID, 2);

	make_data(2);
	test_shuffle(head);
	test_starts(bare);
	test_limits(bare);
	test_frozen();
	test_weights(bare);
	test_penalties(head);
	test_patterns();
	test_rates(bare);
	test_mean(head);
	test_searches(bare);
	test_options_threads(head, bare);
	test_class_labels();
	program_free(bare);
	program_free(head);
	return tap_done();
}
