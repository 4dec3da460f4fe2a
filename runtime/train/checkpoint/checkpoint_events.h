/* SPDX-License-Identifier: Apache-2.0
 * An event queue as the numbers of a vector of a checkpoint (training/tape), and back. */
#pragma once

#include "runtime/train/job/event_queue.h"

/* Messages one after the other: the number of numbers, the kind, and the content; malloc'ed, the caller's. */
struct event_numbers { const struct train_job *job; double *value; size_t n, cap; };
struct event_numbers checkpoint_events(const struct event_queue *q, uint32_t restart);
/* Appends the events of n numbers to q, whose job is set; false where they are malformed. */
bool checkpoint_events_read(const double *value, size_t n, struct event_queue *q);
