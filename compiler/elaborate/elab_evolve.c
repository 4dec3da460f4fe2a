/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: evolve(h, t), the product of exp(-i t c P) over the terms c P of an observable.
 *
 * A product of up to three letters is a gate.  Of a longer one, three letters are: the pivot M, which is x or y if the
 * product has one, and two others.  A further letter L is taken out by controlled-L from the pivot, since C M C = M L
 * where z anticommutes with M; if all are z, by a cx to the pivot.  No gate of these rounds. */
#include "compiler/circuit_builder.h"
#include "compiler/elaborate/elab.h"

#include <math.h>
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

static uint32_t pivot_of(const struct pauli_term *t)
{
	for (uint32_t k = 0; k < t->nfactor; k++)
		if (t->factor[k].letter != PAULI_Z)
			return k;
	return 0;
}

/* Is letter k the pivot or one of the first two others? */
static bool in_gate(uint32_t k, uint32_t pivot)
{
	return k == pivot || k < (pivot < GATE_TARGETS_MAX ? GATE_TARGETS_MAX : GATE_TARGETS_MAX - 1);
}

/* The other letters into the pivot, or out of it again. */
static void gather(struct evolution *v, const struct pauli_term *t, uint32_t pivot, bool back)
{
	static const enum gate by_letter[] = {
		[PAULI_X] = GATE_CX, [PAULI_Y] = GATE_CY, [PAULI_Z] = GATE_CZ
	};
	const uint32_t p = v->local[t->factor[pivot].wire] - 1;
	bool all_z = t->factor[pivot].letter == PAULI_Z;

	for (uint32_t i = 0; i < t->nfactor; i++) {
		uint32_t k = back ? t->nfactor - 1 - i : i, w = v->local[t->factor[k].wire] - 1;

		if (!in_gate(k, pivot))
			add_gate(v, all_z ? GATE_CX : by_letter[t->factor[k].letter], 0, 0,
				(const uint32_t[]){ all_z ? w : p, all_z ? p : w });
	}
}

static void add_term(struct evolution *v, const struct pauli_term *t)
{
	uint32_t on[GATE_TARGETS_MAX] = { 0 }, n = 0, word = 0, pivot = pivot_of(t);
	struct exprs *x = &v->e->design.exprs;
	double factor = t->nfactor ? 2 * t->coefficient : -t->coefficient;
	uint32_t angle = exprs_folded(x, EXPR_MUL, exprs_const(x, factor), v->time);

	for (uint32_t k = 0; k < t->nfactor; k++)
		if (in_gate(k, pivot)) {
			word |= (uint32_t)t->factor[k].letter << 2 * n;
			on[n++] = v->local[t->factor[k].wire] - 1;
		}
	if (n < t->nfactor)
		gather(v, t, pivot, false);
	add_gate(v, n ? GATE_RPAULI : GATE_GPHASE, (uint8_t)word, angle, on);
	if (n < t->nfactor)
		gather(v, t, pivot, true);
}

/* ---- all of them ---- */

static void find_wires(struct evolution *v, const struct pauli_term *t)
{
	for (uint32_t k = 0; k < t->nfactor; k++) {
		uint32_t w = t->factor[k].wire;

		if (v->local[w])
			continue;
		v->wire[v->nwire++] = w;
		v->local[w] = v->nwire;
	}
}

static bool add_sum(struct evolution *v, const struct pauli_sum *s, struct span at)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct pauli_term *t = &s->store->v[i];

		if (!isfinite(2 * t->coefficient))
			return elab_refuse(v->e, DIAG_NOT_FINITE_VALUE, at,
				"twice a coefficient is no finite number");
		if (t->coefficient == 0)
			continue;
		find_wires(v, t);
		add_term(v, t);
	}
	return true;
}

static bool add_sums(struct evolution *v, const struct observables *h, struct span at)
{
	bool fine = true;

	for (uint32_t j = 0; fine && j < h->n; j++)
		fine = elab_work(v->e, h->v[j].n, at) && add_sum(v, &h->v[j], at);
	return fine;
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

/* Controls are needed where angles are: without these gates, those that gather and scatter a product's letters undo
 * each other. */
static void free_gathers(struct evolution *v, uint32_t ncontrol)
{
	for (uint32_t i = 0; i < v->ops.n; i++) {
		struct apply *p = &v->ops.v[i];

		if (gate_row(design_single(&v->e->design, p->matrix)->gate)->nangle)
			continue;
		p->wire += ncontrol;
		p->nwire -= (uint16_t)ncontrol;
		p->ncontrol -= (uint16_t)ncontrol;
		p->control_ones >>= ncontrol;
	}
}

static void emit(struct evolution *v, const struct node *n, const struct wire_list *control,
	int64_t nstep)
{
	uint32_t width = v->nwire;

	if (!elab_modify(v->e, n, &v->ops, &width))
		return;
	free_gathers(v, control->width);
	const uint32_t *wire = operands(v, control);
	for (int64_t k = 0; v->ops.n && k < nstep && !v->e->stop && elab_work(v->e, 1, n->span); k++)
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
	if (h.kind != KIND_OBSERVABLE) {
		diag_help(elab_error(e, DIAG_WRONG_KIND, n->args.v[0]->span,
				  "an observable is needed here, not %s", value_kind_text(h.kind)),
			"a sum of no terms is a number: begin it with an observable, for example `let h = 0*z(q[0]);`");
		return;
	}
	if (control.n != 1 || control.width != ncontrol) {
		elab_error(e, DIAG_CALL_QUBITS, n->span,
			"`evolve` takes as operands only the controls of its modifiers");
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
