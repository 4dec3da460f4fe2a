/* SPDX-License-Identifier: Apache-2.0
 * Interning of angle expressions. */
#include "compiler/exprs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

void exprs_init(struct exprs *x) { memset(x, 0, sizeof *x); }

void exprs_release(struct exprs *x)
{
	free(x->v);
	free(x->depends);
	free(x->table);
	exprs_init(x);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 29);
}

static uint32_t hash(const struct expr *e)
{
	uint64_t bits;

	memcpy(&bits, &e->value, sizeof bits);
	return (uint32_t)mix(mix(mix(e->op, e->a), e->b), bits);
}

static bool same(const struct expr *p, const struct expr *q)
{
	return p->op == q->op && p->a == q->a && p->b == q->b
		&& !memcmp(&p->value, &q->value, sizeof p->value);
}

static void rehash(struct exprs *x)
{
	x->ntable = x->ntable ? 2 * x->ntable : 256;
	free(x->table);
	x->table = mem_alloc(x->ntable, sizeof *x->table);
	memset(x->table, 0xff, x->ntable * sizeof *x->table);
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t k = hash(&x->v[i]) & (x->ntable - 1);
		while (x->table[k] != INDEX_NONE)
			k = (k + 1) & (x->ntable - 1);
		x->table[k] = i;
	}
}

static uint8_t depends(const struct exprs *x, const struct expr *e)
{
	uint8_t d = 0;

	if (e->op == EXPR_WEIGHT)
		return EXPRS_WEIGHT;
	if (e->op == EXPR_INPUT)
		return EXPRS_INPUT;
	if (e->op == EXPR_DRAW)
		return EXPRS_DRAW;
	if (expr_noperand(e->op) > 0)
		d |= x->depends[e->a];
	if (expr_noperand(e->op) > 1)
		d |= x->depends[e->b];
	return d;
}

static uint32_t add(struct exprs *x, const struct expr *e)
{
	if (x->n >= PROGRAM_EXPRS_MAX) {
		x->full = true;
		return 0;
	}
	if (x->n >= x->cap) {
		x->cap = x->cap ? 2 * x->cap : 64;
		x->v = mem_grow(x->v, x->cap, sizeof *x->v);
		x->depends = mem_grow(x->depends, x->cap, sizeof *x->depends);
	}
	x->depends[x->n] = depends(x, e);
	x->v[x->n] = *e;
	return x->n++;
}

void exprs_load(struct exprs *x, const struct expr *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct expr e = { .op = v[i].op, .value = v[i].op == EXPR_CONST ? v[i].value : 0 };

		if (e.op != EXPR_CONST)
			e.a = v[i].a;
		if (expr_noperand(e.op) > 1)
			e.b = v[i].b;
		add(x, &e);
	}
	for (x->ntable = 128; x->ntable <= n;)
		x->ntable *= 2;
	rehash(x);
}

static uint32_t intern(struct exprs *x, const struct expr *e)
{
	if (2 * (uint64_t)x->n >= x->ntable)
		rehash(x);
	uint32_t k = hash(e) & (x->ntable - 1);
	for (; x->table[k] != INDEX_NONE; k = (k + 1) & (x->ntable - 1))
		if (same(&x->v[x->table[k]], e))
			return x->table[k];
	uint32_t i = add(x, e);
	if (!x->full)
		x->table[k] = i;
	return i;
}

uint32_t exprs_const(struct exprs *x, double value)
{
	return intern(x, &(struct expr){ .op = EXPR_CONST, .value = value });
}

uint32_t exprs_leaf(struct exprs *x, enum expr_op op, uint32_t number)
{
	return intern(x, &(struct expr){ .op = op, .a = number });
}

uint32_t exprs_node(struct exprs *x, enum expr_op op, uint32_t a, uint32_t b)
{
	return intern(x, &(struct expr){ .op = op, .a = a, .b = expr_noperand(op) > 1 ? b : 0 });
}

bool exprs_is_const(const struct exprs *x, uint32_t e, double *value)
{
	if (x->v[e].op != EXPR_CONST)
		return false;
	if (value)
		*value = x->v[e].value;
	return true;
}

/* Neutral elements: x+0, x-0, x*1, x/1, x**1, 0+x, 1*x, 0*x, x*0. */
static bool neutral(struct exprs *x, enum expr_op op, uint32_t a, uint32_t b, uint32_t *out)
{
	double va = 2, vb = 2;
	bool ca = exprs_is_const(x, a, &va), cb = exprs_is_const(x, b, &vb);

	if (cb && vb == (op == EXPR_ADD || op == EXPR_SUB ? 0.0 : 1.0)
	    && (op == EXPR_ADD || op == EXPR_SUB || op == EXPR_MUL || op == EXPR_DIV || op == EXPR_POW)) {
		*out = a;
		return true;
	}
	if (ca && ((op == EXPR_ADD && va == 0) || (op == EXPR_MUL && va == 1))) {
		*out = b;
		return true;
	}
	if (op == EXPR_MUL && ((ca && va == 0) || (cb && vb == 0))) {
		*out = exprs_const(x, 0);
		return true;
	}
	return false;
}

uint32_t exprs_folded(struct exprs *x, enum expr_op op, uint32_t a, uint32_t b)
{
	double va, vb = 0;
	uint32_t out;
	bool two = expr_noperand(op) > 1;

	if (exprs_is_const(x, a, &va) && (!two || exprs_is_const(x, b, &vb))) {
		double v = expr_apply(op, va, vb);
		if (isfinite(v))
			return exprs_const(x, v);
	}
	if (op == EXPR_NEG && x->v[a].op == EXPR_NEG)
		return x->v[a].a;
	if (two && neutral(x, op, a, b, &out))
		return out;
	return exprs_node(x, op, a, b);
}
