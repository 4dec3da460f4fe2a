/* SPDX-License-Identifier: Apache-2.0
 * What the files of gate matrices share: the functions that gates.def names, and their helpers.
 *
 * Every function gets a zeroed matrix and writes what is not zero.  Index bits: the first target is
 * the lowest, so of two targets row 1 is "first 1, second 0".  Multiples of a quarter turn of an
 * exponent are exact.  `word` is used by the families of Pauli words alone. */
#ifndef QCNN_GATES_MATRIX_H
#define QCNN_GATES_MATRIX_H

#include "lang/gates.h"

#define RSQRT2 0.70710678118654752440
#define J cplx_of(0, 1)

/* The matrix at angles a; its derivative by angle k. */
#define MATRIX(name) void name(uint8_t word, const double *a, cplx *u)
#define DERIVATIVE(name) void name(uint8_t word, const double *a, unsigned k, cplx *du)
/* A matrix without angles. */
#define CONSTANT(name) MATRIX(name)
#define NO_ANGLE ((void)word, (void)a)

/* u += factor P for a word; u += factor on 2^n rows of the diagonal. */
void add_word(uint8_t word, cplx factor, cplx *u);
void add_identity(unsigned n, cplx factor, cplx *u);

/* Powers of an involution G: one + g G = (1+e)/2 + (1-e)/2 G with e = e^(i pi t); and their derivatives by t. */
struct halves { cplx one, g; };
struct halves power_halves(double t);
struct halves power_derivative(double t);

/* gates_matrix.c: Pauli words, three qubits */
MATRIX(u_pauli); MATRIX(u_rpauli); MATRIX(u_ppauli); MATRIX(u_rccx);
DERIVATIVE(d_rpauli); DERIVATIVE(d_ppauli);

/* gates_one.c: no qubit and one */
MATRIX(u_identity); MATRIX(u_wait); MATRIX(u_hadamard); MATRIX(u_phase_s); MATRIX(u_phase_sdg);
MATRIX(u_phase_t); MATRIX(u_phase_tdg); MATRIX(u_root_x); MATRIX(u_root_xdg); MATRIX(u_pow_h);
MATRIX(u_gphase); MATRIX(u_phase_all); MATRIX(u_phase); MATRIX(u_u2); MATRIX(u_u3); MATRIX(u_u4);
MATRIX(u_axis); MATRIX(u_rot);
DERIVATIVE(d_wait); DERIVATIVE(d_pow_h); DERIVATIVE(d_gphase); DERIVATIVE(d_phase_all); DERIVATIVE(d_phase);
DERIVATIVE(d_u2); DERIVATIVE(d_u3); DERIVATIVE(d_u4); DERIVATIVE(d_axis); DERIVATIVE(d_rot);

/* gates_two.c */
MATRIX(u_swap); MATRIX(u_iswap); MATRIX(u_siswap); MATRIX(u_ecr); MATRIX(u_dcx); MATRIX(u_pow_swap);
MATRIX(u_pow_iswap); MATRIX(u_xx_plus_yy); MATRIX(u_xx_minus_yy); MATRIX(u_ising_xy); MATRIX(u_excitation);
MATRIX(u_excitation_plus); MATRIX(u_excitation_minus); MATRIX(u_pswap); MATRIX(u_fermionic);
MATRIX(u_phase00);
MATRIX(u_phase01);
MATRIX(u_phase10);
MATRIX(u_fsim);
DERIVATIVE(d_pow_swap); DERIVATIVE(d_pow_iswap); DERIVATIVE(d_xx_plus_yy); DERIVATIVE(d_xx_minus_yy);
DERIVATIVE(d_ising_xy); DERIVATIVE(d_excitation); DERIVATIVE(d_excitation_plus);
DERIVATIVE(d_excitation_minus); DERIVATIVE(d_pswap); DERIVATIVE(d_fermionic); DERIVATIVE(d_phase00);
DERIVATIVE(d_phase01);
DERIVATIVE(d_phase10);
DERIVATIVE(d_fsim);

#endif
