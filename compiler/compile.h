/* SPDX-License-Identifier: Apache-2.0
 * A resolved tree becomes a program: elaborate, passes, lower.  pipeline.c lists
 * all of it on one screen. */
#pragma once

#include "lang/lang.h"
#include "runtime/program/program.h"

enum {
	COMPILE_STEPS_MAX = 4 << 20,     /* statements run by elaboration: an endless `while` ends here */
	COMPILE_IDLE_MAX = 1 << 17,      /* runs of a `while` in which no gate and no term of an observable is added */
	COMPILE_CALLS_MAX = 1 << 20,     /* calls after unrolling */
	COMPILE_DEPTH_MAX = 128,         /* blocks calling blocks */
	COMPILE_NESTING_MAX = 4000,      /* statements inside each other, those of called blocks too */
	COMPILE_LIST_MAX = 1 << 22       /* elements of one list */
};

/* Passes that can be dumped (`-d LETTERS`) and switched off (`--no-pass NAME`). */
struct pass_row { const char *name; char letter; const char *doc; bool optional; };
size_t compile_passes(const struct pass_row **rows);

struct const_override { const char *name; const char *value; };   /* --const n=16 */

struct compile_options {
	const struct const_override *constant; unsigned nconstant;
	const struct span *constant_at;                  /* where each is given; NULL: on the command line */
	const char *const *without; unsigned nwithout;   /* names of optional passes */
	bool whole;                                      /* also warn about inputs, qubits and outputs that are missing or useless */
	const char *dump;                                /* letters, or NULL */
	struct buf *dump_out;
};

/* NULL when d has errors (they are reported there).  The program is verified. */
struct program *compile_tree(struct ast *t, struct diags *d, const struct compile_options *o);
/* The same of a design that a reader has built (circuit_builder.h); the design stays the caller's. */
struct design;
struct program *compile_design(struct design *b, struct diags *d, const struct compile_options *o);
/* The first part of compile_tree: the tree is run into *b, which is empty.  With errors *b is incomplete. */
void elaborate(struct ast *t, struct diags *d, const struct compile_options *o, struct design *b);

/* -ERR_BAD_DATA where the program has more gates, those in blocks counted for each use, than a model may have, or deeper blocks. */
int model_check_size(const struct program *p, struct err *e);

/* Depolarising channels behind all gates of the program, also those in blocks: behind one on one qubit, controls
 * counted, with probability `one`, on two qubits with `two`. Gates on more have none. -ERR_BAD_DATA: too many gates;
 * the program is then of no use. */
int compile_noise(struct program *p, double one, double two, struct err *e);

/* The program as text, and back to the same bytes (see qcnn-bytecode(5)). */
void asm_print(const struct program *p, struct buf *out);
struct program *asm_read(struct diags *d, uint32_t file);

/* The program's circuits as a model, gate by gate, with weight[nweight] as numbers; inputs stay inputs, and
 * a head is left out.  The text compiles to the same states and readouts.  -ERR_BAD_DATA: more gates than
 * a model may have, or an angle that is not finite. */
int model_print(const struct program *p, const double *weight, struct buf *out, struct err *e);
