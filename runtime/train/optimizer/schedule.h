/* SPDX-License-Identifier: Apache-2.0
 * Schedules: the learning rate of each update, from the rows of schedule.def. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"
#include "runtime/train/option/option.h"

enum { SCHEDULE_LISTS_MAX = 2 };

struct schedule;

struct schedule_row {
	const char *name, *doc, *source;
	unsigned noption; struct train_option option[TRAIN_OPTIONS_MAX];
	/* Rate of the update that comes after `step` others; no option is VALUE_UNSET then but
	 * warmup_target. */
	double (*rate)(const struct schedule *s, double step);
};

/* A schedule with its options; option[k] of a list is its length, and list[] holds the lists in
 * the row's order.  row NULL: as constant. */
struct schedule {
	const struct schedule_row *row;
	double learning_rate;                /* the optimiser's; see schedule_resolve */
	double option[TRAIN_OPTIONS_MAX];
	double list[SCHEDULE_LISTS_MAX][VALUE_LIST_MAX];
};

const struct schedule_row *schedule_find(const char *name);
size_t schedule_rows(const struct schedule_row **rows);

/* Do the options go together?  0 or -ERR_CONFIG. */
int schedule_check(const struct schedule *s, struct err *e);
/* Fill in what was left out: the optimiser's rate, and the updates of the whole training. */
void schedule_resolve(struct schedule *s, double learning_rate, uint64_t nstep);
double schedule_rate(const struct schedule *s, uint64_t step);
