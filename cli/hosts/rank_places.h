/* SPDX-License-Identifier: Apache-2.0
 * From the hosts of a command to the places of the ranks of one group. */
#pragma once

#include "cli/hosts/cluster.h"
#include "cli/hosts/ranks.h"

/* By its name, with or without its domain, or by that in Slurm. */
bool is_this_machine(const struct host *h);

/* k->nrank ranks on the hosts of k, in their order, but that rank 0 is this process: this machine is one of the hosts. Where fewer
 * processes are listed than ranks, each stands for the same number. *out refers to *k. -ERR_USAGE.
 * Ranks that were started together with this one are waited for the first time: then as cluster_start, too. */
int rank_places_of(struct cluster *k, struct rank_places *out, struct err *e);

/* Start the ranks that --ranks asks for, on the hosts of k if there are any, as ranks_start does: 0, or said and the status. */
int ranks_of_cluster(struct cluster *k, struct evaluator_options *o, struct ranks **out);
