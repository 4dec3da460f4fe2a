/* SPDX-License-Identifier: Apache-2.0
 * A queue of events: an observer that appends copies, and their delivery to another one. */
#include "runtime/train/job/event_queue.h"

#include <stdlib.h>

#include "runtime/base/err.h"

void event_queue_clear(struct event_queue *q)
{
	free(q->event);
	arena_release(&q->memory);
	*q = (struct event_queue){ .job = q->job };
}

static unsigned nvalue(const struct event_queue *q)
{
	return measures_at(&q->job->measures, q->job->measures.nmetric, q->job->program->noutput);
}

/* ---- appending ---- */

static struct queued_event *append(struct event_queue *q, enum queued_kind kind)
{
	mem_reserve(q->event, q->n, q->cap);
	q->event[q->n] = (struct queued_event){ .kind = kind };
	return &q->event[q->n++];
}

static const double *copy_record(struct event_queue *q, const struct epoch_record *r)
{
	double *record = arena_alloc(&q->memory, epoch_record_size(nvalue(q)), sizeof *record);

	epoch_record_pack(r, nvalue(q), record);
	return record;
}

static void on_step(void *ctx, uint32_t restart, uint32_t epoch, uint64_t step, uint32_t step_in_epoch, uint32_t steps_per_epoch,
	double batch_loss)
{
	(void)restart;
	append(ctx, QUEUED_STEP)->step = (struct queued_step){ epoch, step_in_epoch, steps_per_epoch, step, batch_loss };
}

static void on_epoch(void *ctx, const struct epoch_record *r)
{
	append(ctx, QUEUED_EPOCH)->record = copy_record(ctx, r);
}

static void on_state(void *ctx, const struct epoch_record *r, const struct epoch_state *s)
{
	struct event_queue *q = ctx;
	const struct program *p = q->job->program;
	struct epoch_state *copy = arena_alloc(&q->memory, 1, sizeof *copy);

	(void)r;
	copy->weight = arena_copy(&q->memory, s->weight, p->nweight, sizeof *s->weight);
	copy->gradient = arena_copy(&q->memory, s->gradient, p->nweight, sizeof *s->gradient);
	copy->readout = arena_copy(&q->memory, s->readout, (size_t)s->nbatch * p->nreadout, sizeof *s->readout);
	copy->nbatch = s->nbatch;
	append(q, QUEUED_STATE)->state = copy;
}

static int on_event(void *ctx, const struct train_event *v)
{
	struct event_queue *q = ctx;
	struct queued_decision *copy = arena_alloc(&q->memory, 1, sizeof *copy);

	if (v->kind != TRAIN_STOPPED && v->kind != TRAIN_RESTORED && v->kind != TRAIN_RATE)
		BUG("an event with a file is queued");
	copy->event = *v;
	copy->event.record = NULL;
	copy->record = copy_record(q, v->record);
	append(q, QUEUED_DECISION)->decision = copy;
	return 0;
}

struct train_observer event_queue_observer(struct event_queue *q)
{
	return (struct train_observer){ .ctx = q, .step = on_step, .epoch = on_epoch, .state = on_state, .event = on_event };
}

/* ---- delivery; r: the record of the last epoch or decision ---- */

static void play_step(const struct event_queue *q, const struct queued_event *v, struct epoch_record *r, const struct train_observer *o)
{
	const struct queued_step *s = &v->step;

	(void)q;
	if (o->step)
		o->step(o->ctx, r->restart, s->epoch, s->step, s->step_in_epoch, s->steps_per_epoch, s->batch_loss);
}

/* Queues of one restart hold records of one restart. */
static void read_record(const struct event_queue *q, const double *record, struct epoch_record *r)
{
	uint32_t restart = r->restart;

	if (!epoch_record_unpack(r, nvalue(q), record))
		BUG("a queued record is malformed");
	r->restart = restart;
}

static void play_epoch(const struct event_queue *q, const struct queued_event *v, struct epoch_record *r, const struct train_observer *o)
{
	read_record(q, v->record, r);
	if (o->epoch)
		o->epoch(o->ctx, r);
}

static void play_state(const struct event_queue *q, const struct queued_event *v, struct epoch_record *r, const struct train_observer *o)
{
	(void)q;
	if (o->state)
		o->state(o->ctx, r, v->state);
}

static void play_decision(const struct event_queue *q, const struct queued_event *v, struct epoch_record *r, const struct train_observer *o)
{
	struct train_event event = v->decision->event;

	read_record(q, v->decision->record, r);
	event.restart = r->restart;
	event.record = r;
	if (o->event)
		o->event(o->ctx, &event);
}

void event_queue_play(const struct event_queue *q, uint32_t restart, const struct train_observer *o)
{
	static void (*const play[QUEUED_KINDS])(const struct event_queue *q, const struct queued_event *v, struct epoch_record *r,
		const struct train_observer *o) = { [QUEUED_STEP] = play_step, [QUEUED_EPOCH] = play_epoch, [QUEUED_STATE] = play_state,
		[QUEUED_DECISION] = play_decision };
	struct epoch_record r = { .restart = restart };

	for (size_t i = 0; i < q->n; i++)
		play[q->event[i].kind](q, &q->event[i], &r, o);
}
