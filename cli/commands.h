/* SPDX-License-Identifier: Apache-2.0
 * The constant entries at the ends of the cmd_*.c files. */
#pragma once

#include "cli/command.h"

extern const struct command command_train, command_infer, command_run, command_check, command_draw,
	command_runs, command_init, command_completions, command_compile, command_config,
	command_weights, command_explain, command_info, command_bench, command_profile,
	command_worker;
