/* SPDX-License-Identifier: Apache-2.0
 * Callbacks with given numbers of epochs, without a training: each step and epoch in another struct, all of
 * which comes from the state of the last. */
#ifndef TESTS_TRAIN_CALLBACK_RUN_H
#define TESTS_TRAIN_CALLBACK_RUN_H

#include "runtime/train/callback/callback_parts.h"
#include "tests/tap.h"
#include "tests/train/tiny.h"

enum { NEPOCH = 12, NSTEP = 3, NFILE = 16 };

static const double series[3][NEPOCH] = {
	{ 1, .75, .5, .5, .4375, .4375, .4375, .375, .375, .375, .375, .375 },
	{ .5, .625, .75, .5, .25, .3125, .25, .125, .25, .25, .25, .0625 },
	{ .25, .5, .75, .75, .875, .75, .75, .75, .75, .9375, .75, .75 },
};

static struct program *program;
static struct learning_rate rate_of_job[2];    /* of the callbacks, and of their twins */
static struct dataset data = { .nrow = 4, .nx = 1, .ny = 2 };

static inline struct train_job job_of(struct callback_set *s)
{
	struct train_job j = { .program = program, .train = { &data, NULL, 4 }, .validation = { &data, NULL, 2 },
		.epochs = NEPOCH, .batch_size = 2, .restarts = 1, .callbacks = s, .optimizer = optimizer_find("adam"),
		.measures = { .loss = loss_choice(loss_find("mse")), .nmetric = 3, .metric = { metric_choice(metric_find("accuracy")),
			metric_choice(metric_find("confusion")), metric_choice(metric_find("huber")) } } };

	for (unsigned k = 0; k < j.optimizer->noption; k++)
		j.option[k] = j.optimizer->option[k].value;
	j.option[0] = 0.5;
	learning_rate_init(&rate_of_job[0], j.optimizer, j.option, &j.schedule, NEPOCH * NSTEP);
	rate_of_job[1] = rate_of_job[0];
	return j;
}

/* ---- a start without a training ---- */

struct seen { uint32_t stopped, restored; double best, saved /* its first weight */; char file[NFILE][80]; unsigned nfile, ndrop, nrate; double rate /* the last of nrate events */; bool full; };

static inline int on_event(void *ctx, const struct train_event *v)
{
	struct seen *s = ctx;

	if (v->kind == TRAIN_STOPPED) {
		s->stopped = v->record->epoch;
		s->best = v->best;
	} else if (v->kind == TRAIN_RESTORED) {
		s->restored = v->best_epoch;
	} else if (v->kind == TRAIN_SAVE) {
		if (s->full)
			return -ERR_IO;
		s->saved = v->weight[0];
		snprintf(s->file[s->nfile++ % NFILE], sizeof *s->file, "%s", v->path);
	} else if (v->kind == TRAIN_RATE) {
		s->nrate++;
		s->rate = v->rate;
	} else if (v->kind == TRAIN_DROP) {
		s->ndrop++;
		for (unsigned i = 0; i < s->nfile; i++)
			if (!strcmp(s->file[i % NFILE], v->path))
				*s->file[i % NFILE] = 0;
	}
	return 0;
}

/* The same callbacks in another struct, all of it from the state. */
static inline struct callbacks *twin(const struct train_job *j, struct callbacks *old, uint32_t restart)
{
	static double list[4096];
	struct learning_rate *other = &rate_of_job[old->rate == rate_of_job];
	struct callbacks *c = callbacks_new(j, other, NULL);
	size_t n = callbacks_state(old, list, 4096);

	if (n > 4096 || callbacks_state(old, NULL, 0) != n || callbacks_restore(c, restart, list, n, NULL))
		tap_bail("a state of %zu numbers does not come back", n);
	if (callbacks_best(old))
		memcpy(callbacks_best(c), callbacks_best(old), program->nweight * sizeof(double));
	callbacks_free(old);
	return c;
}

static inline struct epoch_record epoch_of(uint32_t e, double value)
{
	return (struct epoch_record){ .epoch = e, .step = (uint64_t)e * NSTEP, .loss = value, .val_loss = value,
		.has_validation = true, .learning_rate = 0.5 };
}

/* rate[NEPOCH]: after each epoch (may be NULL).  How many epochs; weight[0] is the epoch whose they are. */
static inline unsigned run(const struct train_job *j, const double *value, double *rate, struct seen *s, double *weight)
{
	const struct train_observer o = { .ctx = s, .event = on_event };
	struct callbacks *c = callbacks_new(j, rate_of_job, NULL);
	struct epoch_record r = { .epoch = 0 };
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
			rate[e - 1] = learning_rate_of_step(c->rate, NULL, (uint64_t)e * NSTEP);
	}
	callbacks_finish(c, &o, &r, weight);
	tap_is_int(r.epoch, (int)weight[0], "the last numbers are those of the weights");
	callbacks_free(c);
	return e;
}

static inline void want_files(const struct train_job *j, int which, const char *want, const char *what)
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

#endif
