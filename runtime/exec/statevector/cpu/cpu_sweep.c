/* SPDX-License-Identifier: Apache-2.0
 * Running a circuit forward: chunks, blocks, stages. */
#include <omp.h>
#include <string.h>
#include "runtime/exec/statevector/cpu/cpu_record.h"

/* ---- chunks and blocks ---- */

void cpu_chunks(struct backend_state *b, struct cpu_worker *own, struct cpu_span span,
	cpu_chunk_fn fn, void *ctx)
{
	if (!b->shared) {
		for (unsigned chunk = span.first; chunk < span.end; chunk++)
			fn(ctx, chunk, own);
		return;
	}
	#pragma omp parallel num_threads((int)b->nthread)
	{
		unsigned saved = kernels_flush_enter();
		struct cpu_worker *w = &b->worker[omp_get_thread_num()];
		int64_t began = w != own ? recorder_begin() : 0;
#pragma omp for schedule(static) nowait
		for (unsigned chunk = span.first; chunk < span.end; chunk++)
			fn(ctx, chunk, w);
		recorder_help(b->doing, b->doing_id, began);
		kernels_flush_leave(saved);
	}
}

/* ---- forward ---- */

/* One step to 2^nbit rows of the block that begins at `base`. */
static void forward_step(const struct sweep *w, const struct cpu_step *st, void *rows, unsigned nbit, size_t base,
	struct kernel_ahead *ahead)
{
	const struct kernels *k = w->b->k;
	matrix_room room;
	if (!cpu_is_on(st, base))
		return;
	if (st->permutes) {
		k->permute(rows, nbit, &st->kernel, st->source);
	} else if (st->diagonal) {
		struct phases p = cpu_step_phases(w, st, false, base, &room);
		k->scale(rows, nbit, &st->kernel, p.phase, p.stride, p.active);
	} else {
		k->apply(rows, nbit, &st->kernel, cpu_step_matrix(w, st, false, &room), ahead);
	}
}

static void forward_on_zero(const struct sweep *w, const struct cpu_step *st, void *rows, unsigned nbit)
{
	matrix_room room;
	w->b->k->apply_on_zero(rows, nbit, &st->kernel, cpu_step_matrix(w, st, false, &room));
}

/* Matrices on one qubit each, to rows from these or others. */
static void forward_ones(const struct sweep *w, const struct cpu_op *op, const void *from, void *rows, unsigned nbit)
{
	const struct kernel_step *step[KERNEL_ONES_MAX];
	const void *u[KERNEL_ONES_MAX];
	for (unsigned k = 0; k < op->none; k++) {
		step[k] = &op->one[k]->kernel;
		u[k] = cpu_step_matrix(w, op->one[k], false, NULL);
	}
	w->b->k->apply_ones(rows, from, nbit, step, u, op->none);
}

/* All ops of SHAPE_BATCHED' one stage; the first reads `from` where that is not psi. */
static void forward_whole(const struct sweep *w, struct cpu_worker *thread, const void *from, void *psi)
{
	const struct cpu_stage *s = w->stage;
	for (uint32_t k = 0; k < w->nop; k++) {
		if (s->op[k].none)
			forward_ones(w, &s->op[k], k ? psi : from, psi, s->nlocal);
		else
			forward_step(w, s->op[k].step, psi, s->nlocal, 0, NULL);
		if (thread->item[0])
			cpu_record_op(w, thread, &s->op[k], k + 1 < w->nop ? &s->op[k + 1] : NULL);
	}
	if (w->behind[0]) { /* the tail's, whose sums of a state are those of its only block */
		w->behind[0]->begin(w, thread);
		w->behind[0]->block(w, thread, psi, 0);
	}
}

/* A dense step that takes diagonal steps along. */
static void forward_taking(const struct sweep *w, const struct cpu_op *op, void *block, size_t base, void *table)
{
	const struct kernels *k = w->b->k;
	unsigned nbit = w->stage->nlocal;
	matrix_room room;
	k->table_one(table, nbit);
	for (uint32_t n = 0; n < op->ndiagonal; n++) {
		const struct cpu_step *st = op->diagonal[n];
		if (!cpu_is_on(st, base))
			continue;
		struct phases p = cpu_step_phases(w, st, false, base, &room);
		k->table_scale(table, nbit, &st->kernel, p.phase, p.stride, p.active);
	}
	k->apply_table(block, nbit, &op->step->kernel, cpu_step_matrix(w, op->step, false, &room), table);
}

void cpu_forward_ops(const struct sweep *w, const struct cpu_op *op, uint32_t nop, void *rows,
	unsigned nbit, size_t base, struct cpu_worker *thread)
{
	for (uint32_t k = 0; k < nop; k++) {
		if (op[k].ndiagonal)
			forward_taking(w, &op[k], rows, base, thread->table);
		else if (op[k].none > 1)
			forward_ones(w, &op[k], rows, rows, nbit);
		else if (op[k].on_zero)
			forward_on_zero(w, op[k].step, rows, nbit);
		else
			forward_step(w, op[k].step, rows, nbit, base, &thread->ahead);
		if (thread->item[0])
			cpu_record_op(w, thread, &op[k], k + 1 < nop ? &op[k + 1] : NULL);
	}
}

static void put_block(const struct sweep *w, struct cpu_worker *thread, void *block, size_t base)
{
	cpu_put_back(w, block, base, w->psi);
	cpu_record_block(w, thread, false, cpu_stage_item(w));
}

static const struct block_step put_back = { .block = put_block };

static void forward_block(const struct sweep *w, struct cpu_worker *thread, void *block, size_t base)
{
	cpu_fetch(w, w->from, base, block);
	cpu_record_block(w, thread, false, cpu_stage_item(w));
	cpu_forward_ops(w, w->stage->op, w->nop, block, w->stage->nlocal, base, thread);
	for (unsigned k = 0; k < BLOCK_STEPS_MAX && w->behind[k]; k++)
		w->behind[k]->block(w, thread, block, base);
}

static void forward_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct sweep *w = ctx;
	const struct cpu_blocks *s = &w->stage->forward;
	uint64_t end = cpu_chunk_begin(s->nblock, s->nchunk, chunk + 1);
	struct z_sums z;
	thread->z = &z;
	cpu_record_begin(w->b, thread, w->circuit);
	for (unsigned k = 0; k < BLOCK_STEPS_MAX && w->behind[k]; k++)
		if (w->behind[k]->begin)
			w->behind[k]->begin(w, thread);
	void *block = cpu_block(w, w->psi, thread->block_psi);
	for (uint64_t k = cpu_chunk_begin(s->nblock, s->nchunk, chunk); k < end; k++) {
		cpu_look_ahead(w, thread, k + 1, end);
		forward_block(w, thread, block, cpu_block_base(s, k));
		thread->blocks++;
	}
	w->b->k->nontemporal_exists();
	for (unsigned k = 0; k < BLOCK_STEPS_MAX && w->behind[k]; k++)
		if (w->behind[k]->end)
			w->behind[k]->end(w, thread, chunk);
	thread->z = NULL;
}

struct clear { struct backend_state *b; const struct cpu_circuit *c; void *psi; size_t idle; };

/* Rows with an idle bit, run by run. */
static void clear_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct clear *z = ctx;
	size_t run = z->idle & -z->idle, last = cpu_chunk_begin(z->c->nrow, z->c->nchunk, chunk + 1);
	(void)thread;
	for (size_t row = cpu_chunk_begin(z->c->nrow, z->c->nchunk, chunk), end; row < last; row = end) {
		end = (row | (run - 1)) < last - 1 ? (row | (run - 1)) + 1 : last;
		if (row & z->idle)
			z->b->k->zero(z->psi, row, end);
	}
}

/* psi = 0 where a bit of `idle` is 1. */
static void clear_idle(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c, size_t idle, void *psi)
{
	if (idle)
		cpu_chunks(b, w, c->span, clear_chunk, &(struct clear){ b, c, psi, idle });
}

/* The state before the first stage or step.  Where stages follow, they write all rows but the idle ones, and of
 * |0...0> the first row alone is needed; vectors are put on all of it. */
static void restart_state(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c, void *psi)
{
	if (c->start) {
		memcpy(psi, c->start, c->nrow * 2 * b->k->lanes * b->k->real_bytes);
		return;
	}
	if (b->lane_bits) {
		if (!b->rank) {
			b->k->zero(psi, 0, 1);
			b->k->put(psi, 0, 0, 1, 0);
		}
		if (c->plan->nprepare)
			clear_idle(b, w, c, c->nrow - 1, psi);
		return;
	}
	b->k->zero(psi, 0, c->nrow);
	for (unsigned lane = 0; lane < b->k->lanes; lane++)
		b->k->put(psi, 0, lane, 1, 0);
}

/* psi[i] <- vector[entry of i] psi[i without the vector's bits]; downwards, so that the
 * factor is still there. */
static void prepare_lane(const struct backend_state *b, const struct plan_step *s, size_t nindex,
	const cplx *vector, uint32_t length, void *psi, unsigned lane)
{
	size_t mask = ((size_t)1 << b->lane_bits) - 1;
	size_t bits = bits_spread(UINT64_MAX, s->bit, s->ntarget);
	for (size_t i = nindex; i-- > 0; ) {
		size_t entry = bits_gather(i, s->bit, s->ntarget), rest = i & ~bits;
		double re, im;
		unsigned from = b->lane_bits ? (unsigned)(rest & mask) : lane, to = b->lane_bits ? (unsigned)(i & mask) : lane;
		b->k->get(psi, rest >> b->lane_bits, from, &re, &im);
		cplx z = entry < length ? cplx_mul(vector[entry], cplx_of(re, im)) : 0;
		b->k->put(psi, i >> b->lane_bits, to, creal(z), cimag(z));
	}
}

/* The product of a split circuit's vectors at the state's index i, 0 where another bit is 1. */
static cplx vectors_at(const struct plan_circuit *pc, uint32_t c, const struct unit_input *in,
	size_t i)
{
	const uint8_t *place = pc->nstage ? pc->stage[0].place : pc->segment[0].place;
	cplx z = 1;
	for (uint32_t k = 0; k < pc->nstep && pc->step[k].op == STEP_PREPARE; k++) {
		const struct plan_step *s = &pc->step[k];
		size_t entry = 0;
		for (unsigned t = 0; t < s->ntarget; t++) {
			entry |= ((i >> place[s->bit[t]]) & 1) << t;
			i &= ~((size_t)1 << place[s->bit[t]]);
		}
		z = entry < in->length[c][s->matrix] ? cplx_mul(in->vector[c][s->matrix][entry], z)
						     : 0;
	}
	return i ? 0 : z;
}

struct prepared {
	struct backend_state *b;
	const struct unit_input *in;
	uint32_t c;
	void *psi;
};

static void prepare_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	const struct prepared *p = ctx;
	const struct cpu_circuit *c = &p->b->circuit[p->c];
	size_t last = cpu_chunk_begin(c->nrow, c->nchunk, chunk + 1);
	(void)thread;
	for (size_t row = cpu_chunk_begin(c->nrow, c->nchunk, chunk); row < last; row++)
		for (unsigned lane = 0; lane < p->b->k->lanes; lane++) {
			cplx z = vectors_at(c->plan, p->c, p->in, row << p->b->lane_bits | lane);
			p->b->k->put(p->psi, row, lane, creal(z), cimag(z));
		}
}

static void prepare_vectors(struct backend_state *b, uint32_t c, const struct unit_input *in, void *psi)
{
	const struct plan_circuit *pc = &b->plan->circuit[c];
	if (b->plan->nrank_bit && pc->nprepare) {
		cpu_chunks(b, b->worker, b->circuit[c].span, prepare_chunk,
			&(struct prepared){ b, in, c, psi });
		return;
	}
	for (uint32_t k = 0; k < pc->nstep; k++) {
		const struct plan_step *s = &pc->step[k];
		if (s->op != STEP_PREPARE)
			continue;
		for (uint32_t lane = 0; lane < in->nsample; lane++) {
			uint32_t v = s->matrix * in->nsample + lane;
			prepare_lane(b, s, (size_t)1 << pc->nbit, in->vector[c][v], in->length[c][s->matrix], psi, lane);
		}
	}
}

/* What is special in the last stage. */
struct forward_end {
	const struct block_step *read; /* its blocks are read so, or NULL; */
	bool absorbs;                  /* the tail is absorbed then; */
	bool fuses;                    /* and the backward pass begins there */
};

/* The sweep's next stage. */
static void forward_stage(struct sweep *w, const struct cpu_stage *s, const struct forward_end *end)
{
	const struct block_step **behind = w->behind;
	w->stage = s;
	w->nop = s->nop - s->part.nop - end->absorbs;
	w->nstep = s->nstep - end->absorbs;
	w->in_place = s->in_place || (end->fuses && s->fused_in_place);
	memset(w->behind, 0, sizeof w->behind);
	if (s->part.nbit) {
		*behind = end->read ? &cpu_part_read : &cpu_part_put;
		return;
	}
	if (end->read)
		*behind++ = end->read;
	if (w->b->lane_bits)
		*behind = end->fuses ? &cpu_fused : &put_back;
}

/* Stages first .. last-1 of a large state. */
static void forward_stages(const struct sweep *like, struct cpu_worker *w,
	const struct cpu_circuit *c, uint32_t first, uint32_t last, const struct forward_end *end)
{
	struct sweep sweep = *like;
	struct cpu_overlap *before = NULL;
	for (uint32_t k = first; k < last; k++) {
		forward_stage(&sweep, &c->stage[k],
			k + 1 == c->nstage ? end : &(struct forward_end){ 0 });
		sweep.from = k == first ? like->from : like->psi;
		struct cpu_overlap *behind = NULL;
		struct cpu_exchange exchange;
		if (k + 1 < last) {
			exchange = cpu_exchange_behind(c, k, false, sweep.psi, NULL);
			behind = cpu_overlap_begin(sweep.b, &exchange, false);
		}
		double began = cpu_began(sweep.b);
		int64_t event = recorder_begin();
		uint32_t id = (uint32_t)(c - sweep.b->circuit) << 16 | k;
		cpu_doing(sweep.b, EVENT_FORWARD, id);
		cpu_overlap_chunks(sweep.b, w, &sweep.stage->forward, before, behind, forward_chunk,
			&sweep);
		cpu_doing(sweep.b, EVENT_PHASE, PHASE_FORWARD);
		for (unsigned n = 0; n < BLOCK_STEPS_MAX && sweep.behind[n]; n++)
			if (sweep.behind[n]->total)
				sweep.behind[n]->total(&sweep, w);
		cpu_took(sweep.b, began, &c->seconds[k].forward);
		recorder_event(EVENT_FORWARD, id, 0, event);
		if (k + 1 < last && !behind)
			cpu_exchange(sweep.b, &exchange);
		before = behind;
	}
}

/* Can the kept start be read where it is kept: does what comes first write the whole state? (With one, no vectors are prepared.) */
static bool reads_start(const struct backend_state *b, const struct cpu_circuit *c)
{
	if (!c->start)
		return false;
	if (!b->lane_bits)
		return c->stage->nop && c->stage->op[0].none;
	const struct cpu_stage *s = &c->stage[c->plan->nstart_stage];
	return c->plan->nstart_stage < c->nstage && s->forward.nblock << s->nlocal == c->nrow;
}

static const double one = 1; /* the gradient of a fused stage */

void cpu_forward_sweep(struct backend_state *b, struct cpu_worker *w, uint32_t number,
	const struct unit_input *in, void *psi, bool sums, bool fuses)
{
	const struct cpu_circuit *c = &b->circuit[number];
	struct sweep sweep = { .b = b,
		.owner = w,
		.in = in,
		.psi = psi,
		.circuit = c,
		.stage = c->stage,
		.make_lambda = cpu_z_lambda,
		.lambda_of = &one };
	struct forward_end end = { .read = sums && c->near ? &cpu_z_read : NULL, .fuses = fuses };
	matrix_room room;
	bool from_start = reads_start(b, c);
	sweep.from = from_start ? c->start : psi;
	if (cpu_tail_taken(c, in)) {
		end = (struct forward_end){ .read = &cpu_tail_read, .absorbs = true, .fuses = fuses };
		sweep.make_lambda = cpu_tail_lambda;
		sweep.lambda_of = &room;
	}
	if (fuses && end.absorbs)
		cpu_tail_matrix(b, c, &one, &room);
	cpu_record_begin(b, w, c);
	cpu_sample_matrices(b, w, c, in);
	if (!from_start)
		restart_state(b, w, c, psi);
	prepare_vectors(b, number, in, psi);
	cpu_record_other(b, w, c, false, PLAN_OTHER_START);
	if (b->lane_bits) {
		forward_stages(&sweep, w, c, c->plan->nstart_stage, c->nstage, &end);
		clear_idle(b, w, c,
			c->start || (c->plan->nprepare && !b->plan->nrank_bit) || fuses ? 0 : c->idle,
			psi);
	} else {
		forward_stage(&sweep, c->stage, &end);
		forward_whole(&sweep, w, sweep.from, psi);
	}
	if (plan_deep(c->plan))
		cpu_normalise(b, w, c, psi);
}

/* Leading constant steps act on |0...0> alike for every sample: done once. */
void cpu_start(struct backend_state *b, struct cpu_circuit *c, void *room)
{
	struct sweep sweep = { .b = b, .owner = b->worker, .psi = room, .from = room, .circuit = c, .stage = c->stage };
	unsigned saved = kernels_flush_enter();

	c->start = NULL;             /* from |0...0> */
	restart_state(b, b->worker, c, room);
	if (b->lane_bits) {
		forward_stages(&sweep, b->worker, c, 0, c->plan->nstart_stage,
			&(struct forward_end){ 0 });
		clear_idle(b, b->worker, c, c->start_idle, room);
	} else {
		for (uint32_t k = 0; k < c->plan->nstart; k++)
			forward_step(&sweep, &c->stage->step[k], room, c->stage->nlocal, 0, NULL);
	}
	kernels_flush_leave(saved);
	c->start = room;
}

void cpu_forward(struct backend_state *b, unsigned worker, uint32_t c, const struct unit_input *in,
	bool keep, double *readout)
{
	struct cpu_worker *w = &b->worker[worker];
	const struct cpu_circuit *circuit = &b->circuit[c];
	uint32_t slot = cpu_slot(b, c);
	bool tail = cpu_tail_taken(circuit, in);
	void *psi = cpu_whole(b, circuit, w->psi[slot]);
	cpu_forward_sweep(b, w, c, in, psi, !tail, keep && cpu_fuses_last(circuit, in));
	w->resident[slot] = c;
	double began = cpu_began(b);
	if (b->lane_bits)
		cpu_record_begin(b, w, circuit);
	if (tail)
		cpu_tail_readouts(b, w, circuit, readout);
	else
		cpu_readouts(b, w, circuit, psi,
			circuit->near ? circuit->stage[circuit->nstage - 1].forward.nchunk : 0,
			readout);
	cpu_took(b, began, &circuit->seconds[circuit->nstage].forward);
	cpu_record_other(b, w, circuit, false, PLAN_OTHER_READOUTS);
}
