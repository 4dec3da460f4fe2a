/* SPDX-License-Identifier: Apache-2.0
 * Kernels one against another: the sums of the backward pass against whole reduced transition matrices; matrices that do cx on
 * their way against cx of their own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/exec/statevector/cpu/cpu_target.h"
#include "runtime/exec/statevector/cpu/kernels.h"
#include "runtime/program/matrix.h"
#include "runtime/program/anti_hermitian.h"
#include "tests/kernels/random_program.h"
#include "tests/tap.h"

enum { NBIT = 9, ROWS = 1 << NBIT };

/* The part of s that matrices of this form have. */
static void keep_form(enum kernel_form form, unsigned d, double *s)
{
	for (unsigned r = 0; r < d; r++)
		for (unsigned c = 0; c < d; c++) {
			bool imaginary = form == FORM_PARITY && __builtin_parity(r ^ c);

			if (form != FORM_COMPLEX && (r < c ? imaginary : r == c || !imaginary))
				s[r * d + c] = 0;
		}
}

/* The largest difference between what `transition` says of lane `lane` (or all, -1) and the sums s, which are `stride` apart. */
static double anti_hermitian_apart(const struct kernels *k, const struct kernel_step *step, const double *all, int lane, const double *s, unsigned stride)
{
	unsigned d = 1u << step->ntarget;
	cplx y[64];
	double want[64] = { 0 }, worst = 0;

	for (unsigned e = 0; e < d * d; e++) {
		double re = 0, im = 0;

		for (unsigned l = 0; l < k->lanes; l++)
			if (lane < 0 || (unsigned)lane == l) {
				re += all[2 * e * k->lanes + l];
				im += all[(2 * e + 1) * k->lanes + l];
			}
		y[e] = cplx_of(re, im);
	}
	anti_hermitian_add(d, y, want);
	keep_form(step->form, d, want);
	for (unsigned e = 0; e < d * d; e++)
		worst = tap_worst(worst, fabs(s[e * stride] - want[e]));
	return worst;
}

/* The sums alone and those of the backward pass, of each form, for all lanes and lane by lane, are those of the whole cross
 * matrix. */
static void test_anti_hermitian(enum isa isa, enum precision precision)
{
	const struct kernels *k = kernels_find(isa, precision);
	size_t n = (size_t)ROWS * 2 * k->lanes, nbyte = n * k->real_bytes;
	char *psi = aligned_alloc(64, nbyte), *lam = aligned_alloc(64, nbyte);
	double *number = mem_alloc(n, sizeof *number), *all = mem_alloc(2 * 64 * KERNEL_LANES_MAX, sizeof *all), unit[128], worst = 0;
	_Alignas(64) char u[sizeof unit];

	if (!psi || !lam)
		tap_bail("no memory");
	random_numbers(11, 1, (uint32_t)n, number);
	k->store(psi, number, n);
	random_numbers(12, 1, (uint32_t)n, number);
	k->store(lam, number, n);
	for (unsigned ntarget = 1; ntarget <= 3; ntarget++)
		for (unsigned kind = 0; kind < 6; kind++) {
			struct kernel_step step = { .ntarget = (uint8_t)ntarget, .nfixed = (uint8_t)ntarget, .form = (enum kernel_form)(kind % 3) };
			unsigned d = 1u << ntarget, lanes = kind < 3 ? 1 : k->lanes;
			double sum[2][64 * KERNEL_LANES_MAX] = { { 0 } };

			for (unsigned t = 0; t < ntarget; t++)
				step.fixed[t] = (uint8_t)(3 * t);
			for (unsigned r = 0; r < d; r++) {
				for (unsigned t = 0; t < ntarget; t++)
					step.target[r] |= (size_t)(r >> t & 1) << 3 * t;
				for (unsigned c = 0; c < d; c++) {
					unit[2 * (r * d + c)] = r == c;
					unit[2 * (r * d + c) + 1] = 0;
				}
			}
			k->store(u, unit, 2 * d * d);
			memset(all, 0, 2 * 64 * KERNEL_LANES_MAX * sizeof *all);
			k->transition(psi, lam, NBIT, &step, all, true);
			k->anti_hermitian(psi, lam, NBIT, &step, sum[0], lanes > 1);
			k->unapply(psi, lam, NBIT, &step, u, sum[1], lanes > 1, NULL);
			for (unsigned way = 0; way < 2; way++)
				for (unsigned l = 0; l < lanes; l++)
					worst = tap_worst(worst, anti_hermitian_apart(k, &step, all, lanes > 1 ? (int)l : -1, sum[way] + l, lanes));
		}
	tap_ok(worst < (precision == PRECISION_DOUBLE ? 1e-11 : 1e-3),
		"%s, %s: sums of the backward pass are off by %.2g", cpu_target(isa)->kernels,
		precision == PRECISION_DOUBLE ? "double" : "single", worst);
	free(psi);
	free(lam);
	free(number);
	free(all);
}

/* ---- flips ---- */

/* A cx of its own that does what the flip says. */
static struct kernel_step cx_of(struct kernel_flip f)
{
	struct kernel_step s = { .ntarget = 1, .nfixed = 2, .control = f.value ? (size_t)1 << f.row_bit : 0, .target = { 0, f.mask } };
	uint8_t target = (uint8_t)__builtin_ctzll(f.mask);

	s.fixed[0] = f.row_bit < target ? f.row_bit : target;
	s.fixed[1] = f.row_bit < target ? target : f.row_bit;
	return s;
}

/* A matrix on two row bits; its flips look at others, the fourth at the same one as the first. */
static struct kernel_step flipping_step(unsigned low, unsigned high, unsigned nflip, enum kernel_form form)
{
	struct kernel_step s = { .ntarget = 2, .nfixed = 2, .fixed = { (uint8_t)low, (uint8_t)high }, .form = form, .nflip = (uint8_t)nflip,
		.target = { 0, (size_t)1 << low, (size_t)1 << high, (size_t)1 << low | (size_t)1 << high } };
	uint8_t other[NBIT], n = 0;

	for (uint8_t bit = 0; bit < NBIT; bit++)
		if (bit != low && bit != high)
			other[n++] = bit;
	for (unsigned f = 0; f < nflip; f++)
		s.flip[f] = (struct kernel_flip){ other[(f == 3 ? low : 5 * f + low) % n], f % 3 != 1, s.target[f % 2 ? 2 : 1] };
	return s;
}

/* What the kernels make of the same states in two ways: psi, lambda and the sums. */
struct made { char *psi, *lam; double sum[16]; };

static struct made made_from(const struct kernels *k, size_t n)
{
	struct made m = { .psi = aligned_alloc(64, n * k->real_bytes), .lam = aligned_alloc(64, n * k->real_bytes) };
	double *number = mem_alloc(n, sizeof *number);

	if (!m.psi || !m.lam)
		tap_bail("no memory");
	random_numbers(21, 1, (uint32_t)n, number);
	k->store(m.psi, number, n);
	random_numbers(22, 1, (uint32_t)n, number);
	k->store(m.lam, number, n);
	free(number);
	return m;
}

static double made_apart(const struct kernels *k, struct made *a, struct made *b, size_t n)
{
	double *x = mem_alloc(n, sizeof *x), *y = mem_alloc(n, sizeof *y), worst;

	k->fetch(x, a->psi, n);
	k->fetch(y, b->psi, n);
	worst = largest_difference(x, y, (uint32_t)n);
	k->fetch(x, a->lam, n);
	k->fetch(y, b->lam, n);
	worst = tap_worst(worst, largest_difference(x, y, (uint32_t)n));
	worst = tap_worst(worst, largest_difference(a->sum, b->sum, 16) / ROWS);
	free(x);
	free(y);
	free(a->psi);
	free(a->lam);
	free(b->psi);
	free(b->lam);
	return worst;
}

static double flips_apart(const struct kernels *k, unsigned low, unsigned high, unsigned nflip, enum kernel_form form)
{
	static const uint8_t cx_source[2] = { 1, 0 };
	struct kernel_step with = flipping_step(low, high, nflip, form), without = with;
	size_t n = (size_t)ROWS * 2 * k->lanes;
	struct made a = made_from(k, n), b = made_from(k, n);
	double entry[32];
	_Alignas(64) char u[sizeof entry];

	random_numbers(23, 1, 32, entry);   /* the parts that the form has not are not read */
	k->store(u, entry, 32);
	without.nflip = 0;
	k->apply(a.psi, NBIT, &with, u, NULL);
	for (unsigned f = 0; f < nflip; f++) {
		struct kernel_step cx = cx_of(with.flip[f]);
		k->permute(b.psi, NBIT, &cx, cx_source);
	}
	k->apply(b.psi, NBIT, &without, u, NULL);

	k->unapply(a.psi, a.lam, NBIT, &with, u, a.sum, false, NULL);
	k->unapply(b.psi, b.lam, NBIT, &without, u, b.sum, false, NULL);
	for (unsigned f = 0; f < nflip; f++) {
		struct kernel_step cx = cx_of(with.flip[f]);
		k->permute(b.psi, NBIT, &cx, cx_source);
		k->permute(b.lam, NBIT, &cx, cx_source);
	}
	return made_apart(k, &a, &b, n);
}

/* A matrix that does cx on its way, forward and back, does what cx of their own do: of each form, wherever its qubits are. */
static void test_flips(enum isa isa, enum precision precision)
{
	const struct kernels *k = kernels_find(isa, precision);
	double worst[3] = { 0 };

	for (enum kernel_form form = FORM_COMPLEX; form <= FORM_PARITY; form++)
		for (unsigned high = 1; high < NBIT; high++)
			for (unsigned low = 0; low < high; low++)
				worst[form] = tap_worst(worst[form], flips_apart(k, low, high, 1 + (low + high) % KERNEL_FLIPS_MAX, form));
	for (enum kernel_form form = FORM_COMPLEX; form <= FORM_PARITY; form++)
		tap_ok(worst[form] < (precision == PRECISION_DOUBLE ? 1e-13 : 1e-4),
			"%s, %s, form %d: with flips off by %.2g", cpu_target(isa)->kernels,
			precision == PRECISION_DOUBLE ? "double" : "single", (int)form, worst[form]);
}

int main(void)
{
	for (int isa = ISA_BASELINE; isa <= (int)isa_best(); isa++)
		for (int precision = PRECISION_SINGLE;
			!isa_obstacle((enum isa)isa) && precision <= PRECISION_DOUBLE; precision++) {
			test_anti_hermitian((enum isa)isa, (enum precision)precision);
			test_flips((enum isa)isa, (enum precision)precision);
		}
	return tap_done();
}
