/* SPDX-License-Identifier: Apache-2.0
 * What the process's own limits (ulimit) leave of address space and threads. */
#pragma once

#include <stdint.h>

/* Bytes that may still be mapped with the stacks of nthread threads (the calling one has its own) besides; UINT64_MAX without a limit. */
uint64_t ulimit_address_space(unsigned nthread);
/* The same, and no more than cpus_memory_available: bytes that nthread threads can still take. */
uint64_t ulimit_memory_available(unsigned nthread);

/* How many of `wanted` threads, the calling one included, can be started now, and does OMP_THREAD_LIMIT allow: at least 1.
 * OpenMP ends the whole process where a thread cannot be made, so it is tried beforehand. */
unsigned ulimit_threads(unsigned wanted);
