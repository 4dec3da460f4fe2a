/* SPDX-License-Identifier: Apache-2.0
 * `qcnn train --resume=RUN` without CONFIG: the run's config.yaml is the configuration. */
#pragma once

#include "cli/command.h"
#include "runtime/base/arena.h"

struct own_config {
	/* NULL: the command line names a configuration.  Else the words that train the run from the beginning, and the folder
	 * in which they do. */
	char **word;
	const char *folder;
	const char *run, *path; /* of the run, and of its configuration */
	const char *base;       /* of the configuration's paths */
	size_t nword;
	struct arena arena; /* of all of these, which the command line borrows */
};

/* Completes the command line: CONFIG, log.dir, and the folder to which paths are relative.  0, or said and the exit status;
 * release *o in any case, after the command has ended. */
int own_config_find(struct cli *c, struct own_config *o);
/* A file was not found: where it was looked for, unless CONFIG was given. */
void own_config_explain(const struct cli *c, const struct own_config *o);
void own_config_release(struct own_config *o);
