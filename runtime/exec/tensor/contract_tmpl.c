/* SPDX-License-Identifier: Apache-2.0
 * Contraction kernels, compiled once per instruction set (VECTOR_BYTES); KERNEL is the suffix of the one table that this file exports.
 *
 * By lanes, an element is LANES numbers, and a tile of TILE x TILE elements of C, GROUP vectors of each, stays in registers. Without
 * lanes, the columns of B are packed into rows of vectors, and a tile is ROWS rows of them. Vectors are those of the machine: wider
 * ones are passed through memory. */
#include "runtime/exec/contraction.h"

#include <omp.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8") /* sums in registers */

enum {
	LANES = CONTRACTION_LANES,
	VECTOR = VECTOR_BYTES / sizeof(double),          /* numbers */
	GROUP = LANES / VECTOR < 2 ? LANES / VECTOR : 2, /* vectors of an element at a time */
	COLUMNS = 16,                                    /* that are packed together */
	PACKED = CONTRACTION_PACK / COLUMNS,             /* rows of these */
	TILE = VECTOR_BYTES == 64 ? 4 : 2,
	ROWS = VECTOR_BYTES == 64 ? 8 : VECTOR_BYTES / 16, /* of a tile without lanes */
	DEPTH = 128,            /* products that are added before the next columns */
	BLOCK_BYTES = 128 << 10 /* of the second operand in a block */
};

typedef double vec __attribute__((vector_size(VECTOR_BYTES)));

enum kind { LANES_LANES, LANES_SHARED, LANES_SUMMED };

INLINE vec load(const double *at)
{
	vec v;

	memcpy(&v, at, sizeof v);
	return v;
}

/* Added to `sum`, one number after the other. */
INLINE double add_numbers(double sum, vec v)
{
	for (int l = 0; l < VECTOR; l++)
		sum += v[l];
	return sum;
}

/* A block of a contraction: products k0 .. k1 - 1, added to what is in C unless k0 is 0. */
struct block {
	enum kind kind;
	size_t k0, k1;
	const struct contraction_product *p;
};

/* Entries (m0 .., n0 ..) of C, mt x nt of them: GROUP vectors of each, from lane l0 on. */
INLINE void tile_group(const struct block *x, size_t mt, size_t nt, size_t m0, size_t n0, size_t l0)
{
	const enum kind kind = x->kind;
	const size_t k0 = x->k0, k1 = x->k1, b_lanes = kind == LANES_SHARED ? 1 : LANES;
	const struct contraction_operand *const left = &x->p->a, *const right = &x->p->b,
						*const out = &x->p->c;
	const uint32_t *const a_column = left->column, *const b_row = right->row;
	const double *a[TILE], *b[TILE];
	double *c[TILE][TILE];
	vec sum[TILE][TILE][GROUP] = { { { { 0 } } } };

	UNROLL
	for (size_t m = 0; m < mt; m++)
		a[m] = left->at + (size_t)left->row[m0 + m] * LANES + l0;
	UNROLL
	for (size_t n = 0; n < nt; n++)
		b[n] = right->at + (size_t)right->column[n0 + n] * b_lanes
			+ (kind == LANES_SHARED ? 0 : l0);
	UNROLL
	for (size_t m = 0; m < mt; m++)
		UNROLL
	for (size_t n = 0; n < nt; n++)
		c[m][n] = out->at
			+ ((size_t)out->row[m0 + m] + out->column[n0 + n])
				* (kind == LANES_SUMMED ? 1 : LANES)
			+ (kind == LANES_SUMMED ? 0 : l0);
	UNROLL
	for (size_t m = 0; m < mt && k0; m++)
		UNROLL
	for (size_t n = 0; n < nt; n++)
		UNROLL
	for (size_t g = 0; g < GROUP; g++)
		sum[m][n][g] = load(c[m][n] + g * VECTOR);
	for (size_t j = k0; j < k1; j++) {
		size_t a_at = (size_t)a_column[j] * LANES, b_at = (size_t)b_row[j] * b_lanes;
		vec row[TILE][GROUP];

		UNROLL
		for (size_t m = 0; m < mt; m++)
			UNROLL
		for (size_t g = 0; g < GROUP; g++)
			row[m][g] = load(a[m] + a_at + g * VECTOR);
		UNROLL
		for (size_t n = 0; n < nt; n++) {
			UNROLL
			for (size_t g = 0; g < GROUP; g++) {
				if (kind == LANES_SHARED) {
					UNROLL
					for (size_t m = 0; m < mt; m++)
						sum[m][n][g] += row[m][g] * b[n][b_at];
				} else {
					vec y = load(b[n] + b_at + g * VECTOR);

					UNROLL
					for (size_t m = 0; m < mt; m++)
						sum[m][n][g] += row[m][g] * y;
				}
			}
		}
	}
	UNROLL
	for (size_t m = 0; m < mt; m++)
		UNROLL
	for (size_t n = 0; n < nt; n++) {
		if (kind == LANES_SUMMED) {
			double total = l0 ? *c[m][n] : 0;

			UNROLL
			for (size_t g = 0; g < GROUP; g++)
				total = add_numbers(total, sum[m][n][g]);
			*c[m][n] = total;
			continue;
		}
		UNROLL
		for (size_t g = 0; g < GROUP; g++)
			memcpy(c[m][n] + g * VECTOR, &sum[m][n][g], sizeof sum[m][n][g]);
	}
}

INLINE void tile(const struct block *x, size_t mt, size_t nt, size_t m0, size_t n0)
{
	for (size_t l0 = 0; l0 < LANES; l0 += GROUP * VECTOR)
		tile_group(x, mt, nt, m0, n0, l0);
}

INLINE void tile_rows(const struct block *x, size_t mt, size_t m0, size_t n0, size_t n1)
{
	for (; n0 + TILE <= n1; n0 += TILE)
		tile(x, mt, TILE, m0, n0);
	for (; n0 < n1; n0++)
		tile(x, mt, 1, m0, n0);
}

INLINE void tile_block(const struct block *x, size_t n0, size_t n1)
{
	const size_t m = x->p->m;
	size_t m0 = 0;

	for (; m0 + TILE <= m; m0 += TILE)
		tile_rows(x, TILE, m0, n0, n1);
	for (; m0 < m; m0++)
		tile_rows(x, 1, m0, n0, n1);
}

/* Rows of A in a block stay in the first cache and columns of B in the second, whatever the machine: the order of the sums is the
 * same with other blocks. */
INLINE void by_lanes(enum kind kind, const struct contraction_product *p)
{
	size_t depth = kind == LANES_SUMMED ? p->k : kind == LANES_SHARED ? DEPTH : DEPTH / 2;
	size_t element = (kind == LANES_SHARED ? 1 : LANES) * sizeof(double);
	size_t width = BLOCK_BYTES / element / (depth < p->k ? depth : p->k) / TILE * TILE;

	width = width < TILE ? TILE : width;
	for (size_t k0 = 0; k0 < p->k; k0 += depth) {
		struct block x = { kind, k0, k0 + depth < p->k ? k0 + depth : p->k, p };

		for (size_t n0 = 0; n0 < p->n; n0 += width)
			tile_block(&x, n0, n0 + width < p->n ? n0 + width : p->n);
	}
}

/* ---- without lanes ---- */

static bool contiguous(const uint32_t *column, size_t count)
{
	bool yes = true;

	for (size_t n = 1; n < count; n++)
		yes &= column[n] == column[0] + n;
	return yes;
}

/* Columns n0 .. n0 + count - 1 of k rows of b, row[] on: rows of COLUMNS numbers, the others 0. */
static void pack_columns(const struct contraction_operand *b, const uint32_t *row, size_t k,
	size_t n0, size_t count, double *pack)
{
	const uint32_t *column = b->column + n0;

	if (count == COLUMNS && contiguous(column, count)) {
		for (size_t j = 0; j < k; j++)
			memcpy(pack + j * COLUMNS, b->at + row[j] + column[0], COLUMNS * sizeof *pack);
		return;
	}
	for (size_t j = 0; j < k; j++, pack += COLUMNS) {
		const double *from = b->at + row[j];

		for (size_t n = 0; n < COLUMNS; n++)
			pack[n] = n < count ? from[column[n]] : 0;
	}
}

/* Products k0 .. k0 + k - 1, added to what is in C unless k0 is 0. */
INLINE void packed_tile(size_t mt, size_t m0, size_t n0, size_t count, size_t k0, size_t k,
	const struct contraction_operand *a, const double *pack, const struct contraction_operand *c)
{
	const uint32_t *const column = a->column + k0;
	const double *row[ROWS];
	vec sum[ROWS][COLUMNS / VECTOR] = { { { 0 } } };

	UNROLL
	for (size_t m = 0; m < mt; m++)
		row[m] = a->at + a->row[m0 + m];
	UNROLL
	for (size_t m = 0; m < mt && k0; m++)
		for (size_t n = 0; n < count; n++)
			sum[m][n / VECTOR][n % VECTOR] =
				c->at[(size_t)c->row[m0 + m] + c->column[n0 + n]];
	for (size_t j = 0; j < k; j++) {
		const double *x = pack + j * COLUMNS;

		UNROLL
		for (size_t m = 0; m < mt; m++) {
			double y = row[m][column[j]];

			UNROLL
			for (size_t v = 0; v < COLUMNS / VECTOR; v++)
				sum[m][v] += load(x + v * VECTOR) * y;
		}
	}
	UNROLL
	for (size_t m = 0; m < mt; m++)
		for (size_t n = 0; n < count; n++)
			c->at[(size_t)c->row[m0 + m] + c->column[n0 + n]] =
				sum[m][n / VECTOR][n % VECTOR];
}

static void packed_block(size_t m, size_t n, size_t k0, size_t k, const struct contraction_operand *a,
	const struct contraction_operand *b, const struct contraction_operand *c, double *pack)
{
	for (size_t n0 = 0; n0 < n; n0 += COLUMNS) {
		size_t count = n - n0 < COLUMNS ? n - n0 : COLUMNS, m0 = 0;

		pack_columns(b, b->row + k0, k, n0, count, pack);
		for (; m0 + ROWS <= m; m0 += ROWS)
			packed_tile(ROWS, m0, n0, count, k0, k, a, pack, c);
		for (; m0 < m; m0++)
			packed_tile(1, m0, n0, count, k0, k, a, pack, c);
	}
}

static void packed(size_t m, size_t n, size_t k, const struct contraction_operand *a,
	const struct contraction_operand *b, const struct contraction_operand *c, double *pack)
{
	for (size_t k0 = 0; k0 < k; k0 += PACKED)
		packed_block(m, n, k0, k - k0 < PACKED ? k - k0 : PACKED, a, b, c, pack);
}

static struct contraction_operand transposed(const struct contraction_operand *x)
{
	return (struct contraction_operand){ x->at, x->column, x->row, x->by_lane };
}

/* Are the columns of the transposed product the better ones: side by side in memory, or more of them? */
static bool turns(const struct contraction_product *p)
{
	if (p->n < COLUMNS || p->m < COLUMNS)
		return p->m > p->n;
	bool rows = contiguous(p->a.row, COLUMNS), columns = contiguous(p->b.column, COLUMNS);

	return rows == columns ? p->m > p->n : rows;
}

static void multiply_alone(const struct contraction_product *p, double *pack)
{
	struct contraction_product turned = { p->n, p->m, p->k, transposed(&p->b),
		transposed(&p->a), transposed(&p->c) };

	if (!p->a.by_lane && (p->b.by_lane || turns(p)))
		p = &turned;
	if (!p->a.by_lane)
		packed(p->m, p->n, p->k, &p->a, &p->b, &p->c, pack);
	else if (!p->b.by_lane)
		by_lanes(LANES_SHARED, p);
	else if (p->c.by_lane)
		by_lanes(LANES_LANES, p);
	else
		by_lanes(LANES_SUMMED, p);
}

struct range {
	size_t from, count;
};

/* Part t of `parts` of 0 .. size - 1: whole tiles. */
static struct range part_of(size_t size, unsigned parts, unsigned t)
{
	size_t part = (size + parts - 1) / parts, from;

	part = (part + COLUMNS - 1) / COLUMNS * COLUMNS;
	from = part * t;
	if (from >= size)
		return (struct range){ 0, 0 };
	return (struct range){ from, size - from < part ? size - from : part };
}

static void multiply(unsigned nthread, const struct contraction_product *p, double *pack)
{
	if (nthread < 2) {
		multiply_alone(p, pack);
		return;
	}
	omp_set_dynamic(0);
#pragma omp parallel num_threads((int)nthread)
	{
		unsigned t = (unsigned)omp_get_thread_num(), all = (unsigned)omp_get_num_threads();
		size_t most = ((p->m > p->n ? p->m : p->n) + COLUMNS - 1) / COLUMNS;
		unsigned along = all < most ? all : (unsigned)most, across = all / along;
		unsigned by_row = p->m > p->n ? along : across,
			 by_column = p->m > p->n ? across : along;
		struct range rows = part_of(p->m, by_row, t / by_column);
		struct range columns = part_of(p->n, by_column, t % by_column);
		struct contraction_product part = *p;

		part.m = rows.count;
		part.n = columns.count;
		part.a.row += rows.from;
		part.c.row += rows.from;
		part.b.column += columns.from;
		part.c.column += columns.from;
		if (t < by_row * by_column && rows.count && columns.count)
			multiply_alone(&part, pack + (size_t)t * CONTRACTION_PACK);
	}
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
