/* SPDX-License-Identifier: Apache-2.0
 * Macros with which tables turn OPTION() rows in parentheses into arrays, and are looked up by name. */
#pragma once

#include <stddef.h>
#include <string.h>
#include "runtime/train/option/option.h"

#define OPTION(name, value, least, most, kind, doc) { #name, value, least, most, VALUE_##kind, doc, NULL }
/* An option of words or texts; see struct train_option. */
#define OPTION_TEXT(name, value, kind, words, doc) { #name, value, 0, 1e15, VALUE_##kind, doc, words }
#define OPTION_ROWS(...) __VA_ARGS__
#define OPTION_COUNT_OF(...) (sizeof (struct train_option[]){ __VA_ARGS__ } / sizeof (struct train_option))

/* The two functions of a file's `table`: all its rows, and the one of a name or NULL. */
#define TABLE_OF_ROWS(row_type, all_rows, find_row) \
	size_t all_rows(const struct row_type **rows) \
	{ \
		*rows = table; \
		return sizeof table / sizeof *table; \
	} \
\
	const struct row_type *find_row(const char *name) \
	{ \
		for (size_t i = 0; i < sizeof table / sizeof *table; i++) \
			if (!strcmp(table[i].name, name)) \
				return &table[i]; \
		return NULL; \
	}
