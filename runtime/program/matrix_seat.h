/* SPDX-License-Identifier: Apache-2.0
 * What building small matrices and their reverse share: where an item sits in its matrix, and
 * products of complex numbers two doubles at a time. */
#ifndef QCNN_MATRIX_SEAT_H
#define QCNN_MATRIX_SEAT_H

#include "runtime/program/matrix.h"

/* Where an item's small matrix sits in the d x d one. */
struct seat {
	unsigned d, dim;                     /* of the matrix, of the item's targets */
	unsigned nbase, base[MATRIX_DIM_MAX]; /* index bits outside the item, its controls met */
	unsigned at[MATRIX_DIM_MAX];         /* target index -> index bits */
};

void seat_find(const struct item *it, unsigned ntarget, struct seat *s);

/* m (d x d) <- G m, where G is g (dim x dim) in its seat. */
void seat_rows(const struct seat *s, const cplx *g, cplx *m);

/* Does one item fill its matrix: every target of it, in order, without controls? */
bool item_is_whole(const struct item *it, unsigned ntarget);

/* The item's own dim x dim matrix, conjugate-transposed if it says so. */
void item_small(const struct matrix_set *s, const struct item *it, unsigned dim,
	const double *expr_value, const cplx *u, cplx *g);

/* A complex number as a pair of doubles; the product takes the same operations in the same order
 * as cplx_mul, two at a time. */
typedef double pair __attribute__((vector_size(16), may_alias));

static inline pair pair_times(cplx f, pair x)
{
	pair re = { creal(f), creal(f) }, im = { -cimag(f), cimag(f) };
	return re * x + im * (pair){ x[1], x[0] };
}

#endif
