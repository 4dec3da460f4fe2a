/* SPDX-License-Identifier: Apache-2.0
 * The external effects of callbacks: files of weights, programs of the user, messages.  A failure
 * is reported once, and the training continues. */
#pragma once

#include "cli/job/job.h"
#include "cli/output/write_error.h"
#include "runtime/log/progress.h"
#include "runtime/log/run.h"

struct train_callbacks {
	const struct cli *cli;
	const struct job *job;
	struct run *run;
	struct progress *progress;
	struct write_errors *write_errors;
	bool command_failed[CALLBACK_COUNT + CALLBACKS_MAX];     /* of each callback */
};

/* As train_observer's event. */
int train_callbacks_event(struct train_callbacks *t, const struct train_event *v);
/* After an epoch's line. */
void train_callbacks_epoch(struct train_callbacks *t, const struct epoch_record *r);
/* Call it at the end of the run: state as in run.json; r NULL: no result. */
void train_callbacks_end(struct train_callbacks *t, const char *state, const struct train_result *r);
/* Append "stopped early after epoch 7: ..." for the best restart, and the epoch of its weights; nothing if no callback
 * applied. */
void train_callbacks_ending(const struct train_job *j, const struct train_result *r, struct buf *out);
