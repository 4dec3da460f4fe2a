/* SPDX-License-Identifier: Apache-2.0
 * Sums of Pauli products as other programs print them, for pauli_sum("file", w).
 *
 * A term is a coefficient and a product, in either order; terms are on lines of their own or joined by + and -.  Products:
 * X0 Y2, [X0 Y2] (OpenFermion), X(0) @ Y(2) (PennyLane), or a letter for each qubit, XIY.  Numbers may be written as
 * complex ones whose imaginary part is 0.  # begins a remark. */
#pragma once

#include "compiler/elaborate/pauli_sum.h"
#include "compiler/elaborate/value.h"

/* What is wrong with bytes [begin, end) of the text. */
struct pauli_text_fault {
	size_t begin, end;
	char why[160];
};

/* The sum that `text` (NUL-terminated, len bytes) has, on the qubits of w; false: *fault says why not. */
bool pauli_text_read(struct arena *a, const char *text, size_t len, const struct wire_list *w,
	struct pauli_sum *out, struct pauli_text_fault *fault);
