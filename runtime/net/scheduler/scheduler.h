/* SPDX-License-Identifier: Apache-2.0
 * The scheduler: assigns the units of a step to workers and adds up their results, each unit exactly once.
 *
 * It knows a worker by its number and its session; the cluster reports which workers take units, and which are lost.
 * It has no lock: its caller serialises all calls. */
#pragma once

#include "runtime/base/pool.h"
#include "runtime/net/protocol/protocol.h"

struct scheduler;

/* How the inputs of samples reach the workers.  OFF: with each unit; DATA: once, and the worker keeps them; AUTO: as DATA
 * if rows are long, else as OFF; FILE: workers read the data files of the job, other inputs are sent as with DATA. */
enum shard { SHARD_OFF = 0, SHARD_DATA, SHARD_AUTO, SHARD_FILE };

struct scheduler *scheduler_new(unsigned nworker, enum shard shard);
void scheduler_free(struct scheduler *s);

/* ---- workers ---- */

/* A worker that has prepared the job. */
struct scheduler_worker {
	struct peer *peer;           /* its session; borrowed until scheduler_lose */
	unsigned nthread;
	uint64_t memory;             /* free bytes of its machine */
	unsigned share;              /* number of workers on that machine */
};
/* Let the worker get units. */
void scheduler_join(struct scheduler *s, unsigned worker, const struct scheduler_worker *w);
/* The worker does not answer: make its units pending again, and assign none to it until scheduler_resume.  Results that
 * it sends meanwhile are accepted.  Returns the number of its units. */
uint32_t scheduler_suspend(struct scheduler *s, unsigned worker);
void scheduler_resume(struct scheduler *s, unsigned worker);
/* The worker's session has ended: make its units pending again, and forget which data it has.  Returns the number of its
 * units. */
uint32_t scheduler_lose(struct scheduler *s, unsigned worker);
/* A new job begins: assign no units to a worker until it joins again. */
void scheduler_forget_job(struct scheduler *s);

/* Whether the worker has joined and has no units. */
bool scheduler_idle(const struct scheduler *s, unsigned worker);

struct scheduler_stats {
	uint64_t nunit, nsample;
	double seconds;
}; /* totals; seconds: compute time */
struct scheduler_stats scheduler_stats(const struct scheduler *s, unsigned worker);

/* ---- a step ---- */

/* Start a step of nunit units whose vectors have n entries; *step is borrowed until scheduler_end. */
int scheduler_begin(struct scheduler *s, const struct pool_step *step, uint32_t nunit, size_t n, struct err *e);
/* Send pending units to workers with free capacity, and flush all sessions; now: clock_seconds. */
void scheduler_assign(struct scheduler *s, double now);
/* Whether all units are done or the step has failed. */
bool scheduler_done(const struct scheduler *s);
/* Fail the step; only the first reason is kept. */
void scheduler_fail(struct scheduler *s, const struct err *e);
/* End the step: returns its sums (n entries) or its failure.  Later results of this step are ignored. */
int scheduler_end(struct scheduler *s, struct fixed *sum, struct err *e);

/* ---- messages of a worker ---- */

/* RESULT.  1: its units are counted; 0: they are not, since they belong to an earlier step or are done; -ERR_PROTOCOL. */
int scheduler_result(struct scheduler *s, unsigned worker, const uint8_t *body, size_t len, double now, struct err *e);
/* FAILED: recompute its units locally.  0: they failed here, too, and the step has failed; -ERR_BUG: they succeeded here;
 * -ERR_PROTOCOL. */
int scheduler_failed(struct scheduler *s, unsigned worker, const uint8_t *body, size_t len,
	double now, struct err *e);
