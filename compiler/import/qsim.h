/* SPDX-License-Identifier: Apache-2.0
 * Reads circuits in qsim's text format (quantumlib/qsim, docs/input_format.md).
 *
 * The first line is the number of qubits; each further one is a gate: time, gate, qubits, parameters; `c` before
 * a gate's name adds controls. Qubit 0 is the least significant bit of an amplitude's index, as here. A circuit
 * has no outputs: the caller chooses what is computed from the state. */
#pragma once

#include <stdbool.h>
#include "compiler/compile.h"
#include "runtime/base/diag.h"

/* Does the text begin as such a file does: a line that is one number? */
bool qsim_is(const char *text, size_t len);

/* The circuit of source `file` as a verified program; NULL when d has errors, each with its line and caret. */
struct program *qsim_read(struct diags *d, uint32_t file, const struct compile_options *o);
