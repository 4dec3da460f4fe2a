/* SPDX-License-Identifier: Apache-2.0
 * Template: rows put back while the last matrix is applied to them and products of Z are summed.
 *
 * A non-temporal store takes as long as all arithmetic on what it writes; both go on together where they take turns every
 * few rows, while the first are still on their way. */
#ifndef QCNN_FINISH_TMPL_H
#define QCNN_FINISH_TMPL_H

#include "runtime/exec/statevector/cpu/blocks_tmpl.h"
#include "runtime/exec/statevector/cpu/on_zero_tmpl.h"
#include "runtime/exec/statevector/cpu/z_products_tmpl.h"

/* A step on |0> in a tile of rows: its groups' first rows, and its entries in all lanes. */
struct tile_step { unsigned ntarget, ngroup; size_t at[TILE / 2], stride[3]; vec re[8], im[8]; };

static void prepare_step(struct tile_step *t, const struct kernel_last *last)
{
	const struct kernel_step *s = last->step;
	const real *u = last->u;
	unsigned d = 1u << s->ntarget;
	size_t mask = place_mask(fixed_mask(s)), at = 0;
	t->ntarget = s->ntarget;
	t->ngroup = TILE >> s->nfixed;
	for (unsigned g = 0; g < t->ngroup; g++, at = row_next(at, mask))
		t->at[g] = at;
	for (unsigned k = 0; k < s->ntarget; k++)
		t->stride[k] = s->target[1u << k] * ROW;
	for (unsigned r = 0; r < d; r++) {
		t->re[r] = entry(u, r * d, 0, false);
		t->im[r] = entry(u, r * d, 1, false);
	}
}

INLINE void on_zero_tile(real *tile, const struct tile_step *t, unsigned d)
{
	for (unsigned g = 0; g < t->ngroup; g++) {
		real *p[8];
		group_at(d, tile + t->at[g], t->stride, p);
		vec xr = load(p[0]), xi = load(p[0] + LANES);
		UNROLL for (unsigned r = 0; r < d; r++) {
			save(p[r], t->re[r] * xr - t->im[r] * xi);
			save(p[r] + LANES, t->re[r] * xi + t->im[r] * xr);
		}
	}
}

static void apply_tile(real *tile, const struct tile_step *t)
{
	switch (t->ntarget) {
	case 1: on_zero_tile(tile, t, 2); break;
	case 2: on_zero_tile(tile, t, 4); break;
	case 3: on_zero_tile(tile, t, 8); break;
	}
}

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
INLINE unsigned low_signs(const struct kernel_last *last)
{
	unsigned wanted = 0;
	for (unsigned k = 0; k < last->nz; k++)
		wanted |= 1u << (last->sign_row[k] & (TILE - 1));
	return wanted;
}

/* 2^nbit rows of a block, at most TILE tiles: after the last step, where there is one, those of a tile are put back. */
INLINE void scatter_tiles(real *block, const struct places *at_from, real *to, const struct places *at_to, const struct kernel_rows *r,
	const struct kernel_last *last, unsigned lanes, vec (*low)[TILE])
{
	unsigned group = 1u << __builtin_popcount(lanes);
	struct move m = move_of(r->nbit, r->swap.row_bit, 0, lanes);
	size_t row = 0;
	unsigned wanted = low_signs(last);
	struct tile_step step;
	if (!at_from->table || !at_to->table)   /* both are there: no need to ask row by row */
		return;
	if (last->step)
		prepare_step(&step, last);
	for (size_t first = 0; first < (size_t)1 << r->nbit; first += TILE) {
		size_t tile = place_of(at_from, first) / TILE;
		if (last->step)
			apply_tile(block + tile * TILE * ROW, &step);
		else
			tile = first / TILE;
		if (last->nz)
			add_tile(block + tile * TILE * ROW, wanted, low[tile]);
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
INLINE void add_terms(vec (*low)[TILE], unsigned ntile, const struct kernel_last *last)
{
	real *out = last->out;
	vec sum[TILE][TILE];
	unsigned have = 0;
	for (unsigned k = 0; k < last->nz; k++) {
		size_t sign = last->sign_row[k];
		unsigned l = sign & (TILE - 1), h = sign / TILE & (ntile - 1);
		if (!((have >> l) & 1))
			sum_tiles(low, l, ntile, sum[l]);
		have |= 1u << l;
		save(out + k * LANES, load(out + k * LANES) + sum[l][h] * sign_of(last->first & sign));
	}
}

static void finish(void *block, void *state, size_t base, const struct kernel_rows *r, const struct kernel_last *last)
{
	struct places from = { r->place, r->flip }, to = { r->row, 0 };
	vec low[TILE][TILE];
	switch (r->swap.lanes) {
#define CASE(lanes) case lanes: scatter_tiles(block, &from, row_at(state, base), &to, r, last, lanes, low); break;
	EACH_LANES(CASE)
#undef CASE
	}
	switch (r->nbit - TILE_BITS) {
	case 0: add_terms(low, 1, last); break;
	case 1: add_terms(low, 2, last); break;
	case 2: add_terms(low, 4, last); break;
	case 3: add_terms(low, 8, last); break;
	case 4: add_terms(low, 16, last); break;
	}
}

#endif
