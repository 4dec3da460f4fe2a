/* SPDX-License-Identifier: Apache-2.0
 * The exact optimisation heisenberg_tail (tail_observables.h): outputs and lambda from the state before the tail U.
 *
 * P is a kernel's reduced transition matrix of psi with itself. */
#include <string.h>
#include "runtime/exec/statevector/cpu/cpu_record.h"

static unsigned dim(const struct cpu_tail *t) { return t->observables.d; }

/* Rooms for P: of every circuit, then one for the chunk in work. */
static double *sums(const struct backend_state *b, const struct cpu_worker *w, const struct cpu_circuit *c)
{
	return w->tail + (size_t)(c - b->circuit) * CPU_TAIL_DOUBLES;
}

void cpu_tail_compile(struct backend_state *b, struct cpu_circuit *c)
{
	const struct cpu_stage *last = c->nstage ? &c->stage[c->nstage - 1] : NULL;

	if (!plan_has_tail(c->plan))
		return;
	c->tail = arena_alloc(&b->arena, 1, sizeof *c->tail);
	c->tail->step = &last->step[last->nstep - 1];
	tail_observables_init(&c->tail->observables, c->plan, &b->arena);
}

void cpu_tail_matrices(struct backend_state *b, struct cpu_circuit *c)
{
	if (c->tail)
		tail_observables_absorb(&c->tail->observables,
			b->u + b->plan->set.offset[c->tail->step->plan->matrix]);
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

static void begin(const struct sweep *w, struct cpu_worker *thread)
{
	memset(adding(w, thread), 0, ndouble(w->circuit->tail) * w->b->plan->width * sizeof(double));
}

static void add(const struct sweep *w, struct cpu_worker *thread, void *block, size_t base)
{
	(void)base;
	w->b->k->transition(block, block, w->stage->nlocal, &w->circuit->tail->step->kernel,
		adding(w, thread), !w->b->lane_bits);
	cpu_record_block(w, thread, false, PLAN_OTHER_READOUTS);
}

static void end(const struct sweep *w, struct cpu_worker *thread, unsigned chunk)
{
	unsigned n = ndouble(w->circuit->tail);
	memcpy(cpu_chunk_sums(w->b, w->owner) + (size_t)chunk * n, adding(w, thread), n * sizeof(double));
}

static void total(const struct sweep *w, struct cpu_worker *owner)
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

const struct block_step cpu_tail_read = {
	.begin = begin,
	.block = add,
	.end = end,
	.total = total,
};

void cpu_tail_readouts(struct backend_state *b, const struct cpu_worker *w, const struct cpu_circuit *c, double *readout)
{
	unsigned d = dim(c->tail), lanes = b->plan->width;
	const double *p = sums(b, w, c);
	for (uint32_t j = 0; j < c->plan->nreadout; j++) {
		const cplx *m = c->tail->observables.uou + (size_t)j * d * d;
		double y[KERNEL_LANES_MAX];
		for (unsigned l = 0; l < lanes; l++)
			y[l] = c->tail->observables.constant[j];
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

void cpu_tail_matrix(const struct backend_state *b, const struct cpu_circuit *c,
	const double *dreadout, void *matrix)
{
	unsigned d = dim(c->tail), lanes = b->plan->width, n = c->plan->nreadout;
	double flat[CPU_TAIL_DOUBLES];
	memset(flat, 0, (size_t)ndouble(c->tail) * lanes * sizeof *flat);
	for (uint32_t j = 0; j < n; j++) {
		const cplx *m = c->tail->observables.uou + (size_t)j * d * d;
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
		tail_observables_add(&c->tail->observables, j, g, before);
	}
	tail_observables_gradient(&c->tail->observables, before,
		b->u + b->plan->set.offset[s->matrix],
		anti_hermitian_shared + b->plan->set.offset[s->matrix]);
}

void cpu_tail_lambda(const struct sweep *w, const void *psi, size_t base, void *lambda)
{
	(void)base;
	const struct kernels *k = w->b->k;
	struct kernel_step at = w->circuit->tail->step->back;
	at.lanewise = w->b->lane_bits == 0;
	memcpy(lambda, psi, ((size_t)2 << w->stage->nlocal) * k->lanes * k->real_bytes);
	k->apply(lambda, w->stage->nlocal, &at, w->lambda_of, NULL);
}
