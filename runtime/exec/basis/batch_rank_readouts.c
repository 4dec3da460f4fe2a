/* SPDX-License-Identifier: Apache-2.0
 * Readouts of samples from the overlaps of basis states, and their readout gradients back. */
#include "runtime/exec/basis/basis.h"

#include <string.h>

enum { ROWS = 32 }; /* of a table by pairs that are made together */

/* c^+ M c over the coefficients that are not 0. */
static double form(uint32_t r, const cplx *m, uint32_t n, const uint32_t *at, const cplx *c)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		cplx x = c[at[i]], row = 0;

		for (uint32_t j = i + 1; j < n; j++)
			row += cplx_mul(m[(size_t)at[i] * r + at[j]], c[at[j]]);
		sum += creal(m[(size_t)at[i] * r + at[i]]) * (creal(x) * creal(x) + cimag(x) * cimag(x))
			+ 2 * (creal(x) * creal(row) + cimag(x) * cimag(row));
	}
	return sum;
}

static uint32_t list_coefficients(const struct basis *k, uint32_t sample, uint32_t at[RANK_MAX])
{
	const cplx *c = k->c + (size_t)sample * k->r;
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->r; i++)
		if (c[i] != 0)
			at[n++] = i;
	return n;
}

void rank_combine(void *basis, unsigned worker, uint32_t sample, double *readout)
{
	const struct basis *k = basis;
	uint32_t at[RANK_MAX], n = list_coefficients(k, sample, at);
	double *value = k->value + (size_t)worker * k->nform;

	for (uint32_t j = 0; j < k->nform; j++)
		value[j] = form(k->r, k->m + (size_t)j * k->r * k->r, n, at, k->c + (size_t)sample * k->r);
	for (uint32_t c = 0; c < k->pl->ncircuit; c++)
		forms_readouts(&k->pl->circuit[c], &k->forms[c], value + k->first_form[c],
			readout + k->pl->circuit[c].first_readout);
}

void rank_gradient(void *basis, uint32_t sample, const double *dreadout)
{
	struct basis *k = basis;

	for (uint32_t c = 0; c < k->pl->ncircuit; c++)
		forms_gradient(&k->pl->circuit[c], dreadout + k->pl->circuit[c].first_readout,
			k->dreadout + (size_t)sample * k->nform + k->first_form[c]);
}

static uint32_t row_blocks(const struct basis *k) { return (k->r + ROWS - 1) / ROWS; }

/* Rows of A_j = sum_s dreadout_sj conj(c_s) c_s^T, samples in their order. */
static int mix_item(void *ctx, unsigned worker, uint32_t item, struct err *e)
{
	struct basis *k = ctx;
	uint32_t j = item / row_blocks(k), first = item % row_blocks(k) * ROWS;
	uint32_t last = k->r - first < ROWS ? k->r : first + ROWS;
	cplx *a = k->a + (size_t)j * k->r * k->r;

	(void)worker;
	(void)e;
	memset(a + (size_t)first * k->r, 0, (size_t)(last - first) * k->r * sizeof *a);
	for (uint32_t s = 0; s < k->nsample; s++) {
		const cplx *c = k->c + (size_t)s * k->r;
		uint32_t at[RANK_MAX], n = list_coefficients(k, s, at);

		for (uint32_t i = 0; i < n; i++) {
			cplx x = conj(c[at[i]]) * k->dreadout[(size_t)s * k->nform + j];

			for (uint32_t l = 0; l < n && at[i] >= first && at[i] < last; l++)
				a[(size_t)at[i] * k->r + at[l]] += cplx_mul(x, c[at[l]]);
		}
	}
	return 0;
}

int rank_mix(void *basis, struct err *e)
{
	struct basis *k = basis;

	return basis_items(k, k->nform * row_blocks(k), mix_item, k, e);
}
