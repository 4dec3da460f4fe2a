/* SPDX-License-Identifier: Apache-2.0
 * The model that a command line names: its file, or a configuration that names the file and its constants. */
#pragma once

#include "cli/command.h"
#include "cli/config/configuration.h"
#include "cli/job/model_file.h"

struct named_model {
	struct diags *d;
	struct config *config;       /* NULL: a model alone, without defaults */
	bool configured;             /* config is that of a file, which names the model */
	struct model_file model;
	struct buf path;             /* of the file, where a run is named */
};

struct model_wish {
	const char *path; /* a file or the name of a run; NULL: none, and model.program stays NULL */
	bool defaults;    /* give a model without configuration the default configuration */
	bool alone;       /* a configuration is no model */
	bool whole;       /* warn about unused parts and missing outputs */
	const char *without;         /* a pass to skip besides those of --no-pass, or NULL */
	const char *dump;            /* letters of passes, or NULL */
	struct buf *dump_out;        /* receives the dumps */
};

/* Fill change[OPTIONS_LIST_MAX] with --set and --const in the order of the command line; returns their number. */
unsigned config_changes(const struct options *o, struct config_change *change);

/* Whether the name ends in .yaml or .yml. */
bool path_is_config(const char *path);

/* Open wish->path with --set, --const, --include and --no-pass: 0, or the exit status after a message; release *out in
 * any case. */
int named_model_open(struct cli *c, const struct model_wish *wish, struct named_model *out);
/* The same without warnings: the caller calls cli_warnings. */
int named_model_read(struct cli *c, const struct model_wish *wish, struct named_model *out);
/* The configuration at path alone; as named_model_open. */
int named_config_open(struct cli *c, const char *path, struct named_model *out);
/* Read the model that m->config names, or, without one, that at wish->path, into m->model: 0, or the exit status after a
 * message. */
/* Noise of run.noise behind the gates of the program. */
int model_add_noise(struct cli *c, const struct config *config, struct program *p);

int named_model_compile(struct cli *c, const struct model_wish *wish, struct named_model *m);
void named_model_release(struct named_model *m);
#define named_model_auto __attribute__((cleanup(named_model_release))) struct named_model
