/* SPDX-License-Identifier: Apache-2.0
 * The backward pass: blocks of psi and lambda together, and the sums of their reduced transition matrices. */
#include <string.h>
#include "runtime/exec/statevector/cpu/cpu_record.h"
#include "runtime/program/anti_hermitian.h"

/* Place of the sums of a block with these base targets among a diagonal step's. */
static size_t base_place(const struct backend_state *b, const struct cpu_step *s, size_t base)
{
	size_t place = 0;
	for (unsigned k = 0; k < s->nbase; k++)
		place |= ((base >> s->base[k].outer) & 1) << k;
	return (place << s->kernel.ntarget) * (s->per_lane ? b->k->lanes : 1);
}

/* Sum of these lanes, in their order. */
static double lane_sum(const double *r, uint32_t on)
{
	double sum = 0;
	for (; on; on &= on - 1)
		sum += r[__builtin_ctz(on)];
	return sum;
}

static unsigned step_doubles(const struct cpu_step *st) { return 1u << (2 * st->plan->ntarget); }

/* Diagonal entries from the sums of rows, base targets and lanes. */
static void diagonal_sums(const struct backend_state *b, const struct cpu_step *st,
	const double *transition, uint32_t on, double *r)
{
	unsigned lanes = st->per_lane ? b->k->lanes : 1, nrow = 1u << st->kernel.ntarget, d = 1u << st->plan->ntarget;
	on &= (UINT32_C(1) << lanes) - 1;
	memset(r, 0, step_doubles(st) * sizeof *r);
	for (unsigned k = 0; k < 1u << st->nbase; k++) {
		unsigned part = 0;
		for (unsigned j = 0; j < st->nbase; j++)
			part |= (k >> j) & 1 ? st->base[j].part : 0;
		for (unsigned row = 0; row < nrow; row++)
			for (uint32_t left = on; left; left &= left - 1) {
				unsigned l = (unsigned)__builtin_ctz(left);
				unsigned t = part | st->row_part[row] | st->lane_part[l];
				r[t * (d + 1)] +=
					transition[st->transition + (size_t)(k * nrow + row) * lanes + l];
			}
	}
}

/* One step's sums in a thread, these lanes added: those where the controls hold, or one sample's. */
static void step_sums(const struct backend_state *b, const struct cpu_step *st,
	const double *transition, uint32_t on, double *r)
{
	unsigned n = step_doubles(st), lanes = b->k->lanes;
	if (st->diagonal) {
		diagonal_sums(b, st, transition, on, r);
		return;
	}
	for (unsigned e = 0; e < n; e++)
		r[e] = st->per_lane ? lane_sum(transition + st->transition + (size_t)e * lanes, on)
				    : transition[st->transition + e];
}

static void backward_step(const struct sweep *w, const struct cpu_step *st, void *psi, void *lambda,
	size_t base, double *transition, struct kernel_ahead *ahead)
{
	unsigned nbit = w->stage->nlocal;
	const struct kernels *k = w->b->k;
	matrix_room room;
	if (st->in_transfer || !cpu_is_on(st, base) || !(st->plan->undo || st->plan->transition))
		return;
	if (st->permutes) {
		k->permute(psi, nbit, &st->back, st->target);
		k->permute(lambda, nbit, &st->back, st->target);
	} else if (st->diagonal) {
		struct phases p = cpu_step_phases(w, st, true, base, &room);
		if (!st->plan->undo)
			p.active = 0;
		k->unscale(psi, lambda, nbit, &st->back, p.phase, p.stride, p.active,
			st->plan->transition ? transition + st->transition + base_place(w->b, st, base)
					     : NULL,
			st->per_lane);
	} else if (st->plan->undo) {
		k->unapply(psi, lambda, nbit, &st->back, cpu_step_matrix(w, st, true, &room),
			st->plan->transition ? transition + st->transition : NULL, st->per_lane,
			ahead);
	} else {
		k->anti_hermitian(psi, lambda, nbit, &st->back, transition + st->transition,
			st->per_lane);
	}
}

/* A block's backward pass through the stage, psi and lambda as its steps left them; sums are added to the thread's. */
static void backward_block(const struct sweep *w, struct cpu_worker *thread, void *psi,
	void *lambda, size_t base)
{
	const struct cpu_stage *s = w->stage;
	struct kernel_ahead *ahead = w->b->lane_bits ? &thread->ahead : NULL;
	for (uint32_t n = w->nstep; n-- > s->first_transition;) {
		backward_step(w, &s->step[n], psi, lambda, base, thread->transition, ahead);
		if (thread->item[0])
			cpu_record_step_back(w, thread, &s->step[n],
				n > s->first_transition ? &s->step[n - 1] : NULL);
	}
}

/* The sums of a thread's chunk to the worker's sums from `place` on. */
static void chunk_sums(const struct sweep *w, const struct cpu_worker *thread, unsigned chunk,
	size_t place)
{
	const struct cpu_stage *s = w->stage;
	double *out = cpu_chunk_sums(w->b, w->owner) + place + s->nsum * chunk;
	for (uint32_t k = s->first_transition; k < s->nstep; k++)
		if (s->step[k].plan->transition)
			step_sums(w->b, &s->step[k], thread->transition, s->step[k].lane_on,
				out + s->step[k].sum);
}

static void backward_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct sweep *w = ctx;
	const struct cpu_stage *s = w->stage;
	uint64_t end = cpu_chunk_begin(s->back.nblock, s->back.nchunk, chunk + 1);
	void *psi = cpu_block(w, w->psi, thread->block_psi), *lambda = cpu_block(w, w->lambda, thread->block_lambda);
	memset(thread->transition, 0, s->ntransition * sizeof(double));
	cpu_record_begin(w->b, thread, w->circuit);
	for (uint64_t k = cpu_chunk_begin(s->back.nblock, s->back.nchunk, chunk); k < end; k++) {
		size_t base = cpu_block_base(&s->back, k);
		cpu_look_ahead(w, thread, k + 1, end);
		cpu_fetch(w, w->psi, base, psi);
		if (w->make_lambda)
			w->make_lambda(w, psi, base, lambda);
		else
			cpu_fetch(w, w->lambda, base, lambda);
		cpu_record_block(w, thread, true, cpu_stage_item(w));
		backward_block(w, thread, psi, lambda, base);
		if (w->puts_psi)
			cpu_put_back(w, psi, base, w->psi);
		if (w->puts_lambda)
			cpu_put_back(w, lambda, base, w->lambda);
		cpu_record_block(w, thread, true, cpu_stage_item(w));
		thread->blocks++;
	}
	w->b->k->nontemporal_exists();
	chunk_sums(w, thread, chunk, s->sums);
}

/* ---- a fused last stage: its blocks go back through it in the forward pass, while they are near ---- */

static void fused_begin(const struct sweep *w, struct cpu_worker *thread)
{
	memset(thread->transition, 0, w->stage->ntransition * sizeof(double));
}

static void fused_block(const struct sweep *w, struct cpu_worker *thread, void *psi, size_t base)
{
	struct sweep back = *w;
	back.lambda = w->owner->lambda;
	void *lambda = cpu_block(w, back.lambda, thread->block_lambda);
	w->make_lambda(&back, psi, base, lambda);
	cpu_record_block(w, thread, true, PLAN_OTHER_READOUTS);
	backward_block(&back, thread, psi, lambda, base);
	cpu_put_back(&back, psi, base, back.psi);
	cpu_put_back(&back, lambda, base, back.lambda);
	cpu_record_block(w, thread, true, cpu_stage_item(w));
}

static void fused_end(const struct sweep *w, struct cpu_worker *thread, unsigned chunk)
{
	chunk_sums(w, thread, chunk, w->b->chunk_fused);
}

/* The time of the stage's backward pass is in the forward pass. */
static void fused_total(const struct sweep *w, struct cpu_worker *owner)
{
	(void)owner;
	if (w->b->shared)
		w->circuit->seconds[w->stage - w->circuit->stage].back = 0;
}

const struct block_step cpu_fused = {
	.begin = fused_begin,
	.block = fused_block,
	.end = fused_end,
	.total = fused_total,
};

/* ---- the sums of all chunks ---- */

/* Step st's sums to its matrix' own, u being all matrices. */
static void add_sums(const struct backend_state *b, const struct cpu_step *st, const cplx *u, const double *sum, double *to)
{
	size_t offset = b->plan->set.offset[st->plan->matrix];
	if (st->plan->adjoint) {
		anti_hermitian_add_adjoint(1u << st->plan->ntarget, u + offset, sum, to + offset);
		return;
	}
	for (unsigned e = 0; e < step_doubles(st); e++)
		to[offset + e] += sum[e];
}

static bool of_sample(const struct backend_state *b, const struct cpu_step *st)
{
	return b->plan->set.def[st->plan->matrix]->cls == VALUE_SAMPLE;
}

/* Where the sums of a backward pass are added. */
struct gradient_sums {
	double scale; /* of chunks' sums */
	double *shared, *const *sample;
};

/* The chunks' sums from `place` on, times the scale, to the matrices they are of. */
static void collect_chunks(const struct sweep *w, const struct cpu_stage *s, size_t place,
	const struct gradient_sums *to)
{
	const double *part = cpu_chunk_sums(w->b, w->owner) + place;
	for (uint32_t k = s->first_transition; k < s->nstep; k++) {
		const struct cpu_step *st = &s->step[k];
		unsigned n = step_doubles(st);
		double r[MATRIX_ENTRIES_MAX];
		if (!st->plan->transition)
			continue;
		memset(r, 0, n * sizeof *r);
		for (unsigned chunk = 0; chunk < s->back.nchunk; chunk++)
			for (unsigned e = 0; e < n; e++)
				r[e] += part[s->nsum * chunk + st->sum + e];
		for (unsigned e = 0; e < n; e++)
			r[e] *= to->scale;
		if (of_sample(w->b, st))
			add_sums(w->b, st, w->in->u[0], r, to->sample[0]);
		else
			add_sums(w->b, st, w->b->u, r, to->shared);
	}
}

/* SHAPE_BATCHED: a lane is a sample. */
static void collect_lanes(const struct sweep *w, const double *transition,
	const struct gradient_sums *to)
{
	const struct backend_state *b = w->b;
	const struct cpu_stage *s = w->stage;
	for (uint32_t k = s->first_transition; k < s->nstep; k++) {
		const struct cpu_step *st = &s->step[k];
		double r[MATRIX_ENTRIES_MAX];
		if (!st->plan->transition)
			continue;
		if (!of_sample(b, st)) {
			step_sums(b, st, transition, st->lane_on, r);
			add_sums(b, st, b->u, r, to->shared);
			continue;
		}
		for (uint32_t sample = 0; sample < w->in->nsample; sample++) {
			step_sums(b, st, transition, UINT32_C(1) << sample, r);
			add_sums(b, st, w->in->u[sample], r, to->sample[sample]);
		}
	}
}

/* A stage block by block, beside the exchanges before and behind it (NULL: there are none). */
static void backward_blocks(struct sweep *w, struct cpu_worker *thread, struct cpu_overlap *before,
	struct cpu_overlap *behind, const struct gradient_sums *to)
{
	struct backend_state *b = w->b;
	const struct cpu_circuit *c = w->circuit;
	uint32_t k = (uint32_t)(w->stage - c->stage), id = (uint32_t)(c - b->circuit) << 16 | k;
	double began = cpu_began(b);
	int64_t event = recorder_begin();
	cpu_doing(b, EVENT_BACKWARD, id);
	cpu_overlap_chunks(b, thread, &w->stage->back, before, behind, backward_chunk, w);
	cpu_doing(b, EVENT_PHASE, PHASE_FORWARD);
	if (!b->rank_bits)
		collect_chunks(w, w->stage, w->stage->sums, to);
	cpu_took(b, began, &c->seconds[k].back);
	recorder_event(EVENT_BACKWARD, id, 0, event);
}

/* SHAPE_BATCHED: the only stage, on whole states in place. */
static void backward_whole(struct sweep *w, struct cpu_worker *thread, const struct gradient_sums *to)
{
	memset(thread->transition, 0, w->stage->ntransition * sizeof(double));
	cpu_record_begin(w->b, thread, w->circuit);
	if (w->make_lambda)
		w->make_lambda(w, w->psi, 0, thread->lambda);
	backward_block(w, thread, w->psi, thread->lambda, 0);
	collect_lanes(w, thread->transition, to);
}

/* States that are split over ranks: each has the sums of its own chunks. */
static void collect_ranks(const struct sweep *w, uint32_t first, uint32_t from,
	const struct gradient_sums *to)
{
	for (uint32_t k = from; k-- > first;) {
		const struct cpu_stage *s = &w->circuit->stage[k];
		if (!s->ntransition)
			continue;
		cpu_gather(w->b, cpu_chunk_sums(w->b, w->owner) + s->sums, s->nsum, s->back.span);
		collect_chunks(w, s, s->sums, to);
	}
}

/* The sweep's next stage; `read`: a stage before it reads what it leaves. */
static void backward_stage(struct sweep *w, const struct cpu_stage *s, bool read,
	const struct cpu_begin *begin)
{
	w->stage = s;
	w->in_place = s->in_place;
	w->make_lambda = begin->make_lambda;
	w->lambda_of = begin->lambda_of;
	w->nstep = s->nstep - begin->nabsorbed;
	w->puts_psi = read && s->undoes;
	w->puts_lambda = read && (s->undoes || w->make_lambda);
}

void cpu_backward_sweep(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c,
	const struct unit_input *in, void *psi, const struct cpu_begin *begin,
	double *anti_hermitian_shared, double *const *anti_hermitian_sample)
{
	struct gradient_sums to = { 1, anti_hermitian_shared, anti_hermitian_sample };
	struct sweep sweep = { .b = b,
		.owner = w,
		.in = in,
		.circuit = c,
		.psi = psi,
		.lambda = cpu_whole(b, c, w->lambda) };
	struct cpu_exchange exchange;
	struct cpu_overlap *before = NULL;
	uint32_t first = 0, from = c->nstage;
	while (first < c->nstage && c->stage[first].first_transition == c->stage[first].nstep)
		first++;
	if (begin->fused) { /* all sums are linear in the readout gradient */
		to.scale = begin->fused[0];
		from--;
		collect_chunks(&sweep, &c->stage[from], b->chunk_fused, &to);
	}
	if (begin->fused && from > first) {
		exchange = cpu_exchange_behind(c, from, true, psi, sweep.lambda);
		before = cpu_overlap_begin(b, &exchange, true);
		if (!before)
			cpu_exchange(b, &exchange);
	}
	for (uint32_t k = from; k-- > first;) {
		backward_stage(&sweep, &c->stage[k], k > first,
			k + 1 == c->nstage ? begin : &(struct cpu_begin){ 0 });
		/* If so, psi and lambda are as the stage before wants them. */
		bool idle = !sweep.stage->undoes && !sweep.stage->ntransition && !sweep.make_lambda;
		struct cpu_overlap *behind = NULL;
		if (k > first) {
			exchange = cpu_exchange_behind(c, k, true, psi, sweep.lambda);
			behind = cpu_overlap_begin(b, &exchange, idle);
		}
		if (idle)
			cpu_overlap_end(before);
		else if (b->lane_bits)
			backward_blocks(&sweep, w, before, behind, &to);
		else
			backward_whole(&sweep, w, &to);
		if (k > first && !behind)
			cpu_exchange(b, &exchange);
		before = behind;
	}
	if (b->rank_bits)
		collect_ranks(&sweep, first, from, &to);
}

void cpu_backward(struct backend_state *b, unsigned worker, uint32_t number,
	const struct unit_input *in, const double *dreadout, double *anti_hermitian_shared,
	double *const *anti_hermitian_sample)
{
	struct cpu_worker *w = &b->worker[worker];
	const struct cpu_circuit *c = &b->circuit[number];
	uint32_t slot = cpu_slot(b, number);
	void *psi = cpu_whole(b, c, w->psi[slot]);
	if (w->resident[slot] != number) {
		cpu_forward_sweep(b, w, number, in, psi, false, false);
		cpu_exchange(b,
			&(struct cpu_exchange){ .circuit = c,
				.psi = psi,
				.from = plan_segment_of(c->plan, c->nstage) + 1,
				.to = c->plan->nsegment - 1 });
	}
	w->resident[slot] = INDEX_NONE;
	struct cpu_begin begin = { 0 };
	bool tail = cpu_tail_taken(c, in);
	matrix_room room;
	if (tail)
		cpu_tail_sums(b, w, c, dreadout, anti_hermitian_shared);
	if (cpu_fuses_last(c, in)) {
		begin.fused = dreadout;
	} else if (tail) {
		cpu_tail_matrix(b, c, dreadout, &room);
		begin = (struct cpu_begin){
			.make_lambda = cpu_tail_lambda, .lambda_of = &room, .nabsorbed = 1
		};
	} else if (c->near && !c->nprobs) {
		begin = (struct cpu_begin){ .make_lambda = cpu_z_lambda, .lambda_of = dreadout };
	} else {
		double began = cpu_began(b);
		cpu_record_begin(b, w, c);
		cpu_lambda(b, w, c, psi, cpu_whole(b, c, w->lambda), dreadout);
		cpu_record_other(b, w, c, true, PLAN_OTHER_READOUTS);
		cpu_took(b, began, &c->seconds[c->nstage].back);
	}
	cpu_backward_sweep(b, w, c, in, psi, &begin, anti_hermitian_shared, anti_hermitian_sample);
}
