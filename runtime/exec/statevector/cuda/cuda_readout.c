/* SPDX-License-Identifier: Apache-2.0
 * Readouts of a state, and the state they make of their gradients. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <math.h>
#include <string.h>

/* ---- from outputs to bits of the index ---- */

static struct cuda_pauli compile_term(const struct plan_circuit *c, const struct pauli_term *t,
	uint32_t readout)
{
	enum { PAULI_X = 1, PAULI_Y = 2, PAULI_Z = 3 };
	struct cuda_pauli p = { .readout = readout, .coefficient = t->coefficient };

	for (uint32_t f = 0; f < t->nfactor; f++) {
		uint64_t bit = UINT64_C(1) << c->place[t->factor[f].wire];

		p.flip |= t->factor[f].letter != PAULI_Z ? bit : 0;
		p.sign |= t->factor[f].letter != PAULI_X ? bit : 0;
		p.ny += t->factor[f].letter == PAULI_Y;
	}
	return p;
}

static void compile_output(struct cuda_circuit *c, const struct output *o, uint32_t *readout)
{
	if (o->kind == OUTPUT_PROBS) {
		struct cuda_probs *p = &c->probs[c->nprobs++];

		*p = (struct cuda_probs){ .readout = *readout, .nbin = o->nwire };
		for (uint32_t k = 0; k < o->nwire; k++)
			p->bit[k] = c->plan->place[o->wire[k]];
		*readout += UINT32_C(1) << o->nwire;
		return;
	}
	for (uint32_t t = 0; t < o->nterm; t++)
		c->pauli[c->npauli++] = compile_term(c->plan, &o->term[t], *readout);
	(*readout)++;
}

void cuda_compile_readouts(struct backend_state *b, struct cuda_circuit *c)
{
	const struct plan_circuit *pc = c->plan;
	uint32_t nterm = 0, readout = 0;

	for (uint32_t k = 0; k < pc->noutput; k++)
		nterm += pc->output[k].nterm;
	c->pauli = arena_alloc(&b->arena, nterm, sizeof *c->pauli);
	c->probs = arena_alloc(&b->arena, pc->noutput, sizeof *c->probs);
	for (uint32_t k = 0; k < pc->noutput; k++)
		compile_output(c, &pc->output[k], &readout);
	c->nsum_readout = c->npauli;
	for (uint32_t k = 0; k < c->nprobs; k++) {
		c->probs[k].sum = c->nsum_readout;
		c->nsum_readout += (size_t)1 << c->probs[k].nbin;
	}
}

/* ---- terms and bins as arguments ---- */

/* Terms from `first` on; coefficient[k - first] is 0 for all where there are no factors. */
static struct cuda_readout terms_from(const struct backend_state *b, const struct cuda_circuit *c,
	uint32_t first)
{
	struct cuda_readout a = { .psi = b->psi,
		.lambda = b->lambda,
		.sum = cuda_sums(b) + first,
		.bad = cuda_bad(b),
		.nbit = c->nbit };

	for (uint32_t k = first; k < c->npauli && a.nterm < CUDA_TERMS_MAX; k++) {
		const struct cuda_pauli *p = &c->pauli[k];

		a.term[a.nterm++] =
			(struct cuda_term){ .flip = p->flip, .sign = p->sign, .ny = p->ny % 4 };
	}
	return a;
}

static struct cuda_bins bins_of(const struct backend_state *b, const struct cuda_circuit *c,
	const struct cuda_probs *p)
{
	struct cuda_bins a = { .psi = b->psi,
		.lambda = b->lambda,
		.sum = cuda_sums(b) + p->sum,
		.factor = b->factor,
		.bad = cuda_bad(b),
		.nbit = c->nbit,
		.nbin = p->nbin };

	memcpy(a.bit, p->bit, p->nbin);
	return a;
}

/* ---- readouts ---- */

static void sum_readouts(struct backend_state *b, const struct cuda_circuit *c)
{
	for (uint32_t k = 0; k < c->npauli; k += CUDA_TERMS_MAX) {
		struct cuda_readout a = terms_from(b, c, k);

		cuda_launch_expect(b->stream, &a, b->twice);
	}
	for (uint32_t k = 0; k < c->nprobs; k++) {
		struct cuda_bins a = bins_of(b, c, &c->probs[k]);

		cuda_launch_bins(b->stream, &a, b->twice);
	}
}

void cuda_readouts(struct backend_state *b, const struct cuda_circuit *c, double *readout)
{
	bool good;

	cuda_clear_sums(b, c->nsum_readout);
	sum_readouts(b, c);
	good = cuda_fetch_sums(b, c->nsum_readout);
	for (uint32_t k = 0; k < c->plan->nreadout; k++)
		readout[k] = good ? 0 : NAN;
	for (uint32_t k = 0; k < c->npauli && good; k++)
		readout[c->pauli[k].readout] += c->pauli[k].coefficient * cuda_sum_value(b, k);
	for (uint32_t k = 0; k < c->nprobs && good; k++)
		for (size_t n = 0; n < (size_t)1 << c->probs[k].nbin; n++)
			readout[c->probs[k].readout + n] = cuda_sum_value(b, c->probs[k].sum + n);
}

void cuda_normalise(struct backend_state *b, const struct cuda_circuit *c)
{
	struct cuda_readout norm = {
		.psi = b->psi, .sum = cuda_sums(b), .bad = cuda_bad(b), .nbit = c->nbit, .nterm = 1
	};
	struct cuda_scale scale = { .psi = b->psi, .nbit = c->nbit };

	cuda_clear_sums(b, 1);
	cuda_launch_expect(b->stream, &norm, b->twice);
	scale.factor = cuda_fetch_sums(b, 1) ? 1 / sqrt(cuda_sum_value(b, 0)) : NAN;
	cuda_launch_scale(b->stream, &scale, b->twice);
}

/* ---- lambda ---- */

/* What its norm is at most. */
static double bound(const struct cuda_circuit *c, const double *dreadout)
{
	double most = 0;

	for (uint32_t k = 0; k < c->npauli; k++)
		most += fabs(dreadout[c->pauli[k].readout] * c->pauli[k].coefficient);
	for (uint32_t k = 0; k < c->nprobs; k++) {
		double largest = 0;

		for (size_t n = 0; n < (size_t)1 << c->probs[k].nbin; n++)
			largest = fmax(largest, fabs(dreadout[c->probs[k].readout + n]));
		most += largest;
	}
	return most;
}

static void add_bins(struct backend_state *b, const struct cuda_circuit *c,
	const struct cuda_probs *p, const double *dreadout, int exponent, bool add)
{
	struct cuda_bins a = bins_of(b, c, p);
	size_t n = (size_t)1 << p->nbin;

	cuda_wait(b->stream); /* for the bins before */
	for (size_t k = 0; k < n; k++)
		b->factor_host[k] = ldexp(dreadout[p->readout + k], -exponent);
	cuda_upload(b->stream, b->factor, b->factor_host, n * sizeof *b->factor_host);
	a.add = add;
	cuda_launch_lambda_bins(b->stream, &a, b->twice);
}

int cuda_lambda(struct backend_state *b, const struct cuda_circuit *c, const double *dreadout)
{
	size_t nbyte = (size_t)(b->twice ? 16 : 8) << c->nbit;
	bool add = false;
	int exponent;

	frexp(bound(c, dreadout), &exponent); /* of what is not finite, any: its sums are bad */
	for (uint32_t first = 0; first < c->npauli; first += CUDA_TERMS_MAX, add = true) {
		struct cuda_readout a = terms_from(b, c, first);

		for (uint32_t k = 0; k < a.nterm; k++) {
			const struct cuda_pauli *p = &c->pauli[first + k];

			a.term[k].factor = ldexp(dreadout[p->readout] * p->coefficient, -exponent);
		}
		a.add = add;
		cuda_launch_lambda(b->stream, &a, b->twice);
	}
	for (uint32_t k = 0; k < c->nprobs; k++, add = true)
		add_bins(b, c, &c->probs[k], dreadout, exponent, add);
	if (!add)
		cuda_clear(b->stream, b->lambda, nbyte);
	return exponent;
}
