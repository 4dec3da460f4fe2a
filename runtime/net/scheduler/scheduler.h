/* SPDX-License-Identifier: Apache-2.0
 * The scheduler: gives the units of a step to workers and adds up their results, each unit exactly once.
 *
 * It knows a worker by its number and its session; the cluster tells it which workers take units, and which are lost.
 * It has no lock: its caller serialises all calls. */
#ifndef QCNN_SCHEDULER_H
#define QCNN_SCHEDULER_H

#include "runtime/base/pool.h"
#include "runtime/net/protocol/protocol.h"

struct scheduler;

/* How the inputs of samples reach the workers: with the work each time; once, to be kept; once where rows are long;
 * workers read the data files of the job themselves, and other inputs are sent as with SHARD_DATA. */
enum shard { SHARD_OFF = 0, SHARD_DATA, SHARD_AUTO, SHARD_FILE };

struct scheduler *scheduler_new(unsigned nworker, enum shard shard);
void scheduler_free(struct scheduler *s);

/* ---- workers ---- */

/* A worker that has prepared the job. */
struct scheduler_worker {
	struct peer *peer;           /* its session; borrowed until scheduler_lose */
	unsigned nthread;
	uint64_t memory;             /* free bytes of its machine */
	unsigned share;              /* workers of that machine */
};
/* From now on the worker gets units. */
void scheduler_join(struct scheduler *s, unsigned worker, const struct scheduler_worker *w);
/* The worker does not answer: its units are pending again, and it gets none until scheduler_resume.  Results that it
 * sends meanwhile count as others do.  The number of its units. */
uint32_t scheduler_suspend(struct scheduler *s, unsigned worker);
void scheduler_resume(struct scheduler *s, unsigned worker);
/* The worker's session has ended: its units are pending again, and what it was sent is forgotten.  Their number. */
uint32_t scheduler_lose(struct scheduler *s, unsigned worker);
/* Another job begins: no worker gets units until it joins again. */
void scheduler_forget_job(struct scheduler *s);

/* Whether it has joined, and has no work. */
bool scheduler_idle(const struct scheduler *s, unsigned worker);

struct scheduler_stats { uint64_t nunit, nsample; double seconds; };     /* since the beginning; seconds: computed */
struct scheduler_stats scheduler_stats(const struct scheduler *s, unsigned worker);

/* ---- a step ---- */

/* Start a step of nunit units whose vectors have n entries; *step is borrowed until scheduler_end. */
int scheduler_begin(struct scheduler *s, const struct pool_step *step, uint32_t nunit, size_t n, struct err *e);
/* Send pending units to the workers that can take some, and flush all sessions; now: clock_seconds. */
void scheduler_assign(struct scheduler *s, double now);
/* Whether the step has ended: all units are done, or it failed. */
bool scheduler_done(const struct scheduler *s);
/* The step cannot be completed; the first reason counts. */
void scheduler_fail(struct scheduler *s, const struct err *e);
/* That reason; code 0: none. */
const struct err *scheduler_fault(const struct scheduler *s);
/* End the step: its sums (n entries), or its fault.  Later results of it are ignored. */
int scheduler_end(struct scheduler *s, struct fixed *sum, struct err *e);

/* ---- messages of a worker ---- */

/* RESULT: 1, its units are counted; 0, they are not (of an earlier step, or done already); -ERR_PROTOCOL. */
int scheduler_result(struct scheduler *s, unsigned worker, const uint8_t *body, size_t len, double now, struct err *e);
/* FAILED: its units are recomputed locally.  0, and where they fail here as well the step has; -ERR_PROTOCOL; -ERR_BUG,
 * where they succeed here. */
int scheduler_failed(struct scheduler *s, unsigned worker, const uint8_t *body, size_t len, double now, struct err *e);

#endif
