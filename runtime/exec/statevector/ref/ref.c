/* SPDX-License-Identifier: Apache-2.0
 * States as arrays of complex128 and loops over all of their amplitudes. */
#include "runtime/exec/statevector/ref/ref.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/exec/statevector/observable.h"
#include "runtime/program/anti_hermitian.h"

const struct target target_ref = {
	.device = "ref", .kernels = "ref", .version = 1, .usual_gflop_s = 4, .backend = &backend_ref
};

struct backend_state {
	const struct plan *pl;
	cplx *u;                     /* (nmatrix_entry) constant and shared matrices */
	cplx *psi, *lambda;          /* of the widest circuit; lambda NULL without gradients */
	int64_t holds;               /* circuit whose final state psi is, or -1 */
	struct mem_list memory;
};

/* Index with the bits of `row` placed on the step's targets. */
static uint64_t spread(const struct plan_step *s, uint64_t row)
{
	return bits_spread(row, s->bit, s->ntarget);
}

/* Where a group of amplitudes starts that the step mixes: targets 0, controls met. */
static bool starts_group(const struct plan_step *s, uint64_t targets, uint64_t i)
{
	return !(i & targets) && (i & s->control_mask) == s->control_value;
}

/* psi <- V psi for one unitary step on 2^nbit amplitudes; V = u, its conjugate transpose
 * where `inverse` and s->adjoint differ. */
static void apply(const struct plan_step *s, unsigned nbit, const cplx *u, bool inverse, cplx *psi)
{
	unsigned d = 1u << s->ntarget;
	uint64_t targets = spread(s, d - 1), place[MATRIX_DIM_MAX];
	cplx v[MATRIX_ENTRIES_MAX], x[MATRIX_DIM_MAX];

	if (s->adjoint != inverse)
		matrix_adjoint(d, u, v);
	else
		memcpy(v, u, d * d * sizeof *v);
	for (unsigned r = 0; r < d; r++)
		place[r] = spread(s, r);
	for (uint64_t i = 0; i < UINT64_C(1) << nbit; i++) {
		if (!starts_group(s, targets, i))
			continue;
		for (unsigned r = 0; r < d; r++)
			x[r] = psi[i | place[r]];
		for (unsigned r = 0; r < d; r++) {
			cplx sum = 0;

			for (unsigned c = 0; c < d; c++)
				sum += cplx_mul(v[r * d + c], x[c]);
			psi[i | place[r]] = sum;
		}
	}
}

void ref_load(const struct plan_step *s, unsigned nbit, const cplx *v, uint32_t length, cplx *psi)
{
	uint64_t targets = spread(s, (UINT64_C(1) << s->ntarget) - 1);

	for (uint64_t i = 0; i < UINT64_C(1) << nbit; i++) {
		cplx x = psi[i];

		if (i & targets)
			continue;
		for (uint64_t j = 0; j < UINT64_C(1) << s->ntarget; j++)
			psi[i | spread(s, j)] = j < length ? cplx_mul(x, v[j]) : 0;
	}
}

/* What gradients need of the step's reduced transition matrix (anti_hermitian.h), `sign` times. */
static void add_anti_hermitian(const struct plan_step *s, unsigned nbit, const cplx *psi, const cplx *lambda, double sign, double *anti_hermitian)
{
	unsigned d = 1u << s->ntarget;
	uint64_t targets = spread(s, d - 1);
	cplx y[MATRIX_ENTRIES_MAX] = { 0 };

	for (uint64_t i = 0; i < UINT64_C(1) << nbit; i++) {
		if (!starts_group(s, targets, i))
			continue;
		for (unsigned row = 0; row < d; row++)
			for (unsigned col = 0; col < d; col++)
				y[row * d + col] += sign * cplx_mul(conj(lambda[i | spread(s, row)]), psi[i | spread(s, col)]);
	}
	anti_hermitian_add(d, y, anti_hermitian);
}

static const cplx *matrix_of(const struct backend_state *b, const struct unit_input *in, uint32_t s, uint32_t m)
{
	bool own = b->pl->set.def[m]->cls == VALUE_SAMPLE;

	return (own ? in->u[s] : b->u) + b->pl->set.offset[m];
}

static void evolve(struct backend_state *b, uint32_t c, const struct unit_input *in, uint32_t sample)
{
	const struct plan_circuit *pc = &b->pl->circuit[c];

	memset(b->psi, 0, sizeof *b->psi << pc->nbit);
	b->psi[0] = 1;
	for (uint32_t k = 0; k < pc->nstep; k++) {
		const struct plan_step *s = &pc->step[k];

		if (s->op == STEP_UNITARY)
			apply(s, pc->nbit, matrix_of(b, in, sample, s->matrix), false, b->psi);
		else
			ref_load(s, pc->nbit, in->vector[c][(size_t)s->matrix * in->nsample + sample],
				in->length[c][s->matrix], b->psi);
	}
	b->holds = c;
}

static int ref_supports(const struct plan *pl, struct err *e)
{
	if (pl->target != &target_ref || pl->width != 1)
		return err_set(e, -ERR_CONFIG,
			"the reference backend executes only plans made for it");
	return 0;
}

static uint64_t ref_bytes(const struct plan *pl, unsigned nthread, bool gradient, unsigned nrank)
{
	(void)nrank;
	uint64_t state = sizeof(cplx) << program_nwire(pl->program);

	(void)nthread;
	return state * (gradient ? 2 : 1) + pl->nmatrix_entry * sizeof(cplx);
}

static void ref_free(struct backend_state *b)
{
	if (!b)
		return;
	mem_list_free(&b->memory);
	free(b);
}

static int ref_prepare(const struct plan *pl, unsigned nthread, uint64_t devices, bool gradient,
	struct split_rank *split, struct backend_state **out, struct err *e)
{
	(void)split;
	struct backend_state *b = mem_alloc(1, sizeof *b);
	size_t n = (size_t)1 << program_nwire(pl->program);

	(void)nthread, (void)devices;
	b->pl = pl;
	b->holds = -1;
	b->u = mem_list_try(&b->memory, pl->nmatrix_entry, sizeof *b->u);
	b->psi = mem_list_try(&b->memory, n, sizeof *b->psi);
	b->lambda = gradient ? mem_list_try(&b->memory, n, sizeof *b->lambda) : NULL;
	if (b->memory.failed) {
		ref_free(b);
		return err_set(e, -ERR_CONFIG, "no memory for states of %u qubits", program_nwire(pl->program));
	}
	*out = b;
	return 0;
}

static void ref_matrices(struct backend_state *b, const cplx *u)
{
	memcpy(b->u, u, b->pl->nmatrix_entry * sizeof *u);
	b->holds = -1;
}

static void ref_run(struct backend_state *b, const struct unit_job *job)
{
	(void)b;
	job->claim(job->ctx, 0);
	job->work(job->ctx, 0);
}

static void ref_forward(struct backend_state *b, unsigned worker, uint32_t c, const struct unit_input *in,
	bool keep, double *readout)
{
	(void)worker;
	(void)keep;
	evolve(b, c, in, 0);
	observable_readouts(&b->pl->circuit[c], b->psi, readout);
}

static void ref_backward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, const double *dreadout, double *anti_hermitian_shared,
	double *const *anti_hermitian_sample)
{
	const struct plan_circuit *pc = &b->pl->circuit[c];

	(void)worker;
	if (b->holds != c)           /* another circuit took the place: once more */
		evolve(b, c, in, 0);
	observable_lambda(pc, b->psi, dreadout, b->lambda);
	for (uint32_t k = pc->nstep; k-- > pc->first_transition;) {
		const struct plan_step *s = &pc->step[k];
		bool own = b->pl->set.def[s->matrix]->cls == VALUE_SAMPLE;
		const cplx *u = matrix_of(b, in, 0, s->matrix);

		double *anti_hermitian = (own ? anti_hermitian_sample[0] : anti_hermitian_shared) + b->pl->set.offset[s->matrix];

		if (s->transition && !s->adjoint)
			add_anti_hermitian(s, pc->nbit, b->psi, b->lambda, 1, anti_hermitian);
		apply(s, pc->nbit, u, true, b->psi);
		apply(s, pc->nbit, u, true, b->lambda);
		if (s->transition && s->adjoint) /* before U^+ is behind U, and d(U^+) = -U^+ dU U^+ */
			add_anti_hermitian(s, pc->nbit, b->psi, b->lambda, -1, anti_hermitian);
	}
	b->holds = -1;
}

static void ref_amplitudes(struct backend_state *b, unsigned worker, uint32_t c, uint32_t s,
	uint64_t first, uint64_t n, cplx *out)
{
	const struct plan_circuit *pc = &b->pl->circuit[c];

	(void)worker;
	(void)s;
	for (uint64_t i = 0; i < n; i++)
		out[i] = b->psi[bits_spread(first + i, pc->bit_of_wire, pc->nbit)];
}

const struct backend backend_ref = {
	.target = &target_ref,
	.ntarget = 1,
	.supports = ref_supports,
	.bytes = ref_bytes,
	.prepare = ref_prepare,
	.matrices = ref_matrices,
	.run = ref_run,
	.forward = ref_forward,
	.backward = ref_backward,
	.amplitudes = ref_amplitudes,
	.free = ref_free,
};
