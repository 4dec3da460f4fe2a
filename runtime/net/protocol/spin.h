/* SPDX-License-Identifier: Apache-2.0
 * Decides when to poll during a short wait instead of sleeping, since waking up takes longer than the wait.
 *
 * The latest waits predict the next one: polling starts when most of them were short, and stops after a long one.  So an
 * idle process sleeps, and a process with long work loses nothing. */
#pragma once

#include <stdbool.h>

#define SPIN_S 100e-6                    /* longest short wait, and longest time of polling */

struct spin {
	bool allowed;                /* a core is free for polling; false: never poll */
	int trust;                   /* 0 to 3: grows with a short wait, shrinks faster with a long one */
	double since;                /* clock at the start of this wait; 0: none */
};

/* Call it when a poll has found nothing.  True: poll again; false: sleep until an event. */
bool spin_on(struct spin *s, double now);
/* The wait has ended. */
void spin_over(struct spin *s, double now);
