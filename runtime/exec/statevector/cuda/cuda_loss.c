/* SPDX-License-Identifier: Apache-2.0
 * Losses whose gradient the first launch of the backward pass computes itself (loss_factor in
 * cuda_products.cuh): which circuits can do so, what the launch needs, and the exponent of
 * lambda. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Multiplying factors by a power of two neither rounds nor overflows below 2^EXPONENT_MOST and
 * above its inverse. */
enum { EXPONENT_MOST = 500 };

/* Numbers of a sample on the device (loss_terms.h), with a label for each readout. */
static size_t numbers(const struct cuda_circuit *c)
{
	return LOSS_LABELS + (size_t)c->plan->nreadout;
}

/* The readouts have to be sums of products of Z, which the last launch forward sums and the first
 * launch back makes lambda of, and shared memory has to hold the factors of a block's samples. */
bool cuda_loss_fits(const struct cuda_state *b, const struct cuda_circuit *c)
{
	uint64_t nfactor = c->makes ? (uint64_t)c->nproduct << c->makes->args.nnear : 0;

	return b->plan->options.loss_terms && b->plan->ncircuit == 1 && !c->tail
		&& c->plan->nreadout <= UINT16_MAX && cuda_stages_read(c) && c->makes
		&& c->nproduct == c->npauli && !c->nprobs && nfactor <= CUDA_FACTORS_MAX;
}

size_t cuda_loss_bytes(const struct cuda_circuit *c)
{
	return c->has_loss ? c->npauli * sizeof(struct cuda_loss_product)
			+ c->nsample * numbers(c) * sizeof(double)
			   : 0;
}

/* The largest magnitude of a readout, of states of norm 1. */
static double largest_readout(const struct cuda_circuit *c, uint32_t readout)
{
	double most = 0;

	for (uint32_t k = 0; k < c->npauli; k++)
		most += c->pauli[k].readout == readout ? fabs(c->pauli[k].coefficient) : 0;
	return most;
}

/* An upper bound of the sum of the norms of all samples' lambda. */
static double bound(const struct cuda_circuit *c, const struct unit_input *in)
{
	const struct loss_terms *t = in->terms;
	uint32_t n = c->plan->nreadout;
	double all = 0;

	for (uint32_t k = 0; k < n; k++) {
		double most = largest_readout(c, k);

		for (uint32_t s = 0; s < in->count; s++) {
			const double *x = unit_numbers(in, s);
			double label = k < t->nlabel ? x[LOSS_LABELS + k] : 0;

			all += most / n * fabs(x[LOSS_WEIGHT] * x[LOSS_SCALE])
				* loss_term_steepest(t->term, t->option, most, label);
		}
	}
	return all;
}

bool cuda_loss_exponent(const struct cuda_circuit *c, const struct unit_input *in, int *exponent)
{
	if (!c->has_loss || !in->terms)
		return false;
	double all = bound(c, in);

	frexp(all, exponent);
	return isfinite(all) && abs(*exponent) < EXPONENT_MOST;
}

/* They are in the order of their readouts. */
static void list_products(const struct cuda_circuit *c, struct cuda_loss_product *to)
{
	for (uint32_t first = 0, end = 0; first < c->npauli; first = end) {
		while (end < c->npauli && c->pauli[end].readout == c->pauli[first].readout)
			end++;
		for (uint32_t k = first; k < end; k++)
			to[k] = (struct cuda_loss_product){ c->pauli[k].coefficient,
				c->pauli[k].readout, (uint16_t)first, (uint16_t)end };
	}
}

void cuda_put_loss(struct cuda_state *b, struct cuda_circuit *c, const struct unit_input *in)
{
	struct cuda_loss_product *product = (void *)(b->host.input + c->loss);
	double *number = (double *)(product + c->npauli);
	const struct loss_terms *t = in->terms;
	uint32_t n = c->plan->nreadout;
	struct cuda_loss *l;

	if (c->makes) /* factors come from the host, unless this unit takes a loss */
		c->makes->args.products.loss.number = NULL;
	if (!c->takes_loss)
		return;
	l = &(c->takes_joined ? c->joined : c->makes)->args.products.loss;
	*l = (struct cuda_loss){ .product = (void *)(b->gpu.input + c->loss),
		.option = t->option,
		.unit = ldexp(1, -c->exponent),
		.term = (uint16_t)t->term,
		.nreadout = (uint16_t)n };
	l->number = (const double *)(l->product + c->npauli);
	list_products(c, product);
	for (uint32_t s = 0; s < in->count; s++) {
		const double *x = unit_numbers(in, s);
		double *to = number + s * numbers(c);

		memcpy(to, x, LOSS_LABELS * sizeof *x);
		for (uint32_t k = 0; k < n; k++)
			to[LOSS_LABELS + k] = k < t->nlabel ? x[LOSS_LABELS + k] : 0;
	}
}
