/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: evolve(h, t), the product of exp(-i t c P) over the terms c P of an observable.
 *
 * A product of up to three letters is a gate.  Of a longer one the further letters are turned into z, and each z is
 * taken into the third letter by a controlled Pauli that anticommutes with it: C M C = Z M. */
#include "compiler/circuit_builder.h"
#include "compiler/elaborate/elab.h"

#include <stdlib.h>

struct evolution {
	struct elab *e;
	uint32_t time;   /* expression, of one step */
	uint32_t *local; /* (wires of the frame) number among the operands + 1, or 0 */
	uint32_t *wire, nwire;
	struct calls ops;
};

/* ---- one product ---- */

static void add_gate(struct evolution *v, enum gate g, uint8_t word, uint32_t angle,
	const uint32_t *on)
{
	build_gate(&v->e->design, &v->ops, g, word, &angle);
	struct apply *p = &v->ops.v[v->ops.n - 1];
	for (uint32_t k = 0; k < p->nwire; k++)
		p->wire[k] = on[p->wire[k]];
}

/* To the basis in which the letter is z, or back. */
static void change_basis(struct evolution *v, uint8_t letter, uint32_t wire, bool back)
{
	if (letter == PAULI_Y && !back)
		add_gate(v, GATE_SDG, 0, 0, &wire);
	if (letter != PAULI_Z)
		add_gate(v, GATE_H, 0, 0, &wire);
	if (letter == PAULI_Y && back)
		add_gate(v, GATE_S, 0, 0, &wire);
}

/* The letters behind the third one into it, or out of it again. */
static void gather(struct evolution *v, const struct pauli_term *t, bool back)
{
	uint32_t n = t->nfactor - GATE_TARGETS_MAX;
	const struct pauli_factor *f = t->factor + GATE_TARGETS_MAX - 1;
	enum gate with = f[0].letter == PAULI_Z ? GATE_CX : GATE_CZ;

	for (uint32_t i = 1; i <= n; i++) {
		const struct pauli_factor *g = &f[back ? n + 1 - i : i];
		const uint32_t on[] = { v->local[g->wire] - 1, v->local[f[0].wire] - 1 };

		if (!back)
			change_basis(v, g->letter, on[0], false);
		add_gate(v, with, 0, 0, on);
		if (back)
			change_basis(v, g->letter, on[0], true);
	}
}

static void add_term(struct evolution *v, const struct pauli_term *t)
{
	uint32_t on[GATE_TARGETS_MAX] = { 0 },
		 n = t->nfactor < GATE_TARGETS_MAX ? t->nfactor : GATE_TARGETS_MAX;
	struct exprs *x = &v->e->design.exprs;
	double factor = t->nfactor ? 2 * t->coefficient : -t->coefficient;
	uint32_t angle = exprs_folded(x, EXPR_MUL, exprs_const(x, factor), v->time), word = 0;

	for (uint32_t k = 0; k < n; k++) {
		on[k] = v->local[t->factor[k].wire] - 1;
		word |= (uint32_t)t->factor[k].letter << 2 * k;
	}
	if (t->nfactor > n)
		gather(v, t, false);
	add_gate(v, n ? GATE_RPAULI : GATE_GPHASE, (uint8_t)word, angle, on);
	if (t->nfactor > n)
		gather(v, t, true);
}

/* ---- all of them ---- */

static void find_wires(struct evolution *v, const struct pauli_sum *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < s->store->v[i].nfactor; k++) {
			uint32_t w = s->store->v[i].factor[k].wire;

			if (v->local[w])
				continue;
			v->wire[v->nwire++] = w;
			v->local[w] = v->nwire;
		}
}

static bool add_sums(struct evolution *v, const struct observables *h, struct span at)
{
	for (uint32_t j = 0; j < h->n; j++) {
		const struct pauli_sum *s = &h->v[j];

		if (!elab_work(v->e, s->n, at))
			return false;
		find_wires(v, s);
		for (uint32_t i = 0; i < s->n; i++)
			if (s->store->v[i].coefficient != 0)
				add_term(v, &s->store->v[i]);
	}
	return true;
}

/* The time of one of the steps. */
static bool step_time(struct elab *e, const struct node *n, int64_t nstep, uint32_t *out)
{
	struct exprs *x = &e->design.exprs;

	e->in_angle = 1;
	struct value t = elab_eval(e, n->args.v[1]);
	e->in_angle = 0;
	if (t.kind == KIND_UNKNOWN)
		return false;
	if (!value_is_number(&t))
		return elab_refuse(e, DIAG_WRONG_KIND, n->args.v[1]->span,
			"a time is a number, not %s", value_kind_text(t.kind));
	*out = exprs_folded(x, EXPR_DIV, value_expr(x, &t), exprs_const(x, (double)nstep));
	return true;
}

static bool steps(struct elab *e, const struct node *n, int64_t *nstep)
{
	*nstep = 1;
	if (n->args.n < 3)
		return true;
	if (!elab_int(e, n->args.v[2], nstep))
		return false;
	return *nstep > 0
		|| elab_refuse(e, DIAG_BAD_SIZE, n->args.v[2]->span, "%lld steps", (long long)*nstep);
}

/* Controls of the modifiers, then the qubits of the observable. */
static uint32_t *operands(struct evolution *v, const struct wire_list *control)
{
	uint32_t *w = arena_alloc(v->e->arena, (size_t)control->width + v->nwire + 1, sizeof *w);

	for (uint32_t k = 0; k < control->width; k++)
		w[k] = control->wire[k];
	for (uint32_t k = 0; k < v->nwire; k++)
		w[control->width + k] = v->wire[k];
	return w;
}

static void emit(struct evolution *v, const struct node *n, const struct wire_list *control,
	int64_t nstep)
{
	uint32_t width = v->nwire;

	if (!elab_modify(v->e, n, &v->ops, &width))
		return;
	const uint32_t *wire = operands(v, control);
	for (int64_t k = 0; k < nstep && !v->e->stop && elab_work(v->e, 1, n->span); k++)
		elab_emit_on(v->e, n, &v->ops, wire, width);
}

void elab_evolve(struct elab *e, const struct node *n)
{
	struct evolution v = { .e = e };
	struct wire_list control;
	uint32_t ncontrol, nwire = e->frame->calls->nwire;
	int64_t nstep;
	struct value h = elab_eval(e, n->args.v[0]);

	if (h.kind == KIND_UNKNOWN || !elab_operands(e, n, &control)
		|| !elab_count_controls(e, n, &ncontrol) || !steps(e, n, &nstep)
		|| !step_time(e, n, nstep, &v.time))
		return;
	if (h.kind != KIND_OBSERVABLE || control.n != 1 || control.width != ncontrol) {
		elab_error(e, DIAG_CALL_QUBITS, n->span,
			"`evolve` takes an observable, and controls of its modifiers as operands");
		return;
	}
	v.local = mem_alloc((size_t)nwire + 1, sizeof *v.local);
	v.wire = mem_alloc((size_t)nwire + 1, sizeof *v.wire);
	if (add_sums(&v, &h.obs, n->span))
		emit(&v, n, &control, nstep);
	calls_release(&v.ops);
	free(v.local);
	free(v.wire);
}
