/* SPDX-License-Identifier: Apache-2.0
 * What --set, --const, --include and --no-pass gave, in the forms that other folders take. */
#ifndef QCNN_CHANGES_H
#define QCNN_CHANGES_H

#include "cli/config/configuration.h"
#include "cli/options.h"
#include "compiler/compile.h"

/* --set and --const in order of the command line: change[OPTIONS_LIST_MAX]; how many. */
unsigned changes_of(const struct options *o, struct config_change *change);
/* The arguments of one LIST option: value[OPTIONS_LIST_MAX]; how many. */
unsigned list_of(const struct options *o, enum option_id id, const char **value);

#endif
