/* SPDX-License-Identifier: Apache-2.0
 * Lanes that take starts in order; the front is the first start that the observer has not heard the end of.
 *
 * Whoever trains the front talks to the observer, after what is on the front's tape; all others write on
 * tapes. Only the thread that ends the front moves it, so that only one thread talks at any time. */
#include "config.h"
#include "runtime/train/concurrent_restarts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/train/job/event_queue.h"
#include "runtime/train/restart.h"

/* A start that has ended before those in front of it. */
struct ended {
	int code; struct err fault;
	struct event_queue queue;
	struct epoch_record last; struct start_end end;
	double *weight, *slot[OPTIMIZER_SLOTS_MAX];
};

struct side;

struct lane {
	struct side *side;
	struct trainer trainer;
	struct train_observer observer;      /* that the trainer knows */
	struct event_queue queue;
	struct train_observer queued;        /* that appends to the queue */
	pthread_t thread;
	bool busy, held;             /* has a start; waits after an update of it, where `at` is */
	struct start_state at;
};

struct side {
	const struct train_job *job;
	struct train_job own;                /* the same, on one thread */
	const struct train_observer *observer;
	struct train_result *result;
	pthread_mutex_t lock;
	pthread_cond_t moved;                /* the front, or all is to end, or lanes are held or let go */
	bool hold;
	uint32_t next;                       /* start to be taken */
	atomic_uint front;
	atomic_int code; struct err fault;   /* why all ends */
	atomic_bool holding;                 /* hold, to be looked at without the lock */
	struct ended **ended;                /* (restarts) */
	struct lane *lane; unsigned nlane;
};

bool side_fits(const struct train_job *j)
{
	static const enum callback_id with_files[] = { CALLBACK_checkpoint, CALLBACK_csv, CALLBACK_command };
	uint32_t left = j->restarts - (j->resume ? j->resume->ndone : 0);
	bool fits = left > 1 && j->exec.nthread > 1 && !j->pool;     /* workers share each step instead */

	for (uint32_t c = 0; c < j->program->ncircuit; c++)
		fits = fits && j->program->circuit[c].nwire <= SIDE_WIRES_MAX;
	for (size_t k = 0; k < sizeof with_files / sizeof *with_files; k++)
		fits = fits && !callback_next(j, with_files[k], NULL);
	return fits;
}

unsigned side_lanes(const struct train_job *j)
{
	uint32_t left = j->restarts - (j->resume ? j->resume->ndone : 0);
	unsigned n = j->exec.nthread < left ? j->exec.nthread : left;

	if (!side_fits(j))
		return 1;
	return n < STATE_STARTS_MAX / 2 ? n : STATE_STARTS_MAX / 2;
}

/* ---- what a trainer reports ---- */

/* Is it this lane's turn?  Then the observer gets what is queued. */
static bool is_front(struct lane *l)
{
	struct side *s = l->side;

	if (atomic_load(&s->front) != l->trainer.start)
		return false;
	event_queue_play(&l->queue, l->trainer.start, s->observer);
	event_queue_clear(&l->queue);
	return true;
}

/* Who gets a lane's next event: the observer, or the lane's queue. */
static const struct train_observer *receiver(struct lane *l)
{
	return is_front(l) ? l->side->observer : &l->queued;
}

static void on_step(void *ctx, uint32_t start, uint32_t epoch, uint64_t step, uint32_t step_in_epoch,
	uint32_t steps_per_epoch, double batch_loss)
{
	const struct train_observer *o = receiver(ctx);

	if (o->step)
		o->step(o->ctx, start, epoch, step, step_in_epoch, steps_per_epoch, batch_loss);
}

static void on_epoch(void *ctx, const struct epoch_record *r)
{
	const struct train_observer *o = receiver(ctx);

	if (o->epoch)
		o->epoch(o->ctx, r);
}

static void on_state(void *ctx, const struct epoch_record *r, const struct epoch_state *s)
{
	const struct train_observer *o = receiver(ctx);

	o->state(o->ctx, r, s);
}

static int on_event(void *ctx, const struct train_event *v)
{
	const struct train_observer *o = receiver(ctx);

	return o->event ? o->event(o->ctx, v) : 0;
}

static void end_all(struct side *s, int code, const struct err *e)
{
	pthread_mutex_lock(&s->lock);
	if (!s->code) {
		s->fault = *e;
		atomic_store(&s->code, code);
	}
	pthread_cond_broadcast(&s->moved);
	pthread_mutex_unlock(&s->lock);
}

/* ---- holding the lanes while the front is saved ---- */

static void wait_while_held(struct lane *l, const struct start_state *at)
{
	struct side *s = l->side;

	pthread_mutex_lock(&s->lock);
	l->at = *at;
	l->at.events = &l->queue;
	l->held = true;
	pthread_cond_broadcast(&s->moved);
	while (s->hold)
		pthread_cond_wait(&s->moved, &s->lock);
	l->held = false;
	pthread_mutex_unlock(&s->lock);
}

static bool all_held(const struct side *s, const struct lane *front)
{
	for (unsigned k = 0; k < s->nlane; k++)
		if (&s->lane[k] != front && s->lane[k].busy && !s->lane[k].held)
			return false;
	return true;
}

static int by_start(const void *x, const void *y)
{
	const struct start_state *a = x, *b = y;

	return a->start < b->start ? -1 : a->start > b->start;
}

static struct start_state state_of_ended(uint32_t start, const struct ended *d)
{
	struct start_state s = { .start = start, .weight = d->weight, .events = &d->queue,
		.last = &d->last, .end = d->end };

	for (unsigned k = 0; k < OPTIMIZER_SLOTS_MAX; k++)
		s.slot[k] = d->slot[k];
	return s;
}

/* train_state.others, called by the front. */
static uint32_t hold_others(void *lanes, struct start_state *out)
{
	struct lane *front = lanes;
	struct side *s = front->side;
	uint32_t n = 0;

	pthread_mutex_lock(&s->lock);
	s->hold = true;
	atomic_store(&s->holding, true);
	while (!all_held(s, front))
		pthread_cond_wait(&s->moved, &s->lock);
	for (unsigned k = 0; k < s->nlane; k++)
		if (&s->lane[k] != front && s->lane[k].busy)
			out[n++] = s->lane[k].at;
	/* A start that has failed fails again. */
	for (uint32_t i = atomic_load(&s->front) + 1; i < s->job->restarts && n < STATE_STARTS_MAX - 1; i++)
		if (s->ended[i] && !s->ended[i]->code)
			out[n++] = state_of_ended(i, s->ended[i]);
	pthread_mutex_unlock(&s->lock);
	qsort(out, n, sizeof *out, by_start);
	return n;
}

static void let_go(struct side *s)
{
	if (!s->hold)
		return;
	pthread_mutex_lock(&s->lock);
	s->hold = false;
	atomic_store(&s->holding, false);
	pthread_cond_broadcast(&s->moved);
	pthread_mutex_unlock(&s->lock);
}

static int on_between(void *ctx, const struct train_state *state, struct err *e)
{
	struct lane *l = ctx;
	const struct train_observer *o = l->side->observer;
	struct train_state all = *state;
	int code = atomic_load(&l->side->code);

	if (!code && !is_front(l) && atomic_load(&l->side->holding))
		wait_while_held(l, state->running);
	code = atomic_load(&l->side->code);
	if (code)
		return err_set(e, code, "another start has ended the run");
	if (!o->between || !is_front(l))
		return 0;
	all.others = hold_others;
	all.lanes = l;
	code = o->between(o->ctx, &all, e);
	if (code)
		end_all(l->side, code, e);
	let_go(l->side);
	return code;
}

/* ---- the end of a start ---- */

static double *copy(const double *v, size_t n)
{
	double *to = mem_alloc(n ? n : 1, sizeof *to);

	if (n)
		memcpy(to, v, n * sizeof *to);
	return to;
}

static struct ended *pack(struct lane *l, int code, const struct epoch_record *last, const struct err *e)
{
	const struct train_job *j = l->side->job;
	struct ended *d = mem_alloc(1, sizeof *d);

	*d = (struct ended){ .code = code, .queue = l->queue, .last = *last, .end = callbacks_end(l->trainer.callbacks),
		.weight = copy(l->trainer.weight, j->program->nweight) };
	if (code)
		d->fault = *e;
	for (unsigned k = 0; k < optimizer_slots(j->optimizer, j->option); k++)
		d->slot[k] = copy(l->trainer.slot[k], j->program->nweight);
	l->queue = (struct event_queue){ .job = j };
	return d;
}

static void ended_free(struct ended *d)
{
	if (!d)
		return;
	event_queue_clear(&d->queue);
	free(d->weight);
	for (unsigned k = 0; k < OPTIMIZER_SLOTS_MAX; k++)
		free(d->slot[k]);
	free(d);
}

static void take_result(struct side *s, uint32_t start, const struct ended *d)
{
	train_result_take(s->result, s->job, &(struct start_result){ start, &d->last, d->end, d->weight, (double *const *)d->slot });
	if (s->observer->start)
		s->observer->start(s->observer->ctx, start, d->last.loss, d->weight);
}

/* To the next start; what it and those behind it have done already is told. */
static void move_front(struct side *s)
{
	for (;;) {
		struct ended *d = NULL;
		uint32_t front;

		pthread_mutex_lock(&s->lock);
		front = atomic_fetch_add(&s->front, 1) + 1;
		if (front < s->job->restarts) {
			d = s->ended[front];
			s->ended[front] = NULL;
		}
		pthread_cond_broadcast(&s->moved);
		pthread_mutex_unlock(&s->lock);
		if (!d)
			return;
		event_queue_play(&d->queue, front, s->observer);
		if (d->code)
			end_all(s, d->code, &d->fault);
		else
			take_result(s, front, d);
		ended_free(d);
		if (atomic_load(&s->code))
			return;
	}
}

static void end_start(struct lane *l, int code, const struct epoch_record *last, const struct err *e)
{
	struct side *s = l->side;
	uint32_t start = l->trainer.start;
	struct ended *d;
	bool front;

	pthread_mutex_lock(&s->lock);
	front = atomic_load(&s->front) == start;
	if (!front)
		s->ended[start] = pack(l, code, last, e);
	pthread_mutex_unlock(&s->lock);
	if (!front)
		return;
	is_front(l);
	if (code) {
		end_all(s, code, e);
		return;
	}
	d = pack(l, 0, last, e);
	take_result(s, start, d);
	ended_free(d);
	move_front(s);
}

/* ---- lanes ---- */

/* Those that have ended before a resume. */
static void skip_ended(struct side *s)
{
	const struct start_state *at;

	while ((at = train_state_start(s->job->resume, s->next)) && at->last)
		s->next++;
}

/* The next start, or false: there is none. Lanes do not run far ahead of the front, whose tapes wait in memory. */
static bool take_start(struct lane *l, uint32_t *start)
{
	struct side *s = l->side;
	bool have;

	pthread_mutex_lock(&s->lock);
	l->busy = false;
	pthread_cond_broadcast(&s->moved);
	while (skip_ended(s), s->hold || (!s->code && s->next < s->job->restarts && s->next >= atomic_load(&s->front) + 2 * s->nlane))
		pthread_cond_wait(&s->moved, &s->lock);
	have = !s->code && s->next < s->job->restarts;
	*start = have ? s->next++ : 0;
	l->busy = have;
	pthread_mutex_unlock(&s->lock);
	return have;
}

static void *run_lane(void *ctx)
{
	struct lane *l = ctx;
	const struct train_state *from = l->side->job->resume;
	struct epoch_record last;
	struct err e = { 0 };
	uint32_t start;

	while (take_start(l, &start)) {
		const struct start_state *at = train_state_start(from, start);
		int code;

		if (at && at->events)
			event_queue_play(at->events, start, &l->queued);
		code = trainer_start(&l->trainer, start, at, &last, &e);
		end_start(l, code, &last, &e);
	}
	return NULL;
}

static int open_lane(struct side *s, struct err *e)
{
	struct lane *l = &s->lane[s->nlane];
	int code;

	*l = (struct lane){ .side = s, .queue = { .job = s->job }, .queued = event_queue_observer(&l->queue), .observer = { .ctx = l, .step = on_step, .between = on_between, .epoch = on_epoch,
		.state = s->observer->state ? on_state : NULL, .event = on_event } };
	code = trainer_open(&l->trainer, &s->own, &l->observer, e);
	if (code)
		return code;
	l->trainer.best = s->result;
	l->trainer.start_loss = s->result->start_loss;
	l->trainer.end = s->result->end;
	s->nlane++;
	return 0;
}

/* As many as there are threads and memory; one is needed. */
static int open_lanes(struct side *s, struct err *e)
{
	unsigned want = side_lanes(s->job);
	int code = 0;

	s->lane = mem_try(want, sizeof *s->lane);
	s->ended = mem_try(s->job->restarts, sizeof *s->ended);
	if (!s->lane || !s->ended)
		return err_set(e, -ERR_CONFIG, "no memory for %u starts side by side", want);
	while (!code && s->nlane < want)
		code = open_lane(s, e);
	return s->nlane ? 0 : code;
}

/* Starts that had ended when the run was left. */
static void take_over(struct side *s, const struct train_state *from)
{
	const struct train_job *j = s->job;

	for (uint32_t k = 0; from && k < from->nrunning; k++) {
		const struct start_state *at = &from->running[k];
		struct train_observer queued;
		struct ended *d;

		if (!at->last)
			continue;
		d = s->ended[at->start] = mem_alloc(1, sizeof *d);
		queued = event_queue_observer(&d->queue);
		*d = (struct ended){ .queue = { .job = j }, .last = *at->last, .end = at->end,
			.weight = copy(at->weight, j->program->nweight) };
		for (unsigned i = 0; i < optimizer_slots(j->optimizer, j->option); i++)
			d->slot[i] = copy(at->slot[i], j->program->nweight);
		if (at->events)
			event_queue_play(at->events, at->start, &queued);
	}
}

static void run_lanes(struct side *s)
{
	unsigned started = 1;

	while (started < s->nlane && !pthread_create(&s->lane[started].thread, NULL, run_lane, &s->lane[started]))
		started++;
	run_lane(&s->lane[0]);
	for (unsigned k = 1; k < started; k++)
		pthread_join(s->lane[k].thread, NULL);
}

int side_starts(const struct train_job *j, const struct train_observer *o, struct train_result *r, struct err *e)
{
	struct side s = { .job = j, .own = *j, .observer = o, .result = r, .next = j->resume ? j->resume->ndone : 0 };
	int code;

	s.own.exec.nthread = 1;
	s.front = s.next;
	pthread_mutex_init(&s.lock, NULL);
	pthread_cond_init(&s.moved, NULL);
	code = open_lanes(&s, e);
	if (!code) {
		take_over(&s, j->resume);
		run_lanes(&s);
	}
	if (!code && s.code) {
		code = s.code;
		if (e)
			*e = s.fault;
	}
	for (uint32_t i = 0; s.ended && i < j->restarts; i++)
		ended_free(s.ended[i]);
	for (unsigned k = 0; k < s.nlane; k++) {
		event_queue_clear(&s.lane[k].queue);
		trainer_close(&s.lane[k].trainer, o);
	}
	free(s.ended);
	free(s.lane);
	pthread_cond_destroy(&s.moved);
	pthread_mutex_destroy(&s.lock);
	return code;
}
