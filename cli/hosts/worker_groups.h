/* SPDX-License-Identifier: Apache-2.0
 * Groups of processes, each of which is one worker and holds one split state: the first process of a group connects to the
 * coordinator, and starts the others of its group. */
#pragma once

#include "cli/hosts/ranks.h"
#include "runtime/net/launch/hostfile.h"
#include "runtime/net/protocol/wire.h"

struct worker_groups {
	unsigned nrank; /* processes of each group; 0: there are no groups */
	unsigned n;
	struct buf *places; /* (n) of each worker: where its others are started; NULL: all were started together */
};

/* Cut the processes of *hosts into groups of nrank, in their order; *hosts becomes the hosts of the first processes, and *out
 * the groups in the order of these workers.  nrank divides the number of processes, or is divided by it: then there is one
 * group, in which each process that is listed stands for several.  The others of a group are started as o says, whose iface
 * hosts use that have it, and exchange by `link`.  -ERR_USAGE. */
int worker_groups_cut(struct hosts *hosts, unsigned nrank, const struct coordinator_options *o,
	enum rank_link link, struct worker_groups *out, struct err *e);
void worker_groups_release(struct worker_groups *g);

/* In a worker: its group, started for its first job or before it and kept until it ends. */
struct worker_group {
	struct ranks *ranks;
	char *text;                     /* the names in it */
	struct evaluator_options first; /* what the group was started with */
};
/* Be a rank of a group whose processes were started together: struct worker_ops. */
int worker_group_join(void *group, const void *start, size_t n, rank_exchange_fn exchange,
	void *ctx, bool *begun, struct err *e);
/* Where the job is for a group: start the others unless they are there, and set o->rank and this process's share of threads
 * and memory.  -ERR_CONFIG, -ERR_PROTOCOL, -ERR_UNREACHABLE. */
int worker_group_start(void *group, const struct wire_job *job, struct evaluator_options *o,
	struct err *e);
void worker_group_end(struct worker_group *g);
