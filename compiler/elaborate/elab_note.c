/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: notes of calls that are several operations, so that drawings can show each as one box. */
#include "compiler/elaborate/elab.h"

static void controls(struct elab *e, const struct node *call, struct call_note *c)
{
	for (uint32_t i = 0; i < call->nmodifier; i++) {
		const struct modifier *m = &call->modifier[i];
		bool one = m->kind == MODIFIER_CTRL;
		int64_t n = 1;

		if (!one && m->kind != MODIFIER_NEGCTRL)
			continue;
		if (m->arg)
			elab_int(e, m->arg, &n);
		for (int64_t k = 0; k < n; k++)
			c->control_ones |= (uint64_t)one << c->ncontrol++;
	}
}

/* It is one operation of another matrix (elab_modifier.c). */
static bool is_power_of_matrix(const struct node *call, int64_t power)
{
	return call->decl && call->decl->kind == NODE_MATRIX_DEF && power != 1 && power != -1;
}

uint32_t elab_note(struct elab *e, const struct node *call, const struct calls *ops,
	const uint32_t *wire, uint32_t width)
{
	struct design *d = &e->design;
	struct call_note c = { .name = call->name,
		.ordered = call->builtin != CALL_EVOLVE,
		.nwire = (uint16_t)width };

	if (e->frame->block || e->frame->ncondition)
		return 0;
	for (uint32_t i = 0; i < ops->n; i++) {
		c.noperation += ops->v[i].op == APPLY_UNITARY;
		if (ops->v[i].op != APPLY_UNITARY && ops->v[i].op != APPLY_DISCARD)
			return 0;
		if (has_own_wire(&ops->v[i]))
			return 0;
	}
	if (!elab_whole_power(e, call, &c.power)
		|| c.noperation < (is_power_of_matrix(call, c.power) ? 1 : 2))
		return 0;
	controls(e, call, &c);
	c.wire = arena_copy(e->arena, wire, width, sizeof *wire);
	*arena_push(d->arena, d->call, d->ncall) = c;
	return d->ncall;
}
