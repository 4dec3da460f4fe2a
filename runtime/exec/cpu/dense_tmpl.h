/* SPDX-License-Identifier: Apache-2.0
 * Template: dense matrices and permutations on the way forward. */
#ifndef QCNN_DENSE_TMPL_H
#define QCNN_DENSE_TMPL_H

#include "runtime/exec/cpu/vectors_tmpl.h"

/* y = U x for d amplitudes, where an entry has one part. */
INLINE void multiply_half(unsigned d, enum kernel_form form, const real *u, bool lanewise, const vec *xr, const vec *xi, vec *yr, vec *yi)
{
	UNROLL for (unsigned r = 0; r < d; r++) {
		vec a = entry(u, r * d, turns(form, r, 0), lanewise);
		vec re = turns(form, r, 0) ? -(a * xi[0]) : a * xr[0];
		vec im = turns(form, r, 0) ? a * xr[0] : a * xi[0];
		UNROLL for (unsigned c = 1; c < d; c++) {
			a = entry(u, r * d + c, turns(form, r, c), lanewise);
			re = turns(form, r, c) ? re - a * xi[c] : re + a * xr[c];
			im = turns(form, r, c) ? im + a * xr[c] : im + a * xi[c];
		}
		yr[r] = re;
		yi[r] = im;
	}
}

INLINE void multiply(unsigned d, enum kernel_form form, const real *u, bool lanewise, const vec *xr, const vec *xi, vec *yr, vec *yi)
{
	if (form != FORM_COMPLEX) {
		multiply_half(d, form, u, lanewise, xr, xi, yr, yi);
		return;
	}
	UNROLL for (unsigned r = 0; r < d; r++) {
		vec a = entry(u, r * d, 0, lanewise), b = entry(u, r * d, 1, lanewise);
		vec re = a * xr[0] - b * xi[0];
		vec im = a * xi[0] + b * xr[0];
		UNROLL for (unsigned c = 1; c < d; c++) {
			a = entry(u, r * d + c, 0, lanewise);
			b = entry(u, r * d + c, 1, lanewise);
			re = re + a * xr[c];
			im = im + a * xi[c];
			re = re - b * xi[c];
			im = im + b * xr[c];
		}
		yr[r] = re;
		yi[r] = im;
	}
}

/* Reals from a group's first row to those of the target indices 1, 2, 4. */
INLINE void strides(const struct kernel_step *s, unsigned d, size_t *stride)
{
	for (unsigned k = 0; 1u << k < d; k++)
		stride[k] = s->target[1u << k] * ROW;
}

/* The rows of a group, each from the one without its lowest target: few registers hold them all. */
INLINE void group_at(unsigned d, const real *p, const size_t *stride, real **row)
{
	row[0] = (real *)p;
	UNROLL for (unsigned r = 1; r < d; r++)
		row[r] = row[r & (r - 1)] + stride[__builtin_ctz(r)];
}

INLINE void load_rows(unsigned d, real *const *row, vec *xr, vec *xi)
{
	UNROLL for (unsigned r = 0; r < d; r++) {
		xr[r] = load(row[r]);
		xi[r] = load(row[r] + LANES);
	}
}

INLINE void save_rows(unsigned d, real *const *row, const vec *xr, const vec *xi)
{
	UNROLL for (unsigned r = 0; r < d; r++) {
		save(row[r], xr[r]);
		save(row[r] + LANES, xi[r]);
	}
}

/* Flips in numbers of reals. */
struct flips { unsigned n; struct { size_t bit, value, mask; } flip[KERNEL_FLIPS_MAX]; };

INLINE struct flips flips_of(const struct kernel_step *s)
{
	struct flips f = { .n = s->nflip };
	for (unsigned k = 0; k < f.n; k++) {
		f.flip[k].bit = ((size_t)1 << s->flip[k].row_bit) * ROW;
		f.flip[k].value = s->flip[k].value ? f.flip[k].bit : 0;
		f.flip[k].mask = s->flip[k].mask * ROW;
	}
	return f;
}

/* The rows of a group on two targets as the flips find them. */
INLINE void flipped_at(const struct flips *f, const real *p, size_t at, const size_t *stride, real **row)
{
	size_t move = 0, turned[2];
	for (unsigned k = 0; k < f->n; k++)
		move ^= f->flip[k].mask & -(size_t)((at & f->flip[k].bit) == f->flip[k].value);
	for (unsigned k = 0; k < 2; k++)
		turned[k] = stride[k] - 2 * (move & stride[k]);
	group_at(4, p + at + move, turned, row);
}

/* Amplitudes of one or two groups. */
typedef vec groups[2][8];

/* Two groups, of a complex matrix, share its entries while these are in registers. */
INLINE void multiply_groups(unsigned ngroup, unsigned d, enum kernel_form form, const real *u, bool lanewise, groups xr, groups xi,
	groups yr, groups yi)
{
	if (ngroup == 1) {
		multiply(d, form, u, lanewise, xr[0], xi[0], yr[0], yi[0]);
		return;
	}
	UNROLL for (unsigned r = 0; r < d; r++)
		UNROLL for (unsigned c = 0; c < d; c++) {
			vec a = entry(u, r * d + c, 0, lanewise), b = entry(u, r * d + c, 1, lanewise);
			UNROLL for (unsigned g = 0; g < 2; g++) {
				if (c == 0) {
					yr[g][r] = a * xr[g][c] - b * xi[g][c];
					yi[g][r] = a * xi[g][c] + b * xr[g][c];
					continue;
				}
				yr[g][r] = yr[g][r] + a * xr[g][c];
				yi[g][r] = yi[g][r] + a * xi[g][c];
				yr[g][r] = yr[g][r] - b * xi[g][c];
				yi[g][r] = yi[g][r] + b * xr[g][c];
			}
		}
}

/* Where rows are found, or put, as a step's flips have them. */
enum flipped { FLIP_NONE, FLIP_READ, FLIP_WRITE };

/* The groups at *at and behind it; *at is then the next one. */
INLINE void apply_groups(unsigned ngroup, real *first, size_t *at, size_t mask, const size_t *stride, const struct flips *flips,
	const real *u, unsigned d, bool lanewise, enum kernel_form form, enum flipped flip)
{
	real *p[2][8];
	groups xr, xi, yr, yi;
	UNROLL for (unsigned g = 0; g < ngroup; g++) {
		if (flip == FLIP_READ)
			flipped_at(flips, first, *at, stride, p[g]);
		else
			group_at(d, first + *at, stride, p[g]);
		load_rows(d, p[g], xr[g], xi[g]);
		if (flip == FLIP_READ)
			group_at(d, first + *at, stride, p[g]);
		if (flip == FLIP_WRITE)
			flipped_at(flips, first, *at, stride, p[g]);
		*at = row_next(*at, mask);
	}
	multiply_groups(ngroup, d, form, u, lanewise, xr, xi, yr, yi);
	UNROLL for (unsigned g = 0; g < ngroup; g++)
		save_rows(d, p[g], yr[g], yi[g]);
}

/* Groups that a kernel takes together: 32 registers hold the amplitudes of two. */
INLINE bool in_twos(unsigned d, enum kernel_form form) { return VECTOR_BYTES == 64 && d <= 4 && form == FORM_COMPLEX; }

enum { PACE = 2, PACE_BACK = 4 };     /* times that a kernel visits rows for one row ahead */

/* Ask for the next row: near, but not for the caches of this step. */
INLINE void ask(struct kernel_ahead *a)
{
	size_t k = a->next++, at = (size_t)a->row[k] * ROW * sizeof(real);
	if (k & a->absent)
		return;
	for (unsigned n = 0; n < 2 && a->state[n]; n++)
		for (size_t line = 0; line < ROW * sizeof(real); line += 64)
			__builtin_prefetch((const char *)a->state[n] + at + line, 0, 2);
}

INLINE void apply_body(void *psi, unsigned nbit, const struct kernel_step *s, const real *u,
	struct kernel_ahead *ahead, unsigned ntarget, bool lanewise, enum kernel_form form, bool flip)
{
	unsigned d = 1u << ntarget;
	enum flipped flipped = flip ? FLIP_READ : FLIP_NONE;
	struct flips flips = flips_of(s);
	size_t n = (size_t)1 << (nbit - s->nfixed), mask = place_mask(fixed_mask(s)), at = 0, stride[3];
	real *first = row_at(psi, s->control);
	strides(s, d, stride);
	if (in_twos(d, form))
		for (; n > 1; n -= 2) {
			if (ahead && n / 2 % PACE == 0 && ahead->next < ahead->n)
				ask(ahead);
			apply_groups(2, first, &at, mask, stride, &flips, u, d, lanewise, form, flipped);
		}
	for (; n > 0; n--) {   /* n: groups of d rows that are left */
		if (ahead && n % PACE == 0 && ahead->next < ahead->n)
			ask(ahead);
		apply_groups(1, first, &at, mask, stride, &flips, u, d, lanewise, form, flipped);
	}
}

INLINE void apply_form(void *psi, unsigned nbit, const struct kernel_step *s, const real *u, struct kernel_ahead *ahead,
	enum kernel_form form)
{
	if (s->nflip) {
		apply_body(psi, nbit, s, u, NULL, 2, false, form, true);
		return;
	}
	if (ahead && ahead->next < ahead->n && s->ntarget == 2 && !s->lanewise) {   /* the most of large states */
		apply_body(psi, nbit, s, u, ahead, 2, false, form, false);
		return;
	}
	switch (2 * s->ntarget + s->lanewise) {
	case 2: apply_body(psi, nbit, s, u, NULL, 1, false, form, false); break;
	case 3: apply_body(psi, nbit, s, u, NULL, 1, true, form, false); break;
	case 4: apply_body(psi, nbit, s, u, NULL, 2, false, form, false); break;
	case 5: apply_body(psi, nbit, s, u, NULL, 2, true, form, false); break;
	case 6: apply_body(psi, nbit, s, u, NULL, 3, false, form, false); break;
	case 7: apply_body(psi, nbit, s, u, NULL, 3, true, form, false); break;
	}
}

static void apply(void *psi, unsigned nbit, const struct kernel_step *s, const void *u, struct kernel_ahead *ahead)
{
	switch (s->form) {
	case FORM_COMPLEX: apply_form(psi, nbit, s, u, ahead, FORM_COMPLEX); break;
	case FORM_REAL: apply_form(psi, nbit, s, u, ahead, FORM_REAL); break;
	case FORM_PARITY: apply_form(psi, nbit, s, u, ahead, FORM_PARITY); break;
	}
}

INLINE void permute_body(void *psi, unsigned nbit, const struct kernel_step *s, const uint8_t *source, unsigned ntarget)
{
	unsigned d = 1u << ntarget;
	size_t n = (size_t)1 << (nbit - s->nfixed), mask = fixed_mask(s), row = 0, from[8], at[8];
	real *first = row_at(psi, s->control);
	for (unsigned r = 0; r < d; r++) {
		at[r] = s->target[r] * ROW;
		from[r] = s->target[source[r]] * ROW;
	}
	for (size_t k = 0; k < n; k++, row = row_next(row, mask)) {
		real *p = first + row * ROW;
		vec xr[8], xi[8];
		UNROLL for (unsigned r = 0; r < d; r++) {
			xr[r] = load(p + from[r]);
			xi[r] = load(p + from[r] + LANES);
		}
		UNROLL for (unsigned r = 0; r < d; r++) {
			save(p + at[r], xr[r]);
			save(p + at[r] + LANES, xi[r]);
		}
	}
}

static void permute(void *psi, unsigned nbit, const struct kernel_step *s, const uint8_t *source)
{
	switch (s->ntarget) {
	case 1: permute_body(psi, nbit, s, source, 1); break;
	case 2: permute_body(psi, nbit, s, source, 2); break;
	case 3: permute_body(psi, nbit, s, source, 3); break;
	}
}

#endif
