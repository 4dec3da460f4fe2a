/* SPDX-License-Identifier: Apache-2.0
 * The starts of a run side by side, each on one thread: small states gain nothing from threads of their own.
 *
 * The observer is told everything in the order of the starts, as if they had gone one after the other, by one
 * thread at a time; so are their bits. */
#ifndef QCNN_SIDE_H
#define QCNN_SIDE_H

#include "runtime/train/train.h"

enum { SIDE_WIRES_MAX = 12 };        /* states that stay in the cache of a core */

/* Is it worth while, and possible: several starts and threads, small states, no workers of other processes, no
 * callbacks with files? */
bool side_fits(const struct train_job *j);
/* Starts that would go side by side, given the memory; 1 where that does not fit. */
unsigned side_lanes(const struct train_job *j);
/* All starts that are left; r holds what has been, and gets the rest. */
int side_starts(const struct train_job *j, const struct train_observer *o, struct train_result *r, struct err *e);

#endif
