/* SPDX-License-Identifier: Apache-2.0
 * The data files of a job that workers read. */
#pragma once

#include "cli/job/samples.h"
#include "runtime/net/protocol/wire.h"

struct cluster_files {
	struct wire_file file[WIRE_FILES_MAX];
	uint32_t n; /* their paths are owned */
	struct buf through;
};

/* Takes down the regular files of s (NULL: none) and numbers their data sets; what was generated, or came from a pipe,
 * is sent as ever.  Before workers start: they may be in the same folder. */
void cluster_files_open(struct cluster_files *out, struct samples *s);
void cluster_files_release(struct cluster_files *f);
