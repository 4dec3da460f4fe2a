/* SPDX-License-Identifier: Apache-2.0
 * The lowest eigenvalues of a real symmetric matrix that is given by its products with vectors. */
#pragma once

#include <stddef.h>
#include "runtime/base/err.h"

enum { EIGEN_PAIRS_MAX = 256 };

struct eigen_wish {
	size_t n;
	unsigned k;                                             /* pairs wanted: 1 to n */
	void (*times)(void *ctx, const double *x, double *y);   /* y = A x */
	void (*project)(void *ctx, double *x);                  /* into a subspace that A keeps, or NULL: all */
	void *ctx;
	const double *start;                                    /* (n) not 0 */
};

/* value[k] rising, vector (k, n) of length 1, each with its largest entry in size positive: residues below 1e-12 of the
 * largest eigenvalue seen.
 * Where the subspace has fewer than k dimensions the rest is 0. The same bits each time. */
int eigen_lowest(const struct eigen_wish *w, double *value, double *vector, struct err *e);

/* The inner product, in the one order that all bits depend on. */
double eigen_dot(size_t n, const double *x, const double *y);
