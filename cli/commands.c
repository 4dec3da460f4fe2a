/* SPDX-License-Identifier: Apache-2.0
 * Subcommands by their names. */
#include "cli/command.h"

#include <string.h>

const struct command commands[] = {
#define COMMAND(ID, name) { COMMAND_##ID, #name, &command_##name },
#include "cli/commands.def"
#undef COMMAND
	{ 0 },
};

const struct command *command_find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}
