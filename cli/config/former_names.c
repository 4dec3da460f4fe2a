/* SPDX-License-Identifier: Apache-2.0
 * Finds the present name for a former one, and the reverse. */
#include "cli/config/former_names.h"

#include <string.h>

static const struct {
	enum former_kind kind;
	const char *before, *now;
} row[] = {
#define FORMER(kind, before, now) { FORMER_##kind, before, now },
#include "cli/config/former_names.def"
#undef FORMER
};

const char *former_now(enum former_kind kind, const char *name, size_t len)
{
	for (size_t k = 0; k < sizeof row / sizeof *row; k++)
		if (row[k].kind == kind && strlen(row[k].before) == len
			&& !strncmp(row[k].before, name, len))
			return row[k].now;
	return NULL;
}

const char *former_name(enum former_kind kind, const char *now)
{
	for (size_t k = 0; k < sizeof row / sizeof *row; k++)
		if (row[k].kind == kind && !strcmp(row[k].now, now))
			return row[k].before;
	return now;
}
