/* SPDX-License-Identifier: Apache-2.0
 * A program's life, and the fields that follow from the others. */
#include "config.h"
#include "runtime/program/program.h"

#include <stdlib.h>

struct program *program_new(void)
{
	struct program *p = mem_alloc(1, sizeof *p);
	arena_init(&p->arena);
	return p;
}

void program_free(struct program *p)
{
	if (!p)
		return;
	arena_release(&p->arena);
	free(p);
}

static enum value_class class_max(enum value_class a, enum value_class b)
{
	return a > b ? a : b;
}

static const uint8_t operand_count[EXPR_COUNT] = {
#define EXPR(id, text, noperand) [EXPR_##id] = noperand,
#include "runtime/program/expr.def"
#undef EXPR
};

unsigned expr_noperand(enum expr_op op)
{
	return op > EXPR_NONE && op < EXPR_COUNT ? operand_count[op] : 0;
}

static enum value_class expr_class(const struct program *p, const struct expr *x)
{
	unsigned n = operand_count[x->op];
	enum value_class cls = n > 0 ? p->expr[x->a].cls : VALUE_CONSTANT;
	if (n > 1)
		cls = class_max(cls, p->expr[x->b].cls);
	if (x->op == EXPR_WEIGHT)
		cls = VALUE_SHARED;
	if (x->op == EXPR_INPUT)
		cls = VALUE_SAMPLE;
	return cls;
}

/* Structure that holds for all angles, from the items' own: products of diagonals are
 * diagonal and so on, and controls keep all three. */
static unsigned gate_structure(enum gate g, uint8_t word)
{
	unsigned f = gate_flags(g, word);
	return (f & GATE_DIAGONAL ? MATRIX_DIAGONAL : 0) | (f & GATE_PERMUTATION ? MATRIX_PERMUTATION : 0) |
		(f & GATE_REAL ? MATRIX_REAL : 0);
}

static enum value_class angles_class(const struct program *p, const struct item *it)
{
	enum value_class cls = VALUE_CONSTANT;
	for (unsigned k = 0, n = gate_row(it->gate)->nangle; k < n; k++)
		cls = class_max(cls, p->expr[it->angle[k]].cls);
	return cls;
}

void matrix_derive(const struct program *p, const struct matrix *const *def, struct matrix *m)
{
	m->cls = VALUE_CONSTANT;
	m->flags = MATRIX_DIAGONAL | MATRIX_PERMUTATION | MATRIX_REAL;
	for (uint32_t i = 0; i < m->nitem; i++) {
		const struct item *it = &m->item[i];
		if (it->gate == GATE_NONE) {
			const struct matrix *ref = def ? def[it->ref] : &p->matrix[it->ref];
			m->cls = class_max(m->cls, ref->cls);
			m->flags &= ref->flags;
		} else {
			m->cls = class_max(m->cls, angles_class(p, it));
			m->flags &= gate_structure(it->gate, it->word);
		}
	}
}

void program_derive(struct program *p)
{
	for (uint32_t i = 0; i < p->nexpr; i++)
		p->expr[i].cls = expr_class(p, &p->expr[i]);
	for (uint32_t i = 0; i < p->nmatrix; i++)
		matrix_derive(p, NULL, &p->matrix[i]);
}

uint32_t program_nwire(const struct program *p)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->ncircuit; i++)
		if (p->circuit[i].nwire > n)
			n = p->circuit[i].nwire;
	return n;
}
