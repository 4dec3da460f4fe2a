/* SPDX-License-Identifier: Apache-2.0
 * A configuration with its model and data, joined into a training job. */
#ifndef QCNN_JOB_H
#define QCNN_JOB_H

#include "cli/command.h"
#include "cli/job/device_choice.h"
#include "cli/job/samples.h"
#include "runtime/train/train.h"
#include "runtime/train/weights/weights.h"

struct coordinator;

struct job {
	struct source_set *sources;
	struct diags *d;
	struct config *config;
	struct model_file model;
	struct samples samples;
	struct train_job train;
	struct coordinator *workers;   /* NULL: there are none elsewhere */
	char device_change[64],
		device_reason[DEVICE_REASON_MAX]; /* --device as a key; why auto is that device, or "" */
	const char *profile_socket; /* while it runs, for run.json; NULL: there is none */
	struct optimisation_use optimisations; /* that training has taken in this process */
	struct callback_set callbacks;       /* of train */
	double *init;                /* (nweight), or NULL */
	struct buf init_path;        /* of their file, where a run is named */
};

/* Read everything; faults are printed.  0 or the exit status; release in any case. */
int job_open(struct cli *c, const char *path, struct job *j);
void job_release(struct job *j);

/* Compile options from --const (model.const where a config is given), --no-pass, --include.
 * The arrays live as long as the struct. */
struct compile_words {
	struct const_override constant[OPTIONS_LIST_MAX];
	struct span at[OPTIONS_LIST_MAX];
	const char *without[OPTIONS_LIST_MAX + 1], *include[OPTIONS_LIST_MAX];
	char *text[OPTIONS_LIST_MAX];        /* owned copies behind constant[] */
	unsigned ntext;
	struct compile_options compile;
	struct lang_options lang;
};
/* -ERR_USAGE when a --const is no NAME=VALUE; config NULL: constants from the options. */
int compile_words_init(struct compile_words *w, const struct options *o, const struct config *config, struct err *e);
/* Are the names of --no-pass and the letters of --dump those of passes?  0, or said and the status. */
int compile_words_check(struct cli *c, const struct compile_options *o);
void compile_words_release(struct compile_words *w);

#endif
