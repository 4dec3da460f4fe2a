/* SPDX-License-Identifier: Apache-2.0
 * Where a training run is between two updates: all that decides how it goes on, bit for bit.
 *
 * What the job itself says (data, options, seed) is not part of it. */
#ifndef QCNN_STATE_H
#define QCNN_STATE_H

#include "runtime/train/callback/callback.h"
#include "runtime/train/job/train_job.h"
#include "runtime/train/job/train_result.h"

struct event_queue;

/* A start that runs. */
struct start_state {
	uint32_t start, epoch;       /* epoch from 1: the one it is in */
	uint64_t step;               /* updates so far */
	uint32_t at;                 /* samples of the epoch that were seen */
	double loss_sum;             /* of their losses */
	double seconds;              /* spent in this epoch; changes no result */
	const double *weight;        /* (nweight) */
	const double *slot[OPTIMIZER_SLOTS_MAX];     /* (nweight) each, as many as optimizer_slots() says */
	/* Of an optimiser that searches: what it was told, and whether it has ended. */
	const double *record; size_t nrecord;
	bool over;
	const double *output;        /* (at, noutput) of this epoch, in its order; NULL where there are no metrics */
	/* When the epoch's updates are done, what is shown of the last one; else NULL. */
	const double *gradient;      /* (nweight) */
	const double *readout; uint32_t nbatch;      /* (nbatch, nreadout) */
	/* Of the callbacks: while the start runs they themselves, of a state that was read their list and,
	 * where they keep them, the best weights (nweight). */
	const struct callbacks *callbacks;
	const double *callback_list, *callback_best; size_t ncallback;
	/* Of concurrent restarts behind the first: what the observer has not got yet; NULL: nothing. */
	const struct event_queue *events;
	/* One that has ended, which the observer has not heard: its last epoch and how it ended; then only start,
	 * weight, slot and events are set besides. NULL: it runs. */
	const struct epoch_record *last; struct start_end end;
};

enum { STATE_STARTS_MAX = 256 };    /* that run at once, and those that have ended since the first of them */

struct train_state {
	uint32_t nrunning; const struct start_state *running;    /* by their numbers; at least one, the first that has not ended */
	/* While they run side by side: hold the other starts after their updates and put them, and those that have ended, into
	 * out[STATE_STARTS_MAX - 1], by their numbers; how many. They stay so until the observer returns. NULL: there are none. */
	uint32_t (*others)(void *lanes, struct start_state *out); void *lanes;
	uint32_t ndone;              /* starts 0 .. ndone-1 have ended */
	const double *start_loss;    /* (ndone) */
	const struct start_end *end; /* (ndone) */
	const struct train_result *best;     /* of those; start_loss not looked at */
};

/* Is it one of this job?  0 or -ERR_BAD_DATA: what a damaged or forged file says is not believed. */
int train_state_check(const struct train_job *j, const struct train_state *s, struct err *e);

/* The start of that number, or NULL: it has not begun. s may be NULL. */
const struct start_state *train_state_start(const struct train_state *s, uint32_t start);

#endif
