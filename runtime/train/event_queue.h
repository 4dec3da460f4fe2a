/* SPDX-License-Identifier: Apache-2.0
 * What an observer would have been told, kept as numbers until it is its turn. */
#ifndef QCNN_TAPE_H
#define QCNN_TAPE_H

#include "runtime/train/train.h"

struct tape {
	double *value; size_t n, cap;        /* messages one after the other; opaque */
};

void tape_release(struct tape *t);
void tape_step(struct tape *t, uint32_t epoch, uint64_t step, uint32_t step_in_epoch, uint32_t steps_per_epoch,
	double batch_loss);
void tape_epoch(struct tape *t, const struct train_job *j, const struct epoch_record *r);
void tape_state(struct tape *t, const struct train_job *j, const struct epoch_state *s);
/* Not for files: SAVE, DROP and CSV_FAILED are a bug. */
void tape_event(struct tape *t, const struct train_job *j, const struct train_event *v);

/* Tell it all to o as of start `start`, and empty the tape. */
void tape_play(struct tape *t, const struct train_job *j, uint32_t start, const struct train_observer *o);
/* Could tape_play read it?  For tapes from files. */
bool tape_is_whole(const struct tape *t, const struct train_job *j);

#endif
