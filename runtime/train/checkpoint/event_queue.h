/* SPDX-License-Identifier: Apache-2.0
 * What a restart has reported while it is not its turn, kept until the observer gets it.
 *
 * Of concurrent restarts the observer hears in their order, so that all but the first fill a queue each. Events are
 * messages of numbers one after the other, the vector training/tape of a checkpoint: the number of numbers, the kind, and
 * the content. */
#pragma once

#include "runtime/train/job/train_job.h"
#include "runtime/train/job/train_observer.h"

/* All zero but for the job, which is borrowed: an empty queue. cap 0: the numbers are borrowed. */
struct event_queue {
	const struct train_job *job;
	double *value;
	size_t n, cap;
};

/* Empties the queue and frees what it holds. */
void event_queue_clear(struct event_queue *q);
/* An observer that appends to q.  Events with a file (SAVE, DROP, CSV_FAILED) are a bug: such restarts do not run
 * concurrently. */
struct train_observer event_queue_observer(struct event_queue *q);
/* Are these numbers messages that event_queue_play takes?  For those of a file. */
bool event_queue_is_whole(const struct event_queue *q);
/* Reports all of it to o, as of that restart. */
void event_queue_play(const struct event_queue *q, uint32_t restart, const struct train_observer *o);
