/* SPDX-License-Identifier: Apache-2.0
 * A group of ranks that hold one state together: seven calls, each with a
 * deadline in seconds (<= 0: none).  Transports fill a constant table.
 *
 * All calls but abort are collective; they return 0 or a negative error code,
 * -ERR_STOPPED when another rank aborted or the deadline passed. */
#ifndef QCNN_COMM_H
#define QCNN_COMM_H

#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"

struct comm;

struct comm_ops {
	const char *name;
	/* Free the handle; a rank that still waits in a call gets -ERR_STOPPED. */
	void (*close)(struct comm *c);
	void (*rank)(const struct comm *c, unsigned *rank, unsigned *size);
	/* v[i] becomes the sum over ranks of v[i]; exact, any order. */
	int (*allreduce_i64)(struct comm *c, int64_t *v, size_t n, double deadline_s, struct err *e);
	/* Send nbytes to `partner` and receive nbytes from it; buffers do not overlap. */
	int (*exchange)(struct comm *c, unsigned partner, const void *send, void *recv,
		size_t nbytes, double deadline_s, struct err *e);
	/* p[0..nbytes) becomes root's. */
	int (*bcast)(struct comm *c, unsigned root, void *p, size_t nbytes, double deadline_s, struct err *e);
	/* Tell all ranks to give up, with a reason; never blocks. */
	void (*abort)(struct comm *c, const char *reason);
};

/* First member of every transport's handle. */
struct comm { const struct comm_ops *ops; };

/* Opening is the seventh call; each transport has its own.  The group of one: */
struct comm *comm_self_open(void);

#endif
