/* SPDX-License-Identifier: Apache-2.0
 * With which instruction set, or which device, a training goes on that another machine may have begun.
 *
 * Kernels are part of what decides the bits, so a run that was begun with one set ends with it; all GPUs have one. */
#ifndef QCNN_RESUME_ISA_H
#define QCNN_RESUME_ISA_H

#include "cli/job/job.h"

enum resume_answer {
	RESUME_SAME = 0, /* nothing is to be done */
	RESUME_TAKE,     /* compute with the run's */
	RESUME_NEW,      /* another one was asked for: a new run, which is said */
	RESUME_REFUSE    /* this machine lacks it */
};

/* run: the target that an unfinished run was begun with, possible: whether it runs here; now: what would compute; given: by run.isa or run.device, so
 * that now is no choice of ours. */
enum resume_answer resume_isa_answer(const struct target *run, const struct target *now,
	bool possible, bool given);

/* Looks at the run that --resume means, the newest one by default, and takes its set: *taken.  Before workers are
 * started, who compute with the same.  0, or said and the exit status. */
int resume_isa(struct cli *c, struct job *j, bool *taken);

#endif
