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

static void apply_ones(void *to, const void *from, unsigned nbit, const struct kernel_step *const *s, const void *const *u, unsigned n)
{
	WITH_FORM(s[0]->form, WITH_TARGETS_AND_LANES, n, s[0]->lanewise, apply_ones_body, to, from,
		nbit, s, u);
}
