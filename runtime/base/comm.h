/* SPDX-License-Identifier: Apache-2.0
 * Communication inside a group of ranks: processes that hold a state together.
 *
 * All ranks make the same calls in the same order. A call fails, and names the rank that it waited for, when that rank has died, has
 * given up or whose process has not run for the group's deadline; the group is of no use then, and comm_close is all that is left
 * to do. Data of a call that failed are undefined. Calls are made by one thread, but for comm_abort.
 * runtime/net/comm/group.h opens a group. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/err.h"

/* What changes places with a part of the same form of another rank: nrun runs of run_bytes, stride_bytes from one to the
 * next (at least run_bytes). What arrives takes the place of what is sent, so that no second memory is needed. */
struct comm_part {
	unsigned peer;
	void *data;
	size_t run_bytes, nrun, stride_bytes;
};

struct comm_statistics {
	uint64_t sent_bytes, nexchange; /* of exchanges */
	double wait_seconds;            /* without anything to send or receive */
};

/* Lets work and transfer overlap, in the thread that exchanges. Each may be NULL. A function returns 0, or a code with a text in
 * *e, which ends the exchange. Parts advance side by side, the bytes of each in order; 0 is the first of its first run. */
struct comm_work {
	void *ctx;
	/* Bytes from .. to-1 of part[k] are about to be sent: write them now. */
	int (*before)(void *ctx, unsigned k, size_t from, size_t to, struct err *e);
	/* Bytes from .. to-1 of part[k] have arrived. */
	int (*arrived)(void *ctx, unsigned k, size_t from, size_t to, struct err *e);
};

struct comm {
	const struct comm_ops *ops;
	unsigned rank, size;
	bool checks; /* digests of what is exchanged are compared; also by who moves bytes beside the group */
	double deadline_s; /* of the group */
	struct comm_statistics statistics;
};

struct comm_ops {
	int (*exchange)(struct comm *c, const struct comm_part *part, unsigned npart,
		const struct comm_work *work, struct err *e);
	int (*gather)(struct comm *c, const void *mine, size_t bytes, void *all, struct err *e);
	int (*broadcast)(struct comm *c, unsigned root, void *data, size_t bytes, struct err *e);
	int (*wait)(struct comm *c, unsigned root, struct err *e);
	int (*look)(struct comm *c, unsigned ms, struct err *e);
	void (*abort)(struct comm *c, const char *reason);
	void (*close)(struct comm *c);
};

/* The k-th part for a peer meets the k-th that the peer has for this rank. -ERR_UNREACHABLE; -ERR_IO where bytes are not
 * those that were sent, -ERR_PROTOCOL where calls or sizes do not agree. */
static inline int comm_exchange(struct comm *c, const struct comm_part *part, unsigned npart,
	struct err *e)
{
	return c->ops->exchange(c, part, npart, NULL, e);
}

/* The same, with functions that are called as the bytes move. */
static inline int comm_exchange_with(struct comm *c, const struct comm_part *part, unsigned npart,
	const struct comm_work *work, struct err *e)
{
	return c->ops->exchange(c, part, npart, work, e);
}

/* all[size * bytes], by rank: what each rank has given. */
static inline int comm_gather(struct comm *c, const void *mine, size_t bytes, void *all, struct err *e)
{
	return c->ops->gather(c, mine, bytes, all, e);
}

/* data[bytes] of the rank `root` to all others. */
static inline int comm_broadcast(struct comm *c, unsigned root, void *data, size_t bytes,
	struct err *e)
{
	return c->ops->broadcast(c, root, data, bytes, e);
}

/* Wait until the root begins the next call, however long it computes, for a rank that has nothing to do until then. Fails where its
 * process has not run for the deadline. */
static inline int comm_wait(struct comm *c, unsigned root, struct err *e)
{
	return c->ops->wait(c, root, e);
}

/* Polls for failures while data move outside the group, e.g. by NCCL: returns the error that the next collective call would return.
 * Waits `ms` at most for one. */
static inline int comm_look(struct comm *c, unsigned ms, struct err *e)
{
	return c->ops->look(c, ms, e);
}

/* The others' calls fail with this reason, soon. From any thread. */
static inline void comm_abort(struct comm *c, const char *reason) { c->ops->abort(c, reason); }

static inline void comm_close(struct comm *c)
{
	if (c)
		c->ops->close(c);
}
