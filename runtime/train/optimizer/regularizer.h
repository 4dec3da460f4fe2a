/* SPDX-License-Identifier: Apache-2.0
 * Regularisers: what weights add to the loss, by the rows of regularizer.def. */
#pragma once

#include "runtime/base/err.h"
#include "runtime/program/program.h"

enum { PENALTIES_MAX = 16 };

struct regularizer_row {
	const char *name, *doc, *source;
	double (*value)(double weight, double *derivative);
};
const struct regularizer_row *regularizer_find(const char *name);
size_t regularizer_rows(const struct regularizer_row **rows);

/* A regulariser of the weight groups whose path `pattern` matches; NULL: of all. */
struct penalty { const struct regularizer_row *row; double factor; const char *pattern; };

/* Does the whole path match?  `*` stands for any text, `?` for any character. */
bool penalty_matches(const char *pattern, const char *path);
/* May the group's weights move, and does its path match?  NULL: any does. */
bool penalty_applies(const char *pattern, const struct weight_group *g);
/* Does each penalty find a group that may move?  0 or -ERR_CONFIG. */
int penalty_check(const struct penalty *v, unsigned n, const struct program *p, struct err *e);
/* The sum of all; gradient[nweight] (may be NULL) gets the derivatives added.  Frozen weights pay
 * nothing, as Keras's that cannot be trained. */
double penalty_sum(const struct penalty *v, unsigned n, const struct program *p,
	const double *weight, double *gradient);
