/* SPDX-License-Identifier: Apache-2.0
 * Template: the loops that measure a machine (limits.h). */
#pragma once

#include "runtime/exec/statevector/cpu/vectors_tmpl.h"

/* Chains: enough to hide a latency of 4 on two pipes, few enough to stay in 16 registers. */
enum { CHAINS = 12 };

/* n is a multiple of LANES. Reads and writes n numbers, one vector at a time: the order that
 * the memory's own prefetching likes best. */
static void stream(void *v, size_t n, double c)
{
	real *p = v, factor = (real)c;

	for (size_t i = 0; i < n; i += LANES) {
		vec *x = (vec *)(p + i);

		*x = *x * factor;
	}
}

/* The same by half vectors where a vector is a cache line: some processors stream faster so. */
static void stream_narrow(void *v, size_t n, double c)
{
	enum { HALF = (VECTOR_BYTES < 32 ? VECTOR_BYTES : 32) / sizeof(real) };
	typedef real half __attribute__((vector_size(HALF * sizeof(real)), may_alias));
	real *p = v, factor = (real)c;

	for (size_t i = 0; i < n; i += HALF) {
		half *x = (half *)(p + i);

		*x = *x * factor;
	}
}

/* Writes n numbers that it has not read, as kernels put back rows that were 0. */
static void write_nontemporal(void *v, size_t n, double c)
{
	real *p = v;

	for (size_t i = 0; i < n; i += LANES)
		save_nontemporal(p + i, splat((real)c));
}

/* Twelve chains by hand: in a loop over an array, compilers spill them. */
static double multiply_add(size_t rounds, double *sink)
{
	vec m = (vec){ 0 } + (real)0.999, a = m * 0, b = a + 1, c = a + 2, d = a + 3, e = a + 4,
	    f = a + 5;
	vec g = a + 6, h = a + 7, i = a + 8, j = a + 9, k = a + 10, l = a + 11;

	for (size_t r = 0; r < rounds; r++) {
		a = a * m + m;
		b = b * m + m;
		c = c * m + m;
		d = d * m + m;
		e = e * m + m;
		f = f * m + m;
		g = g * m + m;
		h = h * m + m;
		i = i * m + m;
		j = j * m + m;
		k = k * m + m;
		l = l * m + m;
	}
	a = ((a + b) + (c + d)) + ((e + f) + (g + h)) + ((i + j) + (k + l));
	for (unsigned t = 0; t < LANES; t++)
		*sink += a[t];
	return 2.0 * CHAINS * LANES * (double)rounds;
}
