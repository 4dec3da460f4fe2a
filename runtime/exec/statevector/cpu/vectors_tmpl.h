/* SPDX-License-Identifier: Apache-2.0
 * What all kernel templates are written in: vectors of REAL as wide as the instruction set has them, and rows.
 *
 * Vectors are the compiler's own vector types, so that one text serves every
 * instruction set and processor. */
#pragma once

#include <string.h>
#if VECTOR_BYTES >= 32
#include <immintrin.h>
#endif
#include "runtime/exec/statevector/cpu/kernels.h"

#define REAL_IS_float 4
#define REAL_IS_double 8
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define REAL_BYTES JOIN(REAL_IS_, REAL)

#define INDEX_OF_float int32_t
#define INDEX_OF_double int64_t
#define VECTOR_INDEX JOIN(INDEX_OF_, REAL)

typedef REAL real;
typedef real vec __attribute__((vector_size(VECTOR_BYTES), may_alias));

enum { LANES = VECTOR_BYTES / sizeof(real), ROW = 2 * LANES /* reals in a row */ };

#define INLINE static inline __attribute__((always_inline))
#if defined QCNN_SANITIZERS   /* unrolled, the checks would take minutes to compile */
#define UNROLL
#elif defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 64")
#endif

/* Code of its own for each form of a matrix, each number of targets, and lanewise or not: f is called with these at the end of its
 * arguments, as constants. f may be another of these, whose own arguments come first. */
#define WITH_FORM(which, f, ...) \
	switch (which) { \
	case FORM_COMPLEX: f(__VA_ARGS__, FORM_COMPLEX); break; \
	case FORM_REAL: f(__VA_ARGS__, FORM_REAL); break; \
	case FORM_PARITY: f(__VA_ARGS__, FORM_PARITY); break; \
	}
#define WITH_TARGETS(n, f, ...) \
	switch (n) { \
	case 1: f(__VA_ARGS__, 1); break; \
	case 2: f(__VA_ARGS__, 2); break; \
	case 3: f(__VA_ARGS__, 3); break; \
	}
#define WITH_TARGETS_AND_LANES(n, lanewise, f, ...) \
	switch (2 * (n) + (lanewise)) { \
	case 2: f(__VA_ARGS__, 1, false); break; \
	case 3: f(__VA_ARGS__, 1, true); break; \
	case 4: f(__VA_ARGS__, 2, false); break; \
	case 5: f(__VA_ARGS__, 2, true); break; \
	case 6: f(__VA_ARGS__, 3, false); break; \
	case 7: f(__VA_ARGS__, 3, true); break; \
	}

INLINE real *row_at(void *psi, size_t row) { return (real *)psi + row * ROW; }
INLINE const real *row_of(const void *psi, size_t row) { return (const real *)psi + row * ROW; }
INLINE vec load(const real *p) { return *(const vec *)p; }
INLINE void save(real *p, vec v) { *(vec *)p = v; }

/* n vectors that the compiler keeps in registers, rather than to read them from memory for each use. */
INLINE void hold(unsigned n, vec *x)
{
#if VECTOR_BYTES >= 32
	UNROLL for (unsigned k = 0; k < n; k++)
		__asm__("" : "+v"(x[k]));
#else
	(void)n, (void)x;
#endif
}

/* A vector that is not read again soon goes to memory, by non-temporal stores, where rows are whole lines of them. */
INLINE void save_nontemporal(real *p, vec v)
{
#if VECTOR_BYTES == 64
	_mm512_stream_si512((void *)p, (__m512i)v);
#elif VECTOR_BYTES == 32
	_mm256_stream_si256((void *)p, (__m256i)v);
#else
	save(p, v);
#endif
}

/* x in every lane.  x - 0 is x for all x, so that the compiler drops it; 0 + x would stay. */
INLINE vec splat(real x)
{
	vec zero = { 0 };
	return x - zero;
}

/* Fixed bits of a step's rows as a mask; the next row whose fixed bits are 0. */
INLINE size_t fixed_mask(const struct kernel_step *s)
{
	size_t mask = 0;
	for (unsigned f = 0; f < s->nfixed; f++)
		mask |= (size_t)1 << s->fixed[f];
	return mask;
}

INLINE size_t row_next(size_t row, size_t mask) { return ((row | mask) + 1) & ~mask; }

/* The same mask for places counted in reals, each row's first. */
INLINE size_t place_mask(size_t mask) { return mask * ROW | (ROW - 1); }

/* The groups of a step's rows in runs, in which each is `step` reals behind the last, so that few instructions lie between them.
 * A run's first group is row_next(first, mask) of the run before. */
struct walk { size_t nrun, run, step, mask; };

enum { WALK_LONG = 3 /* bits of a run that is long enough */, WALK_BITS = 7 /* at most */ };

INLINE struct walk walk_of(unsigned nbit, size_t fixed)
{
	size_t begins = 0, low, all = ~fixed & (((size_t)1 << nbit) - 1);
	unsigned n = 0;
	for (size_t free = all; free && n < WALK_LONG; n++, free &= free >> 1)
		begins = free;
	low = begins & -begins;
	for (; n < WALK_BITS && all & low << n; n++)
		;
	fixed |= (low << n) - low;
	return (struct walk){ (size_t)1 << (nbit - (unsigned)__builtin_popcountll(fixed)), (size_t)1 << n, low * ROW, place_mask(fixed) };
}

/* Is entry (r, c) of such a matrix imaginary? */
INLINE bool is_imaginary(enum kernel_form form, unsigned r, unsigned c)
{
	return form == FORM_PARITY && __builtin_parity(r ^ c);
}

/* Entry e of a matrix: real and imaginary part. */
INLINE vec entry(const real *u, unsigned e, unsigned part, bool lanewise)
{
	return lanewise ? load(u + (2 * e + part) * LANES) : splat(u[2 * e + part]);
}
