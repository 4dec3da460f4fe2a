/* SPDX-License-Identifier: Apache-2.0
 * Template: dense matrices on qubits that are |0> still. */
#pragma once

#include "runtime/exec/statevector/cpu/dense_tmpl.h"

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
