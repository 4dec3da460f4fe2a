/* SPDX-License-Identifier: Apache-2.0
 * Resumed trainings of more epochs, or more updates (train.max_steps), than they were begun with: where the result has the bits of
 * one that had them from the beginning. */
#pragma once

#include "cli/job/job.h"
#include "cli/job/run_folder.h"
#include "runtime/train/checkpoint/train_state.h"

struct extension {
	const struct run_folder *run;
	bool finished;      /* until now */
	bool more;          /* epochs or updates than the training of its checkpoint was to have */
	uint32_t epochs;    /* those of that training */
	uint64_t max_steps; /* its train.max_steps; 0: none */
	const char *ended_by; /* why it cannot go on, as backup.c records it; NULL: it can */
};

/* Fills epochs, max_steps and more of *x, from configurations as config_json has them.  Where ours are more, they become those of
 * theirs. */
void extend_lengths(json_t *ours, const json_t *theirs, struct extension *x);
/* Is the job longer than the run, which has finished?  0, or said and the exit status. */
int extend_more(struct cli *c, const struct job *j, const struct run_folder *f);
/* Are the updates up to there those of the longer training?  0, or said and the exit status. */
int extend_check(struct cli *c, const struct job *j, const struct extension *x);
/* Does one of its restarts go on, and does none of them have to be begun again?  0, or said and the exit status. */
int extend_check_restarts(struct cli *c, const struct job *j, const struct train_state *s,
	const struct extension *x);
/* The state after the last epoch is missing.  Said; the exit status. */
int extend_no_state(struct cli *c, const struct run_folder *f);
/* The epochs behind which it goes on. */
uint32_t extend_epoch(const struct train_state *s);
/* What happens now. */
void extend_say(struct cli *c, const struct job *j, const struct train_state *s,
	const struct extension *x);
