/* SPDX-License-Identifier: Apache-2.0
 * Processes that hold the parts of split states (split_group.h): this one leads, others are started, here or on other hosts. */
#pragma once

#include "cli/command.h"
#include "runtime/exec/evaluator.h"
#include "runtime/exec/statevector/split/split.h"
#include "runtime/net/cluster/coordinator.h"
#include "runtime/net/launch/launch.h"
#include "runtime/net/worker_process.h"

/* Where ranks are. */
struct rank_places {
	/* LAUNCHER_NONE: on this host. Of rank 0, this process, only the host is used. */
	struct launch_place place[SPLIT_RANKS_MAX];
	bool encrypt; /* what ranks of different hosts send */
	enum rank_link link;
	const char *iface; /* interface or address of this machine; NULL: as the others are reached */
	double start_s;    /* for a rank to start: without any sign of it */
	void (*say)(void *ctx, const char *host, const char *line); /* what ranks print */
	void *ctx;
	struct coordinator *joined; /* of the others, if they were started together with this one; NULL: they are started now */
	bool mpi;                          /* by which these communicate */
	uint32_t nthread[SPLIT_RANKS_MAX]; /* where no number was chosen; 0: the host's, shared by its ranks */
};

struct ranks;
struct comm;
union rank_start;

/* Where o->split is above 1: start the nrank - 1 other processes (a power of two, at most o->split), and set o->rank. Those of this
 * host share o->nthread threads and the free memory with this one; others use what their hosts have, or the same number where
 * threads were chosen. places NULL: all are here; the names in it are needed until ranks_end. *out is NULL where nrank is 1. -ERR_CONFIG, -ERR_UNREACHABLE. */
int ranks_start(struct evaluator_options *o, unsigned nrank, const struct rank_places *places,
	struct ranks **out, struct err *e);
/* Whether states that are planned as *o says can be held by nrank processes: 0, or -ERR_CONFIG. */
int ranks_check(unsigned nrank, const struct evaluator_options *o, struct err *e);
/* After the evaluators are free. r may be NULL. */
void ranks_end(struct ranks *r);

/* What such a process does: by the standard input, until the leader ends. *begun: the leader reports what failed. */
int ranks_follow(bool *begun, struct err *e);
/* The same where the processes were started together, as struct worker_ops has it. For rank 0, which leads, *out is set, and of *o rank,
 * nthread and memory_limit. */
int ranks_join(const void *start, size_t n, rank_exchange_fn exchange, void *ctx,
	struct evaluator_options *o, struct ranks **out, bool *begun, struct err *e);
/* Lead a group that was opened, and is owned from now on; sets o->rank. */
struct ranks *ranks_lead(struct comm *comm, const union rank_start *s, struct evaluator_options *o);
/* Say so if nrank ranks of nthread threads are more than the processors of this machine: ranks that wait take them from others. */
void ranks_check_processors(const struct cli *c, unsigned nrank, unsigned nthread);
