/* SPDX-License-Identifier: Apache-2.0
 * Which run a training goes on with, and from which of its checkpoints. */
#ifndef QCNN_RESUME_H
#define QCNN_RESUME_H

#include "cli/training/backup.h"

struct resume {
	struct run *run;             /* locked; NULL: a new one is to be made */
	struct weights *weights;     /* that the checkpoint borrows from */
	struct checkpoint checkpoint;
	json_t *note;                /* metadata "checkpoint": {"count", "events", "lines", "seconds", "version"} */
};

/* By --resume and --fresh; j->resume is set where a state is found. Says what it does and what is wrong: 0, or the
 * exit status. Release in any case. The run is the caller's to close. */
int resume_find(struct cli *c, struct job *j, struct resume *r);
void resume_release(struct resume *r);
uint64_t resume_count(const struct resume *r);       /* checkpoints so far */
double resume_seconds(const struct resume *r);       /* the run took so far */

#endif
