/* SPDX-License-Identifier: Apache-2.0
 * Gram-Schmidt over rows, triangular solution, exchanges. */
#include "runtime/exec/basis/row_basis.h"

#include <math.h>
#include <string.h>

#include "runtime/base/arena.h"

static const double REST_MAX = 1e-12;        /* of the longest row: what is left by rounding */
static const double COEFFICIENT_MAX = 1.5;   /* squared it bounds what a combination adds to rounding */
static const double CHOP = 1e-14;            /* coefficients below are rounding */

struct rows {
	uint32_t n, ncol;
	double *y;                   /* (n, 2, ncol): rests */
	double *length;              /* (n) squared, of the rests */
	double *unit;                /* (2, ncol): the direction of this round */
};

static double row_length(const struct rows *r, uint32_t s)
{
	const double *y = r->y + (size_t)2 * s * r->ncol;
	double sum = 0;

	for (uint32_t j = 0; j < 2 * r->ncol; j++)
		sum += y[j] * y[j];
	return sum;
}

static uint32_t longest(const struct rows *r)
{
	uint32_t best = 0;

	for (uint32_t s = 1; s < r->n; s++)
		if (r->length[s] > r->length[best])
			best = s;
	return best;
}

/* Take the direction out of row s; what it had of it. */
static cplx take_out(struct rows *r, uint32_t s)
{
	uint32_t n = r->ncol;
	double *re = r->y + (size_t)2 * s * n, *im = re + n, a = 0, b = 0;
	const double *ur = r->unit, *ui = ur + n;

	for (uint32_t j = 0; j < n; j++) {
		a += ur[j] * re[j] + ui[j] * im[j];
		b += ur[j] * im[j] - ui[j] * re[j];
	}
	for (uint32_t j = 0; j < n; j++) {
		re[j] -= a * ur[j] - b * ui[j];
		im[j] -= a * ui[j] + b * ur[j];
	}
	r->length[s] = row_length(r, s);
	return cplx_of(a, b);
}

/* One round of Gram-Schmidt: column k of the coefficients (stride max). */
static void round_of(struct rows *r, uint32_t pivot, uint32_t k, uint32_t max, cplx *c)
{
	double scale = 1 / sqrt(r->length[pivot]);

	for (uint32_t j = 0; j < 2 * r->ncol; j++)
		r->unit[j] = scale * r->y[(size_t)2 * pivot * r->ncol + j];
	for (uint32_t s = 0; s < r->n; s++)
		c[(size_t)s * max + k] = r->length[s] > 0 ? take_out(r, s) : 0;
	r->length[pivot] = 0;
}

static uint32_t gram_schmidt(struct rows *r, uint32_t max, uint32_t *pivot, cplx *c)
{
	uint32_t k = 0;

	for (uint32_t s = 0; s < r->n; s++)
		r->length[s] = row_length(r, s);
	double limit = REST_MAX * REST_MAX * r->length[longest(r)];
	for (;; k++) {
		uint32_t p = longest(r);

		if (!(r->length[p] > limit))
			return k;
		if (k == max)
			return max + 1;
		pivot[k] = p;
		round_of(r, p, k, max, c);
	}
}

/* From directions to basis rows: c <- c L^-1, L being the basis rows' own coefficients. */
static void solve(uint32_t n, uint32_t rank, const uint32_t *pivot, cplx *c, cplx *lower)
{
	for (uint32_t i = 0; i < rank; i++)
		memcpy(lower + (size_t)i * rank, c + (size_t)pivot[i] * rank, rank * sizeof *c);
	for (uint32_t s = 0; s < n; s++) {
		cplx *x = c + (size_t)s * rank;

		for (uint32_t k = rank; k-- > 0; ) {
			x[k] /= creal(lower[(size_t)k * rank + k]);
			for (uint32_t i = 0; i < k; i++)
				x[i] -= cplx_mul(x[k], lower[(size_t)k * rank + i]);
		}
	}
}

static bool largest(uint32_t n, uint32_t rank, const cplx *c, uint32_t *row, uint32_t *column)
{
	double most = COEFFICIENT_MAX * COEFFICIENT_MAX;
	bool any = false;

	for (uint32_t s = 0; s < n; s++)
		for (uint32_t k = 0; k < rank; k++) {
			cplx z = c[(size_t)s * rank + k];
			double square = creal(z) * creal(z) + cimag(z) * cimag(z);

			if (square > most) {
				most = square;
				*row = s;
				*column = k;
				any = true;
			}
		}
	return any;
}

/* Row `row` takes place `column` of the basis: a rank-one update of all coefficients. */
static void exchange(uint32_t n, uint32_t rank, uint32_t row, uint32_t column, cplx *c, cplx *taken)
{
	memcpy(taken, c + (size_t)row * rank, rank * sizeof *c);
	cplx inverse = 1 / taken[column];
	for (uint32_t s = 0; s < n; s++) {
		cplx *x = c + (size_t)s * rank, factor = cplx_mul(x[column], inverse);

		for (uint32_t k = 0; k < rank; k++)
			x[k] -= cplx_mul(factor, taken[k]);
		x[column] = factor;
	}
}

static void clean(uint32_t n, uint32_t rank, const uint32_t *pivot, cplx *c)
{
	for (size_t i = 0; i < (size_t)n * rank; i++)
		if (fabs(creal(c[i])) < CHOP && fabs(cimag(c[i])) < CHOP)
			c[i] = 0;
	for (uint32_t k = 0; k < rank; k++) {
		memset(c + (size_t)pivot[k] * rank, 0, rank * sizeof *c);
		c[(size_t)pivot[k] * rank + k] = 1;
	}
}

static void pack(uint32_t n, uint32_t rank, uint32_t max, cplx *c)
{
	for (uint32_t s = 0; s < n && rank < max; s++)
		memmove(c + (size_t)s * rank, c + (size_t)s * max, rank * sizeof *c);
}

bool rank_basis(uint32_t n, uint32_t ncol, double *y, uint32_t max, uint32_t *rank, uint32_t *pivot, cplx *c)
{
	mem_list_auto l = { 0 };
	struct rows r = { n, ncol, y, mem_list_try(&l, n, sizeof(double)),
		mem_list_try(&l, ncol, 2 * sizeof(double)) };
	cplx *square = mem_list_try(&l, (size_t)max + 1, max * sizeof *square);
	uint32_t row, column, k;

	if (l.failed)
		return false;
	k = *rank = gram_schmidt(&r, max, pivot, c);
	if (k > max)
		return true;
	pack(n, k, max, c);
	solve(n, k, pivot, c, square);
	for (uint32_t round = 0; round < 8 * k && largest(n, k, c, &row, &column); round++) {
		exchange(n, k, row, column, c, square);
		pivot[column] = row;
	}
	clean(n, k, pivot, c);
	return true;
}
