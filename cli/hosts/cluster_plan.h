/* SPDX-License-Identifier: Apache-2.0
 * Prints with --dry-run how the workers of a command are started. */
#pragma once

#include "cli/hosts/cluster.h"
#include "runtime/base/json.h"

/* Lines "start ...", "command ...", "lost ...". */
void cluster_plan_text(const struct cluster *k, struct buf *out);
/* {mode, why, processes, rank_0, encrypt, lost, hosts: [{host, workers, command: [...]}]} */
json_t *cluster_plan_json(const struct cluster *k);
