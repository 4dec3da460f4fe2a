/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: the qubits of calls, `discard`, `measure` and `amplitudes`. */
#include "compiler/elaborate/elab.h"

#include "compiler/elaborate/unitary.h"

/* ---- operands ---- */

/* One length for all lists longer than 1; *n is set to it. */
static bool broadcast_length(struct elab *e, const struct node *call, const struct wire_list *w, uint32_t *n)
{
	uint32_t longest = 0;

	*n = 1;
	for (uint32_t i = 0; i < call->list.n; i++) {
		if (w[i].n == 1)
			continue;
		if (*n != 1 && w[i].n != *n) {
			struct diag *g = elab_error(e, DIAG_BROADCAST, call->list.v[i]->span, "%u qubits beside a list of %u", w[i].n, *n);
			diag_label(g, "%u qubits", w[i].n);
			diag_second(g, call->list.v[longest]->span, "%u qubits", *n);
			diag_help(g, "lists in one call have one length; single qubits are repeated");
			return false;
		}
		*n = w[i].n;
		longest = i;
	}
	return true;
}

static bool operands_broadcast(struct elab *e, const struct node *call, const struct wire_list *w, struct wire_list *out)
{
	uint32_t n, width = call->list.n;

	if (!broadcast_length(e, call, w, &n) || !elab_work(e, (uint64_t)n * width / 4, call->span))
		return false;
	uint32_t *wire = arena_alloc(e->arena, (size_t)n * width + 1, sizeof *wire);
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < width; i++)
			wire[(size_t)k * width + i] = w[i].wire[w[i].n == 1 ? 0 : k];
	*out = (struct wire_list){ n, width, wire };
	return true;
}

/* A formal that is a list takes an operand as long as it is: there is one use. */
static bool operands_of_lists(struct elab *e, const struct node *call, const struct wire_list *w,
	struct wire_list *out)
{
	const struct node_list *formals = &call->decl->list;
	uint32_t ncontrol, nangle = ast_count_angles(call->decl), total = 0, want, *wire;

	if (!elab_count_controls(e, call, &ncontrol))
		return false;
	for (uint32_t i = 0; i < call->list.n; i++, total += want) {
		uint32_t at = nangle + i - ncontrol;
		const struct node *formal = i < ncontrol || at >= formals->n ? NULL : formals->v[at];

		want = formal ? elab_formal_width(e, formal) : 1;
		if (!want)
			return false;
		if (w[i].n != want)
			return elab_refuse(e, DIAG_CALL_QUBITS, call->list.v[i]->span,
				"%u qubits for %s`%s`, which has %u", w[i].n,
				formal ? "" : "a control of ", formal ? formal->name : call->name,
				want);
	}
	wire = arena_alloc(e->arena, (size_t)total + 1, sizeof *wire);
	*out = (struct wire_list){ 1, total, wire };
	for (uint32_t i = 0; i < call->list.n; i++)
		for (uint32_t k = 0; k < w[i].n; k++)
			*wire++ = w[i].wire[k];
	return true;
}

bool elab_operands(struct elab *e, const struct node *call, struct wire_list *out)
{
	bool fine = true;

	if (call->a) {
		struct value v = elab_eval(e, call->a);

		*out = v.list;
		return v.kind != KIND_UNKNOWN;
	}
	mem_auto struct wire_list *w = mem_alloc(call->list.n + 1, sizeof *w);
	for (uint32_t i = 0; i < call->list.n; i++)
		fine = elab_qubits(e, call->list.v[i], &w[i]) && fine;
	return fine
		&& (ast_takes_lists(call->decl) ? operands_of_lists(e, call, w, out)
						: operands_broadcast(e, call, w, out));
}

/* ---- discard ---- */

static bool all_operands(struct elab *e, const struct node *n, struct wire_list *out)
{
	uint32_t count = 0, *wire = NULL;
	bool fine = true;
	struct wire_list w;

	for (uint32_t i = 0; i < n->list.n; i++) {
		fine = elab_qubits(e, n->list.v[i], &w) && fine;
		for (uint32_t k = 0; fine && k < w.n; k++)
			*arena_push(e->arena, wire, count) = w.wire[k];
	}
	*out = (struct wire_list){ count, 1, wire };
	return fine;
}

static void mark(struct elab *e, enum apply_op op, uint32_t wire, struct span at)
{
	struct apply p = { .op = op, .nwire = 1, .span = design_place(&e->design, at) };

	p.wire = arena_copy(e->arena, &wire, 1, sizeof wire);
	elab_emit(e, &p, at);
}

void elab_discard(struct elab *e, const struct node *n)
{
	struct wire_list w;

	if (!all_operands(e, n, &w))
		return;
	for (uint32_t k = 0; k < w.n; k++) {
		if (e->frame->calls->wire[w.wire[k]].use == WIRE_DISCARDED) {
			elab_wire_fault(e, DIAG_AFTER_DISCARD, n->span, w.wire[k],
				"is discarded twice", "discarded here");
			return;
		}
		if (e->circuit->observed.file && !e->frame->block) {
			struct diag *g = elab_error(e, DIAG_AFTER_OBSERVE, n->span, "`discard` after `observe`");
			diag_second(g, e->circuit->observed, "the outputs are fixed here");
			return;
		}
		mark(e, APPLY_DISCARD, w.wire[k], n->span);
	}
}

/* ---- measurement-conditioned pooling ---- */

static bool measure(struct elab *e, const struct node *n, uint32_t wire)
{
	const struct wire_state *s = &e->frame->calls->wire[wire];

	for (uint32_t i = 0; i < e->frame->ncondition; i++)
		if (e->frame->condition[i].wire == wire)
			return elab_refuse(e, DIAG_SAME_QUBIT, n->a->span,
				"this qubit is measured already by an enclosing `if`");
	if (s->use == WIRE_MEASURED)
		return true;
	if (!elab_wires_free(e, &wire, 1, n->a->span))
		return false;
	mark(e, APPLY_MEASURE, wire, n->a->span);
	return true;
}

static void branch(struct elab *e, const struct node *body, uint32_t wire, bool one)
{
	struct frame *f = e->frame;

	*arena_push(e->arena, f->condition, f->ncondition) = (struct condition){ wire, one };
	elab_body(e, body);
	f->ncondition--;
}

void elab_if_measure(struct elab *e, const struct node *n)
{
	struct wire_list w;

	if (!elab_qubits(e, n->a, &w))
		return;
	if (w.n != 1) {
		elab_error(e, DIAG_CALL_QUBITS, n->a->span, "`measure` takes one qubit, not %u", w.n);
		return;
	}
	uint32_t wire = w.wire[0];
	if (!measure(e, n, wire))
		return;
	branch(e, n->c, wire, true);
	if (n->b)
		branch(e, n->b, wire, false);
}

/* ---- amplitudes ---- */

static bool untouched(struct elab *e, const struct wire_list *w, struct span at)
{
	char name[80];

	for (uint32_t k = 0; k < w->n; k++) {
		if (e->frame->calls->wire[w->wire[k]].use != WIRE_UNUSED) {
			struct diag *g = elab_error(e, DIAG_AMPLITUDES, at,
				"qubit %s was acted upon before `amplitudes`",
				elab_wire_name(e, w->wire[k], name, sizeof name));
			diag_help(g,
				"amplitudes are prepared on qubits that are still |0>, before any gate");
			return false;
		}
		if (elab_twice(e, w->wire, k, at, "`amplitudes`"))
			return false;
	}
	return true;
}

static bool put_state(struct elab *e, const struct node *n, const struct value *v, struct apply *p)
{
	struct input_group *g = &e->design.input[v->input];
	uint32_t dim = p->nwire <= 23 ? 1u << p->nwire : 0;

	if (!dim)
		return elab_refuse(e, DIAG_LIMIT_SIZE, n->span,
			"a state of %u qubits is more than %d input numbers", p->nwire,
			PROGRAM_INPUTS_MAX);
	if (g->count && g->dim[0] != dim)
		return elab_refuse(e, DIAG_AMPLITUDES, n->span,
			"input state `%s` stands on %u amplitudes here and on %u elsewhere",
			g->name, dim, g->dim[0]);
	uint64_t total = e->design.ninput_scalar + (g->count ? 0 : 2 * (uint64_t)dim);
	for (uint32_t i = 0; i < e->design.ninput; i++)
		total += e->design.input[i].is_state ? e->design.input[i].count : 0;
	if (total > PROGRAM_INPUTS_MAX)
		return elab_refuse(e, DIAG_LIMIT_SIZE, n->span,
			"more than %d input numbers, those of states counted twice",
			PROGRAM_INPUTS_MAX);
	g->dim[0] = dim;
	g->count = 2 * dim;
	p->op = APPLY_STATE;
	p->matrix = v->input;
	return true;
}

static bool put_numbers(struct elab *e, const struct node *n, const struct value *v, struct apply *p)
{
	const struct array *a = v->array;

	if (p->nwire > 24 || !a->count)
		return elab_refuse(e, a->count ? DIAG_LIMIT_SIZE : DIAG_AMPLITUDES, n->span,
			"amplitudes of %u qubits from %u numbers", p->nwire, a->count);
	if (p->nwire < 32 && a->count > (uint64_t)1 << p->nwire) {
		struct diag *g = elab_error(e, DIAG_AMPLITUDES, n->args.v[0]->span, "%u numbers do not fit into the %llu amplitudes of %u qubits",
			a->count, 1ull << p->nwire, p->nwire);
		diag_second(g, n->list.n ? n->list.v[0]->span : n->span, "%u qubits", p->nwire);
		return false;
	}
	if (!elab_work(e, a->count / 8, n->span))
		return false;
	p->op = APPLY_AMPLITUDES;
	p->nexpr = a->count;
	p->expr = arena_alloc(e->arena, a->count + 1, sizeof *p->expr);
	for (uint32_t k = 0; k < a->count; k++) {
		p->expr[k] = array_expr(&e->design.exprs, a, k);
		if (e->design.exprs.depends[p->expr[k]] & EXPRS_WEIGHT)
			return elab_refuse(e, DIAG_AMPLITUDES, n->args.v[0]->span,
				"amplitudes cannot depend on weights");
	}
	return true;
}

enum { FILE_QUBITS_MAX = 16 };

/* Absolute values, with signs where all is real, and the phases behind them. */
static bool put_file(struct elab *e, const struct node *n, struct apply *p, struct calls *phases)
{
	uint32_t dim = p->nwire <= FILE_QUBITS_MAX ? 1u << p->nwire : 1;
	mem_auto cplx *z = mem_alloc(dim, sizeof *z);
	mem_auto double *phase = mem_alloc(dim, sizeof *phase);
	mem_auto struct span *row = mem_alloc(dim, sizeof *row);
	bool zero = true;

	if (!p->nwire || p->nwire > FILE_QUBITS_MAX)
		return elab_refuse(e, DIAG_LIMIT_SIZE, n->span,
			"amplitudes of %u qubits from a file, 1 to %d are possible", p->nwire,
			FILE_QUBITS_MAX);
	if (!elab_matrix_file(e, n, dim, 1, z, row))
		return false;
	p->op = APPLY_AMPLITUDES;
	p->nexpr = dim;
	p->expr = arena_alloc(e->arena, dim, sizeof *p->expr);
	for (uint32_t k = 0; k < dim; k++) {
		bool real = cimag(z[k]) == 0;

		p->expr[k] = exprs_const(&e->design.exprs, real ? creal(z[k]) : cabs(z[k]));
		phase[k] = real ? 0 : carg(z[k]);
		zero &= z[k] == 0;
	}
	if (zero)
		return elab_refuse(e, DIAG_AMPLITUDES, n->callee_span, "all numbers are 0");
	unitary_phases(&e->design, phases, phase, p->nwire);
	return true;
}

static void amplitudes_of_file(struct elab *e, const struct node *n, const struct wire_list *w,
	struct apply *p)
{
	struct node call = *n;
	struct calls phases = { 0 };

	call.name = "phases";
	if (put_file(e, n, p, &phases) && elab_wires_free(e, w->wire, w->n, n->span)) {
		elab_emit(e, p, n->span);
		elab_emit_on(e, &call, &phases, w->wire, w->n);
	}
	calls_release(&phases);
}

void elab_amplitudes(struct elab *e, const struct node *n)
{
	struct apply p = { .span = design_place(&e->design, n->span) };
	struct value v = { .kind = KIND_STATE };
	struct wire_list w;

	if ((!n->text && n->args.v[0]->kind == NODE_EACH) || e->frame->block || e->frame->ncondition) {
		struct diag *g = elab_error(e, DIAG_AMPLITUDES, n->span, "`amplitudes` stands in a circuit as `amplitudes(x) qubits;`");
		diag_help(g, "no modifier, `on`, `each`, block or condition goes with it");
		return;
	}
	if (!n->text)
		v = elab_eval(e, n->args.v[0]);
	if (!all_operands(e, n, &w) || v.kind == KIND_UNKNOWN || !untouched(e, &w, n->span))
		return;
	p.nwire = (uint16_t)w.n;
	p.wire = arena_copy(e->arena, w.wire, w.n, sizeof *w.wire);
	if (n->text) {
		amplitudes_of_file(e, n, &w, &p);
		return;
	}
	if (!(v.kind == KIND_STATE ? put_state(e, n, &v, &p) : put_numbers(e, n, &v, &p)))
		return;
	if (elab_wires_free(e, w.wire, w.n, n->span))
		elab_emit(e, &p, n->span);
}
