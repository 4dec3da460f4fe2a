/* SPDX-License-Identifier: Apache-2.0
 * The checks of values that schema.c and schema_rows.c share: each reports what is wrong and
 * returns true when all is well. */
#pragma once

#include "cli/config/schema.h"

struct check {
	struct diags *d;
	const struct schema_row *row;
	const char *what;            /* how messages call the value */
	const struct train_option *option;   /* whose value it is, or NULL: the key's, or what stands in that */
};

/* Report that v is not a valid value, and which numbers and words are allowed; false. */
bool check_wrong_kind(const struct check *c, const struct ynode *v, const char *wanted);
bool check_number(const struct check *c, const struct ynode *v, double low, double high);
bool check_bool(const struct check *c, const struct ynode *v);
bool check_text(const struct check *c, const struct ynode *v);
/* Does each entry of a list or map pass? All are checked. */
bool check_each(const struct check *c, const struct ynode *v,
	bool (*entry)(const struct check *c, const struct ynode *v));
/* Are there at most `most` of n things that are called `what`? */
bool check_count(const struct check *c, const struct ynode *v, uint32_t n, unsigned most,
	const char *what);
/* Is `word`, which stands at `at` in v or is v, one of the row's choices? */
bool check_one_of(const struct check *c, const struct ynode *v, struct span at, const char *word);

/* Say which of name[n] was meant with `word`, if one is likely. */
void help_name(struct diag *g, const char *word, const char *const *name, size_t n);

/* A row of a table with options, by the key's type: NAME, or {NAME: {option: value}}. */
bool check_row(const struct check *c, const struct ynode *v);
bool check_metrics(const struct check *c, const struct ynode *v);
bool check_callbacks(const struct check *c, const struct ynode *v);
bool check_transforms(const struct check *c, const struct ynode *v);
bool check_regularizers(const struct check *c, const struct ynode *v);
bool check_constraints(const struct check *c, const struct ynode *v);
