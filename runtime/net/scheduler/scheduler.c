/* SPDX-License-Identifier: Apache-2.0
 * Workers that come and go, and a step from its beginning to its sums. */
#include "runtime/net/scheduler/scheduler_state.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

struct scheduler *scheduler_new(unsigned nworker, enum shard shard)
{
	struct scheduler *s = mem_alloc(1, sizeof *s);

	s->shard = shard;
	s->nqueue = nworker;
	s->queue = mem_alloc(nworker + 1, sizeof *s->queue);
	for (unsigned i = 0; i < nworker; i++)
		s->queue[i].number = i;
	return s;
}

void scheduler_free(struct scheduler *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->nqueue; i++)
		shard_forget(&s->queue[i]);
	ledger_release(&s->ledger);
	buf_release(&s->body);
	free(s->id);
	free(s->bit);
	free(s->number);
	free(s->row);
	free(s->vector);
	free(s->queue);
	free(s);
}

void scheduler_no_memory(struct scheduler *s)
{
	if (!s->fault.code)
		err_set(&s->fault, -ERR_CONFIG, "no memory for a message to a worker");
}

/* ---- workers ---- */

void scheduler_join(struct scheduler *s, unsigned worker, const struct scheduler_worker *w)
{
	s->queue[worker].worker = *w;
	s->queue[worker].joined = true;
}

uint32_t scheduler_suspend(struct scheduler *s, unsigned worker)
{
	s->queue[worker].suspended = true;
	return ledger_lose(&s->ledger, worker);
}

void scheduler_resume(struct scheduler *s, unsigned worker) { s->queue[worker].suspended = false; }

uint32_t scheduler_lose(struct scheduler *s, unsigned worker)
{
	struct queue *q = &s->queue[worker];

	shard_forget(q);
	*q = (struct queue){ .number = worker, .step = q->step, .stats = q->stats };
	return ledger_lose(&s->ledger, worker);
}

void scheduler_forget_job(struct scheduler *s)
{
	for (unsigned i = 0; i < s->nqueue; i++) {
		struct queue *q = &s->queue[i];

		shard_forget(q);
		q->joined = false;
		q->weights = 0;
		q->unit_seconds = 0;
	}
	memset(s->set, 0, sizeof s->set);
}

bool scheduler_idle(const struct scheduler *s, unsigned worker)
{
	return s->queue[worker].joined && !s->queue[worker].npending;
}

struct scheduler_stats scheduler_stats(const struct scheduler *s, unsigned worker)
{
	return s->queue[worker].stats;
}

/* ---- a step ---- */

uint32_t step_samples(const struct pool_step *s, uint32_t unit)
{
	uint32_t left = s->nsample - unit * s->width;

	return left < s->width ? left : s->width;
}

int scheduler_begin(struct scheduler *s, const struct pool_step *step, uint32_t nunit, size_t n, struct err *e)
{
	if (step->nin > (WIRE_BODY_MAX / 2) / sizeof(double) / step->width || step->nweight > (WIRE_BODY_MAX / 2) / sizeof(double))
		return err_set(e, -ERR_CONFIG, "samples of %u numbers are too large for a message to a worker", step->nin);
	int code = ledger_begin(&s->ledger, nunit, n, e);
	s->step = code ? NULL : step;
	s->fault.code = 0;
	s->nstep++;
	return code;
}

bool scheduler_done(const struct scheduler *s)
{
	return s->fault.code || s->ledger.ndone == s->ledger.nunit;
}

void scheduler_fail(struct scheduler *s, const struct err *e)
{
	if (!s->fault.code)
		s->fault = *e;
}

int scheduler_end(struct scheduler *s, struct fixed *sum, struct err *e)
{
	assign_forget(s);
	s->step = NULL;
	s->nstep++;                  /* late results are of an earlier step */
	return ledger_end(&s->ledger, &s->fault, sum, e);
}
