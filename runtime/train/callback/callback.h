/* SPDX-License-Identifier: Apache-2.0
 * Callbacks of a restart of a training run, from the rows of callback.def.
 *
 * A struct callbacks belongs to one restart at a time.  It decides, and reports its decisions to the run's observer
 * (struct train_event), which writes files and runs programs.  Its state is a list of doubles and the best weights:
 * with both restored, a struct callbacks continues with the same bits. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"
#include "runtime/train/job/train_result.h"
#include "runtime/train/option/option.h"

enum { CALLBACK_KEEP_MAX = 1000, CALLBACK_PATH_MAX = 4096, CALLBACKS_MAX = 32 /* of all kinds */ };

enum callback_id {
#define CALLBACK(id, doc, source, changes_result, options) CALLBACK_##id,
#include "runtime/train/callback/callback.def"
#undef CALLBACK
	CALLBACK_COUNT
};

/* Where options stand in their rows. */
enum callback_early_stopping { STOP_MONITOR, STOP_MIN_DELTA, STOP_PATIENCE, STOP_MODE, STOP_BASELINE,
	STOP_RESTORE_BEST_WEIGHTS, STOP_START_FROM_EPOCH };
enum callback_checkpoint { SAVE_PATH, SAVE_MONITOR, SAVE_MODE, SAVE_BEST_ONLY, SAVE_FREQ, SAVE_KEEP,
	SAVE_INITIAL_VALUE_THRESHOLD };
enum callback_reduce_lr_on_plateau { PLATEAU_MONITOR, PLATEAU_FACTOR, PLATEAU_PATIENCE, PLATEAU_MODE,
	PLATEAU_MIN_DELTA, PLATEAU_COOLDOWN, PLATEAU_MIN_LR };
enum callback_csv { CSV_PATH, CSV_SEPARATOR, CSV_APPEND };
enum callback_command { HOOK_RUN, HOOK_ON, HOOK_TIMEOUT };
enum callback_mode { MODE_AUTO, MODE_MIN, MODE_MAX };
enum { ON_EPOCH = 1, ON_CHECKPOINT = 2, ON_END = 4 };

struct callback_row {
	const char *name, *doc, *source;
	bool changes_result;
	unsigned noption; struct train_option option[TRAIN_OPTIONS_MAX];
};

/* A callback with its options: numbers, and texts (borrowed) where the options are texts. */
struct callback_choice {
	enum callback_id id;
	bool enabled;
	double option[TRAIN_OPTIONS_MAX];
	const char *text[TRAIN_OPTIONS_MAX];
	const char *const *command;          /* words, the last NULL */
};
/* of[id] is the first of its kind; further ones follow after those. */
struct callback_set { struct callback_choice of[CALLBACK_COUNT + CALLBACKS_MAX]; unsigned n; };

const struct callback_row *callback_find(const char *name);
size_t callback_rows(const struct callback_row **rows);
/* One of each kind with the defaults of its row, none enabled. */
void callback_defaults(struct callback_set *s);
/* One more of a kind, enabled, with the defaults of its row; at most CALLBACKS_MAX. */
struct callback_choice *callback_add(struct callback_set *s, enum callback_id id);

struct train_job;
struct train_observer;
struct learning_rate;

/* The next enabled one of a kind; after: NULL for the first.  NULL: there are no more. */
const struct callback_choice *callback_next(const struct train_job *j, enum callback_id id, const struct callback_choice *after);
/* What the early_stopping of that number, from 0, monitors; NULL: there are fewer. */
const char *callback_stop_monitor(const struct train_job *j, unsigned which);

/* Do the callbacks fit the job: what they monitor, their paths, its schedule?  0 or -ERR_CONFIG. */
int callbacks_check(const struct train_job *j, struct err *e);

struct callbacks;
/* For a checked job and the rate of its updates, both borrowed; NULL and *e when memory is short. */
struct callbacks *callbacks_new(const struct train_job *j, struct learning_rate *rate, struct err *e);
void callbacks_free(struct callbacks *c);
/* A restart begins. */
void callbacks_begin(struct callbacks *c, uint32_t restart);

/* After each update: are files due now?  Then callbacks_save is to be called with the epoch so far. */
bool callbacks_step(struct callbacks *c);
/* step_in_epoch from 1; weight (nweight) as they are. */
void callbacks_save(struct callbacks *c, const struct train_observer *o, const struct epoch_record *r,
	uint32_t step_in_epoch, const double *weight);
/* After each epoch, when it was reported to the observer. */
void callbacks_epoch(struct callbacks *c, const struct train_observer *o, const struct epoch_record *r,
	uint32_t step_in_epoch, const double *weight);
/* Is the restart to end here? */
bool callbacks_stopped(const struct callbacks *c);
/* The restart has ended: where an early_stopping restores the best weights, they and their epoch replace weight[] and
 * *last; of several, the last one does. */
void callbacks_finish(struct callbacks *c, const struct train_observer *o, struct epoch_record *last, double *weight);

struct restart_end callbacks_end(const struct callbacks *c);

/* All numbers that the rest of the restart depends on, into out[max]; how many there are (more than
 * max: nothing was written).  A list of this restart, restored into a struct callbacks of the same
 * job, continues it. */
size_t callbacks_state(const struct callbacks *c, double *out, size_t max);
/* 0, or -ERR_BAD_DATA when the list is none of this job: the part of callbacks that change no result
 * may be missing, or be of other ones. */
int callbacks_restore(struct callbacks *c, uint32_t restart, const double *in, size_t n, struct err *e);
/* The best weights so far (nweight), which callbacks_restore leaves to the caller to fill in;
 * NULL: none are kept. */
double *callbacks_best(struct callbacks *c);
