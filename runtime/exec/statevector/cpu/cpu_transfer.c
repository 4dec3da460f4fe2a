/* SPDX-License-Identifier: Apache-2.0
 * Permutations in transfers between state and block: those at a stage's beginning and end cost nothing where they are affine, that is
 * XORs of bits: they are put into the tables by which blocks are fetched and put back.  So are the new places of bits. */
#include <string.h>
#include "runtime/exec/statevector/cpu/cpu_state.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

/* Row k of a block goes to row start ^ (sum of column[j] over bits j of k) ^ (sum of flip masks of outer bits). */
struct affine {
	unsigned nbit;
	uint32_t column[32], start;
	struct cpu_transfer flips;
};

static struct affine identity(unsigned nbit)
{
	struct affine a = { .nbit = nbit };
	for (unsigned j = 0; j < nbit; j++)
		a.column[j] = UINT32_C(1) << j;
	return a;
}

static uint32_t image(const struct affine *a, uint32_t k)
{
	uint32_t y = a->start;
	for (; k; k &= k - 1)
		y ^= a->column[__builtin_ctz(k)];
	return y;
}

/* A step as an affine map of the block's rows. */
static bool affine_of(const struct cpu_step *st, unsigned nbit, struct affine *a)
{
	unsigned d = 1u << st->kernel.ntarget, ncontrol = st->kernel.nfixed - st->kernel.ntarget;
	unsigned nbase = (unsigned)__builtin_popcountll(st->base_mask);
	const size_t *at = st->kernel.target;
	uint32_t move = (uint32_t)at[st->target[0]];
	*a = identity(nbit);
	for (unsigned r = 0; r < d; r++) /* linear but for `move`; under controls nothing else */
		for (unsigned c = 0; c < d; c++)
			if ((st->target[r] ^ st->target[c] ^ st->target[r ^ c]) != st->target[0]
				|| (ncontrol + nbase && (st->target[r] ^ r) != st->target[0]))
				return false;
	if (ncontrol + nbase > 1)
		return false;
	if (nbase) {
		a->flips.nflip = 1;
		a->flips.flip[0].outer = (uint8_t)__builtin_ctzll(st->base_mask);
		a->flips.flip[0].mask = move;
		a->start = st->base_value ? 0 : move;
		return true;
	}
	if (ncontrol) {
		uint32_t fixed = 0;
		for (unsigned k = 0; k < st->kernel.nfixed; k++)
			fixed |= UINT32_C(1) << st->kernel.fixed[k];
		fixed &= ~(uint32_t)at[d - 1];
		a->column[__builtin_ctz(fixed)] ^= move;
		a->start = st->kernel.control ? 0 : move;
		return true;
	}
	a->start = move;
	for (unsigned k = 0; k < st->kernel.ntarget; k++)
		a->column[__builtin_ctzll(at[1u << k])] = (uint32_t)at[st->target[1u << k]] ^ move;
	return true;
}

/* first, then second. */
static struct affine then(const struct affine *first, const struct affine *second)
{
	struct affine a = *first;
	a.start = image(second, first->start);
	for (unsigned j = 0; j < a.nbit; j++)
		a.column[j] = image(second, first->column[j]) ^ second->start;
	for (unsigned k = 0; k < a.flips.nflip; k++)
		a.flips.flip[k].mask = image(second, first->flips.flip[k].mask) ^ second->start;
	for (unsigned k = 0; k < second->flips.nflip; k++) {
		unsigned at = 0;
		while (at < a.flips.nflip && a.flips.flip[at].outer != second->flips.flip[k].outer)
			at++;
		if (at == a.flips.nflip)
			a.flips.flip[a.flips.nflip++] = second->flips.flip[k];
		else
			a.flips.flip[at].mask ^= second->flips.flip[k].mask;
	}
	return a;
}

/* Steps on the block that stand between a permutation and the stage's edge. */
struct between {
	uint64_t targets, controls;
};

static bool passes(const struct plan *pl, const struct cpu_step *st, const struct between *w)
{
	uint64_t targets = plan_targets(pl, st->plan), controls = plan_controls(pl, st->plan);
	return !(targets & (w->targets | w->controls)) && !(controls & w->targets);
}

/* Permutations from the stage's end (or beginning) on, as one map; false when there is none. */
static bool collect(const struct plan *pl, struct cpu_stage *s, bool end, struct affine *all)
{
	struct between w = { 0, 0 };
	bool any = false;
	*all = identity(s->nlocal);
	for (uint32_t n = 0; n < s->nstep; n++) {
		struct cpu_step *st = &s->step[end ? s->nstep - 1 - n : n];
		struct affine a;
		if (st->in_transfer)
			continue;
		if (st->permutes && passes(pl, st, &w) && affine_of(st, s->nlocal, &a)) {
			*all = end ? then(&a, all) : then(all, &a);
			any = st->in_transfer = true;
		} else {
			w.targets |= plan_targets(pl, st->plan);
			w.controls |= plan_controls(pl, st->plan);
		}
	}
	return any;
}

/* Bits of a block's rows to their places in the state. */
static struct affine moves_of(const struct cpu_stage *s)
{
	struct affine a = { .nbit = s->nlocal };
	memcpy(a.column, s->moves, s->nlocal * sizeof *a.column);
	return a;
}

static bool moves(const struct cpu_stage *s)
{
	for (unsigned j = 0; j < s->nlocal; j++)
		if (s->moves[j] != UINT32_C(1) << j)
			return true;
	return false;
}

static void take_flips(struct cpu_transfer *transfer, const struct affine *a)
{
	transfer->nflip = a->flips.nflip;
	memcpy(transfer->flip, a->flips.flip, sizeof transfer->flip);
}

void cpu_transfers(struct backend_state *b, struct cpu_stage *s, bool settled)
{
	uint32_t n = UINT32_C(1) << s->nlocal;
	struct affine a, places = moves_of(s);
	bool flips = collect(b->plan, s, true, &a);

	if (flips || moves(s)) {
		a = then(&a, &places);
		take_flips(&s->out, &a); /* in the order of the state's rows already */
		s->out.place = arena_alloc(&b->arena, n, sizeof *s->out.place);
		for (uint32_t k = 0; k < n; k++)
			s->out.place[image(&a, k)] = k;
	}
	if (settled && collect(b->plan, s, false, &a)) {
		mem_auto uint32_t *from = mem_alloc(n, sizeof *from);
		take_flips(&s->in, &a);
		s->in.place = arena_alloc(&b->arena, n, sizeof *s->in.place);
		for (uint32_t k = 0; k < n; k++) {
			s->in.place[k] = image(&a, k);
			from[s->in.place[k]] = k;
		}
		for (unsigned k = 0; k < s->in.nflip; k++) /* place[k] ^ mask = place[k ^ mask'] */
			s->in.flip[k].mask = from[s->in.flip[k].mask] ^ from[0];
	}
}
