/* SPDX-License-Identifier: Apache-2.0
 * What the files of gate matrices share: the functions that gates.def names, and their helpers.
 *
 * Every function gets a zeroed matrix and writes what is not zero.  Index bits: the first target is
 * the lowest, so of two targets row 1 is "first 1, second 0".  Multiples of a quarter turn of an
 * exponent are exact.  `word` is used by the families of Pauli words alone. */
#pragma once

#include "lang/gates.h"

#define RSQRT2 0.70710678118654752440
#define J cplx_of(0, 1)

/* The matrix at angles a; its derivative by angle k. Not all of them need all of these. */
#define MAY_IGNORE __attribute__((unused))
#define MATRIX(name) \
	void name(MAY_IGNORE uint8_t word, MAY_IGNORE const double *a, MAY_IGNORE cplx *u)
#define DERIVATIVE(name) \
	void name(MAY_IGNORE uint8_t word, MAY_IGNORE const double *a, MAY_IGNORE unsigned k, \
		MAY_IGNORE cplx *du)

/* u += factor on 2^n rows of the diagonal. */
void add_identity(unsigned n, cplx factor, cplx *u);

/* Powers of an involution G: one + g G = (1+e)/2 + (1-e)/2 G with e = e^(i pi t); and their derivatives by t. */
struct halves { cplx one, g; };
struct halves power_halves(double t);
struct halves power_derivative(double t);

/* All that the table names: in gates_one.c those on no qubit and one, in gates_two.c on two, others in gates_matrix.c. */
#define GATE(no, i, n, nc, nt, na, f, b, bw, p, pw, s, u, d, text) \
	MATRIX(u); \
	DERIVATIVE(d);
#include "lang/gates.def"
#undef GATE
