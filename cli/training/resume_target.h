/* SPDX-License-Identifier: Apache-2.0
 * Chooses the instruction set or the device of a resumed training, which another machine may have begun.
 *
 * The bits depend on the kernels, so a run that was begun with one set ends with it; all GPUs have one set. */
#pragma once

#include "cli/job/job.h"

enum resume_answer {
	RESUME_SAME = 0, /* keep the target */
	RESUME_TAKE,     /* use the run's target */
	RESUME_NEW,      /* another one was requested: begin a new run, with a note */
	RESUME_REFUSE    /* this machine lacks the run's target */
};

/* run: the target that an unfinished run was begun with, possible: whether it runs here; now: what would compute; given: by run.isa or run.device, so
 * that now is no choice of ours. */
enum resume_answer resume_target_answer(const struct target *run, const struct target *now,
	bool possible, bool given);

/* Looks at the run that --resume means, the newest one by default, and takes its target: *taken.  To be called before
 * workers are started: they compute with the same.  0, or reported and the exit status. */
int resume_target(struct cli *c, struct job *j, bool *taken);
