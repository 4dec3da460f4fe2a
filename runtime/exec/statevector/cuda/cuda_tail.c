/* SPDX-License-Identifier: Apache-2.0
 * The exact optimisation heisenberg_tail (tail_observables.h): outputs and lambda from the states before the tail.
 *
 * The kernel of the backward pass sums P where lambda is -i psi. Lambda is made in the first launch of the backward pass, which reads
 * psi alone: it is psi times a matrix of each sample. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <math.h>
#include <string.h>

void cuda_compile_tail(struct cuda_state *b, struct cuda_circuit *c, uint64_t stored)
{
	const struct plan_circuit *pc = c->plan;
	struct cuda_tail *t;
	uint32_t k = pc->nstage - 1;
	size_t n;

	if (!plan_has_tail(pc))
		return;
	t = c->tail = arena_alloc(&b->arena, 1, sizeof *t);
	tail_observables_init(&t->observables, pc, &b->arena);
	t->sum = cuda_layout_stage(b->plan, pc, k, CUDA_TAIL_SUMS, 0, b->process, &b->arena);
	t->last[false] =
		cuda_layout_stage(b->plan, pc, k, CUDA_TAIL_FORWARD, stored, b->process, &b->arena);
	if (b->gradient && pc->first_transition + 1 < pc->nstep)
		t->last[true] = cuda_layout_stage(b->plan, pc, k, CUDA_TAIL_BACKWARD, 0, b->process,
			&b->arena);
	n = cuda_tail_entries(c) << cuda_sample_bits(b->plan, pc->nbit);
	t->p = arena_alloc(&b->arena, n, sizeof *t->p);
	t->lambda = arena_alloc(&b->arena, n, sizeof *t->lambda);
}

/* ---- forward ---- */

/* P of a sample, of sums where lambda was -i psi. */
static void read_sums(const struct cuda_state *b, const struct cuda_circuit *c, uint32_t sample)
{
	unsigned d = c->tail->observables.d;
	cplx *p = c->tail->p + sample * cuda_tail_entries(c);
	double s[MATRIX_ENTRIES_MAX];

	cuda_step_sums(b, c->tail->sum->placed, c->readout_sum + 1 + sample * cuda_tail_entries(c),
		1, s);
	for (unsigned r = 0; r < d; r++) {
		p[r * d + r] = s[r * d + r];
		for (unsigned k = r + 1; k < d; k++) {
			p[r * d + k] = cplx_of(s[k * d + r] / 2, -s[r * d + k] / 2);
			p[k * d + r] = conj(p[r * d + k]);
		}
	}
}

/* Bad parts are left out of the sums, and counted for all samples together. */
static bool lacks_parts(const struct cuda_circuit *c, uint32_t sample)
{
	unsigned d = c->tail->observables.d;
	double norm = 0;

	for (unsigned r = 0; r < d; r++)
		norm += creal(c->tail->p[sample * cuda_tail_entries(c) + r * d + r]);
	return !(norm > 0.5);
}

/* P of no sample that has bad parts is a number; of none at all where it is not known which these are. */
static void mark_bad(const struct cuda_circuit *c, uint32_t count)
{
	bool known = false;

	for (uint32_t s = 0; s < count; s++)
		known = known || lacks_parts(c, s);
	for (uint32_t s = 0; s < count; s++)
		if (!known || lacks_parts(c, s))
			for (size_t e = 0; e < cuda_tail_entries(c); e++)
				c->tail->p[s * cuda_tail_entries(c) + e] = cplx_of(NAN, NAN);
}

static double readout_of(const struct cuda_circuit *c, uint32_t j, const cplx *p)
{
	const cplx *m = c->tail->observables.uou + j * cuda_tail_entries(c);
	double y = c->tail->observables.constant[j];

	for (size_t e = 0; e < cuda_tail_entries(c); e++)
		y += creal(m[e]) * creal(p[e]) - cimag(m[e]) * cimag(p[e]);
	return y;
}

void cuda_tail_read(const struct cuda_state *b, const struct cuda_circuit *c, uint32_t count,
	bool good, double *readout)
{
	for (uint32_t s = 0; s < count; s++)
		read_sums(b, c, s);
	if (!good || b->host.sum[c->readout_sum])
		mark_bad(c, count);
	for (uint32_t s = 0; s < count; s++)
		for (uint32_t j = 0; j < c->plan->nreadout; j++)
			readout[(size_t)s * c->plan->nreadout + j] =
				readout_of(c, j, c->tail->p + s * cuda_tail_entries(c));
}

/* ---- back ---- */

size_t cuda_tail_factors(const struct cuda_state *b, const struct cuda_circuit *c)
{
	const struct cuda_launch *l = c->tail->last[true];

	while (l && !l->makes_lambda)
		l = l->next;
	return l ? (size_t)l->args.nsample_entry * (b->twice ? 2 : 1) : 0;
}

/* Samples behind `count` have none. */
void cuda_tail_put(struct cuda_state *b, struct cuda_circuit *c, uint32_t count, const double *dreadout)
{
	cplx *to = c->tail->lambda;
	const cplx *m = c->tail->observables.uou;
	size_t n = cuda_tail_entries(c);

	memset(to, 0, c->nsample * n * sizeof *to);
	for (uint32_t s = 0; s < count && dreadout; s++)
		for (uint32_t j = 0; j < c->plan->nreadout; j++)
			for (size_t e = 0; e < n; e++)
				to[s * n + e] += ldexp(dreadout[(size_t)s * c->plan->nreadout + j],
							 -c->exponent)
					* m[j * n + e];
	cuda_put_matrices(b, c, true, NULL);
}

void cuda_tail_add(const struct cuda_circuit *c, uint32_t count, const double *dreadout, cplx *g)
{
	size_t n = cuda_tail_entries(c);

	for (uint32_t s = 0; s < count; s++)
		for (uint32_t j = 0; j < c->plan->nreadout; j++)
			for (size_t e = 0; e < n; e++)
				g[j * n + e] += dreadout[(size_t)s * c->plan->nreadout + j]
					* c->tail->p[s * n + e];
}

void cuda_tail_gradient(const struct cuda_state *b, const struct cuda_circuit *c, const cplx *g,
	double *anti_hermitian_shared)
{
	const struct tail_observables *t = &c->tail->observables;
	uint32_t at = b->plan->set.offset[t->step->matrix];
	cplx sum[MATRIX_ENTRIES_MAX] = { 0 };

	for (uint32_t j = 0; j < t->nreadout; j++)
		tail_observables_add(t, j, g + j * cuda_tail_entries(c), sum);
	tail_observables_gradient(t, sum, b->u + at, anti_hermitian_shared + at);
}
