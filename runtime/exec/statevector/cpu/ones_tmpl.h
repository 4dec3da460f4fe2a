/* SPDX-License-Identifier: Apache-2.0
 * Template: several matrices on one qubit each in one visit of the rows. */
#pragma once

#include "runtime/exec/statevector/cpu/dense_tmpl.h"

/* One matrix on bit k of a group's d rows. */
INLINE void multiply_one(unsigned d, unsigned k, enum kernel_form form, const real *u, bool lanewise, vec *xr, vec *xi)
{
	UNROLL for (unsigned r = 0; r < d; r++) {
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

INLINE void apply_ones_body(void *to, const void *from, unsigned nbit, const struct kernel_step *const *s, const void *const *u,
	unsigned n, bool lanewise, enum kernel_form form)
{
	unsigned d = 1u << n;
	size_t mask = 0, at = 0, stride[KERNEL_ONES_MAX];
	for (unsigned k = 0; k < n; k++) {
		mask |= s[k]->target[1];
		stride[k] = s[k]->target[1] * ROW;
	}
	mask = place_mask(mask);
	for (size_t left = (size_t)1 << (nbit - n); left > 0; left--, at = row_next(at, mask)) {   /* left: groups of d rows */
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

INLINE void apply_ones_form(void *to, const void *from, unsigned nbit, const struct kernel_step *const *s, const void *const *u,
	unsigned n, enum kernel_form form)
{
	switch (2 * n + s[0]->lanewise) {
	case 2: apply_ones_body(to, from, nbit, s, u, 1, false, form); break;
	case 3: apply_ones_body(to, from, nbit, s, u, 1, true, form); break;
	case 4: apply_ones_body(to, from, nbit, s, u, 2, false, form); break;
	case 5: apply_ones_body(to, from, nbit, s, u, 2, true, form); break;
	case 6: apply_ones_body(to, from, nbit, s, u, 3, false, form); break;
	case 7: apply_ones_body(to, from, nbit, s, u, 3, true, form); break;
	}
}

static void apply_ones(void *to, const void *from, unsigned nbit, const struct kernel_step *const *s, const void *const *u, unsigned n)
{
	switch (s[0]->form) {
	case FORM_COMPLEX: apply_ones_form(to, from, nbit, s, u, n, FORM_COMPLEX); break;
	case FORM_REAL: apply_ones_form(to, from, nbit, s, u, n, FORM_REAL); break;
	case FORM_PARITY: apply_ones_form(to, from, nbit, s, u, n, FORM_PARITY); break;
	}
}
