/* SPDX-License-Identifier: Apache-2.0
 * Resumed trainings of more epochs than they were begun with: where the result has the bits of one that had them from the
 * beginning. */
#pragma once

#include "cli/job/job.h"
#include "cli/job/run_folder.h"
#include "runtime/train/checkpoint/train_state.h"

struct extension {
	const struct run_folder *run;
	bool finished;   /* until now */
	uint32_t epochs; /* that the training of its checkpoint was to have; 0: as many as now */
	const char *ended_by; /* before all of them; NULL: nothing did, or it has not ended */
};

/* The epochs of a configuration as config_json has it; 0: it has none. */
uint32_t extend_epochs(const json_t *config);
/* Does the job have more epochs than the run, which has finished, and does the run keep a state?  0, or said and the exit status. */
int extend_more(struct cli *c, const struct job *j, const struct run_folder *f);
/* Are the updates up to there those of a training of the job's epochs?  0, or said and the exit status. */
int extend_check(struct cli *c, const struct job *j, const struct extension *x);
/* Does none of its restarts have to be begun again?  0, or said and the exit status. */
int extend_check_restarts(struct cli *c, const struct train_state *s, const struct extension *x);
/* The state after the last epoch is missing.  Said; the exit status. */
int extend_no_state(struct cli *c, const struct run_folder *f);
/* What happens now: the training goes on behind `epochs` epochs. */
void extend_say(struct cli *c, const struct job *j, const struct extension *x, uint32_t epochs);
