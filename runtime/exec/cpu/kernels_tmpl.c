/* SPDX-License-Identifier: Apache-2.0
 * The kernels, compiled once per precision (REAL) and instruction set; KERNEL is the
 * suffix of the one table this file exports.
 *
 * Vectors are the compiler's own vector types, so that one text serves every
 * instruction set and processor. */
#include "config.h"
#include <string.h>
#include "runtime/exec/cpu/kernels.h"

#if defined __AVX512F__
#define VECTOR_BYTES 64
#define KERNEL_ISA ISA_AVX512
#elif defined __AVX2__
#define VECTOR_BYTES 32
#define KERNEL_ISA ISA_AVX2
#else
#define VECTOR_BYTES 16
#define KERNEL_ISA ISA_BASELINE
#endif

#define REAL_IS_float 4
#define REAL_IS_double 8
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define REAL_BYTES JOIN(REAL_IS_, REAL)

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

INLINE real *row_at(void *psi, size_t row) { return (real *)psi + row * ROW; }
INLINE const real *row_of(const void *psi, size_t row) { return (const real *)psi + row * ROW; }
INLINE vec load(const real *p) { return *(const vec *)p; }
INLINE void save(real *p, vec v) { *(vec *)p = v; }

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

/* Entry e of a matrix: real and imaginary part. */
INLINE vec entry(const real *u, unsigned e, unsigned part, bool lanewise)
{
	return lanewise ? load(u + (2 * e + part) * LANES) : splat(u[2 * e + part]);
}

/* y = U x for d amplitudes. */
INLINE void multiply(unsigned d, const real *u, bool lanewise, const vec *xr, const vec *xi, vec *yr, vec *yi)
{
	UNROLL for (unsigned r = 0; r < d; r++) {
		vec a = entry(u, r * d, 0, lanewise), b = entry(u, r * d, 1, lanewise);
		vec re = a * xr[0] - b * xi[0];
		vec im = a * xi[0] + b * xr[0];
		UNROLL for (unsigned c = 1; c < d; c++) {
			a = entry(u, r * d + c, 0, lanewise);
			b = entry(u, r * d + c, 1, lanewise);
			re = re + a * xr[c];
			im = im + a * xi[c];
			re = re - b * xi[c];
			im = im + b * xr[c];
		}
		yr[r] = re;
		yi[r] = im;
	}
}

/* Reals from a group's first row to those of the target indices 1, 2, 4. */
INLINE void strides(const struct kernel_step *s, unsigned d, size_t *stride)
{
	for (unsigned k = 0; 1u << k < d; k++)
		stride[k] = s->target[1u << k] * ROW;
}

/* The rows of a group, each from the one without its lowest target: few registers hold them all. */
INLINE void group_at(unsigned d, const real *p, const size_t *stride, real **row)
{
	row[0] = (real *)p;
	UNROLL for (unsigned r = 1; r < d; r++)
		row[r] = row[r & (r - 1)] + stride[__builtin_ctz(r)];
}

INLINE void load_rows(unsigned d, real *const *row, vec *xr, vec *xi)
{
	UNROLL for (unsigned r = 0; r < d; r++) {
		xr[r] = load(row[r]);
		xi[r] = load(row[r] + LANES);
	}
}

INLINE void save_rows(unsigned d, real *const *row, const vec *xr, const vec *xi)
{
	UNROLL for (unsigned r = 0; r < d; r++) {
		save(row[r], xr[r]);
		save(row[r] + LANES, xi[r]);
	}
}

INLINE void apply_body(void *psi, unsigned nbit, const struct kernel_step *s, const real *u,
	unsigned ntarget, bool lanewise)
{
	unsigned d = 1u << ntarget;
	size_t n = (size_t)1 << (nbit - s->nfixed), mask = place_mask(fixed_mask(s)), at = 0, stride[3];
	real *first = row_at(psi, s->control);
	strides(s, d, stride);
	for (size_t k = n; k > 0; k--, at = row_next(at, mask)) {   /* k: groups of d rows that are left */
		real *p[8];
		vec xr[8], xi[8], yr[8], yi[8];
		group_at(d, first + at, stride, p);
		load_rows(d, p, xr, xi);
		multiply(d, u, lanewise, xr, xi, yr, yi);
		save_rows(d, p, yr, yi);
	}
}

static void apply(void *psi, unsigned nbit, const struct kernel_step *s, const void *u)
{
	switch (2 * s->ntarget + s->lanewise) {
	case 2: apply_body(psi, nbit, s, u, 1, false); break;
	case 3: apply_body(psi, nbit, s, u, 1, true); break;
	case 4: apply_body(psi, nbit, s, u, 2, false); break;
	case 5: apply_body(psi, nbit, s, u, 2, true); break;
	case 6: apply_body(psi, nbit, s, u, 3, false); break;
	case 7: apply_body(psi, nbit, s, u, 3, true); break;
	}
}

INLINE void permute_body(void *psi, unsigned nbit, const struct kernel_step *s, const uint8_t *source, unsigned ntarget)
{
	unsigned d = 1u << ntarget;
	size_t n = (size_t)1 << (nbit - s->nfixed), mask = fixed_mask(s), row = 0, from[8], at[8];
	real *first = row_at(psi, s->control);
	for (unsigned r = 0; r < d; r++) {
		at[r] = s->target[r] * ROW;
		from[r] = s->target[source[r]] * ROW;
	}
	for (size_t k = 0; k < n; k++, row = row_next(row, mask)) {
		real *p = first + row * ROW;
		vec xr[8], xi[8];
		UNROLL for (unsigned r = 0; r < d; r++) {
			xr[r] = load(p + from[r]);
			xi[r] = load(p + from[r] + LANES);
		}
		UNROLL for (unsigned r = 0; r < d; r++) {
			save(p + at[r], xr[r]);
			save(p + at[r] + LANES, xi[r]);
		}
	}
}

static void permute(void *psi, unsigned nbit, const struct kernel_step *s, const uint8_t *source)
{
	switch (s->ntarget) {
	case 1: permute_body(psi, nbit, s, source, 1); break;
	case 2: permute_body(psi, nbit, s, source, 2); break;
	case 3: permute_body(psi, nbit, s, source, 3); break;
	}
}

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

/* ---- totals of many vectors ---- */

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
#if defined __clang__
#define WIDE_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int64_t wide_index __attribute__((vector_size(VECTOR_BYTES)));
#define WIDE_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (wide_index){ __VA_ARGS__ })
#endif
#define WIDE_FOLD(a, b, h) (WIDE_SHUFFLE(a, b, WIDE_LIST(UNDER, h)) + WIDE_SHUFFLE(a, b, WIDE_LIST(OVER, h)))

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
	UNROLL for (unsigned n = WIDE / 2; n > 0; n /= 2)
		UNROLL for (unsigned k = 0; k < n; k++)
			switch (n) {
			case 4: w[k] = WIDE_FOLD(w[2 * k], w[2 * k + 1], 4); break;
			case 2: w[k] = WIDE_FOLD(w[2 * k], w[2 * k + 1], 2); break;
			case 1: w[k] = WIDE_FOLD(w[2 * k], w[2 * k + 1], 1); break;
			}
	*(wide *)sum += w[0];
}

/* Sums of one run of groups, entry by entry, into doubles. */
INLINE void cross_flush(unsigned d, const vec *rr, const vec *ri, double *r, bool per_lane)
{
	if (!per_lane && 2 * d * d >= WIDE) {
		UNROLL for (unsigned e = 0; e < d * d; e += WIDE / 2) {
			const vec *v[WIDE];
			UNROLL for (unsigned k = 0; k < WIDE; k++)
				v[k] = k % 2 ? &ri[e + k / 2] : &rr[e + k / 2];
			totals_add(v, r + 2 * e);
		}
		return;
	}
	for (unsigned e = 0; e < d * d; e++) {
		if (!per_lane) {
			r[2 * e] += lane_total(&rr[e]);
			r[2 * e + 1] += lane_total(&ri[e]);
			continue;
		}
		for (unsigned l = 0; l < LANES; l++) {
			r[2 * e * LANES + l] += rr[e][l];
			r[(2 * e + 1) * LANES + l] += ri[e][l];
		}
	}
}

/* R += conj(l) y^T for one group of rows. */
INLINE void cross_add(unsigned d, const vec *lr, const vec *li, const vec *yr, const vec *yi, vec *rr, vec *ri)
{
	UNROLL for (unsigned a = 0; a < d; a++)
		UNROLL for (unsigned b = 0; b < d; b++) {
			vec re = rr[a * d + b] + lr[a] * yr[b];
			vec im = ri[a * d + b] + lr[a] * yi[b];
			rr[a * d + b] = re + li[a] * yi[b];
			ri[a * d + b] = im - li[a] * yr[b];
		}
}

INLINE void unapply_body(void *psi, void *lam, unsigned nbit, const struct kernel_step *s, const real *v,
	double *r, bool per_lane, unsigned ntarget, bool lanewise, bool cross)
{
	enum { RUN = 128 };   /* groups summed in the kernels' precision before they go to double */
	unsigned d = 1u << ntarget;
	size_t n = (size_t)1 << (nbit - s->nfixed), mask = place_mask(fixed_mask(s)), at = 0, stride[3];
	real *psi_first = row_at(psi, s->control), *lam_first = row_at(lam, s->control);
	strides(s, d, stride);
	for (size_t left = n, run; left > 0; left -= run) {
		run = left < RUN ? left : RUN;
		vec rr[64], ri[64];
		if (cross)
			for (unsigned e = 0; e < d * d; e++)
				rr[e] = ri[e] = splat(0);
		for (size_t k = run; k > 0; k--, at = row_next(at, mask)) {
			real *p[8];
			vec xr[8], xi[8], yr[8], yi[8];
			group_at(d, psi_first + at, stride, p);
			load_rows(d, p, xr, xi);
			multiply(d, v, lanewise, xr, xi, yr, yi);
			save_rows(d, p, yr, yi);
			group_at(d, lam_first + at, stride, p);
			load_rows(d, p, xr, xi);
			if (cross)
				cross_add(d, xr, xi, yr, yi, rr, ri);
			multiply(d, v, lanewise, xr, xi, yr, yi);
			save_rows(d, p, yr, yi);
		}
		if (cross)
			cross_flush(d, rr, ri, r, per_lane);
	}
}

static void unapply(void *psi, void *lam, unsigned nbit, const struct kernel_step *s, const void *v,
	double *r, bool per_lane)
{
	switch (4 * s->ntarget + 2 * s->lanewise + (r != NULL)) {
	case 4: unapply_body(psi, lam, nbit, s, v, r, per_lane, 1, false, false); break;
	case 5: unapply_body(psi, lam, nbit, s, v, r, per_lane, 1, false, true); break;
	case 6: unapply_body(psi, lam, nbit, s, v, r, per_lane, 1, true, false); break;
	case 7: unapply_body(psi, lam, nbit, s, v, r, per_lane, 1, true, true); break;
	case 8: unapply_body(psi, lam, nbit, s, v, r, per_lane, 2, false, false); break;
	case 9: unapply_body(psi, lam, nbit, s, v, r, per_lane, 2, false, true); break;
	case 10: unapply_body(psi, lam, nbit, s, v, r, per_lane, 2, true, false); break;
	case 11: unapply_body(psi, lam, nbit, s, v, r, per_lane, 2, true, true); break;
	case 12: unapply_body(psi, lam, nbit, s, v, r, per_lane, 3, false, false); break;
	case 13: unapply_body(psi, lam, nbit, s, v, r, per_lane, 3, false, true); break;
	case 14: unapply_body(psi, lam, nbit, s, v, r, per_lane, 3, true, false); break;
	case 15: unapply_body(psi, lam, nbit, s, v, r, per_lane, 3, true, true); break;
	}
}

/* One tile of R: nrow rows of it from row `first` on, over ngroup groups; returns the next place. */
INLINE size_t cross_tile(unsigned d, unsigned first, unsigned nrow, const real *psi, const real *lam, const size_t *stride,
	size_t at, size_t mask, size_t ngroup, vec *rr, vec *ri)
{
	vec re[16], im[16];
	UNROLL for (unsigned e = 0; e < nrow * d; e++) {
		re[e] = rr[first * d + e];
		im[e] = ri[first * d + e];
	}
	for (size_t k = ngroup; k > 0; k--, at = row_next(at, mask)) {
		real *p[8];
		vec yr[8], yi[8];
		group_at(d, psi + at, stride, p);
		load_rows(d, p, yr, yi);
		group_at(d, lam + at, stride, p);
		UNROLL for (unsigned a = 0; a < nrow; a++) {
			vec lr = load(p[first + a]), li = load(p[first + a] + LANES);
			UNROLL for (unsigned b = 0; b < d; b++) {
				vec x = re[a * d + b] + lr * yr[b], y = im[a * d + b] + lr * yi[b];
				re[a * d + b] = x + li * yi[b];
				im[a * d + b] = y - li * yr[b];
			}
		}
	}
	UNROLL for (unsigned e = 0; e < nrow * d; e++) {
		rr[first * d + e] = re[e];
		ri[first * d + e] = im[e];
	}
	return at;
}

/* Sums alone: as many rows of R at a time as the registers hold, over rows of the state that stay near. */
INLINE void cross_body(const void *psi, const void *lam, unsigned nbit, const struct kernel_step *s, double *r,
	bool per_lane, unsigned ntarget)
{
	enum { NEAR = 16, RUN = 128 };   /* groups visited at a time, and summed before they go to double */
	unsigned d = 1u << ntarget, tile = d == 8 ? 1 : 2;
	size_t n = (size_t)1 << (nbit - s->nfixed), mask = place_mask(fixed_mask(s)), at = 0, stride[3];
	const real *p = row_of(psi, s->control), *q = row_of(lam, s->control);
	strides(s, d, stride);
	for (size_t begin = 0; begin < n; begin += RUN) {
		size_t end = begin + RUN < n ? begin + RUN : n;
		vec rr[64], ri[64];
		for (unsigned e = 0; e < d * d; e++)
			rr[e] = ri[e] = splat(0);
		for (size_t k = begin; k < end; k += NEAR) {
			size_t next = at;
			for (unsigned a = 0; a < d; a += tile)
				next = cross_tile(d, a, tile, p, q, stride, at, mask, end - k < NEAR ? end - k : NEAR, rr, ri);
			at = next;
		}
		cross_flush(d, rr, ri, r, per_lane);
	}
}

static void cross(const void *psi, const void *lam, unsigned nbit, const struct kernel_step *s, double *r, bool per_lane)
{
	switch (s->ntarget) {
	case 1: cross_body(psi, lam, nbit, s, r, per_lane, 1); break;
	case 2: cross_body(psi, lam, nbit, s, r, per_lane, 2); break;
	case 3: cross_body(psi, lam, nbit, s, r, per_lane, 3); break;
	}
}

/* ---- diagonal steps ---- */

/* Phase of target index r. */
INLINE void phase_of(const real *phase, unsigned stride, unsigned r, bool lanewise, vec *re, vec *im)
{
	size_t at = 2 * (size_t)r * stride;
	*re = lanewise ? load(phase + at * LANES) : splat(phase[at]);
	*im = lanewise ? load(phase + (at + 1) * LANES) : splat(phase[at + 1]);
}

INLINE void scale_row(real *p, vec a, vec b, vec *yr, vec *yi)
{
	vec xr = load(p), xi = load(p + LANES);
	*yr = a * xr - b * xi;
	*yi = a * xi + b * xr;
	save(p, *yr);
	save(p + LANES, *yi);
}

static void scale(void *psi, unsigned nbit, const struct kernel_step *s, const void *phase, unsigned stride, unsigned active)
{
	size_t n = (size_t)1 << (nbit - s->nfixed), mask = fixed_mask(s);
	for (unsigned r = 0; r < 1u << s->ntarget; r++) {
		real *first = row_at(psi, s->control + s->target[r]);
		size_t row = 0;
		vec a, b, yr, yi;
		if (!((active >> r) & 1))
			continue;
		phase_of(phase, stride, r, s->lanewise, &a, &b);
		for (size_t k = 0; k < n; k++, row = row_next(row, mask))   /* k: number of a row of r */
			scale_row(first + row * ROW, a, b, &yr, &yi);
	}
}

/* Numbers in a table part of 2^nbit rows: whole vectors. */
INLINE size_t table_length(unsigned nbit)
{
	size_t n = (size_t)1 << nbit;
	return n < LANES ? LANES : n;
}

static void table_one(void *table, unsigned nbit)
{
	size_t n = table_length(nbit);
	real *re = table, *im = re + n;
	for (size_t k = 0; k < n; k += LANES) {
		save(re + k, splat(1));
		save(im + k, splat(0));
	}
}

/* In each lane the phase where the row's low bits are those of `row`, else 1. */
INLINE void table_phase(size_t row, size_t mask, real re, real im, vec *a, vec *b)
{
	for (size_t l = 0; l < LANES; l++) {
		bool on = ((l ^ row) & mask & (LANES - 1)) == 0;
		(*a)[l] = on ? re : 1;
		(*b)[l] = on ? im : 0;
	}
}

static void table_scale(void *table, unsigned nbit, const struct kernel_step *s, const void *phase, unsigned stride, unsigned active)
{
	size_t n = table_length(nbit), mask = fixed_mask(s), high = mask | (LANES - 1);
	const real *u = phase;
	real *re = table, *im = re + n;
	for (unsigned r = 0; r < 1u << s->ntarget; r++) {
		size_t row = s->control + s->target[r], first = row & ~(size_t)(LANES - 1);
		vec a, b;
		if (!((active >> r) & 1))
			continue;
		table_phase(row, mask, u[2 * r * stride], u[2 * r * stride + 1], &a, &b);
		for (size_t k = 0; (k | first) < n; k = row_next(k, high)) {
			vec x = load(re + (k | first)), y = load(im + (k | first));
			save(re + (k | first), a * x - b * y);
			save(im + (k | first), a * y + b * x);
		}
	}
}

INLINE void apply_table_body(void *psi, unsigned nbit, const struct kernel_step *s, const real *u, const real *table, unsigned ntarget)
{
	unsigned d = 1u << ntarget;
	size_t n = (size_t)1 << (nbit - s->nfixed), mask = fixed_mask(s), row = 0, stride[3];
	const real *re = table, *im = table + table_length(nbit);
	size_t ahead = (size_t)(im - re), number[3];   /* from a real part to its imaginary one; strides in numbers */
	real *first = psi;
	strides(s, d, stride);
	for (unsigned k = 0; k < ntarget; k++)
		number[k] = stride[k] / ROW;
	for (size_t k = 0; k < n; k++, row = row_next(row, mask)) {   /* k: number of a group of d rows */
		real *p[8], *factor[8];
		vec xr[8], xi[8], yr[8], yi[8];
		group_at(d, first + row * ROW, stride, p);
		group_at(d, re + row, number, factor);
		load_rows(d, p, yr, yi);
		UNROLL for (unsigned r = 0; r < d; r++) {
			vec a = splat(*factor[r]), b = splat(factor[r][ahead]);
			xr[r] = a * yr[r] - b * yi[r];
			xi[r] = a * yi[r] + b * yr[r];
		}
		multiply(d, u, false, xr, xi, yr, yi);
		save_rows(d, p, yr, yi);
	}
}

static void apply_table(void *psi, unsigned nbit, const struct kernel_step *s, const void *u, const void *table)
{
	switch (s->ntarget) {
	case 1: apply_table_body(psi, nbit, s, u, table, 1); break;
	case 2: apply_table_body(psi, nbit, s, u, table, 2); break;
	case 3: apply_table_body(psi, nbit, s, u, table, 3); break;
	}
}

INLINE void unscale_rows(real *psi, real *lam, size_t n, size_t mask, vec a, vec b, bool active, bool cross, double *r, bool per_lane)
{
	enum { RUN = 256 };   /* rows summed in the kernels' precision before they go to double */
	size_t row = 0;
	for (size_t begin = 0; begin < n; begin += RUN) {
		size_t end = begin + RUN < n ? begin + RUN : n;
		vec rr = splat(0), ri = splat(0);
		for (size_t k = begin; k < end; k++, row = row_next(row, mask)) {
			real *p = psi + row * ROW, *q = lam + row * ROW;
			vec yr = load(p), yi = load(p + LANES), lr, li;
			if (active)
				scale_row(p, a, b, &yr, &yi);
			if (cross) {
				lr = load(q);
				li = load(q + LANES);
				rr = rr + lr * yr + li * yi;
				ri = ri + lr * yi - li * yr;
			}
			if (active)
				scale_row(q, a, b, &lr, &li);
		}
		if (cross)
			cross_flush(1, &rr, &ri, r, per_lane);
	}
}

static void unscale(void *psi, void *lam, unsigned nbit, const struct kernel_step *s, const void *phase, unsigned stride,
	unsigned active, double *r, bool per_lane)
{
	size_t n = (size_t)1 << (nbit - s->nfixed), mask = fixed_mask(s);
	for (unsigned t = 0; t < 1u << s->ntarget; t++) {
		real *p = row_at(psi, s->control + s->target[t]), *q = row_at(lam, s->control + s->target[t]);
		double *sum = r ? r + 2 * (size_t)t * (per_lane ? LANES : 1) : NULL;
		bool on = (active >> t) & 1;
		vec a, b;
		phase_of(phase, stride, t, s->lanewise, &a, &b);
		if (on && r)
			unscale_rows(p, q, n, mask, a, b, true, true, sum, per_lane);
		else if (on)
			unscale_rows(p, q, n, mask, a, b, true, false, sum, per_lane);
		else if (r)
			unscale_rows(p, q, n, mask, a, b, false, true, sum, per_lane);
	}
}

static void zero(void *psi, size_t first, size_t last)
{
	memset(row_at(psi, first), 0, (last - first) * ROW * sizeof(real));
}

static void put(void *psi, size_t row, unsigned lane, double re, double im)
{
	real *p = row_at(psi, row);
	p[lane] = (real)re;
	p[LANES + lane] = (real)im;
}

static void get(const void *psi, size_t row, unsigned lane, double *re, double *im)
{
	const real *p = row_of(psi, row);
	*re = p[lane];
	*im = p[LANES + lane];
}

static void store(void *to, const double *from, size_t n)
{
	real *p = to;
	for (size_t k = 0; k < n; k++)
		p[k] = (real)from[k];
}

/* ---- blocks ---- */

/* Lanes of a where bit m of their number is 0 and, where it is 1, those of b without it;
 * and the other half. */
#define LOW(l, m) ((l) & (m) ? LANES + ((l) ^ (m)) : (l))
#define HIGH(l, m) ((l) & (m) ? LANES + (l) : (l) ^ (m))
#define LIST2(F, m) F(0, m), F(1, m)
#define LIST4(F, m) LIST2(F, m), F(2, m), F(3, m)
#define LIST8(F, m) LIST4(F, m), F(4, m), F(5, m), F(6, m), F(7, m)
#define LIST16(F, m) LIST8(F, m), F(8, m), F(9, m), F(10, m), F(11, m), F(12, m), F(13, m), F(14, m), F(15, m)
#if VECTOR_BYTES / REAL_BYTES == 2
#define LIST LIST2
#define LANE_BITS 1
#elif VECTOR_BYTES / REAL_BYTES == 4
#define LIST LIST4
#define LANE_BITS 2
#elif VECTOR_BYTES / REAL_BYTES == 8
#define LIST LIST8
#define LANE_BITS 3
#else
#define LIST LIST16
#define LANE_BITS 4
#endif

#if defined __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#elif REAL_BYTES == 4
typedef int32_t ivec __attribute__((vector_size(VECTOR_BYTES)));
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ivec){ __VA_ARGS__ })
#else
typedef int64_t ivec __attribute__((vector_size(VECTOR_BYTES)));
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ivec){ __VA_ARGS__ })
#endif

/* Lane bit b of the vectors' numbers and the bit that tells x from y change places. */
INLINE void lane_exchange(unsigned b, vec *x, vec *y)
{
	vec low = *x, high = *y;
	switch (b) {
	case 0: *x = SHUFFLE(low, high, LIST(LOW, 1)); *y = SHUFFLE(low, high, LIST(HIGH, 1)); break;
#if LANE_BITS > 1
	case 1: *x = SHUFFLE(low, high, LIST(LOW, 2)); *y = SHUFFLE(low, high, LIST(HIGH, 2)); break;
#endif
#if LANE_BITS > 2
	case 2: *x = SHUFFLE(low, high, LIST(LOW, 4)); *y = SHUFFLE(low, high, LIST(HIGH, 4)); break;
#endif
#if LANE_BITS > 3
	case 3: *x = SHUFFLE(low, high, LIST(LOW, 8)); *y = SHUFFLE(low, high, LIST(HIGH, 8)); break;
#endif
	}
}

/* Where the rows of a move are: table[k ^ flip], or k itself. */
struct places { const uint32_t *table; size_t flip; };

INLINE size_t place_of(const struct places *p, size_t k) { return p->table ? p->table[k ^ p->flip] : k; }

/* Row `to` of k = row `from` of k, or 0 where k has a bit of `absent`, with the lanes of `lanes` (a constant)
 * exchanged, 2^(bits of lanes) rows at a time in registers. */
INLINE void move_rows(const real *from, const struct places *at_from, real *to, const struct places *at_to, unsigned nbit,
	const uint8_t *row_bit, size_t absent, unsigned lanes)
{
	unsigned nswap = (unsigned)__builtin_popcount(lanes), nmember = 1u << nswap;
	size_t n = (size_t)1 << (nbit - nswap), mask = 0, row = 0, member[16] = { 0 };
	for (unsigned b = 0, s = 0; b < LANE_BITS; b++)
		if ((lanes >> b) & 1) {
			mask |= (size_t)1 << row_bit[b];
			for (unsigned g = 0; g < nmember; g++)
				member[g] |= (size_t)((g >> s) & 1) << row_bit[b];
			s++;
		}
	for (size_t k = 0; k < n; k++, row = row_next(row, mask))   /* k: number of a group of rows */
		UNROLL for (unsigned part = 0; part < 2; part++) {
			vec v[16];
			UNROLL for (unsigned g = 0; g < nmember; g++) {
				size_t r = row | member[g];
				v[g] = r & absent ? splat(0) : load(from + place_of(at_from, r) * ROW + part * LANES);
			}
			UNROLL for (unsigned b = 0; b < LANE_BITS; b++) {
				unsigned step = 1u << __builtin_popcount(lanes & ((1u << b) - 1));
				if (!((lanes >> b) & 1))
					continue;
				UNROLL for (unsigned g = 0; g < nmember; g++)
					if (!(g & step))
						lane_exchange(b, &v[g], &v[g | step]);
			}
			UNROLL for (unsigned g = 0; g < nmember; g++)
				save(to + place_of(at_to, row | member[g]) * ROW + part * LANES, v[g]);
		}
}

/* Every mask of lane bits has code of its own. */
INLINE void move_block(const real *from, const struct places *at_from, real *to, const struct places *at_to,
	const struct kernel_rows *w, size_t absent)
{
	switch (w->swap.lanes) {
#define CASE(lanes) case lanes: move_rows(from, at_from, to, at_to, w->nbit, w->swap.row_bit, absent, lanes); break;
	CASE(0) CASE(1)
#if LANE_BITS > 1
	CASE(2) CASE(3)
#endif
#if LANE_BITS > 2
	CASE(4) CASE(5) CASE(6) CASE(7)
#endif
#if LANE_BITS > 3
	CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15)
#endif
#undef CASE
	}
}

static void gather(void *block, const void *state, size_t base, const struct kernel_rows *r)
{
	struct places from = { r->row, 0 }, to = { r->place, r->flip };
	move_block(row_of(state, base), &from, block, &to, r, r->absent);
}

static void scatter(const void *block, void *state, size_t base, const struct kernel_rows *r)
{
	struct places from = { r->place, r->flip }, to = { r->row, 0 };
	move_block(block, &from, row_at(state, base), &to, r, 0);
}

static void prefetch(const void *state, size_t base, const uint32_t *row, size_t first, size_t last, size_t absent)
{
	for (size_t k = first; k < last; k++)
		for (size_t line = 0; line < ROW * sizeof(real) && !(k & absent); line += 64)
			__builtin_prefetch((const char *)row_of(state, base + row[k]) + line, 1, 2);
}

/* ---- readouts ---- */

/* +1 or -1 by the parity of x. */
INLINE real sign_of(size_t x) { return __builtin_parityll(x) ? (real)-1 : (real)1; }

INLINE vec sign_lanes(unsigned sign_lane)
{
	vec v;
	for (unsigned l = 0; l < LANES; l++)
		v[l] = sign_of(l & sign_lane);
	return v;
}

/* (P psi)[row] up to its sign: row `row ^ flip`, lanes exchanged, times (-i)^ny. */
INLINE void pauli_row(const void *psi, size_t row, const struct kernel_term *t, vec *re, vec *im)
{
	const real *p = row_of(psi, row ^ t->flip_row);
	vec a, b;
	if (t->flip_lane) {
		for (unsigned l = 0; l < LANES; l++) {
			a[l] = p[l ^ t->flip_lane];
			b[l] = p[LANES + (l ^ t->flip_lane)];
		}
	} else {
		a = load(p);
		b = load(p + LANES);
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
	for (size_t begin = first; begin < last; begin += RUN) {
		size_t end = begin + RUN < last ? begin + RUN : last;
		vec sum = splat(0);
		for (size_t row = begin; row < end; row++) {
			const real *p = row_of(psi, row);
			vec re, im;
			pauli_row(psi, row, t, &re, &im);
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
	for (unsigned l = 0; l < LANES; l++)
		factor[l] *= (real)c[l];
	for (size_t row = first; row < last; row++) {
		real *p = row_at(lam, row);
		vec re, im, f = factor * sign_of(row & t->sign_row);
		pauli_row(psi, row, t, &re, &im);
		save(p, load(p) + f * re);
		save(p + LANES, load(p + LANES) + f * im);
	}
}

/* ---- many products of Z ---- */

enum { TILE = 16 };   /* rows that are transformed together */

/* v[L] <- sum over j of (-1)^|j & L| v[j], n a power of two: the Walsh-Hadamard transform. */
INLINE void walsh(vec *v, unsigned n)
{
	for (unsigned half = 1; half < n; half *= 2)
		for (unsigned j = 0; j < n; j += 2 * half)
			for (unsigned k = j; k < j + half; k++) {
				vec low = v[k], high = v[k + half];
				v[k] = low + high;
				v[k + half] = low - high;
			}
}

/* Rows in a tile; first and last are multiples of it. */
INLINE unsigned tile_of(size_t first, size_t last)
{
	size_t bits = first | last | TILE;
	return (unsigned)(bits & -bits);
}

INLINE void tile_squares(const void *psi, size_t row, unsigned n, vec *v)
{
	for (unsigned j = 0; j < n; j++) {
		const real *p = row_of(psi, row + j);
		vec re = load(p), im = load(p + LANES);
		v[j] = re * re + im * im;
	}
}

/* TILE tiles from row `begin` on: signs of the low row bits are summed tile by tile, those of the next over the
 * tiles, for the low signs that occur; terms then only pick. */
static void expect_z_tiles(const void *psi, size_t begin, const size_t *sign_row, unsigned n, double *out)
{
	vec low[TILE][TILE], sum[TILE][TILE];
	unsigned have = 0;
	for (unsigned j = 0; j < TILE; j++) {
		tile_squares(psi, begin + j * TILE, TILE, low[j]);
		walsh(low[j], TILE);
	}
	for (unsigned k = 0; k < n; k++) {
		unsigned l = sign_row[k] & (TILE - 1), h = sign_row[k] / TILE & (TILE - 1);
		bool minus = __builtin_parityll(begin & sign_row[k]);
		if (!((have >> l) & 1)) {
			for (unsigned j = 0; j < TILE; j++)
				sum[l][j] = low[j][l];
			walsh(sum[l], TILE);
			have |= 1u << l;
		}
		for (unsigned i = 0; i < LANES; i++)
			out[k * LANES + i] += minus ? -(double)sum[l][h][i] : (double)sum[l][h][i];
	}
}

static void expect_z(const void *psi, size_t first, size_t last, const size_t *sign_row, unsigned n, double *out)
{
	enum { RUN = 8 };   /* tiles summed in the kernels' precision before they go to double */
	unsigned tile = tile_of(first, last);
	while (tile == TILE && first % (TILE * TILE) == 0 && last - first >= TILE * TILE) {
		expect_z_tiles(psi, first, sign_row, n, out);
		first += TILE * TILE;
	}
	for (size_t begin = first; begin < last; begin += RUN * tile) {
		size_t end = last - begin < RUN * tile ? last : begin + RUN * tile;
		vec sum[KERNEL_TERMS_MAX];
		for (unsigned k = 0; k < n; k++)
			sum[k] = splat(0);
		for (size_t row = begin; row < end; row += tile) {
			vec v[TILE];
			tile_squares(psi, row, tile, v);
			if (tile == TILE)
				walsh(v, TILE);
			else
				walsh(v, tile);
			for (unsigned k = 0; k < n; k++)
				sum[k] += v[sign_row[k] & (tile - 1)] * sign_of(row & sign_row[k]);
		}
		for (unsigned k = 0; k < n; k++)
			for (unsigned l = 0; l < LANES; l++)
				out[k * LANES + l] += sum[k][l];
	}
}

static void lambda_z(void *lam, const void *psi, size_t first, size_t last, const size_t *sign_row, unsigned n, const double *c)
{
	unsigned tile = tile_of(first, last);
	vec factor[KERNEL_TERMS_MAX];
	for (unsigned k = 0; k < n; k++)
		for (unsigned l = 0; l < LANES; l++)
			factor[k][l] = (real)c[k * LANES + l];
	for (size_t row = first; row < last; row += tile) {
		vec v[TILE];
		for (unsigned j = 0; j < tile; j++)
			v[j] = splat(0);
		for (unsigned k = 0; k < n; k++)
			v[sign_row[k] & (tile - 1)] += factor[k] * sign_of(row & sign_row[k]);
		if (tile == TILE)
			walsh(v, TILE);
		else
			walsh(v, tile);
		for (unsigned j = 0; j < tile; j++) {
			const real *p = row_of(psi, row + j);
			real *q = row_at(lam, row + j);
			save(q, v[j] * load(p));
			save(q + LANES, v[j] * load(p + LANES));
		}
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

/* ---- pairs of states (batch rank) ---- */

enum { PAIR_RUN = 64 };      /* rows summed in the kernels' precision before they go to double */

static void overlap(const void *a, const void *b, size_t first, size_t last, const struct kernel_term *t, double *out)
{
	vec lanes = sign_lanes(t->sign_lane);
	for (size_t begin = first; begin < last; begin += PAIR_RUN) {
		size_t end = begin + PAIR_RUN < last ? begin + PAIR_RUN : last;
		vec sum = splat(0), turned = splat(0);
		for (size_t row = begin; row < end; row++) {
			const real *p = row_of(a, row);
			vec re, im, ar = load(p), ai = load(p + LANES);
			real sign = sign_of(row & t->sign_row);
			pauli_row(b, row, t, &re, &im);
			sum += (ar * re + ai * im) * sign;
			turned += (ar * im - ai * re) * sign;
		}
		sum = sum * lanes;
		turned = turned * lanes;
		for (unsigned l = 0; l < LANES; l++) {
			out[l] += sum[l];
			out[LANES + l] += turned[l];
		}
	}
}

static void mix(void *lam, const void *const *psi, unsigned n, size_t first, size_t last, const struct kernel_term *t,
	const double *c)
{
	vec lanes = sign_lanes(t->sign_lane), cr[KERNEL_MIX_MAX], ci[KERNEL_MIX_MAX];
	for (unsigned k = 0; k < n; k++) {
		cr[k] = lanes * (real)c[2 * k];
		ci[k] = lanes * (real)c[2 * k + 1];
	}
	for (size_t row = first; row < last; row++) {
		real *p = row_at(lam, row), sign = sign_of(row & t->sign_row);
		vec sum = splat(0), turned = splat(0);
		for (unsigned k = 0; k < n; k++) {
			vec re, im;
			pauli_row(psi[k], row, t, &re, &im);
			sum += cr[k] * re - ci[k] * im;
			turned += cr[k] * im + ci[k] * re;
		}
		save(p, load(p) + sum * sign);
		save(p + LANES, load(p + LANES) + turned * sign);
	}
}

static void overlap_lanes(const void *a, const void *b, size_t nrow, const struct kernel_term *t, double *out)
{
	for (size_t begin = 0; begin < nrow; begin += PAIR_RUN) {
		size_t end = begin + PAIR_RUN < nrow ? begin + PAIR_RUN : nrow;
		for (unsigned k = 0; k < LANES; k++) {
			vec sum = splat(0), turned = splat(0);
			for (size_t row = begin; row < end; row++) {
				const real *p = row_of(a, row);
				real sign = sign_of(row & t->sign_row), ar = sign * p[k], ai = sign * p[LANES + k];
				vec re, im;
				pauli_row(b, row, t, &re, &im);
				sum += ar * re + ai * im;
				turned += ar * im - ai * re;
			}
			for (unsigned l = 0; l < LANES; l++) {
				out[2 * LANES * k + l] += sum[l];
				out[2 * LANES * k + LANES + l] += turned[l];
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
		vec re, im, sum = load(p), turned = load(p + LANES);
		pauli_row(psi, row, t, &re, &im);
		for (unsigned k = 0; k < LANES; k++) {
			real a = sign * re[k], b = sign * im[k];
			sum += cr[k] * a - ci[k] * b;
			turned += cr[k] * b + ci[k] * a;
		}
		save(p, sum);
		save(p + LANES, turned);
	}
}

extern const struct kernels JOIN(kernels_, KERNEL);
const struct kernels JOIN(kernels_, KERNEL) = {
	.isa = KERNEL_ISA, .lanes = LANES, .real_bytes = sizeof(real),
	.zero = zero, .put = put, .get = get, .store = store,
	.permute = permute, .apply = apply, .unapply = unapply, .cross = cross, .scale = scale, .unscale = unscale,
	.table_one = table_one, .table_scale = table_scale, .apply_table = apply_table,
	.gather = gather, .scatter = scatter, .prefetch = prefetch,
	.expect = expect, .expect_z = expect_z, .lambda = lambda, .lambda_z = lambda_z,
	.probs = probs, .lambda_probs = lambda_probs,
	.overlap = overlap, .mix = mix, .overlap_lanes = overlap_lanes, .lambda_lanes = lambda_lanes,
};
