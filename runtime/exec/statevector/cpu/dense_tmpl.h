/* SPDX-License-Identifier: Apache-2.0
 * Template: dense matrices and permutations in the forward pass. */
#pragma once

#include "runtime/exec/statevector/cpu/vectors_tmpl.h"

/* ---- cx that the kernel of a matrix does in the same visit ---- */

/* Flips exchange columns of the matrix, or rows of that which undoes it, for all groups with the same bits where flips look:
 * these are the rows of one step without flips.  The matrix is on two targets, not lanewise and without controls. */
struct flipped {
	size_t controls;
	struct kernel_step step;
	real u[32];
};

INLINE void flipped_begin(struct flipped *f, const struct kernel_step *s)
{
	f->controls = 0;
	for (unsigned k = 0; k < s->nflip; k++)
		f->controls |= (size_t)1 << s->flip[k].row_bit;
	f->controls &= ~fixed_mask(s); /* a bit that is fixed is as `control` has it */
	f->step = *s;
	f->step.nflip = 0;
	for (size_t left = f->controls; left; left &= left - 1)
		f->step.fixed[f->step.nfixed++] = (uint8_t)__builtin_ctzll(left);
}

INLINE bool flipped_next(struct flipped *f)
{
	f->step.control = (f->step.control - f->controls) & f->controls;
	return f->step.control != 0;
}

/* The matrix for the rows of f->step; exchanged by one target alone, parity's entries are elsewhere. */
INLINE void flipped_matrix(struct flipped *f, const struct kernel_step *s, const real *u, bool columns)
{
	size_t move = 0;
	unsigned flip = 0;
	for (unsigned k = 0; k < s->nflip; k++)
		move ^= (f->step.control >> s->flip[k].row_bit & 1) == s->flip[k].value
			? s->flip[k].mask
			: 0;
	while (s->target[flip] != move)
		flip++;
	f->step.form = s->form == FORM_PARITY && __builtin_parity(flip) ? FORM_COMPLEX : s->form;
	for (unsigned r = 0; r < 4; r++)
		for (unsigned c = 0; c < 4; c++) {
			unsigned row = columns ? r : r ^ flip, column = columns ? c ^ flip : c;
			for (unsigned part = 0; part < 2; part++) {
				bool there = s->form == FORM_COMPLEX
					|| part == is_imaginary(s->form, row, column);
				f->u[2 * (4 * r + c) + part] =
					there ? u[2 * (4 * row + column) + part] : 0;
			}
		}
}

/* ---- a matrix ---- */

/* y = U x for d amplitudes, where an entry has one part. */
INLINE void multiply_half(unsigned d, enum kernel_form form, const real *u, bool lanewise, const vec *xr, const vec *xi, vec *yr, vec *yi)
{
	UNROLL for (unsigned r = 0; r < d; r++) {
		vec a = entry(u, r * d, is_imaginary(form, r, 0), lanewise);
		vec re = is_imaginary(form, r, 0) ? -(a * xi[0]) : a * xr[0];
		vec im = is_imaginary(form, r, 0) ? a * xr[0] : a * xi[0];
		UNROLL for (unsigned c = 1; c < d; c++) {
			a = entry(u, r * d + c, is_imaginary(form, r, c), lanewise);
			re = is_imaginary(form, r, c) ? re - a * xi[c] : re + a * xr[c];
			im = is_imaginary(form, r, c) ? im + a * xr[c] : im + a * xi[c];
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

/* Amplitudes of one or two groups. */
typedef vec groups[2][8];

/* Two groups, of a complex matrix, share its entries while these are in registers; each row is put back when it is there, so that
 * registers need not hold it. */
INLINE void multiply_groups(unsigned ngroup, unsigned d, enum kernel_form form, const real *u, bool lanewise, groups xr, groups xi,
	real *p[2][8])
{
	if (ngroup == 1) {
		vec yr[8], yi[8];
		multiply(d, form, u, lanewise, xr[0], xi[0], yr, yi);
		save_rows(d, p[0], yr, yi);
		return;
	}
	UNROLL for (unsigned r = 0; r < d; r++) {
		vec yr[2], yi[2];
		UNROLL for (unsigned c = 0; c < d; c++) {
			vec a = entry(u, r * d + c, 0, lanewise), b = entry(u, r * d + c, 1, lanewise);
			UNROLL for (unsigned g = 0; g < 2; g++) {
				if (c == 0) {
					yr[g] = a * xr[g][c] - b * xi[g][c];
					yi[g] = a * xi[g][c] + b * xr[g][c];
					continue;
				}
				yr[g] = yr[g] + a * xr[g][c];
				yi[g] = yi[g] + a * xi[g][c];
				yr[g] = yr[g] - b * xi[g][c];
				yi[g] = yi[g] + b * xr[g][c];
			}
		}
		UNROLL for (unsigned g = 0; g < 2; g++) {
			save(p[g][r], yr[g]);
			save(p[g][r] + LANES, yi[g]);
		}
	}
}

/* The groups at p, and `step` behind it. */
INLINE void apply_groups(unsigned ngroup, real *first, size_t step, const size_t *stride, const real *u, unsigned d,
	bool lanewise, enum kernel_form form)
{
	real *p[2][8];
	groups xr, xi;
	UNROLL for (unsigned g = 0; g < ngroup; g++) {
		group_at(d, first + g * step, stride, p[g]);
		load_rows(d, p[g], xr[g], xi[g]);
	}
	multiply_groups(ngroup, d, form, u, lanewise, xr, xi, p);
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
	struct kernel_ahead *ahead, enum kernel_form form, unsigned ntarget, bool lanewise)
{
	unsigned d = 1u << ntarget;
	struct walk w = walk_of(nbit, fixed_mask(s));
	size_t stride[3];
	real *first = row_at(psi, s->control);
	strides(s, d, stride);
	for (size_t r = 0, begin = 0; r < w.nrun; r++, begin = row_next(begin, w.mask)) {
		real *p = first + begin;
		size_t n = w.run;   /* groups of d rows that are left */
		if (in_twos(d, form))
			for (; n > 1; n -= 2, p += 2 * w.step) {
				if (ahead && n / 2 % PACE == 0 && ahead->next < ahead->n)
					ask(ahead);
				apply_groups(2, p, w.step, stride, u, d, lanewise, form);
			}
		for (; n > 0; n--, p += w.step) {
			if (ahead && n % PACE == 0 && ahead->next < ahead->n)
				ask(ahead);
			apply_groups(1, p, w.step, stride, u, d, lanewise, form);
		}
	}
}

static void apply(void *psi, unsigned nbit, const struct kernel_step *s, const void *u, struct kernel_ahead *ahead);

static void apply_flipped(void *psi, unsigned nbit, const struct kernel_step *s, const real *u, struct kernel_ahead *ahead)
{
	struct flipped f;
	flipped_begin(&f, s);
	do {
		flipped_matrix(&f, s, u, true);
		apply(psi, nbit, &f.step, f.u, ahead);
	} while (flipped_next(&f));
}

INLINE void apply_form(void *psi, unsigned nbit, const struct kernel_step *s, const real *u, struct kernel_ahead *ahead,
	enum kernel_form form)
{
	if (ahead && ahead->next < ahead->n && s->ntarget == 2 && !s->lanewise) {   /* the most of large states */
		apply_body(psi, nbit, s, u, ahead, form, 2, false);
		return;
	}
	WITH_TARGETS_AND_LANES(s->ntarget, s->lanewise, apply_body, psi, nbit, s, u, NULL, form);
}

static void apply(void *psi, unsigned nbit, const struct kernel_step *s, const void *u, struct kernel_ahead *ahead)
{
	if (s->nflip) {
		apply_flipped(psi, nbit, s, u, ahead);
		return;
	}
	WITH_FORM(s->form, apply_form, psi, nbit, s, u, ahead);
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
	WITH_TARGETS(s->ntarget, permute_body, psi, nbit, s, source);
}

/* ---- on qubits that are |0> still ---- */

/* Rows of target index r <- U[r, 0] row 0. */
INLINE void on_zero_body(void *psi, unsigned nbit, const struct kernel_step *s, const real *u,
	unsigned ntarget)
{
	unsigned d = 1u << ntarget;
	size_t n = (size_t)1 << (nbit - s->nfixed), mask = place_mask(fixed_mask(s)), at = 0,
	       stride[3];
	real *first = row_at(psi, s->control);
	vec re[8], im[8];
	strides(s, d, stride);
	UNROLL for (unsigned r = 0; r < d; r++)
	{
		re[r] = entry(u, r * d, 0, false);
		im[r] = entry(u, r * d, 1, false);
	}
	for (; n > 0; n--, at = row_next(at, mask)) { /* n: groups of d rows that are left */
		real *p[8];
		group_at(d, first + at, stride, p);
		vec xr = load(p[0]), xi = load(p[0] + LANES);
		UNROLL for (unsigned r = 0; r < d; r++)
		{
			save(p[r], re[r] * xr - im[r] * xi);
			save(p[r] + LANES, re[r] * xi + im[r] * xr);
		}
	}
}

static void apply_on_zero(void *psi, unsigned nbit, const struct kernel_step *s, const void *u)
{
	WITH_TARGETS(s->ntarget, on_zero_body, psi, nbit, s, u);
}

/* ---- several matrices on one qubit each in one visit of the rows ---- */

/* One matrix on bit k of a group's d rows. */
INLINE void multiply_one(unsigned d, unsigned k, enum kernel_form form, const real *u,
	bool lanewise, vec *xr, vec *xi)
{
	UNROLL for (unsigned r = 0; r < d; r++)
	{
		unsigned other = r | 1u << k;
		vec ar[2] = { xr[r], xr[other] }, ai[2] = { xi[r], xi[other] }, yr[2], yi[2];
		if (r == other)
			continue;
		multiply(2, form, u, lanewise, ar, ai, yr, yi);
		xr[r] = yr[0];
		xi[r] = yi[0];
		xr[other] = yr[1];
		xi[other] = yi[1];
	}
}

INLINE void apply_ones_body(void *to, const void *from, unsigned nbit,
	const struct kernel_step *const *s, const void *const *u, enum kernel_form form, unsigned n,
	bool lanewise)
{
	unsigned d = 1u << n;
	size_t mask = 0, at = 0, stride[KERNEL_ONES_MAX];
	for (unsigned k = 0; k < n; k++) {
		mask |= s[k]->target[1];
		stride[k] = s[k]->target[1] * ROW;
	}
	mask = place_mask(mask);
	for (size_t left = (size_t)1 << (nbit - n); left > 0;
		left--, at = row_next(at, mask)) { /* left: groups of d rows */
		real *p[8];
		vec xr[8], xi[8];
		group_at(d, (const real *)from + at, stride, p);
		load_rows(d, p, xr, xi);
		UNROLL for (unsigned k = 0; k < n; k++)
			multiply_one(d, k, form, u[k], lanewise, xr, xi);
		group_at(d, (const real *)to + at, stride, p);
		save_rows(d, p, xr, xi);
	}
}

static void apply_ones(void *to, const void *from, unsigned nbit,
	const struct kernel_step *const *s, const void *const *u, unsigned n)
{
	WITH_FORM(s[0]->form, WITH_TARGETS_AND_LANES, n, s[0]->lanewise, apply_ones_body, to, from,
		nbit, s, u);
}
