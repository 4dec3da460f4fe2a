/* SPDX-License-Identifier: Apache-2.0
 * Checkpoints of a run while it trains: checkpoint/0.bin and checkpoint/1.bin in turn, so that the
 * one before stays whole until the next one is. */
#pragma once

#include "cli/job/record.h"
#include "cli/job/run_folder.h"
#include "cli/output/write_error.h"
#include "cli/report/report.h"
#include "cli/training/train_log.h"
#include "runtime/train/checkpoint/checkpoint.h"
#include "runtime/train/checkpoint/end_states.h"

struct backup {
	struct write_errors *write_errors;
	const struct job *job;
	struct run *run;
	struct train_log *log;       /* of the run; NULL when it is closed */
	struct train_report *report; /* NULL: none is requested */
	struct record_texts texts;
	double every_seconds;
	uint64_t every_steps; /* 0: not by this criterion */
	double last,
		begin; /* time of the last one; start of the run, as if it had not been interrupted */
	uint64_t nstep, count;       /* updates since the last one; checkpoints so far */
	struct train_log_waiting waiting;    /* while one is written */
	struct end_states *ends;             /* of restarts; borrowed */
	const char *ended_by; /* of the state after the last epoch; NULL: it can be extended */
};

/* count: number of the checkpoint that the run is resumed from, else 0; ends: filled while it trains. */
int backup_open(struct backup *b, struct write_errors *t, const struct job *j, struct run *run,
	double begin, uint64_t count, struct end_states *ends, struct err *e);
/* Call it after every update: whether a checkpoint is due or a signal was received. */
bool backup_is_due(struct backup *b);
/* Save. 0, or after a signal the code to stop with: -ERR_STOPPED, or -ERR_IO if the state could
 * not be saved. Without a signal a failure is reported, and saving is tried again at the next checkpoint. */
int backup_save(struct backup *b, const struct train_state *s, struct err *e);
/* After the update that train.max_steps makes the last one, within an epoch: a longer training goes on from there, and not from
 * behind what is an epoch of fewer updates now.  Of several restarts there is no state that one file of lines belongs to. */
void backup_save_cut(struct backup *b, const struct train_state *s);
/* The states after the last epochs of all restarts, with what ended the training in the metadata. Call it when the run has
 * finished: those of a run that is extended stay until then, and weights and record come first where the disk is nearly full. */
void backup_save_end(struct backup *b);
void backup_close(struct backup *b);
