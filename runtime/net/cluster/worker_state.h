/* SPDX-License-Identifier: Apache-2.0
 * The states of a worker as the coordinator sees it, and the one function that changes them. */
#pragma once

/* A worker advances from WAITING to READY in this order; it can be lost in each state. */
enum worker_state {
	WORKER_WAITING = 0,          /* not started yet, or waiting to be started again */
	WORKER_STARTED,              /* its process runs, or (an external worker) is expected to connect */
	WORKER_PROVED,               /* connected, and has proved the job's key */
	WORKER_DESCRIBED,            /* has described its machine */
	WORKER_PREPARING,            /* has received the job */
	WORKER_READY,                /* takes work */
	WORKER_LEAVING,              /* its connection has ended; the end of its process will give the reason */
	WORKER_LOST,
	WORKER_STATE_COUNT
};

struct worker;

const char *worker_state_name(enum worker_state s);
/* The only assignment of w->state.  A transition that is not in the table is a bug and aborts. */
void worker_set_state(struct worker *w, enum worker_state to);
