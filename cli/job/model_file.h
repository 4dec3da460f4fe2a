/* SPDX-License-Identifier: Apache-2.0
 * A model's file as a program: compiled from .qcnn, assembled from .asm, or read as
 * bytecode; and what the program's inputs want from data. */
#ifndef QCNN_MODEL_FILE_H
#define QCNN_MODEL_FILE_H

#include "compiler/compile.h"
#include "runtime/data/dataset.h"
#include "runtime/data/format/dataset_read.h"
#include "runtime/train/weights/weights.h"

struct model_file {
	struct program *program;     /* owned (by weights, where there are some); NULL when the text has errors */
	struct weights *weights;     /* owned: of a weights.bin, which is a model with its weights; else NULL */
	const char *text;            /* the model's source; NULL for bytecode; lives in the source set */
	size_t len;
	struct input_want *want;     /* (program->ninput_group) owned; with places where known */
};

/* A model as text, assembler text, bytecode, qsim's text, or in a weights.bin, by what the file holds.
 * 0 (then look at diags_errors), or a negative code and *e when the file cannot be had. */
int model_file_open(const char *path, struct diags *d, const struct lang_options *lo,
	const struct compile_options *co, struct model_file *out, struct err *e);
void model_file_release(struct model_file *m);
/* The exit status for a model with errors: configured, its constants are a configuration's, whose fault a wrong one is. */
int model_fault_status(const struct diags *d, bool configured);

/* Warns where one state of p takes more memory than this machine can give. */
void model_warn_large(struct diags *d, const struct program *p);

/* What a program's inputs want, without places: malloc'ed. */
struct input_want *input_wants(const struct program *p);

#endif
