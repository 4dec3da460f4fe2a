/* SPDX-License-Identifier: Apache-2.0
 * Light cone: applies that cannot reach an output of their circuit are dropped.
 * What acts on wires that nothing read later touches is a unitary under a trace.
 *
 * Requires: nothing.  Keeps: discard and measure marks, outputs.  Breaks: the state
 * itself; a circuit without outputs is left as it is. */
#include "compiler/passes/pass.h"

#include <string.h>

static void mark_outputs(const struct circuit *c, bool *alive)
{
	for (uint32_t i = 0; i < c->noutput; i++) {
		const struct output *o = &c->output[i];
		for (uint32_t k = 0; k < o->nwire; k++)
			alive[o->wire[k]] = true;
		for (uint32_t t = 0; t < o->nterm; t++)
			for (uint32_t k = 0; k < o->term[t].nfactor; k++)
				alive[o->term[t].factor[k].wire] = true;
	}
}

/* Whether p is kept; *alive goes from behind p to before it. */
static bool reaches(const struct design *d, const struct apply *p, bool *alive)
{
	bool any = false;

	if (p->op == APPLY_DISCARD || p->op == APPLY_MEASURE)
		return true;
	for (uint32_t k = 0; k < p->nwire; k++)
		any = any || alive[p->wire[k]];
	if (any && design_plain_swap(d, p)) {
		bool t = alive[p->wire[0]];
		alive[p->wire[0]] = alive[p->wire[1]];
		alive[p->wire[1]] = t;
		return true;
	}
	for (uint32_t k = 0; any && k < p->nwire; k++)
		alive[p->wire[k]] = true;
	return any;
}

bool *pass_cone_wires(const struct design *d, const struct circuit *c)
{
	const struct calls *l = &c->calls;
	mem_auto bool *alive = mem_alloc(l->nwire + 1, sizeof *alive);
	bool *ever = mem_alloc(l->nwire + 1, sizeof *ever);

	mark_outputs(c, alive);
	memcpy(ever, alive, l->nwire * sizeof *ever);
	for (uint32_t i = l->n; i-- > 0; )
		if (reaches(d, &l->v[i], alive))
			for (uint32_t k = 0; k < l->v[i].nwire; k++)
				ever[l->v[i].wire[k]] |= alive[l->v[i].wire[k]];
	return ever;
}

static void cone(const struct design *d, struct circuit *c)
{
	struct calls *l = &c->calls;
	mem_auto bool *alive = mem_alloc(l->nwire + 1, sizeof *alive),
		      *keep = mem_alloc(l->n + 1, sizeof *keep);
	uint32_t kept = 0;

	mark_outputs(c, alive);
	for (uint32_t i = l->n; i-- > 0; )
		keep[i] = reaches(d, &l->v[i], alive);
	for (uint32_t i = 0; i < l->n; i++)
		if (keep[i])
			l->v[kept++] = l->v[i];
	l->n = kept;
}

void pass_cone(struct design *d)
{
	for (uint32_t c = 0; c < d->ncircuit; c++)
		if (d->circuit[c]->noutput)
			cone(d, d->circuit[c]);
}
