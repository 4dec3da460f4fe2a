/* SPDX-License-Identifier: Apache-2.0
 * The basis of batch rank: which rows span the others, and that no coefficient is large. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/basis/row_basis.h"
#include "tests/kernels/random_program.h"
#include "tests/tap.h"

enum { ROWS_MAX = 24, COLUMNS = 8, RANK_MAX = 6 };
static const double coefficient_max = 1.5;       /* as in row_basis.c */

struct found { uint32_t rank, pivot[RANK_MAX]; cplx c[ROWS_MAX * RANK_MAX]; double largest, error; };

/* y: (n, 2, COLUMNS). The largest coefficient, and the largest difference between a row and its combination. */
static struct found find(uint32_t n, const double *y)
{
	double copy[ROWS_MAX * 2 * COLUMNS];
	struct found f = { 0 };

	memcpy(copy, y, n * 2 * COLUMNS * sizeof *y);
	if (!rank_basis(n, COLUMNS, copy, RANK_MAX, &f.rank, f.pivot, f.c))
		tap_bail("no memory");
	for (uint32_t s = 0; f.rank <= RANK_MAX && s < n; s++)
		for (uint32_t j = 0; j < COLUMNS; j++) {
			cplx sum = cplx_of(y[2 * s * COLUMNS + j], y[(2 * s + 1) * COLUMNS + j]);

			for (uint32_t k = 0; k < f.rank; k++) {
				const double *row = y + 2 * f.pivot[k] * COLUMNS;
				cplx factor = f.c[s * f.rank + k];

				sum -= cplx_mul(factor, cplx_of(row[j], row[COLUMNS + j]));
				f.largest = fmax(f.largest, hypot(creal(factor), cimag(factor)));
			}
			f.error = fmax(f.error, hypot(creal(sum), cimag(sum)));
		}
	return f;
}

/* Rows of length at most 1 by which Gram-Schmidt with pivots takes the first three, and combines the fourth of them with
 * coefficients up to 1.9 (rows of Kahan's matrix): exchanges have to find another basis. */
static void test_kahan(void)
{
	const double c = 0.9, s = sqrt(1 - c * c);
	double y[4 * 2 * COLUMNS] = { 0 };
	struct found f;

	y[0] = 1;
	y[2 * COLUMNS] = -c, y[2 * COLUMNS + 1] = 0.999 * s;
	y[4 * COLUMNS] = -c, y[4 * COLUMNS + 1] = -c * s, y[4 * COLUMNS + 2] = 0.998 * s * s;
	y[6 * COLUMNS] = -c, y[6 * COLUMNS + 1] = -c * s, y[6 * COLUMNS + 2] = -0.997 * s * s;
	f = find(4, y);
	tap_is_int(f.rank, 3, "Kahan's rows span three dimensions");
	tap_ok(f.largest <= coefficient_max, "exchanges leave no coefficient beyond %g: %g", coefficient_max, f.largest);
	tap_ok(f.error < 1e-14, "each row is its combination: %g", f.error);
}

static void random_rows(uint64_t seed, uint32_t n, uint32_t rank, double *y)
{
	double span[RANK_MAX + 1][2 * COLUMNS], factor[ROWS_MAX][2 * (RANK_MAX + 1)];

	random_numbers(2 * seed, 1, sizeof span / sizeof(double), span[0]);
	random_numbers(2 * seed + 1, 1, sizeof factor / sizeof(double), factor[0]);
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t j = 0; j < COLUMNS; j++) {
			cplx sum = 0;

			for (uint32_t k = 0; k < rank; k++)
				sum += cplx_mul(cplx_of(factor[s][2 * k], factor[s][2 * k + 1]), cplx_of(span[k][j], span[k][COLUMNS + j]));
			y[2 * s * COLUMNS + j] = creal(sum);
			y[(2 * s + 1) * COLUMNS + j] = cimag(sum);
		}
}

static void test_random(void)
{
	double y[ROWS_MAX * 2 * COLUMNS], largest = 0, error = 0;
	unsigned wrong = 0;

	for (uint64_t seed = 1; seed <= 200; seed++)
		for (uint32_t rank = 0; rank <= RANK_MAX + 1; rank++) {
			struct found f;

			random_rows(seed, ROWS_MAX, rank, y);
			f = find(ROWS_MAX, y);
			wrong += f.rank != rank;
			largest = fmax(largest, f.largest);
			error = fmax(error, f.error);
		}
	tap_is_int(wrong, 0, "random rows: the dimensions that they span, and one more than the limit");
	tap_ok(largest <= coefficient_max, "no coefficient beyond %g: %g", coefficient_max, largest);
	tap_ok(error < 1e-11, "each row is its combination: %g", error);
}

int main(void)
{
	test_kahan();
	test_random();
	return tap_done();
}
