/* SPDX-License-Identifier: Apache-2.0
 * Names of the shortcuts. */
#include "config.h"
#include "runtime/exec/exact_optimisation.h"

#include <string.h>

const char *const shortcut_name[SHORTCUTS_COUNT] = {
#define SHORTCUT(id, name, text) name,
#include "runtime/exec/exact_optimisation.def"
#undef SHORTCUT
};

const char *const shortcut_text[SHORTCUTS_COUNT] = {
#define SHORTCUT(id, name, text) text,
#include "runtime/exec/exact_optimisation.def"
#undef SHORTCUT
};

unsigned shortcut_find(const char *name)
{
	for (unsigned k = 0; k < SHORTCUTS_COUNT; k++)
		if (!strcmp(name, shortcut_name[k]))
			return 1u << k;
	return SHORTCUT_NONE;
}
