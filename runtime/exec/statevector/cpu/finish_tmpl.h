/* SPDX-License-Identifier: Apache-2.0
 * Template: rows put back while products of Z are summed over them.
 *
 * A non-temporal store takes as long as all arithmetic on what it writes; both go on together where they take turns every
 * few rows, while the first stores are in progress. */
#pragma once

#include "runtime/exec/statevector/cpu/blocks_tmpl.h"
#include "runtime/exec/statevector/cpu/products_tmpl.h"

/* Squares of TILE rows, transformed, for the signs in `wanted`: stores of others would be in the way. */
static void add_tile(const real *rows, unsigned wanted, vec *low)
{
	vec t[TILE];
	UNROLL for (unsigned k = 0; k < TILE; k++) {
		vec re = load(rows + k * ROW), im = load(rows + k * ROW + LANES);
		t[k] = re * re + im * im;
	}
	walsh_step(t, 1);
	walsh_step(t, 2);
	walsh_step(t, 4);
	walsh_step(t, 8);
	UNROLL for (unsigned k = 0; k < TILE; k++)
		if ((wanted >> k) & 1)
			low[k] = t[k];
}

/* Of the low row bits, which signs occur? */
INLINE unsigned low_signs(const struct kernel_sums *sums)
{
	unsigned wanted = 0;
	for (unsigned k = 0; k < sums->nz; k++)
		wanted |= 1u << (sums->sign_row[k] & (TILE - 1));
	return wanted;
}

/* 2^nbit rows of a block, at most TILE tiles: the sums of a tile, then its rows are put back. */
INLINE void scatter_tiles(real *block, const struct places *at_from, real *to,
	const struct places *at_to, const struct kernel_rows *r, const struct kernel_sums *sums,
	unsigned lanes, vec (*low)[TILE])
{
	unsigned group = 1u << __builtin_popcount(lanes);
	struct move m = move_of(r->nbit, r->swap.row_bit, 0, lanes);
	size_t row = 0;
	unsigned wanted = low_signs(sums);
	if (!at_from->table || !at_to->table)   /* both are there: no need to ask row by row */
		return;
	for (size_t first = 0; first < (size_t)1 << r->nbit; first += TILE) {
		add_tile(block + first * ROW, wanted, low[first / TILE]);
		for (unsigned g = 0; g < TILE; g += group, row = row_next(row, m.mask))
			move_group(block, at_from, to, at_to, &m, row, r->above, 0, r->absent, lanes);
	}
}

/* sum <- the tiles' sums of one low sign, by the signs of the bits that number the n tiles (a constant). */
INLINE void sum_tiles(vec (*low)[TILE], unsigned sign, unsigned n, vec *sum)
{
	vec t[TILE];
	UNROLL for (unsigned j = 0; j < n; j++)
		t[j] = low[j][sign];
	UNROLL for (unsigned half = 1; half < n; half *= 2)
		UNROLL for (unsigned j = 0; j < n; j++)
			if (!(j & half)) {
				vec a = t[j], b = t[j | half];
				t[j] = a + b;
				t[j | half] = a - b;
			}
	UNROLL for (unsigned j = 0; j < n; j++)
		sum[j] = t[j];
}

/* Of the tiles from row `first` on; each term picks, and the low signs that occur are summed once. */
INLINE void add_terms(vec (*low)[TILE], unsigned ntile, const struct kernel_sums *sums)
{
	real *out = sums->out;
	vec sum[TILE][TILE];
	unsigned have = 0;
	for (unsigned k = 0; k < sums->nz; k++) {
		size_t sign = sums->sign_row[k];
		unsigned l = sign & (TILE - 1), h = sign / TILE & (ntile - 1);
		if (!((have >> l) & 1))
			sum_tiles(low, l, ntile, sum[l]);
		have |= 1u << l;
		save(out + k * LANES, load(out + k * LANES) + sum[l][h] * sign_of(sums->first & sign));
	}
}

static void finish(void *block, void *state, size_t base, const struct kernel_rows *r,
	const struct kernel_sums *sums)
{
	struct places from = { r->place, r->flip }, to = { r->row, 0 };
	vec low[TILE][TILE];
	switch (r->swap.lanes) {
#define CASE(lanes) \
	case lanes: \
		scatter_tiles(block, &from, row_at(state, base), &to, r, sums, lanes, low); \
		break;
		EACH_LANES(CASE)
#undef CASE
	}
	switch (r->nbit - TILE_BITS) {
	case 0: add_terms(low, 1, sums); break;
	case 1: add_terms(low, 2, sums); break;
	case 2: add_terms(low, 4, sums); break;
	case 3: add_terms(low, 8, sums); break;
	case 4: add_terms(low, 16, sums); break;
	}
}
