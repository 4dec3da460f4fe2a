/* SPDX-License-Identifier: Apache-2.0
 * Template: sums of lanes in double, of one vector and of many at once. */
#pragma once

#include "runtime/base/shuffle.h"
#include "runtime/exec/statevector/cpu/vectors_tmpl.h"

/* The lanes of v added in double, halves first. */
INLINE double lane_total(const vec *v)
{
	double x[LANES];
	for (unsigned l = 0; l < LANES; l++)
		x[l] = (*v)[l];
	UNROLL for (unsigned half = LANES / 2; half > 0; half /= 2)
		for (unsigned l = 0; l < half; l++)
			x[l] += x[l + half];
	return x[0];
}

typedef double wide __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(8)));
enum { WIDE = VECTOR_BYTES / 8 };

/* Lane l of those whose number has no bit h, of two vectors one after the other. */
#define UNDER(l, h) (((l) & -(h)) << 1 | ((l) & ((h) - 1)))
#define OVER(l, h) (UNDER(l, h) | (h))
#if VECTOR_BYTES == 64
#define WIDE_LIST(F, h) F(0, h), F(1, h), F(2, h), F(3, h), F(4, h), F(5, h), F(6, h), F(7, h)
#elif VECTOR_BYTES == 32
#define WIDE_LIST(F, h) F(0, h), F(1, h), F(2, h), F(3, h)
#else
#define WIDE_LIST(F, h) F(0, h), F(1, h)
#endif
typedef int64_t wide_index __attribute__((vector_size(VECTOR_BYTES)));
#define WIDE_FOLD(a, b, h) (SHUFFLED(wide_index, a, b, WIDE_LIST(UNDER, h)) + SHUFFLED(wide_index, a, b, WIDE_LIST(OVER, h)))

/* The lanes of a vector in double, those of one half added to those of the other where they are too many. */
INLINE wide widen(const vec *v)
{
#if REAL_BYTES == 8
	return *v;
#else
	typedef real half __attribute__((vector_size(VECTOR_BYTES / 2), may_alias));
	const half *h = (const half *)v;
	return __builtin_convertvector(h[0], wide) + __builtin_convertvector(h[1], wide);
#endif
}

/* sum[k] += lane_total of vector k; of WIDE vectors: one's halves are added while two are put together. */
INLINE void totals_add(const vec *const *v, double *sum)
{
	wide w[WIDE];
	UNROLL for (unsigned k = 0; k < WIDE; k++)
		w[k] = widen(v[k]);
#if VECTOR_BYTES == 64
	UNROLL for (unsigned k = 0; k < 4; k++)
		w[k] = WIDE_FOLD(w[2 * k], w[2 * k + 1], 4);
#endif
#if VECTOR_BYTES >= 32
	UNROLL for (unsigned k = 0; k < 2; k++)
		w[k] = WIDE_FOLD(w[2 * k], w[2 * k + 1], 2);
#endif
	w[0] = WIDE_FOLD(w[0], w[1], 1);
	*(wide *)sum += w[0];
}

/* n sums of vectors, of one run of groups, into doubles: their lanes added, or [n][LANES]. */
static __attribute__((noinline)) void totals_flush(unsigned n, const vec *sum, double *to,
	bool per_lane)
{
	if (!per_lane && n >= WIDE) {
		for (unsigned e = 0; e < n; e += WIDE) {
			const vec *v[WIDE];
			UNROLL for (unsigned k = 0; k < WIDE; k++)
				v[k] = &sum[e + k];
			totals_add(v, to + e);
		}
		return;
	}
	for (unsigned e = 0; e < n; e++) {
		if (!per_lane) {
			to[e] += lane_total(&sum[e]);
			continue;
		}
		for (unsigned l = 0; l < LANES; l++)
			to[e * LANES + l] += sum[e][l];
	}
}
