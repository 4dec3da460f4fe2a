/* SPDX-License-Identifier: Apache-2.0
 * From angles to small matrices, and from reduced transition matrices back to angles.
 *
 * Matrices are built once per step (shared) or once per sample; gradients come
 * back as one reduced transition matrix per matrix, whatever its number of uses, and run in
 * reverse through the definition: products, embeddings, gates, angles.
 *
 * A matrix of k targets has d = 2^k rows; row-major, complex double. */
#pragma once

#include "runtime/program/program.h"

enum { MATRIX_DIM_MAX = 1 << MATRIX_TARGETS_MAX, MATRIX_ENTRIES_MAX = MATRIX_DIM_MAX * MATRIX_DIM_MAX };

static inline unsigned matrix_dim(const struct matrix *m) { return 1u << m->ntarget; }

/* A table of definitions: the program's own matrices, and behind them those a plan
 * made (products of earlier ones).  Items refer to smaller numbers. */
struct matrix_set {
	const struct program *program;
	const struct matrix *const *def; /* def[0 .. n) */
	uint32_t n;
	const uint32_t *offset;          /* of each matrix's entries in a flat array; offset[n] = total */
	/* How the items act (matrix_place.h); of matrix m from first_place[m] on. */
	const uint32_t *first_place; const struct item_place *place;
	const struct keeping *keeping;   /* of shared matrices (matrix_place.c) */
	uint32_t nkept;                  /* numbers of a build that its reverse can use again */
};

/* A set of n definitions, those of p first; its tables live in a, def is borrowed. */
void matrix_set_of(struct matrix_set *s, const struct program *p, const struct matrix *const *def,
	uint32_t n, struct arena *a);

/* Matrices that marked ones refer to are marked, too: mark[n]. */
void matrix_set_close(const struct matrix_set *s, bool *mark);

/* u + offset[m] = matrix m for the expression values, for every m with cls in
 * [lo, hi] that need[m] marks (NULL: all).  Smaller numbers a definition refers to
 * must have been built before (in this or an earlier call). kept[nkept]: numbers of
 * shared matrices for matrix_reverse, or NULL. */
void matrix_build(const struct matrix_set *s, const double *expr_value, enum value_class lo,
	enum value_class hi, const bool *need, cplx *u, cplx *kept);

/* Matrix m for nsample samples with their own expression values: u[s] + offset[m]. */
void matrix_build_samples(const struct matrix_set *s, uint32_t m, uint32_t nsample, double *const *expr_value, cplx *const *u);

/* Reverse (matrix_reverse.c): anti_hermitian + offset[m] holds what gradients need of the reduced transition matrix Y of matrix m (anti_hermitian.h; sum over its
 * uses and samples) for every m that cross[m] marks (NULL: all). Goes from high numbers to low through the
 * matrices that need[m] marks (NULL: all; with each those it refers to), and adds dL/d(expression) into
 * dexpr[program->nexpr]. u, kept: of matrix_build with the same values; kept may be NULL, for the same result later.
 * pauli_gradient[offset[n]]: scratch. */
void matrix_reverse(const struct matrix_set *s, const double *expr_value, const cplx *u,
	const cplx *kept, const bool *need, const bool *transition, const double *anti_hermitian,
	double *pauli_gradient, double *dexpr);

/* One item as a 2^ntarget square matrix embedded on the local wires (controls
 * included); used by build, ref, the verifier's tests and the plan. */
void item_matrix(const struct matrix_set *s, const struct item *it, unsigned ntarget,
	const double *expr_value, const cplx *u, cplx *out);

/* c = a b for d x d; out = conjugate transpose. */
void matrix_multiply(unsigned d, const cplx *a, const cplx *b, cplx *c);
void matrix_adjoint(unsigned d, const cplx *a, cplx *out);

/* For tests: take no wide vectors from now on, as where the processor has none; the results are the same bits. */
void matrix_plain(bool on);
