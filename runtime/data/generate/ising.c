/* SPDX-License-Identifier: Apache-2.0
 * Chains as matrices that are never written down: every term flips at most two bits of an index. */
#include "runtime/data/generate/ising.h"

#include <stdlib.h>

#include "runtime/base/arena.h"
#include "runtime/data/eigen.h"

static double sign_of(uint32_t bits) { return __builtin_parity(bits) ? -1 : 1; }

static double row_times(const struct ising *h, uint32_t i, const double *x)
{
	const uint32_t n = h->nqubit;
	double sum = 0;

	for (uint32_t q = 0; q < n; q++) {
		const uint32_t bit = 1u << q, pair = 3u << q, around = q ? 5u << (q - 1) : 0;

		sum -= h->x * x[i ^ bit];
		if (q + 1 < n)
			sum -= h->zz * sign_of(i & pair) * x[i] + h->xx * x[i ^ pair];
		if (q && q + 1 < n)
			sum -= h->zxz * sign_of(i & around) * x[i ^ bit];
	}
	return sum;
}

static void times(void *ctx, const double *x, double *y)
{
	const struct ising *h = ctx;

	for (uint32_t i = 0; i < 1u << h->nqubit; i++)
		y[i] = row_times(h, i, x);
}

static void even_under(uint32_t mask, uint32_t n, double *x)
{
	for (uint32_t i = 0; i < n; i++)
		if (i < (i ^ mask))
			x[i] = x[i ^ mask] = (x[i] + x[i ^ mask]) / 2;
}

/* Z Z anticommutes with flips of every second qubit, the other terms do not. */
static void project(void *ctx, double *x)
{
	const struct ising *h = ctx;
	const uint32_t n = 1u << h->nqubit, even = 0x55555555 & (n - 1);

	if (h->zz != 0) {
		even_under(n - 1, n, x);
		return;
	}
	even_under(even, n, x);
	if (h->nqubit > 1)
		even_under(n - 1 - even, n, x);
}

int ising_ground_state(const struct ising *h, double *energy, double *state, struct err *e)
{
	const uint32_t n = 1u << h->nqubit;
	mem_auto double *start = mem_try(n, sizeof *start);
	struct eigen_wish w = {
		.n = n, .k = 1, .times = times, .project = project, .ctx = (void *)h, .start = start
	};

	if (!start)
		return err_set(e, -ERR_CONFIG, "no memory for a state of %u qubits", h->nqubit);
	for (uint32_t i = 0; i < n; i++)
		start[i] = 1;                    /* all qubits along x: even under every flip */
	int code = eigen_lowest(&w, energy, state, e);
	return code;
}
