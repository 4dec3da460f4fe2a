/* SPDX-License-Identifier: Apache-2.0
 * Steps between the columns of the data and the inputs of a model: scaling and principal components.
 *
 * What a step needs is learnt from the training rows alone; all parts, and data that come later, go
 * through the same numbers, which are kept with the weights. */
#pragma once

#include "runtime/base/buf.h"
#include "runtime/data/dataset.h"

enum {
	TRANSFORM_STEPS_MAX = 8,
	TRANSFORM_OPTIONS_MAX = 3,
	TRANSFORM_SAFE_EXPONENT = 400,   /* squares of 2^400, and sums of them, are far from the ends of double's range */
	PCA_COLUMNS_MAX = 4096,
	PCA_COMPONENTS_MAX = 256
};

enum resize_value {
	RESIZE_ROWS_IN = 0,
	RESIZE_COLUMNS_IN,
	RESIZE_ROWS,
	RESIZE_COLUMNS,
	RESIZE_AVERAGE,
	RESIZE_VALUES
};

enum transform_kind {
	TRANSFORM_NONE = 0,
#define TRANSFORM(name, doc, source, options) TRANSFORM_##name,
#include "runtime/data/transform/transforms.def"
#undef TRANSFORM
	TRANSFORM_COUNT
};

const char *transform_name(enum transform_kind k);
enum transform_kind transform_find(const char *name);        /* TRANSFORM_NONE: unknown */

/* option: as in transforms.def; NAN where left out. components must be given. */
struct transform_wish { enum transform_kind kind; double option[TRANSFORM_OPTIONS_MAX]; };

/* min_max, standardize: y[j] = (x[j] - value[j]) * value[nin + j] + value[2 nin].
 * pca: y[i] = sum over j of value[nin + i nin + j] * (x[j] - value[j]).  l2: no values.
 * resize: rows and columns of the pictures, of the smaller ones, and whether these have means. */
struct transform_step { enum transform_kind kind; uint32_t nin, nout; size_t nvalue; double *value; };
struct transform { unsigned nstep; struct transform_step step[TRANSFORM_STEPS_MAX]; };

/* A data set that stays in its file remembers the steps, and takes its rows through them when they are read: t lives
 * as long as it does. */
/* Learns step after step from rows row[0..nrow) of d (row NULL: from all), and changes all of d. */
int transform_fit(const struct transform_wish *wish, unsigned n, struct dataset *d, const uint32_t *row,
	uint32_t nrow, struct transform *out, struct err *e);
/* Changes d in the same way, to the same bits. */
int transform_apply(const struct transform *t, struct dataset *d, struct err *e);
void transform_release(struct transform *t);

/* Columns that go in, and numbers that come out; 0 without steps. */
uint32_t transform_width(const struct transform *t);
uint32_t transform_outputs(const struct transform *t);

/* Numbers that a step makes of any number of columns, or 0: as many as go in. */
uint32_t transform_wish_width(const struct transform_wish *w);

/* Do the values of a resize step fit its nin and nout? */
bool transform_resize_fits(const struct transform_step *s);

/* As canonical JSON, and back; the same bits. */
void transform_format(const struct transform *t, struct buf *out);
int transform_parse(const char *text, size_t len, struct transform *out, struct err *e);
