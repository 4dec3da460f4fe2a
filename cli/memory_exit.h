/* SPDX-License-Identifier: Apache-2.0
 * How the process ends when it gets no memory: with 78, or with 75 in a training whose first
 * step is done, which the same command goes on with. */
#pragma once

/* From now on the process ends so when memory is missing. The libraries that end a process
 * themselves then, such as that of OpenMP, do so with 1; it is 75 or 78 while something is
 * computed. */
void memory_exit_install(void);

enum memory_exit_during {
	MEMORY_EXIT_NONE = 0,  /* anything else */
	MEMORY_EXIT_COMPUTING, /* outputs, gradients, or the first step of a training */
	MEMORY_EXIT_STEPS,     /* later, and no checkpoint is there */
	MEMORY_EXIT_TRAINING   /* later, with one */
};
/* What the process does. From one thread. */
void memory_exit_during(enum memory_exit_during what);
