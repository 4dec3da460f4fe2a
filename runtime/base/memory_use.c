/* SPDX-License-Identifier: Apache-2.0
 * Counts the bytes in use and their maximum, for each use of memory. */
#include "runtime/base/memory_use.h"

#include <stdatomic.h>

const char *const memory_use_name[MEMORY_USES] = {
	[MEMORY_STATES] = "states",
	[MEMORY_STATE_CACHE] = "state cache",
	[MEMORY_WORK_BUFFERS] = "work buffers",
	[MEMORY_ARENAS] = "programs, plans",
};

static _Atomic int64_t now[MEMORY_USES], most[MEMORY_USES];

void memory_use(enum memory_use use, int64_t bytes)
{
	int64_t sum = atomic_fetch_add(&now[use], bytes) + bytes, before = atomic_load(&most[use]);

	while (sum > before && !atomic_compare_exchange_weak(&most[use], &before, sum))
		;
}

uint64_t memory_use_most(enum memory_use use)
{
	int64_t n = atomic_load(&most[use]);

	return n > 0 ? (uint64_t)n : 0;
}
