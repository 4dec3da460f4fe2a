/* SPDX-License-Identifier: Apache-2.0
 * Hardware counters of all threads of this process (Linux, perf_event_open), where the system permits them. */
#pragma once

#include "runtime/base/profile/profile.h"

struct counters;

/* From now on, of the threads that are there and those that they start. Never fails: counters_stop says what was missing. */
struct counters *counters_start(void);
/* Values into the profile's process, in p's arena, or process->no_counters: why there are none (p NULL: nowhere).
 * Frees c. */
void counters_stop(struct counters *c, struct profile *p, struct profile_process *process);

/* What is done with the kernel's numbers, for tests: n values (value, time enabled, time running) of counter `which` of
 * counters_start's order; a counter that ran only part of the time is scaled. NAN: it never ran. */
double counters_scaled(const uint64_t value[3]);
