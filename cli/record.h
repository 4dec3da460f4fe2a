/* SPDX-License-Identifier: Apache-2.0
 * What a training run leaves behind about itself: the metadata of weights.bin, which
 * depend on results alone, and run.json, which says when, where and how fast. */
#ifndef QCNN_RECORD_H
#define QCNN_RECORD_H

#include "cli/job.h"
#include "runtime/log/run.h"

/* The bytes of weights.bin. */
int record_weights(const struct job *j, const struct train_result *r, struct buf *out, struct err *e);
/* run.json; r NULL: no result (yet). */
int record_run(struct run *run, const struct cli *c, const struct job *j, const char *state, double seconds,
	const struct train_result *r, struct err *e);

#endif
