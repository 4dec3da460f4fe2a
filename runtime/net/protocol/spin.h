/* SPDX-License-Identifier: Apache-2.0
 * Short waits are spent polling instead of sleeping, since waking up takes longer than they do.
 *
 * The latest waits predict the next: polling starts when most of them were short, and stops when one was not.  So an idle
 * process sleeps, and one whose work is long loses nothing. */
#ifndef QCNN_SPIN_H
#define QCNN_SPIN_H

#include <stdbool.h>

#define SPIN_S 100e-6                    /* longest short wait, and longest time of polling */

struct spin {
	bool allowed;                /* a core is free for polling; false: never poll */
	int trust;                   /* 0 to 3: grows with a short wait, shrinks faster with a long one */
	double since;                /* clock at the start of this wait; 0: none */
};

/* Nothing has come (clock: now).  True: poll again; false: sleep until something comes. */
bool spin_on(struct spin *s, double now);
/* The wait has ended. */
void spin_over(struct spin *s, double now);

#endif
