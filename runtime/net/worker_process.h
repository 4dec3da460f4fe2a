/* SPDX-License-Identifier: Apache-2.0
 * The worker's side: from the first frame on its standard input to the coordinator's end.
 *
 * The calling thread computes; a second one sends signs of life and holds the control pipe: when the
 * standard input or the connection ends, the process does. */
#ifndef QCNN_WORKER_PROCESS_H
#define QCNN_WORKER_PROCESS_H

#include "runtime/net/protocol/protocol.h"

struct worker_ops {
	/* Make ready for a job (with its part of the threads); what a fixed test of it gives. */
	int (*open)(void *ctx, const struct wire_job *job, struct wire_ready *out, struct err *e);
	/* Keep rows of data; NULL: none are. */
	int (*data)(void *ctx, const struct wire_data *d, struct err *e);
	int (*weights)(void *ctx, const double *weight, uint32_t n, struct err *e);
	/* Do units: *value (nsample, nout) and *vector (nvector; empty without a gradient) are the
	 * callee's until the next call. */
	int (*work)(void *ctx, const struct wire_work *w, const double **value, uint32_t *nout,
		const struct fixed **vector, uint32_t *nvector, struct err *e);
};

/* Work until the coordinator says it is over: 0, or what went wrong.  about: but pid. */
int worker_process_run(int control, const struct wire_about *about, const struct worker_ops *ops, void *ctx, struct err *e);

/* Where others start the workers: how to find the coordinator. */
struct worker_finder {
	/* Key, rank and numeric addresses, as far as they are known now.  -ERR_UNREACHABLE: not yet; other codes end it. */
	int (*find)(void *ctx, struct wire_boot *out, struct err *e);
	/* Both sides have proved the key: 0, or a code with which the coordinator is told that this is no worker of its. */
	int (*found)(void *ctx, struct err *e);
	void *ctx;
	double seconds;              /* after which it is given up */
};
/* As worker_process_run, but the coordinator is looked for again and again, at growing distances, and the connection alone is
 * the control pipe. */
int worker_process_join(const struct worker_finder *f, const struct wire_about *about, const struct worker_ops *ops, void *ctx, struct err *e);

#endif
