/* SPDX-License-Identifier: Apache-2.0
 * Blocks of rows, and the matrix passing by them, four of its rows at a time.
 *
 * Every entry is the same sum in the same order whatever the width of a vector is, so the widest that the
 * processor has may be taken. */
#include "runtime/data/transform/covariance.h"

#include <math.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/data/eigen.h"

enum { BLOCK_ROWS = 32, GROUP = 4, STRIP = 4 };  /* a block stays in the cache while the matrix goes by */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Row i of the matrix, columns [from, to), -= the products of four rows of the block. */
ALWAYS_INLINE void add_entries(const double *a, uint32_t n, uint32_t i, uint32_t from, uint32_t to, double *restrict c)
{
	const double *b = a + n, *p = b + n, *q = p + n;

	for (uint32_t j = from; j < to; j++)
		c[j] -= (a[i] * a[j] + b[i] * b[j]) + (p[i] * p[j] + q[i] * q[j]);
}

/* The same for rows i to i + 3 and columns from i + 4 on, `width` columns at once.
 * In: 4 (n - i) numbers of the block and of the matrix; out: those of the matrix. */
#define STRIP_BODY(width) \
	typedef double vec __attribute__((vector_size(8 * width), aligned(8), may_alias)); \
	double *c0 = c->value + (size_t)i * c->n, *c1 = c0 + c->n, *c2 = c1 + c->n, *c3 = c2 + c->n; \
	\
	for (int g = 0; g < BLOCK_ROWS; g += GROUP) { \
		const double *a = c->block + (size_t)g * c->n, *b = a + c->n, *p = b + c->n, *q = p + c->n; \
		uint32_t j = i + STRIP; \
		\
		for (uint32_t k = 0; k < STRIP; k++) \
			add_entries(a, c->n, i + k, i + k, i + STRIP, c->value + (size_t)(i + k) * c->n); \
		for (; j + width <= c->n; j += width) { \
			vec va = *(const vec *)(a + j), vb = *(const vec *)(b + j), vp = *(const vec *)(p + j), vq = *(const vec *)(q + j); \
			\
			*(vec *)(c0 + j) -= (a[i] * va + b[i] * vb) + (p[i] * vp + q[i] * vq); \
			*(vec *)(c1 + j) -= (a[i + 1] * va + b[i + 1] * vb) + (p[i + 1] * vp + q[i + 1] * vq); \
			*(vec *)(c2 + j) -= (a[i + 2] * va + b[i + 2] * vb) + (p[i + 2] * vp + q[i + 2] * vq); \
			*(vec *)(c3 + j) -= (a[i + 3] * va + b[i + 3] * vb) + (p[i + 3] * vp + q[i + 3] * vq); \
		} \
		for (uint32_t k = 0; k < STRIP; k++) \
			add_entries(a, c->n, i + k, j, c->n, c->value + (size_t)(i + k) * c->n); \
	}

static void strip_2(struct covariance *c, uint32_t i) { STRIP_BODY(2) }

#ifdef __x86_64__
__attribute__((target("avx2"))) static void strip_4(struct covariance *c, uint32_t i) { STRIP_BODY(4) }
__attribute__((target("avx512f"))) static void strip_8(struct covariance *c, uint32_t i) { STRIP_BODY(8) }
#endif

typedef void (*strip_fn)(struct covariance *c, uint32_t i);

static strip_fn widest_strip(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f"))
		return strip_8;
	if (__builtin_cpu_supports("avx2"))
		return strip_4;
#endif
	return strip_2;
}

static void add_block(struct covariance *c)
{
	const strip_fn strip = widest_strip();
	uint32_t i = 0;

	for (; i + STRIP <= c->n; i += STRIP)
		strip(c, i);
	for (; i < c->n; i++)
		for (int g = 0; g < BLOCK_ROWS; g += GROUP)
			add_entries(c->block + (size_t)g * c->n, c->n, i, i, c->n, c->value + (size_t)i * c->n);
	c->nblock = 0;
}

int covariance_open(struct covariance *c, uint32_t n, const double *mean, struct err *e)
{
	*c = (struct covariance){ .n = n, .mean = mean };
	c->value = mem_list_try(&c->memory, n, n * sizeof *c->value);
	c->block = mem_list_try(&c->memory, BLOCK_ROWS, n * sizeof *c->block);
	return c->memory.failed
		? err_set(e, -ERR_CONFIG, "no memory for the covariances of %u columns", n)
		: 0;
}

void covariance_add(struct covariance *c, const double *row)
{
	double *to = c->block + (size_t)c->nblock * c->n;

	for (uint32_t j = 0; j < c->n; j++)
		to[j] = row[j] - c->mean[j];
	if (++c->nblock == BLOCK_ROWS)
		add_block(c);
}

int covariance_end(struct covariance *c, struct err *e)
{
	size_t n = c->n;

	/* Rows that the last block lacks are zeros. */
	if (c->nblock) {
		memset(c->block + c->nblock * n, 0, (BLOCK_ROWS - c->nblock) * n * sizeof *c->block);
		add_block(c);
	}
	/* A diagonal entry is at least as large as what stands beside it. */
	for (size_t i = 0; i < n; i++)
		if (!isfinite(c->value[i * n + i]))
			return err_set(e, -ERR_BAD_DATA, "pca takes sums of squares, and those of column %zu (from 0) are beyond the range "
				"of double; standardize or min_max before it helps", i);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			c->value[i * n + j] = c->value[j * n + i];
	return 0;
}

void covariance_release(struct covariance *c) { mem_list_free(&c->memory); }

/* ---- principal components ---- */

static void times(void *ctx, const double *x, double *y)
{
	const struct covariance *c = ctx;

	for (uint32_t i = 0; i < c->n; i++)
		y[i] = eigen_dot(c->n, c->value + (size_t)i * c->n, x);
}

int covariance_directions(struct covariance *c, uint32_t k, double *out, struct err *e)
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
