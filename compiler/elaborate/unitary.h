/* SPDX-License-Identifier: Apache-2.0
 * Gates given by their matrices: is a matrix unitary, and which operations make it?
 *
 * A matrix is row-major, of 2^n rows; qubit 0 is the lowest bit of row and column. */
#pragma once

#include "compiler/circuit.h"

enum { UNITARY_QUBITS_MAX = 8 };
#define UNITARY_TOLERANCE 1e-6

/* The inner product of two rows, or of one with itself, that is farthest from what it is in a unitary matrix. */
struct unitary_fault {
	uint32_t row, other;
	cplx product;
	double deviation;
};
struct unitary_fault unitary_worst(const cplx *u, uint32_t dim);

/* u becomes its power, k > 0, and stays unitary to rounding; the errors of its eigenphases are k times as large. */
void unitary_power(cplx *u, uint32_t dim, uint64_t k);

/* Of two qubits: u = e^(i phase) (after[1] after[0]) R (before[1] before[0]), where before[k] and after[k], 2 x 2, are on
 * qubit k, and R is the product of exp(-i angle/2 P) for P = xx, yy, zz, of angles from -pi/2 to pi/2. */
struct two_qubit_parts {
	cplx before[2][4], after[2][4];
	double angle[3], phase;
};
void unitary_two(const cplx u[16], struct two_qubit_parts *out);

/* Appends operations on wires 0 .. n-1, n > 0, that multiply amplitude k by e^(i phase[k]). */
void unitary_phases(struct design *d, struct calls *ops, const double *phase, unsigned n);
/* Appends operations on wires 0 .. n-1 whose product is u, phase included. */
void unitary_build(struct design *d, struct calls *ops, const cplx *u, unsigned n);
