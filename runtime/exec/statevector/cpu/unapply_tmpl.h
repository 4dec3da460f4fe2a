/* SPDX-License-Identifier: Apache-2.0
 * Template: dense matrices in the backward pass. */
#pragma once

#include "runtime/exec/statevector/cpu/anti_hermitian_tmpl.h"

/* Sums, while both states are as the step left them; then both are undone. */
INLINE void unapply_groups(unsigned ngroup, real *psi, real *lam, size_t step, const size_t *stride, const real *v, unsigned d,
	bool lanewise, enum kernel_form form, vec *sum)
{
	anti_hermitian_groups(ngroup, d, form, psi, lam, step, stride, sum);
	apply_groups(ngroup, psi, step, stride, v, d, lanewise, form);
	apply_groups(ngroup, lam, step, stride, v, d, lanewise, form);
}

INLINE void unapply_body(void *psi, void *lam, unsigned nbit, const struct kernel_step *s, const real *v,
	double *anti_hermitian, bool per_lane, struct kernel_ahead *ahead, unsigned ntarget, bool lanewise, enum kernel_form form)
{
	unsigned d = 1u << ntarget;
	struct walk w = walk_of(nbit, fixed_mask(s));
	size_t at = 0, stride[3];
	real *first = row_at(psi, s->control), *first_lam = row_at(lam, s->control);
	strides(s, d, stride);
	for (size_t left = w.nrun; left > 0;) {
		vec sum[16];
		size_t run = ANTI_HERMITIAN_GROUPS / w.run < left ? ANTI_HERMITIAN_GROUPS / w.run : left;
		anti_hermitian_begin(d, sum);
		left -= run;
		for (; run > 0; run--, at = row_next(at, w.mask)) {
			real *p = first + at, *q = first_lam + at;
			size_t n = w.run;
			if (in_twos(d, form))
				for (; n > 1; n -= 2, p += 2 * w.step, q += 2 * w.step) {
					if (n % PACE_BACK == 0 && ahead->next < ahead->n)
						ask(ahead);
					unapply_groups(2, p, q, w.step, stride, v, d, lanewise, form, sum);
				}
			for (; n > 0; n--, p += w.step, q += w.step) {
				if (n % PACE_BACK == 0 && ahead->next < ahead->n)
					ask(ahead);
				unapply_groups(1, p, q, w.step, stride, v, d, lanewise, form, sum);
			}
		}
		totals_flush(d * d, sum, anti_hermitian, per_lane);
	}
}

INLINE void unapply_form(void *psi, void *lam, unsigned nbit, const struct kernel_step *s, const real *v,
	double *anti_hermitian, bool per_lane, struct kernel_ahead *ahead, enum kernel_form form)
{
	switch (2 * s->ntarget + s->lanewise) {
	case 2: unapply_body(psi, lam, nbit, s, v, anti_hermitian, per_lane, ahead, 1, false, form); break;
	case 3: unapply_body(psi, lam, nbit, s, v, anti_hermitian, per_lane, ahead, 1, true, form); break;
	case 4: unapply_body(psi, lam, nbit, s, v, anti_hermitian, per_lane, ahead, 2, false, form); break;
	case 5: unapply_body(psi, lam, nbit, s, v, anti_hermitian, per_lane, ahead, 2, true, form); break;
	}
}

static void unapply(void *psi, void *lam, unsigned nbit, const struct kernel_step *s, const void *v,
	double *anti_hermitian, bool per_lane, struct kernel_ahead *wanted);

static void unapply_flipped(void *psi, void *lam, unsigned nbit, const struct kernel_step *s, const real *v,
	double *sum, bool per_lane, struct kernel_ahead *ahead)
{
	struct flipped f;
	flipped_begin(&f, s);
	if (sum && s->form == FORM_PARITY) {
		anti_hermitian(psi, lam, nbit, s, sum, per_lane);
		sum = NULL;
	}
	do {
		flipped_matrix(&f, s, v, false);
		unapply(psi, lam, nbit, &f.step, f.u, sum, per_lane, ahead);
	} while (flipped_next(&f));
}

static void unapply(void *psi, void *lam, unsigned nbit, const struct kernel_step *s, const void *v,
	double *sum, bool per_lane, struct kernel_ahead *wanted)
{
	struct kernel_ahead none = { .n = 0 }, *ahead = wanted ? wanted : &none;
	if (s->nflip) {
		unapply_flipped(psi, lam, nbit, s, v, sum, per_lane, ahead);
		return;
	}
	if (!sum || s->ntarget == 3) {   /* no sums, or 64 that do not stay in registers: nothing is gained by one visit */
		if (sum)
			anti_hermitian(psi, lam, nbit, s, sum, per_lane);
		apply(psi, nbit, s, v, wanted);
		apply(lam, nbit, s, v, wanted);
		return;
	}
	WITH_FORM(s->form, unapply_form, psi, lam, nbit, s, v, sum, per_lane, ahead);
}
