/* SPDX-License-Identifier: Apache-2.0
 * Runs a resolved tree: loops, lets, calls; what comes out is a design. */
#pragma once

#include "compiler/circuit.h"
#include "compiler/compile.h"

/* Fills *d (initialised).  Faults go to `diags`; with errors *d is incomplete. */
void elaborate(struct ast *t, struct diags *diags, const struct compile_options *o, struct design *d);
