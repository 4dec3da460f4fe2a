/* SPDX-License-Identifier: Apache-2.0
 * A CSV file on its way to a data set: its columns, and the numbers that were read. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/data/format/csv.h"
#include "runtime/data/format/label_words.h"
#include "runtime/base/text_table.h"
#include "runtime/data/format/reader.h"

enum { TO_NOTHING = -1, TO_LABEL = -2, TO_WEIGHT = -3, TO_SKIPPED = -4 };

struct csv_table {
	struct csv csv;
	const struct read_options *o;
	struct read_options own;         /* with the width of the file, where any will do */
	struct input_want want;
	struct input_map *map; /* made of o->trained or of the inputs' names */
	const char **input;    /* these */
	struct diags *diags;
	unsigned before;                 /* errors reported before this file's */
	bool has_header;
	struct span header;              /* the first row */
	bool at_first;                   /* no row was read but that */
	size_t ncolumn;
	struct arena memory;             /* of name, to, map, input and words */
	const char **name;               /* "1", "2", ... without a header */
	struct text_table index, again;  /* of name: its first place; its second one */
	int64_t *to;                     /* position in x, or one of the above */
	int64_t label, weight;           /* columns, or -1 */
	double *x, *y, *w;
	struct temporary_file *file; /* where rows of x go (x is then one row); NULL: they stay in x */
	size_t nrow, cap, nx;
	struct diag *last;               /* the last fault of a row */
	bool trained_listed;             /* an error lists the columns of the training */
	struct label_words words;        /* labels that have no number */
};

/* Errors reported for this file. */
unsigned csv_table_faults(const struct csv_table *t);
/* Looks at the first row, which csv_next has read: names, and whether it is a header. */
void csv_table_names(struct csv_table *t);
void csv_table_release(struct csv_table *t);
/* The names in the first row of a CSV file, in the arena; 0 where it has none, or cannot be read twice. */
size_t csv_header(const char *path, const struct read_options *o, struct arena *a, const char ***name);
/* Says which column feeds what; reports what does not fit. */
void csv_table_columns(struct csv_table *t);
