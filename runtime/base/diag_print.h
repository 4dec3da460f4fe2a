/* SPDX-License-Identifier: Apache-2.0
 * What one diagnostic holds; shared by diag.c, which fills it, and diag_print.c. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/base/diag.h"

struct diag_text {
	struct diag_text *next;
	struct span at;             /* second places only */
	const char *text;
};

struct diag {
	const struct diag_row *row;
	struct span at;
	const char *text;
	struct diag_text *part[DIAG_PARTS]; /* lists in order; one label at most */
	struct arena arena;
};

struct diags {
	struct source_set *sources;
	struct diag **v;
	size_t n, cap;
	unsigned nerror, nwarning;  /* counted also beyond the limit */
	struct diag dropped;
};
