/* SPDX-License-Identifier: Apache-2.0
 * What large memory is used for: now, and at most since the program began. */
#pragma once

#include <stdint.h>

enum memory_use {
	MEMORY_STATES = 0,   /* state vectors, and their gradients */
	MEMORY_STATE_CACHE,  /* states of batch rank */
	MEMORY_WORK_BUFFERS, /* blocks, matrices and sums of the backend */
	MEMORY_ARENAS,       /* programs, plans and everything small */
	MEMORY_USES
};
extern const char *const memory_use_name[MEMORY_USES];

/* bytes: taken, or less than 0: given back. Any thread. */
void memory_use(enum memory_use use, int64_t bytes);
uint64_t memory_use_most(enum memory_use use);
