/* SPDX-License-Identifier: Apache-2.0
 * From a plan's stages to lists of kernel calls: where every bit of an amplitude's
 * index lies inside a block. */
#include <math.h>
#include <stdlib.h>
#include "runtime/exec/statevector/cpu/cpu_sweep.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

static void fix_bit(struct kernel_step *k, uint8_t bit)
{
	unsigned at = k->nfixed++;
	for (; at > 0 && k->fixed[at - 1] > bit; at--)
		k->fixed[at] = k->fixed[at - 1];
	k->fixed[at] = bit;
}

/* Leave out rows where a bit that is still |0> is 1. */
static void fix_idle(const struct cpu_layout *l, uint64_t known, struct kernel_step *k)
{
	for (unsigned bit = 0; bit < 64; bit++)
		if (l->row_bit[bit] >= 0 && !((known >> bit) & 1))
			fix_bit(k, (uint8_t)l->row_bit[bit]);
}

/* In all steps but the diagonal ones, which may be put off, and those done in a transfer.  live: bits that steps before
 * the stage have made nonzero; left: those that the backward pass finds nonzero. */
static void fix_idle_steps(const struct plan *pl, struct cpu_stage *s, const struct cpu_layout *l, uint64_t live, uint64_t left)
{
	for (uint32_t k = 0; k < s->nstep; k++) {
		struct cpu_step *st = &s->step[k];
		uint64_t own = plan_targets(pl, st->plan) | plan_controls(pl, st->plan);
		if (st->in_transfer)
			continue;
		if (!st->diagonal) {
			fix_idle(l, live | own, &st->kernel);
			fix_idle(l, live | own | left, &st->back);
		}
		live |= plan_targets(pl, st->plan);
	}
}

static void compile_controls(const struct backend_state *b, const struct plan_step *ps,
	const struct cpu_layout *l, struct cpu_step *s)
{
	uint64_t mask = ps->control_mask;
	s->lane_on = (uint32_t)((UINT64_C(1) << b->k->lanes) - 1);
	for (; mask; mask &= mask - 1) {
		unsigned bit = (unsigned)__builtin_ctzll(mask);
		size_t value = (ps->control_value >> bit) & 1;
		if (l->row_bit[bit] >= 0) {
			fix_bit(&s->kernel, (uint8_t)l->row_bit[bit]);
			s->kernel.control |= value << l->row_bit[bit];
		} else if (l->lane_bit[bit] >= 0) {
			for (unsigned lane = 0; lane < b->k->lanes; lane++)
				if (((lane >> l->lane_bit[bit]) & 1) != value)
					s->lane_on &= ~(UINT32_C(1) << lane);
			s->lane_masked = true;
		} else {
			s->base_mask |= (size_t)1 << l->outer_bit[bit];
			s->base_value |= value << l->outer_bit[bit];
		}
	}
}

/* The value of a constant matrix does not change: is it a permutation without phases? */
static bool find_permutation(const struct backend_state *b, const struct plan_step *ps, struct cpu_step *s)
{
	const struct matrix_set *set = &b->plan->set;
	const struct matrix *m = set->def[ps->matrix];
	unsigned d = matrix_dim(m);
	if (m->cls != VALUE_CONSTANT || !(m->flags & MATRIX_PERMUTATION))
		return false;
	const cplx *u = b->u + set->offset[ps->matrix];
	uint8_t *source = ps->adjoint ? s->target : s->source,
		*target = ps->adjoint ? s->source : s->target;
	for (unsigned r = 0; r < d; r++)
		for (unsigned c = 0; c < d; c++) {
			if (u[r * d + c] == 0)
				continue;
			if (u[r * d + c] != 1)
				return false;
			source[r] = (uint8_t)c;
			target[c] = (uint8_t)r;
		}
	return true;
}

/* A target on a bit of the block's rows, behind those that are there. */
static void add_target(struct cpu_step *s, unsigned row_bit, unsigned part)
{
	unsigned n = s->kernel.ntarget++;
	fix_bit(&s->kernel, (uint8_t)row_bit);
	for (unsigned r = 0; r < 1u << (n + 1); r++) {
		unsigned low = r & ((1u << n) - 1);
		s->kernel.target[r] = s->kernel.target[low] | (r >> n ? (size_t)1 << row_bit : 0);
		s->row_part[r] = s->row_part[low] | (r >> n ? (uint8_t)part : 0);
	}
}

/* A diagonal step's target wherever it is. */
static void place_target(const struct backend_state *b, const struct cpu_layout *l, unsigned bit, unsigned part, struct cpu_step *s)
{
	if (l->row_bit[bit] >= 0) {
		add_target(s, (unsigned)l->row_bit[bit], part);
		return;
	}
	s->spread = true;
	if (l->lane_bit[bit] < 0) {
		s->base[s->nbase].outer = (uint8_t)l->outer_bit[bit];
		s->base[s->nbase++].part = (uint8_t)part;
		return;
	}
	s->kernel.lanewise = true;
	for (unsigned lane = 0; lane < b->k->lanes; lane++)
		s->lane_part[lane] |= (lane >> l->lane_bit[bit]) & 1 ? (uint8_t)part : 0;
}

static enum kernel_form form_of(const struct matrix *m)
{
	return m->flags & MATRIX_REAL ? FORM_REAL : m->flags & MATRIX_PARITY ? FORM_PARITY : FORM_COMPLEX;
}

/* Place for the step's own image of its matrix, and how it is rounded. */
static void take_matrix(struct backend_state *b, const struct plan_step *ps, bool sample, struct cpu_step *s)
{
	s->at = b->nentry[sample];
	b->nentry[sample] += (size_t)1 << (2 * ps->ntarget);
	if (b->plan->precision == PRECISION_SINGLE)
		cpu_noise(b, b->nstep++, 1u << ps->ntarget, s);
}

static void compile_step(struct backend_state *b, const struct plan_step *ps,
	const struct cpu_layout *l, struct cpu_stage *stage, struct cpu_step *s)
{
	unsigned d = 1u << ps->ntarget;
	bool sample = b->plan->set.def[ps->matrix]->cls == VALUE_SAMPLE;
	s->plan = ps;
	take_matrix(b, ps, sample, s);
	s->diagonal = plan_diagonal(b->plan, ps);
	for (unsigned k = 0; k < ps->ntarget; k++)
		place_target(b, l, ps->bit[k], 1u << k, s);
	compile_controls(b, ps, l, s);
	s->spread |= s->lane_masked;
	s->kernel.form = ps->tail ? FORM_COMPLEX
				  : form_of(b->plan->set.def[ps->matrix]); /* the tail needs P */
	s->kernel.lanewise |= s->lane_masked || (sample && b->plan->shape == SHAPE_BATCHED);
	s->permutes = !s->diagonal && !s->kernel.lanewise && !ps->transition
		&& find_permutation(b, ps, s);
	s->per_lane = s->kernel.lanewise;
	s->back = s->kernel;
	if (ps->transition) {
		s->transition = stage->ntransition;
		s->sum = stage->nsum;
		stage->ntransition += (s->diagonal ? d : d * d) * (s->per_lane ? b->k->lanes : 1);
		stage->nsum += d * d;
	}
}

/* Rows that are written and were not read do not have to be read first, where all of them are more than caches hold. */
static void write_nontemporal(const struct backend_state *b, struct cpu_stage *s)
{
	double bytes = ldexp(2.0 * (double)b->k->lanes * (double)b->k->real_bytes,
		(int)(s->nlocal + s->forward.nouter));
	s->forward.nontemporal = bytes > b->plan->nontemporal_bytes ? s->forward.absent : 0;
	bytes = ldexp(bytes, (int)s->back.nouter - (int)s->forward.nouter - (s->undoes ? __builtin_popcountll(s->unread) : 0));
	s->nontemporal = bytes > b->plan->nontemporal_bytes;
}

/* The highest bits of a block's number are of its rank, but for those that are |0> still: other ranks have no block. */
static struct cpu_span own_chunks(const struct backend_state *b, const struct cpu_circuit *c,
	const struct cpu_blocks *k)
{
	unsigned low = c->nbit - b->lane_bits - b->rank_bits, n = 0, number = 0;
	bool idle = false;
	for (unsigned r = 0; r < b->rank_bits; r++) {
		bool live = false, one = (b->rank >> r) & 1;
		for (unsigned j = 0; j < k->nouter; j++)
			live |= k->outer[j] == low + r;
		if (live)
			number |= (unsigned)one << n++;
		else if (one)
			idle = true;
	}
	unsigned each = k->nchunk >> n;
	return idle ? (struct cpu_span){ 0, 0, each }
		    : (struct cpu_span){ each * number, each * (number + 1), each };
}

static void number_blocks(const struct backend_state *b, const struct cpu_circuit *c,
	struct cpu_blocks *k)
{
	k->nblock = UINT64_C(1) << k->nouter;
	k->nchunk = k->nblock < CPU_CHUNKS ? (unsigned)k->nblock : CPU_CHUNKS;
	k->span = own_chunks(b, c, k);
}

static bool is_straight(const struct cpu_transfer *transfer)
{
	return !transfer->swap.lanes && !transfer->place;
}

/* Is the state one block, whose rows are in order there and all there?  A stage whose passes are fused has no transfer out. */
static bool is_whole(const struct cpu_circuit *c, const struct cpu_stage *s, bool fuses_last)
{
	return (size_t)1 << s->nlocal == c->nrow && is_straight(&s->in)
		&& (fuses_last || is_straight(&s->out))
		&& !(s->forward.absent | s->forward.nontemporal | s->forward.unset | s->back.absent
			| s->back.nontemporal);
}

/* Bits of the block's rows that no step before has changed. */
static size_t idle_rows(const struct cpu_layout *l, uint64_t live)
{
	size_t idle = 0;
	for (unsigned bit = 0; bit < 64; bit++)
		if (l->row_bit[bit] >= 0 && !((live >> bit) & 1))
			idle |= (size_t)1 << l->row_bit[bit];
	return idle;
}

/* after: places of bits behind the stage. */
static void compile_stage(struct backend_state *b, struct cpu_circuit *c, const struct plan_stage *ps, const uint8_t *after,
	struct cpu_stage *s)
{
	struct cpu_layout l;
	if (b->plan->shape == SHAPE_BATCHED)
		cpu_lay_out_whole(c, s, &l);
	else
		cpu_lay_out(b, c, ps, after, s, &l);
	s->step = arena_alloc(&b->arena, ps->count, sizeof *s->step);
	for (uint32_t k = ps->first; k < ps->first + ps->count; k++) {
		const struct plan_step *step = &c->plan->step[k];
		if (step->op != STEP_UNITARY)
			continue;   /* vectors are prepared before the first stage */
		compile_step(b, step, &l, s, &s->step[s->nstep++]);
		if (k < c->plan->first_transition)
			s->first_transition = s->nstep;
		s->undoes |= c->plan->step[k].undo;
	}
	if (b->lane_bits) {
		uint64_t live = plan_nonzero(b->plan, c->plan, ps->first);
		size_t idle = idle_rows(&l, live);
		cpu_transfers(b, s, idle == 0);
		cpu_flips(b, s, 0);
		fix_idle_steps(b->plan, s, &l, live, plan_left(b->plan, c->plan, ps->first));
		cpu_ops(b, s, 0);
		cpu_mark_on_zero(b, s, live, idle);
	} else {
		cpu_flips(b, s, c->plan->nstart);
		cpu_ops(b, s, c->plan->nstart);
	}
	write_nontemporal(b, s);
	if (b->lane_bits)
		cpu_part_compile(b, s);
	number_blocks(b, c, &s->forward);
	number_blocks(b, c, &s->back);
	s->in_place = b->lane_bits && is_whole(c, s, false);
	s->fused_in_place = b->lane_bits && is_whole(c, s, true);
}

static void compile_stages(struct backend_state *b, struct cpu_circuit *c)
{
	const struct plan_circuit *pc = c->plan;
	if (b->plan->shape != SHAPE_BATCHED) {
		c->stage = arena_alloc(&b->arena, pc->nstage, sizeof *c->stage);
		for (uint32_t k = 0; k < pc->nstage; k++)
			compile_stage(b, c, &pc->stage[k], pc->stage[k].after, &c->stage[c->nstage++]);
		for (uint32_t k = 0, sums = 0; b->plan->nrank_bit && k < c->nstage; k++) {
			c->stage[k].sums = sums;
			sums += CPU_CHUNKS * c->stage[k].nsum;
		}
		c->fuses_last = b->gradient && plan_fuses_last(b->plan, pc)
			&& !c->stage[c->nstage - 1].part.nbit;
		return;
	}
	struct plan_stage whole = { .first = 0, .count = pc->nstep };
	c->stage = arena_alloc(&b->arena, 1, sizeof *c->stage);
	c->nstage = 1;
	compile_stage(b, c, &whole, pc->place, c->stage);
}

struct kernel_term cpu_kernel_term(const struct backend_state *b, struct pauli_mask m)
{
	uint64_t lanes = (UINT64_C(1) << b->lane_bits) - 1;

	return (struct kernel_term){ .flip_row = m.flip >> b->lane_bits,
		.sign_row = m.sign >> b->lane_bits,
		.flip_lane = (unsigned)(m.flip & lanes),
		.sign_lane = (unsigned)(m.sign & lanes),
		.ny = m.ny };
}

/* Row bits give consecutive bins; where these and the lanes lie in the readout's index is kept beside. */
static void compile_probs(const struct backend_state *b, const struct plan_circuit *c, const struct output *o, struct cpu_probs *p)
{
	p->nbit = o->nwire;
	for (uint32_t k = 0; k < o->nwire; k++) {
		unsigned bit = c->segment[plan_segment_of(c, c->nstage)].place[o->wire[k]];
		if (bit >= b->lane_bits) {
			p->row_bin[p->bins.nbit] = UINT32_C(1) << k;
			p->bins.row_bit[p->bins.nbit] = (uint8_t)(bit - b->lane_bits);
			p->bins.bin_bit[p->bins.nbit] = p->bins.nbit;
			p->bins.nbit++;
			continue;
		}
		for (unsigned lane = 0; lane < b->k->lanes; lane++)
			p->lane_bin[lane] |= ((lane >> bit) & 1) << k;
	}
}

static bool is_z(const struct pauli_term *t) { return t->nfactor && !pauli_mask(t).flip; }

/* The terms that are products of Z, or the others, behind those that are there. */
static void compile_terms(struct backend_state *b, struct cpu_circuit *c, bool z)
{
	uint32_t readout = 0;
	for (uint32_t k = 0; k < c->plan->noutput; k++) {
		const struct output *o = &c->plan->output[k];
		for (uint32_t t = 0; t < o->nterm; t++)
			if (is_z(&o->term[t]) == z) {
				struct plan_product p = plan_product(c->plan, &o->term[t]);

				struct pauli_mask m = { p.flip, p.sign, p.ny };
				c->term[c->nterm] =
					(struct cpu_term){ .kernel = cpu_kernel_term(b, m),
						.coefficient = o->term[t].coefficient,
						.readout = readout,
						.segment = p.segment,
						.order = c->nterm };
				c->nterm++;
			}
		readout += output_nreadout(o);
	}
}

/* By what a call of a kernel has in common; then in the order of the outputs. */
static int compare_terms(const void *a, const void *b)
{
	const struct cpu_term *x = a, *y = b;
	const struct kernel_term *k = &x->kernel, *l = &y->kernel;
	const size_t of[][2] = { { x->segment, y->segment }, { k->flip_row, l->flip_row },
		{ k->flip_lane, l->flip_lane }, { k->ny & 1, l->ny & 1 }, { x->order, y->order } };

	for (unsigned n = 0; n < sizeof of / sizeof *of; n++)
		if (of[n][0] != of[n][1])
			return of[n][0] < of[n][1] ? -1 : 1;
	return 0;
}

static bool goes_with(const struct cpu_terms *g, const struct cpu_term *first,
	const struct cpu_term *t)
{
	return g->count < KERNEL_TERMS_MAX && first->segment == t->segment
		&& g->partner.row == t->kernel.flip_row && g->partner.lane == t->kernel.flip_lane
		&& g->partner.imaginary == (t->kernel.ny & 1)
		&& cpu_is_identity(first) == cpu_is_identity(t);
}

static void group_terms(struct backend_state *b, struct cpu_circuit *c)
{
	struct cpu_terms *g = NULL;

	c->group = arena_alloc(&b->arena, c->nterm, sizeof *c->group);
	c->sign_row = arena_alloc(&b->arena, c->nterm, sizeof *c->sign_row);
	for (uint32_t k = 0; k < c->nterm; k++) {
		const struct cpu_term *t = &c->term[k];

		c->sign_row[k] = t->kernel.sign_row;
		if (!g || !goes_with(g, &c->term[g->first], t)) {
			g = &c->group[c->ngroup++];
			*g = (struct cpu_terms){ .first = k,
				.partner = { t->kernel.flip_row, t->kernel.flip_lane,
					t->kernel.ny & 1 } };
		}
		g->count++;
	}
}

static void compile_outputs(struct backend_state *b, struct cpu_circuit *c)
{
	const struct plan_circuit *pc = c->plan;
	uint32_t readout = 0;
	c->term = arena_alloc(&b->arena, pc->nterm, sizeof *c->term);
	compile_terms(b, c, true);
	c->nz = c->nterm;
	compile_terms(b, c, false);
	if (c->nterm > c->nz)
		qsort(c->term + c->nz, c->nterm - c->nz, sizeof *c->term, compare_terms);
	group_terms(b, c);
	c->probs = arena_alloc(&b->arena, pc->noutput, sizeof *c->probs);
	for (uint32_t k = 0; k < pc->noutput; k++) {
		const struct output *o = &pc->output[k];
		if (o->kind == OUTPUT_PROBS) {
			c->probs[c->nprobs].readout = readout;
			compile_probs(b, pc, o, &c->probs[c->nprobs++]);
		}
		readout += output_nreadout(o);
	}
}

static int by_matrix(const void *a, const void *b)
{
	const struct cpu_step *x = *(const struct cpu_step *const *)a, *y = *(const struct cpu_step *const *)b;
	if (x->plan->matrix != y->plan->matrix)
		return x->plan->matrix < y->plan->matrix ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Steps whose matrix differs from sample to sample; those with the same one follow each other. */
static void find_sample_steps(struct backend_state *b, struct cpu_circuit *c)
{
	c->sample_step = arena_alloc(&b->arena, c->plan->nstep, sizeof *c->sample_step);
	for (uint32_t k = 0; k < c->nstage; k++)
		for (uint32_t n = 0; n < c->stage[k].nstep; n++)
			if (b->plan->set.def[c->stage[k].step[n].plan->matrix]->cls == VALUE_SAMPLE)
				c->sample_step[c->nsample_step++] = &c->stage[k].step[n];
	if (c->nsample_step)
		qsort(c->sample_step, c->nsample_step, sizeof *c->sample_step, by_matrix);
}

/* Row bits of the state before stage k where it is |0> still after nstep steps. */
static size_t idle_places(const struct backend_state *b, const struct cpu_circuit *c, uint32_t nstep, uint32_t k)
{
	const struct plan_circuit *pc = c->plan;
	const uint8_t *place =
		k < pc->nstage ? pc->stage[k].place : pc->segment[plan_segment_of(pc, k)].place;
	uint64_t at = plan_places(place, plan_nonzero(b->plan, pc, nstep));
	return (c->nrow - 1) & ~(size_t)(at >> b->lane_bits);
}

void cpu_compile(struct backend_state *b)
{
	const struct plan *pl = b->plan;
	b->circuit = arena_alloc(&b->arena, pl->ncircuit, sizeof *b->circuit);
	for (uint32_t k = 0; k < pl->ncircuit; k++) {
		struct cpu_circuit *c = &b->circuit[k];
		c->plan = &pl->circuit[k];
		c->nbit = b->lane_bits ? plan_stored_bits(pl, c->plan->nbit) : c->plan->nbit;
		c->nrow = (size_t)1 << (c->nbit - b->lane_bits);
		c->nchunk = c->nrow < CPU_CHUNKS * CPU_CHUNK_ROWS ? (unsigned)(c->nrow + CPU_CHUNK_ROWS - 1) / CPU_CHUNK_ROWS : CPU_CHUNKS;
		if (c->nchunk < 1u << pl->nrank_bit)
			c->nchunk = 1u << pl->nrank_bit;
		unsigned each = c->nchunk >> b->rank_bits;
		c->span = (struct cpu_span){ each * b->rank, each * (b->rank + 1), each };
		c->start_idle = idle_places(b, c, c->plan->nstart, c->plan->nstart_stage);
		c->idle = idle_places(b, c, c->plan->nstep, c->plan->nstage);
		compile_stages(b, c);
		compile_outputs(b, c);
		cpu_z_compile(b, c);
		c->seconds = arena_alloc(&b->arena, c->nstage + (size_t)1, sizeof *c->seconds);
		cpu_tail_compile(b, c);
		find_sample_steps(b, c);
	}
	cpu_constants(b);
}
