/* SPDX-License-Identifier: Apache-2.0
 * Template: what gradients need of reduced transition matrices (runtime/program/anti_hermitian.h). */
#pragma once

#include "runtime/exec/statevector/cpu/dense_tmpl.h"
#include "runtime/exec/statevector/cpu/totals_tmpl.h"

/* One part l of row a of lambda with all of psi: products with x to the sums of real parts, `sign` those with y to the others. */
INLINE void anti_hermitian_part(unsigned d, enum kernel_form form, unsigned a, vec l, const vec *x, const vec *y, int sign, vec *sum)
{
	UNROLL for (unsigned b = 0; b < d; b++) {
		unsigned re = a < b ? a * d + b : b * d + a, im = a < b ? b * d + a : a * d + b;
		if (a != b && !is_imaginary(form, a, b))
			sum[re] = a < b ? sum[re] + l * x[b] : sum[re] - l * x[b];
		if (form == FORM_COMPLEX || is_imaginary(form, a, b))
			sum[im] = sign > 0 ? sum[im] + l * y[b] : sum[im] - l * y[b];
	}
}

/* Row after row of lambda; one part of it after the other, so that no sum waits for its last product. */
INLINE void anti_hermitian_groups(unsigned ngroup, unsigned d, enum kernel_form form, const real *psi, const real *lam, size_t step,
	const size_t *stride, vec *sum)
{
	UNROLL for (unsigned g = 0; g < ngroup; g++) {
		real *p[8], *q[8];
		vec yr[8], yi[8];
		group_at(d, psi + g * step, stride, p);
		group_at(d, lam + g * step, stride, q);
		load_rows(d, p, yr, yi);
		if (d == 2) {
			hold(d, yr);
			hold(d, yi);
		}
		UNROLL for (unsigned a = 0; a < d; a++) {
			vec l[2] = { load(q[a]), load(q[a] + LANES) };
			if (d == 2)
				hold(2, l);
			anti_hermitian_part(d, form, a, l[0], yr, yi, 1, sum);
			anti_hermitian_part(d, form, a, l[1], yi, yr, -1, sum);
		}
	}
}

enum { ANTI_HERMITIAN_GROUPS = 1 << WALK_BITS };   /* summed in the kernels' precision before they go to double */

INLINE void anti_hermitian_begin(unsigned d, vec *sum)
{
	UNROLL for (unsigned e = 0; e < d * d; e++)
		sum[e] = splat(0);
}

/* Of 2 rows there are few sums, which would wait for themselves: every second group has its own. */
INLINE void anti_hermitian_body(const void *psi, const void *lam, unsigned nbit,
	const struct kernel_step *s, double *anti_hermitian, bool per_lane, enum kernel_form form,
	unsigned ntarget)
{
	unsigned d = 1u << ntarget, apart = d == 2 ? 2 : 1;
	struct walk w = walk_of(nbit, fixed_mask(s));
	size_t at = 0, stride[3];
	const real *first = row_of(psi, s->control), *first_lam = row_of(lam, s->control);
	strides(s, d, stride);
	for (size_t left = w.nrun; left > 0;) {
		vec sum[2][64];
		size_t run = ANTI_HERMITIAN_GROUPS / w.run < left ? ANTI_HERMITIAN_GROUPS / w.run : left;
		anti_hermitian_begin(d, sum[0]);
		anti_hermitian_begin(d, sum[1]);
		left -= run;
		for (; run > 0; run--, at = row_next(at, w.mask)) {
			const real *p = first + at, *q = first_lam + at;
			size_t n = w.run;
			for (; n >= apart; n -= apart, p += apart * w.step, q += apart * w.step)
				UNROLL for (unsigned g = 0; g < apart; g++)
					anti_hermitian_groups(1, d, form, p + g * w.step, q + g * w.step, w.step, stride, sum[g]);
			for (; n > 0; n--)
				anti_hermitian_groups(1, d, form, p, q, w.step, stride, sum[0]);
		}
		if (apart > 1)
			UNROLL for (unsigned e = 0; e < d * d; e++)
				sum[0][e] = sum[0][e] + sum[1][e];
		totals_flush(d * d, sum[0], anti_hermitian, per_lane);
	}
}

static void anti_hermitian(const void *psi, const void *lam, unsigned nbit,
	const struct kernel_step *s, double *sum, bool per_lane)
{
	WITH_FORM(s->form, WITH_TARGETS, s->ntarget, anti_hermitian_body, psi, lam, nbit, s, sum,
		per_lane);
}

/* ---- whole reduced transition matrices ---- */

/* An entry of R += conj(l) y. */
INLINE void transition_entry(vec lr, vec li, vec yr, vec yi, vec *rr, vec *ri)
{
	vec re = *rr + lr * yr, im = *ri + lr * yi;
	*rr = re + li * yi;
	*ri = im - li * yr;
}

/* One tile of R: nrow rows of it, the first of which is of the row of a group at lam, over ngroup groups; returns the next
 * place. */
INLINE size_t transition_tile(unsigned d, unsigned nrow, const real *psi, const real *lam,
	const size_t *stride, size_t at, size_t mask, size_t ngroup, vec (*r)[2])
{
	vec re[16], im[16];
	UNROLL for (unsigned e = 0; e < nrow * d; e++)
	{
		re[e] = r[e][0];
		im[e] = r[e][1];
	}
	for (size_t k = ngroup; k > 0; k--, at = row_next(at, mask)) {
		real *p[8], *q[2];
		vec lr[2], li[2];
		group_at(d, psi + at, stride, p);
		group_at(nrow, lam + at, stride, q);
		load_rows(nrow, q, lr, li);
		UNROLL for (unsigned b = 0; b < d; b++)
		{ /* one row of psi at a time: registers are for the sums */
			vec yr = load(p[b]), yi = load(p[b] + LANES);
			UNROLL for (unsigned a = 0; a < nrow; a++) transition_entry(lr[a], li[a],
				yr, yi, &re[a * d + b], &im[a * d + b]);
		}
	}
	UNROLL for (unsigned e = 0; e < nrow * d; e++)
	{
		r[e][0] = re[e];
		r[e][1] = im[e];
	}
	return at;
}

/* Sums alone: as many rows of R at a time as the registers hold, over rows of the state that stay near. */
INLINE void transition_body(const void *psi, const void *lam, unsigned nbit,
	const struct kernel_step *s, double *r, bool per_lane, unsigned ntarget)
{
	enum {
		NEAR = 16,
		RUN = 128
	}; /* groups visited at a time, and summed before they go to double */
	unsigned d = 1u << ntarget, tile = d == 8 ? 1 : 2;
	size_t n = (size_t)1 << (nbit - s->nfixed), mask = place_mask(fixed_mask(s)), at = 0,
	       stride[3];
	const real *p = row_of(psi, s->control), *q = row_of(lam, s->control);
	strides(s, d, stride);
	for (size_t begin = 0; begin < n; begin += RUN) {
		size_t end = begin + RUN < n ? begin + RUN : n;
		vec sum[64][2];
		for (unsigned e = 0; e < d * d; e++)
			sum[e][0] = sum[e][1] = splat(0);
		for (size_t k = begin; k < end; k += NEAR) {
			size_t next = at;
			for (unsigned a = 0; a < d; a += tile)
				next = transition_tile(d, tile, p, q + s->target[a] * ROW, stride,
					at, mask, end - k < NEAR ? end - k : NEAR, sum + a * d);
			at = next;
		}
		totals_flush(2 * d * d, sum[0], r, per_lane);
	}
}

static void transition(const void *psi, const void *lam, unsigned nbit, const struct kernel_step *s,
	double *r, bool per_lane)
{
	WITH_TARGETS(s->ntarget, transition_body, psi, lam, nbit, s, r, per_lane);
}
