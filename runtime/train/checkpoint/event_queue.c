/* SPDX-License-Identifier: Apache-2.0
 * A queue of events: an observer that appends their numbers, and their delivery to another one. */
#include "runtime/train/checkpoint/event_queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/train/callback/callback.h"

/* The kinds in a file; RECORD is that of the decision that follows it.  Records have no restart number: the kind stands
 * in its place. */
enum message {
	MESSAGE_NONE = 0,
	MESSAGE_STEP,
	MESSAGE_EPOCH,
	MESSAGE_STATE,
	MESSAGE_RECORD,
	MESSAGE_DECISION
};
enum {
	STEP_NUMBERS = 5,
	STATE_NUMBERS = 1,
	DECISION_NUMBERS = 4,
	HEAD = 2,
	DECISION_WHICH = 16
}; /* a decision's kind, plus this many times the number of its callback */

static size_t record_size(const struct train_job *j)
{
	return epoch_record_size(train_values(j)) - 1;
}

void event_queue_clear(struct event_queue *q)
{
	if (q->cap)
		free(q->value);
	*q = (struct event_queue){ .job = q->job };
}

/* ---- appending ---- */

/* The place of n numbers of a new message. */
static double *add(struct event_queue *q, enum message kind, size_t n)
{
	if (q->n + HEAD + n > q->cap) {
		q->cap = 2 * q->cap + HEAD + n + 64;
		q->value = mem_grow(q->value, q->cap, sizeof *q->value);
	}
	double *v = q->value + q->n;
	q->n += HEAD + n;
	v[0] = (double)n;
	v[1] = kind;
	return v + HEAD;
}

static void on_step(void *ctx, uint32_t restart, uint32_t epoch, uint64_t step,
	uint32_t step_in_epoch, uint32_t steps_per_epoch, double batch_loss)
{
	const double v[STEP_NUMBERS] = { epoch, (double)step, step_in_epoch, steps_per_epoch,
		batch_loss };

	(void)restart;
	memcpy(add(ctx, MESSAGE_STEP, STEP_NUMBERS), v, sizeof v);
}

static void add_record(struct event_queue *q, enum message kind, const struct epoch_record *r)
{
	double *v = add(q, kind, record_size(q->job));

	epoch_record_pack(r, train_values(q->job), v - 1);
	v[-1] = kind;
}

static void on_epoch(void *ctx, const struct epoch_record *r) { add_record(ctx, MESSAGE_EPOCH, r); }

static void on_state(void *ctx, const struct epoch_record *r, const struct epoch_state *s)
{
	struct event_queue *q = ctx;
	size_t n = q->job->program->nweight, nreadout = (size_t)s->nbatch * q->job->program->nreadout;
	double *v = add(q, MESSAGE_STATE, STATE_NUMBERS + 2 * n + nreadout);

	(void)r;
	*v++ = s->nbatch;
	memcpy(v, s->weight, n * sizeof *v);
	memcpy(v + n, s->gradient, n * sizeof *v);
	memcpy(v + 2 * n, s->readout, nreadout * sizeof *v);
}

static int on_event(void *ctx, const struct train_event *e)
{
	const double v[DECISION_NUMBERS] = { (double)e->kind + DECISION_WHICH * (double)e->which,
		e->best, e->rate, e->best_epoch };

	if (e->kind != TRAIN_STOPPED && e->kind != TRAIN_RESTORED && e->kind != TRAIN_RATE)
		BUG("an event with a file is queued");
	add_record(ctx, MESSAGE_RECORD, e->record);
	memcpy(add(ctx, MESSAGE_DECISION, DECISION_NUMBERS), v, sizeof v);
	return 0;
}

struct train_observer event_queue_observer(struct event_queue *q)
{
	return (struct train_observer){
		.ctx = q, .step = on_step, .epoch = on_epoch, .state = on_state, .event = on_event
	};
}

/* ---- delivery; r: the record of the last epoch or decision; false where a message of n numbers is malformed ---- */

static bool is_count(double v, double most) { return v >= 0 && v <= most && v == floor(v); }

static bool play_step(const struct train_job *j, const double *v, size_t n, struct epoch_record *r,
	const struct train_observer *o)
{
	(void)j;
	if (n != STEP_NUMBERS || !is_count(v[0], UINT32_MAX) || !is_count(v[1], 9e15)
		|| !is_count(v[2], UINT32_MAX) || v[2] == 0 || !is_count(v[3], UINT32_MAX)
		|| v[3] < v[2])
		return false;
	if (o->step)
		o->step(o->ctx, r->restart, (uint32_t)v[0], (uint64_t)v[1], (uint32_t)v[2],
			(uint32_t)v[3], v[4]);
	return true;
}

static bool play_record(const struct train_job *j, const double *v, size_t n,
	struct epoch_record *r, const struct train_observer *o)
{
	uint32_t restart = r->restart;

	(void)o;
	if (n != record_size(j))
		return false;
	bool well = epoch_record_unpack(r, train_values(j), v - 1);
	r->restart = restart;
	return well && r->epoch && r->epoch <= j->epochs;
}

static bool play_epoch(const struct train_job *j, const double *v, size_t n, struct epoch_record *r,
	const struct train_observer *o)
{
	if (!play_record(j, v, n, r, o))
		return false;
	if (o->epoch)
		o->epoch(o->ctx, r);
	return true;
}

static bool play_state(const struct train_job *j, const double *v, size_t n, struct epoch_record *r,
	const struct train_observer *o)
{
	size_t nweight = j->program->nweight;

	if (n < STATE_NUMBERS || !is_count(v[0], j->train.nrow)
		|| n != STATE_NUMBERS + 2 * nweight + (size_t)v[0] * j->program->nreadout)
		return false;
	if (o->state)
		o->state(o->ctx, r,
			&(struct epoch_state){
				v + 1, v + 1 + nweight, v + 1 + 2 * nweight, (uint32_t)v[0] });
	return true;
}

static bool play_decision(const struct train_job *j, const double *v, size_t n,
	struct epoch_record *r, const struct train_observer *o)
{
	struct train_event e = { .restart = r->restart, .record = r };

	if (n != DECISION_NUMBERS || !is_count(v[0], DECISION_WHICH * CALLBACKS_MAX)
		|| !is_count(v[3], UINT32_MAX))
		return false;
	e.kind = (enum train_event_kind)((unsigned)v[0] % DECISION_WHICH);
	e.which = (unsigned)v[0] / DECISION_WHICH;
	e.best = v[1];
	e.rate = v[2];
	e.best_epoch = (uint32_t)v[3];
	if (e.kind != TRAIN_RATE)
		e.monitor = callback_stop_monitor(j, e.which);
	if (e.kind != TRAIN_RATE
		&& ((e.kind != TRAIN_STOPPED && e.kind != TRAIN_RESTORED) || !e.monitor))
		return false;
	if (o->event)
		o->event(o->ctx, &e);
	return true;
}

static bool play_all(const struct event_queue *q, uint32_t restart, const struct train_observer *o)
{
	static bool (*const play[])(const struct train_job *j, const double *v, size_t n,
		struct epoch_record *r, const struct train_observer *o) = { [MESSAGE_STEP] = play_step,
		[MESSAGE_EPOCH] = play_epoch,
		[MESSAGE_STATE] = play_state,
		[MESSAGE_RECORD] = play_record,
		[MESSAGE_DECISION] = play_decision };
	struct epoch_record r = { .restart = restart };
	size_t at = 0;

	while (at + HEAD <= q->n) {
		const double *v = q->value + at + HEAD, count = v[-2], kind = v[-1];

		if (!is_count(count, (double)(q->n - at - HEAD))
			|| !is_count(kind, MESSAGE_DECISION) || kind == MESSAGE_NONE
			|| !play[(unsigned)kind](q->job, v, (size_t)count, &r, o))
			return false;
		at += HEAD + (size_t)count;
	}
	return at == q->n;
}

bool event_queue_is_whole(const struct event_queue *q)
{
	return play_all(q, 0, &(struct train_observer){ .ctx = NULL });
}

void event_queue_play(const struct event_queue *q, uint32_t restart, const struct train_observer *o)
{
	if (!play_all(q, restart, o))
		BUG("a queued event is malformed");
}
