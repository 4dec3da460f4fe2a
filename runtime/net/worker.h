/* SPDX-License-Identifier: Apache-2.0
 * The worker's side: from the first frame on its standard input to the coordinator's end.
 *
 * The calling thread computes; a second one sends signs of life and holds the leash: when the
 * standard input or the connection ends, the process does. */
#ifndef QCNN_WORKER_H
#define QCNN_WORKER_H

#include "runtime/net/wire.h"

struct worker_ops {
	/* Make ready for a job (with its part of the threads); what a fixed test of it gives. */
	int (*open)(void *ctx, const struct wire_job *job, struct wire_ready *out, struct err *e);
	int (*weights)(void *ctx, const double *weight, uint32_t n, struct err *e);
	/* Do units: *value (nsample, nout) and *vector (nvector; empty without a gradient) are the
	 * callee's until the next call. */
	int (*work)(void *ctx, const struct wire_work *w, const double **value, uint32_t *nout,
		const struct fixed **vector, uint32_t *nvector, struct err *e);
};

/* Work until the coordinator says it is over: 0, or what went wrong.  about: but pid. */
int worker_run(int leash, const struct wire_about *about, const struct worker_ops *ops, void *ctx, struct err *e);

#endif
