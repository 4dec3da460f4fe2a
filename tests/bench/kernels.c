/* SPDX-License-Identifier: Apache-2.0
 * Each dense kernel alone, on blocks in L1 and in L2: its share of the multiply-adds that one thread
 * does at best, as a table of markdown.  A step of training cannot have a larger share than its kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/system/clock.h"
#include "runtime/exec/statevector/cpu/cpu_target.h"
#include "runtime/exec/statevector/cpu/kernels.h"

enum { REPEATS = 40, ROUNDS = 20000, ROWS_A_TIME = 1 << 17 };

/* Flops a second of independent multiply-adds; the best of many short runs, as below. */
static double best_rate(const struct kernels *k)
{
	double best = 0, sink;

	for (int n = 0; n < REPEATS; n++) {
		double begin = clock_seconds(), flops = k->multiply_add(ROUNDS, &sink),
		       rate = flops / (clock_seconds() - begin);

		best = rate > best ? rate : best;
	}
	return best;
}

/* A matrix on the bits 0, 2, 4 of the rows. */
static struct kernel_step step_on(unsigned ntarget)
{
	struct kernel_step s = { .ntarget = (uint8_t)ntarget, .nfixed = (uint8_t)ntarget };

	for (unsigned k = 0; k < ntarget; k++)
		s.fixed[k] = (uint8_t)(2 * k);
	for (unsigned r = 0; r < 1u << ntarget; r++)
		for (unsigned k = 0; k < ntarget; k++)
			s.target[r] |= (size_t)(r >> k & 1) << 2 * k;
	return s;
}

struct bench { const struct kernels *k; float *psi, *lambda, *u; double sum[128]; unsigned nbit; struct kernel_step step; };

static void run_apply(struct bench *b) { b->k->apply(b->psi, b->nbit, &b->step, b->u, NULL); }
static void run_unapply(struct bench *b) { b->k->unapply(b->psi, b->lambda, b->nbit, &b->step, b->u, b->sum, false, NULL); }
static void run_anti_hermitian(struct bench *b) { b->k->anti_hermitian(b->psi, b->lambda, b->nbit, &b->step, b->sum, false); }

/* Seconds of one visit of all rows. */
static double best_seconds(struct bench *b, void (*run)(struct bench *b))
{
	int times = (ROWS_A_TIME >> b->nbit) + 1;
	double best = 1e9;

	for (int k = 0; k < REPEATS; k++) {
		double begin = clock_seconds(), s;

		for (int i = 0; i < times; i++)
			run(b);
		s = (clock_seconds() - begin) / times;
		best = s < best ? s : best;
	}
	return best;
}

static void set_identity(struct bench *b, unsigned d)
{
	memset(b->u, 0, 128 * sizeof *b->u);
	for (unsigned i = 0; i < d; i++)
		b->u[2 * (i * d + i)] = 1;
}

/* flops: an amplitude's, by 2^ntarget; fewer: less so many. */
static void print_row(struct bench *b, const char *name, void (*run)(struct bench *b), double flops, double fewer, double peak)
{
	static const unsigned nbits[] = { 7, 11 };   /* 16 and 256 KiB with vectors of 64 bytes */

	for (unsigned ntarget = 1; ntarget <= 3; ntarget++) {
		b->step = step_on(ntarget);
		set_identity(b, 1u << ntarget);
		printf("| %s, %u qubit%s |", name, ntarget, ntarget == 1 ? "" : "s");
		for (unsigned k = 0; k < 2; k++) {
			double amplitudes = (double)(b->k->lanes << nbits[k]);

			b->nbit = nbits[k];
			printf(" %.0f %% |", 100 * (flops * (1 << ntarget) - fewer) * amplitudes / best_seconds(b, run) / peak);
		}
		putchar('\n');
	}
}

int main(void)
{
	enum isa isa = isa_best();
	struct bench b = { .k = kernels_find(isa, PRECISION_SINGLE) };
	size_t nbyte = (size_t)1 << 20;
	double peak = best_rate(b.k);

	b.psi = aligned_alloc(4096, nbyte);
	b.lambda = aligned_alloc(4096, nbyte);
	b.u = aligned_alloc(64, 128 * sizeof *b.u);
	if (!b.psi || !b.lambda || !b.u)
		return 1;
	for (size_t i = 0; i < nbyte / sizeof *b.psi; i++)
		b.psi[i] = b.lambda[i] = 1e-3f * (float)(i % 7);
	printf("| kernel, %s, one thread | block of 128 rows | of 2,048 |\n|---|--:|--:|\n",
		cpu_target(isa)->kernels);
	print_row(&b, "forward", run_apply, 8, 0, peak);
	print_row(&b, "back, with the cross matrix", run_unapply, 24, 4, peak);
	print_row(&b, "the cross matrix alone", run_anti_hermitian, 8, 4, peak);
	free(b.psi);
	free(b.lambda);
	free(b.u);
	return 0;
}
