/* SPDX-License-Identifier: Apache-2.0
 * Template: amplitudes one by one, and blocks of rows that are fetched from a state and put back. */
#pragma once

#if VECTOR_BYTES >= 32
#include <immintrin.h>
#endif
#include "runtime/base/shuffle.h"
#include "runtime/exec/statevector/cpu/vectors_tmpl.h"

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

/* ---- rounding ---- */

enum { DOUBLES = VECTOR_BYTES / sizeof(double) };
typedef double wide_vec __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(8)));
typedef uint64_t wide_bits __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(8)));
typedef float narrow_vec __attribute__((vector_size(VECTOR_BYTES / 2), may_alias, aligned(4)));
typedef uint32_t narrow_bits __attribute__((vector_size(VECTOR_BYTES / 2), may_alias, aligned(4)));

/* DOUBLES numbers; single precision drops 29 bits of each. */
INLINE void round_some(real *to, const double *from, wide_bits noise)
{
	wide_bits kept = (*(const wide_bits *)from + noise) & ~((UINT64_C(1) << 29) - 1);
	*(narrow_vec *)to = __builtin_convertvector((wide_vec)kept, narrow_vec);
}

static void round_entries(void *to, const double *from, size_t n, unsigned lanes, const uint32_t *noise)
{
	real *p = to;
	if (sizeof(real) == sizeof(double)) {
		store(to, from, n * lanes);
		return;
	}
	for (size_t k = 0; lanes == 1 && k < n; k += DOUBLES)
		round_some(p + k, from + k, __builtin_convertvector(*(const narrow_bits *)(noise + k), wide_bits));
	for (size_t k = 0; lanes > 1 && k < n; k++)
		UNROLL for (unsigned l = 0; l < LANES; l += DOUBLES)
			round_some(p + k * LANES + l, from + k * LANES + l, (wide_bits){ 0 } + noise[k]);
}

INLINE void adjoint_body(real *to, const real *u, unsigned d)
{
	UNROLL for (unsigned r = 0; r < d; r++)
		UNROLL for (unsigned c = 0; c < d; c++) {
			to[2 * (r * d + c)] = u[2 * (c * d + r)];
			to[2 * (r * d + c) + 1] = -u[2 * (c * d + r) + 1];
		}
}

static void adjoint(void *to, const void *from, unsigned d)
{
	switch (d) {
	case 2: adjoint_body(to, from, 2); break;
	case 4: adjoint_body(to, from, 4); break;
	case 8: adjoint_body(to, from, 8); break;
	}
}

static void fetch(double *to, const void *from, size_t n)
{
	const real *p = from;
	for (size_t k = 0; k < n; k++)
		to[k] = (double)p[k];
}

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
#define EACH_LANES EACH2   /* every mask of lane bits */
#define LANE_BITS 1
#elif VECTOR_BYTES / REAL_BYTES == 4
#define LIST LIST4
#define EACH_LANES EACH4
#define LANE_BITS 2
#elif VECTOR_BYTES / REAL_BYTES == 8
#define LIST LIST8
#define EACH_LANES EACH8
#define LANE_BITS 3
#else
#define LIST LIST16
#define EACH_LANES EACH16
#define LANE_BITS 4
#endif

#define EACH2(F) F(0) F(1)
#define EACH4(F) EACH2(F) F(2) F(3)
#define EACH8(F) EACH4(F) F(4) F(5) F(6) F(7)
#define EACH16(F) EACH8(F) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)

#if REAL_BYTES == 4
typedef int32_t ivec __attribute__((vector_size(VECTOR_BYTES)));
#else
typedef int64_t ivec __attribute__((vector_size(VECTOR_BYTES)));
#endif

/* Lane bit b of the vectors' numbers and the bit that tells x from y change places. */
INLINE void lane_exchange(unsigned b, vec *x, vec *y)
{
	vec low = *x, high = *y;
	switch (b) {
	case 0: *x = SHUFFLED(ivec, low, high, LIST(LOW, 1)); *y = SHUFFLED(ivec, low, high, LIST(HIGH, 1)); break;
#if LANE_BITS > 1
	case 1: *x = SHUFFLED(ivec, low, high, LIST(LOW, 2)); *y = SHUFFLED(ivec, low, high, LIST(HIGH, 2)); break;
#endif
#if LANE_BITS > 2
	case 2: *x = SHUFFLED(ivec, low, high, LIST(LOW, 4)); *y = SHUFFLED(ivec, low, high, LIST(HIGH, 4)); break;
#endif
#if LANE_BITS > 3
	case 3: *x = SHUFFLED(ivec, low, high, LIST(LOW, 8)); *y = SHUFFLED(ivec, low, high, LIST(HIGH, 8)); break;
#endif
	}
}

/* Where the rows of a move are: table[k ^ flip], or k itself. */
struct places { const uint32_t *table; size_t flip; };

INLINE size_t place_of(const struct places *p, size_t k) { return p->table ? p->table[k ^ p->flip] : k; }

/* Before another thread reads what went by non-temporal stores. */
static void nontemporal_exists(void)
{
#if VECTOR_BYTES >= 32
	_mm_sfence();
#endif
}

/* Groups of rows whose lanes are exchanged: a group's rows are member[g] from its first, whose bits of the mask are 0
 * but for those of `unset`, which are left out. */
struct move { size_t n, mask, member[16]; };

INLINE struct move move_of(unsigned nbit, const uint8_t *row_bit, size_t unset, unsigned lanes)
{
	unsigned nswap = (unsigned)__builtin_popcount(lanes);
	struct move m = { .n = (size_t)1 << (nbit - nswap - (unsigned)__builtin_popcountll(unset)), .mask = unset };
	for (unsigned b = 0, s = 0; b < LANE_BITS; b++)
		if ((lanes >> b) & 1) {
			m.mask |= (size_t)1 << row_bit[b];
			for (unsigned g = 0; g < 1u << nswap; g++)
				m.member[g] |= (size_t)((g >> s) & 1) << row_bit[b];
			s++;
		}
	return m;
}

/* Row `to` of k = row `from` of k, with the lanes of `lanes` (a constant) exchanged, for the k of one group, in registers.
 * Where k | above has a bit of `absent` it is 0 instead; of `nontemporal`, it goes by non-temporal stores. */
INLINE void move_group(const real *from, const struct places *at_from, real *to,
	const struct places *at_to, const struct move *m, size_t row, size_t above, size_t absent,
	size_t nontemporal, unsigned lanes)
{
	unsigned nmember = 1u << __builtin_popcount(lanes);
	const real *in[16];
	real *out[16];
	UNROLL for (unsigned g = 0; g < nmember; g++) {   /* once: stores might change the tables, for all that the compiler knows */
		in[g] = from + place_of(at_from, row | m->member[g]) * ROW;
		out[g] = to + place_of(at_to, row | m->member[g]) * ROW;
	}
	UNROLL for (unsigned part = 0; part < 2; part++) {
		vec v[16];
		UNROLL for (unsigned g = 0; g < nmember; g++)
			v[g] = (row | m->member[g] | above) & absent ? splat(0) : load(in[g] + part * LANES);
		UNROLL for (unsigned b = 0; b < LANE_BITS; b++) {
			unsigned step = 1u << __builtin_popcount(lanes & ((1u << b) - 1));
			if (!((lanes >> b) & 1))
				continue;
			UNROLL for (unsigned g = 0; g < nmember; g++)
				if (!(g & step))
					lane_exchange(b, &v[g], &v[g | step]);
		}
		UNROLL for (unsigned g = 0; g < nmember; g++) {
			if ((row | m->member[g] | above) & nontemporal)
				save_nontemporal(out[g] + part * LANES, v[g]);
			else
				save(out[g] + part * LANES, v[g]);
		}
	}
}

INLINE void move_rows(const real *from, const struct places *at_from, real *to,
	const struct places *at_to, const struct kernel_rows *w, size_t absent, size_t nontemporal,
	size_t unset, unsigned lanes)
{
	struct move m = move_of(w->nbit, w->swap.row_bit, unset, lanes);
	for (size_t k = 0, row = 0; k < m.n; k++, row = row_next(row, m.mask))
		move_group(from, at_from, to, at_to, &m, row, w->above, absent, nontemporal, lanes);
}

/* Every mask of lane bits has code of its own. */
INLINE void move_block(const real *from, const struct places *at_from, real *to,
	const struct places *at_to, const struct kernel_rows *w, size_t absent, size_t nontemporal,
	size_t unset)
{
	switch (w->swap.lanes) {
#define CASE(lanes) \
	case lanes: \
		move_rows(from, at_from, to, at_to, w, absent, nontemporal, unset, lanes); \
		break;
		EACH_LANES(CASE)
#undef CASE
	}
}

static void gather(void *block, const void *state, size_t base, const struct kernel_rows *r)
{
	struct places from = { r->row, 0 }, to = { r->place, r->flip };
	move_block(row_of(state, base), &from, block, &to, r, r->absent, 0, r->unset);
}

static void scatter(const void *block, void *state, size_t base, const struct kernel_rows *r)
{
	struct places from = { r->place, r->flip }, to = { r->row, 0 };
	move_block(block, &from, row_at(state, base), &to, r, 0, r->absent, r->unset);
}
