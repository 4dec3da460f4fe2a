/* SPDX-License-Identifier: Apache-2.0
 * Processes that were started together, as several groups: each holds states together, and its first process is a worker. */
#pragma once

#include "cli/hosts/cluster.h"

/* Open the groups of k->groups among the workers of k->coordinator, which have come and have no job yet: one after another of
 * k->groups.nrank, those of a machine side by side.  nthread: of the ranks that a group has on a machine; 0: what their launcher gave
 * them, or their share of the machine's.  A code of coordinator_group_addresses. */
int joined_groups_open(const struct cluster *k, unsigned nthread, struct err *e);
