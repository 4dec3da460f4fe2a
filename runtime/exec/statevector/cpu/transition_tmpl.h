/* SPDX-License-Identifier: Apache-2.0
 * Template: whole reduced transition matrices. */
#pragma once

#include "runtime/exec/statevector/cpu/anti_hermitian_tmpl.h"

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
