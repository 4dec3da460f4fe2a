/* SPDX-License-Identifier: Apache-2.0
 * One process that evaluates, and others that hold parts of its states for it.
 *
 * Rank 0 of a group leads: its evaluators use backend_split, which sends its calls to the others and does the same with its own
 * part. The others follow: they know programs and matrices, no data and no losses, and give nothing but their parts of
 * sums. Several evaluators of one process may use one group; their calls take turns. */
#pragma once

#include "runtime/exec/statevector/backend.h"

/* In place of the target's own backend, which says what it supports and takes, where options.rank is the leader of a group. */
extern const struct backend backend_split;

/* What a rank that follows has of its host. */
struct split_host {
	unsigned local, share; /* as split_rank has it */
	unsigned nthread;      /* compute threads */
	uint64_t memory_limit; /* bytes that states may take in the memory of the host; 0: what there is */
};
/* Follow rank 0 until it ends the group. 0 when the group was ended; else what failed, which was reported to the leader where that is
 * possible. */
int split_follow(struct comm *c, const struct split_host *host, struct err *e);
/* The leader ends the group; the followers return. */
void split_end(struct split_rank *r);

/* The leader, between two calls of its evaluators: the others begin to record a profile, in bytes_max of memory for events
 * in all; then they stop, and theirs are appended to those of *into, the first of which is the leader's. One that is lost is missing. */
void split_record(struct split_rank *r, enum profile_level level, uint64_t bytes_max);
void split_recorded(struct split_rank *r, struct profile *into);
