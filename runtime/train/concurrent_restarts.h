/* SPDX-License-Identifier: Apache-2.0
 * Concurrent restarts of a run, each on one thread: small states gain nothing from several threads.
 *
 * The observer is called in the order of the restarts, as if they had run one after the other, and by one thread
 * at a time; the bits are those of a run one after the other, too. */
#ifndef QCNN_CONCURRENT_RESTARTS_H
#define QCNN_CONCURRENT_RESTARTS_H

#include "runtime/train/train.h"

enum { CONCURRENT_QUBITS_MAX = 12 };         /* states that stay in the cache of a core */

/* Possible and useful: several restarts and threads, small states, no workers in other processes, no callbacks that
 * write files? */
bool concurrent_restarts_possible(const struct train_job *j);
/* How many would run at once if there is memory for them; 1 where they are not possible. */
unsigned concurrent_restarts_count(const struct train_job *j);
/* All restarts that are left; r holds the results so far, and gets the others. */
int concurrent_restarts_run(const struct train_job *j, const struct train_observer *o, struct train_result *r, struct err *e);

#endif
