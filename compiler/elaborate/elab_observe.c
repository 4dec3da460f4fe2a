/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: observables and `observe`. */
#include "compiler/elaborate/elab.h"

#include <math.h>
#include <string.h>

#include "compiler/elaborate/pauli_text.h"

/* x, y and z, which follow each other in the table. */
struct value elab_pauli(struct elab *e, const struct node *n)
{
	uint8_t letter = (uint8_t)(PAULI_X + n->builtin - BUILTIN_X);
	struct wire_list w;

	if (!elab_qubits(e, n->args.v[0], &w) || !elab_work(e, w.n, n->span))
		return value_unknown();
	struct observables o = { w.n, arena_alloc(e->arena, w.n + 1, sizeof *o.v) };
	for (uint32_t k = 0; k < w.n; k++)
		o.v[k] = pauli_sum_of(e->arena, 1, letter, w.wire[k]);
	return (struct value){ .kind = KIND_OBSERVABLE, .obs = o };
}

struct value elab_sum(struct elab *e, struct pauli_sum s)
{
	struct observables o = { 1, arena_copy(e->arena, &s, 1, sizeof s) };

	return (struct value){ .kind = KIND_OBSERVABLE, .obs = o };
}

/* What makes Pauli products of operators that people have instead. */
static void help_operator(struct diag *g, const char *text)
{
	static const struct {
		const char *word, *help;
	} row[] = {
		{ "SparsePauliOp", "of Qiskit's SparsePauliOp write `op.to_list()` into the file" },
		{ "^", "fermionic operators become Pauli products by OpenFermion's `jordan_wigner`" },
		{ "a\u207a(",
			"fermionic operators become Pauli products by PennyLane's `jordan_wigner`" },
		{ "&FCI", "integrals become Pauli products by PennyLane's `qchem.molecular_hamiltonian`, for example" },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		if (strstr(text, row[i].word)) {
			diag_help(g, "%s", row[i].help);
			return;
		}
}

bool elab_file_qubits(struct elab *e, const struct node *n, struct wire_list *w)
{
	if (!elab_qubits(e, n->args.v[0], w) || !n->value.i)
		return false;
	const char *what = arena_printf(e->arena, "`%s`", n->name);

	for (uint32_t k = 0; k < w->n; k++)
		if (elab_twice(e, w->wire, k, n->args.v[0]->span, what))
			return false;
	return true;
}

struct value elab_pauli_file(struct elab *e, const struct node *n)
{
	uint32_t file = (uint32_t)n->value.i;
	struct pauli_text_fault fault;
	struct pauli_sum s;
	struct wire_list w;
	size_t len;

	if (!elab_file_qubits(e, n, &w))
		return value_unknown();
	const char *text = source_text(diags_sources(e->diags), file, &len);
	if (!elab_work(e, len / 16, n->span))
		return value_unknown();
	if (pauli_text_read(e->arena, text, len, &w, &s, &fault))
		return elab_sum(e, s);
	const struct span at = { file, (uint32_t)fault.begin, (uint32_t)fault.end };
	struct diag *g = elab_error(e, DIAG_PAULI_TEXT, at, "%s", fault.why);
	diag_second(g, n->span, "read here");
	help_operator(g, text);
	return value_unknown();
}

/* A number counts as that multiple of 1. */
static bool as_sum(struct elab *e, const struct value *v, struct span at, struct pauli_sum *out)
{
	if (v->kind == KIND_INT || v->kind == KIND_FLOAT) {
		*out = pauli_sum_of(e->arena, value_number(v), 0, 0);
	} else if (v->kind == KIND_ANGLE) {
		diag_help(elab_error(e, DIAG_NOT_CONSTANT, at,
				  "an observable cannot depend on weights or inputs"),
			"an observable is a sum of products of x, y, z of qubits with constant coefficients");
		return false;
	} else if (v->obs.n != 1) {
		diag_help(elab_error(e, DIAG_WRONG_KIND, at, "an observable of %u qubits at once in a formula", v->obs.n),
			"alone, z(w) is one output per qubit; in a sum or product name one qubit, z(w[0])");
		return false;
	} else {
		*out = v->obs.v[0];
	}
	return true;
}

static uint64_t count_factors(const struct pauli_sum *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += s->store->v[i].nfactor;
	return n;
}

static struct value multiply(struct elab *e, struct span at, const struct pauli_sum *a, const struct pauli_sum *b)
{
	struct pauli_sum s;
	uint32_t wire;
	char name[80];

	if (a->n > PROGRAM_TERMS_MAX / (b->n + 1))
		return elab_fail(e, DIAG_LIMIT_OUTPUTS, at, "an observable of more than %d terms", PROGRAM_TERMS_MAX);
	if (!elab_work(e,
		    (uint64_t)a->n * b->n + (count_factors(a) * b->n + count_factors(b) * a->n) / 4,
		    at))
		return value_unknown();
	if (!pauli_sum_multiply(e->arena, a, b, &s, &wire))
		return elab_fail(e, DIAG_OBSERVABLE_QUBIT, at,
			"the product is not Hermitian: its factors do not commute on qubit %s",
			elab_wire_name(e, wire, name, sizeof name));
	return elab_sum(e, s);
}

struct value elab_observable(struct elab *e, int op, struct span at, const struct value *a, const struct value *b)
{
	struct pauli_sum l, r, s;

	if (!as_sum(e, a, at, &l) || !as_sum(e, b, at, &r))
		return value_unknown();
	if (op == AST_MUL)
		return multiply(e, at, &l, &r);
	if (op == AST_DIV) {
		if (value_number(b) == 0)
			return elab_fail(e, DIAG_DIVISION_BY_ZERO, at, "division by zero");
		if (!elab_work(e, l.n, at))
			return value_unknown();
		return elab_sum(e, pauli_sum_scaled(e->arena, &l, 1 / value_number(b)));
	}
	if (!elab_work(e, r.n, at))
		return value_unknown();
	if (!pauli_sum_add(e->arena, &l, op == AST_ADD ? 1 : -1, &r, &s))
		return elab_fail(e, DIAG_LIMIT_OUTPUTS, at, "an observable of more than %d terms", PROGRAM_TERMS_MAX);
	return elab_sum(e, s);
}

/* ---- observe ---- */

static bool readable(struct elab *e, uint32_t wire, bool diagonal, struct span at)
{
	enum wire_use use = e->frame->calls->wire[wire].use;

	if (use == WIRE_DISCARDED)
		elab_wire_fault(e, DIAG_AFTER_DISCARD, at, wire,
			"is observed after it was discarded", "discarded here");
	else if (use == WIRE_MEASURED && !diagonal)
		elab_wire_fault(e, DIAG_AFTER_MEASURE, at, wire,
			"was measured; only `z` and `probs` may read it", "measured here");
	else
		return true;
	return false;
}

static void add_output(struct elab *e, const struct output *o, uint64_t nreadout, struct span at)
{
	struct circuit *c = e->circuit;

	c->nreadout += nreadout;
	if (c->nreadout > PROGRAM_OUTPUTS_MAX) {
		elab_error(e, DIAG_LIMIT_OUTPUTS, at, "more than %d outputs", PROGRAM_OUTPUTS_MAX);
		e->stop = true;
		return;
	}
	*arena_push(e->arena, c->output, c->noutput) = *o;
}

static void observe_sum(struct elab *e, const struct pauli_sum *s, struct span at)
{
	struct output o = { .kind = OUTPUT_PAULI };

	if (!elab_work(e, s->n, at))
		return;
	o.nterm = pauli_sum_gather(e->arena, s, &o.term);
	if (o.nterm > PROGRAM_TERMS_MAX - e->nterm) {
		elab_error(e, DIAG_LIMIT_OUTPUTS, at, "the observables have more than %d terms", PROGRAM_TERMS_MAX);
		return;
	}
	e->nterm += o.nterm;
	for (uint32_t i = 0; i < o.nterm; i++)
		if (!isfinite(o.term[i].coefficient)) {
			elab_error(e, DIAG_NOT_FINITE_VALUE, at, "a coefficient is no finite number");
			return;
		}
	for (uint32_t i = 0; i < o.nterm; i++)
		for (uint32_t k = 0; k < o.term[i].nfactor; k++)
			if (!readable(e, o.term[i].factor[k].wire, o.term[i].factor[k].letter == 3, at))
				return;
	add_output(e, &o, 1, at);
}

void elab_observe_z(struct elab *e, uint32_t wire, struct span at)
{
	struct pauli_sum s = pauli_sum_of(e->arena, 1, 3, wire);

	observe_sum(e, &s, at);
}

static void observe_probs(struct elab *e, const struct wire_list *w, struct span at)
{
	struct output o = { .kind = OUTPUT_PROBS, .nwire = w->n };

	if (w->n > 31 || (uint32_t)1 << w->n > PROGRAM_OUTPUTS_MAX) {
		elab_error(e, DIAG_LIMIT_OUTPUTS, at, "probabilities of %u qubits are more than %d outputs", w->n, PROGRAM_OUTPUTS_MAX);
		return;
	}
	o.wire = arena_copy(e->arena, w->wire, w->n, sizeof *w->wire);
	for (uint32_t i = 0; i < w->n; i++)
		if (!readable(e, w->wire[i], true, at) || elab_twice(e, w->wire, i, at, "`probs`"))
			return;
	add_output(e, &o, (uint64_t)1 << w->n, at);
}

static void observe_one(struct elab *e, const struct node *n)
{
	struct value v = elab_eval(e, n);
	struct pauli_sum s;

	if (v.kind == KIND_PROBS)
		observe_probs(e, &v.list, n->span);
	else if (v.kind == KIND_OBSERVABLE)
		for (uint32_t k = 0; k < v.obs.n && !e->stop; k++)
			observe_sum(e, &v.obs.v[k], n->span);
	else if (v.kind != KIND_UNKNOWN && as_sum(e, &v, n->span, &s))
		observe_sum(e, &s, n->span);
}

void elab_observe(struct elab *e, const struct node *n)
{
	if (!e->circuit->observed.file)
		e->circuit->observed = n->span;
	for (uint32_t i = 0; i < n->list.n; i++)
		observe_one(e, n->list.v[i]);
}
