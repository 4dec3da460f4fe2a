/* SPDX-License-Identifier: Apache-2.0
 * What the applies of a design use, and warnings about weights that none uses. */
#include "config.h"
#include "compiler/pass.h"

#include <stdlib.h>

#include "runtime/base/diag.h"

static void mark_circuits(const struct design *d, struct used *u)
{
	for (uint32_t c = 0; c < d->ncircuit; c++) {
		const struct calls *l = &d->circuit[c]->calls;
		for (uint32_t i = 0; i < l->n; i++) {
			if (l->v[i].op == APPLY_UNITARY && !design_plain_swap(d, &l->v[i]))
				u->matrix[l->v[i].matrix] = true;
			for (uint32_t k = 0; k < l->v[i].nexpr; k++)
				u->expr[l->v[i].expr[k]] = true;
		}
	}
}

/* References and operands are smaller, so one walk from above reaches all. */
void used_mark(const struct design *d, struct used *u)
{
	u->matrix = mem_alloc(d->nmatrix + 1, sizeof *u->matrix);
	u->expr = mem_alloc(d->exprs.n + 1, sizeof *u->expr);
	mark_circuits(d, u);
	for (uint32_t m = d->nmatrix; m-- > 0; )
		for (uint32_t i = 0; u->matrix[m] && i < d->matrix[m].nitem; i++) {
			const struct item *it = &d->matrix[m].item[i];
			if (it->gate == GATE_NONE)
				u->matrix[it->ref] = true;
			for (unsigned k = 0; it->gate != GATE_NONE && k < gate_row(it->gate)->nangle; k++)
				u->expr[it->angle[k]] = true;
		}
	for (uint32_t i = d->exprs.n; i-- > 0; ) {
		const struct expr *x = &d->exprs.v[i];
		if (u->expr[i] && expr_noperand(x->op) > 0)
			u->expr[x->a] = true;
		if (u->expr[i] && expr_noperand(x->op) > 1)
			u->expr[x->b] = true;
	}
}

void used_release(struct used *u)
{
	free(u->matrix);
	free(u->expr);
}

bool *used_weights(const struct design *d)
{
	bool *w = mem_alloc(d->nscalar + 1, sizeof *w);
	struct used u;

	used_mark(d, &u);
	for (uint32_t i = 0; i < d->exprs.n; i++)
		if (u.expr[i] && d->exprs.v[i].op == EXPR_WEIGHT)
			w[d->exprs.v[i].a] = true;
	used_release(&u);
	return w;
}

/* Unused weights of a group, and the first of them. */
static uint32_t count(const struct weight_group *g, const bool *used, uint32_t *first)
{
	uint32_t n = 0;

	for (uint32_t k = g->count; k-- > 0; )
		if (!used[g->first + k]) {
			*first = k;
			n++;
		}
	return n;
}

static void warn_group(const struct weights *w, const bool *used, const char *why, struct diags *diags)
{
	uint32_t first = 0, n = count(&w->g, used, &first);

	if (!n)
		return;
	struct diag *g = diag_at(diags, DIAG_UNUSED_WEIGHT, w->at, n == w->g.count ? "no %s `%s`" : "no %s all of `%s`", why, w->g.path);
	if (n < w->g.count)
		diag_label(g, "%u of %u, beginning with element %u", n, w->g.count, first);
}

static bool first_at_place(const struct design *d, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (d->weight[k].at.file == d->weight[i].at.file && d->weight[k].at.begin == d->weight[i].at.begin)
			return false;
	return true;
}

void warn_unused(const struct design *d, const bool *before, const bool *after, struct diags *diags)
{
	uint32_t ignored;

	for (uint32_t i = 0; i < d->nweight && i < 4096; i++) {
		const struct weights *w = &d->weight[i];
		if (!w->at.file || !first_at_place(d, i))
			continue;
		if (count(&w->g, before, &ignored))
			warn_group(w, before, "gate uses", diags);
		else
			warn_group(w, after, "output depends on", diags);
	}
}
