/* SPDX-License-Identifier: Apache-2.0
 * The learning rate of each update of a restart: its only owner.
 *
 * The optimizer's option gives the rate at first; a schedule changes it with the number of updates; a callback replaces
 * it from some update on; an optimizer that finds its own rate takes none of these. */
#pragma once

#include "runtime/train/optimizer/optimizer.h"
#include "runtime/train/optimizer/schedule.h"

struct learning_rate {
	const struct optimizer_row *optimizer;
	struct schedule schedule;    /* resolved */
	double replaced;             /* by a callback; NaN: as the schedule says */
};

/* option: the optimizer's; s: the schedule as configured; nstep: updates of the whole training. */
void learning_rate_init(struct learning_rate *r, const struct optimizer_row *optimizer, const double *option,
	const struct schedule *s, uint64_t nstep);
/* A restart begins: no callback has replaced the rate. */
void learning_rate_begin(struct learning_rate *r);
void learning_rate_replace(struct learning_rate *r, double value);

/* The rate of the update that follows `step` others; NaN: the optimizer has none.  u: options and slots of an
 * optimizer that finds its own rate; NULL for those with optimizer_has_rate(). */
double learning_rate_of_step(const struct learning_rate *r, const struct update *u, uint64_t step);
