/* SPDX-License-Identifier: Apache-2.0
 * Runs a training in its folder, after its job was read and its workers were started. */
#pragma once

#include "cli/job/job.h"

/* Goes on with the run that --resume means, or begins one.  0, or the exit status, and the fault is said. */
int train_run_job(struct cli *c, struct job *j);
