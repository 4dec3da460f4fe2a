/* SPDX-License-Identifier: Apache-2.0
 * The learning rate of each update of a restart, and schedules: rows of schedule.def.
 *
 * The optimizer's option gives the rate at first; a schedule changes it with the number of updates; a callback replaces
 * it from some update on; an optimizer that finds its own rate takes none of these. */
#pragma once

#include "runtime/train/optimizer/optimizer.h"

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
/* The option that stands for the updates of the whole training, since it was left out: other rates for another number of
 * epochs.  NULL: none. */
const char *schedule_length(const struct schedule *s);
/* Fill in what was left out: the optimiser's rate, and the updates of the whole training. */
void schedule_resolve(struct schedule *s, double learning_rate, uint64_t nstep);
double schedule_rate(const struct schedule *s, uint64_t step);

struct learning_rate {
	const struct optimizer_row *optimizer;
	struct schedule schedule; /* resolved */
	double replaced;          /* by a callback of this restart; NaN: as the schedule says */
};

/* option: the optimizer's; s: the schedule as configured; nstep: updates of the whole training. */
void learning_rate_init(struct learning_rate *r, const struct optimizer_row *optimizer,
	const double *option, const struct schedule *s, uint64_t nstep);
/* The rate of the update that follows `step` others; NaN: the optimizer has none.  u: options and slots of an
 * optimizer that finds its own rate; NULL for those with optimizer_has_rate(). */
double learning_rate_of_step(const struct learning_rate *r, const struct update *u, uint64_t step);
