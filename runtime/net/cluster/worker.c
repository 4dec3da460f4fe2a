/* SPDX-License-Identifier: Apache-2.0
 * A worker's start, its watch, and its way out (lost). */
#include "config.h"
#include "runtime/net/cluster/worker.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"

#define REASON_S 3.0                     /* from the end of a connection to that of its process: a busy machine takes its time */
#define AGAIN_S 0.5                      /* before a dropped start is tried again */

void coordinator_say(struct coordinator *c, const char *worker, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	if (c->o.say)
		c->o.say(c->o.ctx, worker, b.data);
	buf_release(&b);
}

/* ---- out ---- */

static void worker_disconnect(struct coordinator *c, struct worker *m)
{
	pending_all_forget(c, m);
	m->nsent += m->peer.nwritten;
	peer_close(&m->peer);
	shard_forget(m);
}

void worker_lose(struct coordinator *c, struct worker *m, const struct err *why)
{
	double now = clock_seconds();
	char again[64] = "", units[64] = "";
	uint32_t nopen;

	if (m->state == WORKER_LOST)
		return;
	worker_set_state(m, WORKER_LOST);
	nopen = m->nlost + ledger_lose(&c->ledger, m->rank);
	worker_disconnect(c, m);
	launch_let_go(&m->process, true);
	if (!c->first.code)
		err_set(&c->first, why->code, "%s: %s", m->name, why->text);
	if (worker_restart_later(c, m, why, now) && m->external)
		snprintf(again, sizeof again, "; it may come again");
	else if (m->state == WORKER_WAITING)
		snprintf(again, sizeof again, "; it is started again in %.3g s", m->start_at - now);
	if (nopen)
		snprintf(units, sizeof units, "; %u work unit%s to others", nopen, nopen == 1 ? " goes" : "s go");
	if (c->started)                      /* else who waits for the start tells */
		coordinator_say(c, NULL, "%s is lost: %s%s%s", m->name, why->text, units, again);
	c->watch_at = 0;                     /* was it the last? */
}

void worker_leave(struct coordinator *c, struct worker *m, const struct err *why, double now)
{
	if (!m->process.pid && !m->process.ended) {
		worker_lose(c, m, why);
		return;
	}
	m->nlost += ledger_lose(&c->ledger, m->rank);
	worker_disconnect(c, m);
	worker_set_state(m, WORKER_LEAVING);
	m->left = *why;
	m->leaves_at = now + REASON_S;
}

/* Exit statuses of a worker, which ssh and srun pass on. */
static int code_of_status(int status)
{
	if (WIFEXITED(status))
		for (int code = 1; code < ERR_COUNT; code++)
			if (err_exit_status(-code) == WEXITSTATUS(status) && (code == ERR_PROTOCOL || code == ERR_AUTH || code == ERR_CONFIG))
				return -code;
	return -ERR_UNREACHABLE;
}

static void why_ended(const struct worker *m, struct err *why)
{
	const char *hint = m->place.launcher == LAUNCHER_LOCAL ? NULL : launch_hint(&m->process);
	struct buf b = BUF_INIT;

	buf_printf(&b, "its %s ended with ", m->place.launcher == LAUNCHER_LOCAL ? "process" : m->place.launcher == LAUNCHER_EXEC
		? "agent" : launch_row(m->place.launcher)->name);
	launch_ending(&m->process, &b);
	if (m->process.last[0])
		buf_printf(&b, "; the last it said: %s", m->process.last);
	if (hint)
		buf_printf(&b, " (%s)", hint);
	err_set(why, code_of_status(m->process.status), "%s", b.data);
	buf_release(&b);
}

/* sshd drops connections when many come at once. */
static bool was_dropped(const struct worker *m)
{
	return m->nstart < STARTS_MAX && m->place.launcher == LAUNCHER_SSH && m->state == WORKER_STARTED
		&& (strstr(m->process.last, "Connection closed by") || strstr(m->process.last, "Connection reset by")
			|| strstr(m->process.last, "kex_exchange_identification"));
}

static void watch_process(struct coordinator *c, struct worker *m, double now)
{
	struct err why;

	if (!launch_reap(&m->process) || m->process.errors >= 0)
		return;                      /* its last words first */
	if (was_dropped(m)) {
		launch_release(&m->process);
		worker_set_state(m, WORKER_WAITING);
		m->start_at = now + AGAIN_S;
		c->starts_at_once -= c->starts_at_once > 2;
		return;
	}
	why_ended(m, &why);
	worker_lose(c, m, &why);
}

static void watch_silence(struct coordinator *c, struct worker *m, double now)
{
	double silent = now - m->heard;
	struct err why;

	if (silent > c->o.dead_s) {
		err_set(&why, -ERR_UNREACHABLE, "no sign of it for %.0f s", silent);
		worker_lose(c, m, &why);
	} else if (silent > c->o.suspect_s && !m->suspected) {
		uint32_t nopen = ledger_lose(&c->ledger, m->rank);

		m->suspected = true;
		coordinator_say(c, NULL, "no sign of %s for %.0f s; %u work unit%s to others meanwhile", m->name, silent, nopen,
			nopen == 1 ? " goes" : "s go");
	}
}

/* ---- in ---- */

/* What a worker's standard input begins with, in memory for keys: it does not grow, and is not released. */
static struct buf first_frame(struct coordinator *c, unsigned rank)
{
	struct wire_boot *boot = &c->secrets->boot;
	struct buf body = { c->secrets->body, 0, sizeof c->secrets->body }, frame = { c->secrets->frame, 0, sizeof c->secrets->frame };

	boot->version = WIRE_VERSION;
	boot->rank = rank;
	boot->transport = c->nlistener ? c->o.transport : TRANSPORT_STDIO;
	boot->naddress = boot->transport == TRANSPORT_STDIO ? 0 : c->nlistener;
	memcpy(boot->key, c->secrets->key, sizeof boot->key);
	memcpy(boot->job, c->job_id, sizeof boot->job);
	for (unsigned i = 0; i < boot->naddress; i++)
		memcpy(boot->address[i], c->listener[i].address, sizeof boot->address[i]);
	wire_put_boot(&body, boot);
	buf_u32(&frame, (uint32_t)body.len);
	buf_add(&frame, body.data, body.len);
	return frame;
}

static void send_boot(struct coordinator *c, struct worker *m)
{
	struct buf frame = first_frame(c, m->rank);

	launch_boot(&m->process, frame.data, frame.len);
	crypto_wipe(frame.data, frame.len);
	crypto_forget();
}

void worker_launch(struct coordinator *c, struct worker *m, double now)
{
	struct err why;

	launch_release(&m->process);         /* of the one before it, which has ended */
	m->nstart++;
	m->heard = now;
	if (launch_start(&m->place, &m->process, &why)) {
		worker_lose(c, m, &why);
		return;
	}
	worker_set_state(m, WORKER_STARTED);
	if (m->process.wants_boot && c->listening)
		send_boot(c, m);
}

void workers_start(struct coordinator *c, double now)
{
	unsigned nstarting = 0;

	for (unsigned i = 0; i < c->nworker; i++)
		nstarting += c->worker[i].state == WORKER_STARTED && !c->worker[i].external && c->worker[i].place.launcher != LAUNCHER_LOCAL;
	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *m = &c->worker[i];
		bool local = m->place.launcher == LAUNCHER_LOCAL;

		if (m->external && m->state == WORKER_WAITING)
			worker_set_state(m, WORKER_STARTED);
		if (m->state == WORKER_WAITING && m->start_at <= now && (local || nstarting < c->starts_at_once)
				&& (!m->process.pid || launch_reap(&m->process))) {
			worker_launch(c, m, now);
			nstarting += !local;
		}
	}
}

void worker_flush(struct worker *m)
{
	if (m->peer.fd >= 0 && peer_waits(&m->peer))
		peer_flush(&m->peer, NULL);
}

void worker_heartbeat(struct coordinator *c, struct worker *m, double now)
{
	struct wire_heartbeat heartbeat = { 0 };

	if (now - m->heartbeat_at < c->o.heartbeat_s)
		return;
	m->heartbeat_at = now;
	buf_clear(&c->body);
	wire_put_heartbeat(&c->body, &heartbeat);
	peer_put(&m->peer, &c->body);
	worker_flush(m);
}

struct teller { struct coordinator *c; struct worker *m; };

static void tell(void *ctx, const char *line)
{
	struct teller *t = ctx;

	coordinator_say(t->c, t->m->name, "%s", line);
}

void worker_relay(struct coordinator *c, struct worker *m, double now)
{
	struct teller t = { c, m };
	off_t sent = m->process.sent;

	launch_relay(&m->process, tell, &t);
	if (m->process.sent > sent)
		m->heard = now;              /* it takes the program */
	if (m->process.sent > sent && m->process.sent == launch_program_bytes())
		coordinator_say(c, NULL, "%s got this program, %.1f MB", m->name, (double)m->process.sent / 1e6);
	if (m->process.wants_boot && c->listening)
		send_boot(c, m);
	if (m->process.begun && m->state == WORKER_STARTED)
		pending_tunnelled(c, m, now);
}

void workers_watch(struct coordinator *c, double now)
{
	if (!c->first.code || c->started)
		workers_start(c, now);
	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *m = &c->worker[i];

		worker_relay(c, m, now);
		if (m->state != WORKER_WAITING)
			watch_process(c, m, now);
		if (m->state == WORKER_LEAVING && now > m->leaves_at)
			worker_lose(c, m, &m->left);
		if (m->peer.fault)
			worker_read(c, m, now);
		if (m->peer.fd >= 0)
			worker_heartbeat(c, m, now);
		if (m->peer.fd >= 0)
			watch_silence(c, m, now);
	}
	workers_restart_watch(c, now);
	pending_all_watch(c, now);
}
