/* SPDX-License-Identifier: Apache-2.0
 * Readouts of a state, and the state they make of their slopes. */
#include "config.h"
#include <string.h>
#include "runtime/exec/cpu/cpu_state.h"

struct reading {
	struct backend_state *b;
	const struct cpu_circuit *c;
	const void *psi;
	void *lambda;
	const double *slope;
	double *part;                /* (CPU_CHUNKS, nterm) sums */
};

static double lanes_total(const double *v, unsigned lanes)
{
	double sum = 0;
	for (unsigned l = 0; l < lanes; l++)
		sum += v[l];
	return sum;
}

static bool identity(const struct cpu_term *t)
{
	const struct kernel_term *k = &t->kernel;
	return !(k->flip_row | k->sign_row | k->flip_lane | k->sign_lane);
}

/* ---- expectations ---- */

static void expect_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct reading *r = ctx;
	size_t first = cpu_chunk_begin(r->c->nrow, r->c->nchunk, chunk), last = cpu_chunk_begin(r->c->nrow, r->c->nchunk, chunk + 1);
	(void)thread;
	for (uint32_t t = 0; t < r->c->nterm; t++) {
		double out[KERNEL_LANES_MAX] = { 0 };
		if (!identity(&r->c->term[t]))
			r->b->k->expect(r->psi, first, last, &r->c->term[t].kernel, out);
		r->part[(size_t)chunk * r->c->nterm + t] = lanes_total(out, r->b->k->lanes);
	}
}

static void expect_state(struct reading *r, struct cpu_worker *w, double *readout)
{
	cpu_chunks(r->b, w, r->c->nchunk, expect_chunk, r);
	for (uint32_t t = 0; t < r->c->nterm; t++) {
		const struct cpu_term *term = &r->c->term[t];
		double sum = 0;
		for (unsigned chunk = 0; chunk < r->c->nchunk; chunk++)
			sum += r->part[(size_t)chunk * r->c->nterm + t];
		readout[term->readout] += term->coefficient * (identity(term) ? 1 : sum);
	}
}

static void expect_samples(const struct reading *r, double *readout)
{
	unsigned lanes = r->b->k->lanes;
	for (uint32_t t = 0; t < r->c->nterm; t++) {
		const struct cpu_term *term = &r->c->term[t];
		double out[KERNEL_LANES_MAX] = { 0 };
		if (!identity(term))
			r->b->k->expect(r->psi, 0, r->c->nrow, &term->kernel, out);
		for (unsigned l = 0; l < lanes; l++)
			readout[l * r->c->plan->nreadout + term->readout] += term->coefficient * (identity(term) ? 1 : out[l]);
	}
}

/* ---- probabilities ---- */

/* The readout's index of row bin `bin`. */
static size_t readout_bin(const struct cpu_probs *p, size_t bin)
{
	size_t k = 0;
	for (unsigned bit = 0; bit < p->bins.nbit; bit++)
		k |= (bin >> bit) & 1 ? p->row_bin[bit] : 0;
	return k;
}

static void read_probs(const struct reading *r, struct cpu_worker *w, double *readout)
{
	unsigned lanes = r->b->k->lanes;
	for (uint32_t k = 0; k < r->c->nprobs; k++) {
		const struct cpu_probs *p = &r->c->probs[k];
		size_t nbin = (size_t)1 << p->bins.nbit;
		memset(w->bins, 0, nbin * lanes * sizeof(double));
		r->b->k->probs(r->psi, 0, r->c->nrow, &p->bins, w->bins);
		for (size_t bin = 0; bin < nbin; bin++)
			for (unsigned l = 0; l < lanes; l++)
				readout[(r->b->lane_bits ? 0 : l * r->c->plan->nreadout) + p->readout
					+ (readout_bin(p, bin) | p->lane_bin[l])] += w->bins[bin * lanes + l];
	}
}

static void lambda_probs(const struct reading *r, struct cpu_worker *w)
{
	unsigned lanes = r->b->k->lanes;
	for (uint32_t k = 0; k < r->c->nprobs; k++) {
		const struct cpu_probs *p = &r->c->probs[k];
		size_t nbin = (size_t)1 << p->bins.nbit;
		for (size_t bin = 0; bin < nbin; bin++)
			for (unsigned l = 0; l < lanes; l++)
				w->bins[bin * lanes + l] = r->slope[(r->b->lane_bits ? 0 : l * r->c->plan->nreadout)
					+ p->readout + (readout_bin(p, bin) | p->lane_bin[l])];
		r->b->k->lambda_probs(r->lambda, r->psi, 0, r->c->nrow, &p->bins, w->bins);
	}
}

/* ---- both ---- */

void cpu_readouts(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c,
	const void *psi, double *readout)
{
	struct reading r = { .b = b, .c = c, .psi = psi };
	memset(readout, 0, (size_t)b->plan->width * c->plan->nreadout * sizeof *readout);
	if (b->lane_bits) {
		r.part = cpu_chunk_sums(b, w);
		expect_state(&r, w, readout);
	} else {
		expect_samples(&r, readout);
	}
	read_probs(&r, w, readout);
}

static void lambda_rows(const struct reading *r, size_t first, size_t last)
{
	bool samples = !r->b->lane_bits;
	r->b->k->zero(r->lambda, first, last);
	for (uint32_t t = 0; t < r->c->nterm; t++) {
		const struct cpu_term *term = &r->c->term[t];
		double c[KERNEL_LANES_MAX];
		if (identity(term))
			continue;   /* a multiple of psi has no real slope */
		for (unsigned l = 0; l < r->b->k->lanes; l++)
			c[l] = term->coefficient * r->slope[(samples ? l * r->c->plan->nreadout : 0) + term->readout];
		r->b->k->lambda(r->lambda, r->psi, first, last, &term->kernel, c);
	}
}

static void lambda_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct reading *r = ctx;
	(void)thread;
	lambda_rows(r, cpu_chunk_begin(r->c->nrow, r->c->nchunk, chunk), cpu_chunk_begin(r->c->nrow, r->c->nchunk, chunk + 1));
}

void cpu_lambda(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c,
	const void *psi, void *lambda, const double *slope)
{
	struct reading r = { .b = b, .c = c, .psi = psi, .lambda = lambda, .slope = slope };
	if (b->lane_bits)
		cpu_chunks(b, w, c->nchunk, lambda_chunk, &r);
	else
		lambda_rows(&r, 0, c->nrow);
	lambda_probs(&r, w);
}
