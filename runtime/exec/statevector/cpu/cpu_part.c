/* SPDX-License-Identifier: Apache-2.0
 * Blocks of blocks: the last ops of a stage run on a few rows of the block at a time, which are then put back while they
 * are in the nearest cache and while the next ones are computed.
 *
 * Row j of a part is row first ^ spread(j) of the block, where spread puts the bits of j on those of the part's mask.
 * Permutations in the transfer to the state, whose place[k] is linear in the bits of k, take it to such a set of the state's rows, which
 * has a mask of its own. */
#include <stdlib.h>
#include <string.h>
#include "runtime/exec/statevector/cpu/cpu_record.h"

/* A row of the block, or of the state, as one of its part. */
static size_t inside(const uint8_t *bit, unsigned nbit, size_t row)
{
	return bits_gather(row, bit, nbit);
}

/* The bits of the block's row x outside the mask, close together. */
static size_t outside(const struct cpu_stage *s, size_t x)
{
	size_t y = 0;
	for (unsigned k = 0, n = 0; k < s->nlocal; k++)
		if (!((s->part.mask >> k) & 1))
			y |= ((x >> k) & 1) << n++;
	return y;
}

/* ---- which rows are a part ---- */

/* Row k of the state comes from row place of the block. */
static size_t place_of(const struct cpu_stage *s, size_t k) { return s->out.place ? s->out.place[k] : k; }

/* Bits of the block's rows and of the state's that the same sets of rows differ in, once closed; from: inverse of place. */
struct masks { const struct cpu_stage *s; const uint32_t *from; size_t block, state; };

static struct masks closed(struct masks m)
{
	struct masks before;
	do {
		before = m;
		for (unsigned j = 0; j < m.s->nlocal; j++) {
			size_t bit = (size_t)1 << j;
			m.block |= before.state & bit ? place_of(m.s, bit) ^ place_of(m.s, 0) : 0;
			m.state |= before.block & bit ? m.from[bit] ^ m.from[0] : 0;
		}
	} while (m.block != before.block || m.state != before.state);
	return m;
}

static size_t step_rows(const struct kernel_step *k)
{
	size_t bits = 0;
	for (unsigned f = 0; f < k->nfixed; f++)
		bits |= (size_t)1 << k->fixed[f];
	for (unsigned f = 0; f < k->nflip; f++)
		bits |= (size_t)1 << k->flip[f].row_bit | k->flip[f].mask;
	return bits;
}

/* Row bits that an op acts on or looks at; all where it cannot be done part by part. */
static size_t op_rows(const struct cpu_op *op)
{
	size_t bits = step_rows(&op->step->kernel);
	if (op->ndiagonal || op->step->plan->tail)
		return SIZE_MAX;
	for (unsigned k = 0; k < op->none; k++)
		bits |= step_rows(&op->one[k]->kernel);
	return bits;
}

static bool fits(const struct masks *m, unsigned nbit) { return bits_count(m->block) <= nbit; }

static struct masks with(struct masks m, size_t block, size_t state)
{
	m.block |= block;
	m.state |= state;
	return closed(m);
}

/* Room that ops leave goes to the lowest bits: longer runs in memory. */
static void fill(struct masks *m, unsigned nbit)
{
	for (unsigned j = 0; j < m->s->nlocal; j++) {
		struct masks more = with(*m, 0, (size_t)1 << j);
		*m = fits(&more, nbit) ? more : *m;
	}
}

static size_t swapped(const struct kernel_swap *swap)
{
	size_t mask = 0;
	for (unsigned a = 0; swap->lanes >> a; a++)
		mask |= (swap->lanes >> a) & 1 ? (size_t)1 << swap->row_bit[a] : 0;
	return mask;
}

/* Besides the bits that lanes change places with, those of the last ops, and the first op that is done by parts; false
 * where there are none. */
static bool choose(struct masks *m, uint32_t *first)
{
	const struct cpu_stage *s = m->s;
	for (*first = s->nop; *first > 0; --*first) {
		size_t rows = op_rows(&s->op[*first - 1]);
		struct masks more = *m;
		if (rows != SIZE_MAX)
			more = with(*m, rows, 0);
		if (rows == SIZE_MAX || !fits(&more, CPU_PART_BITS))
			break;
		*m = more;
	}
	fill(m, CPU_PART_BITS);
	return *first < s->nop && fits(m, CPU_PART_BITS) && !fits(m, KERNEL_TILE_BITS - 1);
}

static unsigned put_bits(uint8_t *bit, size_t mask)
{
	unsigned n = 0;
	for (; mask; mask &= mask - 1)
		bit[n++] = (uint8_t)__builtin_ctzll(mask);
	return n;
}

/* ---- its ops ---- */

static void step_inside(const struct cpu_part *p, struct kernel_step *k)
{
	size_t fixed = 0;
	for (unsigned f = 0; f < k->nfixed; f++)
		fixed |= inside(p->bit, p->nbit, (size_t)1 << k->fixed[f]);
	for (unsigned f = 0; f < k->nfixed; f++, fixed &= fixed - 1)
		k->fixed[f] = (uint8_t)__builtin_ctzll(fixed);
	for (unsigned f = 0; f < k->nflip; f++) {
		k->flip[f].row_bit = (uint8_t)__builtin_ctzll(inside(p->bit, p->nbit, (size_t)1 << k->flip[f].row_bit));
		k->flip[f].mask = inside(p->bit, p->nbit, k->flip[f].mask);
	}
	for (unsigned r = 0; r < 1u << k->ntarget; r++)
		k->target[r] = inside(p->bit, p->nbit, k->target[r]);
	k->control = inside(p->bit, p->nbit, k->control);
}

static const struct cpu_step *part_step(struct backend_state *b, const struct cpu_part *p, const struct cpu_step *st)
{
	struct cpu_step *copy = arena_alloc(&b->arena, 1, sizeof *copy);
	*copy = *st;
	step_inside(p, &copy->kernel);
	return copy;
}

static void part_ops(struct backend_state *b, const struct cpu_stage *s, uint32_t first,
	struct cpu_part *p)
{
	p->nop = s->nop - first;
	p->op = arena_alloc(&b->arena, p->nop, sizeof *p->op);
	for (uint32_t k = 0; k < p->nop; k++) {
		struct cpu_op *op = &p->op[k];
		*op = s->op[first + k];
		op->step = part_step(b, p, op->step);
		for (unsigned n = 0; n < op->none; n++)
			op->one[n] = part_step(b, p, op->one[n]);
		for (unsigned t = 0; op->on_zero && t < op->step->kernel.ntarget; t++)
			p->unset |= s->forward.unset ? op->step->kernel.target[1u << t] : 0;
	}
}

/* ---- its rows ---- */

static uint32_t *table(struct backend_state *b, unsigned nbit) { return arena_alloc(&b->arena, (size_t)1 << nbit, sizeof(uint32_t)); }

/* The rows of a part, and the permutation inside it. */
static void part_rows(struct backend_state *b, const struct cpu_stage *s, struct cpu_part *p)
{
	p->near = table(b, p->nbit);
	p->row = table(b, p->nbit);
	p->place = table(b, p->nbit);
	for (uint32_t j = 0; j < UINT32_C(1) << p->nbit; j++) {
		size_t k = bits_spread(j, p->state_bit, p->nbit);
		p->near[j] = (uint32_t)bits_spread(j, p->bit, p->nbit);
		p->row[j] = s->row[k];
		p->place[j] = (uint32_t)inside(p->bit, p->nbit, place_of(s, k) ^ place_of(s, 0));
	}
}

/* First rows of all parts, and which of the state's rows they go to, in two: what is inside a part, and the rest. */
static void part_firsts(struct backend_state *b, const struct cpu_stage *s, struct cpu_part *p)
{
	p->first = table(b, s->nlocal - p->nbit);
	p->inside = table(b, s->nlocal - p->nbit);
	p->outside = table(b, s->nlocal - p->nbit);
	for (uint32_t k = 0; k < UINT32_C(1) << s->nlocal; k++) {
		size_t from = place_of(s, k), part = outside(s, from);
		if (from & p->mask)
			continue;
		p->first[part] = (uint32_t)from;
		p->inside[part] = (uint32_t)inside(p->state_bit, p->nbit, k);
		p->outside[part] = k & ~(uint32_t)p->state_mask;
	}
}

static void take_part(struct backend_state *b, struct cpu_stage *s, const uint32_t *from)
{
	struct cpu_part *p = &s->part;
	struct masks all = closed((struct masks){ s, from, 0, swapped(&s->out.swap) });
	uint32_t first;
	if (!choose(&all, &first))
		return;
	p->mask = all.block;
	p->state_mask = all.state;
	p->nbit = put_bits(p->bit, all.block);
	put_bits(p->state_bit, all.state);
	part_ops(b, s, first, p);
	part_rows(b, s, p);
	part_firsts(b, s, p);
	p->swap.lanes = s->out.swap.lanes;
	for (unsigned a = 0; p->swap.lanes >> a; a++)
		if ((p->swap.lanes >> a) & 1)
			p->swap.row_bit[a] = (uint8_t)__builtin_ctzll(inside(p->state_bit, p->nbit, (size_t)1 << s->out.swap.row_bit[a]));
	p->nontemporal = inside(p->state_bit, p->nbit, s->forward.nontemporal) | (size_t)1 << p->nbit;
}

void cpu_part_compile(struct backend_state *b, struct cpu_stage *s)
{
	size_t rows = (size_t)1 << s->nlocal;
	if (!s->forward.nontemporal || !s->nop || s->nlocal <= CPU_PART_BITS)
		return;
	mem_auto uint32_t *from = mem_alloc(rows, sizeof *from);
	for (uint32_t k = 0; k < rows; k++)
		from[place_of(s, k)] = k;
	take_part(b, s, from);
}

size_t cpu_part_row(const struct cpu_stage *s, size_t row)
{
	return inside(s->part.bit, s->part.nbit, row) | outside(s, row) << s->part.nbit;
}

/* ---- part by part ---- */

static void fetch(const struct sweep *w, const void *block, uint32_t k, void *part)
{
	const struct cpu_part *p = &w->stage->part;
	struct kernel_rows r = { .nbit = p->nbit, .row = p->near, .unset = p->unset };
	w->b->k->gather(part, block, p->first[k], &r);
}

/* Part k of the block that begins at `base` to psi; unless sums is NULL, its sums to those. */
static void put(const struct sweep *w, void *part, size_t base, uint32_t k, struct kernel_sums *sums)
{
	const struct cpu_stage *s = w->stage;
	const struct cpu_part *p = &s->part;
	size_t flip = cpu_flip(&s->out, base), to = p->outside[k] ^ (flip & ~s->part.state_mask);
	struct kernel_rows r = { .nbit = p->nbit,
		.row = p->row,
		.swap = p->swap,
		.place = p->place,
		.flip = p->inside[k] ^ inside(p->state_bit, p->nbit, flip),
		.absent = p->nontemporal,
		.above = to & s->forward.nontemporal ? (size_t)1 << p->nbit : 0 };
	if (!sums) {
		w->b->k->scatter(part, w->psi, base + s->row[to], &r);
		return;
	}
	sums->first = (size_t)k << p->nbit;
	w->b->k->finish(part, w->psi, base + s->row[to], &r, sums);
}

static void each_part(const struct sweep *w, struct cpu_worker *thread, void *block, size_t base,
	struct kernel_sums *sums)
{
	const struct cpu_part *p = &w->stage->part;
	for (uint32_t k = 0; k < UINT32_C(1) << (w->stage->nlocal - p->nbit); k++) {
		fetch(w, block, k, thread->part);
		cpu_forward_ops(w, p->op, p->nop, thread->part, p->nbit, base, thread);
		put(w, thread->part, base, k, sums);
		cpu_record_block(w, thread, false, cpu_stage_item(w));
	}
}

static void put_parts(const struct sweep *w, struct cpu_worker *thread, void *block, size_t base)
{
	each_part(w, thread, block, base, NULL);
}

static void read_parts(const struct sweep *w, struct cpu_worker *thread, void *block, size_t base)
{
	const struct cpu_circuit *c = w->circuit;
	const struct kernels *kernels = w->b->k;
	size_t n = (size_t)c->npart_row * kernels->lanes;
	struct z_sums *z = thread->z;
	memset(z->part, 0, n * kernels->real_bytes);
	each_part(w, thread, block, base,
		&(struct kernel_sums){ .nz = c->npart_row, .sign_row = c->part_row, .out = z->part });
	kernels->fetch(z->out, z->part, n);
	cpu_z_add_parts(w, z, base);
}

const struct block_step cpu_part_put = { .block = put_parts };
const struct block_step cpu_part_read = {
	.begin = cpu_z_begin,
	.block = read_parts,
	.end = cpu_z_end,
};
