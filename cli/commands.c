/* SPDX-License-Identifier: Apache-2.0
 * The list of subcommands, in the order of `qcnn --help`. */
#include "cli/commands.h"

#include <string.h>

const struct command *const commands[] = {
	&command_train,
	&command_infer,
	&command_run,
	&command_check,
	&command_draw,
	&command_compile,
	&command_init,
	&command_runs,
	&command_config,
	&command_weights,
	&command_explain,
	&command_info,
	&command_bench,
	&command_profile,
	&command_completions,
	&command_worker,
	NULL,
};

const struct command *command_find(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}
