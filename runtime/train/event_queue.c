/* SPDX-License-Identifier: Apache-2.0
 * Messages as doubles: how many numbers the message has, its kind, and what it says. */
#include "config.h"
#include "runtime/train/event_queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

enum kind { KIND_NONE = 0, KIND_STEP, KIND_EPOCH, KIND_STATE, KIND_RESULT, KIND_EVENT };
enum { STEP_NUMBERS = 5, EPOCH_NUMBERS = 8, STATE_NUMBERS = 1, EVENT_NUMBERS = 4, HEAD = 2,
	EVENT_WHICH = 16 };      /* an event's kind, plus so many times which callback it is of */

void tape_release(struct tape *t)
{
	free(t->value);
	memset(t, 0, sizeof *t);
}

/* Room for a message of n numbers. */
static double *add(struct tape *t, enum kind kind, size_t n)
{
	double *v;

	if (t->n + HEAD + n > t->cap) {
		t->cap = 2 * t->cap + HEAD + n + 64;
		t->value = mem_grow(t->value, t->cap, sizeof *t->value);
	}
	v = t->value + t->n;
	t->n += HEAD + n;
	v[0] = (double)n;
	v[1] = kind;
	return v + HEAD;
}

static unsigned values_of(const struct train_job *j)
{
	return measures_at(&j->measures, j->measures.nmetric, j->program->noutput);
}

void tape_step(struct tape *t, uint32_t epoch, uint64_t step, uint32_t step_in_epoch, uint32_t steps_per_epoch,
	double batch_loss)
{
	double *v = add(t, KIND_STEP, STEP_NUMBERS);

	v[0] = epoch;
	v[1] = (double)step;
	v[2] = step_in_epoch;
	v[3] = steps_per_epoch;
	v[4] = batch_loss;
}

static void add_result(struct tape *t, enum kind kind, const struct train_job *j, const struct epoch_record *r)
{
	unsigned n = values_of(j);
	double *v = add(t, kind, EPOCH_NUMBERS + 2 * (size_t)n);

	v[0] = r->epoch;
	v[1] = (double)r->step;
	v[2] = r->loss;
	v[3] = r->has_validation;
	v[4] = r->val_loss;
	v[5] = r->learning_rate;
	v[6] = r->seconds;
	v[7] = r->samples_per_second;
	memcpy(v + EPOCH_NUMBERS, r->metric, n * sizeof *v);
	memcpy(v + EPOCH_NUMBERS + n, r->val_metric, n * sizeof *v);
}

void tape_epoch(struct tape *t, const struct train_job *j, const struct epoch_record *r)
{
	add_result(t, KIND_EPOCH, j, r);
}

void tape_state(struct tape *t, const struct train_job *j, const struct epoch_state *s)
{
	size_t n = j->program->nweight, nreadout = (size_t)s->nbatch * j->program->nreadout;
	double *v = add(t, KIND_STATE, STATE_NUMBERS + 2 * n + nreadout);

	*v++ = s->nbatch;
	memcpy(v, s->weight, n * sizeof *v);
	memcpy(v + n, s->gradient, n * sizeof *v);
	memcpy(v + 2 * n, s->readout, nreadout * sizeof *v);
}

void tape_event(struct tape *t, const struct train_job *j, const struct train_event *v)
{
	double *to;

	if (v->kind != TRAIN_STOPPED && v->kind != TRAIN_RESTORED && v->kind != TRAIN_RATE)
		BUG("an event with a file waits for its turn");
	add_result(t, KIND_RESULT, j, v->record);
	to = add(t, KIND_EVENT, EVENT_NUMBERS);
	to[0] = (double)v->kind + EVENT_WHICH * (double)v->which;
	to[1] = v->best;
	to[2] = v->rate;
	to[3] = v->best_epoch;
}

/* ---- playing ---- */

static void play_epoch(const double *v, const struct train_job *j, struct epoch_record *r)
{
	unsigned n = values_of(j);

	r->epoch = (uint32_t)v[0];
	r->step = (uint64_t)v[1];
	r->loss = v[2];
	r->has_validation = v[3] != 0;
	r->val_loss = v[4];
	r->learning_rate = v[5];
	r->seconds = v[6];
	r->samples_per_second = v[7];
	memcpy(r->metric, v + EPOCH_NUMBERS, n * sizeof *v);
	memcpy(r->val_metric, v + EPOCH_NUMBERS + n, n * sizeof *v);
}

static enum train_event_kind event_kind(double v)
{
	return (enum train_event_kind)((unsigned)v % EVENT_WHICH);
}

static void play_event(const double *v, const struct train_job *j, const struct epoch_record *r, const struct train_observer *o)
{
	struct train_event event = { .kind = event_kind(v[0]), .start = r->restart, .record = r, .which = (uint32_t)v[0] / EVENT_WHICH,
		.best = v[1], .rate = v[2], .best_epoch = (uint32_t)v[3] };

	if (event.kind != TRAIN_RATE)
		event.monitor = callback_stop_monitor(j, event.which);
	o->event(o->ctx, &event);
}

static void play(const double *v, enum kind kind, const struct train_job *j, struct epoch_record *r, const struct train_observer *o)
{
	size_t n = j->program->nweight;

	if (kind == KIND_STEP && o->step)
		o->step(o->ctx, r->restart, (uint32_t)v[0], (uint64_t)v[1], (uint32_t)v[2], (uint32_t)v[3], v[4]);
	if (kind == KIND_EPOCH || kind == KIND_RESULT)
		play_epoch(v, j, r);
	if (kind == KIND_EPOCH && o->epoch)
		o->epoch(o->ctx, r);
	if (kind == KIND_STATE && o->state)
		o->state(o->ctx, r, &(struct epoch_state){ v + 1, v + 1 + n, v + 1 + 2 * n, (uint32_t)v[0] });
	if (kind == KIND_EVENT && o->event)
		play_event(v, j, r, o);
}

void tape_play(struct tape *t, const struct train_job *j, uint32_t start, const struct train_observer *o)
{
	struct epoch_record r = { .restart = start };

	for (size_t at = 0; at < t->n; at += HEAD + (size_t)t->value[at])
		play(t->value + at + HEAD, (enum kind)t->value[at + 1], j, &r, o);
	t->n = 0;
}

static bool is_count(double v, double most)
{
	return v >= 0 && v <= most && v == floor(v);
}

/* A message of n numbers. */
static bool message_is_whole(const double *v, double kind, size_t n, const struct train_job *j)
{
	if (kind == KIND_STEP)
		return n == STEP_NUMBERS && is_count(v[0], UINT32_MAX) && is_count(v[1], 9e15) && is_count(v[2], UINT32_MAX)
			&& v[2] > 0 && is_count(v[3], UINT32_MAX) && v[3] >= v[2];
	if (kind == KIND_EPOCH || kind == KIND_RESULT)
		return n == EPOCH_NUMBERS + 2 * (size_t)values_of(j) && is_count(v[0], j->epochs) && v[0] > 0 && is_count(v[1], 9e15);
	if (kind == KIND_STATE)
		return n >= STATE_NUMBERS && is_count(v[0], j->train.nrow)
			&& n == STATE_NUMBERS + 2 * (size_t)j->program->nweight + (size_t)v[0] * j->program->nreadout;
	return kind == KIND_EVENT && n == EVENT_NUMBERS && is_count(v[0], EVENT_WHICH * CALLBACKS_MAX) && event_kind(v[0])
		&& event_kind(v[0]) <= TRAIN_RATE && is_count(v[3], UINT32_MAX)
		&& (event_kind(v[0]) == TRAIN_RATE || callback_stop_monitor(j, (unsigned)v[0] / EVENT_WHICH));
}

bool tape_is_whole(const struct tape *t, const struct train_job *j)
{
	size_t at = 0;

	while (at + HEAD <= t->n) {
		double n = t->value[at];

		if (!is_count(n, (double)(t->n - at - HEAD)) || !message_is_whole(t->value + at + HEAD, t->value[at + 1], (size_t)n, j))
			return false;
		at += HEAD + (size_t)n;
	}
	return at == t->n;
}
