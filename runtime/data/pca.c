/* SPDX-License-Identifier: Apache-2.0
 * Principal components as eigenvectors of the covariance matrix (Pearson, Phil. Mag. 2 (1901) 559). */
#include "config.h"
#include "runtime/data/pca.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/data/eigen.h"

enum { BLOCK_ROWS = 32, GROUP = 4 };     /* a block stays in the cache while the matrix goes by */

struct covariance { uint32_t n; double *value; };        /* (n, n), negative: eigen_lowest finds the largest */

double pca_coordinate(uint32_t n, const double *direction, const double *moved)
{
	double sum[4] = { 0 };
	uint32_t j = 0;

	for (; j + 4 <= n; j += 4)
		for (uint32_t i = 0; i < 4; i++)
			sum[i] += direction[j + i] * moved[j + i];
	for (; j < n; j++)
		sum[0] += direction[j] * moved[j];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Row i of the matrix from column i on -= the products of a block's rows. */
static void add_products(uint32_t n, uint32_t i, const double *block, double *restrict c)
{
	for (int g = 0; g < BLOCK_ROWS; g += GROUP) {
		const double *a = block + (size_t)g * n, *b = a + n, *p = b + n, *q = p + n;
		double ai = a[i], bi = b[i], pi = p[i], qi = q[i];

		for (uint32_t j = i; j < n; j++)
			c[j] -= (ai * a[j] + bi * b[j]) + (pi * p[j] + qi * q[j]);
	}
}

/* Rows that are missing in the last block are zeros. */
static void fill_block(const double *x, uint32_t n, const uint32_t *row, uint32_t first, uint32_t nrow,
	const double *mean, double *block)
{
	for (uint32_t k = 0; k < BLOCK_ROWS; k++) {
		const double *from = first + k < nrow ? x + (size_t)(row ? row[first + k] : first + k) * n : mean;

		for (uint32_t j = 0; j < n; j++)
			block[(size_t)k * n + j] = from[j] - mean[j];
	}
}

static void times(void *ctx, const double *x, double *y)
{
	const struct covariance *c = ctx;

	for (uint32_t i = 0; i < c->n; i++)
		y[i] = pca_coordinate(c->n, c->value + (size_t)i * c->n, x);
}

static void make_positive(uint32_t n, double *v)
{
	uint32_t largest = 0;

	for (uint32_t j = 1; j < n; j++)
		if (fabs(v[j]) > fabs(v[largest]))
			largest = j;
	if (v[largest] < 0)
		for (uint32_t j = 0; j < n; j++)
			v[j] = -v[j];
}

static int directions(struct covariance *c, uint32_t k, double *value, double *start, double *out, struct err *e)
{
	const struct eigen_wish w = { .n = c->n, .k = k, .times = times, .ctx = c, .start = start };
	int code;

	/* No symmetry of the columns may be blind to it. */
	for (uint32_t j = 0; j < c->n; j++)
		start[j] = 1 + 1.0 / (j + 1);
	code = eigen_lowest(&w, value, out, e);
	for (uint32_t i = 0; !code && i < k; i++)
		make_positive(c->n, out + (size_t)i * c->n);
	return code;
}

/* A diagonal entry is at least as large as what stands beside it. */
static int check_range(const struct covariance *c, struct err *e)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (!isfinite(c->value[(size_t)i * c->n + i]))
			return err_set(e, -ERR_BAD_DATA, "pca takes sums of squares, and those of column %u (from 0) are beyond the range "
				"of double; standardize or min_max before it helps", i);
	return 0;
}

int pca_directions(const double *x, uint32_t n, const uint32_t *row, uint32_t nrow, const double *mean,
	uint32_t k, double *out, struct err *e)
{
	struct covariance c = { n, mem_try(n, n * sizeof *c.value) };
	double *block = mem_try(BLOCK_ROWS, n * sizeof *block), *value = mem_try(k, sizeof *value);
	double *start = mem_try(n, sizeof *start);
	int code = 0;

	if (!c.value || !block || !value || !start)
		code = err_set(e, -ERR_CONFIG, "no memory for the covariances of %u columns", n);
	for (uint32_t first = 0; !code && first < nrow; first += BLOCK_ROWS) {
		fill_block(x, n, row, first, nrow, mean, block);
		for (uint32_t i = 0; i < n; i++)
			add_products(n, i, block, c.value + (size_t)i * n);
	}
	if (!code)
		code = check_range(&c, e);
	for (uint32_t i = 0; !code && i < n; i++)
		for (uint32_t j = 0; j < i; j++)
			c.value[(size_t)i * n + j] = c.value[(size_t)j * n + i];
	if (!code)
		code = directions(&c, k, value, start, out, e);
	free(c.value);
	free(block);
	free(value);
	free(start);
	return code;
}
