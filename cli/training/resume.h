/* SPDX-License-Identifier: Apache-2.0
 * Finds the run that a training resumes, and its checkpoint. */
#pragma once

#include "cli/training/backup.h"

struct resume {
	struct run *run;         /* locked; NULL: begin a new run */
	struct weights *weights; /* the checkpoint borrows from it */
	struct checkpoint checkpoint;
	/* Metadata "checkpoint": {"count", "events", "lines", "seconds", "version"}, "ended_by" of a state after the last
	 * epoch from which no training goes on, and "extended" where the training is longer now: after which epoch that was begun. */
	json_t *note;
	bool extended;
};

/* Find the run by --resume and --fresh, and set j->resume if it has a state. Prints notes and errors: 0, or the exit
 * status. Release in any case. The caller closes the run. */
int resume_find(struct cli *c, struct job *j, struct resume *r);
void resume_release(struct resume *r);
uint64_t resume_count(const struct resume *r); /* number of checkpoints so far */
double resume_seconds(const struct resume *r); /* time of the run so far */
