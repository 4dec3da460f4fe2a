/* SPDX-License-Identifier: Apache-2.0
 * Machine-independent passes over a design, what is made of it in the end, and warnings; pipeline.c says in which order.
 * Blocks stay matrices: no pass dissolves one. */
#pragma once

#include "compiler/circuit.h"

struct diags;
struct source_set;

void pass_fold(struct design *d);
void pass_cancel(struct design *d);
void pass_cone(struct design *d);
/* The wires of c that are in the light cone of an output somewhere; malloc'ed. */
bool *pass_cone_wires(const struct design *d, const struct circuit *c);

/* What the applies of a design use: flags by number, in its arena. */
struct used { bool *matrix, *expr; };
void used_mark(const struct design *d, struct used *u);
/* Which scalars of EXPR_WEIGHT or EXPR_INPUT stand in used angles and amplitudes; malloc'ed. */
bool *used_scalars(const struct design *d, enum expr_op op);

/* A design becomes a program: what is used, numbered, in the program's own memory. Never NULL; not yet verified. */
struct program *lower(const struct design *d, const struct source_set *sources);

/* Warnings about what a model declares and does not need.
 *
 * used, effective: flags by scalar number (used_scalars): stands in an angle or amplitude of the text; of the applies that
 * are left by the passes.  Each declaration gets at most one warning, however many instances it has. */
void warn_weights(const struct design *d, const bool *used, const bool *effective,
	struct diags *diags);
void warn_inputs(const struct design *d, const bool *used, const bool *effective, struct diags *diags);
/* Qubits that no output depends on and that are not discarded; to be called before the passes. */
void warn_qubits(const struct design *d, struct diags *diags);
/* Is nothing observed?  Then it warned. */
bool warn_outputs(const struct design *d, struct diags *diags);

/* The design as text: what `compile --dump` prints after a pass. */
void design_print(const struct design *d, struct buf *out);
