/* SPDX-License-Identifier: Apache-2.0
 * Template: pairs of states, for batch rank. */
#pragma once

#include "runtime/exec/statevector/cpu/readouts_tmpl.h"

enum { PAIR_RUN = 64 };      /* rows summed in the kernels' precision before they go to double */

static void overlap(const void *a, const void *b, size_t first, size_t last, const struct kernel_term *t, double *out)
{
	vec lanes = sign_lanes(t->sign_lane);
	for (size_t begin = first; begin < last; begin += PAIR_RUN) {
		size_t end = begin + PAIR_RUN < last ? begin + PAIR_RUN : last;
		vec sum = splat(0), imag = splat(0);
		for (size_t row = begin; row < end; row++) {
			const real *p = row_of(a, row);
			vec re, im, ar = load(p), ai = load(p + LANES);
			real sign = sign_of(row & t->sign_row);
			pauli_row(b, row, t, flipped_lanes(t->flip_lane), &re, &im);
			sum += (ar * re + ai * im) * sign;
			imag += (ar * im - ai * re) * sign;
		}
		sum = sum * lanes;
		imag = imag * lanes;
		for (unsigned l = 0; l < LANES; l++) {
			out[l] += sum[l];
			out[LANES + l] += imag[l];
		}
	}
}

INLINE void mix_add(vec cr, vec ci, vec re, vec im, vec *sum, vec *imag)
{
	*sum += cr * re - ci * im;
	*imag += cr * im + ci * re;
}

/* plain: P changes signs alone, or nothing, and there are as many states as fit. */
INLINE void mix_body(void *lam, const void *const *psi, unsigned n, size_t first, size_t last, const struct kernel_term *t,
	const double *c, bool plain)
{
	vec lanes = sign_lanes(t->sign_lane), cr[KERNEL_MIX_MAX], ci[KERNEL_MIX_MAX];
	for (unsigned k = 0; k < n; k++) {
		cr[k] = lanes * (real)c[2 * k];
		ci[k] = lanes * (real)c[2 * k + 1];
	}
	for (size_t row = first; row < last; row++) {
		real *p = row_at(lam, row), sign = sign_of(row & t->sign_row);
		vec sum = splat(0), imag = splat(0);
		if (plain)
			UNROLL for (unsigned k = 0; k < KERNEL_MIX_MAX; k++)
				mix_add(cr[k], ci[k], load(row_of(psi[k], row)),
					load(row_of(psi[k], row) + LANES), &sum, &imag);
		else
			for (unsigned k = 0; k < n; k++) {
				vec re, im;
				pauli_row(psi[k], row, t, flipped_lanes(t->flip_lane), &re, &im);
				mix_add(cr[k], ci[k], re, im, &sum, &imag);
			}
		save(p, load(p) + sum * sign);
		save(p + LANES, load(p + LANES) + imag * sign);
	}
}

static void mix(void *lam, const void *const *psi, unsigned n, size_t first, size_t last, const struct kernel_term *t,
	const double *c)
{
	bool plain = !t->flip_row && !t->flip_lane && t->ny == 0;
	if (plain && n == KERNEL_MIX_MAX)
		mix_body(lam, psi, KERNEL_MIX_MAX, first, last, t, c, true);
	else
		mix_body(lam, psi, n, first, last, t, c, false);
}

static void overlap_lanes(const void *a, const void *b, size_t nrow, const struct kernel_term *t, double *out)
{
	for (size_t begin = 0; begin < nrow; begin += PAIR_RUN) {
		size_t end = begin + PAIR_RUN < nrow ? begin + PAIR_RUN : nrow;
		for (unsigned k = 0; k < LANES; k++) {
			vec sum = splat(0), imag = splat(0);
			for (size_t row = begin; row < end; row++) {
				const real *p = row_of(a, row);
				real sign = sign_of(row & t->sign_row), ar = sign * p[k], ai = sign * p[LANES + k];
				vec re, im;
				pauli_row(b, row, t, flipped_lanes(t->flip_lane), &re, &im);
				sum += ar * re + ai * im;
				imag += ar * im - ai * re;
			}
			for (unsigned l = 0; l < LANES; l++) {
				out[2 * LANES * k + l] += sum[l];
				out[2 * LANES * k + LANES + l] += imag[l];
			}
		}
	}
}

static void lambda_lanes(void *lam, const void *psi, size_t nrow, const struct kernel_term *t, const double *c)
{
	vec cr[LANES], ci[LANES];
	for (unsigned k = 0; k < LANES; k++)
		for (unsigned l = 0; l < LANES; l++) {
			cr[k][l] = (real)c[2 * LANES * k + l];
			ci[k][l] = (real)c[2 * LANES * k + LANES + l];
		}
	for (size_t row = 0; row < nrow; row++) {
		real *p = row_at(lam, row), sign = sign_of(row & t->sign_row);
		vec re, im, sum = load(p), imag = load(p + LANES);
		pauli_row(psi, row, t, flipped_lanes(t->flip_lane), &re, &im);
		for (unsigned k = 0; k < LANES; k++) {
			real a = sign * re[k], b = sign * im[k];
			sum += cr[k] * a - ci[k] * b;
			imag += cr[k] * b + ci[k] * a;
		}
		save(p, sum);
		save(p + LANES, imag);
	}
}
