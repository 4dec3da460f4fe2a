/* SPDX-License-Identifier: Apache-2.0
 * How the process ends when it gets no memory: with 78, or with 75 in a training whose first
 * step is done, which the same command goes on with. */
#pragma once

/* From now on the process ends so when memory is missing. The libraries that end a process
 * themselves then, such as that of OpenMP, do so with 1; it is 75 or 78 while something is
 * computed. */
void exhausted_ends(void);

enum exhausted_in {
	EXHAUSTED_IN_NONE = 0,  /* anything else */
	EXHAUSTED_IN_COMPUTING, /* outputs, gradients, or the first step of a training */
	EXHAUSTED_IN_STEPS,     /* later, and no checkpoint is there */
	EXHAUSTED_IN_TRAINING   /* later, with one */
};
/* What the process does. From one thread. */
void exhausted_in(enum exhausted_in what);
