/* SPDX-License-Identifier: Apache-2.0
 * A configuration with its model and data, joined into a training job. */
#pragma once

#include "cli/command.h"
#include "cli/job/device_choice.h"
#include "cli/job/samples.h"
#include "runtime/train/train.h"

struct coordinator;

struct job {
	struct diags *d;
	struct config *config;
	struct model_file model;
	struct samples samples;
	struct train_job train;
	struct coordinator *workers; /* NULL: no workers */
	char device_change[64],
		device_reason[DEVICE_REASON_MAX]; /* --device as a key; why auto is that device, or "" */
	const char *profile_socket; /* for run.json while the run is running; NULL: none */
	struct {
		bool done;
		double loss, metric[TRAIN_VALUES_MAX];
	} test;                                /* of the test part, when the training has ended */
	struct optimisation_use optimisations; /* those that this process has used */
	struct callback_set callbacks;       /* of train */
	double *init;                /* (nweight), or NULL */
	struct buf init_path;        /* path of their file, if train.init names a run */
	struct buf init_name; /* the run's own name, if the word in train.init may mean another one later */
	struct arena arena; /* of word, if init_name is in it */
	/* The words of the command that trains the same job later, NULL at the end, where they are others than those of this one;
	 * of a run that goes on with its own configuration those that train it from the beginning, and their folder. */
	char *const *word;
	const char *word_folder;
};

/* Read configuration, model and data, and print errors: 0 or the exit status; release *out in any case. */
int job_open(struct cli *c, const char *path, struct job *j);
void job_release(struct job *j);
/* The words of the command that trains the same job later, NULL at the end. */
static inline char *const *job_words(const struct cli *c, const struct job *j)
{
	return j->word ? j->word : c->argv;
}

/* Compile options from --const (with a config, from model.const), --no-pass, --include.
 * The arrays live as long as the struct. */
struct compile_words {
	struct const_override constant[OPTIONS_LIST_MAX];
	struct span at[OPTIONS_LIST_MAX];
	const char *without[OPTIONS_LIST_MAX + 1], *include[OPTIONS_LIST_MAX];
	struct arena text; /* of what constant[] points to */
	struct compile_options compile;
	struct lang_options lang;
};
/* -ERR_USAGE if a --const is not NAME=VALUE; config NULL: constants from the options. */
int compile_words_init(struct compile_words *w, const struct options *o, const struct config *config, struct err *e);
/* Check the names of --no-pass and the letters of --dump: 0, or the exit status after a message. */
int compile_words_check(struct cli *c, const struct compile_options *o);
void compile_words_release(struct compile_words *w);
