/* SPDX-License-Identifier: Apache-2.0
 * Which rows of a state a stage's blocks are made of, and where the bits of the index are in them. */
#include <string.h>
#include "runtime/exec/statevector/cpu/cpu_state.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

static bool is_local(const struct plan_stage *s, unsigned bit)
{
	for (unsigned k = 0; k < s->nlocal; k++)
		if (s->local[k] == bit)
			return true;
	return false;
}

/* The bit at every place. */
static void bits_at(const uint8_t *place, unsigned nbit, uint8_t *bit)
{
	for (unsigned b = 0; b < nbit; b++)
		bit[place[b]] = (uint8_t)b;
}

/* Row bits of the block from those of the state: local bits outside the lanes, and bits that change places with local ones
 * inside, in the order of their places.  after: places behind the stage. */
static void lay_out_rows(const struct backend_state *b, const struct cpu_circuit *c, const struct plan_stage *ps, const uint8_t *after,
	struct cpu_stage *s, struct cpu_layout *l, uint8_t *row_of_place)
{
	uint64_t before = plan_nonzero(b->plan, c->plan, ps->first),
		 live = plan_nonzero(b->plan, c->plan, ps->first + ps->count);
	uint64_t back = live | plan_left(b->plan, c->plan, ps->first + ps->count), read = before | plan_left(b->plan, c->plan, ps->first);
	uint8_t bit_at[64], bit_after[64];
	bool in_block[64] = { 0 };
	bits_at(ps->place, c->nbit, bit_at);
	bits_at(after, c->nbit, bit_after);
	for (unsigned at = 0; at < c->nbit; at++)
		if (is_local(ps, bit_at[at]))
			in_block[at < b->lane_bits ? ps->partner[at] : bit_at[at]] = true;
	for (unsigned at = b->lane_bits; at < c->nbit; at++) {
		unsigned bit = bit_at[at];
		uint8_t row = (uint8_t)(at - b->lane_bits);
		if (in_block[bit]) {
			row_of_place[at] = (uint8_t)s->nlocal;
			l->row_bit[bit] = (int8_t)s->nlocal;
			s->forward.absent |= (size_t)(~before >> bit & 1) << s->nlocal;
			s->back.absent |= (size_t)(~back >> bit_after[at] & 1) << s->nlocal;
			s->unread |= (size_t)(~read >> bit & 1) << s->nlocal;
			s->row_bit[s->nlocal++] = row;
		} else {
			l->outer_bit[bit] = (int8_t)row;
			if ((live >> bit) & 1)   /* elsewhere psi is 0, and stays so */
				s->forward.outer[s->forward.nouter++] = row;
			if ((back >> bit) & 1)
				s->back.outer[s->back.nouter++] = row;
		}
	}
	s->moves = arena_alloc((struct arena *)&b->arena, s->nlocal, sizeof *s->moves);
	for (unsigned j = 0; j < s->nlocal; j++)
		s->moves[j] = UINT32_C(1) << row_of_place[after[bit_at[s->row_bit[j] + b->lane_bits]]];
}

void cpu_lay_out(const struct backend_state *b, const struct cpu_circuit *c, const struct plan_stage *ps, const uint8_t *after,
	struct cpu_stage *s, struct cpu_layout *l)
{
	uint8_t bit_at[64], row_of_place[64];
	memset(l, -1, sizeof *l);
	lay_out_rows(b, c, ps, after, s, l, row_of_place);
	bits_at(ps->place, c->nbit, bit_at);
	for (unsigned a = 0; a < b->lane_bits; a++) {
		unsigned bit = bit_at[a], partner = ps->partner[a];
		l->lane_bit[bit] = (int8_t)a;
		if (!is_local(ps, bit))
			continue;
		s->in.swap.lanes |= 1u << a;
		s->in.swap.row_bit[a] = (uint8_t)l->row_bit[partner];
		s->unread &= ~((size_t)1 << s->in.swap.row_bit[a]);
		s->out.swap.lanes |= 1u << a;
		s->out.swap.row_bit[a] = row_of_place[after[partner]];
		l->row_bit[bit] = l->row_bit[partner];
		l->lane_bit[partner] = (int8_t)a;
		l->row_bit[partner] = l->lane_bit[bit] = -1;
	}
	s->row = arena_alloc((struct arena *)&b->arena, (size_t)1 << s->nlocal, sizeof *s->row);
	for (uint32_t k = 0; k < UINT32_C(1) << s->nlocal; k++)
		s->row[k] = (uint32_t)bits_spread(k, s->row_bit, s->nlocal);
}

void cpu_lay_out_whole(const struct cpu_circuit *c, struct cpu_stage *s, struct cpu_layout *l)
{
	memset(l, -1, sizeof *l);
	for (unsigned bit = 0; bit < c->nbit; bit++)
		l->row_bit[bit] = (int8_t)bit;
	s->nlocal = c->nbit;
}
