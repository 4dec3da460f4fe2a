/* SPDX-License-Identifier: Apache-2.0
 * What a restart has reported while it is not its turn: typed events, kept until the observer gets them.
 *
 * Of concurrent restarts the observer hears in their order, so that all but the first fill a queue each. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/train/job/train_job.h"
#include "runtime/train/job/train_observer.h"

/* The members of struct train_observer that a queue stands in for. */
enum queued_kind { QUEUED_STEP = 0, QUEUED_EPOCH, QUEUED_STATE, QUEUED_DECISION, QUEUED_KINDS };

struct queued_step { uint32_t epoch, step_in_epoch, steps_per_epoch; uint64_t step; double batch_loss; };
/* event.record is NULL here; it is what `record` holds. */
struct queued_decision { struct train_event event; const double *record; };

/* record: as epoch_record_pack() writes it, which takes less memory than the struct. */
struct queued_event {
	enum queued_kind kind;
	union {
		struct queued_step step;
		const double *record;        /* QUEUED_EPOCH */
		const struct epoch_state *state;     /* of the QUEUED_EPOCH before it */
		const struct queued_decision *decision;
	};
};

/* All zero but for the job, which is borrowed: an empty queue. */
struct event_queue {
	const struct train_job *job;
	struct queued_event *event; size_t n, cap;
	struct arena memory;         /* what the events point to */
};

/* Empties the queue and frees what it holds. */
void event_queue_clear(struct event_queue *q);
/* An observer that appends to q.  Events with a file (SAVE, DROP, CSV_FAILED) are a bug: such restarts do not run
 * concurrently. */
struct train_observer event_queue_observer(struct event_queue *q);
/* Reports all of it to o, as of that restart. */
void event_queue_play(const struct event_queue *q, uint32_t restart, const struct train_observer *o);
