/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: notes of calls that are several operations, so that drawings can show each as one box. */
#include "compiler/elaborate/elab.h"

/* The power that the modifiers make, 0 where it has no name; and their controls. */
static int64_t modifiers(struct elab *e, const struct node *call, struct call_note *c)
{
	int64_t power = 1;

	for (uint32_t i = 0; i < call->nmodifier; i++) {
		const struct modifier *m = &call->modifier[i];
		struct value v =
			m->arg ? elab_eval(e, m->arg) : value_int(m->kind == MODIFIER_INV ? -1 : 1);

		if (v.kind != KIND_INT)
			return 0;
		if (m->kind == MODIFIER_POW || m->kind == MODIFIER_INV) {
			if (__builtin_mul_overflow(power, v.i, &power))
				return 0;
			continue;
		}
		for (int64_t k = 0; k < v.i; k++)
			c->control_ones |= (uint64_t)(m->kind == MODIFIER_CTRL) << c->ncontrol++;
	}
	return power;
}

uint32_t elab_note(struct elab *e, const struct node *call, const struct calls *ops,
	const uint32_t *wire, uint32_t width)
{
	struct design *d = &e->design;
	struct call_note c = { .name = call->name,
		.ordered = call->builtin != CALL_EVOLVE,
		.nwire = (uint16_t)width };

	if (e->frame->block || e->ncondition)
		return 0;
	for (uint32_t i = 0; i < ops->n; i++) {
		c.noperation += ops->v[i].op == APPLY_UNITARY;
		if (ops->v[i].op != APPLY_UNITARY && ops->v[i].op != APPLY_DISCARD)
			return 0;
	}
	if (c.noperation < 2 || !(c.power = modifiers(e, call, &c)))
		return 0;
	c.wire = arena_copy(e->arena, wire, width, sizeof *wire);
	*arena_push(d->arena, d->call, d->ncall) = c;
	return d->ncall;
}
