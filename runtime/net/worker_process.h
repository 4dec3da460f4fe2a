/* SPDX-License-Identifier: Apache-2.0
 * The process of a worker, from the first frame on its standard input until the coordinator ends the job.
 *
 * The calling thread computes.  A second one sends heartbeats and watches the control pipe: when the standard input or the
 * connection ends, the process exits. */
#pragma once

#include "runtime/net/protocol/protocol.h"

/* Gives this process' address as a rank, a text, and waits for those of all ranks: nbyte bytes. */
typedef int (*rank_exchange_fn)(void *ctx, const char *own, void *all, size_t nbyte, struct err *e);

struct worker_ops {
	/* Prepare a job, with this worker's share of the threads; *out: the result of the fixed test. */
	int (*open)(void *ctx, const struct wire_job *job, struct wire_ready *out, struct err *e);
	/* Keep rows of data for later units; NULL: this worker keeps none. */
	int (*data)(void *ctx, const struct wire_data *d, struct err *e);
	int (*weights)(void *ctx, const struct wire_weights *m, struct err *e);
	/* Compute units: *value (nsample, nout) and *vector (nvector; empty without a gradient) are the
	 * callee's until the next call. */
	int (*work)(void *ctx, const struct wire_work *w, const double **value, uint32_t *nout,
		const struct fixed **vector, uint32_t *nvector, struct err *e);
	/* Be a rank of a group, of which start[0..n) says what was chosen for it: until the leader ends it, or, as its leader, for all
	 * later jobs. *begun: the group exists, and its leader reports what fails. */
	int (*join_group)(void *group, const void *start, size_t n, rank_exchange_fn exchange,
		void *ctx, bool *begun, struct err *e);
	void *group;
};

/* Work until the coordinator ends the job: 0, or an error.  about: all but pid. */
int worker_process_run(int control, const struct wire_about *about, const struct worker_ops *ops, void *ctx, struct err *e);

/* How an external worker finds the coordinator. */
struct worker_finder {
	/* Key, rank and numeric addresses as they are known now.  -ERR_UNREACHABLE: try again later; other codes: give up. */
	int (*find)(void *ctx, struct wire_boot *out, struct err *e);
	/* Both sides have proved the key: 0, or a code that is sent to the coordinator, since this process is not its worker. */
	int (*found)(void *ctx, struct err *e);
	void *ctx;
	double seconds;              /* after which the search ends */
};
/* As worker_process_run, but the coordinator is searched for at growing intervals, and there is no control pipe: the
 * process exits when the connection ends. */
int worker_process_join(const struct worker_finder *f, const struct wire_about *about,
	const struct worker_ops *ops, void *ctx, struct err *e);
