/* SPDX-License-Identifier: Apache-2.0
 * Internal state of the scheduler, for the files of this folder only. */
#pragma once

#include "runtime/net/scheduler/ledger.h"
#include "runtime/net/scheduler/scheduler.h"

/* The scheduler's state of a worker. */
struct queue {
	unsigned number;                /* number of the worker */
	struct scheduler_worker worker; /* valid while joined */
	bool joined, suspended;
	uint64_t weights;    /* version of the weights that it has; 0: none */
	unsigned npending;   /* WORK messages without RESULT */
	uint32_t nqueued;    /* units of these messages */
	double since;        /* time when it began with the first of them */
	uint64_t step;       /* the last step in which it got units */
	double unit_seconds; /* recent time per unit; 0: unknown */
	double pace;         /* while units are assigned: units per second, 0 if it gets none */
	bool *kept[WIRE_SETS_MAX]; /* which rows of each set it keeps; NULL: none */
	uint64_t nkept;            /* bytes of these rows */
	struct scheduler_stats stats;
};

struct scheduler {
	enum shard shard;
	struct queue *queue; unsigned nqueue;        /* one for each worker */
	const struct pool_step *step;        /* NULL: between steps */
	uint64_t nstep;              /* number of the step; those of late results are lower */
	double now;                  /* time passed to the latest call */
	struct ledger ledger;
	struct err fault;
	const double *set[WIRE_SETS_MAX];    /* data whose rows workers keep */
	/* Arrays for one message, reused for the next. */
	uint32_t *id; size_t id_cap;         /* units */
	uint8_t *bit; size_t bit_cap;        /* their map */
	uint32_t *row; size_t row_cap;
	double *number; size_t number_cap;   /* of a sample */
	struct fixed *vector; size_t vector_cap;
	struct buf body;
};

/* Send the message in `body`, and record it for profiles; began: start time of its encoding. */
void scheduler_put(struct scheduler *s, struct queue *q, int64_t began);
/* Samples of a unit; the last unit may have fewer than others. */
uint32_t step_samples(const struct pool_step *s, uint32_t unit);
void scheduler_no_memory(struct scheduler *s);

/* shard.c.  True: the samples of the units are rows of *set that the worker keeps; rows that it lacked have been sent. */
bool shard_rows(struct scheduler *s, struct queue *q, const uint32_t *id, uint32_t nid, uint32_t *set);
void shard_forget(struct queue *q);

/* assign.c.  A step has ended: raise the estimated pace of workers that got no units, so that they are tried again. */
void assign_forget(struct scheduler *s);
