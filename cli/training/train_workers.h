/* SPDX-License-Identifier: Apache-2.0
 * What the workers of a training do, epoch by epoch: each one's share and pace, for the progress and the logs. */
#pragma once

#include "cli/command.h"
#include "runtime/log/metrics.h"
#include "runtime/net/cluster/coordinator.h"

struct train_workers;

/* NULL where c is. */
struct train_workers *train_workers_new(struct coordinator *c);
/* What was done since the last epoch: one for each worker, good until the next call. */
const struct metrics_worker *train_workers_now(struct train_workers *w, unsigned *n);
/* An epoch has ended.  With --verbose, and where no progress bar shows them, the lines go to c (which may be NULL). */
void train_workers_epoch(struct train_workers *w, struct cli *c);
/* As lines, at most `most` of them: name, share, samples a second, when it was last heard of; of this epoch and,
 * where that has just begun, the last one. */
void train_workers_lines(void *workers, unsigned most, struct buf *out);
void train_workers_free(struct train_workers *w);
