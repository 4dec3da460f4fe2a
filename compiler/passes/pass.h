/* SPDX-License-Identifier: Apache-2.0
 * Machine-independent passes over a design; pipeline.c says in which order.
 * Blocks stay matrices: no pass dissolves one. */
#pragma once

#include "compiler/circuit.h"

struct diags;

void pass_fold(struct design *d);
void pass_cancel(struct design *d);
void pass_cone(struct design *d);
/* The wires of c that are in the light cone of an output somewhere; malloc'ed. */
bool *pass_cone_wires(const struct design *d, const struct circuit *c);

/* What the applies of a design use: flags by number, malloc'ed. */
struct used { bool *matrix, *expr; };
void used_mark(const struct design *d, struct used *u);
void used_release(struct used *u);
/* Which scalars of EXPR_WEIGHT or EXPR_INPUT stand in used angles and amplitudes; malloc'ed. */
bool *used_scalars(const struct design *d, enum expr_op op);

/* The design as text: what `compile --dump` prints after a pass. */
void design_print(const struct design *d, struct buf *out);
