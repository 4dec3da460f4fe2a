/* SPDX-License-Identifier: Apache-2.0
 * The model that a command line names: by its own file, or by a configuration that has it with
 * its constants. */
#ifndef QCNN_NAMED_MODEL_H
#define QCNN_NAMED_MODEL_H

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
	const char *path;            /* or the name of a run; NULL: there is none, and model.program stays NULL */
	bool defaults;               /* to a model alone belong the defaults of a configuration */
	bool whole;                  /* the model is to give outputs: warn about what is missing or useless in it */
	const char *without;         /* a pass to leave out besides those of --no-pass, or NULL */
	const char *dump;            /* letters of passes, or NULL */
	struct buf *dump_out;        /* gets what they print */
};

/* Does the name end in .yaml or .yml? */
bool path_is_config(const char *path);

/* Opens wish->path with what --set, --const, --include and --no-pass say.  0, or the exit status, and
 * the fault is said; release in any case. */
int named_model_open(struct cli *c, const struct model_wish *wish, struct named_model *out);
void named_model_release(struct named_model *m);

#endif
