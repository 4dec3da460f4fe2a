/* SPDX-License-Identifier: Apache-2.0
 * Waits that will be short are spent looking instead of sleeping: waking up takes longer than they do.
 *
 * Whether they will be is guessed from the last ones: looking begins when most were short, and stops when one was
 * not, so a process that has nothing to do for long sleeps, and one whose work is long loses nothing to it. */
#ifndef QCNN_SPIN_H
#define QCNN_SPIN_H

#include <stdbool.h>

#define SPIN_S 100e-6                    /* of a wait that is short, and of a look in vain */

struct spin {
	bool allowed;                /* is there a core for it? false: never */
	int trust;                   /* 0 to 3: grows by a short wait, shrinks more by another */
	double since;                /* clock: this wait has begun; 0: there is none */
};

/* Nothing has come (clock: now): true, and the caller looks again; false, and it sleeps until something comes. */
bool spin_on(struct spin *s, double now);
/* Something has come, or will not. */
void spin_over(struct spin *s, double now);

#endif
