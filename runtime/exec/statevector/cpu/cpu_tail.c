/* SPDX-License-Identifier: Apache-2.0
 * The exact optimisation heisenberg_tail (plan_heisenberg.c): outputs and lambda from the state before the tail U.
 *
 * P[k,c] = sum conj(psi[k]) psi[c] over what U does not touch is a kernel's reduced transition matrix of psi with itself.  With
 * the matrices O_j of the readouts, y_j = sum_kc (U^+ O_j U)[k,c] P[k,c]; lambda = U^+ D U psi, D = sum_j dreadout_j O_j;
 * and U's own reduced transition matrix (anti_hermitian.h) is sum_kl conj((D U)[r,k]) P[k,l] U[c,l]. */
#include "config.h"
#include <string.h>
#include "runtime/exec/statevector/cpu/cpu_sweep.h"
#include "runtime/program/anti_hermitian.h"

static unsigned dim(const struct cpu_tail *t) { return 1u << t->step->plan->ntarget; }

/* Rooms for P: of every circuit, then one for the chunk in work. */
static double *sums(const struct backend_state *b, const struct cpu_worker *w, const struct cpu_circuit *c)
{
	return w->tail + (size_t)(c - b->circuit) * CPU_TAIL_DOUBLES;
}

/* ---- the readouts' matrices ---- */

static unsigned place(const struct plan_step *s, uint32_t bit)
{
	unsigned k = 0;
	while (s->bit[k] != bit)
		k++;
	return k;
}

/* (P psi)[i] = (-i)^ny (-1)^|i & sign| psi[i ^ flip]; the identity is a constant of its own. */
static void add_term(const struct plan_step *s, const struct pauli_term *t, unsigned d, cplx *o, double *constant)
{
	static const cplx power[4] = { 1, -I, -1, I };
	unsigned flip = 0, sign = 0, ny = 0;
	for (uint32_t f = 0; f < t->nfactor; f++) {
		unsigned bit = 1u << place(s, t->factor[f].wire);
		flip |= t->factor[f].letter != 3 ? bit : 0;
		sign |= t->factor[f].letter != 1 ? bit : 0;
		ny += t->factor[f].letter == 2;
	}
	if (!(flip | sign)) {
		*constant += t->coefficient;
		return;
	}
	for (unsigned i = 0; i < d; i++)
		o[i * d + (i ^ flip)] += t->coefficient * (__builtin_parity(i & sign) ? -power[ny % 4] : power[ny % 4]);
}

/* One readout for every value of the output's bits. */
static void add_probs(const struct plan_step *s, const struct output *out, unsigned d, cplx *o)
{
	for (unsigned i = 0; i < d; i++) {
		unsigned bin = 0;
		for (uint32_t k = 0; k < out->nwire; k++)
			bin |= ((i >> place(s, out->wire[k])) & 1) << k;
		o[(size_t)bin * d * d + i * d + i] = 1;
	}
}

void cpu_tail_compile(struct backend_state *b, struct cpu_circuit *c)
{
	const struct plan_circuit *pc = c->plan;
	struct cpu_stage *last = c->nstage ? &c->stage[c->nstage - 1] : NULL;
	if (!plan_has_tail(pc))
		return;
	c->tail = arena_alloc(&b->arena, 1, sizeof *c->tail);
	c->tail->step = &last->step[last->nstep - 1];
	unsigned d = dim(c->tail);
	size_t n = (size_t)pc->nreadout * d * d;
	c->tail->o = arena_alloc(&b->arena, n, sizeof(cplx));
	c->tail->ou = arena_alloc(&b->arena, n, sizeof(cplx));
	c->tail->uou = arena_alloc(&b->arena, n, sizeof(cplx));
	c->tail->constant = arena_alloc(&b->arena, pc->nreadout, sizeof(double));
	for (uint32_t k = 0, readout = 0; k < pc->noutput; k++) {
		const struct output *out = &pc->output[k];
		cplx *o = c->tail->o + (size_t)readout * d * d;
		if (out->kind == OUTPUT_PROBS) {
			add_probs(c->tail->step->plan, out, d, o);
			readout += UINT32_C(1) << out->nwire;
			continue;
		}
		for (uint32_t t = 0; t < out->nterm; t++)
			add_term(c->tail->step->plan, &out->term[t], d, o, &c->tail->constant[readout]);
		readout++;
	}
}

void cpu_tail_matrices(struct backend_state *b, struct cpu_circuit *c)
{
	if (!c->tail)
		return;
	unsigned d = dim(c->tail);
	const cplx *u = b->u + b->plan->set.offset[c->tail->step->plan->matrix];
	for (uint32_t j = 0; j < c->plan->nreadout; j++) {
		const cplx *o = c->tail->o + (size_t)j * d * d;
		cplx *ou = c->tail->ou + (size_t)j * d * d, *uou = c->tail->uou + (size_t)j * d * d;
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

/* ---- forward ---- */

bool cpu_tail_taken(const struct cpu_circuit *c, const struct unit_input *in) { return c->tail && in && !in->whole; }

/* P in doubles, without lanes. */
static unsigned ndouble(const struct cpu_tail *t) { return 2 * dim(t) * dim(t); }

/* Where blocks are added: the circuit's, or the chunk's. */
static double *adding(const struct sweep *w, const struct cpu_worker *thread)
{
	return w->b->lane_bits ? thread->tail + (size_t)w->b->plan->ncircuit * CPU_TAIL_DOUBLES : sums(w->b, thread, w->circuit);
}

void cpu_tail_begin(const struct sweep *w, struct cpu_worker *thread)
{
	memset(adding(w, thread), 0, ndouble(w->circuit->tail) * w->b->plan->width * sizeof(double));
}

void cpu_tail_add(const struct sweep *w, struct cpu_worker *thread, const void *block)
{
	w->b->k->transition(block, block, w->stage->nlocal, &w->circuit->tail->step->kernel,
		adding(w, thread), !w->b->lane_bits);
}

void cpu_tail_chunk(const struct sweep *w, const struct cpu_worker *thread, unsigned chunk)
{
	unsigned n = ndouble(w->circuit->tail);
	memcpy(cpu_chunk_sums(w->b, w->owner) + (size_t)chunk * n, adding(w, thread), n * sizeof(double));
}

void cpu_tail_total(const struct sweep *w, struct cpu_worker *owner)
{
	unsigned n = ndouble(w->circuit->tail);
	double *p = sums(w->b, owner, w->circuit);
	double *part = cpu_chunk_sums(w->b, owner);
	cpu_gather(w->b, part, n, w->stage->forward.span);
	memset(p, 0, n * sizeof *p);
	for (unsigned chunk = 0; chunk < w->stage->forward.nchunk; chunk++)
		for (unsigned e = 0; e < n; e++)
			p[e] += part[(size_t)chunk * n + e];
}

void cpu_tail_readouts(struct backend_state *b, const struct cpu_worker *w, const struct cpu_circuit *c, double *readout)
{
	unsigned d = dim(c->tail), lanes = b->plan->width;
	const double *p = sums(b, w, c);
	for (uint32_t j = 0; j < c->plan->nreadout; j++) {
		const cplx *m = c->tail->uou + (size_t)j * d * d;
		double y[KERNEL_LANES_MAX];
		for (unsigned l = 0; l < lanes; l++)
			y[l] = c->tail->constant[j];
		for (unsigned e = 0; e < d * d; e++) {
			double re = creal(m[e]), im = cimag(m[e]);
			for (unsigned l = 0; l < lanes; l++)
				y[l] += re * p[2 * e * lanes + l] - im * p[(2 * e + 1) * lanes + l];
		}
		for (unsigned l = 0; l < lanes; l++)
			readout[l * c->plan->nreadout + j] = y[l];
	}
}

/* ---- back ---- */

/* R += sum_k conj((O_j U)[r,k]) G[k,c], G being the samples' P weighted by their readout gradients. */
static void add_before(const cplx *ou, const cplx *g, unsigned d, cplx *r)
{
	for (unsigned i = 0; i < d; i++)
		for (unsigned k = 0; k < d; k++)
			for (unsigned j = 0; j < d; j++)
				r[i * d + j] += cplx_mul(conj(ou[i * d + k]), g[k * d + j]);
}

/* Of Y = R U^T. */
static void add_behind(const cplx *r, const cplx *u, unsigned d, double *anti_hermitian)
{
	cplx y[MATRIX_ENTRIES_MAX] = { 0 };
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++)
			for (unsigned k = 0; k < d; k++)
				y[i * d + j] += cplx_mul(r[i * d + k], u[j * d + k]);
	anti_hermitian_add(d, y, anti_hermitian);
}

void cpu_tail_matrix(const struct backend_state *b, const struct cpu_circuit *c,
	const double *dreadout, void *matrix)
{
	unsigned d = dim(c->tail), lanes = b->plan->width, n = c->plan->nreadout;
	double flat[CPU_TAIL_DOUBLES];
	memset(flat, 0, (size_t)ndouble(c->tail) * lanes * sizeof *flat);
	for (uint32_t j = 0; j < n; j++) {
		const cplx *m = c->tail->uou + (size_t)j * d * d;
		for (unsigned e = 0; e < d * d; e++) {
			double re = creal(m[e]), im = cimag(m[e]);
			for (unsigned l = 0; l < lanes; l++) {
				flat[2 * e * lanes + l] += dreadout[(size_t)l * n + j] * re;
				flat[(2 * e + 1) * lanes + l] += dreadout[(size_t)l * n + j] * im;
			}
		}
	}
	b->k->store(matrix, flat, (size_t)ndouble(c->tail) * lanes);
}

void cpu_tail_sums(const struct backend_state *b, const struct cpu_worker *w,
	const struct cpu_circuit *c, const double *dreadout, double *anti_hermitian_shared)
{
	const struct plan_step *s = c->tail->step->plan;
	unsigned d = dim(c->tail), lanes = b->plan->width, n = c->plan->nreadout;
	const double *p = sums(b, w, c);
	cplx before[MATRIX_ENTRIES_MAX] = { 0 };
	if (!s->transition)
		return;
	for (uint32_t j = 0; j < n; j++) {
		cplx g[MATRIX_ENTRIES_MAX];
		for (unsigned e = 0; e < d * d; e++) {
			double gr = 0, gi = 0;
			for (unsigned l = 0; l < lanes; l++) {
				gr += dreadout[(size_t)l * n + j] * p[2 * e * lanes + l];
				gi += dreadout[(size_t)l * n + j] * p[(2 * e + 1) * lanes + l];
			}
			g[e] = cplx_of(gr, gi);
		}
		add_before(c->tail->ou + (size_t)j * d * d, g, d, before);
	}
	add_behind(before, b->u + b->plan->set.offset[s->matrix], d, anti_hermitian_shared + b->plan->set.offset[s->matrix]);
}

void cpu_tail_lambda(const struct sweep *w, const void *psi, void *lambda)
{
	const struct kernels *k = w->b->k;
	struct kernel_step at = w->circuit->tail->step->back;
	at.lanewise = w->b->lane_bits == 0;
	memcpy(lambda, psi, ((size_t)2 << w->stage->nlocal) * k->lanes * k->real_bytes);
	k->apply(lambda, w->stage->nlocal, &at, w->tail_matrix, NULL);
}
