/* SPDX-License-Identifier: Apache-2.0
 * Readouts of all samples from the overlaps of basis states, and their slopes back. */
#include "config.h"
#include "runtime/exec/basis/batch_rank_state.h"

#include <string.h>

enum {
	PART = 16,                   /* samples whose readouts are combined together */
	ROWS = 32                    /* of a table by pairs that are made together */
};

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

static uint32_t list_coefficients(const struct rank *k, uint32_t sample, uint32_t at[RANK_MAX])
{
	const cplx *c = k->c + (size_t)sample * k->r;
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->r; i++)
		if (c[i] != 0)
			at[n++] = i;
	return n;
}

void rank_combine(const struct evaluator *ev, unsigned worker, uint32_t sample, double *readout)
{
	const struct rank *k = ev->rank;
	uint32_t at[RANK_MAX], n = list_coefficients(k, sample, at);
	double *value = k->value + (size_t)worker * k->nform;

	for (uint32_t j = 0; j < k->nform; j++)
		value[j] = form(k->r, k->m + (size_t)j * k->r * k->r, n, at, k->c + (size_t)sample * k->r);
	for (uint32_t c = 0; c < ev->pl->ncircuit; c++)
		forms_readouts(&ev->pl->circuit[c], &k->forms[c], value + k->first_form[c], readout + ev->pl->circuit[c].first_readout);
}

static int read_sample(struct evaluator *ev, unsigned worker, uint32_t sample, struct err *e)
{
	const struct rank *k = ev->rank;
	struct scratch *w = &ev->scratch[worker];
	double *readout = ev->readout + (size_t)sample * ev->p->nreadout;
	int code;

	rank_combine(ev, worker, sample, readout);
	code = unit_finite(ev, readout, whole_row(k, sample), e);
	if (!code && ev->fn)
		code = unit_slope(ev, w, sample, whole_row(k, sample), e);
	for (uint32_t c = 0; !code && ev->gradient && c < ev->pl->ncircuit; c++)
		forms_slopes(&ev->pl->circuit[c], w->slope_row + ev->pl->circuit[c].first_readout,
			k->slope + (size_t)sample * k->nform + k->first_form[c]);
	return code;
}

/* The head's gradient goes into the worker's exact sum, part by part. */
static int add_head(struct evaluator *ev, const struct scratch *w, struct fixed *head, uint32_t first, struct err *e)
{
	for (uint32_t i = 0; i < nhead(ev); i++) {
		struct fixed f;

		if (!fixed_from(w->gradient[ev->p->nweight_circuit + i], &f) || !fixed_add(&head[i], &f, 1))
			return err_set(e, -ERR_NOT_FINITE, "samples from %u of the batch on: their gradient is not finite or too large", first);
	}
	return 0;
}

static int read_part(struct evaluator *ev, unsigned worker, uint32_t part, struct err *e)
{
	struct rank *k = ev->rank;
	struct scratch *w = &ev->scratch[worker];
	uint32_t first = part * PART, last = k->nsample - first < PART ? k->nsample : first + PART;
	int code = 0;

	if (ev->gradient)
		memset(w->gradient, 0, ev->p->nweight * sizeof *w->gradient);
	for (uint32_t s = first; s < last && !code; s++)
		code = read_sample(ev, worker, s, e);
	if (!code && ev->gradient)
		code = add_head(ev, w, k->head + (size_t)worker * nhead(ev), first, e);
	return code;
}

int rank_read(struct evaluator *ev, struct err *e)
{
	struct rank *k = ev->rank;
	uint32_t n = nhead(ev);
	struct fixed *total = k->head + (size_t)ev->nworker * n;
	int code;

	memset(k->head, 0, ((size_t)ev->nworker + 1) * n * sizeof *k->head);
	code = rank_parts(ev, (k->nsample + PART - 1) / PART, read_part, e);
	for (unsigned worker = 0; worker < ev->nworker && !code; worker++)
		if (!fixed_add(total, k->head + (size_t)worker * n, n))
			code = err_set(e, -ERR_NOT_FINITE, "the gradient of the head is too large");
	return code;
}

static uint32_t row_blocks(const struct rank *k)
{
	return (k->r + ROWS - 1) / ROWS;
}

/* Rows of A_j = sum_s slope_sj conj(c_s) c_s^T, samples in their order. */
static int mix_part(struct evaluator *ev, unsigned worker, uint32_t item, struct err *e)
{
	struct rank *k = ev->rank;
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
			cplx x = conj(c[at[i]]) * k->slope[(size_t)s * k->nform + j];

			for (uint32_t l = 0; l < n && at[i] >= first && at[i] < last; l++)
				a[(size_t)at[i] * k->r + at[l]] += cplx_mul(x, c[at[l]]);
		}
	}
	return 0;
}

int rank_mix(struct evaluator *ev, struct err *e)
{
	return rank_parts(ev, ev->rank->nform * row_blocks(ev->rank), mix_part, e);
}
