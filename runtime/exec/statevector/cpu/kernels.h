/* SPDX-License-Identifier: Apache-2.0
 * The kernels of the cpu backend: one table of functions per precision and
 * instruction set, all made from the templates of kernels_tmpl.c.
 *
 * A state is a list of rows; a row is `lanes` real parts, then `lanes` imaginary
 * parts, one SIMD vector each.  In SHAPE_BATCHED a row is an amplitude and a lane is
 * a sample.  Otherwise the lowest bits of an amplitude's index are its lane and the
 * rest its row.  Kernels that apply matrices work on row bits only; bits in the lanes
 * are exchanged with row bits by lane_swap. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/system/cpus.h"

enum { KERNEL_LANES_MAX = 16, KERNEL_FIXED_MAX = 64, KERNEL_MIX_MAX = 8, KERNEL_TERMS_MAX = 128 /* products of Z in one call */,
	KERNEL_ONES_MAX = 3, KERNEL_FLIPS_MAX = 4, KERNEL_TILE_BITS = 4, KERNEL_FINISH_BITS = 8 };

/* What is known of a dense matrix's entries: half the arithmetic where it is real, or where entry (r, c) is real
 * if r and c differ in an even number of bits and else imaginary.  The parts that are 0 are not read, and of a
 * reduced transition matrix only those are summed that such matrices have. */
enum kernel_form { FORM_COMPLEX, FORM_REAL, FORM_PARITY };

/* In rows where `row_bit` has this value, the target that is `mask` of the row's number changes its value. */
struct kernel_flip { uint8_t row_bit; bool value; size_t mask; };

/* Where a matrix acts inside a block of rows. */
struct kernel_step {
	uint8_t ntarget;
	uint8_t nfixed;              /* targets and row controls */
	uint8_t fixed[KERNEL_FIXED_MAX];     /* their row bits, ascending */
	size_t control;              /* row offset where the row controls hold */
	size_t target[8];            /* row offset of the target index 0 .. 2^ntarget-1, from `control` on */
	bool lanewise;               /* the matrix differs from lane to lane: [d*d][2][lanes], else [d*d][2] */
	enum kernel_form form;       /* of dense matrices */
	/* Of matrices on two targets that are not lanewise and have no controls: done before the matrix (apply), as exchanged
	 * columns of it, or after it (unapply), as exchanged rows. */
	uint8_t nflip;
	struct kernel_flip flip[KERNEL_FLIPS_MAX];
};

/* Lane bits (a mask) and the row bit of a block that each changes places with. */
struct kernel_swap { unsigned lanes; uint8_t row_bit[4]; };

/* Row base + row[k] of a state is row place[k ^ flip] of a block, or k without a `place`, for k < 2^nbit, after
 * the lane bits in swap.lanes have changed places with bits of k.  Where k has a bit of `absent`, gather puts 0
 * and does not read, and scatter writes by non-temporal stores; where it has one of `unset` (none of swap), gather leaves the
 * block's row as it is, and scatter the state's.  Where rows are a part of more, `absent` is asked of k | above. */
struct kernel_rows {
	unsigned nbit;
	const uint32_t *row;
	struct kernel_swap swap;
	size_t absent, unset, above;
	const uint32_t *place;
	size_t flip;
};

/* Sums over rows that are put back: those of expect_products for nz products, of which `first` is the number that signs see of
 * the first row. out[k * lanes + lane], in the kernels' precision and aligned to a vector, is for blocks of rows that
 * are then summed in double. */
struct kernel_sums {
	unsigned nz;
	const size_t *sign_row;
	size_t first;
	void *out;
};

/* A Pauli product on an amplitude's index: P psi [i] = (-i)^ny (-1)^|i & sign| psi[i ^ flip]. */
struct kernel_term {
	size_t flip_row, sign_row;
	unsigned flip_lane, sign_lane;
	unsigned ny;                 /* number of Y, modulo 4 */
};

/* What the Pauli products of a call flip, all the same; of psi[i]* psi[i ^ flip], the real or the imaginary part is summed; the product
 * of the imaginary ones is -i psi[i ^ flip]. */
struct kernel_partner {
	size_t row;
	unsigned lane;
	bool imaginary;
};

/* A diagonal readout: bin of row r, from its bits; bits in the lanes are the caller's. */
struct kernel_bins { uint8_t nbit; uint8_t row_bit[64]; uint8_t bin_bit[64]; };

/* Rows of the block that is fetched next: a kernel has the processor bring them near, one every few groups that it computes.
 * row[next] .. row[n - 1] of one state or two (or NULL), but for those whose number has a bit of `absent`. */
struct kernel_ahead { const void *state[2]; const uint32_t *row; size_t next, n, absent; };

struct kernels {
	enum isa isa;
	unsigned lanes;              /* real numbers in a vector */
	size_t real_bytes;

	/* rows [first, last) = 0; one amplitude (row, lane) = 1. */
	void (*zero)(void *psi, size_t first, size_t last);
	void (*put)(void *psi, size_t row, unsigned lane, double re, double im);
	void (*get)(const void *psi, size_t row, unsigned lane, double *re, double *im);
	/* n numbers from double to the kernels' precision, and back. */
	void (*store)(void *to, const double *from, size_t n);
	/* The same for n entries, [n][lanes] (1 lane or all), rounded away from 0 with the probability that makes the mean exact: noise[k] < 2^29
	 * is added to the bits of entry k that single precision drops, and what remains of these is dropped.  A number that single
	 * precision holds stays as it is.  Double precision: nothing is rounded. */
	void (*round)(void *to, const double *from, size_t n, unsigned lanes, const uint32_t *noise);
	/* to <- the conjugate transpose of a d x d matrix, [d*d][2]. */
	void (*adjoint)(void *to, const void *from, unsigned d);
	void (*fetch)(double *to, const void *from, size_t n);

	/* The same for a permutation without phases: target index r takes the rows of source[r]. */
	void (*permute)(void *psi, unsigned nbit, const struct kernel_step *s, const uint8_t *source);
	/* psi <- U psi on a block of 2^nbit rows.  Reads and writes 2^nbit rows (fewer under
	 * controls); 8 * 2^ntarget flops an amplitude, or half of them by the form.  It prefetches
	 * rows of `ahead` (or NULL). */
	void (*apply)(void *psi, unsigned nbit, const struct kernel_step *s, const void *u, struct kernel_ahead *ahead);
	/* The same where all targets are |0>: rows where one is 1 are written and not read, and the matrix is not lanewise and
	 * has neither controls nor flips.  8 flops an amplitude. */
	void (*apply_on_zero)(void *psi, unsigned nbit, const struct kernel_step *s, const void *u);
	/* to <- U_n .. U_1 from, for n matrices on one qubit each, at most KERNEL_ONES_MAX, without controls, all of one form
	 * and all lanewise or none; `from` may be `to`.  16 flops an amplitude and matrix, or half. */
	void (*apply_ones)(void *to, const void *from, unsigned nbit, const struct kernel_step *const *s, const void *const *u, unsigned n);
	/* The backward visit: what gradients need of Y[r,c] = conj(lam[r]) psi[c] is added to `anti_hermitian` (runtime/program/anti_hermitian.h); then
	 * psi <- V psi and lam <- V lam, with V the inverse of the step.  anti_hermitian: [d*d] doubles, or [d*d][lanes] when it is requested
	 * lane by lane, or NULL when it is not requested.  24 * 2^ntarget - 4 flops an amplitude, or 12 * 2^ntarget - 4.  It prefetches
	 * rows of `ahead` (or NULL). */
	void (*unapply)(void *psi, void *lam, unsigned nbit, const struct kernel_step *s,
		const void *v, double *anti_hermitian, bool per_lane, struct kernel_ahead *ahead);
	/* The sums alone.  8 * 2^ntarget - 4 flops an amplitude, or 4 * 2^ntarget - 4. */
	void (*anti_hermitian)(const void *psi, const void *lam, unsigned nbit, const struct kernel_step *s, double *anti_hermitian, bool per_lane);
	/* All of a reduced transition matrix, whatever the step's form: R[r,c] += conj(lam[r]) psi[c], [d*d][2] doubles, or [d*d][2][lanes].
	 * 8 * 2^ntarget flops an amplitude. */
	void (*transition)(const void *psi, const void *lam, unsigned nbit,
		const struct kernel_step *s, double *r, bool per_lane);

	/* A diagonal step: the rows of target index r are multiplied by phase[r * stride], [2] or, lanewise,
	 * [2][lanes]; of those that `active` does not mark the phase is 1.  6 flops an amplitude of them. */
	void (*scale)(void *psi, unsigned nbit, const struct kernel_step *s, const void *phase, unsigned stride, unsigned active);
	/* Its backward visit, the phases being those of the inverse: anti_hermitian[r] += Im conj(lam) psi over the rows of r.
	 * anti_hermitian: [d] doubles, or [d][lanes], or NULL. */
	void (*unscale)(void *psi, void *lam, unsigned nbit, const struct kernel_step *s, const void *phase, unsigned stride,
		unsigned active, double *anti_hermitian, bool per_lane);

	/* Many diagonal steps at once: a table of one factor per row, 2^nbit real parts, then as many imaginary
	 * ones, at least `lanes` each.  table_one: all are 1; table_scale: as scale, of the factors (not lanewise);
	 * apply_table: apply, after each row was multiplied by its factor. */
	void (*table_one)(void *table, unsigned nbit);
	void (*table_scale)(void *table, unsigned nbit, const struct kernel_step *s, const void *phase, unsigned stride, unsigned active);
	void (*apply_table)(void *psi, unsigned nbit, const struct kernel_step *s, const void *u, const void *table);

	/* A block from a state, and back. */
	void (*gather)(void *block, const void *state, size_t base, const struct kernel_rows *r);
	void (*scatter)(const void *block, void *state, size_t base, const struct kernel_rows *r);
	/* Before another thread reads what scatter wrote by non-temporal stores. */
	void (*nontemporal_exists)(void);

	/* n products at once, one visit of each row: out[k * lanes + lane] += sum of (-1)^|row & sign_row[k]| |psi|^2, or with a partner
	 * of that part of psi* psi[partner]; signs of lanes are the caller's.  Row `first` is at psi, the others before and behind. */
	void (*expect_products)(const void *psi, size_t first, size_t last,
		const struct kernel_partner *partner, const size_t *sign_row, unsigned n,
		double *out);
	/* scatter of 2^KERNEL_TILE_BITS to 2^KERNEL_FINISH_BITS rows, with a `place`, and sums over them, in turns. */
	void (*finish)(void *block, void *state, size_t base, const struct kernel_rows *r,
		const struct kernel_sums *sums);
	/* lam = sum_k c[k * lanes + lane] (-1)^|row & sign_row[k]| psi over rows [first, last); with a partner it is added to lam, and
	 * psi is psi[partner], or -i times that. */
	void (*lambda_products)(void *lam, const void *psi, size_t first, size_t last,
		const struct kernel_partner *partner, const size_t *sign_row, unsigned n,
		const double *c);
	/* out[lane] += Re conj(psi) P psi over rows [first, last). */
	void (*expect)(const void *psi, size_t first, size_t last, const struct kernel_term *t, double *out);
	/* lam += c[lane] * P psi over rows [first, last). */
	void (*lambda)(void *lam, const void *psi, size_t first, size_t last, const struct kernel_term *t, const double *c);
	/* out[bin(row) * lanes + lane] += |psi|^2; lam += g[bin(row) * lanes + lane] psi. */
	void (*probs)(const void *psi, size_t first, size_t last, const struct kernel_bins *b, double *out);
	void (*lambda_probs)(void *lam, const void *psi, size_t first, size_t last, const struct kernel_bins *b, const double *g);

	/* Pairs of states.  out[0][lane] + i out[1][lane] += conj(a) P b over rows [first, last). */
	void (*overlap)(const void *a, const void *b, size_t first, size_t last, const struct kernel_term *t, double *out);
	/* lam += sum_k (c[2k] + i c[2k + 1]) P psi[k] over rows [first, last); n is at most KERNEL_MIX_MAX. */
	void (*mix)(void *lam, const void *const *psi, unsigned n, size_t first, size_t last, const struct kernel_term *t,
		const double *c);
	/* A lane is a state: out[k][0][l] + i out[k][1][l] += conj(a, lane k) P (b, lane l) over nrow rows. */
	void (*overlap_lanes)(const void *a, const void *b, size_t nrow, const struct kernel_term *t, double *out);
	/* lam, lane l += sum_k (c[k][0][l] + i c[k][1][l]) P (psi, lane k) over nrow rows. */
	void (*lambda_lanes)(void *lam, const void *psi, size_t nrow, const struct kernel_term *t, const double *c);

	/* What a machine can do at best (limits.h). v[i] *= c for n numbers, n a multiple of 512; narrow: by vectors of at most 32 bytes. */
	void (*stream)(void *v, size_t n, double c);
	void (*stream_narrow)(void *v, size_t n, double c);
	/* v[i] = c, by non-temporal stores where the set has such (AVX2, AVX-512). */
	void (*write_nontemporal)(void *v, size_t n, double c);
	/* `rounds` rounds of independent multiply-adds on full vectors: returns their flops. *sink gets a number that depends on all of them. */
	double (*multiply_add)(size_t rounds, double *sink);
};

/* The table, or NULL when it is not in this build. */
const struct kernels *kernels_find(enum isa isa, enum precision p);

/* Flush denormals to zero in the calling thread; returns the state to restore. */
unsigned kernels_flush_enter(void);
void kernels_flush_leave(unsigned saved);
