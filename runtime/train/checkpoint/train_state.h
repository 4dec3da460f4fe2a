/* SPDX-License-Identifier: Apache-2.0
 * The state of a training run between two updates: all that the rest of the run depends on, bit for bit, besides the
 * job itself (data, options, seed). */
#pragma once

#include "runtime/train/callback/callback.h"
#include "runtime/train/checkpoint/event_queue.h"
#include "runtime/train/job/train_job.h"
#include "runtime/train/job/train_result.h"

/* A restart that runs, or one that has ended but was not reported (last not NULL): then only restart, weight, slot
 * and events are set besides. */
struct restart_state {
	uint32_t restart, epoch;     /* epoch from 1: the current one */
	uint64_t step;               /* updates so far */
	uint32_t at;                 /* samples of the epoch so far */
	double loss_sum;             /* of their losses */
	double seconds;              /* spent in this epoch; changes no result */
	const double *weight;        /* (nweight) */
	const double *slot[OPTIMIZER_SLOTS_MAX];     /* (nweight) each, as many as optimizer_slots() says */
	/* Of an optimizer that searches: the values it was given, and whether it has converged. */
	const double *record; size_t nrecord;
	bool over;
	const double *output;        /* (at, noutput) of this epoch, in its order; NULL without metrics */
	/* After the last update of an epoch, what is reported of it; else NULL. */
	const double *gradient;      /* (nweight) */
	const double *readout; uint32_t nbatch;      /* (nbatch, nreadout) */
	/* The callbacks, while the restart runs; of a state that was read, their list and, where they keep any, the best
	 * weights (nweight). */
	const struct callbacks *callbacks;
	const double *callback_list, *callback_best; size_t ncallback;
	struct event_queue events; /* of concurrent restarts behind the first: what was not reported yet; borrowed */
	const struct epoch_record *last; struct restart_end end;
	/* After the last epoch, its record: with more epochs the restart goes on behind it, unless it was ended early (over).
	 * Else NULL. */
	const struct epoch_record *after;
};

struct end_states;

enum { STATE_RESTARTS_MAX = 256 };  /* that run at once, and those that have ended since the first of them began */

struct train_state {
	bool failed; /* the update behind it could not be made: it is to be kept */
	uint32_t nrunning; const struct restart_state *running;  /* in order; the first is the first that has not ended */
	/* Of concurrent restarts: holds the others after their updates, and writes their states and those of restarts that
	 * have ended to out[STATE_RESTARTS_MAX - 1], in order; returns how many.  They are held until the observer returns.
	 * NULL: there are no others. */
	uint32_t (*others)(void *other_context, struct restart_state *out); void *other_context;
	uint32_t ndone;              /* restarts 0 .. ndone-1 have ended and were reported */
	const double *restart_loss;  /* (ndone) */
	const struct restart_end *end;       /* (ndone) */
	const struct train_result *best;     /* of those, but for restart_loss */
	/* Of restarts that have ended, also of those behind the first that runs; NULL: not kept. Read when the others are held. */
	const struct end_states *ends;
};

/* Is it a state of this job?  0 or -ERR_BAD_DATA, for damaged and forged files. */
int train_state_check(const struct train_job *j, const struct train_state *s, struct err *e);

/* The restart of that number, or NULL: it has not begun.  s may be NULL. */
const struct restart_state *train_state_restart(const struct train_state *s, uint32_t restart);
