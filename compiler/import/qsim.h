/* SPDX-License-Identifier: Apache-2.0
 * Circuits in qsim's text format (quantumlib/qsim, docs/input_format.md), turned into
 * the text of a model.
 *
 * First line the number of qubits, then one gate a line: time, gate, qubits,
 * parameters; `c` before a gate's name adds controls.  Qubit 0 is the least
 * significant bit of an amplitude's index there too.  No outputs: what is wanted of
 * the state is the caller's. */
#ifndef QCNN_QSIM_H
#define QCNN_QSIM_H

#include <stdbool.h>
#include "runtime/base/buf.h"
#include "runtime/base/diag.h"

/* Does the text begin as such a file does: a line that is one number? */
bool qsim_is(const char *text, size_t len);

/* The text of source `file` as a model, appended to out; faults go to d. */
void qsim_model(struct diags *d, uint32_t file, struct buf *out);

#endif
