/* SPDX-License-Identifier: Apache-2.0
 * Inverse cancellation: two neighbours that are each other's inverse by definition
 * (one matrix, opposite adjoint or its own inverse, the same wires) vanish, over
 * applies on other wires and repeatedly from the inside out.
 *
 * Requires: nothing.  Keeps: order of what is left, marks.  Breaks: nothing. */
#include "compiler/passes/pass.h"

struct walk {
	const struct design *d;
	struct calls *c;
	uint32_t *last;                  /* of each wire: the newest apply on it that is left */
	uint32_t *before;                /* of each apply and wire of it: `last` when it came */
	size_t *at;                      /* where an apply's part of `before` begins */
	bool *gone;
};

static bool inverses(const struct walk *w, const struct apply *p, const struct apply *q)
{
	if (p->op != APPLY_UNITARY || q->op != APPLY_UNITARY || p->matrix != q->matrix
	    || p->nwire != q->nwire || p->ncontrol != q->ncontrol || p->control_ones != q->control_ones)
		return false;
	for (uint32_t k = 0; k < p->nwire; k++)
		if (p->wire[k] != q->wire[k])
			return false;
	return p->adjoint != q->adjoint || design_self_inverse(w->d, p->matrix);
}

static bool cancels(const struct walk *w, const struct apply *p, uint32_t *with)
{
	*with = p->nwire ? w->last[p->wire[0]] : INDEX_NONE;
	if (*with == INDEX_NONE)
		return false;
	for (uint32_t k = 0; k < p->nwire; k++)
		if (w->last[p->wire[k]] != *with)
			return false;
	return inverses(w, &w->c->v[*with], p);
}

static void step(struct walk *w, uint32_t i)
{
	const struct apply *p = &w->c->v[i];
	uint32_t with;

	if (cancels(w, p, &with)) {
		w->gone[i] = w->gone[with] = true;
		for (uint32_t k = 0; k < p->nwire; k++)
			w->last[p->wire[k]] = w->before[w->at[with] + k];
		return;
	}
	for (uint32_t k = 0; k < p->nwire; k++) {
		w->before[w->at[i] + k] = w->last[p->wire[k]];
		w->last[p->wire[k]] = i;
	}
}

static void cancel(const struct design *d, struct calls *c)
{
	arena_auto arena = { 0 };
	struct walk w = { .d = d, .c = c };
	size_t total = 0;
	uint32_t kept = 0;

	w.at = arena_alloc(&arena, c->n + 1, sizeof *w.at);
	for (uint32_t i = 0; i < c->n; i++) {
		w.at[i] = total;
		total += c->v[i].nwire;
	}
	w.before = arena_alloc(&arena, total + 1, sizeof *w.before);
	w.last = arena_alloc(&arena, c->nwire + 1, sizeof *w.last);
	w.gone = arena_alloc(&arena, c->n + 1, sizeof *w.gone);
	for (uint32_t k = 0; k < c->nwire; k++)
		w.last[k] = INDEX_NONE;
	for (uint32_t i = 0; i < c->n; i++)
		step(&w, i);
	for (uint32_t i = 0; i < c->n; i++)
		if (!w.gone[i])
			c->v[kept++] = c->v[i];
	c->n = kept;
}

void pass_cancel(struct design *d)
{
	for (uint32_t c = 0; c < d->ncircuit; c++)
		cancel(d, &d->circuit[c]->calls);
}
