/* SPDX-License-Identifier: Apache-2.0
 * Sums of products of columns about their means, from rows that come one after the other, and principal components. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/base/err.h"

#include <stdint.h>

struct covariance {
	uint32_t n, nblock;          /* columns; rows that wait in the block */
	const double *mean;          /* (n), borrowed */
	double *value;               /* (n, n), negative: eigen_lowest finds the largest */
	double *block;
	struct mem_list memory; /* of both */
};

int covariance_open(struct covariance *c, uint32_t n, const double *mean, struct err *e);
/* The bits depend on the order of the rows alone, not on the machine. */
void covariance_add(struct covariance *c, const double *row);
/* After the last row: the whole matrix; -ERR_BAD_DATA naming a column beyond the range of double. */
int covariance_end(struct covariance *c, struct err *e);
/* The k directions of largest variance of the n columns of c, which has ended, by falling variance: eigenvectors of the
 * covariance matrix (Pearson, Phil. Mag. 2 (1901) 559), out (k, n) as of eigen_lowest. k <= n. */
int covariance_directions(struct covariance *c, uint32_t k, double *out, struct err *e);
void covariance_release(struct covariance *c);
