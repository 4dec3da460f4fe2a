/* SPDX-License-Identifier: Apache-2.0
 * A table of words for people: rows of cells, printed with aligned columns. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"

struct table {
	unsigned ncolumn;
	struct arena arena;
	char **cell;
	size_t n;
}; /* { .ncolumn = N } is an empty one */

void table_add(struct table *t, const char *text);      /* the next cell of the row, copied */
void table_add_number(struct table *t, double v, const char *format);  /* empty for a NaN */
/* Columns aligned, two spaces between, nothing behind the last word of a row.  The table is empty then. */
void table_print(struct table *t, struct buf *out);
/* Lines with tabs between their columns: adjacent ones with as many columns are a table. */
void table_align(const char *text, struct buf *out);
