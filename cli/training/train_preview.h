/* SPDX-License-Identifier: Apache-2.0
 * The output of `qcnn train --dry-run`. */
#pragma once

#include "cli/hosts/cluster.h"
#include "cli/job/job.h"

/* Takes a few real steps, whose results are dropped, and prints data, sizes, memory and the time that training
 * will take; writes no file. 0 or the exit status, with the fault that training would meet. */
int train_preview(struct cli *c, const struct job *j, const struct cluster *k);
