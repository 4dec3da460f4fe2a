/* SPDX-License-Identifier: Apache-2.0
 * Warnings about what a model declares and does not need, for pipeline.c.
 *
 * used, effective: flags by scalar number (used_scalars): stands in an angle or amplitude of the text; of the applies that
 * are left by the passes.  Each declaration gets at most one warning, however many instances it has. */
#pragma once

#include "compiler/passes/pass.h"

void warn_weights(const struct design *d, const bool *used, const bool *effective, struct diags *diags);
void warn_inputs(const struct design *d, const bool *used, const bool *effective, struct diags *diags);
/* Qubits that no output depends on and that are not discarded; to be called before the passes. */
void warn_qubits(const struct design *d, struct diags *diags);
/* Is nothing observed?  Then it warned. */
bool warn_outputs(const struct design *d, struct diags *diags);
