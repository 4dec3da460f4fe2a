/* SPDX-License-Identifier: Apache-2.0
 * What building small matrices and their reverse share: how an item acts on the rows of its matrix.
 *
 * Most items act on one wire or as a Pauli word: on pairs of rows r, r ^ flip (flip 0: on each row alone). The others are
 * dense. */
#pragma once

#include "runtime/program/matrix.h"

enum place_kind { PLACE_NONE = 0, PLACE_DENSE, PLACE_ONE, PLACE_WORD };

/* Where an item's small matrix sits in the d x d one. */
struct seat {
	unsigned d, dim;                     /* of the matrix, of the item's targets */
	unsigned nbase, base[MATRIX_DIM_MAX]; /* index bits outside the item, its controls met */
	unsigned at[MATRIX_DIM_MAX];         /* target index -> index bits */
};
void seat_find(const struct item *it, unsigned ntarget, struct seat *s);

/* What becomes of an item's matrix before it meets rows. */
enum form { FORM_ITSELF = 0, FORM_TRANSPOSED = 1, FORM_CONJUGATE = 2, FORM_ADJOINT = 3 };
/* out[d][d] <- G in, for G in its seat (matrix.c); in and out may be one. */
void seat_apply(const struct seat *s, const cplx *g, enum form form, const cplx *in, cplx *out);

struct item_place {
	uint8_t kind;                /* of enum place_kind */
	bool varies;                 /* with weights or inputs */
	uint8_t rows;                /* bit r: row r is acted on, where its controls are met */
	uint8_t flip;
	uint8_t ny, minus;           /* WORD: bit r of minus: its entry in row r is -i^ny, else i^ny */
	uint32_t kept;               /* where its numbers are kept; INDEX_NONE: never */
	/* For the backward pass: WORD: gate_generator, pauli_gradient_word, pauli_gradient_pairs; others: pauli_gradient_outside of each word. */
	double by_one, by_word;
	uint8_t word;
	uint64_t pairs;
	const uint8_t *outside;
	const struct seat *seat;     /* DENSE */
};

/* out = a matrix of one item; kept: what keep_all kept, or NULL. */
void place_one(const struct matrix_set *s, const struct matrix *m, const struct item_place *pl, const double *expr_value,
	const cplx *u, const cplx *kept, cplx *out);

/* kept[s->nkept]: what the angles of shared matrices give, those of need (NULL: all). */
void keep_all(const struct matrix_set *s, const bool *need, const double *expr_value, cplx *kept);

/* out = G in the item's seat, 1 elsewhere. */
void seat_place(const struct seat *s, const cplx *g, cplx *out);

/* Does one item fill its matrix: every target of it, in order, without controls? */
bool item_is_whole(const struct item *it, unsigned ntarget);

/* The item's own dim x dim matrix, conjugate-transposed if it says so. */
void item_small(const struct matrix_set *s, const struct item *it, unsigned dim,
	const double *expr_value, const cplx *u, cplx *g);
/* The same where it lies, or made in own. */
static inline const cplx *item_dense(const struct matrix_set *s, const struct item *it, unsigned dim,
	const double *expr_value, const cplx *u, cplx *own)
{
	if (it->gate == GATE_NONE && !it->adjoint)
		return u + s->offset[it->ref];
	item_small(s, it, dim, expr_value, u, own);
	return own;
}

/* The numbers of an item that is not dense: of one on one wire its 2 x 2 matrix, before it is conjugate-transposed; of a
 * word two, what is in the rows it acts on, and what across its pairs, times -1 where `minus` says so. */
void item_make(const struct matrix_set *s, const struct item *it, const struct item_place *pl, const double *expr_value, cplx *own);
/* They are in u, in kept, or made in own[4]. */
static inline const cplx *item_numbers(const struct matrix_set *s, const struct item *it, const struct item_place *pl,
	const double *expr_value, const cplx *u, const cplx *kept, cplx *own)
{
	if (it->gate == GATE_NONE)
		return u + s->offset[it->ref];
	if (kept && pl->kept != INDEX_NONE)
		return kept + pl->kept;
	item_make(s, it, pl, expr_value, own);
	return own;
}

/* The reduced transition matrix q of a gate gives the derivatives by its angles. */
void item_derivatives(const struct matrix_set *s, const struct item *it, unsigned dim,
	const double *expr_value, const cplx *q, double *dexpr);

bool matrix_wide(void);              /* are AVX2's vectors taken? (matrix.c) */

/* Words as the backward pass counts them (matrix_reverse.c): two bits a wire; that of a gate, the words P whose product with it
 * is i times another, and word p of the item's own wires on those of its matrix. */
unsigned pauli_gradient_word(uint8_t word);
uint64_t pauli_gradient_pairs(unsigned word, unsigned ntarget);
uint8_t pauli_gradient_outside(const struct item *it, unsigned p);
