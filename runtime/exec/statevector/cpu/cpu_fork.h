/* SPDX-License-Identifier: Apache-2.0
 * Small work stays on one thread. */
#pragma once

#include <stdbool.h>

/* What is known of waking the other threads; zeroed to begin with. */
struct cpu_fork {
	double seconds;              /* that it takes, an average */
	double saving;               /* seconds that calls since the last measurement could have saved */
	unsigned nmeasured;
};

/* Does work that takes one thread `seconds` gain by nthread (2 or more)?  Now and then the answer
 * takes a measurement.  Results do not depend on it. */
bool cpu_fork_pays(struct cpu_fork *f, unsigned nthread, double work_seconds);
