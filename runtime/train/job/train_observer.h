/* SPDX-License-Identifier: Apache-2.0
 * What a training run reports to its caller while it runs. */
#ifndef QCNN_TRAIN_OBSERVER_H
#define QCNN_TRAIN_OBSERVER_H

#include "runtime/exec/evaluator.h"
#include "runtime/train/job/epoch_record.h"

struct train_state;

/* What a start looks like when an epoch has ended; borrowed, for the time of the call. */
struct epoch_state {
	const double *weight, *gradient;     /* (nweight); the gradient is that of the epoch's last update */
	const double *readout;               /* (nbatch, nreadout) of that update, before it */
	uint32_t nbatch;
};

/* What a callback has decided.  All starts tell theirs; borrowed, for the time of the call. */
enum train_event_kind {
	TRAIN_STOPPED = 1,                   /* the start ends after this epoch: monitor, best, best_epoch */
	TRAIN_RESTORED,                      /* it has ended with the weights of best_epoch: monitor, best */
	TRAIN_RATE,                          /* the learning rate is `rate` from now on */
	TRAIN_SAVE,                          /* write `weight` to the file `path`; 0, or a code when that failed */
	TRAIN_DROP,                          /* the file `path`, saved before, is not wanted any more */
	TRAIN_CSV_FAILED                     /* the callback csv cannot write, and will try again: path is why */
};
struct train_event {
	enum train_event_kind kind;
	uint32_t start, batch;               /* batch: update in the epoch, of SAVE */
	uint32_t which;                      /* of STOPPED and RESTORED: the so-maniest early_stopping, from 0 */
	const struct epoch_record *record;   /* SAVE in mid-epoch: of the updates so far */
	const char *monitor, *path;
	const double *weight;
	double best, rate; uint32_t best_epoch;
};

struct train_observer {
	void *ctx;
	/* After every update. */
	void (*step)(void *ctx, uint32_t start, uint32_t epoch, uint64_t step, uint32_t step_in_epoch,
		uint32_t steps_per_epoch, double batch_loss);
	/* Behind step: where the run is, borrowed for the time of the call. Return non-zero to stop there:
	 * training returns the (negative) code, and goes on from that state as if it had never stopped. */
	int (*between)(void *ctx, const struct train_state *s, struct err *e);
	void (*epoch)(void *ctx, const struct epoch_record *r);
	/* Behind epoch. */
	void (*state)(void *ctx, const struct epoch_record *r, const struct epoch_state *s);
	/* What callbacks decided; the result counts for SAVE alone. */
	int (*event)(void *ctx, const struct train_event *v);
	/* A start has ended. */
	void (*start)(void *ctx, uint32_t start, double final_loss, const double *weight);
	/* At the end of training, also where it fails: what has been computed here, in parts to be added. */
	void (*work)(void *ctx, const struct shortcut_use *u);
};

#endif
