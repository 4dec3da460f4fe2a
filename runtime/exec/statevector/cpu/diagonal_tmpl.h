/* SPDX-License-Identifier: Apache-2.0
 * Template: diagonal matrices, one by one and gathered into tables of factors. */
#pragma once

#include "runtime/exec/statevector/cpu/dense_tmpl.h"
#include "runtime/exec/statevector/cpu/anti_hermitian_tmpl.h"

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

INLINE void apply_table_body(void *psi, unsigned nbit, const struct kernel_step *s, const real *u,
	const real *table, enum kernel_form form, unsigned ntarget)
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
		multiply(d, form, u, false, xr, xi, yr, yi);
		save_rows(d, p, yr, yi);
	}
}

static void apply_table(void *psi, unsigned nbit, const struct kernel_step *s, const void *u, const void *table)
{
	WITH_FORM(s->form, WITH_TARGETS, s->ntarget, apply_table_body, psi, nbit, s, u, table);
}

INLINE void unscale_rows(real *psi, real *lam, size_t n, size_t mask, vec a, vec b, bool active,
	bool transition, double *anti_hermitian, bool per_lane)
{
	enum { RUN = 256 };   /* rows summed in the kernels' precision before they go to double */
	size_t row = 0;
	for (size_t begin = 0; begin < n; begin += RUN) {
		size_t end = begin + RUN < n ? begin + RUN : n;
		vec sum = splat(0);
		for (size_t k = begin; k < end; k++, row = row_next(row, mask)) {
			real *p = psi + row * ROW, *q = lam + row * ROW;
			vec yr, yi;
			if (transition)
				sum = sum + load(q) * load(p + LANES) - load(q + LANES) * load(p);
			if (active) {
				scale_row(p, a, b, &yr, &yi);
				scale_row(q, a, b, &yr, &yi);
			}
		}
		if (transition)
			totals_flush(1, &sum, anti_hermitian, per_lane);
	}
}

static void unscale(void *psi, void *lam, unsigned nbit, const struct kernel_step *s, const void *phase, unsigned stride,
	unsigned active, double *anti_hermitian, bool per_lane)
{
	size_t n = (size_t)1 << (nbit - s->nfixed), mask = fixed_mask(s);
	for (unsigned t = 0; t < 1u << s->ntarget; t++) {
		real *p = row_at(psi, s->control + s->target[t]), *q = row_at(lam, s->control + s->target[t]);
		double *sum = anti_hermitian ? anti_hermitian + (size_t)t * (per_lane ? LANES : 1) : NULL;
		bool on = (active >> t) & 1;
		vec a, b;
		phase_of(phase, stride, t, s->lanewise, &a, &b);
		if (on && anti_hermitian)
			unscale_rows(p, q, n, mask, a, b, true, true, sum, per_lane);
		else if (on)
			unscale_rows(p, q, n, mask, a, b, true, false, sum, per_lane);
		else if (anti_hermitian)
			unscale_rows(p, q, n, mask, a, b, false, true, sum, per_lane);
	}
}
