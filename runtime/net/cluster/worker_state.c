/* SPDX-License-Identifier: Apache-2.0
 * The transition table of a worker. */
#include "runtime/net/cluster/worker_state.h"

#include "runtime/net/cluster/cluster_state.h"

static const char *const name[WORKER_STATE_COUNT] = {
	[WORKER_WAITING] = "waiting", [WORKER_STARTED] = "started", [WORKER_PROVED] = "proved", [WORKER_DESCRIBED] = "described",
	[WORKER_PREPARING] = "preparing", [WORKER_READY] = "ready", [WORKER_LEAVING] = "leaving", [WORKER_LOST] = "lost",
};

/* From a state, and the event, to a state. */
static const bool allowed[WORKER_STATE_COUNT][WORKER_STATE_COUNT] = {
	[WORKER_WAITING] = {
		[WORKER_STARTED] = true,         /* its process was started */
		[WORKER_LOST] = true,            /* it could not be */
	},
	[WORKER_STARTED] = {
		[WORKER_WAITING] = true,         /* sshd dropped the connection: it is started again */
		[WORKER_PROVED] = true,          /* the handshake succeeded */
		[WORKER_LEAVING] = true,         /* the handshake over its standard output failed */
		[WORKER_LOST] = true,
	},
	[WORKER_PROVED] = {
		[WORKER_DESCRIBED] = true,       /* ABOUT */
		[WORKER_LEAVING] = true,         /* here and below: its connection ended */
		[WORKER_LOST] = true,            /* here and below: it was silent, broke the protocol, or its process ended */
	},
	[WORKER_DESCRIBED] = {
		[WORKER_PREPARING] = true,       /* JOB was sent */
		[WORKER_LEAVING] = true,
		[WORKER_LOST] = true,
	},
	[WORKER_PREPARING] = {
		[WORKER_READY] = true,           /* READY */
		[WORKER_LEAVING] = true,
		[WORKER_LOST] = true,
	},
	[WORKER_READY] = {
		[WORKER_DESCRIBED] = true,       /* another job begins */
		[WORKER_LEAVING] = true,
		[WORKER_LOST] = true,
	},
	[WORKER_LEAVING] = {
		[WORKER_LOST] = true,            /* its process ended, or gave no reason in time */
	},
	[WORKER_LOST] = {
		[WORKER_WAITING] = true,         /* it is to be started again */
		[WORKER_STARTED] = true,         /* an external worker may connect again */
	},
};

const char *worker_state_name(enum worker_state s) { return name[s]; }

void worker_set_state(struct worker *w, enum worker_state to)
{
	if (!allowed[w->state][to])
		BUG("a worker that is %s cannot become %s", name[w->state], name[to]);
	w->state = to;
}
