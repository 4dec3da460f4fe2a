/* SPDX-License-Identifier: Apache-2.0
 * Stages of a plan, interpreted. */
#include "tests/kernels/interpreter.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/exec/statevector/backend.h"
#include "runtime/exec/statevector/observable.h"
#include "runtime/exec/statevector/plan/plan_stage.h"
#include "runtime/exec/statevector/ref/ref.h"
#include "runtime/program/anti_hermitian.h"
#include "tests/kernels/targets.h"

enum { BITS_MAX = 24, VECTOR_BYTES = 128, BLOCK_BYTES = 8 << 10 };

unsigned long interpreter_blocks;

struct backend_state {
	const struct plan *pl;
	cplx *u;              /* (nmatrix_entry) constant and shared matrices */
	cplx *psi;            /* (width, 2^stored): amplitudes at their places */
	cplx *lambda, *plain; /* of one sample: at their places; in the order of the bits */
	cplx *block[2];       /* psi's and lambda's */
};

static void check(bool right, const char *rule)
{
	if (!right)
		BUG("a plan breaks a rule: %s", rule);
}

/* ---- where bits are ---- */

/* Bits of a state as it is stored: those of the circuit, and some that are always 0. */
static unsigned stored_bits(const struct plan *pl, const struct plan_circuit *c)
{
	return c->nstage ? plan_stored_bits(pl, c->nbit) : c->nbit;
}

/* A block of a stage: bits that number its amplitudes. */
struct block {
	unsigned nstored, nlocal;
	uint8_t local[BITS_MAX]; /* (nlocal) places, ascending, of the state before and after the stage */
	int8_t at[BITS_MAX];           /* of a bit: its number among the block's; -1: outside */
	const uint8_t *before, *after; /* (nstored) places of the bits */
	uint64_t changed;              /* bits that steps may change */
	uint64_t outside;              /* value of the bits outside */
};

static uint64_t places_of(const struct block *b, const uint8_t *place)
{
	uint64_t mask = 0;

	for (unsigned bit = 0; bit < b->nstored; bit++)
		if (b->at[bit] >= 0)
			mask |= UINT64_C(1) << place[bit];
	return mask;
}

/* Places of the vectors' lanes, and those of the other bits that the stage works on. */
static uint64_t local_places(const struct plan *pl, const struct plan_stage *s,
	const uint8_t *bit_at, unsigned nstored)
{
	unsigned nlane = 0;
	uint64_t mask;

	while (1u << nlane < plan_lanes(pl))
		nlane++;
	mask = (UINT64_C(1) << nlane) - 1;
	for (unsigned k = 0; k < s->nlocal; k++)
		for (unsigned at = 0; at < nstored; at++)
			if (bit_at[at] == s->local[k])
				mask |= UINT64_C(1) << (at < nlane ? s->place[s->partner[at]] : at);
	return mask;
}

static struct block block_of(const struct plan *pl, const struct plan_circuit *c, uint32_t k)
{
	const struct plan_stage *s = &c->stage[k];
	struct block b = { .nstored = stored_bits(pl, c),
		.before = s->place,
		.after = k + 1 < c->nstage ? s[1].place : c->place };
	uint8_t bit_at[BITS_MAX];
	uint64_t mask;

	for (unsigned bit = 0; bit < b.nstored; bit++)
		bit_at[s->place[bit]] = (uint8_t)bit;
	mask = local_places(pl, s, bit_at, b.nstored);
	memset(b.at, -1, sizeof b.at);
	for (unsigned at = 0; at < b.nstored; at++) {
		if (!(mask >> at & 1))
			continue;
		b.at[bit_at[at]] = (int8_t)b.nlocal;
		b.local[b.nlocal++] = (uint8_t)at;
	}
	for (unsigned n = 0; n < s->nlocal; n++)
		b.changed |= UINT64_C(1) << s->local[n];
	check(sizeof(cplx) << b.nlocal <= pl->target->block_bytes || b.nlocal == b.nstored,
		"a block is larger than the target's");
	check(places_of(&b, b.before) == places_of(&b, b.after), "amplitudes leave a block");
	for (unsigned bit = 0; bit < b.nstored; bit++)
		check(b.at[bit] >= 0 || b.before[bit] == b.after[bit],
			"a bit outside the block moves");
	return b;
}

/* Where amplitude i of the block is in the state: with the bits at `place`, and what is outside at its own. */
static uint64_t state_index(const struct block *b, const uint8_t *place, uint64_t outer, uint64_t i)
{
	for (unsigned bit = 0; bit < b->nstored; bit++)
		if (b->at[bit] >= 0)
			outer |= (i >> b->at[bit] & 1) << place[bit];
	return outer;
}

/* ---- a step on a block ---- */

/* Value of a bit of the circuit for amplitude i. */
static unsigned bit_value(const struct block *b, unsigned bit, uint64_t i)
{
	return (unsigned)((b->at[bit] >= 0 ? i >> b->at[bit] : b->outside >> bit) & 1);
}

static bool controls_met(const struct block *b, const struct plan_step *s, uint64_t i)
{
	for (unsigned bit = 0; bit < b->nstored; bit++)
		if (s->control_mask >> bit & 1
			&& bit_value(b, bit, i) != (s->control_value >> bit & 1))
			return false;
	return true;
}

static unsigned row_of(const struct block *b, const struct plan_step *s, uint64_t i)
{
	unsigned row = 0;

	for (unsigned k = 0; k < s->ntarget; k++)
		row |= bit_value(b, s->bit[k], i) << k;
	return row;
}

/* Amplitude i with other values of the targets. */
static uint64_t with_row(const struct block *b, const struct plan_step *s, uint64_t i, unsigned row)
{
	for (unsigned k = 0; k < s->ntarget; k++) {
		uint64_t mask = UINT64_C(1) << b->at[s->bit[k]];

		i = row >> k & 1 ? i | mask : i & ~mask;
	}
	return i;
}

static void check_step(const struct plan *pl, const struct block *b, const struct plan_step *s)
{
	for (unsigned k = 0; k < s->ntarget && !plan_diagonal(pl, s); k++)
		check(b->changed >> s->bit[k] & 1 && b->at[s->bit[k]] >= 0,
			"a step changes a bit that is not in its block");
}

static void apply(const struct plan *pl, const struct block *b, const struct plan_step *s,
	const cplx *u, bool inverse, cplx *x)
{
	unsigned d = 1u << s->ntarget;
	cplx v[MATRIX_ENTRIES_MAX], from[MATRIX_DIM_MAX];

	check_step(pl, b, s);
	if (s->adjoint != inverse)
		matrix_adjoint(d, u, v);
	else
		memcpy(v, u, d * d * sizeof *v);
	for (uint64_t i = 0; i < UINT64_C(1) << b->nlocal; i++) {
		unsigned row = row_of(b, s, i);

		if (!controls_met(b, s, i))
			continue;
		if (plan_diagonal(pl, s)) {
			x[i] = cplx_mul(v[row * d + row], x[i]);
			continue;
		}
		if (row)
			continue;
		for (unsigned r = 0; r < d; r++)
			from[r] = x[with_row(b, s, i, r)];
		for (unsigned r = 0; r < d; r++) {
			cplx sum = 0;

			for (unsigned c = 0; c < d; c++)
				sum += cplx_mul(v[r * d + c], from[c]);
			x[with_row(b, s, i, r)] = sum;
		}
	}
}

/* y += sum conj(lambda) psi over the groups of a block, behind the step. */
static void add_transition(const struct plan *pl, const struct block *b, const struct plan_step *s,
	const cplx *psi, const cplx *lambda, cplx *y)
{
	unsigned d = 1u << s->ntarget;

	for (uint64_t i = 0; i < UINT64_C(1) << b->nlocal; i++) {
		unsigned row = row_of(b, s, i);

		if (!controls_met(b, s, i))
			continue;
		for (unsigned col = 0; col < d && !plan_diagonal(pl, s); col++)
			y[row * d + col] += cplx_mul(conj(lambda[i]), psi[with_row(b, s, i, col)]);
		if (plan_diagonal(pl, s))
			y[row * d + row] += cplx_mul(conj(lambda[i]), psi[i]);
	}
}

/* The gradient needs what is before an adjoint step: y <- -conj(U) y U^T. */
static void before_adjoint(unsigned d, const cplx *u, cplx *y)
{
	cplx out[MATRIX_ENTRIES_MAX] = { 0 };

	for (unsigned row = 0; row < d; row++)
		for (unsigned col = 0; col < d; col++)
			for (unsigned r = 0; r < d; r++)
				for (unsigned c = 0; c < d; c++)
					out[row * d + col] -=
						cplx_mul(cplx_mul(conj(u[row * d + r]), y[r * d + c]),
							u[col * d + c]);
	memcpy(y, out, d * d * sizeof *y);
}

/* ---- a stage ---- */

/* One pass over the states of a sample. Backward: y[count][MATRIX_ENTRIES_MAX] are the sums of its steps. */
struct pass {
	struct backend_state *b;
	const struct plan_circuit *c;
	const struct unit_input *in;
	uint32_t sample, first, count; /* of steps */
	bool back;
	cplx *state[2]; /* psi, lambda (NULL: forward) */
	cplx (*y)[MATRIX_ENTRIES_MAX];
};

static const cplx *matrix_of(const struct pass *p, const struct plan_step *s)
{
	const struct matrix_set *set = &p->b->pl->set;

	return (set->def[s->matrix]->cls == VALUE_SAMPLE ? p->in->u[p->sample] : p->b->u)
		+ set->offset[s->matrix];
}

static void block_forward(struct pass *p, const struct block *b)
{
	for (uint32_t k = 0; k < p->count; k++)
		apply(p->b->pl, b, &p->c->step[p->first + k],
			matrix_of(p, &p->c->step[p->first + k]), false, p->b->block[0]);
}

static void block_back(struct pass *p, const struct block *b)
{
	for (uint32_t k = p->count; k-- > 0 && p->first + k >= p->c->first_transition;) {
		const struct plan_step *s = &p->c->step[p->first + k];

		if (s->transition)
			add_transition(p->b->pl, b, s, p->b->block[0], p->b->block[1], p->y[k]);
		for (unsigned n = 0; n < 2 && s->undo; n++)
			apply(p->b->pl, b, s, matrix_of(p, s), true, p->b->block[n]);
	}
}

static void do_block(struct pass *p, const struct block *b, uint64_t outer)
{
	const uint8_t *from = p->back ? b->after : b->before, *to = p->back ? b->before : b->after;

	for (unsigned n = 0; n < 2 && p->state[n]; n++)
		for (uint64_t i = 0; i < UINT64_C(1) << b->nlocal; i++)
			p->b->block[n][i] = p->state[n][state_index(b, from, outer, i)];
	if (p->back)
		block_back(p, b);
	else
		block_forward(p, b);
	for (unsigned n = 0; n < 2 && p->state[n]; n++)
		for (uint64_t i = 0; i < UINT64_C(1) << b->nlocal; i++)
			p->state[n][state_index(b, to, outer, i)] = p->b->block[n][i];
	interpreter_blocks++;
}

/* A number's bits on the places that are not the block's. */
static uint64_t outer_places(const struct block *b, uint64_t number)
{
	uint64_t mask = 0, outer = 0;

	for (unsigned k = 0; k < b->nlocal; k++)
		mask |= UINT64_C(1) << b->local[k];
	for (unsigned at = 0; at < b->nstored; at++)
		if (!(mask >> at & 1)) {
			outer |= (number & 1) << at;
			number >>= 1;
		}
	return outer;
}

static void do_blocks(struct pass *p, struct block *b)
{
	for (uint64_t n = 0; n < UINT64_C(1) << (b->nstored - b->nlocal); n++) {
		uint64_t outer = outer_places(b, n);

		b->outside = 0;
		for (unsigned bit = 0; bit < b->nstored; bit++)
			if (b->at[bit] < 0)
				b->outside |= (outer >> b->before[bit] & 1) << bit;
		do_block(p, b, outer);
	}
}

/* Without stages: the whole state is one block. */
static struct block whole_block(const struct backend_state *s, const struct plan_circuit *c)
{
	struct block b = { .nstored = stored_bits(s->pl, c),
		.before = c->place,
		.after = c->place,
		.changed = UINT64_MAX };

	memset(b.at, -1, sizeof b.at);
	for (unsigned at = 0; at < b.nstored; at++)
		b.local[b.nlocal++] = (uint8_t)at;
	for (unsigned bit = 0; bit < b.nstored; bit++)
		b.at[bit] = (int8_t)c->place[bit];
	return b;
}

static void do_stage(struct pass *p, uint32_t k)
{
	struct block b = p->c->nstage ? block_of(p->b->pl, p->c, k) : whole_block(p->b, p->c);

	p->first = p->c->nstage ? p->c->stage[k].first : p->c->nprepare;
	p->count = p->c->nstage ? p->c->stage[k].count : p->c->nstep - p->c->nprepare;
	do_blocks(p, &b);
}

static uint32_t passes(const struct plan_circuit *c) { return c->nstage ? c->nstage : 1; }

/* ---- a circuit ---- */

static cplx *psi_of(const struct backend_state *b, uint32_t sample)
{
	return b->psi + ((size_t)sample << plan_stored_bits(b->pl, program_nwire(b->pl->program)));
}

/* A vector to prepare, on places. */
static void load(const struct pass *p, const struct plan_step *s, const uint8_t *place,
	unsigned nstored)
{
	size_t c = (size_t)(p->c - p->b->pl->circuit),
	       v = (size_t)s->matrix * p->in->nsample + p->sample;
	struct plan_step at = *s;
	uint8_t bit[BITS_MAX];

	for (unsigned k = 0; k < s->ntarget; k++)
		bit[k] = place[s->bit[k]];
	at.bit = bit;
	ref_load(&at, nstored, p->in->vector[c][v], p->in->length[c][s->matrix], p->state[0]);
}

static void evolve(struct pass *p)
{
	unsigned nstored = stored_bits(p->b->pl, p->c);

	memset(p->state[0], 0, sizeof(cplx) << nstored);
	p->state[0][0] = 1;
	for (uint32_t k = 0; k < p->c->nprepare; k++)
		load(p, &p->c->step[k], p->c->nstage ? p->c->stage[0].place : p->c->place, nstored);
	for (uint32_t k = 0; k < passes(p->c); k++)
		do_stage(p, k);
}

/* The amplitudes in the order of the bits, or back. */
static void reorder(const struct backend_state *b, const struct plan_circuit *c, cplx *placed,
	cplx *plain, bool back)
{
	if (back)
		memset(placed, 0, sizeof *placed << stored_bits(b->pl, c));
	for (uint64_t i = 0; i < UINT64_C(1) << c->nbit; i++) {
		uint64_t at = 0;

		for (unsigned bit = 0; bit < c->nbit; bit++)
			at |= (i >> bit & 1) << c->place[bit];
		if (back)
			placed[at] = plain[i];
		else
			plain[i] = placed[at];
	}
}

/* ---- the backend ---- */

static int interpreter_supports(const struct plan *pl, struct err *e)
{
	return pl->target == &target_interpreter && program_nwire(pl->program) <= BITS_MAX - 8
		? 0
		: err_set(e, -ERR_CONFIG, "the interpreter takes small plans made for it");
}

static uint64_t interpreter_bytes(const struct plan *pl, unsigned nthread, bool gradient,
	unsigned nrank)
{
	(void)nthread, (void)gradient, (void)nrank;
	return (pl->width + 4) * (uint64_t)sizeof(cplx)
		<< plan_stored_bits(pl, program_nwire(pl->program));
}

static int interpreter_prepare(const struct plan *pl, unsigned nthread, uint64_t devices,
	bool gradient, struct split_rank *split, struct backend_state **out, struct err *e)
{
	struct backend_state *b = mem_alloc(1, sizeof *b);
	size_t n = (size_t)1 << plan_stored_bits(pl, program_nwire(pl->program));

	(void)split;
	(void)nthread, (void)devices, (void)gradient, (void)e;
	*b = (struct backend_state){ .pl = pl,
		.u = mem_alloc(pl->nmatrix_entry, sizeof(cplx)),
		.psi = mem_alloc(pl->width * n, sizeof(cplx)),
		.lambda = mem_alloc(n, sizeof(cplx)),
		.plain = mem_alloc(n, sizeof(cplx)),
		.block = { mem_alloc(n, sizeof(cplx)), mem_alloc(n, sizeof(cplx)) } };
	*out = b;
	return 0;
}

static void interpreter_free(struct backend_state *b)
{
	free(b->u);
	free(b->psi);
	free(b->lambda);
	free(b->plain);
	free(b->block[0]);
	free(b->block[1]);
	free(b);
}

static void interpreter_matrices(struct backend_state *b, const cplx *u)
{
	memcpy(b->u, u, b->pl->nmatrix_entry * sizeof *u);
}

static void interpreter_run(struct backend_state *b, const struct unit_job *job)
{
	(void)b;
	job->claim(job->ctx, 0);
	job->work(job->ctx, 0);
}

static void interpreter_forward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, bool keep, double *readout)
{
	const struct plan_circuit *pc = &b->pl->circuit[c];

	(void)worker, (void)keep;
	check(!pc->nstart, "a constant prefix for a target without that capability");
	for (uint32_t s = 0; s < in->nsample; s++) {
		struct pass p = { .b = b, .c = pc, .in = in, .sample = s, .state = { psi_of(b, s) } };

		evolve(&p);
		reorder(b, pc, p.state[0], b->plain, false);
		observable_readouts(pc, b->plain, readout + (size_t)s * pc->nreadout);
	}
}

static void add_sums(const struct pass *p, double *shared, double *own)
{
	const struct matrix_set *set = &p->b->pl->set;

	for (uint32_t k = 0; k < p->count; k++) {
		const struct plan_step *s = &p->c->step[p->first + k];
		unsigned d = 1u << s->ntarget;

		if (!s->transition || p->first + k < p->c->first_transition)
			continue;
		if (s->adjoint)
			before_adjoint(d, matrix_of(p, s), p->y[k]);
		anti_hermitian_add(d, p->y[k],
			(set->def[s->matrix]->cls == VALUE_SAMPLE ? own : shared)
				+ set->offset[s->matrix]);
	}
}

static void interpreter_backward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, const double *dreadout, double *shared, double *const *own)
{
	const struct plan_circuit *pc = &b->pl->circuit[c];

	(void)worker;
	for (uint32_t s = 0; s < in->nsample; s++) {
		struct pass p = { .b = b, .c = pc, .in = in, .sample = s, .state = { psi_of(b, s) } };

		evolve(&p); /* another circuit may have taken the place */
		reorder(b, pc, p.state[0], b->plain, false);
		observable_lambda(pc, b->plain, dreadout + (size_t)s * pc->nreadout, b->block[0]);
		reorder(b, pc, b->lambda, b->block[0], true);
		p.state[1] = b->lambda;
		p.back = true;
		p.y = mem_alloc(pc->nstep + 1, sizeof *p.y);
		for (uint32_t k = passes(pc); k-- > 0;) {
			memset(p.y, 0, (pc->nstep + 1) * sizeof *p.y);
			do_stage(&p, k);
			add_sums(&p, shared, own[s]);
		}
		free(p.y);
	}
}

static void interpreter_amplitudes(struct backend_state *b, unsigned worker, uint32_t c, uint32_t s,
	uint64_t first, uint64_t n, cplx *out)
{
	const struct plan_circuit *pc = &b->pl->circuit[c];

	(void)worker;
	reorder(b, pc, psi_of(b, s), b->plain, false);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = 0;

		for (uint32_t w = 0; w < pc->nbit; w++)
			at |= ((first + i) >> w & 1) << pc->bit_of_wire[w];
		out[i] = b->plain[at];
	}
}

static const struct backend backend_interpreter = {
	.target = &target_interpreter,
	.ntarget = 1,
	.supports = interpreter_supports,
	.bytes = interpreter_bytes,
	.prepare = interpreter_prepare,
	.matrices = interpreter_matrices,
	.run = interpreter_run,
	.forward = interpreter_forward,
	.backward = interpreter_backward,
	.amplitudes = interpreter_amplitudes,
	.free = interpreter_free,
};

const struct target target_interpreter = { .device = "interpreter",
	.kernels = "interpreter",
	.version = 1,
	.capabilities = TARGET_BATCHED | TARGET_STAGES,
	.vector_bytes = VECTOR_BYTES,
	.block_bytes = BLOCK_BYTES,
	.usual_gflop_s = 4,
	.backend = &backend_interpreter };

const struct target *tested_target(unsigned k)
{
	const struct target *t;
	unsigned n = 0;

	for (unsigned i = 0; (t = target_here(i)); i++)
		if (t != &target_ref && n++ == k)
			return t;
	return k == n ? &target_interpreter : NULL;
}
