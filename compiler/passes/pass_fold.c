/* SPDX-License-Identifier: Apache-2.0
 * Constant folding: numbers in angle expressions are computed, and gates that are
 * the identity for their constant angles vanish.
 *
 * Requires: nothing.  Keeps: blocks as matrices, order of applies.  Breaks: numbers
 * of expressions and matrices (both are interned anew). */
#include "compiler/passes/pass.h"

#include <stdlib.h>

static uint32_t *fold_exprs(struct design *d)
{
	struct exprs old = d->exprs;
	uint32_t *map = mem_alloc(old.n + 1, sizeof *map);

	exprs_init(&d->exprs);
	for (uint32_t i = 0; i < old.n; i++) {
		const struct expr *x = &old.v[i];
		unsigned n = expr_noperand(x->op);
		if (x->op == EXPR_CONST)
			map[i] = exprs_const(&d->exprs, x->value);
		else if (n == 0)
			map[i] = exprs_leaf(&d->exprs, x->op, x->a);
		else
			map[i] = exprs_folded(&d->exprs, x->op, map[x->a], n > 1 ? map[x->b] : 0);
	}
	exprs_release(&old);
	return map;
}

static bool identity(const struct design *d, const struct item *it)
{
	cplx u[1 << 2 * GATE_TARGETS_MAX];
	double angle[GATE_ANGLES_MAX];
	unsigned dim = 1u << (it->nwire - it->ncontrol);

	for (unsigned k = 0; k < gate_row(it->gate)->nangle; k++)
		if (!exprs_is_const(&d->exprs, it->angle[k], &angle[k]))
			return false;
	gate_matrix(it->gate, it->word, angle, u);
	for (unsigned r = 0; r < dim; r++)
		for (unsigned c = 0; c < dim; c++)
			if (u[r * dim + c] != (r == c))
				return false;
	return true;
}

/* The items that are left of m, in out; their number. */
static uint32_t fold_items(const struct design *d, const struct matrix *m, const uint32_t *expr,
	const uint32_t *matrix, struct item *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->nitem; i++) {
		struct item it = m->item[i];
		if (it.gate == GATE_NONE) {
			if (matrix[it.ref] == INDEX_NONE)
				continue;
			it.ref = matrix[it.ref];
		} else {
			for (unsigned k = 0; k < gate_row(it.gate)->nangle; k++)
				it.angle[k] = expr[it.angle[k]];
			if (identity(d, &it))
				continue;
		}
		out[n++] = it;
	}
	return n;
}

/* Old number to new, INDEX_NONE for the identity. */
static uint32_t *fold_matrices(struct design *d, const uint32_t *expr)
{
	struct matrix *old = d->matrix;
	uint32_t nold = d->nmatrix, *map = mem_alloc(nold + 1, sizeof *map);

	free(d->table);
	d->matrix = NULL;
	d->table = NULL;
	d->nmatrix = d->ntable = 0;
	d->nitem = 0;
	for (uint32_t m = 0; m < nold; m++) {
		mem_auto struct item *item = mem_alloc(old[m].nitem + 1, sizeof *item);
		uint32_t n = fold_items(d, &old[m], expr, map, item);
		map[m] = n ? design_matrix(d, old[m].name, old[m].ntarget, item, n) : INDEX_NONE;
	}
	return map;
}

static void fold_calls(struct calls *c, const uint32_t *expr, const uint32_t *matrix)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		struct apply *p = &c->v[i];
		for (uint32_t k = 0; k < p->nexpr; k++)
			p->expr[k] = expr[p->expr[k]];
		if (p->op == APPLY_UNITARY) {
			if (matrix[p->matrix] == INDEX_NONE)
				continue;
			p->matrix = matrix[p->matrix];
		}
		c->v[kept++] = *p;
	}
	c->n = kept;
}

void pass_fold(struct design *d)
{
	mem_auto uint32_t *expr = fold_exprs(d);
	mem_auto uint32_t *matrix = fold_matrices(d, expr);

	for (uint32_t c = 0; c < d->ncircuit; c++)
		fold_calls(&d->circuit[c]->calls, expr, matrix);
}
