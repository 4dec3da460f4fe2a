/* SPDX-License-Identifier: Apache-2.0
 * Messages that answer WORK: RESULT and FAILED. */
#include "runtime/net/scheduler/scheduler_state.h"

static int malformed(struct err *e, const char *what)
{
	return err_set(e, -ERR_PROTOCOL, "it sent a malformed %s", what);
}

/* One message of work is answered, and the worker starts with the next. The units, into s->id: how many; 0: of an earlier
 * step; -ERR_PROTOCOL. */
static int64_t units_answered(struct scheduler *s, struct queue *q, uint64_t step,
	const struct wire_units *u, double now, struct err *e)
{
	s->now = now;
	q->npending--;
	q->nqueued -= wire_units_list(u, NULL);
	q->since = s->now;
	if (step < s->nstep || (step == s->nstep && !s->step))
		return 0;
	if (step > s->nstep || u->first + u->nbit > s->ledger.nunit
		|| !ARRAY_RESERVE(s->id, s->id_cap, u->nbit))
		return malformed(e, "set of units");
	return wire_units_list(u, s->id);
}

/* Readouts of units that were counted. */
static void take_samples(struct scheduler *s, uint32_t nid, const uint8_t *value)
{
	const struct pool_step *step = s->step;

	for (uint32_t k = 0; k < nid; k++)
		for (uint32_t i = 0, n = step_samples(step, s->id[k]); i < n; i++, value += step->nout * sizeof(double)) {
			wire_doubles(value, step->nout, s->number);
			step->take(step->ctx, s->id[k] * step->width + i, s->number);
		}
}

static void note_pace(struct queue *q, double seconds, uint32_t nid)
{
	double each = seconds / nid;

	q->stats.nunit += nid;
	q->stats.seconds += seconds;
	if (each > 0)
		q->unit_seconds = q->unit_seconds > 0 ? 0.7 * q->unit_seconds + 0.3 * each : each;
}

int scheduler_result(struct scheduler *s, unsigned worker, const uint8_t *body, size_t len, double now, struct err *e)
{
	struct queue *q = &s->queue[worker];
	struct wire_result r;
	uint32_t nsample = 0;

	if (!wire_get_result(body, len, &r) || !q->npending)
		return malformed(e, "RESULT message");
	int64_t nid = units_answered(s, q, r.step, &r.units, now, e);
	if (nid <= 0)
		return (int)nid;
	for (int64_t k = 0; k < nid; k++)
		nsample += step_samples(s->step, s->id[k]);
	if (r.nsample != nsample || r.nout != s->step->nout || r.n != s->ledger.n)
		return err_set(e, -ERR_PROTOCOL,
			"it sent a RESULT message with a wrong number of sums");
	if (!ARRAY_RESERVE(s->vector, s->vector_cap, r.n + 1)
		|| !ARRAY_RESERVE(s->number, s->number_cap, r.nout + 1)) {
		scheduler_no_memory(s);
		return 0;
	}
	wire_fixed(r.vector, r.n, s->vector);
	int code = ledger_put(&s->ledger, worker, s->id, (size_t)nid, s->vector);
	if (code < 0 && !s->fault.code)
		err_set(&s->fault, code, "a sum over work units is too large for fixed point");
	if (code <= 0)
		return 0;
	take_samples(s, (uint32_t)nid, r.value);
	note_pace(q, r.seconds, (uint32_t)nid);
	q->stats.nsample += nsample;
	return 1;
}

int scheduler_failed(struct scheduler *s, unsigned worker, const uint8_t *body, size_t len, double now, struct err *e)
{
	struct queue *q = &s->queue[worker];
	struct wire_failed f;

	if (!wire_get_failed(body, len, &f) || !q->npending)
		return malformed(e, "FAILED message");
	int64_t nid = units_answered(s, q, f.step, &f.units, now, e);
	if (nid <= 0)
		return (int)nid;
	if (!ARRAY_RESERVE(s->vector, s->vector_cap, s->ledger.n + 1)) {
		scheduler_no_memory(s);
		return 0;
	}
	for (int64_t k = 0; k < nid && !s->fault.code; k++) {
		struct err why = { 0, "" };

		if (s->step->recompute(s->step->ctx, s->id[k], s->vector, &why))
			s->fault = why;
		else
			ledger_put(&s->ledger, worker, &s->id[k], 1, s->vector);
	}
	if (s->fault.code)
		return 0;
	return err_set(e, -ERR_BUG,
		"it failed to compute work units that this machine can compute: %s", f.text);
}
