/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: calls of gates and blocks. */
#include "compiler/channels.h"
#include "compiler/circuit_builder.h"
#include "compiler/elaborate/elab.h"

#include <math.h>
#include <stdlib.h>

/* ---- emitting ---- */

static struct apply under_conditions(struct elab *e, const struct apply *p)
{
	uint32_t n = e->frame->ncondition;
	struct apply q = apply_copy(e->arena, p, n);

	for (uint32_t k = 0; k < n; k++)
		q.wire[k] = e->frame->condition[k].wire;
	q.control_ones <<= n;
	for (uint32_t k = 0; k < n; k++)
		q.control_ones |= (uint64_t)e->frame->condition[k].one << k;
	q.ncontrol += (uint16_t)n;
	q.nwire += (uint16_t)n;
	return q;
}

/* Where a phase on all of the state can stand; the measurements of OpenQASM are outputs and leave every qubit free. */
static bool phase_wire(const struct elab *e, uint32_t *wire)
{
	const struct calls *c = e->frame->calls;

	for (*wire = 0; *wire < c->nwire; ++*wire)
		if (c->wire[*wire].use < WIRE_MEASURED || e->tree->dialect != DIALECT_MODEL)
			return true;
	return false;
}

static void note_use(struct elab *e, const struct apply *p)
{
	struct calls *c = e->frame->calls;
	static const enum wire_use use[APPLY_COUNT] = {
		[APPLY_UNITARY] = WIRE_USED, [APPLY_SWAP] = WIRE_USED, [APPLY_AMPLITUDES] = WIRE_USED,
		[APPLY_STATE] = WIRE_USED, [APPLY_DISCARD] = WIRE_DISCARDED, [APPLY_MEASURE] = WIRE_MEASURED,
	};

	for (uint32_t k = 0; k < p->nwire && p->wire[k] != WIRE_OWN; k++) {
		struct wire_state *s = &c->wire[p->wire[k]];
		if (use[p->op] <= s->use)
			continue;
		s->use = use[p->op];
		if (p->span != INDEX_NONE)
			s->at = e->design.place[p->span];
	}
}

static bool take_own_wire(struct elab *e, struct apply *p, struct span at)
{
	struct calls *c = e->frame->calls;

	if (!has_own_wire(p))
		return true;
	if (c->nwire == PROGRAM_WIRES_MAX) {
		elab_in_loop(e,
			elab_error(e, DIAG_LIMIT_QUBITS, at,
				"with a qubit for each amplitude damping, the circuit has more than %d qubits",
				PROGRAM_WIRES_MAX));
		e->stop = true;
		return false;
	}
	calls_wires(c, 1);
	p->wire[p->nwire - 1] = c->nwire - 1;
	return true;
}

static void discard_own_wire(struct elab *e, const struct apply *p)
{
	struct apply d = *p;

	d.op = APPLY_DISCARD;
	d.matrix = 0;
	d.ncontrol = 0;
	d.control_ones = 0;
	d.nwire = 1;
	d.wire = arena_copy(e->arena, &p->wire[p->nwire - 1], 1, sizeof *p->wire);
	note_use(e, &d);
	calls_add(e->frame->calls, &d);
}

void elab_emit(struct elab *e, const struct apply *p, struct span at)
{
	bool own = false;

	struct apply q = *p;
	uint32_t wire = 0, ncondition = p->op == APPLY_UNITARY ? e->frame->ncondition : 0;

	if (++e->ncall > COMPILE_CALLS_MAX || e->design.full || e->design.exprs.full) {
		elab_in_loop(e, elab_error(e, DIAG_LIMIT_CALLS, at, "the model has more than %d calls of gates", COMPILE_CALLS_MAX));
		e->stop = true;
		return;
	}
	if (p->op == APPLY_MEASURE && e->frame->calls->wire[p->wire[0]].use == WIRE_MEASURED)
		return;
	if (p->ncontrol + ncondition > PROGRAM_CONTROLS_MAX) {
		elab_error(e, DIAG_LIMIT_SIZE, at, "a gate under more than %d controls", PROGRAM_CONTROLS_MAX);
		return;
	}
	if (ncondition)
		q = under_conditions(e, p);
	if (!e->frame->block) {
		if (q.op == APPLY_UNITARY)
			q.matrix = channel_use(&e->design, q.matrix);
		q.layer = e->layer->note;
		if (q.op == APPLY_UNITARY && q.nwire == 0 && !phase_wire(e, &wire)) {
			elab_error(e, DIAG_NO_QUBITS, at, "no qubit is there that a phase could act on");
			return;
		}
		/* Conditions come first: a phase under these alone cannot be seen. */
		if (q.op == APPLY_UNITARY && q.ncontrol && q.nwire == q.ncontrol
			&& e->frame->calls->wire[q.wire[q.nwire - 1]].use == WIRE_MEASURED)
			return;
		call_settle(&e->design, &q, wire);
		own = has_own_wire(&q);
		if (!take_own_wire(e, &q, at))
			return;
	}
	note_use(e, &q);
	calls_add(e->frame->calls, &q);
	if (own)
		discard_own_wire(e, &q);
}

/* ---- qubits ---- */

struct diag *elab_twice(struct elab *e, const uint32_t *wire, uint32_t k, struct span at,
	const char *what)
{
	char name[80];

	for (uint32_t i = 0; i < k; i++)
		if (wire[i] == wire[k])
			return elab_error(e, DIAG_SAME_QUBIT, at, "qubit %s twice in %s",
				elab_wire_name(e, wire[k], name, sizeof name), what);
	return NULL;
}

static bool distinct(struct elab *e, const uint32_t *wire, uint32_t n, struct span at)
{
	struct diag *g = NULL;

	for (uint32_t k = 1; k < n && !g; k++)
		g = elab_twice(e, wire, k, at, "one gate");
	if (g)
		diag_label(g, "its operands must be different qubits");
	return !g;
}

struct diag *elab_wire_fault(struct elab *e, enum diag_code code, struct span at, uint32_t wire,
	const char *fault, const char *before)
{
	const struct wire_state *s = &e->frame->calls->wire[wire];
	char name[80];
	struct diag *g = elab_error(e, code, at, "qubit %s %s",
		elab_wire_name(e, wire, name, sizeof name), fault);

	if (s->at.file)
		diag_second(g, s->at, "%s", before);
	return g;
}

static bool alive(struct elab *e, uint32_t wire, bool measured_allowed, struct span at)
{
	enum wire_use use = e->frame->calls->wire[wire].use;

	if (use == WIRE_DISCARDED)
		elab_wire_fault(e, DIAG_AFTER_DISCARD, at, wire, "is used after it was discarded",
			"discarded here");
	else if (use == WIRE_MEASURED && !measured_allowed)
		diag_help(elab_wire_fault(e, DIAG_AFTER_MEASURE, at, wire,
				  "is used after it was measured", "measured here"),
			"%s",
			e->tree->dialect == DIALECT_MODEL
				? "it may be measured again by `if (measure ...)`, discarded, or read by `z` and `probs`"
				: "measurements end a circuit; in a model, `if (measure q[0]) x q[1];` acts on other qubits");
	else
		return true;
	return false;
}

static bool before_observe(struct elab *e, struct span at)
{
	if (!e->circuit->observed.file || e->frame->block)
		return true;
	struct diag *g = elab_error(e, DIAG_AFTER_OBSERVE, at, "a gate after `observe`");
	diag_second(g, e->circuit->observed, "the outputs are fixed here");
	return false;
}

bool elab_wires_free(struct elab *e, const uint32_t *wire, uint32_t n, struct span at)
{
	for (uint32_t k = 0; k < n; k++)
		if (!alive(e, wire[k], false, at))
			return false;
	return before_observe(e, at) && distinct(e, wire, n, at);
}

/* The first thing that the applies do with an operand. */
static enum apply_op first_use(const struct calls *ops, uint32_t wire)
{
	for (uint32_t i = 0; i < ops->n; i++)
		for (uint32_t k = 0; k < ops->v[i].nwire; k++)
			if (ops->v[i].wire[k] == wire)
				return ops->v[i].op;
	return APPLY_NONE;
}

static bool usable(struct elab *e, const struct node *call, const struct calls *ops, const uint32_t *wire, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		struct span at = call->a || k >= call->list.n ? call->span : call->list.v[k]->span;
		bool measured = e->frame->calls->wire[wire[k]].use == WIRE_MEASURED;
		enum apply_op first = measured ? first_use(ops, k) : APPLY_NONE;
		if (!alive(e, wire[k], first == APPLY_MEASURE || first == APPLY_DISCARD, at))
			return false;
	}
	return before_observe(e, call->span) && distinct(e, wire, n, call->a ? call->a->span : call->span);
}

/* ---- arguments ---- */

struct args { uint32_t n; struct value *v; const struct node **at; bool each; };

/* A written number beyond two turns: rx(90) is 90 radians. */
static void warn_degrees(struct elab *e, const struct node *n, const struct value *v)
{
	const struct node *l = n->kind == NODE_UNARY && n->op == AST_NEG ? n->a : n;

	if (e->tree->dialect != DIALECT_MODEL || (l->kind != NODE_INT && l->kind != NODE_REAL)
		|| (v->kind != KIND_INT && v->kind != KIND_FLOAT) || fabs(value_number(v)) <= 4 * PI)
		return;
	struct diag *g = elab_error(e, DIAG_DEGREES, n->span, "an angle of %g radians looks like degrees", value_number(v));
	diag_help(g, "%g degrees are %g*pi/180", value_number(v), value_number(v));
}

static bool eval_arg(struct elab *e, const struct node *call, const struct node *n, uint32_t k, uint32_t ntuple, struct value *v)
{
	bool each = n->kind == NODE_EACH;

	e->in_angle = !call->decl || call->decl->list.v[k]->op != AST_TYPE_INT;
	*v = elab_eval(e, each ? n->a : n);
	e->in_angle = 0;
	if (v->kind == KIND_UNKNOWN)
		return false;
	if (!call->decl && call->builtin != CALL_CHANNEL)
		warn_degrees(e, n, v);
	if (!each || value_len(v) == ntuple)
		return true;
	uint32_t len = value_len(v);
	struct diag *g = elab_error(e, DIAG_EACH_LENGTH, n->span, "`each` over %u element%s for %u uses", len, len == 1 ? "" : "s", ntuple);
	elab_declared(g, n->a, "declared here");
	if (call->a)
		diag_second(g, call->a->span, "%u tuples", ntuple);
	return false;
}

static bool eval_args(struct elab *e, const struct node *call, uint32_t ntuple, struct args *a)
{
	bool fine = true;

	a->n = call->args.n;
	a->v = mem_alloc(a->n + 1, sizeof *a->v);
	a->at = mem_alloc(a->n + 1, sizeof *a->at);
	for (uint32_t k = 0; k < a->n; k++) {
		a->at[k] = call->args.v[k];
		a->each = a->each || a->at[k]->kind == NODE_EACH;
		fine = eval_arg(e, call, a->at[k], k, ntuple, &a->v[k]) && fine;
	}
	return fine;
}

/* ---- what a call does, on its own operands ---- */

/* "name(t, k) a, b", from the declaration. */
static void declared_signature(struct elab *e, const struct node *decl, struct buf *out)
{
	uint32_t nangle = ast_count_angles(decl);

	buf_str(out, decl->name);
	for (uint32_t i = 0; i < decl->list.n; i++) {
		const struct node *f = decl->list.v[i];

		buf_str(out, i == nangle ? i ? ") " : " " : i ? ", " : "(");
		buf_str(out, f->name);
		if (f->op == AST_TYPE_QUBIT && f->a)
			buf_printf(out, "[%u]", elab_formal_width(e, f));
	}
}

static void gate_signature(const struct node *call, struct buf *out)
{
	const struct gate_row *r = gate_row(call->gate);
	uint32_t nqubit = r->ncontrol + gate_ntarget(call->gate, call->word);

	buf_str(out, call->name);
	for (uint32_t k = 0; k < r->nangle; k++)
		buf_str(out, k ? ", angle" : "(angle");
	buf_str(out, r->nangle ? ")" : "");
	for (uint32_t k = 0; k < nqubit; k++)
		buf_printf(out, "%s%c", k ? ", " : " ", 'a' + (int)k);
}

static void note_signature(struct elab *e, struct diag *g, const struct node *call)
{
	buf_auto text = BUF_INIT;

	if (call->builtin == CALL_CHANNEL)
		return;
	if (call->decl)
		declared_signature(e, call->decl, &text);
	else
		gate_signature(call, &text);
	diag_note(g, "signature: %s", text.data);
}

/* width: operands of a tuple; a channel may act on several numbers of them. */
static uint32_t callee_wires(struct elab *e, const struct node *call, uint32_t width)
{
	if (call->builtin == CALL_CHANNEL)
		return width && width < channel_row((enum channel)call->word)->nqubit
			? width
			: channel_row((enum channel)call->word)->nqubit;
	return call->decl ? elab_count_wires(e, call->decl)
			  : gate_row(call->gate)->ncontrol + gate_ntarget(call->gate, call->word);
}

/* The callee's applies for the k-th use, on `width` operands, modifiers included. */
static bool callee_ops(struct elab *e, const struct node *call, const struct args *a, uint32_t k,
	uint32_t width, struct calls *out)
{
	mem_auto struct value *v = mem_alloc(a->n + 1, sizeof *v);
	uint32_t angle[GATE_ANGLES_MAX], nwire = callee_wires(e, call, width);
	bool fine = true;

	for (uint32_t i = 0; i < a->n; i++)
		v[i] = a->at[i]->kind == NODE_EACH ? array_row(e->arena, a->v[i].array, k) : a->v[i];
	out->n = 0;
	if (call->decl) {
		const struct calls *body = elab_block(e, call, call->decl, v, a->at);
		fine = body != NULL;
		for (uint32_t i = 0; body && i < body->n; i++)
			calls_add(out, &body->v[i]);
	} else if (call->builtin == CALL_CHANNEL) {
		fine = elab_channel(e, call, v, a->at, width, out);
	} else {
		for (uint32_t i = 0; i < a->n; i++)
			angle[i] = value_expr(&e->design.exprs, &v[i]);
		build_gate(&e->design, out, call->gate, call->word, angle);
	}
	return fine && elab_modify(e, call, out, &nwire);
}

/* ---- calls ---- */

void elab_emit_on(struct elab *e, const struct node *call, const struct calls *ops,
	const uint32_t *wire, uint32_t width)
{
	if (!usable(e, call, ops, wire, width))
		return;
	uint32_t note = elab_note(e, call, ops, wire, width);
	for (uint32_t i = 0; i < ops->n && !e->stop; i++) {
		struct apply p = apply_copy(e->arena, &ops->v[i], 0);
		for (uint32_t k = 0; k < p.nwire; k++)
			if (p.wire[k] != WIRE_OWN)
				p.wire[k] = wire[p.wire[k]];
		p.call = note;
		if (p.span == INDEX_NONE)
			p.span = design_place(&e->design, call->span);
		elab_emit(e, &p, call->span);
	}
	/* operands that the callee leaves alone were acted upon all the same */
	for (uint32_t k = 0; k < width; k++)
		if (e->frame->calls->wire[wire[k]].use == WIRE_UNUSED)
			e->frame->calls->wire[wire[k]].use = WIRE_USED;
}

static bool right_width(struct elab *e, const struct node *call, const struct wire_list *w)
{
	uint32_t extra, want = callee_wires(e, call, w->width);

	if ((call->decl && !want) || !elab_count_controls(e, call, &extra))
		return false;
	if (w->width == want + extra || (call->a && w->n == 0))
		return true;
	struct diag *g = elab_error(e, call->a ? DIAG_TUPLE_WIDTH : DIAG_CALL_QUBITS, call->a ? call->a->span : call->span,
		"`%s` acts on %u qubit%s%s, %u given", call->name, want + extra, want + extra == 1 ? "" : "s",
		extra ? " with its controls" : "", w->width);
	note_signature(e, g, call);
	if (call->decl)
		diag_second(g, call->decl->name_span, "declared here");
	return false;
}

void elab_call(struct elab *e, const struct node *n)
{
	struct args a = { 0 };
	struct calls ops = { 0 };
	struct wire_list w;

	if (n->builtin == CALL_AMPLITUDES) {
		elab_amplitudes(e, n);
		return;
	}
	if (n->builtin == CALL_EVOLVE) {
		elab_evolve(e, n);
		return;
	}
	if (!elab_operands(e, n, &w) || !right_width(e, n, &w))
		return;
	if (eval_args(e, n, w.n, &a)) {
		bool fine = true;
		for (uint32_t k = 0; k < w.n && fine && elab_work(e, 1, n->span); k++) {
			if (k == 0 || a.each)
				fine = callee_ops(e, n, &a, k, w.width, &ops);
			if (fine)
				elab_emit_on(e, n, &ops, w.wire + (size_t)k * w.width, w.width);
		}
	}
	calls_release(&ops);
	free(a.v);
	free(a.at);
}
