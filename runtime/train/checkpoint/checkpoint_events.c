/* SPDX-License-Identifier: Apache-2.0
 * Messages of an event queue as numbers: an observer that writes them, and a reader that reports to a queue. */
#include "runtime/train/checkpoint/checkpoint_events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/train/callback/callback.h"

/* The kinds in a file; RECORD is that of the decision that follows it.  Records have no restart number, which the vector's
 * name says. */
enum message { MESSAGE_NONE = 0, MESSAGE_STEP, MESSAGE_EPOCH, MESSAGE_STATE, MESSAGE_RECORD, MESSAGE_DECISION };
enum {
	STEP_NUMBERS = 5,
	STATE_NUMBERS = 1,
	DECISION_NUMBERS = 4,
	HEAD = 2,
	DECISION_WHICH = 16
}; /* a decision's kind, plus this many times the number of its callback */

static unsigned values_of(const struct train_job *j)
{
	return measures_at(&j->measures, j->measures.nmetric, j->program->noutput);
}

static size_t record_size(const struct train_job *j) { return epoch_record_size(values_of(j)) - 1; }

/* ---- writing ---- */

/* The place of n numbers of a new message. */
static double *add(struct event_numbers *t, enum message kind, size_t n)
{
	if (t->n + HEAD + n > t->cap) {
		t->cap = 2 * t->cap + HEAD + n + 64;
		t->value = mem_grow(t->value, t->cap, sizeof *t->value);
	}
	double *v = t->value + t->n;
	t->n += HEAD + n;
	v[0] = (double)n;
	v[1] = kind;
	return v + HEAD;
}

static void write_step(void *ctx, uint32_t restart, uint32_t epoch, uint64_t step, uint32_t step_in_epoch,
	uint32_t steps_per_epoch, double batch_loss)
{
	const double v[STEP_NUMBERS] = { epoch, (double)step, step_in_epoch, steps_per_epoch, batch_loss };

	(void)restart;
	memcpy(add(ctx, MESSAGE_STEP, STEP_NUMBERS), v, sizeof v);
}

static void write_record(struct event_numbers *t, enum message kind, const struct epoch_record *r)
{
	size_t n = record_size(t->job);
	mem_auto double *v = mem_alloc(n + 1, sizeof *v);

	epoch_record_pack(r, values_of(t->job), v);
	memcpy(add(t, kind, n), v + 1, n * sizeof *v);
}

static void write_epoch(void *ctx, const struct epoch_record *r)
{
	write_record(ctx, MESSAGE_EPOCH, r);
}

static void write_state(void *ctx, const struct epoch_record *r, const struct epoch_state *s)
{
	struct event_numbers *t = ctx;
	size_t n = t->job->program->nweight, nreadout = (size_t)s->nbatch * t->job->program->nreadout;
	double *v = add(t, MESSAGE_STATE, STATE_NUMBERS + 2 * n + nreadout);

	(void)r;
	*v++ = s->nbatch;
	memcpy(v, s->weight, n * sizeof *v);
	memcpy(v + n, s->gradient, n * sizeof *v);
	memcpy(v + 2 * n, s->readout, nreadout * sizeof *v);
}

static int write_decision(void *ctx, const struct train_event *e)
{
	const double v[DECISION_NUMBERS] = { (double)e->kind + DECISION_WHICH * (double)e->which, e->best, e->rate, e->best_epoch };

	write_record(ctx, MESSAGE_RECORD, e->record);
	memcpy(add(ctx, MESSAGE_DECISION, DECISION_NUMBERS), v, sizeof v);
	return 0;
}

struct event_numbers checkpoint_events(const struct event_queue *q, uint32_t restart)
{
	struct event_numbers t = { .job = q->job };

	event_queue_play(q, restart, &(struct train_observer){ .ctx = &t, .step = write_step, .epoch = write_epoch, .state = write_state,
		.event = write_decision });
	return t;
}

/* ---- reading: r is the last record; false where a message of n numbers is malformed ---- */

static bool is_count(double v, double most) { return v >= 0 && v <= most && v == floor(v); }

static bool read_step(const struct train_job *j, const double *v, size_t n, struct epoch_record *r, const struct train_observer *to)
{
	(void)j, (void)r;
	if (n != STEP_NUMBERS || !is_count(v[0], UINT32_MAX) || !is_count(v[1], 9e15) || !is_count(v[2], UINT32_MAX) || v[2] == 0
		|| !is_count(v[3], UINT32_MAX) || v[3] < v[2])
		return false;
	to->step(to->ctx, 0, (uint32_t)v[0], (uint64_t)v[1], (uint32_t)v[2], (uint32_t)v[3], v[4]);
	return true;
}

static bool read_record(const struct train_job *j, const double *v, size_t n, struct epoch_record *r, const struct train_observer *to)
{
	double *whole;

	(void)to;
	if (n != record_size(j))
		return false;
	whole = mem_alloc(n + 1, sizeof *whole);
	memcpy(whole + 1, v, n * sizeof *v);
	bool well = epoch_record_unpack(r, values_of(j), whole);
	free(whole);
	return well && r->epoch && r->epoch <= j->epochs;
}

static bool read_epoch(const struct train_job *j, const double *v, size_t n, struct epoch_record *r, const struct train_observer *to)
{
	if (!read_record(j, v, n, r, to))
		return false;
	to->epoch(to->ctx, r);
	return true;
}

static bool read_state(const struct train_job *j, const double *v, size_t n, struct epoch_record *r, const struct train_observer *to)
{
	size_t nweight = j->program->nweight;

	if (n < STATE_NUMBERS || !is_count(v[0], j->train.nrow)
		|| n != STATE_NUMBERS + 2 * nweight + (size_t)v[0] * j->program->nreadout)
		return false;
	to->state(to->ctx, r, &(struct epoch_state){ v + 1, v + 1 + nweight, v + 1 + 2 * nweight, (uint32_t)v[0] });
	return true;
}

static bool read_decision(const struct train_job *j, const double *v, size_t n, struct epoch_record *r, const struct train_observer *to)
{
	struct train_event e = { .record = r };

	if (n != DECISION_NUMBERS || !is_count(v[0], DECISION_WHICH * CALLBACKS_MAX) || !is_count(v[3], UINT32_MAX))
		return false;
	e.kind = (enum train_event_kind)((unsigned)v[0] % DECISION_WHICH);
	e.which = (unsigned)v[0] / DECISION_WHICH;
	e.best = v[1];
	e.rate = v[2];
	e.best_epoch = (uint32_t)v[3];
	if (e.kind != TRAIN_RATE)
		e.monitor = callback_stop_monitor(j, e.which);
	if (e.kind != TRAIN_RATE && ((e.kind != TRAIN_STOPPED && e.kind != TRAIN_RESTORED) || !e.monitor))
		return false;
	to->event(to->ctx, &e);
	return true;
}

bool checkpoint_events_read(const double *value, size_t n, struct event_queue *q)
{
	static bool (*const read[])(const struct train_job *j, const double *v, size_t n, struct epoch_record *r,
		const struct train_observer *to) = { [MESSAGE_STEP] = read_step, [MESSAGE_EPOCH] = read_epoch, [MESSAGE_STATE] = read_state,
		[MESSAGE_RECORD] = read_record, [MESSAGE_DECISION] = read_decision };
	const struct train_observer to = event_queue_observer(q);
	struct epoch_record r = { .restart = 0 };
	size_t at = 0;

	while (at + HEAD <= n) {
		const double *v = value + at + HEAD, count = value[at], kind = value[at + 1];

		if (!is_count(count, (double)(n - at - HEAD)) || !is_count(kind, MESSAGE_DECISION) || kind == MESSAGE_NONE
			|| !read[(unsigned)kind](q->job, v, (size_t)count, &r, &to))
			return false;
		at += HEAD + (size_t)count;
	}
	return at == n;
}
