/* SPDX-License-Identifier: Apache-2.0
 * The state of a training run as a weights file: the same layout, opened by the same reader.
 *
 * Tensors: params/<path>, the weights of the start that runs; optimizer/<slot>, optimizer/record;
 * training/counters, and of the epoch training/outputs, training/gradient, training/readouts;
 * callbacks/state, and callbacks/best with the weights that may be restored;
 * of further starts that run the same below starts/<number>/, with starts/<number>/weights and what was not
 * told of them yet, starts/<number>/training/tape; of one that has ended .../result and .../end in place of counters;
 * training/start_losses, training/start_ends and best/ (weights, optimizer/<slot>, result) of the starts that have ended. */
#ifndef QCNN_CHECKPOINT_H
#define QCNN_CHECKPOINT_H

#include "runtime/train/checkpoint/train_state.h"
#include "runtime/train/job/event_queue.h"
#include "runtime/train/weights/weights.h"

/* The file, in parts that borrow from the state; own: further vectors of the caller. 0, or -ERR_CONFIG when the
 * metadata are too long; release in any case. */
struct checkpoint_image { struct weights_image weights; double **own; size_t nown; };
int checkpoint_image(const struct train_job *j, const struct train_state *s, const struct weights_vector *own,
	unsigned nown, const struct metadata *meta, unsigned nmeta, struct checkpoint_image *out);
void checkpoint_image_release(struct checkpoint_image *m);

/* A state that was read; borrows from the weights it came from. */
struct checkpoint {
	struct train_state state;
	struct start_state running[STATE_STARTS_MAX];
	struct event_queue events[STATE_STARTS_MAX];         /* owned */
	struct epoch_record *last;           /* (STATE_STARTS_MAX) of those that have ended; owned */
	struct train_result best;
};
/* 0, or -ERR_BAD_DATA when it is no state of this job; release in any case. */
void checkpoint_release(struct checkpoint *c);
int checkpoint_read(const struct train_job *j, const struct weights *w, struct checkpoint *c, struct err *e);

#endif
