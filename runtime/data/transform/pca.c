/* SPDX-License-Identifier: Apache-2.0
 * Principal components as eigenvectors of the covariance matrix (Pearson, Phil. Mag. 2 (1901) 559). */
#include "runtime/data/transform/pca.h"

#include <math.h>

#include "runtime/base/arena.h"
#include "runtime/data/eigen.h"

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

int pca_directions(struct covariance *c, uint32_t k, double *out, struct err *e)
{
	mem_auto double *value = mem_try(k, sizeof *value), *start = mem_try(c->n, sizeof *start);
	const struct eigen_wish w = { .n = c->n, .k = k, .times = times, .ctx = c, .start = start };
	int code = 0;

	if (!value || !start)
		code = err_set(e, -ERR_CONFIG, "no memory for %u principal components", k);
	/* No symmetry of the columns may be blind to it. */
	for (uint32_t j = 0; !code && j < c->n; j++)
		start[j] = 1 + 1.0 / (j + 1);
	if (!code)
		code = eigen_lowest(&w, value, out, e);
	for (uint32_t i = 0; !code && i < k; i++)
		make_positive(c->n, out + (size_t)i * c->n);
	return code;
}
