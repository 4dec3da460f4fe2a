/* SPDX-License-Identifier: Apache-2.0
 * Contraction kernels, compiled once per instruction set (VECTOR_BYTES); KERNEL is the suffix of the one table that this file exports.
 *
 * By lanes, an element is one vector of numbers, and a tile of TILE x TILE elements of C stays in registers. Without lanes, the
 * columns of B are packed into rows of vectors, and a tile is TILE rows of two vectors. */
#include "runtime/exec/contraction.h"

#include <omp.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define INLINE static inline __attribute__((always_inline))

enum {
	LANES = CONTRACTION_LANES,
	COLUMNS = CONTRACTION_COLUMNS,
	TILE = VECTOR_BYTES == 64 ? 4 : 2
};

typedef double vec __attribute__((vector_size(CONTRACTION_LANES * sizeof(double))));

enum kind { LANES_LANES, LANES_SHARED, LANES_SUMMED };

INLINE vec load(const struct contraction_operand *x, size_t i)
{
	vec v;

	memcpy(&v, x->at + i * LANES, sizeof v);
	return v;
}

INLINE void store_sum(double *at, vec v)
{
	double sum = v[0];

	for (int l = 1; l < LANES; l++)
		sum += v[l];
	*at = sum;
}

/* Entries (m0 .., n0 ..) of C, mt x nt of them. */
INLINE void tile(enum kind kind, size_t mt, size_t nt, size_t m0, size_t n0, size_t k,
	const struct contraction_operand *a, const struct contraction_operand *b,
	const struct contraction_operand *c)
{
	vec sum[TILE][TILE] = { { { 0 } } };

	for (size_t j = 0; j < k; j++) {
		vec x[TILE];

		for (size_t m = 0; m < mt; m++)
			x[m] = load(a, (size_t)a->row[m0 + m] + a->column[j]);
		for (size_t n = 0; n < nt; n++) {
			size_t at = (size_t)b->row[j] + b->column[n0 + n];

			if (kind == LANES_SHARED) {
				for (size_t m = 0; m < mt; m++)
					sum[m][n] += x[m] * b->at[at];
			} else {
				vec y = load(b, at);

				for (size_t m = 0; m < mt; m++)
					sum[m][n] += x[m] * y;
			}
		}
	}
	for (size_t m = 0; m < mt; m++)
		for (size_t n = 0; n < nt; n++) {
			size_t at = (size_t)c->row[m0 + m] + c->column[n0 + n];

			if (kind == LANES_SUMMED)
				store_sum(c->at + at, sum[m][n]);
			else
				memcpy(c->at + at * LANES, &sum[m][n], sizeof(vec));
		}
}

INLINE void tile_rows(enum kind kind, size_t mt, size_t m0, size_t n, size_t k,
	const struct contraction_operand *a, const struct contraction_operand *b,
	const struct contraction_operand *c)
{
	size_t n0 = 0;

	for (; n0 + TILE <= n; n0 += TILE)
		tile(kind, mt, TILE, m0, n0, k, a, b, c);
	for (; n0 < n; n0++)
		tile(kind, mt, 1, m0, n0, k, a, b, c);
}

INLINE void by_lanes(enum kind kind, size_t m, size_t n, size_t k,
	const struct contraction_operand *a, const struct contraction_operand *b,
	const struct contraction_operand *c)
{
	size_t m0 = 0;

	for (; m0 + TILE <= m; m0 += TILE)
		tile_rows(kind, TILE, m0, n, k, a, b, c);
	for (; m0 < m; m0++)
		tile_rows(kind, 1, m0, n, k, a, b, c);
}

static void lanes_lanes(size_t m, size_t n, size_t k, const struct contraction_operand *a,
	const struct contraction_operand *b, const struct contraction_operand *c)
{
	by_lanes(LANES_LANES, m, n, k, a, b, c);
}

static void lanes_shared(size_t m, size_t n, size_t k, const struct contraction_operand *a,
	const struct contraction_operand *b, const struct contraction_operand *c)
{
	by_lanes(LANES_SHARED, m, n, k, a, b, c);
}

static void lanes_summed(size_t m, size_t n, size_t k, const struct contraction_operand *a,
	const struct contraction_operand *b, const struct contraction_operand *c)
{
	by_lanes(LANES_SUMMED, m, n, k, a, b, c);
}

/* ---- without lanes ---- */

/* Columns n0 .. n0 + count - 1 of b, rows of COLUMNS numbers, the others 0. */
static void pack_columns(const struct contraction_operand *b, size_t k, size_t n0, size_t count,
	double *pack)
{
	for (size_t j = 0; j < k; j++, pack += COLUMNS) {
		const double *from = b->at + b->row[j];

		for (size_t n = 0; n < COLUMNS; n++)
			pack[n] = n < count ? from[b->column[n0 + n]] : 0;
	}
}

INLINE void packed_tile(size_t mt, size_t m0, size_t n0, size_t count, size_t k,
	const struct contraction_operand *a, const double *pack, const struct contraction_operand *c)
{
	vec sum[TILE][2] = { { { 0 } } };

	for (size_t j = 0; j < k; j++) {
		vec x[2];

		memcpy(x, pack + j * COLUMNS, sizeof x);
		for (size_t m = 0; m < mt; m++) {
			double y = a->at[(size_t)a->row[m0 + m] + a->column[j]];

			sum[m][0] += x[0] * y;
			sum[m][1] += x[1] * y;
		}
	}
	for (size_t m = 0; m < mt; m++)
		for (size_t n = 0; n < count; n++)
			c->at[(size_t)c->row[m0 + m] + c->column[n0 + n]] =
				sum[m][n / LANES][n % LANES];
}

static void packed(size_t m, size_t n, size_t k, const struct contraction_operand *a,
	const struct contraction_operand *b, const struct contraction_operand *c, double *pack)
{
	for (size_t n0 = 0; n0 < n; n0 += COLUMNS) {
		size_t count = n - n0 < COLUMNS ? n - n0 : COLUMNS, m0 = 0;

		pack_columns(b, k, n0, count, pack);
		for (; m0 + TILE <= m; m0 += TILE)
			packed_tile(TILE, m0, n0, count, k, a, pack, c);
		for (; m0 < m; m0++)
			packed_tile(1, m0, n0, count, k, a, pack, c);
	}
}

static struct contraction_operand transposed(const struct contraction_operand *x)
{
	return (struct contraction_operand){ x->at, x->column, x->row, x->by_lane };
}

static void multiply(size_t m, size_t n, size_t k, const struct contraction_operand *a,
	const struct contraction_operand *b, const struct contraction_operand *c, double *pack)
{
	struct contraction_operand at = transposed(a), bt = transposed(b), ct = transposed(c);

	if (a->by_lane && b->by_lane && c->by_lane)
		lanes_lanes(m, n, k, a, b, c);
	else if (a->by_lane && b->by_lane)
		lanes_summed(m, n, k, a, b, c);
	else if (a->by_lane)
		lanes_shared(m, n, k, a, b, c);
	else if (b->by_lane)
		lanes_shared(n, m, k, &bt, &at, &ct);
	else if (m > n)
		packed(n, m, k, &bt, &at, &ct, pack);
	else
		packed(m, n, k, a, b, c, pack);
}

static void run(unsigned nthread, const struct unit_job *job)
{
	unsigned n = nthread < job->nunit ? nthread : job->nunit;

	if (n <= 1) {
		job->claim(job->ctx, 0);
		job->work(job->ctx, 0);
		return;
	}
	omp_set_dynamic(0);
#pragma omp parallel num_threads((int)n)
	{
		unsigned worker = (unsigned)omp_get_thread_num();

		job->claim(job->ctx, worker);
#pragma omp barrier
		job->work(job->ctx, worker);
	}
}

extern const struct contraction JOIN(contraction_, KERNEL);
const struct contraction JOIN(contraction_, KERNEL) = { .multiply = multiply, .run = run };
