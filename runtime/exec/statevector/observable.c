/* SPDX-License-Identifier: Apache-2.0
 * A Pauli product flips bits and signs; a probability is a sum over a bin. */
#include "runtime/exec/statevector/observable.h"

#include <string.h>

/* (P psi)[i] */
static cplx pauli_times(const struct pauli_mask *m, const cplx *psi, uint64_t i)
{
	static const cplx power[4] = { 1, -I, -1, I }; /* (-i)^ny */
	cplx x = cplx_mul(power[m->ny & 3], psi[i ^ m->flip]);

	return __builtin_parityll(i & m->sign) ? -x : x;
}

static double expectation(const struct pauli_term *t, unsigned nbit, const cplx *psi)
{
	struct pauli_mask m = pauli_mask(t);
	double sum = 0;

	for (uint64_t i = 0; i < UINT64_C(1) << nbit; i++) {
		cplx x = pauli_times(&m, psi, i);

		sum += creal(psi[i]) * creal(x) + cimag(psi[i]) * cimag(x);
	}
	return t->coefficient * sum;
}

static void probabilities(const struct output *o, unsigned nbit, const cplx *psi, double *p)
{
	for (uint64_t i = 0; i < UINT64_C(1) << nbit; i++)
		p[output_bin(o, i)] += creal(psi[i]) * creal(psi[i]) + cimag(psi[i]) * cimag(psi[i]);
}

void observable_readouts(const struct plan_circuit *c, const cplx *psi, double *readout)
{
	memset(readout, 0, c->nreadout * sizeof *readout);
	for (uint32_t k = 0; k < c->noutput; k++) {
		const struct output *o = &c->output[k];

		if (o->kind == OUTPUT_PROBS)
			probabilities(o, c->nbit, psi, readout);
		for (uint32_t t = 0; t < o->nterm; t++)
			*readout += expectation(&o->term[t], c->nbit, psi);
		readout += output_nreadout(o);
	}
}

static void add_term(const struct pauli_term *t, unsigned nbit, const cplx *psi, double dreadout,
	cplx *lambda)
{
	struct pauli_mask m = pauli_mask(t);

	for (uint64_t i = 0; i < UINT64_C(1) << nbit; i++)
		lambda[i] += dreadout * t->coefficient * pauli_times(&m, psi, i);
}

void observable_lambda(const struct plan_circuit *c, const cplx *psi, const double *dreadout,
	cplx *lambda)
{
	memset(lambda, 0, sizeof *lambda << c->nbit);
	for (uint32_t k = 0; k < c->noutput; k++) {
		const struct output *o = &c->output[k];

		for (uint64_t i = 0; o->kind == OUTPUT_PROBS && i < UINT64_C(1) << c->nbit; i++)
			lambda[i] += dreadout[output_bin(o, i)] * psi[i];
		for (uint32_t t = 0; t < o->nterm; t++)
			add_term(&o->term[t], c->nbit, psi, *dreadout, lambda);
		dreadout += output_nreadout(o);
	}
}
