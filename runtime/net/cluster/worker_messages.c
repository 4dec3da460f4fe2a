/* SPDX-License-Identifier: Apache-2.0
 * The messages of a worker: what concerns its units is passed to the scheduler. */
#include "runtime/net/cluster/cluster_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/numerical_version.h"

static bool malformed(struct err *why, const char *what)
{
	err_set(why, -ERR_PROTOCOL, "it sent a malformed %s", what);
	return false;
}

static bool take_result(struct coordinator *c, struct worker *w, const uint8_t *body, size_t len, double now, struct err *why)
{
	int code = scheduler_result(c->scheduler, w->rank, body, len, now, why);

	if (code > 0)
		w->nvain = 0;
	if (code >= 0)
		worker_profile_idle(c, w);
	return code >= 0;
}

static bool take_bye(const uint8_t *body, size_t len, struct err *why)
{
	struct wire_bye b;

	if (!wire_get_bye(body, len, &b))
		return malformed(why, "BYE message");
	err_set(why, b.code < 0 && b.code > -ERR_COUNT ? b.code : -ERR_UNREACHABLE, "%s", b.text[0] ? b.text : "it ended");
	return false;
}

static bool take_about(struct coordinator *c, struct worker *w, const uint8_t *body, size_t len, struct err *why)
{
	if (w->state != WORKER_PROVED || !wire_get_about(body, len, &w->about) || !w->about.threads)
		return malformed(why, "ABOUT message");
	if (w->external)
		snprintf(w->name, sizeof w->name, "%s[%u]", w->about.host, c->first_rank + w->rank);
	if (w->numerical != NUMERICAL_VERSION) {
		err_set(why, -ERR_PROTOCOL, "it is qcnn %.40s with numerical version %u, and this is qcnn %s with numerical version %d, which "
			"gives other bits (--remote-path names another program there, --push sends this one)", w->about.version,
			(unsigned)w->numerical, PACKAGE_VERSION, NUMERICAL_VERSION);
		return false;
	}
	if (strcmp(w->about.version, PACKAGE_VERSION))
		coordinator_say(c, NULL, "%s is qcnn %.40s, and this is qcnn %s; both have numerical version %d, so the bits are the same",
			w->name, w->about.version, PACKAGE_VERSION, NUMERICAL_VERSION);
	worker_set_state(w, WORKER_DESCRIBED);
	if (!c->liveness.started)
		return true;
	if (!worker_has_kernels(&w->about, c->job.message.kernels)) {
		err_set(why, -ERR_PROTOCOL, "it lacks the instruction set that the others use");
		return false;
	}
	job_send(c, w);
	return true;
}

static bool take_ready(struct coordinator *c, struct worker *w, const uint8_t *body, size_t len, struct err *why)
{
	const bool again = w->ready.nthread > 0;

	if (w->state != WORKER_PREPARING || !wire_get_ready(body, len, &w->ready) || !w->ready.nthread)
		return malformed(why, "READY message");
	worker_set_state(w, WORKER_READY);
	scheduler_join(c->scheduler, w->rank, &(struct scheduler_worker){ &w->peer, w->ready.nthread, w->about.memory, w->share });
	if (c->liveness.started && !job_same_answer(c, w, why))
		return false;
	if (c->liveness.started)
		coordinator_say(c, NULL, "%s has %s", w->name, again ? "been restarted" : "joined");
	worker_profile_ready(c, w);
	return true;
}

static bool take_message(struct coordinator *c, struct worker *w, const uint8_t *body, size_t len, double now, struct err *why)
{
	struct wire_heartbeat heartbeat;

	switch (body[0]) {
	case WIRE_RESULT: return take_result(c, w, body, len, now, why);
	case WIRE_HEARTBEAT:
		return wire_get_heartbeat(body, len, &heartbeat)
			|| malformed(why, "HEARTBEAT message");
	case WIRE_FAILED: return !scheduler_failed(c->scheduler, w->rank, body, len, now, why);
	case WIRE_ABOUT: return take_about(c, w, body, len, why);
	case WIRE_READY: return take_ready(c, w, body, len, why);
	case WIRE_PROFILED:
		return worker_profile_part(c, w, body, len) || malformed(why, "PROFILED message");
	case WIRE_CLOCK:
		return worker_profile_clock(c, w, body, len) || malformed(why, "CLOCK message");
	case WIRE_GROUP:
		return group_take_address(c, w, body, len) || malformed(why, "GROUP message");
	case WIRE_BYE: return take_bye(body, len, why);
	}
	err_set(why, -ERR_PROTOCOL, "it sent a message of type %u (%s)", body[0], wire_name(body[0]));
	return false;
}

void worker_read(struct coordinator *c, struct worker *w, double now)
{
	struct err why = { 0, "" }, closed = { 0, "" };
	const uint8_t *body;
	size_t len;
	uint64_t before = w->peer.nread;
	int64_t began;
	int code = peer_fill(&w->peer, &closed), n;

	if (w->peer.nread > before)
		w->heard = c->liveness.heard = now;   /* a part of a long message is a sign of life as well */

	/* Messages that came before the end of the connection count. */
	while (began = recorder_begin(), (n = peer_next(&w->peer, &body, &len, &why)) > 0) {
		int type = body[0];

		if (w->suspected) {
			coordinator_say(c, NULL, "%s sends messages again", w->name);
			scheduler_resume(c->scheduler, w->rank);
		}
		w->suspected = false;
		if (!take_message(c, w, body, len, now, &why)) {
			worker_lose(c, w, &why);
			return;
		}
		if (type == WIRE_RESULT && c->loop.stepping)
			recorder_event(EVENT_RECEIVE, peer_received_number(&w->peer),
				(uint16_t)(w->rank + 1), began);
	}
	if (n < 0) {
		worker_lose(c, w, &why);
		return;
	}
	if (!code && w->peer.fault)          /* sending failed, but reading did not end */
		code = err_set(&closed, -ERR_UNREACHABLE, "the connection broke: %s", strerror(w->peer.fault));
	if (code && w->peer.fault == ETIMEDOUT)
		worker_cut(c, w, &closed); /* its process gives no reason */
	else if (code)
		worker_leave(c, w, &closed, now);
}
