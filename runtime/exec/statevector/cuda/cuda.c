/* SPDX-License-Identifier: Apache-2.0
 * The backend's table: memory, circuits stage by stage, sums of the backward pass. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/program/anti_hermitian.h"

/* ---- sums ---- */

void cuda_clear_sums(struct backend_state *b, size_t nsum)
{
	cuda_clear(b->stream, b->sum, (1 + nsum) * sizeof *b->sum_host);
}

bool cuda_fetch_sums(struct backend_state *b, size_t nsum)
{
	const char *why;

	cuda_download(b->stream, b->sum_host, b->sum, (1 + nsum) * sizeof *b->sum_host);
	cuda_wait(b->stream);
	return !cuda_stream_failure(b->stream, &why) && !b->sum_host[0];
}

/* ---- before there is a device ---- */

/* Bits of the index of a state that any device can hold. */
enum { BITS_MAX = 36 };

static int cuda_supports(const struct plan *pl, struct err *e)
{
	if (pl->target != &target_cuda || pl->shape == SHAPE_SAMPLES)
		return err_set(e, -ERR_CONFIG,
			"the cuda backend takes plans made for it alone, of one state");
	if (program_nwire(pl->program) > BITS_MAX)
		return err_set(e, -ERR_CONFIG, "a circuit of %u qubits: the cuda backend takes %d",
			program_nwire(pl->program), BITS_MAX);
	return 0;
}

static size_t amplitude_bytes(const struct plan *pl)
{
	return pl->precision == PRECISION_DOUBLE ? 16 : 8;
}

static unsigned widest(const struct plan *pl)
{
	return cuda_state_bits(pl, program_nwire(pl->program));
}

static uint64_t vector_entries(const struct plan_circuit *c)
{
	uint64_t n = 0;

	for (uint32_t v = 0; v < c->nprepare; v++)
		n += c->prepare[v]->op == APPLY_STATE ? UINT64_C(1) << c->prepare[v]->nwire
						      : c->prepare[v]->nexpr;
	return n;
}

/* Sums of the backward pass at most; launches have rarely as many steps as they can. */
static uint64_t most_sums(const struct plan *pl)
{
	uint64_t n = 0;

	for (uint32_t c = 0; c < pl->ncircuit; c++)
		for (uint32_t k = 0; k < pl->circuit[c].nstep; k++)
			n += pl->circuit[c].step[k].transition ? MATRIX_ENTRIES_MAX : 0;
	return n;
}

static uint64_t cuda_bytes(const struct plan *pl, unsigned nthread, bool gradient)
{
	uint64_t state = (uint64_t)amplitude_bytes(pl) << widest(pl), vectors = 0;

	(void)nthread;
	for (uint32_t c = 0; c < pl->ncircuit; c++)
		if (vector_entries(&pl->circuit[c]) > vectors)
			vectors = vector_entries(&pl->circuit[c]);
	return state * (gradient ? 2 : 1) + sizeof(cplx) * vectors
		+ 2 * sizeof(double) * pl->program->nreadout
		+ (gradient ? sizeof(long long) * most_sums(pl) : 0);
}

/* ---- life ---- */

static void set_pointers(const struct backend_state *b, struct cuda_launch *l, size_t *nsum)
{
	for (; l; l = l->next) {
		l->args.psi = b->psi;
		l->args.lambda = b->lambda;
		l->args.bad = cuda_bad(b);
		l->args.sum = cuda_sums(b) + *nsum;
		*nsum += l->args.nsum;
	}
}

/* Once all memory is there; nsum: as many as there are. */
static void set_circuit_pointers(struct backend_state *b, struct cuda_circuit *c)
{
	size_t none = 0, nsum = 0;

	for (uint32_t k = 0; k < c->plan->nstage; k++)
		set_pointers(b, c->forward[k], &none);
	for (uint32_t k = c->plan->nstage; b->gradient && k-- > 0;)
		set_pointers(b, c->back[k], &nsum);
}

static size_t count_sums(const struct cuda_launch *l)
{
	size_t n = 0;

	for (; l; l = l->next)
		n += l->args.nsum;
	return n;
}

/* The first launch that does more than is needed: nothing reads the states that the last launch of the backward pass leaves. */
static void leave_last(struct cuda_circuit *c)
{
	struct cuda_launch *last = NULL;

	for (uint32_t k = c->plan->nstage; k-- > 0;)
		for (struct cuda_launch *l = c->back[k]; l; l = l->next)
			last = l;
	if (last)
		last->args.save = 0;
}

static void compile(struct backend_state *b, const struct plan_circuit *pc, uint32_t *nstep,
	struct cuda_circuit *c)
{
	c->plan = pc;
	c->nbit = cuda_state_bits(b->plan, pc->nbit);
	c->forward = arena_alloc(&b->arena, pc->nstage, sizeof(struct cuda_launch *));
	c->back = arena_alloc(&b->arena, pc->nstage, sizeof(struct cuda_launch *));
	c->noise = arena_alloc(&b->arena, pc->nstep, sizeof *c->noise);
	for (uint32_t k = 0; k < pc->nstep; k++)
		c->noise[k] = (*nstep)++;
	for (uint32_t k = 0; k < pc->nstage; k++) {
		const struct plan_stage *s = &pc->stage[k];

		c->forward[k] = cuda_layout_stage(b->plan, pc, k, false, &b->arena);
		if (b->gradient && s->first + s->count > pc->first_transition)
			c->back[k] = cuda_layout_stage(b->plan, pc, k, true, &b->arena);
		c->nsum_back += count_sums(c->back[k]);
	}
	leave_last(c);
	cuda_compile_readouts(b, c);
}

static void cuda_state_free(struct backend_state *b)
{
	if (!b)
		return;
	if (b->stream) {
		cuda_free(b->stream, b->psi);
		cuda_free(b->stream, b->lambda);
		cuda_free(b->stream, b->sum);
		cuda_free(b->stream, b->factor);
		cuda_free(b->stream, b->vector);
	}
	cuda_stream_free(b->stream);
	free(b->sum_host);
	free(b->factor_host);
	free(b->vector_host);
	free(b->u);
	arena_release(&b->arena);
	free(b);
}

/* Memory for the largest of the circuits. */
static void take_memory(struct backend_state *b)
{
	const struct plan *pl = b->plan;
	size_t state = amplitude_bytes(pl) << widest(pl), nsum = 1, nbin = 0, nvector = 0;

	for (uint32_t k = 0; k < pl->ncircuit; k++) {
		const struct cuda_circuit *c = &b->circuit[k];

		nsum = c->nsum_readout > nsum ? c->nsum_readout : nsum;
		nsum = c->nsum_back > nsum ? c->nsum_back : nsum;
		nbin = c->nsum_readout > nbin ? c->nsum_readout : nbin;
		nvector = vector_entries(c->plan) > nvector ? vector_entries(c->plan) : nvector;
	}
	b->psi = cuda_malloc(b->stream, state);
	b->lambda = b->gradient ? cuda_malloc(b->stream, state) : NULL;
	b->sum = cuda_malloc(b->stream, (1 + nsum) * sizeof *b->sum_host);
	b->factor = cuda_malloc(b->stream, nbin * sizeof *b->factor);
	b->vector = cuda_malloc(b->stream, nvector * 2 * sizeof *b->vector);
	b->sum_host = mem_alloc(1 + nsum, sizeof *b->sum_host);
	b->factor_host = mem_alloc(nbin + 1, sizeof *b->factor_host);
	b->vector_host = mem_alloc(nvector + 1, 2 * sizeof *b->vector_host);
}

static int cuda_failure(const struct backend_state *b, struct err *e)
{
	const char *why, *call = cuda_stream_failure(b->stream, &why);

	return call ? err_set(e, -ERR_CONFIG, "the GPU failed: %s: %s", call, why) : 0;
}

static int cuda_prepare(const struct plan *pl, unsigned nthread, bool gradient,
	struct backend_state **out, struct err *e)
{
	struct backend_state *b;
	const char *obstacle = cuda_device_obstacle();
	uint32_t nstep = 0;
	int code;

	(void)nthread;
	if (obstacle)
		return err_set(e, -ERR_CONFIG, "the device cuda cannot be used: %s", obstacle);
	b = mem_alloc(1, sizeof *b);
	*b = (struct backend_state){ .plan = pl,
		.twice = pl->precision == PRECISION_DOUBLE,
		.gradient = gradient,
		.holds = -1 };
	arena_init(&b->arena);
	b->u = mem_alloc(pl->nmatrix_entry + 1, sizeof *b->u);
	b->circuit = arena_alloc(&b->arena, pl->ncircuit, sizeof *b->circuit);
	for (uint32_t k = 0; k < pl->ncircuit; k++)
		compile(b, &pl->circuit[k], &nstep, &b->circuit[k]);
	b->stream = cuda_stream_new();
	cuda_kernels_open(b->stream);
	take_memory(b);
	code = cuda_failure(b, e);
	for (uint32_t k = 0; k < pl->ncircuit && !code; k++)
		set_circuit_pointers(b, &b->circuit[k]);
	if (code)
		cuda_state_free(b);
	else
		*out = b;
	return code;
}

static void cuda_matrices(struct backend_state *b, const cplx *u)
{
	memcpy(b->u, u, b->plan->nmatrix_entry * sizeof *u);
	for (uint32_t k = 0; k < b->plan->ncircuit; k++)
		cuda_store_matrices(b, &b->circuit[k], false, u);
	b->holds = -1;
}

static void cuda_run(struct backend_state *b, const struct unit_job *job)
{
	(void)b;
	job->claim(job->ctx, 0);
	job->work(job->ctx, 0);
}

/* ---- forward ---- */

/* The vectors of the unit's sample, one after the other. */
static void start_state(struct backend_state *b, uint32_t number, const struct unit_input *in)
{
	const struct cuda_circuit *c = &b->circuit[number];
	const struct plan_circuit *pc = c->plan;
	const uint8_t *place = pc->nstage ? pc->stage[0].place : pc->place;
	struct cuda_start a = { .psi = b->psi, .zero = (UINT64_C(1) << c->nbit) - 1, .nbit = c->nbit };
	size_t at = 0;

	for (uint32_t k = 0; k < pc->nprepare; k++) {
		const struct plan_step *s = &pc->step[k];
		struct cuda_vector *v = &a.vector[a.nvector++];
		uint32_t length = in->length[number][s->matrix];

		*v = (struct cuda_vector){
			.entry = b->vector + 2 * at, .length = length, .nbit = s->ntarget
		};
		memcpy(b->vector_host + 2 * at, in->vector[number][(size_t)s->matrix * in->nsample],
			length * sizeof(cplx));
		for (unsigned n = 0; n < s->ntarget; n++) {
			v->bit[n] = place[s->bit[n]];
			a.zero &= ~(UINT64_C(1) << v->bit[n]);
		}
		at += length;
	}
	cuda_upload(b->stream, b->vector, b->vector_host, at * sizeof(cplx));
	cuda_launch_start(b->stream, &a, b->twice);
}

static void evolve(struct backend_state *b, uint32_t number, const struct unit_input *in)
{
	struct cuda_circuit *c = &b->circuit[number];

	cuda_store_matrices(b, c, true, in->u[0]);
	start_state(b, number, in);
	for (uint32_t k = 0; k < c->plan->nstage; k++)
		for (const struct cuda_launch *l = c->forward[k]; l; l = l->next)
			cuda_launch_forward(b->stream, &l->args, b->twice);
	if (plan_deep(c->plan))
		cuda_normalise(b, c);
	b->holds = number;
}

static void cuda_forward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, bool keep, double *readout)
{
	(void)worker;
	(void)keep;
	evolve(b, c, in);
	cuda_readouts(b, &b->circuit[c], readout);
}

/* ---- backward ---- */

/* s[d * d] (anti_hermitian.h) of the step from the sums of an op, whose rows are in another order. */
static void step_sums(const struct backend_state *b, const struct cuda_placed *p, size_t first,
	double scale, double *s)
{
	unsigned d = 1u << p->step->ntarget;

	memset(s, 0, (size_t)d * d * sizeof *s);
	for (unsigned r = 0; r < d; r++) {
		unsigned row = p->diagonal ? r : p->row[r];
		int own = p->diagonal ? (int)r : cuda_sum_number((int)d, (int)r, (int)r, 0);

		s[row * d + row] = scale * cuda_sum_value(b, first + (size_t)own);
		for (unsigned c = r + 1; c < d && !p->diagonal; c++) {
			unsigned column = p->row[c], low = row < column ? row : column,
				 high = row ^ column ^ low;
			int number = cuda_sum_number((int)d, (int)r, (int)c, 1);
			double real = scale * cuda_sum_value(b, first + (size_t)number);

			s[low * d + high] = row < column ? real : -real;
			s[high * d + low] = scale * cuda_sum_value(b, first + (size_t)number + 1);
		}
	}
}

/* Of U, from those of a step that does U^+: Y = -conj(U) Y' U^T. */
static void before_adjoint(unsigned d, const cplx *u, double *s)
{
	cplx y[MATRIX_ENTRIES_MAX], part[MATRIX_ENTRIES_MAX] = { 0 },
				    whole[MATRIX_ENTRIES_MAX] = { 0 };

	anti_hermitian_transition(d, s, y);
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++)
			for (unsigned k = 0; k < d; k++)
				part[i * d + j] += cplx_mul(y[i * d + k], u[j * d + k]);
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++)
			for (unsigned k = 0; k < d; k++)
				whole[i * d + j] -= cplx_mul(conj(u[i * d + k]), part[k * d + j]);
	memset(s, 0, (size_t)d * d * sizeof *s);
	anti_hermitian_add(d, whole, s);
}

static void add_step(const struct backend_state *b, const struct cuda_placed *p, size_t first,
	double scale, const cplx *u, double *to)
{
	unsigned d = 1u << p->step->ntarget;
	double s[MATRIX_ENTRIES_MAX];

	step_sums(b, p, first, scale, s);
	if (p->step->adjoint)
		before_adjoint(d, u, s);
	for (unsigned e = 0; e < d * d; e++)
		to[e] += s[e];
}

static void add_sums(const struct backend_state *b, const struct cuda_launch *l, double scale,
	const struct unit_input *in, double *shared, double *own)
{
	const struct matrix_set *set = &b->plan->set;
	size_t launch = (size_t)(l->args.sum - cuda_sums(b));

	for (uint32_t k = 0; k < l->nplaced; k++) {
		const struct cuda_placed *p = &l->placed[k];
		uint32_t m = p->step->matrix, at = set->offset[m];
		bool sample = set->def[m]->cls == VALUE_SAMPLE;

		if (p->sum >= 0)
			add_step(b, p, launch + (size_t)p->sum, scale,
				(sample ? in->u[0] : b->u) + at, (sample ? own : shared) + at);
	}
}

static void cuda_backward(struct backend_state *b, unsigned worker, uint32_t number,
	const struct unit_input *in, const double *dreadout, double *anti_hermitian_shared,
	double *const *anti_hermitian_sample)
{
	struct cuda_circuit *c = &b->circuit[number];
	double scale;

	(void)worker;
	if (!c->nsum_back)
		return;
	if (b->holds != number) /* another circuit took the place: once more */
		evolve(b, number, in);
	b->holds = -1;
	cuda_clear_sums(b, c->nsum_back);
	scale = ldexp(1, cuda_lambda(b, c, dreadout));
	for (uint32_t k = c->plan->nstage; k-- > 0;)
		for (const struct cuda_launch *l = c->back[k]; l; l = l->next)
			cuda_launch_backward(b->stream, &l->args, b->twice);
	if (!cuda_fetch_sums(b, c->nsum_back))
		scale = NAN;
	for (uint32_t k = c->plan->nstage; k-- > 0;)
		for (const struct cuda_launch *l = c->back[k]; l; l = l->next)
			add_sums(b, l, scale, in, anti_hermitian_shared, anti_hermitian_sample[0]);
}

/* ---- amplitudes ---- */

static cplx amplitude(const struct backend_state *b, const void *psi, uint64_t at)
{
	const double *twice = psi;
	const float *single = psi;

	return b->twice ? cplx_of(twice[2 * at], twice[2 * at + 1])
			: cplx_of(single[2 * at], single[2 * at + 1]);
}

static void cuda_amplitudes(struct backend_state *b, unsigned worker, uint32_t number, uint32_t s,
	cplx *out)
{
	const struct cuda_circuit *c = &b->circuit[number];
	const struct plan_circuit *pc = c->plan;
	size_t nbyte = amplitude_bytes(b->plan) << c->nbit;
	void *psi = mem_alloc(nbyte, 1);

	(void)worker;
	(void)s;
	cuda_download(b->stream, psi, b->psi, nbyte);
	cuda_wait(b->stream);
	for (uint64_t i = 0; i < UINT64_C(1) << pc->nbit; i++) {
		uint64_t at = 0;

		for (uint32_t w = 0; w < pc->nbit; w++)
			at |= (i >> w & 1) << pc->place[pc->bit_of_wire[w]];
		out[i] = amplitude(b, psi, at);
	}
	free(psi);
}

/* ---- the table ---- */

static const struct target *const targets[] = { &target_cuda };

static const char *cuda_obstacle(const struct target *t)
{
	(void)t;
	return cuda_device_obstacle();
}

const struct backend backend_cuda = {
	.name = "cuda",
	.target = targets,
	.ntarget = 1,
	.obstacle = cuda_obstacle,
	.supports = cuda_supports,
	.bytes = cuda_bytes,
	.memory = cuda_device_memory,
	.prepare = cuda_prepare,
	.matrices = cuda_matrices,
	.run = cuda_run,
	.forward = cuda_forward,
	.backward = cuda_backward,
	.failure = cuda_failure,
	.amplitudes = cuda_amplitudes,
	.free = cuda_state_free,
};
