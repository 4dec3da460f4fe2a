/* SPDX-License-Identifier: Apache-2.0
 * What workers say: results, and all else. */
#include "config.h"
#include "runtime/net/cluster/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/numerical_version.h"
#include "runtime/base/system/clock.h"

/* ---- results ---- */

static bool said_wrong(struct err *why, const char *what)
{
	err_set(why, -ERR_PROTOCOL, "it sent %s that is none", what);
	return false;
}

/* Ids of a message about the step that runs, into c->id; 0: of an earlier step; -1: wrong. */
static int64_t units_listed(struct coordinator *c, uint64_t step, const struct wire_units *u)
{
	if (step != c->nstep || !c->step)
		return step > c->nstep ? -1 : 0;
	if (u->first + u->nbit > c->ledger.nunit || !SCHEDULER_ROOM(c->id, c->id_cap, u->nbit))
		return -1;
	return wire_units_list(u, c->id);
}

/* Counted units' readouts. */
static void take_samples(struct coordinator *c, uint32_t nid, const uint8_t *value)
{
	const struct pool_step *s = c->step;

	for (uint32_t k = 0; k < nid; k++)
		for (uint32_t i = 0, n = step_samples(s, c->id[k]); i < n; i++, value += s->nout * sizeof(double)) {
			wire_doubles(value, s->nout, c->number);
			s->take(s->ctx, c->id[k] * s->width + i, c->number);
		}
}

/* A message of m's is answered: it goes on with the next. */
static void note_answer(struct coordinator *c, struct worker *m, const struct wire_units *u)
{
	m->npending--;
	m->nqueued -= wire_units_list(u, NULL);
	m->since = c->turned;
}

static void note_pace(struct worker *m, double seconds, uint32_t nid)
{
	double each = seconds / nid;

	m->nunit += nid;
	m->seconds += seconds;
	if (each > 0)
		m->unit_seconds = m->unit_seconds > 0 ? 0.7 * m->unit_seconds + 0.3 * each : each;
}

static bool take_result(struct coordinator *c, struct worker *m, const uint8_t *body, size_t len, struct err *why)
{
	struct wire_result r;
	uint32_t nsample = 0;
	int64_t nid;
	int code;

	if (!wire_get_result(body, len, &r) || !(r.seconds >= 0) || !m->npending)
		return said_wrong(why, "a result");
	note_answer(c, m, &r.units);
	nid = units_listed(c, r.step, &r.units);
	if (nid <= 0)
		return nid == 0 || said_wrong(why, "units of a step");
	for (int64_t k = 0; k < nid; k++)
		nsample += step_samples(c->step, c->id[k]);
	if (r.nsample != nsample || r.nout != c->step->nout || r.n != c->ledger.n)
		return said_wrong(why, "sums of a step");
	if (!SCHEDULER_ROOM(c->vector, c->vector_cap, r.n + 1) || !SCHEDULER_ROOM(c->number, c->number_cap, r.nout + 1)) {
		coordinator_no_memory(c);
		return true;
	}
	wire_fixed(r.vector, r.n, c->vector);
	code = ledger_put(&c->ledger, m->rank, c->id, (size_t)nid, c->vector);
	if (code < 0 && !c->fault.code)
		err_set(&c->fault, code, "a sum over work units is too large for fixed point");
	if (code > 0) {
		take_samples(c, (uint32_t)nid, r.value);
		note_pace(m, r.seconds, (uint32_t)nid);
		m->nvain = 0;
		m->nsample += nsample;
	}
	return true;
}

/* Units that a worker could not do are done here: the same fault comes with its place, or the worker is wrong. */
static bool take_failed(struct coordinator *c, struct worker *m, const uint8_t *body, size_t len, struct err *why)
{
	struct wire_failed f;
	int64_t nid;

	if (!wire_get_failed(body, len, &f) || !m->npending)
		return said_wrong(why, "a failure");
	note_answer(c, m, &f.units);
	nid = units_listed(c, f.step, &f.units);
	if (nid <= 0)
		return nid == 0 || said_wrong(why, "units of a step");
	if (!SCHEDULER_ROOM(c->vector, c->vector_cap, c->ledger.n + 1)) {
		coordinator_no_memory(c);
		return true;
	}
	for (int64_t k = 0; k < nid && !c->fault.code; k++) {
		struct err e = { 0, "" };

		if (c->step->redo(c->step->ctx, c->id[k], c->vector, &e))
			c->fault = e;
		else
			ledger_put(&c->ledger, m->rank, &c->id[k], 1, c->vector);
	}
	if (c->fault.code)
		return true;
	err_set(why, -ERR_BUG, "it failed where this machine does not: %s", f.text);
	return false;
}

static bool take_bye(const uint8_t *body, size_t len, struct err *why)
{
	struct wire_bye b;

	if (!wire_get_bye(body, len, &b))
		return said_wrong(why, "an end");
	err_set(why, b.code < 0 && b.code > -ERR_COUNT ? b.code : -ERR_UNREACHABLE, "%s", b.text[0] ? b.text : "it went");
	return false;
}

static bool take_about(struct coordinator *c, struct worker *m, const uint8_t *body, size_t len, struct err *why)
{
	if (m->state != WORKER_PROVED || !wire_get_about(body, len, &m->about) || !m->about.threads)
		return said_wrong(why, "a description");
	if (m->external)
		snprintf(m->name, sizeof m->name, "%s[%u]", m->about.host, m->rank);
	if (m->numerical != NUMERICAL_VERSION) {
		err_set(why, -ERR_PROTOCOL, "it is qcnn %.40s with numerical version %u, and this is qcnn %s with numerical version %d, which "
			"gives other bits (--remote-path names another program there, --push sends this one)", m->about.version,
			(unsigned)m->numerical, PACKAGE_VERSION, NUMERICAL_VERSION);
		return false;
	}
	if (strcmp(m->about.version, PACKAGE_VERSION))
		coordinator_say(c, NULL, "%s is qcnn %.40s, and this is qcnn %s; both have numerical version %d, so the bits are the same",
			m->name, m->about.version, PACKAGE_VERSION, NUMERICAL_VERSION);
	worker_set_state(m, WORKER_DESCRIBED);
	return !c->started || worker_restart_described(c, m, why);
}

static bool take_ready(struct coordinator *c, struct worker *m, const uint8_t *body, size_t len, struct err *why)
{
	if (m->state != WORKER_PREPARING || !wire_get_ready(body, len, &m->ready) || !m->ready.nthread)
		return said_wrong(why, "a readiness");
	worker_set_state(m, WORKER_READY);
	return !c->started || worker_restart_ready(c, m, why);
}

static bool take_message(struct coordinator *c, struct worker *m, const uint8_t *body, size_t len, struct err *why)
{
	struct wire_heartbeat heartbeat;

	switch (body[0]) {
	case WIRE_RESULT:
		return m->state == WORKER_READY || m->npending ? take_result(c, m, body, len, why) : said_wrong(why, "a result");
	case WIRE_HEARTBEAT:
		return wire_get_heartbeat(body, len, &heartbeat) || said_wrong(why, "a sign of life");
	case WIRE_FAILED:
		return m->state == WORKER_READY || m->npending ? take_failed(c, m, body, len, why) : said_wrong(why, "a failure");
	case WIRE_ABOUT:
		return take_about(c, m, body, len, why);
	case WIRE_READY:
		return take_ready(c, m, body, len, why);
	case WIRE_BYE:
		return take_bye(body, len, why);
	}
	err_set(why, -ERR_PROTOCOL, "it sent a message of type %u (%s)", body[0], wire_name(body[0]));
	return false;
}

void worker_read(struct coordinator *c, struct worker *m, double now)
{
	struct err why = { 0, "" }, closed = { 0, "" };
	const uint8_t *body;
	size_t len;
	uint64_t before = m->peer.nread;
	int code = peer_fill(&m->peer, &closed), n;

	if (m->peer.nread > before)
		m->heard = c->heard = now;   /* a part of a long message is a sign of life as well */

	/* What came before the end counts. */
	while ((n = peer_next(&m->peer, &body, &len, &why)) > 0) {
		if (m->suspected)
			coordinator_say(c, NULL, "%s is back", m->name);
		m->suspected = false;
		if (!take_message(c, m, body, len, &why)) {
			worker_lose(c, m, &why);
			return;
		}
	}
	if (n < 0) {
		worker_lose(c, m, &why);
		return;
	}
	if (!code && m->peer.fault)          /* it takes nothing more, but did not end */
		code = err_set(&closed, -ERR_UNREACHABLE, "the connection broke: %s", strerror(m->peer.fault));
	if (code && m->peer.fault == ETIMEDOUT)
		worker_lose(c, m, &closed);  /* the way there is cut: its process tells nothing */
	else if (code)
		worker_leave(c, m, &closed, now);
}
