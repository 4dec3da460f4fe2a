/* SPDX-License-Identifier: Apache-2.0
 * Runners, one a thread, take restarts in order; where restarts cannot run concurrently, one runner has all threads.
 * The head is the first restart whose end was not reported yet.
 *
 * The runner of the head reports to the observer, first what is in its event queue; all others append to their
 * queues, and look after each update whether they are the head now.  Only the thread that ends the head moves it
 * on, so that one thread at a time calls the observer. */
#include "runtime/train/concurrent_restarts.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/order.h"
#include "runtime/base/system/threads.h"
#include "runtime/train/restart.h"

/* A restart that has ended before the head. */
struct ended {
	int code; struct err fault;
	struct restart_state at; /* as a checkpoint has it; events are its own */
	struct epoch_record last;
	struct arena memory; /* of weight and slots */
};

struct concurrent_run;

struct runner {
	struct concurrent_run *run;
	struct trainer trainer;
	struct event_queue queue;
	struct train_observer queued;        /* that appends to the queue */
	pthread_t thread;
	bool busy, held;             /* has a restart; waits after an update, in the state `at` */
	struct restart_state at;
};

struct concurrent_run {
	const struct train_job *job;
	struct train_job own; /* the same; of several runners, on one thread each */
	const struct train_observer *observer;
	struct train_result *result;
	pthread_mutex_t lock;
	pthread_cond_t changed;              /* the head, the code, or whether runners are to wait */
	bool hold;                           /* runners are to wait while the head is saved */
	uint32_t next;                       /* restart to be taken */
	atomic_uint head;
	atomic_int code; struct err fault;   /* why the run ends */
	atomic_bool holding;                 /* hold, for reads without the lock */
	struct ended **ended;                /* (restarts); NULL: has not ended, or was reported */
	struct runner *runner; unsigned nrunner;
};

bool concurrent_restarts_possible(const struct train_job *j)
{
	static const enum callback_id with_files[] = { CALLBACK_checkpoint, CALLBACK_csv, CALLBACK_command };
	uint32_t left = j->restarts - (j->resume ? j->resume->ndone : 0);
	bool fits = left > 1 && j->exec.nthread > 1 && !j->pool;     /* workers share each step instead */

	for (uint32_t c = 0; c < j->program->ncircuit; c++)
		fits = fits && j->program->circuit[c].nwire <= CONCURRENT_QUBITS_MAX;
	for (size_t k = 0; k < sizeof with_files / sizeof *with_files; k++)
		fits = fits && !callback_next(j, with_files[k], NULL);
	return fits;
}

unsigned concurrent_restarts_count(const struct train_job *j)
{
	uint32_t left = j->restarts - (j->resume ? j->resume->ndone : 0);
	unsigned n = j->exec.nthread < left ? j->exec.nthread : left;

	if (!concurrent_restarts_possible(j))
		return 1;
	return n < STATE_RESTARTS_MAX / 2 ? n : STATE_RESTARTS_MAX / 2;
}

/* ---- what a trainer reports ---- */

/* Is this the runner of the head?  Then the observer gets what is queued. */
static bool is_head(struct runner *runner)
{
	struct concurrent_run *run = runner->run;

	if (atomic_load(&run->head) != runner->trainer.restart)
		return false;
	event_queue_play(&runner->queue, runner->trainer.restart, run->observer);
	event_queue_clear(&runner->queue);
	return true;
}

/* From now on the trainer reports to the observer, if its restart is the head; else to the queue. */
static bool report(struct runner *runner)
{
	bool head = is_head(runner);

	runner->trainer.observer = head ? runner->run->observer : &runner->queued;
	return head;
}

static void end_all(struct concurrent_run *run, int code, const struct err *e)
{
	mutex_auto held = mutex_hold(&run->lock);
	if (!run->code) {
		run->fault = *e;
		atomic_store(&run->code, code);
	}
	pthread_cond_broadcast(&run->changed);
}

/* ---- the others wait while the head is saved ---- */

static void wait_while_held(struct runner *runner, const struct restart_state *at)
{
	struct concurrent_run *run = runner->run;

	mutex_auto held = mutex_hold(&run->lock);
	runner->at = *at;
	runner->at.events = runner->queue;
	runner->held = true;
	pthread_cond_broadcast(&run->changed);
	while (run->hold)
		pthread_cond_wait(&run->changed, &run->lock);
	runner->held = false;
}

static bool all_held(const struct concurrent_run *run, const struct runner *head)
{
	for (unsigned k = 0; k < run->nrunner; k++)
		if (&run->runner[k] != head && run->runner[k].busy && !run->runner[k].held)
			return false;
	return true;
}

/* train_state.others, called by the runner of the head. */
static uint32_t hold_others(void *other_context, struct restart_state *out)
{
	struct runner *head = other_context;
	struct concurrent_run *run = head->run;
	const struct train_state *from = run->job->resume;
	uint32_t n = 0;

	pthread_mutex_lock(&run->lock);
	run->hold = true;
	atomic_store(&run->holding, true);
	while (!all_held(run, head))
		pthread_cond_wait(&run->changed, &run->lock);
	for (unsigned k = 0; k < run->nrunner; k++)
		if (&run->runner[k] != head && run->runner[k].busy)
			out[n++] = run->runner[k].at;
	/* A restart that has failed is left out: it fails again. */
	for (uint32_t i = atomic_load(&run->head) + 1; i < run->job->restarts && n < STATE_RESTARTS_MAX - 1; i++)
		if (run->ended[i] && !run->ended[i]->code)
			out[n++] = run->ended[i]->at;
	/* Begun by an earlier process. */
	for (uint32_t k = 0; from && k < from->nrunning && n < STATE_RESTARTS_MAX - 1; k++)
		if (from->running[k].restart >= run->next && !from->running[k].last)
			out[n++] = from->running[k];
	pthread_mutex_unlock(&run->lock);
	qsort(out, n, sizeof *out, order_u32);
	return n;
}

static void release_others(struct concurrent_run *run)
{
	if (!run->hold)
		return;
	mutex_auto held = mutex_hold(&run->lock);
	run->hold = false;
	atomic_store(&run->holding, false);
	pthread_cond_broadcast(&run->changed);
}

static int on_between(void *ctx, const struct train_state *state, struct err *e)
{
	struct runner *runner = ctx;
	const struct train_observer *o = runner->run->observer;
	struct train_state all = *state;
	int code = atomic_load(&runner->run->code);

	if (!code && !is_head(runner) && atomic_load(&runner->run->holding))
		wait_while_held(runner, state->running);
	code = atomic_load(&runner->run->code);
	if (code)
		return err_set(e, code, "another restart has ended the run");
	if (!report(runner) || !o->between)
		return 0;
	all.others = hold_others;
	all.other_context = runner;
	code = o->between(o->ctx, &all, e);
	if (code)
		end_all(runner->run, code, e);
	release_others(runner->run);
	return code;
}

/* ---- the end of a restart ---- */

static struct ended *ended_new(const struct train_job *j, uint32_t restart,
	const struct epoch_record *last, struct restart_end end, const double *weight,
	const double *const *slot)
{
	struct ended *d = mem_alloc(1, sizeof *d);

	d->last = *last;
	d->at = (struct restart_state){ .restart = restart,
		.weight = arena_copy(&d->memory, weight, j->program->nweight, sizeof *weight),
		.events = { .job = j },
		.last = &d->last,
		.end = end };
	for (unsigned k = 0; k < optimizer_slots(j->optimizer, j->option); k++)
		d->at.slot[k] = arena_copy(&d->memory, slot[k], j->program->nweight, sizeof **slot);
	return d;
}

static struct ended *pack_end(struct runner *runner, int code, const struct epoch_record *last,
	const struct err *e)
{
	const struct trainer *t = &runner->trainer;
	struct ended *d = ended_new(runner->run->job, t->restart, last, callbacks_end(t->callbacks),
		t->weight, (const double *const *)t->slot);

	d->code = code;
	if (code)
		d->fault = *e;
	d->at.events = runner->queue;
	runner->queue = (struct event_queue){ .job = runner->run->job };
	return d;
}

static void ended_free(struct ended *d)
{
	if (!d)
		return;
	event_queue_clear(&d->at.events);
	arena_release(&d->memory);
	free(d);
}

/* In the order of the restarts: of equal losses the first one is the best. */
static void take_result(struct concurrent_run *run, const struct ended *d)
{
	const struct train_job *j = run->job;
	struct train_result *r = run->result;
	uint32_t restart = d->at.restart;
	size_t nbytes = j->program->nweight * sizeof *r->weight;

	r->restart_loss[restart] = d->last.loss;
	r->end[restart] = d->at.end;
	if (!restart || d->last.loss < r->last.loss) {
		r->winner = restart;
		r->last = d->last;
		r->step = d->last.step;
		memcpy(r->weight, d->at.weight, nbytes);
		for (unsigned k = 0; k < optimizer_slots(j->optimizer, j->option); k++)
			memcpy(r->slot[k], d->at.slot[k], nbytes);
	}
	if (run->observer->ended)
		run->observer->ended(run->observer->ctx, restart, d->last.loss, d->at.weight);
}

/* On to the next restart; what it and those behind it have queued is reported. */
static void advance_head(struct concurrent_run *run)
{
	for (;;) {
		struct ended *d = NULL;

		pthread_mutex_lock(&run->lock);
		uint32_t head = atomic_fetch_add(&run->head, 1) + 1;
		if (head < run->job->restarts) {
			d = run->ended[head];
			run->ended[head] = NULL;
		}
		pthread_cond_broadcast(&run->changed);
		pthread_mutex_unlock(&run->lock);
		if (!d)
			return;
		event_queue_play(&d->at.events, head, run->observer);
		if (d->code)
			end_all(run, d->code, &d->fault);
		else
			take_result(run, d);
		ended_free(d);
		if (atomic_load(&run->code))
			return;
	}
}

static void end_restart(struct runner *runner, int code, const struct epoch_record *last, const struct err *e)
{
	struct concurrent_run *run = runner->run;
	uint32_t restart = runner->trainer.restart;

	pthread_mutex_lock(&run->lock);
	bool head = atomic_load(&run->head) == restart;
	if (!head)
		run->ended[restart] = pack_end(runner, code, last, e);
	pthread_mutex_unlock(&run->lock);
	if (!head)
		return;
	is_head(runner);
	if (code) {
		end_all(run, code, e);
		return;
	}
	struct ended *d = pack_end(runner, 0, last, e);
	take_result(run, d);
	ended_free(d);
	advance_head(run);
}

/* ---- runners ---- */

/* Over those that had ended when the run was left. */
static void skip_ended(struct concurrent_run *run)
{
	const struct restart_state *at;

	while ((at = train_state_restart(run->job->resume, run->next)) && at->last)
		run->next++;
}

/* The next restart; false: there is none.  Runners do not run far ahead of the head, since their queues are in memory. */
static bool take_restart(struct runner *runner, uint32_t *restart)
{
	struct concurrent_run *run = runner->run;

	mutex_auto held = mutex_hold(&run->lock);
	runner->busy = false;
	pthread_cond_broadcast(&run->changed);
	while (skip_ended(run), run->hold || (!run->code && run->next < run->job->restarts && run->next >= atomic_load(&run->head) + 2 * run->nrunner))
		pthread_cond_wait(&run->changed, &run->lock);
	bool have = !run->code && run->next < run->job->restarts;
	*restart = have ? run->next++ : 0;
	runner->busy = have;
	return have;
}

static void *run_restarts(void *ctx)
{
	struct runner *runner = ctx;
	const struct train_state *from = runner->run->job->resume;
	struct epoch_record last;
	struct err e = { 0 };
	uint32_t restart;

	while (take_restart(runner, &restart)) {
		const struct restart_state *at = train_state_restart(from, restart);

		if (at)
			event_queue_play(&at->events, restart, &runner->queued);
		runner->trainer.restart = restart;
		report(runner);
		int code = trainer_run(&runner->trainer, restart, at, &last, &e);
		end_restart(runner, code, &last, &e);
	}
	return NULL;
}

static int open_runner(struct concurrent_run *run, struct err *e)
{
	struct runner *runner = &run->runner[run->nrunner];

	*runner = (struct runner){ .run = run,
		.queue = { .job = run->job },
		.queued = event_queue_observer(&runner->queue) };
	if (!run->observer->state)
		runner->queued.state = NULL;
	int code = trainer_open(&runner->trainer, &run->own, run->observer, e);
	if (code)
		return code;
	if (run->observer->between || concurrent_restarts_possible(run->job))
		runner->trainer.between = on_between;
	runner->trainer.between_ctx = runner;
	runner->trainer.best = run->result;
	runner->trainer.restart_loss = run->result->restart_loss;
	runner->trainer.end = run->result->end;
	run->nrunner++;
	return 0;
}

/* As many as there are threads and memory for; one is needed. */
static int open_runners(struct concurrent_run *run, struct err *e)
{
	unsigned want = concurrent_restarts_count(run->job);
	int code = 0;

	run->runner = mem_try(want, sizeof *run->runner);
	run->ended = mem_try(run->job->restarts, sizeof *run->ended);
	if (!run->runner || !run->ended)
		return err_set(e, -ERR_CONFIG, "no memory for %u concurrent restarts", want);
	if (want > 1)
		run->own.exec.nthread = 1;
	while (!code && run->nrunner < want)
		code = open_runner(run, e);
	return run->nrunner ? 0 : code;
}

/* Restarts that had ended, but were not reported, when the run was left. */
static void take_over(struct concurrent_run *run, const struct train_state *from)
{
	for (uint32_t k = 0; from && k < from->nrunning; k++) {
		const struct restart_state *at = &from->running[k];

		if (!at->last)
			continue;
		struct ended *d =
			ended_new(run->job, at->restart, at->last, at->end, at->weight, at->slot);
		struct train_observer queued = event_queue_observer(&d->at.events);

		run->ended[at->restart] = d;
		event_queue_play(&at->events, at->restart, &queued);
	}
}

static void run_all(struct concurrent_run *run)
{
	unsigned started = 1;

	while (started < run->nrunner && !pthread_create(&run->runner[started].thread, NULL, run_restarts, &run->runner[started]))
		started++;
	run_restarts(&run->runner[0]);
	for (unsigned k = 1; k < started; k++)
		pthread_join(run->runner[k].thread, NULL);
}

int concurrent_restarts_run(const struct train_job *j, const struct train_observer *o, struct train_result *r, struct err *e)
{
	struct concurrent_run run = {
		.job = j, .own = *j, .observer = o, .result = r, .next = j->resume ? j->resume->ndone : 0
	};

	run.head = run.next;
	pthread_mutex_init(&run.lock, NULL);
	pthread_cond_init(&run.changed, NULL);
	int code = open_runners(&run, e);
	if (!code) {
		take_over(&run, j->resume);
		run_all(&run);
	}
	if (!code && run.code) {
		code = run.code;
		if (e)
			*e = run.fault;
	}
	for (uint32_t i = 0; run.ended && i < j->restarts; i++)
		ended_free(run.ended[i]);
	for (unsigned k = 0; k < run.nrunner; k++) {
		event_queue_clear(&run.runner[k].queue);
		trainer_close(&run.runner[k].trainer, o);
	}
	free(run.ended);
	free(run.runner);
	pthread_cond_destroy(&run.changed);
	pthread_mutex_destroy(&run.lock);
	return code;
}
