/* SPDX-License-Identifier: Apache-2.0
 * Readouts behind a heisenberg_tail as matrices: made once, absorbed for each set of weights. */
#include "runtime/exec/statevector/tail_observables.h"

#include <string.h>

#include "runtime/program/anti_hermitian.h"

/* ---- the readouts' matrices ---- */

/* Bits of the index, all of them targets, as bits of the matrix's. */
static unsigned at_targets(const struct plan_step *s, uint64_t bits)
{
	return (unsigned)bits_gather(bits, s->bit, s->ntarget);
}

/* (P psi)[i] = (-i)^ny (-1)^|i & sign| psi[i ^ flip]; the identity is a constant of its own. */
static void add_term(const struct plan_step *s, const struct pauli_term *t, unsigned d, cplx *o,
	double *constant)
{
	static const cplx power[4] = { 1, -I, -1, I };
	struct pauli_mask m = pauli_mask(t);
	unsigned flip = at_targets(s, m.flip), sign = at_targets(s, m.sign);

	if (!t->nfactor) {
		*constant += t->coefficient;
		return;
	}
	for (unsigned i = 0; i < d; i++)
		o[i * d + (i ^ flip)] += t->coefficient
			* (__builtin_parity(i & sign) ? -power[m.ny % 4] : power[m.ny % 4]);
}

/* One readout for every value of the output's bits. */
static void add_probs(const struct plan_step *s, const struct output *out, unsigned d, cplx *o)
{
	for (unsigned i = 0; i < d; i++)
		o[(size_t)output_bin(out, bits_spread(i, s->bit, s->ntarget)) * d * d + i * d + i] =
			1;
}

void tail_observables_init(struct tail_observables *t, const struct plan_circuit *c,
	struct arena *arena)
{
	const struct plan_step *s = &c->step[c->nstep - 1];
	unsigned d = 1u << s->ntarget;
	size_t n = (size_t)c->nreadout * d * d;

	*t = (struct tail_observables){ .step = s,
		.d = d,
		.nreadout = c->nreadout,
		.o = arena_alloc(arena, n, sizeof(cplx)),
		.ou = arena_alloc(arena, n, sizeof(cplx)),
		.uou = arena_alloc(arena, n, sizeof(cplx)),
		.constant = arena_alloc(arena, c->nreadout, sizeof(double)) };
	for (uint32_t k = 0, readout = 0; k < c->noutput; k++) {
		const struct output *out = &c->output[k];
		cplx *o = t->o + (size_t)readout * d * d;

		if (out->kind == OUTPUT_PROBS)
			add_probs(s, out, d, o);
		for (uint32_t term = 0; term < out->nterm; term++)
			add_term(s, &out->term[term], d, o, &t->constant[readout]);
		readout += output_nreadout(out);
	}
}

void tail_observables_absorb(struct tail_observables *t, const cplx *u)
{
	unsigned d = t->d;

	for (uint32_t j = 0; j < t->nreadout; j++) {
		const cplx *o = t->o + (size_t)j * d * d;
		cplx *ou = t->ou + (size_t)j * d * d, *uou = t->uou + (size_t)j * d * d;

		memset(ou, 0, (size_t)d * d * sizeof *ou);
		memset(uou, 0, (size_t)d * d * sizeof *uou);
		for (unsigned r = 0; r < d; r++)
			for (unsigned k = 0; k < d; k++)
				for (unsigned i = 0; i < d && o[r * d + k] != 0; i++)
					ou[r * d + i] += cplx_mul(o[r * d + k], u[k * d + i]);
		for (unsigned r = 0; r < d; r++)
			for (unsigned k = 0; k < d; k++)
				for (unsigned i = 0; i < d; i++)
					uou[r * d + i] += cplx_mul(conj(u[k * d + r]), ou[k * d + i]);
	}
}

/* ---- the gradient of the tail's own matrix ---- */

void tail_observables_add(const struct tail_observables *t, uint32_t j, const cplx *g, cplx *sum)
{
	unsigned d = t->d;
	const cplx *ou = t->ou + (size_t)j * d * d;

	for (unsigned r = 0; r < d; r++)
		for (unsigned k = 0; k < d; k++)
			for (unsigned c = 0; c < d; c++)
				sum[r * d + c] += cplx_mul(conj(ou[r * d + k]), g[k * d + c]);
}

void tail_observables_gradient(const struct tail_observables *t, const cplx *sum, const cplx *u,
	double *anti_hermitian)
{
	cplx y[MATRIX_ENTRIES_MAX] = { 0 };
	unsigned d = t->d;

	for (unsigned r = 0; r < d; r++)
		for (unsigned c = 0; c < d; c++)
			for (unsigned k = 0; k < d; k++)
				y[r * d + c] += cplx_mul(sum[r * d + k], u[c * d + k]);
	anti_hermitian_add(d, y, anti_hermitian);
}
