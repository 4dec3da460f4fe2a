/* SPDX-License-Identifier: Apache-2.0
 * Taking blocks apart where that makes them cheap: a pooling block is rotations, a bare
 * permutation or diagonal, and rotations; the rotations then merge into neighbours.
 *
 * A definition is cut into runs of one-wire items before and after everything else on
 * their wire, and a core.  A step is split when its core is cheap and the runs that find
 * no dense neighbour cost less than the block. */
#include "runtime/exec/statevector/plan/plan_build.h"

#include <math.h>
#include <string.h>

#include "runtime/base/rng.h"

/* The parts of a matrix; numbers of matrices, INDEX_NONE where there is nothing. */
struct parts {
	bool looked_at, cheap;
	uint32_t lead[MATRIX_TARGETS_MAX], trail[MATRIX_TARGETS_MAX];
	uint32_t core;               /* its matrix without the controls */
	uint8_t ncontrol, nwire, ones;
	uint8_t wire[MATRIX_TARGETS_MAX];    /* of the core: controls, then targets */
};

struct split {
	struct plan_build *b;
	struct plan_circuit *c;
	struct parts *parts;         /* (nmatrix of the program) */
	uint32_t *before, *after;    /* [step * MATRIX_TARGETS_MAX + target]: step on the same bit, or INDEX_NONE */
	struct plan_step *out;
	uint32_t nout;
};

/* ---- a definition's parts ---- */

/* The items that `mark` gives `kind`, as a matrix; on one wire w, or on all. */
static uint32_t part_matrix(struct plan_build *b, const struct matrix *m, const uint8_t *mark, uint8_t kind, int w)
{
	mem_auto struct item *item = mem_alloc(m->nitem, sizeof *item);
	uint32_t n = 0, number = INDEX_NONE;

	for (uint32_t i = 0; i < m->nitem; i++) {
		if (mark[i] != kind || (w >= 0 && m->item[i].wire[0] != w))
			continue;
		item[n] = m->item[i];
		if (w >= 0)
			item[n].wire[0] = 0;
		n++;
	}
	if (n)
		number = plan_matrix(b, w >= 0 ? 1 : m->ntarget, n, item);
	return number;
}

enum { PART_CORE, PART_LEAD, PART_TRAIL };

/* A core of one item needs no more than that item's own wires, and keeps its controls apart. */
static void set_core(struct plan_build *b, const struct matrix *m, const uint8_t *mark, struct parts *p)
{
	const struct item *only = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->nitem; i++)
		if (mark[i] == PART_CORE) {
			only = &m->item[i];
			n++;
		}
	if (n != 1) {
		p->core = part_matrix(b, m, mark, PART_CORE, -1);
		p->nwire = m->ntarget;
		for (unsigned k = 0; k < p->nwire; k++)
			p->wire[k] = (uint8_t)k;
		return;
	}
	struct item bare = *only;
	bare.ncontrol = bare.control_ones = 0;
	bare.nwire = (uint8_t)(only->nwire - only->ncontrol);
	for (unsigned k = 0; k < bare.nwire; k++)
		bare.wire[k] = (uint8_t)k;
	p->core = plan_matrix(b, bare.nwire, 1, &bare);
	p->ncontrol = only->ncontrol;
	p->nwire = only->nwire;
	p->ones = only->control_ones;
	memcpy(p->wire, only->wire, only->nwire);
}

/* Flags of the items that are neither lead nor trail. */
static unsigned core_flags(const struct plan_build *b, const struct matrix *m, const uint8_t *mark, uint32_t *n)
{
	unsigned flags = MATRIX_DIAGONAL | MATRIX_PERMUTATION;

	*n = 0;
	for (uint32_t i = 0; i < m->nitem; i++) {
		const struct item *it = &m->item[i];
		unsigned f;

		if (mark[i] != PART_CORE)
			continue;
		if (it->gate == GATE_NONE) {
			f = b->def[it->ref]->flags;
		} else {
			f = gate_flags(it->gate, it->word);
			f = (f & GATE_DIAGONAL ? MATRIX_DIAGONAL : 0) | (f & GATE_PERMUTATION ? MATRIX_PERMUTATION : 0);
		}
		flags &= f;
		++*n;
	}
	return flags;
}

static void find_parts(struct plan_build *b, const struct matrix *m, struct parts *p)
{
	mem_auto uint8_t *mark = mem_alloc(m->nitem, 1);
	uint32_t first[MATRIX_TARGETS_MAX], last[MATRIX_TARGETS_MAX] = { 0 }, ncore;

	/* Items of several wires: the first on each wire, and one behind the last. */
	for (unsigned w = 0; w < MATRIX_TARGETS_MAX; w++)
		first[w] = m->nitem;
	for (uint32_t i = m->nitem; i-- > 0; )
		for (unsigned k = 0; m->item[i].nwire > 1 && k < m->item[i].nwire; k++) {
			first[m->item[i].wire[k]] = i;
			if (!last[m->item[i].wire[k]])
				last[m->item[i].wire[k]] = i + 1;
		}
	p->looked_at = true;
	for (uint32_t i = 0; i < m->nitem; i++) {
		unsigned w = m->item[i].nwire == 1 ? m->item[i].wire[0] : 0;

		mark[i] = m->item[i].nwire != 1 ? PART_CORE : i < first[w] ? PART_LEAD : i >= last[w] ? PART_TRAIL : PART_CORE;
	}
	p->cheap = core_flags(b, m, mark, &ncore) != 0 && ncore > 0 && ncore < m->nitem;
	if (p->cheap) {
		for (unsigned w = 0; w < m->ntarget; w++) {
			p->lead[w] = part_matrix(b, m, mark, PART_LEAD, (int)w);
			p->trail[w] = part_matrix(b, m, mark, PART_TRAIL, (int)w);
		}
		set_core(b, m, mark, p);
	}
}

/* Parts of a step's matrix, or NULL where it is not worth a thought. */
static const struct parts *parts_of(struct split *s, const struct plan_step *st)
{
	if (st->op != STEP_UNITARY || st->ncontrol || st->ntarget < 2)
		return NULL;
	const struct matrix *m = s->b->def[st->matrix];
	if (m->flags & (MATRIX_DIAGONAL | MATRIX_PERMUTATION))
		return NULL;
	struct parts *p = &s->parts[st->matrix];
	if (!p->looked_at)
		find_parts(s->b, m, p);
	return p->cheap ? p : NULL;
}

/* ---- choice ---- */

/* Would a run of this matrix vanish in that step? */
static bool absorbs(struct split *s, uint32_t step, uint32_t run)
{
	const struct plan_step *st = step == INDEX_NONE ? NULL : &s->c->step[step];

	if (!st || st->op != STEP_UNITARY || st->ncontrol || st->ntarget < 2 || parts_of(s, st)
			|| s->b->def[st->matrix]->flags & (MATRIX_DIAGONAL | MATRIX_PERMUTATION))
		return false;
	enum value_class wide = s->b->def[st->matrix]->cls;
	enum value_class narrow = s->b->def[run]->cls;
	return wide == narrow || wide == VALUE_CONSTANT || narrow == VALUE_CONSTANT;
}

static double run_cost(struct split *s, uint32_t run, uint32_t neighbour)
{
	if (run == INDEX_NONE || absorbs(s, neighbour, run))
		return 0;
	return plan_cost(1, s->b->def[run]->flags);
}

static bool worth_it(struct split *s, uint32_t k, const struct parts *p)
{
	const struct plan_step *st = &s->c->step[k];
	double cost = ldexp(plan_cost(p->nwire - p->ncontrol, s->b->def[p->core]->flags), -(int)p->ncontrol);

	if (s->b->o->random)
		return rng_u64(s->b->o->random, RNG_TEST, 1, k) & 1;
	for (unsigned w = 0; w < st->ntarget; w++) {
		uint32_t at = k * MATRIX_TARGETS_MAX + w;

		cost += run_cost(s, st->adjoint ? p->trail[w] : p->lead[w], s->before[at]);
		cost += run_cost(s, st->adjoint ? p->lead[w] : p->trail[w], s->after[at]);
	}
	return cost < plan_cost(st->ntarget, s->b->def[st->matrix]->flags);
}

/* ---- result ---- */

static void emit(struct split *s, const struct plan_step *st)
{
	*arena_push(&s->b->pl->arena, s->out, s->nout) = *st;
}

static void emit_run(struct split *s, const struct plan_step *st, const uint32_t *run)
{
	for (unsigned w = 0; w < st->ntarget; w++)
		if (run[w] != INDEX_NONE)
			emit(s,
				&(struct plan_step){ .op = STEP_UNITARY,
					.matrix = run[w],
					.adjoint = st->adjoint,
					.transition = s->b->trainable[run[w]],
					.ntarget = 1,
					.bit = st->bit + w,
					.apply = st->apply });
}

static void emit_core(struct split *s, const struct plan_step *st, const struct parts *p)
{
	struct plan_step core = { .op = STEP_UNITARY,
		.matrix = p->core,
		.adjoint = st->adjoint,
		.transition = s->b->trainable[p->core],
		.ncontrol = p->ncontrol,
		.ntarget = (uint8_t)(p->nwire - p->ncontrol),
		.apply = st->apply };
	uint8_t *bit = arena_alloc(&s->b->pl->arena, p->nwire, 1);

	for (unsigned k = 0; k < core.ntarget; k++)
		bit[k] = st->bit[p->wire[p->ncontrol + k]];
	for (unsigned k = 0; k < p->ncontrol; k++)
		bit[core.ntarget + k] = st->bit[p->wire[k]];
	core.control_mask = bits_spread(UINT64_MAX, bit + core.ntarget, p->ncontrol);
	core.control_value = bits_spread(p->ones, bit + core.ntarget, p->ncontrol);
	core.bit = bit;
	emit(s, &core);
}

static void find_neighbours(struct split *s)
{
	uint32_t last[PLAN_WIRES_MAX];

	memset(last, 0xff, sizeof last);         /* INDEX_NONE */
	for (uint32_t k = 0; k < s->c->nstep; k++) {
		const struct plan_step *st = &s->c->step[k];

		for (unsigned w = 0; w < (unsigned)st->ntarget + st->ncontrol; w++) {
			uint32_t p = last[st->bit[w]];

			if (w < st->ntarget && w < MATRIX_TARGETS_MAX)
				s->before[k * MATRIX_TARGETS_MAX + w] = p;
			for (unsigned v = 0; p != INDEX_NONE && v < s->c->step[p].ntarget && v < MATRIX_TARGETS_MAX; v++)
				if (s->c->step[p].bit[v] == st->bit[w])
					s->after[p * MATRIX_TARGETS_MAX + v] = k;
			last[st->bit[w]] = k;
		}
	}
}

static void write_steps(struct split *s)
{
	for (uint32_t k = 0; k < s->c->nstep; k++) {
		const struct plan_step *st = &s->c->step[k];
		const struct parts *p = parts_of(s, st);

		if (!p || !worth_it(s, k, p)) {
			emit(s, st);
			continue;
		}
		emit_run(s, st, st->adjoint ? p->trail : p->lead);
		emit_core(s, st, p);
		emit_run(s, st, st->adjoint ? p->lead : p->trail);
	}
	s->c->step = s->out;
	s->c->nstep = s->nout;
}

void plan_split(struct plan_build *b, struct plan_circuit *c)
{
	size_t n = (size_t)c->nstep * MATRIX_TARGETS_MAX;
	mem_auto struct parts *parts = mem_alloc(b->pl->program->nmatrix, sizeof *parts);
	mem_auto uint32_t *before = mem_alloc(n, sizeof *before),
			  *after = mem_alloc(n, sizeof *after);
	struct split s = { .b = b, .c = c, .parts = parts, .before = before, .after = after };

	memset(s.before, 0xff, n * sizeof *s.before);
	memset(s.after, 0xff, n * sizeof *s.after);
	find_neighbours(&s);
	write_steps(&s);
}
