/* SPDX-License-Identifier: Apache-2.0
 * Means and deviations of runs that differ in the seed or the fold alone. */
#pragma once

#include "cli/command.h"
#include "cli/job/run_folder.h"

/* Print a row, or with --json an object, for each configuration of finished runs, behind c->out; --sort orders them.
 * Completes the records of these (run_metrics.h).  0, or the exit status. */
int runs_summary(struct cli *c, struct run_list *l);
