/* SPDX-License-Identifier: Apache-2.0
 * What the applies of a design use. */
#include "compiler/passes/pass.h"

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
	u->matrix = arena_alloc(d->arena, d->nmatrix + 1, sizeof *u->matrix);
	u->expr = arena_alloc(d->arena, d->exprs.n + 1, sizeof *u->expr);
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

bool *used_scalars(const struct design *d, enum expr_op op)
{
	bool *w = mem_alloc((op == EXPR_WEIGHT ? d->nscalar : d->ninput_scalar) + 1, sizeof *w);
	struct used u;

	used_mark(d, &u);
	for (uint32_t i = 0; i < d->exprs.n; i++)
		if (u.expr[i] && d->exprs.v[i].op == op)
			w[d->exprs.v[i].a] = true;
	return w;
}
