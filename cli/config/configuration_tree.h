/* SPDX-License-Identifier: Apache-2.0
 * What a struct config holds; shared by configuration.c, which fills it, and configuration_print.c. */
#pragma once

#include "cli/config/configuration.h"

struct config {
	struct arena arena;
	struct diags *d;
	uint32_t file;
	const char *folder;
	bool of_run;                         /* config_of_run() */
	struct ynode *root;                  /* the file's tree after all changes */
	const struct ynode *value[KEY_COUNT];
	struct span key_at[KEY_COUNT];
	bool faulty[KEY_COUNT];              /* given, and refused */
};

/* Entry i of train.callbacks as a name, or a map from it to its options. */
struct ynode config_callback(const struct config *c, uint32_t i);
