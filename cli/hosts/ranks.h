/* SPDX-License-Identifier: Apache-2.0
 * Processes of this host that hold the parts of split states (split_group.h): this one leads, others are started. */
#ifndef QCNN_RANKS_H
#define QCNN_RANKS_H

#include "runtime/exec/evaluator.h"

struct ranks;

/* Where o->split is above 1: start the nrank - 1 other processes (a power of two, at most o->split), which share o->nthread
 * threads and the free memory with this one, and set o->rank. *out is NULL where nrank is 1. -ERR_CONFIG, -ERR_UNREACHABLE. */
int ranks_start(struct evaluator_options *o, unsigned nrank, struct ranks **out, struct err *e);
/* After the evaluators are free. r may be NULL. */
void ranks_end(struct ranks *r);

/* What such a process does: by the standard input, until the leader ends. */
int ranks_follow(struct err *e);

#endif
