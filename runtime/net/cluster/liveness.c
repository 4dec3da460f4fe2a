/* SPDX-License-Identifier: Apache-2.0
 * Whether workers are alive: heartbeats, silence, and the ends of their processes. */
#include "runtime/net/cluster/cluster_state.h"

#include <string.h>
#include <sys/wait.h>

#define AGAIN_S 0.5                      /* before a dropped start is tried again */

/* ---- the end of a process ---- */

/* The code of a worker's exit status, which ssh and srun pass on. */
static int code_of_status(int status)
{
	if (WIFEXITED(status))
		for (int code = 1; code < ERR_COUNT; code++)
			if (err_exit_status(-code) == WEXITSTATUS(status) && (code == ERR_PROTOCOL || code == ERR_AUTH || code == ERR_CONFIG))
				return -code;
	return -ERR_UNREACHABLE;
}

static void why_ended(const struct worker *w, struct err *why)
{
	const char *hint = w->place.launcher == LAUNCHER_LOCAL ? launch_hint_local(&w->process)
							       : launch_hint(&w->process);
	buf_auto b = BUF_INIT;

	buf_printf(&b, "its %s ended with ",
		w->place.launcher == LAUNCHER_LOCAL          ? "process"
			: w->place.launcher == LAUNCHER_EXEC ? "launcher"
							     : launch_row(w->place.launcher)->name);
	launch_ending(&w->process, &b);
	if (w->process.last[0])
		buf_printf(&b, "; its last output: %s", w->process.last);
	if (hint)
		buf_printf(&b, " (%s)", hint);
	err_set(why, code_of_status(w->process.status), "%s", b.data);
}

/* Whether sshd dropped the connection, as it does when many come at once. */
static bool was_dropped(const struct worker *w)
{
	return w->nstart < STARTS_MAX && w->place.launcher == LAUNCHER_SSH && w->state == WORKER_STARTED
		&& (strstr(w->process.last, "Connection closed by") || strstr(w->process.last, "Connection reset by")
			|| strstr(w->process.last, "kex_exchange_identification"));
}

static void watch_process(struct coordinator *c, struct worker *w, double now)
{
	struct err why;

	if (!launch_reap(&w->process) || w->process.errors >= 0)
		return;                      /* what it printed last is read first */
	if (w->peer.fd >= 0)
		worker_read(c, w, now); /* and what it sent last, which may be why */
	if (w->state == WORKER_WAITING || w->state == WORKER_LOST)
		return;
	if (was_dropped(w)) {
		launch_release(&w->process);
		worker_set_state(w, WORKER_WAITING);
		w->start_at = now + AGAIN_S;
		c->liveness.starts_at_once -= c->liveness.starts_at_once > 2;
		return;
	}
	why_ended(w, &why);
	worker_lose(c, w, &why);
}

static void watch_silence(struct coordinator *c, struct worker *w, double now)
{
	double silent = now - w->heard;
	struct err why;

	if (silent > c->o.dead_s) {
		err_set(&why, -ERR_UNREACHABLE, "it has sent nothing for %.0f s", silent);
		worker_cut(c, w, &why);
	} else if (silent > c->o.suspect_s && !w->suspected) {
		uint32_t nopen = scheduler_suspend(c->scheduler, w->rank);

		w->suspected = true;
		if (!c->liveness.started
			|| w->follows) /* it has no units; and a group waits for its ranks */
			return;
		coordinator_say(c, NULL,
			"%s has sent nothing for %.0f s; others compute its %u work unit%s",
			w->name, silent, nopen, nopen == 1 ? "" : "s");
	}
}

/* ---- heartbeats and lines ---- */

void worker_heartbeat(struct coordinator *c, struct worker *w, double now)
{
	struct wire_heartbeat heartbeat = { 0 };

	if (now - w->heartbeat_at < c->o.heartbeat_s)
		return;
	w->heartbeat_at = now;
	buf_clear(&c->body);
	wire_put_heartbeat(&c->body, &heartbeat);
	peer_put(&w->peer, &c->body);
	worker_flush(w);
}

struct reporter { struct coordinator *c; struct worker *w; };

static void report_line(void *ctx, const char *line)
{
	struct reporter *t = ctx;

	coordinator_say(t->c, t->w->name, "%s", line);
}

void worker_relay(struct coordinator *c, struct worker *w, double now)
{
	struct reporter t = { c, w };
	off_t sent = w->process.sent;

	launch_relay(&w->process, report_line, &t);
	if (w->process.sent > sent)
		w->heard = now;              /* it receives the program */
	if (w->process.sent > sent && w->process.sent == launch_program_bytes())
		coordinator_say(c, NULL, "sent this program to %s, %.1f MB", w->name,
			(double)w->process.sent / 1e6);
	if (w->process.wants_boot && c->listeners.open)
		worker_send_boot(c, w);
	if (w->process.begun && w->state == WORKER_STARTED)
		pending_tunnelled(c, w, now);
}

void workers_watch(struct coordinator *c, double now)
{
	if (!c->liveness.first.code || c->liveness.started)
		workers_start(c, now);
	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *w = &c->worker[i];

		worker_relay(c, w, now);
		if (w->state != WORKER_WAITING)
			watch_process(c, w, now);
		if (w->state == WORKER_LEAVING && now > w->leaves_at)
			worker_lose(c, w, &w->left);
		if (w->peer.fault)
			worker_read(c, w, now);
		if (w->peer.fd >= 0 && !group_keeps_quiet(c, w))
			worker_heartbeat(c, w, now);
		if (w->peer.fd >= 0)
			watch_silence(c, w, now);
	}
	workers_restart_watch(c, now);
	pending_watch(c, now);
}
