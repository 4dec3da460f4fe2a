/* SPDX-License-Identifier: Apache-2.0
 * Sums of products of x, y, z of qubits, with constant real coefficients. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/program/program.h"

/* A sum is the first n terms of a store.  Stores only grow at their end, so that
 * `c += ...` in a loop appends instead of copying. */
struct term_store { struct pauli_term *v; uint32_t n, cap; };
struct pauli_sum { struct term_store *store; uint32_t n; };
struct observables { uint32_t n; struct pauli_sum *v; };

struct pauli_sum pauli_sum_of(struct arena *a, double coefficient, uint8_t letter, uint32_t wire); /* letter 0: the number */
struct pauli_sum pauli_sum_empty(struct arena *a);
/* One more term, whose factors stay the caller's; false where there are PROGRAM_TERMS_MAX. */
bool pauli_sum_append(struct arena *a, struct pauli_sum *s, const struct pauli_term *t);
/* Factors on positions of a list become factors on its wires, in their order. */
void pauli_term_place(struct pauli_term *t, const uint32_t *wire);
/* left + scale * right; terms beyond PROGRAM_TERMS_MAX: false. */
bool pauli_sum_add(struct arena *a, const struct pauli_sum *left, double scale,
	const struct pauli_sum *right, struct pauli_sum *out);
struct pauli_sum pauli_sum_scaled(struct arena *a, const struct pauli_sum *s, double scale);
/* Product, term by term: at most PROGRAM_TERMS_MAX; gathered where both factors act on a qubit. False where it is not
 * Hermitian; *wire: a qubit whose letters do not commute. */
bool pauli_sum_multiply(struct arena *a, const struct pauli_sum *left,
	const struct pauli_sum *right, struct pauli_sum *out, uint32_t *wire);
/* Equal products gathered, in order of wires; terms with coefficient 0 dropped. */
uint32_t pauli_sum_gather(struct arena *a, const struct pauli_sum *s, struct pauli_term **out);
