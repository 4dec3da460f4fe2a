/* SPDX-License-Identifier: Apache-2.0
 * The state of a training run as a weights file: the same layout, opened by the same reader.
 *
 * Tensors of the first restart that has not ended: params/<path>, optimizer/<slot>, optimizer/record,
 * training/counters, training/outputs, training/gradient, training/readouts, callbacks/state, and callbacks/best with
 * the weights that may be restored; after its last epoch, training/last_epoch with the result of that.  Of concurrent restarts behind it the same below starts/<number>/, with
 * starts/<number>/weights, and training/tape with the events that were not reported yet; of one that has ended, result
 * and end in place of the counters.  Of the restarts that have ended and were reported: training/start_losses,
 * training/start_ends, and best/ (weights, optimizer/<slot>, result).  Of all that have ended, the states after their last epochs
 * as of concurrent ones, below ends/<number>/.  A result is an epoch record. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/train/checkpoint/train_state.h"
#include "runtime/train/weights/weights.h"

/* The file, in parts that borrow from the state and from own, further vectors of the caller. 0, or -ERR_CONFIG when the
 * metadata are too long; release in any case. */
struct checkpoint_image {
	struct weights_image weights;
	struct arena memory;
};
int checkpoint_image(const struct train_job *j, const struct train_state *s, const struct weights_vector *own,
	unsigned nown, const struct metadata *meta, unsigned nmeta, struct checkpoint_image *out);
void checkpoint_image_release(struct checkpoint_image *m);

/* A state that was read; borrows from the weights. */
struct checkpoint {
	struct train_state state;
	struct restart_state running[STATE_RESTARTS_MAX];
	struct epoch_record *last; /* (STATE_RESTARTS_MAX) of restarts after their last epoch; owned */
	struct train_result best;
	struct end_states *ends; /* owned */
};
/* 0, or -ERR_BAD_DATA when it is no state of this job; release in any case. */
void checkpoint_release(struct checkpoint *c);
int checkpoint_read(const struct train_job *j, const struct weights *w, struct checkpoint *c,
	struct err *e);
