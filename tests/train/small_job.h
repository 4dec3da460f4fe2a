/* SPDX-License-Identifier: Apache-2.0
 * A training of tiny.h's program on eleven random samples, and what tests ask of it. */
#ifndef TESTS_TRAIN_SMALL_JOB_H
#define TESTS_TRAIN_SMALL_JOB_H

#include "runtime/base/rng.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "runtime/train/score.h"
#include "runtime/train/train.h"
#include "tests/tap.h"
#include "tests/train/tiny.h"

enum { NROW = 11, NWEIGHT_MAX = 32 };

static double input[NROW], label[2 * NROW];
static struct dataset data = { .nrow = NROW, .nx = 1, .ny = 2, .x = input, .y = label, .source = "tiny.csv" };

static inline void make_data(uint32_t ny)
{
	data.ny = ny;
	for (uint32_t i = 0; i < NROW; i++)
		input[i] = 2 * rng_uniform(3, RNG_TEST, 0, i) - 1;
	for (uint32_t i = 0; i < ny * NROW; i++)
		label[i] = rng_uniform(3, RNG_TEST, 1, i) < 0.5 ? -1 : 1;
}

static inline struct train_job job_of(const struct program *p)
{
	struct train_job j = { .program = p,
		.exec = { .target = &target_ref, .precision = PRECISION_DOUBLE, .nthread = 1, .gradient = GRADIENT_ADJOINT },
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
static inline void plain_descent(struct train_job *j)
{
	j->optimizer = optimizer_find("sgd");
	for (unsigned k = 0; k < j->optimizer->noption; k++)
		j->option[k] = j->optimizer->option[k].value;
	j->option[0] = 1;
	j->shuffle = false;
	j->epochs = 1;
}

static inline struct train_result run(const struct train_job *j, const struct train_observer *o)
{
	struct train_result r;
	struct err e = { 0 };

	if (train_run(j, o, &r, &e))
		tap_bail("training failed: %s", e.text);
	return r;
}

static inline void evaluate(const struct train_job *j, const struct part *part, const double *weight, double *output,
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

/* Weights, losses and metrics of two runs are the same bits. */
static inline bool same_bits(const struct train_result *a, const struct train_result *b, const struct program *p, uint32_t restarts)
{
	return !memcmp(a->weight, b->weight, p->nweight * sizeof *a->weight)
		&& !memcmp(a->restart_loss, b->restart_loss, restarts * sizeof *a->restart_loss)
		&& a->last.loss == b->last.loss && a->last.val_loss == b->last.val_loss
		&& a->last.metric[0] == b->last.metric[0] && a->last.val_metric[0] == b->last.val_metric[0]
		&& a->winner == b->winner && a->step == b->step;
}

static inline void fails(const struct train_job *j, int code, const char *text, const char *what)
{
	struct train_result r = { 0 };
	struct err e = { 0 };

	tap_is_int(train_run(j, NULL, &r, &e), code, "%s", what);
	tap_is_str(e.text, text, "and is named");
	tap_ok(!r.weight, "no result");
}

#endif
