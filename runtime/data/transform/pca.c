/* SPDX-License-Identifier: Apache-2.0
 * Principal components as eigenvectors of the covariance matrix (Pearson, Phil. Mag. 2 (1901) 559). */
#include "runtime/data/transform/pca.h"

#include "runtime/base/arena.h"
#include "runtime/data/eigen.h"

static void times(void *ctx, const double *x, double *y)
{
	const struct covariance *c = ctx;

	for (uint32_t i = 0; i < c->n; i++)
		y[i] = eigen_dot(c->n, c->value + (size_t)i * c->n, x);
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
	return code ? code : eigen_lowest(&w, value, out, e);
}
