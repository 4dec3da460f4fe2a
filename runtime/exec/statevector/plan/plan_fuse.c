/* SPDX-License-Identifier: Apache-2.0
 * Merging of steps: one greedy walk in the order of the program.
 *
 * A group is a step that may still grow: a list of items on at most three bits.  A new
 * step joins the group that was last on all of its bits, or takes into itself groups
 * that were last on theirs; nothing that lies between can then touch those bits.  The
 * merged matrix is a product that refers to the program's matrices, so its derivatives
 * run through the definition, and equal products are one matrix. */
#include "runtime/exec/statevector/plan/plan_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/rng.h"

enum { GROUP_ITEMS_MAX = 4096 };

struct group {
	struct plan_step step;       /* as it was, for a group of one */
	bool dead;                   /* taken into another */
	bool closed;                 /* too wide, or no unitary */
	bool merged;
	uint8_t nbit;
	uint8_t bit[MATRIX_TARGETS_MAX];
	enum value_class cls;
	unsigned flags;
	struct item *item;           /* wires are positions in bit[] */
	uint32_t nitem, cap;
};

struct fuse {
	struct plan_build *b;
	struct plan_circuit *c;
	struct group *group;
	uint32_t ngroup;
	struct group *last[PLAN_WIRES_MAX];      /* on each bit */
	uint64_t drawn;
};

/* An entry of a dense matrix has one part where its structure says so. */
static double dense_cost(unsigned ntarget, unsigned flags)
{
	return (flags & (MATRIX_REAL | MATRIX_PARITY) ? 4 : 8) << ntarget;
}

double plan_cost(unsigned ntarget, unsigned flags)
{
	if (flags & MATRIX_DIAGONAL)
		return 6;
	return flags & MATRIX_PERMUTATION ? 4 : dense_cost(ntarget, flags);
}

double plan_transition_cost(unsigned ntarget, unsigned flags)
{
	return flags & MATRIX_DIAGONAL ? 4 : dense_cost(ntarget, flags) - 4;
}

static double group_cost(const struct group *g)
{
	return g->merged ? plan_cost(g->nbit, g->flags)
		: ldexp(plan_cost(g->step.ntarget, g->flags), -(int)g->step.ncontrol);
}

/* ---- groups ---- */

static void add_item(struct group *g, const struct item *it)
{
	mem_reserve(g->item, g->nitem, g->cap);
	g->item[g->nitem++] = *it;
}

struct item plan_item(const struct plan_step *s)
{
	struct item it = { .adjoint = s->adjoint, .ncontrol = s->ncontrol,
		.nwire = (uint8_t)(s->ncontrol + s->ntarget), .ref = s->matrix };

	for (unsigned k = 0; k < s->ntarget; k++)
		it.wire[s->ncontrol + k] = (uint8_t)k;
	for (unsigned k = 0; k < s->ncontrol; k++) {
		it.wire[k] = (uint8_t)(s->ntarget + k);
		if (s->control_value >> s->bit[s->ntarget + k] & 1)
			it.control_ones |= (uint8_t)(1 << k);
	}
	return it;
}

static void group_init(struct group *g, const struct plan_build *b, const struct plan_step *s)
{
	unsigned nbit = s->ntarget + s->ncontrol;

	*g = (struct group){ .step = *s, .closed = s->op != STEP_UNITARY || nbit > MATRIX_TARGETS_MAX };
	if (g->closed)
		return;
	g->nbit = (uint8_t)nbit;
	memcpy(g->bit, s->bit, nbit);
	g->cls = b->def[s->matrix]->cls;
	g->flags = b->def[s->matrix]->flags;
	add_item(g, &(struct item){ 0 });
	g->item[0] = plan_item(s);
}

static int place_of(const struct group *g, uint8_t bit)
{
	for (unsigned k = 0; k < g->nbit; k++)
		if (g->bit[k] == bit)
			return (int)k;
	return -1;
}

static bool covers(const struct group *wide, const struct group *narrow)
{
	for (unsigned k = 0; k < narrow->nbit; k++)
		if (place_of(wide, narrow->bit[k]) < 0)
			return false;
	return true;
}

/* Append the items of `from`, a group on bits of `to`. */
static void append_items(struct group *to, const struct group *from)
{
	for (uint32_t i = 0; i < from->nitem; i++) {
		struct item it = from->item[i];

		for (unsigned w = 0; w < it.nwire; w++)
			it.wire[w] = (uint8_t)place_of(to, from->bit[it.wire[w]]);
		add_item(to, &it);
	}
}

static void note_merge(struct group *to, const struct group *from)
{
	to->merged = true;
	to->flags &= from->flags;
	to->cls = to->cls > from->cls ? to->cls : from->cls;
	to->step.apply = to->step.apply < from->step.apply ? to->step.apply : from->step.apply;
}

/* `second` acts after `first`, on bits of it. */
static void join(struct group *first, struct group *second)
{
	append_items(first, second);
	note_merge(first, second);
	second->dead = true;
}

/* `first` acts before `second`, on bits of it. */
static void take(struct group *second, struct group *first)
{
	struct group own = *second;

	second->item = NULL;
	second->nitem = second->cap = 0;
	append_items(second, first);
	append_items(second, &own);
	free(own.item);
	note_merge(second, first);
	first->dead = true;
}

/* ---- choice ---- */

/* A matrix shared by all samples must not become one per sample. */
static bool classes_fit(const struct group *a, const struct group *b)
{
	return a->cls == b->cls || a->cls == VALUE_CONSTANT || b->cls == VALUE_CONSTANT;
}

static bool worth_it(struct fuse *f, const struct group *wide, const struct group *narrow)
{
	double merged = plan_cost(wide->nbit, wide->flags & narrow->flags);

	if (wide->closed || narrow->closed || !classes_fit(wide, narrow)
			|| wide->nitem + narrow->nitem > GROUP_ITEMS_MAX)
		return false;
	if (f->b->o->random)
		return rng_u64(f->b->o->random, RNG_TEST, f->drawn++, 0) & 1;
	return merged <= group_cost(wide) + group_cost(narrow);   /* one visit is better than two */
}

/* Is g the last group on all bits of `of`? */
static bool is_last(const struct fuse *f, const struct group *g, const struct group *of)
{
	for (unsigned k = 0; k < of->nbit; k++)
		if (f->last[of->bit[k]] != g)
			return false;
	return true;
}

static bool join_earlier(struct fuse *f, struct group *g)
{
	struct group *p = f->last[g->bit[0]];

	if (!p || !is_last(f, p, g) || p->closed || !covers(p, g) || !worth_it(f, p, g))
		return false;
	join(p, g);
	return true;
}

static void take_earlier(struct fuse *f, struct group *g)
{
	for (unsigned k = 0; k < g->nbit; k++) {
		struct group *p = f->last[g->bit[k]];

		if (p && p != g && !p->closed && covers(g, p) && is_last(f, p, p) && worth_it(f, g, p))
			take(g, p);
		f->last[g->bit[k]] = p && p->dead ? NULL : p;
	}
}

static void note_last(struct fuse *f, struct group *g)
{
	unsigned nbit = g->step.ntarget + g->step.ncontrol;

	for (unsigned k = 0; k < nbit; k++)
		f->last[g->step.bit[k]] = g;
}

static void walk(struct fuse *f)
{
	for (uint32_t k = 0; k < f->c->nstep; k++) {
		struct group *g = &f->group[f->ngroup++];

		group_init(g, f->b, &f->c->step[k]);
		if (!g->closed && join_earlier(f, g))
			continue;
		if (!g->closed)
			take_earlier(f, g);
		note_last(f, g);
	}
}

/* ---- result ---- */

static struct plan_step merged_step(struct plan_build *b, const struct group *g)
{
	struct plan_step s = { .op = STEP_UNITARY, .ntarget = g->nbit, .apply = g->step.apply };

	s.matrix = plan_matrix(b, g->nbit, g->nitem, g->item);
	s.transition = b->trainable[s.matrix];
	s.bit = arena_copy(&b->pl->arena, g->bit, g->nbit, 1);
	return s;
}

static void write_steps(struct fuse *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->ngroup; i++) {
		struct group *g = &f->group[i];

		if (!g->dead)
			f->c->step[n++] = g->merged ? merged_step(f->b, g) : g->step;
		free(g->item);
	}
	f->c->nstep = n;
}

void plan_fuse(struct plan_build *b, struct plan_circuit *c)
{
	struct fuse f = { .b = b, .c = c };

	f.group = mem_alloc(c->nstep, sizeof *f.group);
	walk(&f);
	write_steps(&f);
	free(f.group);
}
