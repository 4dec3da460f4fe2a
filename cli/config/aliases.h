/* SPDX-License-Identifier: Apache-2.0
 * What keys and values of a configuration are called in other programs: the rows of aliases.def,
 * and what they were called here before: those of former_names.def. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The one of name[n] that goes by this word elsewhere, or NULL. Capital letters, _ and - do not count. */
const char *alias_find(const char *word, const char *const *name, size_t n);

/* Is `value` that choice, of n characters?  One that ends in ":N" has any number of one or two digits there. */
bool choice_is(const char *word, size_t n, const char *value);

enum former_kind { FORMER_OPTION = 1, FORMER_KEY, FORMER_VALUE };

/* The name now of what name[0..len) was called before; NULL: nothing was. */
const char *former_now(enum former_kind kind, const char *name, size_t len);
/* The former name of what is called this now, or the name itself. */
const char *former_name(enum former_kind kind, const char *now);
