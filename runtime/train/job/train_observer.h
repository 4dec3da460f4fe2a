/* SPDX-License-Identifier: Apache-2.0
 * What a training run reports to its caller while it runs. */
#pragma once

#include "runtime/exec/evaluator.h"
#include "runtime/train/job/epoch_record.h"

struct train_state;
struct restart_state;

/* A restart at the end of an epoch; borrowed for the call. */
struct epoch_state {
	const double *weight, *gradient;     /* (nweight); the gradient is that of the epoch's last update */
	const double *readout;               /* (nbatch, nreadout) of that update, before it */
	uint32_t nbatch;
};

/* A decision of a callback, in any restart; borrowed for the call. */
enum train_event_kind {
	TRAIN_STOPPED = 1,                   /* the restart ends after this epoch: monitor, best, best_epoch */
	TRAIN_RESTORED,                      /* it has ended with the weights of best_epoch: monitor, best */
	TRAIN_RATE,                          /* the learning rate is `rate` from now on */
	TRAIN_SAVE,                          /* write `weight` to the file `path`; 0, or a code when that failed */
	TRAIN_DROP,                          /* remove the file `path`, which was saved before */
	TRAIN_CSV_FAILED                     /* the callback csv cannot write, and will try again: path is the reason */
};
struct train_event {
	enum train_event_kind kind;
	uint32_t restart, batch;             /* batch: update in the epoch, of SAVE */
	uint32_t which;                      /* of STOPPED and RESTORED: which early_stopping, from 0 */
	const struct epoch_record *record;   /* SAVE within an epoch: of the updates so far */
	const char *monitor, *path;
	const double *weight;
	double best, rate; uint32_t best_epoch;
};

struct train_observer {
	void *ctx;
	/* After every update. */
	void (*step)(void *ctx, uint32_t restart, uint32_t epoch, uint64_t step, uint32_t step_in_epoch,
		uint32_t steps_per_epoch, double batch_loss);
	/* After step: the state of the run, borrowed for the call.  A negative code stops the training, which returns
	 * it; resumed from that state, it gives the same bits as if it had not stopped. */
	int (*between)(void *ctx, const struct train_state *s, struct err *e);
	void (*epoch)(void *ctx, const struct epoch_record *r);
	/* After epoch. */
	void (*state)(void *ctx, const struct epoch_record *r, const struct epoch_state *s);
	/* The result is used for SAVE alone. */
	int (*event)(void *ctx, const struct train_event *v);
	/* A restart has made its last epoch, and its best or averaged weights have not replaced those of that epoch yet: the
	 * state from which more epochs go on, borrowed for the call.  Concurrent restarts call it from their threads. */
	void (*complete)(void *ctx, const struct restart_state *at);
	/* A restart has ended. */
	void (*ended)(void *ctx, uint32_t restart, double final_loss, const double *weight);
	/* At the end of training, also of one that fails: the work of this process, in parts to be added. */
	void (*work)(void *ctx, const struct optimisation_use *u);
};
