/* SPDX-License-Identifier: Apache-2.0
 * Constraints: what is done to weights after each update, by the rows of constraint.def. */
#pragma once

#include "runtime/base/err.h"
#include "runtime/program/program.h"
#include "runtime/train/option/option.h"

enum { CONSTRAINTS_MAX = 16 };

struct constraint_row {
	const char *name, *doc, *source;
	unsigned noption; struct train_option option[TRAIN_OPTIONS_MAX];
	/* The factor of each weight of a vector whose norm is given; NULL: each weight is its own vector. */
	double (*scale)(const double *opt, double norm);
};
const struct constraint_row *constraint_find(const char *name);
size_t constraint_rows(const struct constraint_row **rows);

/* A constraint of the weight groups whose path `pattern` matches; NULL: of all. */
struct constraint { const struct constraint_row *row; double option[TRAIN_OPTIONS_MAX]; const char *pattern; };

/* Does each constraint find a group that may move, and have these the dimension that it names? 0 or -ERR_CONFIG. */
int constraint_check(const struct constraint *v, unsigned n, const struct program *p, struct err *e);
/* All of them in order, on weight[nweight]; frozen weights stay. */
void constraint_apply(const struct constraint *v, unsigned n, const struct program *p, double *weight);
