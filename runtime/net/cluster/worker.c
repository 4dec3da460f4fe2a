/* SPDX-License-Identifier: Apache-2.0
 * The start of a worker, and its loss. */
#include "runtime/net/cluster/cluster_state.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/system/clock.h"

#define REASON_S 3.0                     /* longest time from the end of a connection to that of its process */

void coordinator_say(struct coordinator *c, const char *worker, const char *fmt, ...)
{
	buf_auto b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	if (c->o.say)
		c->o.say(c->o.ctx, worker, b.data);
}

/* ---- loss ---- */

static void worker_disconnect(struct coordinator *c, struct worker *w)
{
	pending_forget(c, w);
	worker_profile_lost(c, w);
	w->ended = worker_traffic(w);
	peer_close(&w->peer);
}

void worker_lose(struct coordinator *c, struct worker *w, const struct err *why)
{
	double now = clock_seconds();
	char again[64] = "", units[64] = "";

	if (w->state == WORKER_LOST)
		return;
	worker_set_state(w, WORKER_LOST);
	w->missed = worker_may_miss(c, w, why);
	uint32_t nopen = w->nlost + scheduler_lose(c->scheduler, w->rank);
	worker_disconnect(c, w);
	launch_let_go(&w->process, true);
	if (w->missed)
		w->left = *why;
	else if (!c->liveness.first.code)
		err_set(&c->liveness.first, why->code, "%s: %s", w->name, why->text);
	if (worker_restart_later(c, w, why, now) && w->external)
		snprintf(again, sizeof again, "; it may come again");
	else if (w->state == WORKER_WAITING)
		snprintf(again, sizeof again, "; it is started again in %.3g s", w->start_at - now);
	if (nopen)
		snprintf(units, sizeof units, "; %u work unit%s to others", nopen, nopen == 1 ? " goes" : "s go");
	if (c->liveness.started)             /* else coordinator_new reports it */
		coordinator_say(c, NULL, "%s is lost: %s%s%s", w->name, why->text, units, again);
	c->liveness.watch_at = 0;            /* it may have been the last */
}

void worker_cut(struct coordinator *c, struct worker *w, const struct err *why)
{
	worker_lose(c, w, why);
	for (unsigned i = 0; i < c->nworker && w->missed && w->place.launcher != LAUNCHER_LOCAL; i++) {
		struct worker *other = &c->worker[i];

		if (other->state == WORKER_STARTED && !strcmp(other->place.host, w->place.host))
			worker_lose(c, other, why);
	}
}

void worker_leave(struct coordinator *c, struct worker *w, const struct err *why, double now)
{
	if (!w->process.pid && !w->process.ended) {
		worker_lose(c, w, why);
		return;
	}
	w->nlost += scheduler_lose(c->scheduler, w->rank);
	worker_disconnect(c, w);
	worker_set_state(w, WORKER_LEAVING);
	w->left = *why;
	w->leaves_at = now + REASON_S;
}

/* ---- start ---- */

/* The first frame on a worker's standard input, in memory for keys: it does not grow, and is not released. */
static struct buf first_frame(struct coordinator *c, unsigned rank)
{
	struct wire_boot *boot = &c->secrets->boot;
	struct buf body = { c->secrets->body, 0, sizeof c->secrets->body }, frame = { c->secrets->frame, 0, sizeof c->secrets->frame };

	boot->version = WIRE_VERSION;
	boot->rank = rank;
	boot->transport = c->listeners.n ? c->o.transport : TRANSPORT_STDIO;
	boot->naddress = boot->transport == TRANSPORT_STDIO ? 0 : c->listeners.n;
	memcpy(boot->key, c->secrets->key, sizeof boot->key);
	memcpy(boot->job, c->job_id, sizeof boot->job);
	for (unsigned i = 0; i < boot->naddress; i++)
		memcpy(boot->address[i], c->listeners.at[i].address, sizeof boot->address[i]);
	wire_put_boot(&body, boot);
	buf_u32(&frame, (uint32_t)body.len);
	buf_add(&frame, body.data, body.len);
	return frame;
}

void worker_send_boot(struct coordinator *c, struct worker *w)
{
	struct buf frame = first_frame(c, w->rank);

	launch_boot(&w->process, frame.data, frame.len);
	crypto_wipe(frame.data, frame.len);
	crypto_forget();
}

static void worker_launch(struct coordinator *c, struct worker *w, double now)
{
	struct err why;

	launch_release(&w->process);         /* of the one before it, which has ended */
	w->nstart++;
	w->heard = now;
	if (launch_start(&w->place, &w->process, &why)) {
		worker_lose(c, w, &why);
		return;
	}
	worker_set_state(w, WORKER_STARTED);
	if (w->process.wants_boot && c->listeners.open)
		worker_send_boot(c, w);
}

void workers_start(struct coordinator *c, double now)
{
	unsigned nstarting = 0;

	for (unsigned i = 0; i < c->nworker; i++)
		nstarting += c->worker[i].state == WORKER_STARTED && !c->worker[i].external && c->worker[i].place.launcher != LAUNCHER_LOCAL;
	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *w = &c->worker[i];
		bool local = w->place.launcher == LAUNCHER_LOCAL;

		if (w->external && w->state == WORKER_WAITING)
			worker_set_state(w, WORKER_STARTED);
		if (w->state == WORKER_WAITING && w->start_at <= now && (local || nstarting < c->liveness.starts_at_once)
				&& (!w->process.pid || launch_reap(&w->process))) {
			worker_launch(c, w, now);
			nstarting += !local;
		}
	}
}

void worker_flush(struct worker *w)
{
	if (w->peer.fd >= 0 && peer_waits(&w->peer))
		peer_flush(&w->peer, NULL);
}
