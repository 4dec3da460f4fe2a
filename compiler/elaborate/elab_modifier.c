/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: ctrl, negctrl, inv and pow on what a call does. */
#include "compiler/channels.h"
#include "compiler/circuit_builder.h"
#include "compiler/elaborate/elab.h"

#include <math.h>

static bool controls(struct elab *e, const struct modifier *m, uint32_t *n)
{
	int64_t k = 1;

	if (m->arg && !elab_int(e, m->arg, &k))
		return false;
	if (k < 1 || k > PROGRAM_CONTROLS_MAX)
		return elab_refuse(e, DIAG_BAD_SIZE, m->span, "%lld controls, 1 to %d are possible",
			(long long)k, PROGRAM_CONTROLS_MAX);
	*n = (uint32_t)k;
	return true;
}

bool elab_count_controls(struct elab *e, const struct node *call, uint32_t *n)
{
	uint32_t k;

	*n = 0;
	for (uint32_t i = 0; i < call->nmodifier; i++) {
		enum modifier_kind kind = call->modifier[i].kind;
		if (kind != MODIFIER_CTRL && kind != MODIFIER_NEGCTRL)
			continue;
		if (!controls(e, &call->modifier[i], &k))
			return false;
		*n += k;
	}
	if (*n <= PROGRAM_CONTROLS_MAX)
		return true;
	return elab_refuse(e, DIAG_LIMIT_SIZE, call->span, "a gate under more than %d controls",
		PROGRAM_CONTROLS_MAX);
}

/* New controls in front of all operands. */
static bool control(struct elab *e, const struct modifier *m, struct calls *ops, uint32_t *nwire)
{
	bool one = m->kind == MODIFIER_CTRL;
	uint32_t n;

	if (!controls(e, m, &n))
		return false;
	if (!build_controls(&e->design, ops, n, one))
		return elab_refuse(e, DIAG_LIMIT_SIZE, m->span,
			"a gate under more than %d controls", PROGRAM_CONTROLS_MAX);
	*nwire += n;
	return true;
}

static bool repeat(struct elab *e, const struct modifier *m, struct calls *ops, int64_t times)
{
	uint32_t n = ops->n;
	uint64_t k = times < 0 ? -(uint64_t)times : (uint64_t)times;

	if (times < 0)
		build_inverse(&e->design, ops);
	if (n == 1 && design_self_inverse(&e->design, ops->v[0].matrix))
		k %= 2;
	if (n && k > COMPILE_CALLS_MAX / n)
		return elab_refuse(e, DIAG_LIMIT_CALLS, m->span,
			"the power gives more than %d calls of gates", COMPILE_CALLS_MAX);
	for (uint64_t i = 1; i < k; i++)
		for (uint32_t j = 0; j < n; j++) {
			struct apply p = ops->v[j];
			calls_add(ops, &p);
		}
	if (k == 0)
		ops->n = 0;
	return true;
}

static bool fraction(struct elab *e, const struct node *call, const struct modifier *m, struct calls *ops, double t)
{
	struct apply *p = &ops->v[0];
	bool constant = true;

	if (ops->n == 0)
		return true;
	if (ops->n == 1 && principal_power(&e->design, p->matrix, t, &p->matrix, &constant))
		return true;
	if (!constant)
		diag_help(elab_error(e, DIAG_POWER, m->span, "a fractional power of `%s` needs constant angles", call->name),
			"multiply the angle instead, or use one of x y z and their words, h, cx, cz, swap, iswap");
	else
		diag_help(elab_error(e, DIAG_POWER, m->span, "`%s` has no exact form for the power %g", call->name, t),
			"fractional powers exist of one-qubit gates, Pauli words and their rotations, swap, iswap, and these under controls");
	return false;
}

static bool power(struct elab *e, const struct node *call, const struct modifier *m, struct calls *ops)
{
	bool block = call->decl && call->decl->kind == NODE_BLOCK_DEF;

	e->in_angle = 1;
	struct value t = elab_eval(e, m->arg);
	e->in_angle = 0;
	if (t.kind == KIND_UNKNOWN)
		return false;
	if (t.kind == KIND_INT)
		return repeat(e, m, ops, t.i);
	if (!block && build_power(&e->design, ops, value_expr(&e->design.exprs, &t)))
		return true;
	if (t.kind == KIND_ANGLE || (block && t.f != nearbyint(t.f))) {
		struct diag *g = elab_error(e, DIAG_POWER, m->span, t.kind == KIND_ANGLE
			? "the exponent of `%s` must be constant" : "the exponent of block `%s` must be an integer", call->name);
		diag_help(g, "exponents that are weights or data go with x y z and their words, h, cx, cz, swap, iswap");
		return false;
	}
	if (t.f == nearbyint(t.f) && fabs(t.f) <= COMPILE_CALLS_MAX)
		return repeat(e, m, ops, (int64_t)t.f);
	return fraction(e, call, m, ops, t.f);
}

/* Channels have no inverse. Blocks that discard or measure are refused where their names are resolved. */
static bool no_noise(struct elab *e, const struct node *call, const struct calls *ops)
{
	for (uint32_t i = 0; i < ops->n; i++) {
		const struct apply *p = &ops->v[i];
		if (!design_is_channel(&e->design, p->matrix) && !has_own_wire(p))
			continue;
		struct diag *g = elab_error(e, DIAG_TRACES, call->modifier[0].span,
			"block `%s` has a noise channel and cannot stand under a modifier",
			call->name);
		if (p->span != INDEX_NONE)
			diag_second(g, e->design.place[p->span], "the channel");
		return false;
	}
	return true;
}

bool elab_whole_power(struct elab *e, const struct node *call, int64_t *power)
{
	*power = 1;
	for (uint32_t i = 0; i < call->nmodifier; i++) {
		const struct modifier *m = &call->modifier[i];
		struct value v = value_int(-1);

		if (m->kind != MODIFIER_POW && m->kind != MODIFIER_INV)
			continue;
		if (m->kind == MODIFIER_POW)
			v = elab_eval(e, m->arg);
		if (v.kind == KIND_FLOAT && v.f == nearbyint(v.f) && fabs(v.f) < 0x1p53)
			v = value_int((int64_t)v.f);
		if (v.kind != KIND_INT || __builtin_mul_overflow(*power, v.i, power))
			return false;
	}
	return *power != INT64_MIN;
}

/* Powers of a matrix, which all controls are around, are computed. */
static bool power_of_matrix(struct elab *e, const struct node *call, struct calls *ops, int64_t k)
{
	const struct calls *body = k ? elab_power(e, call->decl, (uint64_t)(k < 0 ? -k : k)) : NULL;

	ops->n = 0;
	for (uint32_t i = 0; body && i < body->n; i++)
		calls_add(ops, &body->v[i]);
	if (k < 0)
		build_inverse(&e->design, ops);
	return body || !k;
}

bool elab_modify(struct elab *e, const struct node *call, struct calls *ops, uint32_t *nwire)
{
	bool computed = false;
	int64_t k;

	if (call->nmodifier && !no_noise(e, call, ops))
		return false;
	if (call->decl && call->decl->kind == NODE_MATRIX_DEF && elab_whole_power(e, call, &k)) {
		if (!power_of_matrix(e, call, ops, k))
			return false;
		computed = true;
	}
	for (uint32_t i = call->nmodifier; i-- > 0; ) {
		const struct modifier *m = &call->modifier[i];
		bool fine = true;
		if (computed && (m->kind == MODIFIER_INV || m->kind == MODIFIER_POW))
			continue;
		if (m->kind == MODIFIER_INV)
			build_inverse(&e->design, ops);
		else if (m->kind == MODIFIER_POW)
			fine = power(e, call, m, ops);
		else
			fine = control(e, m, ops, nwire);
		if (!fine)
			return false;
	}
	return true;
}
