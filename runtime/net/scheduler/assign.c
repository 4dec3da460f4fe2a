/* SPDX-License-Identifier: Apache-2.0
 * Work to the workers: who gets how many of the open units.
 *
 * All that can work should end together.  A worker's share of what is open is what it can do until
 * the moment when all is done; it gets half of that, and so messages become small towards the end
 * of a step, or all of it where little is left. */
#include "config.h"
#include "runtime/net/cluster/worker.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/arena.h"

enum {
	PENDING_MAX = 2,             /* messages of work that one worker has: the next while it computes one */
	WORK_BYTES_MAX = 8 << 20     /* of samples in a message, unless one unit has more */
};
#define SHORT_STEP_S 0.05                /* what is left is scheduled at once when it takes no longer: messages cost as well */

#define FORGET 0.98                      /* of what is known of a worker's pace, a step in which it got nothing */

bool scheduler_grow(void **p, size_t *cap, size_t n, size_t size)
{
	void *more = mem_try(n + n / 2, size);

	if (!more)
		return false;
	free(*p);
	*p = more;
	*cap = n + n / 2;
	return true;
}

uint32_t step_samples(const struct pool_step *s, uint32_t unit)
{
	uint32_t left = s->nsample - unit * s->width;

	return left < s->width ? left : s->width;
}

void coordinator_no_memory(struct coordinator *c)
{
	if (!c->fault.code)
		err_set(&c->fault, -ERR_CONFIG, "no memory for a message to a worker");
}

/* ---- shares ---- */

static bool can_work(const struct worker *m)
{
	return m->state == WORKER_READY && !m->suspected && !m->peer.fault;
}

/* Paces of those that can work, units per second; of who is new, what its threads would do at the
 * others' pace.  False: nobody's is known, and a thread does one unit a second. */
static bool find_paces(struct coordinator *c)
{
	double known = 0, threads = 0, each;

	for (unsigned i = 0; i < c->nworker; i++)
		if (can_work(&c->worker[i]) && c->worker[i].unit_seconds > 0) {
			known += 1 / c->worker[i].unit_seconds;
			threads += c->worker[i].ready.nthread;
		}
	each = threads > 0 ? known / threads : 1;
	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *m = &c->worker[i];

		m->pace = !can_work(m) ? 0 : m->unit_seconds > 0 ? 1 / m->unit_seconds : each * m->ready.nthread;
	}
	return threads > 0;
}

/* Seconds that a worker still has to do; who is overdue may take as long again. */
static double busy(const struct coordinator *c, const struct worker *m)
{
	return m->npending ? fabs(m->nqueued / m->pace - (c->turned - m->since)) : 0;
}

/* After how many seconds one more unit could be done at the earliest. */
static double first_end(const struct coordinator *c)
{
	double first = INFINITY;

	for (unsigned i = 0; i < c->nworker; i++)
		if (c->worker[i].pace > 0)
			first = fmin(first, busy(c, &c->worker[i]) + 1 / c->worker[i].pace);
	return first;
}

/* After how many seconds all is done when nopen units are shared so that all end together: those
 * that have more to do than that get none. */
static double common_end(const struct coordinator *c, uint32_t nopen)
{
	double end = 0, units, pace;
	bool again = true;

	for (unsigned round = 0; again && round <= c->nworker; round++) {
		double before = end;

		units = nopen;
		pace = 0;
		for (unsigned i = 0; i < c->nworker; i++) {
			const struct worker *m = &c->worker[i];

			if (m->pace > 0 && (round == 0 || busy(c, m) < before)) {
				units += busy(c, m) * m->pace;
				pace += m->pace;
			}
		}
		end = pace > 0 ? units / pace : before;
		again = round == 0 || end < before;
	}
	return end;
}

void workers_forget(struct coordinator *c)
{
	for (unsigned i = 0; i < c->nworker; i++)
		if (c->worker[i].scheduled != c->nstep)
			c->worker[i].unit_seconds *= FORGET;
}

/* ---- messages ---- */

/* WEIGHTS, where the worker has others. */
static void put_weights(struct coordinator *c, struct worker *m)
{
	if (m->weights == c->step->version)
		return;
	buf_clear(&c->body);
	wire_put_weights(&c->body, c->step->version, c->step->weight, c->step->nweight);
	peer_put(&m->peer, &c->body);
	m->weights = c->step->version;
}

static bool put_work(struct coordinator *c, struct worker *m, const uint32_t *id, uint32_t nid)
{
	const struct pool_step *s = c->step;
	struct wire_work w = { .step = c->nstep, .weights = s->version, .gradient = s->gradient, .nin = s->nin,
		.draw_key = s->draw_key, .draw_first = s->draw_first };

	if (!SCHEDULER_ROOM(c->bit, c->bit_cap, WIRE_MAP_BYTES(id[nid - 1] - id[0] + 1))
			|| !SCHEDULER_ROOM(c->number, c->number_cap, s->nin + 1))
		return false;
	w.units = wire_units_of(id, nid, c->bit);
	for (uint32_t k = 0; k < nid; k++)
		w.nsample += step_samples(s, id[k]);
	put_weights(c, m);
	w.nkept = shard_rows(c, m, id, nid, &w.set) ? s->nx : 0;
	buf_clear(&c->body);
	wire_put_work(&c->body, &w);
	for (uint32_t k = 0; k < nid && w.nkept; k++)
		for (uint32_t i = 0, n = step_samples(s, id[k]); i < n; i++)
			wire_put_row(&c->body, s->row(s->ctx, id[k] * s->width + i));
	for (uint32_t k = 0; k < nid; k++)
		for (uint32_t i = 0, n = step_samples(s, id[k]); i < n; i++) {
			s->give(s->ctx, id[k] * s->width + i, c->number);
			buf_f64s(&c->body, c->number + w.nkept, s->nin - w.nkept);
		}
	peer_put(&m->peer, &c->body);
	m->since = m->npending++ ? m->since : c->turned;
	m->nqueued += nid;
	m->scheduled = c->nstep;
	return true;
}

/* A message of n units for one worker, sent at once: it begins while others' are made. */
static void schedule(struct coordinator *c, struct worker *m, uint32_t n)
{
	size_t most = WORK_BYTES_MAX / ((size_t)c->step->width * c->step->nin * sizeof(double) + 1);
	uint32_t nid = 0;
	int64_t unit;

	n = n > most ? most ? (uint32_t)most : 1 : n;
	if (!SCHEDULER_ROOM(c->id, c->id_cap, n)) {
		coordinator_no_memory(c);
		return;
	}
	while (nid < n && (unit = ledger_take(&c->ledger, m->rank)) >= 0)
		c->id[nid++] = (uint32_t)unit;
	if (nid && !put_work(c, m, c->id, nid))
		coordinator_no_memory(c);
	worker_flush(m);
}

/* What is left is short: all get their shares, whole units that together are all that is open. */
static void schedule_all(struct coordinator *c, uint32_t nopen, double end)
{
	double share = 0;
	uint32_t given = 0;

	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *m = &c->worker[i];
		uint32_t upto;

		if (m->pace <= 0 || m->npending >= PENDING_MAX)
			continue;
		if (end > busy(c, m))
			share += (end - busy(c, m)) * m->pace;
		upto = share + 0.5 < nopen ? (uint32_t)(share + 0.5) : nopen;
		if (upto > given)
			schedule(c, m, upto - given);
		given = upto > given ? upto : given;
	}
}

/* Half of its share for each that has less than `pending` messages, but one unit a thread; none where
 * others will have done it sooner. */
static void schedule_some(struct coordinator *c, unsigned pending)
{
	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *m = &c->worker[i];
		uint32_t nopen = ledger_open(&c->ledger), half;
		double share;

		if (!nopen)
			return;
		if (m->pace <= 0 || m->npending >= pending)
			continue;
		share = (common_end(c, nopen) - busy(c, m)) * m->pace;
		if (share < 0.5 && busy(c, m) + 1 / m->pace > first_end(c))
			continue;
		half = share > 2 ? (uint32_t)ceil(share / 2) : 1;
		schedule(c, m, half < m->ready.nthread ? m->ready.nthread : half);
	}
}

void workers_assign(struct coordinator *c)
{
	uint32_t nopen = ledger_open(&c->ledger);
	bool known = nopen && find_paces(c);
	double end = nopen ? common_end(c, nopen) : 0;

	if (known && end <= SHORT_STEP_S)
		schedule_all(c, nopen, end);
	else
		for (unsigned pending = 1; nopen && pending <= PENDING_MAX; pending++)
			schedule_some(c, pending);
	for (unsigned i = 0; i < c->nworker; i++)
		worker_flush(&c->worker[i]);
}
