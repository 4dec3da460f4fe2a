/* SPDX-License-Identifier: Apache-2.0
 * What building small matrices and their reverse share: how an item acts on the rows of its matrix.
 *
 * Most items act on one wire or as a Pauli word: on pairs of rows r, r ^ flip (flip 0: on each row alone). The others are
 * dense. */
#ifndef QCNN_MATRIX_PLACE_H
#define QCNN_MATRIX_PLACE_H

#include "runtime/program/matrix.h"

enum place_kind { PLACE_NONE = 0, PLACE_DENSE, PLACE_ONE, PLACE_WORD };

/* Where an item's small matrix sits in the d x d one. */
struct seat {
	unsigned d, dim;                     /* of the matrix, of the item's targets */
	unsigned nbase, base[MATRIX_DIM_MAX]; /* index bits outside the item, its controls met */
	unsigned at[MATRIX_DIM_MAX];         /* target index -> index bits */
};
void seat_find(const struct item *it, unsigned ntarget, struct seat *s);

struct item_place {
	uint8_t kind;                /* of enum place_kind */
	bool varies;                 /* with weights or inputs */
	uint8_t rows;                /* bit r: row r is acted on, where its controls are met */
	uint8_t flip;
	uint8_t ny, minus;           /* WORD: bit r of minus: its entry in row r is -i^ny, else i^ny */
	uint32_t kept;               /* where its numbers are kept; INDEX_NONE: never */
	double by_one, by_word;      /* WORD: gate_generator */
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
/* The numbers of an item that is not dense: of one on one wire its 2 x 2 matrix, before it is conjugate-transposed; of a
 * word two, what is in the rows it acts on, and what across its pairs, times -1 where `minus` says so. */
void item_make(const struct item *it, const struct item_place *pl, const double *expr_value, cplx *own);
/* They are in u, in kept, or made in own[4]. */
static inline const cplx *item_numbers(const struct matrix_set *s, const struct item *it, const struct item_place *pl,
	const double *expr_value, const cplx *u, const cplx *kept, cplx *own)
{
	if (it->gate == GATE_NONE)
		return u + s->offset[it->ref];
	if (kept && pl->kept != INDEX_NONE)
		return kept + pl->kept;
	item_make(it, pl, expr_value, own);
	return own;
}

/* The cross matrix q of an item's own matrix: to the matrix it refers to, or to the gate's angles. */
void item_hand_on(const struct matrix_set *s, const struct item *it, unsigned dim,
	const double *expr_value, const cplx *q, cplx *r, double *slope_expr);

#endif
