/* SPDX-License-Identifier: Apache-2.0
 * Template: many Pauli products that flip the same bits in one visit of the rows. */
#pragma once

#include "runtime/exec/statevector/cpu/readouts_tmpl.h"

enum {
	TILE_BITS = KERNEL_TILE_BITS,
	TILE = 1 << TILE_BITS
}; /* rows that are transformed together */

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
	UNROLL for (unsigned k = 0; k < TILE; k++) if (!(k & half))
	{
		vec low = v[k], high = v[k | half];
		v[k] = low + high;
		v[k | half] = low - high;
	}
}

/* The same for TILE, in registers. */
INLINE void walsh_tile(vec *v)
{
	vec t[TILE];
	UNROLL for (unsigned k = 0; k < TILE; k++) t[k] = v[k];
	walsh_step(t, 1);
	walsh_step(t, 2);
	walsh_step(t, 4);
	walsh_step(t, 8);
	UNROLL for (unsigned k = 0; k < TILE; k++) v[k] = t[k];
}

/* Rows in a tile; first and last are multiples of it. */
INLINE unsigned tile_of(size_t first, size_t last)
{
	size_t bits = first | last | TILE;
	return (unsigned)(bits & -bits);
}

/* psi points to row `first`; with a partner, all rows before and behind it are there, too. */
struct partner_rows {
	const real *psi;
	size_t first;
	const struct kernel_partner *p;
};

/* Of row first + row. */
INLINE const real *partner_of(const struct partner_rows *r, size_t row)
{
	return r->psi + ((ptrdiff_t)((row + r->first) ^ r->p->row) - (ptrdiff_t)r->first) * ROW;
}

static void tile_products(const struct partner_rows *r, size_t row, unsigned n, vec *v)
{
	vec_index from = flipped_lanes(r->p->lane);
	bool imaginary = r->p->imaginary;
	for (unsigned j = 0; j < n; j++) {
		const real *p = row_of(r->psi, row + j), *q = partner_of(r, row + j);
		vec re = load(p), im = load(p + LANES);
		vec a = pick_lanes(load(q), from), b = pick_lanes(load(q + LANES), from);
		v[j] = imaginary ? re * b - im * a : re * a + im * b;
	}
}

/* A bit of the row number: rows where it is 1 are the partners of rows where it is 0, and add the same to sums. 0: partners are in one
 * tile. */
INLINE size_t half_of(const struct kernel_partner *p)
{
	size_t bits = p ? p->row / TILE * TILE : 0;
	return bits & -bits;
}

/* Of rows first + row and behind: squares, or products with partners. */
INLINE void tile_values(const struct partner_rows *r, size_t row, unsigned n, vec *v)
{
	if (r->p) {
		tile_products(r, row, n, v);
		return;
	}
	for (unsigned j = 0; j < n; j++) {
		const real *p = row_of(r->psi, row + j);
		vec re = load(p), im = load(p + LANES);
		v[j] = re * re + im * im;
	}
}

/* TILE tiles from row `begin` on: signs of the low row bits are summed tile by tile, those of the next over the
 * tiles, for the low signs that occur; terms then only pick. */
static void expect_tiles(const struct partner_rows *r, size_t begin, const size_t *sign_row,
	unsigned n, double *out)
{
	vec low[TILE][TILE], sum[TILE][TILE];
	size_t half = half_of(r->p);
	unsigned have = 0;
	if (begin & half)
		return;
	for (unsigned j = 0; j < TILE; j++) {
		if (j * TILE & half) {
			memset(low[j], 0, sizeof low[j]);
			continue;
		}
		tile_values(r, begin - r->first + j * TILE, TILE, low[j]);
		walsh_tile(low[j]);
	}
	double twice = half ? 2 : 1;
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
			out[k * LANES + i] += minus ? -twice * (double)sum[l][h][i]
						    : twice * (double)sum[l][h][i];
	}
}

static void expect_products(const void *psi, size_t first, size_t last,
	const struct kernel_partner *partner, const size_t *sign_row, unsigned n, double *out)
{
	enum { RUN = 8 }; /* tiles summed in the kernels' precision before they go to double */
	unsigned tile = tile_of(first, last);
	const struct partner_rows r = { psi, first, partner };
	size_t half = half_of(partner);
	while (tile == TILE && first % (TILE * TILE) == 0 && last - first >= TILE * TILE) {
		expect_tiles(&r, first, sign_row, n, out);
		first += TILE * TILE;
	}
	for (size_t begin = first; begin < last; begin += RUN * tile) {
		size_t end = last - begin < RUN * tile ? last : begin + RUN * tile;
		vec sum[KERNEL_TERMS_MAX];
		for (unsigned k = 0; k < n; k++)
			sum[k] = splat(0);
		for (size_t row = begin; row < end; row += tile) {
			vec v[TILE];
			if (row & half)
				continue;
			tile_values(&r, row - r.first, tile, v);
			if (tile == TILE)
				walsh_tile(v);
			else
				walsh(v, tile);
			for (unsigned k = 0; k < n; k++)
				sum[k] += v[sign_row[k] & (tile - 1)] * sign_of(row & sign_row[k]);
		}
		for (unsigned k = 0; k < n; k++)
			for (unsigned l = 0; l < LANES; l++)
				out[k * LANES + l] += (half ? 2 : 1) * (double)sum[k][l];
	}
}

/* lam += v times what is there of psi's partners, or -i times that. */
static void add_partners(void *lam, const struct partner_rows *r, size_t row, unsigned n, const vec *v)
{
	vec_index from = flipped_lanes(r->p->lane);
	bool imaginary = r->p->imaginary;
	for (unsigned j = 0; j < n; j++) {
		const real *p = partner_of(r, row + j);
		real *q = row_at(lam, row + j);
		vec re = pick_lanes(load(p), from), im = pick_lanes(load(p + LANES), from);
		save(q, load(q) + v[j] * (imaginary ? im : re));
		save(q + LANES, load(q + LANES) + v[j] * (imaginary ? -re : im));
	}
}

static void lambda_products(void *lam, const void *psi, size_t first, size_t last,
	const struct kernel_partner *partner, const size_t *sign_row, unsigned n, const double *c)
{
	const struct partner_rows r = { psi, 0, partner };
	unsigned tile = tile_of(first, last);
	vec factor[KERNEL_TERMS_MAX];
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
		if (partner)
			add_partners(lam, &r, row, tile, v);
		for (unsigned j = 0; j < tile && !partner; j++) {
			const real *p = row_of(psi, row + j);
			real *q = row_at(lam, row + j);
			save(q, v[j] * load(p));
			save(q + LANES, v[j] * load(p + LANES));
		}
	}
}
