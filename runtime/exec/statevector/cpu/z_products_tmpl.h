/* SPDX-License-Identifier: Apache-2.0
 * Template: many products of Z in one visit of the rows. */
#pragma once

#include "runtime/exec/statevector/cpu/readouts_tmpl.h"

enum { TILE_BITS = KERNEL_TILE_BITS, TILE = 1 << TILE_BITS };   /* rows that are transformed together */

/* v[L] <- sum over j of (-1)^|j & L| v[j], n a power of two: the Walsh-Hadamard transform. */
INLINE void walsh(vec *v, unsigned n)
{
	for (unsigned half = 1; half < n; half *= 2)
		for (unsigned j = 0; j < n; j += 2 * half)
			for (unsigned k = j; k < j + half; k++) {
				vec low = v[k], high = v[k + half];
				v[k] = low + high;
				v[k + half] = low - high;
			}
}

/* Sums and differences of those that are `half` (a constant) apart, of TILE. */
INLINE void walsh_step(vec *v, unsigned half)
{
	UNROLL for (unsigned k = 0; k < TILE; k++)
		if (!(k & half)) {
			vec low = v[k], high = v[k | half];
			v[k] = low + high;
			v[k | half] = low - high;
		}
}

/* The same for TILE, in registers. */
INLINE void walsh_tile(vec *v)
{
	vec t[TILE];
	UNROLL for (unsigned k = 0; k < TILE; k++)
		t[k] = v[k];
	walsh_step(t, 1);
	walsh_step(t, 2);
	walsh_step(t, 4);
	walsh_step(t, 8);
	UNROLL for (unsigned k = 0; k < TILE; k++)
		v[k] = t[k];
}

/* Rows in a tile; first and last are multiples of it. */
INLINE unsigned tile_of(size_t first, size_t last)
{
	size_t bits = first | last | TILE;
	return (unsigned)(bits & -bits);
}

INLINE void tile_squares(const void *psi, size_t row, unsigned n, vec *v)
{
	for (unsigned j = 0; j < n; j++) {
		const real *p = row_of(psi, row + j);
		vec re = load(p), im = load(p + LANES);
		v[j] = re * re + im * im;
	}
}

/* TILE tiles from row `begin` on: signs of the low row bits are summed tile by tile, those of the next over the
 * tiles, for the low signs that occur; terms then only pick. */
static void expect_z_tiles(const real *psi, size_t begin, const size_t *sign_row, unsigned n, double *out)
{
	vec low[TILE][TILE], sum[TILE][TILE];
	unsigned have = 0;
	for (unsigned j = 0; j < TILE; j++) {
		tile_squares(psi, j * TILE, TILE, low[j]);
		walsh_tile(low[j]);
	}
	for (unsigned k = 0; k < n; k++) {
		unsigned l = sign_row[k] & (TILE - 1), h = sign_row[k] / TILE & (TILE - 1);
		bool minus = __builtin_parityll(begin & sign_row[k]);
		if (!((have >> l) & 1)) {
			for (unsigned j = 0; j < TILE; j++)
				sum[l][j] = low[j][l];
			walsh_tile(sum[l]);
			have |= 1u << l;
		}
		for (unsigned i = 0; i < LANES; i++)
			out[k * LANES + i] += minus ? -(double)sum[l][h][i] : (double)sum[l][h][i];
	}
}

static void expect_z(const void *psi, size_t first, size_t last, const size_t *sign_row, unsigned n, double *out)
{
	enum { RUN = 8 };   /* tiles summed in the kernels' precision before they go to double */
	unsigned tile = tile_of(first, last);
	const real *at = psi;   /* row `first` */
	while (tile == TILE && first % (TILE * TILE) == 0 && last - first >= TILE * TILE) {
		expect_z_tiles(at, first, sign_row, n, out);
		first += TILE * TILE;
		at += TILE * TILE * ROW;
	}
	for (size_t begin = first; begin < last; begin += RUN * tile) {
		size_t end = last - begin < RUN * tile ? last : begin + RUN * tile;
		vec sum[KERNEL_TERMS_MAX];
		for (unsigned k = 0; k < n; k++)
			sum[k] = splat(0);
		for (size_t row = begin; row < end; row += tile) {
			vec v[TILE];
			tile_squares(at, row - first, tile, v);
			if (tile == TILE)
				walsh_tile(v);
			else
				walsh(v, tile);
			for (unsigned k = 0; k < n; k++)
				sum[k] += v[sign_row[k] & (tile - 1)] * sign_of(row & sign_row[k]);
		}
		for (unsigned k = 0; k < n; k++)
			for (unsigned l = 0; l < LANES; l++)
				out[k * LANES + l] += sum[k][l];
	}
}

/* Of one product. */
static void lambda_one_z(void *lam, const void *psi, size_t first, size_t last, size_t sign_row, const double *c)
{
	vec factor;
	for (unsigned l = 0; l < LANES; l++)
		factor[l] = (real)c[l];
	for (size_t row = first; row < last; row++) {
		const real *p = row_of(psi, row);
		real *q = row_at(lam, row);
		vec f = factor * sign_of(row & sign_row);
		save(q, f * load(p));
		save(q + LANES, f * load(p + LANES));
	}
}

static void lambda_z(void *lam, const void *psi, size_t first, size_t last, const size_t *sign_row, unsigned n, const double *c)
{
	unsigned tile = tile_of(first, last);
	vec factor[KERNEL_TERMS_MAX];
	if (n == 1) {
		lambda_one_z(lam, psi, first, last, sign_row[0], c);
		return;
	}
	for (unsigned k = 0; k < n; k++)
		for (unsigned l = 0; l < LANES; l++)
			factor[k][l] = (real)c[k * LANES + l];
	for (size_t row = first; row < last; row += tile) {
		vec v[TILE];
		for (unsigned j = 0; j < tile; j++)
			v[j] = splat(0);
		for (unsigned k = 0; k < n; k++)
			v[sign_row[k] & (tile - 1)] += factor[k] * sign_of(row & sign_row[k]);
		if (tile == TILE)
			walsh_tile(v);
		else
			walsh(v, tile);
		for (unsigned j = 0; j < tile; j++) {
			const real *p = row_of(psi, row + j);
			real *q = row_at(lam, row + j);
			save(q, v[j] * load(p));
			save(q + LANES, v[j] * load(p + LANES));
		}
	}
}
