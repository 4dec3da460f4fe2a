/* SPDX-License-Identifier: Apache-2.0
 * Files of weights for `qcnn weights`: a weights.bin, which has its own program, or numbers
 * of another file for the program of --model or of a weights.bin beside it. */
#pragma once

#include "cli/command.h"
#include "cli/job/named_model.h"
#include "runtime/train/weights/weights.h"

/* Open the file of --model, with the defaults of a configuration; without --model, model.program is NULL.
 * 0, or the exit status after a message; named_model_release in any case. */
int weights_model_open(struct cli *c, struct named_model *out);

struct weights_file {
	const char *path;
	const struct program *program;
	const double *weight;        /* (program->nweight) */
	struct weights *bin;         /* owned; NULL: other files have no metadata */
	double *own;                 /* owned */
};

/* The folder in which runs are searched by name. */
#define RUNS_FOLDER "runs"
/* *word, which names a file or a run, becomes the path of a file (run_file); the text may be in *own.  0, or the exit
 * status after a message. */
int weights_named(struct cli *c, const char **word, struct buf *own);

/* run.precision of the training that made them; NULL: none did, or w is NULL. */
const char *weights_precision(const struct weights *w);
bool weights_file_is_bin(const char *path);     /* by its ending: none of the other files' */
/* Open a weights.bin if p is NULL, else a file of any format for that program: 0 or the exit status. */
int weights_file_open(struct cli *c, const char *path, const struct program *p, struct weights_file *out);
void weights_file_release(struct weights_file *f);
/* The weights of --weights, else those of the model's file, else the initial ones of --seed, with a note unless nused, the number
 * of weights that are of use, is 0: *weight (nweight), to be freed. without_head: those of the head may be missing. 0 or the
 * exit status. */
int weights_of_model(struct cli *c, const struct model_file *m, bool without_head, uint32_t nused,
	double **weight);
/* For an imported .h5 file, print to which weights its numbers were assigned. */
void weights_file_say_orders(struct cli *c, const char *path, const struct program *p);

/* The two actions with functions of their own; 0 or the exit status. */
int weights_convert(struct cli *c);
int weights_diff(struct cli *c);
