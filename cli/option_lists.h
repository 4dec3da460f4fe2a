/* SPDX-License-Identifier: Apache-2.0
 * The values of --set, --const, --include and --no-pass, converted for other modules. */
#pragma once

#include "cli/config/configuration.h"
#include "cli/options.h"
#include "compiler/compile.h"

/* Fill change[OPTIONS_LIST_MAX] with --set and --const in the order of the command line; returns their number. */
unsigned changes_of(const struct options *o, struct config_change *change);
/* Fill value[OPTIONS_LIST_MAX] with the arguments of a LIST option; returns their number. */
unsigned list_of(const struct options *o, enum option_id id, const char **value);
