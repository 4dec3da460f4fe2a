/* SPDX-License-Identifier: Apache-2.0
 * Machine-independent passes over a design; pipeline.c says in which order.
 * Blocks stay matrices: no pass dissolves one. */
#ifndef QCNN_PASS_H
#define QCNN_PASS_H

#include "compiler/circuit.h"

struct diags;

void pass_fold(struct design *d);
void pass_cancel(struct design *d);
void pass_cone(struct design *d);

/* What the applies of a design use: flags by number, malloc'ed. */
struct used { bool *matrix, *expr; };
void used_mark(const struct design *d, struct used *u);
void used_release(struct used *u);
/* Which weights (scalars) stand in used angles. */
bool *used_weights(const struct design *d);
/* Warn about declared weights: in no angle (before) or in none that is left (after). */
void warn_unused(const struct design *d, const bool *before, const bool *after, struct diags *diags);

#endif
