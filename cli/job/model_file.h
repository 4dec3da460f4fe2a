/* SPDX-License-Identifier: Apache-2.0
 * A model's file as a program: compiled from .qcnn or OpenQASM, assembled from .asm, or read as
 * bytecode; and the inputs that it requires of the data. */
#pragma once

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

/* Open a model as text, a circuit of OpenQASM, assembler text, bytecode, qsim's text, or in a weights.bin, recognised by its content.
 * 0 (then check diags_errors), or a negative code and *e if the file cannot be read. */
int model_file_open(const char *path, struct diags *d, const struct lang_options *lo,
	const struct compile_options *co, struct model_file *out, struct err *e);
void model_file_release(struct model_file *m);
/* The exit status for a model with errors.  configured: its constants come from a configuration, which then has the error. */
int model_fault_status(const struct diags *d, bool configured);

/* The inputs that a program requires, without source places; malloc'ed. */
struct input_want *input_wants(const struct program *p);
