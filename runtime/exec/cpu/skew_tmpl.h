/* SPDX-License-Identifier: Apache-2.0
 * Template: what gradients need of cross matrices (runtime/program/skew.h). */
#ifndef QCNN_SKEW_TMPL_H
#define QCNN_SKEW_TMPL_H

#include "runtime/exec/cpu/dense_tmpl.h"
#include "runtime/exec/cpu/totals_tmpl.h"

/* One part l of row a of lambda with all of psi: products with x to the sums of real parts, `sign` those with y to the others. */
INLINE void skew_part(unsigned d, enum kernel_form form, unsigned a, vec l, const vec *x, const vec *y, int sign, vec *sum)
{
	UNROLL for (unsigned b = 0; b < d; b++) {
		unsigned re = a < b ? a * d + b : b * d + a, im = a < b ? b * d + a : a * d + b;
		if (a != b && !turns(form, a, b))
			sum[re] = a < b ? sum[re] + l * x[b] : sum[re] - l * x[b];
		if (form == FORM_COMPLEX || turns(form, a, b))
			sum[im] = sign > 0 ? sum[im] + l * y[b] : sum[im] - l * y[b];
	}
}

/* Row after row of lambda; one part of it after the other, so that no sum waits for its last product. */
INLINE void skew_groups(unsigned ngroup, unsigned d, enum kernel_form form, const real *psi, const real *lam, size_t at, size_t mask,
	const size_t *stride, vec *sum)
{
	UNROLL for (unsigned g = 0; g < ngroup; g++, at = row_next(at, mask)) {
		real *p[8], *q[8];
		vec yr[8], yi[8];
		group_at(d, psi + at, stride, p);
		group_at(d, lam + at, stride, q);
		load_rows(d, p, yr, yi);
		UNROLL for (unsigned a = 0; a < d; a++) {
			vec lr = load(q[a]), li = load(q[a] + LANES);
			skew_part(d, form, a, lr, yr, yi, 1, sum);
			skew_part(d, form, a, li, yi, yr, -1, sum);
		}
	}
}

enum { SKEW_RUN = 128 };   /* groups summed in the kernels' precision before they go to double */

INLINE void skew_begin(unsigned d, vec *sum)
{
	UNROLL for (unsigned e = 0; e < d * d; e++)
		sum[e] = splat(0);
}

/* Of 2 rows there are few sums, which would wait for themselves: every second group has its own. */
INLINE void skew_body(const void *psi, const void *lam, unsigned nbit, const struct kernel_step *s, double *skew, bool per_lane,
	unsigned ntarget, enum kernel_form form)
{
	unsigned d = 1u << ntarget, apart = d == 2 ? 2 : 1;
	size_t n = (size_t)1 << (nbit - s->nfixed), mask = place_mask(fixed_mask(s)), at = 0, stride[3];
	const real *p = row_of(psi, s->control), *q = row_of(lam, s->control);
	strides(s, d, stride);
	for (size_t left = n, run; left > 0; left -= run) {
		vec sum[2][64];
		run = left < SKEW_RUN ? left : SKEW_RUN;
		skew_begin(d, sum[0]);
		skew_begin(d, sum[1]);
		size_t k = run;
		for (; k >= apart; k -= apart)
			UNROLL for (unsigned g = 0; g < apart; g++, at = row_next(at, mask))
				skew_groups(1, d, form, p, q, at, mask, stride, sum[g]);
		for (; k > 0; k--, at = row_next(at, mask))
			skew_groups(1, d, form, p, q, at, mask, stride, sum[0]);
		if (apart > 1)
			UNROLL for (unsigned e = 0; e < d * d; e++)
				sum[0][e] = sum[0][e] + sum[1][e];
		totals_flush(d * d, sum[0], skew, per_lane);
	}
}

INLINE void skew_form(const void *psi, const void *lam, unsigned nbit, const struct kernel_step *s, double *sum, bool per_lane,
	enum kernel_form form)
{
	switch (s->ntarget) {
	case 1: skew_body(psi, lam, nbit, s, sum, per_lane, 1, form); break;
	case 2: skew_body(psi, lam, nbit, s, sum, per_lane, 2, form); break;
	case 3: skew_body(psi, lam, nbit, s, sum, per_lane, 3, form); break;
	}
}

static void skew(const void *psi, const void *lam, unsigned nbit, const struct kernel_step *s, double *sum, bool per_lane)
{
	switch (s->form) {
	case FORM_COMPLEX: skew_form(psi, lam, nbit, s, sum, per_lane, FORM_COMPLEX); break;
	case FORM_REAL: skew_form(psi, lam, nbit, s, sum, per_lane, FORM_REAL); break;
	case FORM_PARITY: skew_form(psi, lam, nbit, s, sum, per_lane, FORM_PARITY); break;
	}
}

#endif
