/* SPDX-License-Identifier: Apache-2.0
 * The model that a command line names: its file, or a configuration that names the file and its constants. */
#pragma once

#include "cli/command.h"
#include "cli/config/configuration.h"
#include "cli/job/model_file.h"

struct named_model {
	struct source_set *sources;
	struct diags *d;
	struct config *config;       /* NULL: a model alone, without defaults */
	struct model_file model;
	struct buf path;             /* of the file, where a run is named */
};

struct model_wish {
	const char *path; /* a file or the name of a run; NULL: none, and model.program stays NULL */
	bool defaults;    /* give a model without configuration the default configuration */
	bool whole;       /* warn about unused parts and missing outputs */
	const char *without;         /* a pass to skip besides those of --no-pass, or NULL */
	const char *dump;            /* letters of passes, or NULL */
	struct buf *dump_out;        /* receives the dumps */
};

/* Whether the name ends in .yaml or .yml. */
bool path_is_config(const char *path);

/* Open wish->path with --set, --const, --include and --no-pass: 0, or the exit status after a message; release *out in
 * any case. */
int named_model_open(struct cli *c, const struct model_wish *wish, struct named_model *out);
void named_model_release(struct named_model *m);
