/* SPDX-License-Identifier: Apache-2.0
 * Subcommands by their names. */
#include "cli/command.h"

#include <string.h>

const struct command *const commands[] = {
#define COMMAND(ID, name) &command_##name,
#include "cli/commands.def"
#undef COMMAND
	NULL,
};

const struct command *command_find(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}
