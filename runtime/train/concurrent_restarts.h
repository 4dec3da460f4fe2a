/* SPDX-License-Identifier: Apache-2.0
 * The restarts of a run; concurrent ones each on one thread, since several threads do not speed up small states.
 *
 * The observer is called in the order of the restarts and by one thread at a time; calls and bits are those of restarts
 * that run one after the other. */
#pragma once

#include "runtime/train/train.h"

enum { CONCURRENT_QUBITS_MAX = 12 }; /* a state of this size fits into the cache of a core */

/* Whether restarts can run concurrently: several restarts and threads, small states, no workers in other processes, and
 * no callbacks that write files. */
bool concurrent_restarts_possible(const struct train_job *j);
/* How many restarts run at once if there is enough memory; 1 if they cannot run concurrently. */
unsigned concurrent_restarts_count(const struct train_job *j);
/* Run the remaining restarts, one after the other if they cannot run concurrently; r has the results so far and gets the others. */
int concurrent_restarts_run(const struct train_job *j, const struct train_observer *o,
	struct train_result *r, struct err *e);
