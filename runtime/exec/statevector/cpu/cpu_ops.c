/* SPDX-License-Identifier: Apache-2.0
 * What the steps of a stage do together: diagonal ones and those on one qubit that share a visit of the rows, and
 * cx that a later step does in its matrix. */
#include "runtime/exec/statevector/cpu/cpu_state.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

/* Does it act on the block's rows alone, in all lanes and under no controls but `ncontrol` bits of the rows? */
static bool on_rows(const struct cpu_step *st, unsigned ncontrol)
{
	return !st->lane_masked && !st->base_mask && st->kernel.nfixed == st->kernel.ntarget + ncontrol;
}

/* ---- flips ---- */

/* A cx on bits of the rows. */
static bool is_flip(const struct cpu_step *st)
{
	return st->permutes && !st->in_transfer && st->kernel.ntarget == 1 && st->source[0] == 1
		&& on_rows(st, 1);
}

static struct kernel_flip flip_of(const struct cpu_step *st)
{
	const struct kernel_step *k = &st->kernel;
	uint8_t control = k->target[1] == (size_t)1 << k->fixed[0] ? k->fixed[1] : k->fixed[0];
	return (struct kernel_flip){ control, k->control != 0, k->target[1] };
}

/* Can its matrix flip a target as the bit flip says? */
static bool takes_flip(const struct cpu_step *st, const struct cpu_step *cx, struct kernel_flip f)
{
	const struct kernel_step *k = &st->kernel;
	bool has_target = k->target[1] == f.mask || k->target[2] == f.mask;
	bool has_control = f.row_bit == k->fixed[0] || f.row_bit == k->fixed[1];
	return !st->diagonal && !st->permutes && !st->plan->tail && k->ntarget == 2 && !k->lanewise && on_rows(st, 0) && has_target && !has_control
		&& k->nflip < KERNEL_FLIPS_MAX && st->plan->undo == cx->plan->undo;
}

void cpu_flips(struct backend_state *b, struct cpu_stage *s, uint32_t first)
{
	for (uint32_t k = first; k < s->nstep; k++) {
		struct cpu_step *cx = &s->step[k];
		if (!is_flip(cx))
			continue;
		struct kernel_flip f = flip_of(cx);
		uint64_t targets = plan_targets(b->plan, cx->plan),
			 controls = plan_controls(b->plan, cx->plan);
		for (uint32_t j = k + 1; j < s->nstep; j++) {
			struct cpu_step *st = &s->step[j];
			uint64_t other = plan_targets(b->plan, st->plan);
			if (st->in_transfer
				|| !((other & (targets | controls))
					| (plan_controls(b->plan, st->plan) & targets)))
				continue;
			if (takes_flip(st, cx, f)) {
				st->kernel.flip[st->kernel.nflip++] = f;
				st->back.flip[st->back.nflip++] = f;
				cx->in_transfer = true;
			}
			break;
		}
	}
}

/* ---- the forward pass ---- */

/* One of several matrices that one visit can do. */
static bool is_one(const struct cpu_step *st)
{
	return !st->diagonal && !st->permutes && st->kernel.ntarget == 1 && on_rows(st, 0);
}

static bool joins(const struct cpu_op *op, const struct cpu_step *st)
{
	if (op->none == 0 || op->none == KERNEL_ONES_MAX)
		return false;
	for (unsigned k = 0; k < op->none; k++)
		if (op->one[k]->kernel.target[1] == st->kernel.target[1])
			return false;
	return op->step->kernel.form == st->kernel.form && op->step->kernel.lanewise == st->kernel.lanewise;
}

static void put_op(struct cpu_stage *s, const struct cpu_step *st)
{
	if (is_one(st) && s->nop && joins(&s->op[s->nop - 1], st)) {
		struct cpu_op *op = &s->op[s->nop - 1];
		op->one[op->none++] = st;
		return;
	}
	s->op[s->nop++] = (struct cpu_op){ .step = st, .none = is_one(st), .one = { st } };
}

/* Diagonal steps are put off until a step changes a bit that they look at (not SHAPE_BATCHED). */
struct delay {
	struct cpu_stage *s;
	const struct cpu_step **diagonal;
	uint32_t first, n;
	uint64_t controls;
};

static void put_delayed(struct delay *d)
{
	for (uint32_t k = d->first; k < d->n; k++)
		put_op(d->s, d->diagonal[k]);
	d->first = d->n;
	d->controls = 0;
}

/* A dense matrix on all rows of every block multiplies them by a table in the same visit. */
static bool takes_along(const struct cpu_step *st)
{
	return !st->diagonal && !st->permutes && !st->kernel.lanewise && !st->kernel.nflip && !st->plan->ncontrol;
}

static void compile_op(const struct backend_state *b, struct delay *d, const struct cpu_step *st)
{
	if (b->lane_bits && st->diagonal && !st->kernel.lanewise) {
		d->diagonal[d->n++] = st;
		d->controls |= plan_controls(b->plan, st->plan);
		return;
	}
	if (!(plan_targets(b->plan, st->plan) & d->controls)) {
		put_op(d->s, st);
		return;
	}
	if (d->n - d->first < 2 || !takes_along(st)) {
		put_delayed(d);
		put_op(d->s, st);
		return;
	}
	d->s->op[d->s->nop++] = (struct cpu_op){ .step = st, .ndiagonal = d->n - d->first, .diagonal = d->diagonal + d->first };
	d->first = d->n;
	d->controls = 0;
}

void cpu_ops(struct backend_state *b, struct cpu_stage *s, uint32_t first)
{
	struct delay d = { .s = s, .diagonal = arena_alloc(&b->arena, s->nstep, sizeof *d.diagonal) };
	s->op = arena_alloc(&b->arena, s->nstep, sizeof *s->op);
	for (uint32_t k = first; k < s->nstep; k++)
		if (!s->step[k].in_transfer && !s->step[k].plan->tail)
			compile_op(b, &d, &s->step[k]);
	put_delayed(&d);
	if (s->nstep > first && s->step[s->nstep - 1].plan->tail)   /* the last one, that it may be left out */
		s->op[s->nop++] = (struct cpu_op){ .step = &s->step[s->nstep - 1] };
}

/* ---- qubits that are |0> ---- */

static bool is_on_zero(const struct cpu_op *op, uint64_t targets, uint64_t nonzero)
{
	const struct cpu_step *st = op->step;
	return op->ndiagonal == 0 && op->none <= 1 && !st->diagonal && !st->permutes
		&& !st->plan->tail && !st->plan->ncontrol && !st->kernel.lanewise
		&& !st->kernel.nflip && !(targets & nonzero);
}

/* Row bits of a step's targets that stand for bits of the state's rows. */
static size_t rows_first_written(const struct cpu_stage *s, const struct cpu_step *st)
{
	size_t bits = 0;
	for (unsigned k = 0; k < st->kernel.ntarget; k++)
		bits |= st->kernel.target[1u << k];
	for (unsigned a = 0; s->in.swap.lanes >> a; a++)
		if ((s->in.swap.lanes >> a) & 1)
			bits &= ~((size_t)1 << s->in.swap.row_bit[a]);
	return bits;
}

/* Where ops on |0> are the first to touch all idle bits, they write what rows with a 1 there hold before it is read. */
void cpu_mark_on_zero(struct backend_state *b, struct cpu_stage *s, uint64_t nonzero, size_t idle)
{
	size_t written = 0;
	for (uint32_t k = 0; k < s->nop; k++) {
		struct cpu_op *op = &s->op[k];
		uint64_t targets = 0;
		for (unsigned n = 0; n < op->none; n++)
			targets |= plan_targets(b->plan, op->one[n]->plan);
		targets |= plan_targets(b->plan, op->step->plan);
		op->on_zero = is_on_zero(op, targets, nonzero);
		if (op->on_zero)
			written |= rows_first_written(s, op->step);
		nonzero |= targets;
	}
	s->forward.unset = idle & ~written ? 0 : written;
}
