/* SPDX-License-Identifier: Apache-2.0
 * Assigns pending units to workers.
 *
 * All workers should finish at the same time.  A worker's share of the pending units is what it can compute until the
 * predicted end of the step.  It gets half of its share, so that messages become small towards the end of a step, or
 * all of it where little is left. */
#include "runtime/base/profile/recorder.h"
#include "runtime/net/scheduler/scheduler_state.h"

#include <math.h>

enum {
	PENDING_MAX = 2,             /* messages of work that one worker has: the next while it computes one */
	WORK_BYTES_MAX = 8 << 20     /* of samples in a message, unless one unit has more */
};
#define SHORT_STEP_S 0.05                /* units that take less in total are assigned at once: messages cost as well */

#define FORGET 0.98                      /* weight of a worker's known pace after a step in which it got nothing */

/* ---- shares ---- */

static bool can_work(const struct queue *q)
{
	return q->joined && !q->suspended && !q->worker.peer->fault;
}

/* The paces of workers that can work, in units per second; a new worker's is that of its threads at the mean pace of
 * a thread.  False: no pace is known, and one unit per thread and second is assumed. */
static bool find_paces(struct scheduler *s)
{
	double known = 0, threads = 0, each;

	for (unsigned i = 0; i < s->nqueue; i++)
		if (can_work(&s->queue[i]) && s->queue[i].unit_seconds > 0) {
			known += 1 / s->queue[i].unit_seconds;
			threads += s->queue[i].worker.nthread;
		}
	each = threads > 0 ? known / threads : 1;
	for (unsigned i = 0; i < s->nqueue; i++) {
		struct queue *q = &s->queue[i];

		q->pace = !can_work(q) ? 0 : q->unit_seconds > 0 ? 1 / q->unit_seconds : each * q->worker.nthread;
	}
	return threads > 0;
}

/* Seconds of work that a worker still has; one that is overdue may take as long again. */
static double busy(const struct scheduler *s, const struct queue *q)
{
	return q->npending ? fabs(q->nqueued / q->pace - (s->now - q->since)) : 0;
}

/* Seconds until one more unit could be done at the earliest. */
static double first_end(const struct scheduler *s)
{
	double first = INFINITY;

	for (unsigned i = 0; i < s->nqueue; i++)
		if (s->queue[i].pace > 0)
			first = fmin(first, busy(s, &s->queue[i]) + 1 / s->queue[i].pace);
	return first;
}

/* Seconds until nopen more units are done when they are shared so that all workers finish together; a worker that is
 * busy for longer gets none. */
static double common_end(const struct scheduler *s, uint32_t nopen)
{
	double end = 0, units, pace;
	bool again = true;

	for (unsigned round = 0; again && round <= s->nqueue; round++) {
		double before = end;

		units = nopen;
		pace = 0;
		for (unsigned i = 0; i < s->nqueue; i++) {
			const struct queue *q = &s->queue[i];

			if (q->pace > 0 && (round == 0 || busy(s, q) < before)) {
				units += busy(s, q) * q->pace;
				pace += q->pace;
			}
		}
		end = pace > 0 ? units / pace : before;
		again = round == 0 || end < before;
	}
	return end;
}

void assign_forget(struct scheduler *s)
{
	for (unsigned i = 0; i < s->nqueue; i++)
		if (s->queue[i].step != s->nstep)
			s->queue[i].unit_seconds *= FORGET;
}

/* ---- messages ---- */

void scheduler_put(struct scheduler *s, struct queue *q, int64_t began)
{
	peer_put(q->worker.peer, &s->body);
	recorder_event(EVENT_SEND, peer_sent_number(q->worker.peer), (uint16_t)(q->number + 1), began);
}

/* WEIGHTS, where the worker has others. */
static void put_weights(struct scheduler *s, struct queue *q)
{
	int64_t began = recorder_begin();

	if (q->weights == s->step->version)
		return;
	buf_clear(&s->body);
	wire_put_weights(&s->body, s->step->version, s->step->weight, s->step->nweight);
	scheduler_put(s, q, began);
	q->weights = s->step->version;
}

static bool put_work(struct scheduler *s, struct queue *q, const uint32_t *id, uint32_t nid)
{
	const struct pool_step *step = s->step;
	struct wire_work w = { .step = s->nstep,
		.weights = step->version,
		.gradient = step->gradient,
		.nin = step->nin,
		.draw_key = step->draw_key,
		.draw_first = step->draw_first };

	if (!ARRAY_RESERVE(s->bit, s->bit_cap, WIRE_MAP_BYTES(id[nid - 1] - id[0] + 1))
		|| !ARRAY_RESERVE(s->number, s->number_cap, step->nin + 1))
		return false;
	w.units = wire_units_of(id, nid, s->bit);
	for (uint32_t k = 0; k < nid; k++)
		w.nsample += step_samples(step, id[k]);
	put_weights(s, q);
	w.nkept = shard_rows(s, q, id, nid, &w.set) ? step->nx : 0;
	int64_t began = recorder_begin();
	buf_clear(&s->body);
	wire_put_work(&s->body, &w);
	for (uint32_t k = 0; k < nid && w.nkept; k++)
		for (uint32_t i = 0, n = step_samples(step, id[k]); i < n; i++)
			wire_put_row(&s->body, step->row(step->ctx, id[k] * step->width + i));
	for (uint32_t k = 0; k < nid; k++)
		for (uint32_t i = 0, n = step_samples(step, id[k]); i < n; i++) {
			step->give(step->ctx, id[k] * step->width + i, s->number);
			buf_f64s(&s->body, s->number + w.nkept, step->nin - w.nkept);
		}
	scheduler_put(s, q, began);
	q->since = q->npending++ ? q->since : s->now;
	q->nqueued += nid;
	q->step = s->nstep;
	return true;
}

/* Send n units to one worker, at once: it starts while messages to others are made. */
static void assign(struct scheduler *s, struct queue *q, uint32_t n)
{
	size_t most = WORK_BYTES_MAX / ((size_t)s->step->width * s->step->nin * sizeof(double) + 1);
	uint32_t nid = 0;
	int64_t unit;

	n = n > most ? most ? (uint32_t)most : 1 : n;
	if (!ARRAY_RESERVE(s->id, s->id_cap, n)) {
		scheduler_no_memory(s);
		return;
	}
	while (nid < n && (unit = ledger_take(&s->ledger, q->number)) >= 0)
		s->id[nid++] = (uint32_t)unit;
	if (nid && !put_work(s, q, s->id, nid))
		scheduler_no_memory(s);
	peer_flush(q->worker.peer, NULL);
}

/* Little is left: all workers get their whole shares, rounded so that together they are all pending units. */
static void assign_all(struct scheduler *s, uint32_t nopen, double end)
{
	double share = 0;
	uint32_t given = 0;

	for (unsigned i = 0; i < s->nqueue; i++) {
		struct queue *q = &s->queue[i];

		if (q->pace <= 0 || q->npending >= PENDING_MAX)
			continue;
		if (end > busy(s, q))
			share += (end - busy(s, q)) * q->pace;
		uint32_t upto = share + 0.5 < nopen ? (uint32_t)(share + 0.5) : nopen;
		if (upto > given)
			assign(s, q, upto - given);
		given = upto > given ? upto : given;
	}
}

/* Half of its share, at least a unit per thread, for each worker that has fewer than `pending` messages; none where
 * others will have finished sooner. */
static void assign_some(struct scheduler *s, unsigned pending)
{
	for (unsigned i = 0; i < s->nqueue; i++) {
		struct queue *q = &s->queue[i];
		uint32_t nopen = ledger_open(&s->ledger), half;

		if (!nopen)
			return;
		if (q->pace <= 0 || q->npending >= pending)
			continue;
		double share = (common_end(s, nopen) - busy(s, q)) * q->pace;
		if (share < 0.5 && busy(s, q) + 1 / q->pace > first_end(s))
			continue;
		half = share > 2 ? (uint32_t)ceil(share / 2) : 1;
		assign(s, q, half < q->worker.nthread ? q->worker.nthread : half);
	}
}

void scheduler_assign(struct scheduler *s, double now)
{
	uint32_t nopen = ledger_open(&s->ledger);
	bool known = nopen && find_paces(s);

	s->now = now;
	double end = nopen ? common_end(s, nopen) : 0;
	if (known && end <= SHORT_STEP_S)
		assign_all(s, nopen, end);
	else
		for (unsigned pending = 1; nopen && pending <= PENDING_MAX; pending++)
			assign_some(s, pending);
	for (unsigned i = 0; i < s->nqueue; i++)
		if (s->queue[i].joined)
			peer_flush(s->queue[i].worker.peer, NULL);
}
