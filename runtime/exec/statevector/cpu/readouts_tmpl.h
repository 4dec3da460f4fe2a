/* SPDX-License-Identifier: Apache-2.0
 * Template: expectations of Pauli products, probabilities, and lambda made of their readout gradients. */
#pragma once

#include "runtime/exec/statevector/cpu/vectors_tmpl.h"

/* +1 or -1 by the parity of x. */
INLINE real sign_of(size_t x) { return __builtin_parityll(x) ? (real)-1 : (real)1; }

INLINE vec sign_lanes(unsigned sign_lane)
{
	vec v;
	for (unsigned l = 0; l < LANES; l++)
		v[l] = sign_of(l & sign_lane);
	return v;
}

typedef VECTOR_INDEX vec_index __attribute__((vector_size(VECTOR_BYTES)));

/* Lane l is l ^ flip. */
INLINE vec_index flipped_lanes(unsigned flip)
{
	vec_index from;
	UNROLL for (unsigned l = 0; l < LANES; l++) from[l] = (VECTOR_INDEX)l;
	return from ^ (VECTOR_INDEX)flip;
}

/* The lanes of these numbers. */
INLINE vec pick_lanes(vec v, vec_index from)
{
#if defined __clang__
	vec out;
	for (unsigned l = 0; l < LANES; l++)
		out[l] = v[from[l]];
	return out;
#else
	return __builtin_shuffle(v, from);
#endif
}

/* (P psi)[row] up to its sign: row `row ^ flip`, lanes exchanged, times (-i)^ny. */
INLINE void pauli_row(const void *psi, size_t row, const struct kernel_term *t, vec_index from,
	vec *re, vec *im)
{
	const real *p = row_of(psi, row ^ t->flip_row);
	vec a = load(p), b = load(p + LANES);
	if (t->flip_lane) {
		a = pick_lanes(a, from);
		b = pick_lanes(b, from);
	}
	switch (t->ny) {
	case 0: *re = a; *im = b; break;
	case 1: *re = b; *im = -a; break;
	case 2: *re = -a; *im = -b; break;
	default: *re = -b; *im = a; break;
	}
}

static void expect(const void *psi, size_t first, size_t last, const struct kernel_term *t, double *out)
{
	enum { RUN = 64 };   /* rows summed in the kernels' precision before they go to double */
	vec lanes = sign_lanes(t->sign_lane);
	vec_index from = flipped_lanes(t->flip_lane);
	for (size_t begin = first; begin < last; begin += RUN) {
		size_t end = begin + RUN < last ? begin + RUN : last;
		vec sum = splat(0);
		for (size_t row = begin; row < end; row++) {
			const real *p = row_of(psi, row);
			vec re, im;
			pauli_row(psi, row, t, from, &re, &im);
			sum += (load(p) * re + load(p + LANES) * im) * sign_of(row & t->sign_row);
		}
		sum = sum * lanes;
		for (unsigned l = 0; l < LANES; l++)
			out[l] += sum[l];
	}
}

static void lambda(void *lam, const void *psi, size_t first, size_t last, const struct kernel_term *t, const double *c)
{
	vec factor = sign_lanes(t->sign_lane);
	vec_index from = flipped_lanes(t->flip_lane);
	for (unsigned l = 0; l < LANES; l++)
		factor[l] *= (real)c[l];
	for (size_t row = first; row < last; row++) {
		real *p = row_at(lam, row);
		vec re, im, f = factor * sign_of(row & t->sign_row);
		pauli_row(psi, row, t, from, &re, &im);
		save(p, load(p) + f * re);
		save(p + LANES, load(p + LANES) + f * im);
	}
}

INLINE size_t bin_of(size_t row, const struct kernel_bins *b)
{
	size_t bin = 0;
	for (unsigned k = 0; k < b->nbit; k++)
		bin |= ((row >> b->row_bit[k]) & 1) << b->bin_bit[k];
	return bin;
}

static void probs(const void *psi, size_t first, size_t last, const struct kernel_bins *b, double *out)
{
	for (size_t row = first; row < last; row++) {
		const real *p = row_of(psi, row);
		double *o = out + bin_of(row, b) * LANES;
		vec re = load(p), im = load(p + LANES), square = re * re + im * im;
		for (unsigned l = 0; l < LANES; l++)
			o[l] += square[l];
	}
}

static void lambda_probs(void *lam, const void *psi, size_t first, size_t last, const struct kernel_bins *b, const double *g)
{
	for (size_t row = first; row < last; row++) {
		const double *c = g + bin_of(row, b) * LANES;
		const real *q = row_of(psi, row);
		real *p = row_at(lam, row);
		vec f;
		for (unsigned l = 0; l < LANES; l++)
			f[l] = (real)c[l];
		save(p, load(p) + f * load(q));
		save(p + LANES, load(p + LANES) + f * load(q + LANES));
	}
}
