/* SPDX-License-Identifier: Apache-2.0
 * Statements: where each kind may stand, what it declares, what it needs. */
#include "lang/resolve.h"

#include <limits.h>
#include <stdlib.h>

static void statement(struct resolver *r, struct node *n);

/* ---- places ---- */

enum {
	IN_TOP = IN_FILE | IN_OUTSIDE,
	IN_PARTS = IN_FILE | IN_CIRCUIT | IN_LAYER,
	IN_BODY = IN_PARTS | IN_EMBED | IN_BLOCK,
	IN_CODE = IN_BODY | IN_OUTSIDE,
	IN_ANY = 255
};

/* A kind of statement: the words it is known by, where it may stand, what resolving does. */
struct statement_row {
	const char *word;
	unsigned contexts;
	bool top; /* not inside a loop, branch or {} either */
	const char *where;
	void (*visit)(struct resolver *r, struct node *n); /* NULL: nothing */
};

static const struct statement_row statements[NODE_COUNT];

static const struct { enum context context; const char *text; } context_texts[] = {
	{ IN_FILE, "outside of the file's own level" }, { IN_OUTSIDE, "outside of the circuits of this file" },
	{ IN_CIRCUIT, "in a circuit" }, { IN_LAYER, "in a layer" }, { IN_EMBED, "in an `embed`" },
	{ IN_BLOCK, "in a block" }, { IN_GATE, "in a gate" }, { IN_MEASURED, "under `if (measure ...)`" },
};

static void check_place(struct resolver *r, struct node *n)
{
	const struct statement_row *row = &statements[n->kind];
	bool top = !r->flow || !row->top;

	if ((row->contexts & r->context && top) || (r->context == IN_OUTSIDE && r->told_outside))
		return;
	r->told_outside = r->context == IN_OUTSIDE;
	for (size_t i = 0; i < sizeof context_texts / sizeof *context_texts; i++) {
		if (context_texts[i].context != r->context)
			continue;
		struct diag *g = diag_at(r->diags, DIAG_MISPLACED, n->name ? n->name_span : n->span,
			"%s cannot stand %s", row->word,
			r->flow && row->contexts & r->context ? "inside { }, a loop or a branch"
							      : context_texts[i].text);
		diag_label(g, "stands in %s", row->where);
		if (r->context == IN_OUTSIDE)
			diag_second(g, r->circuit->name_span, "a file with a circuit holds its gates and weights in circuits");
		else if (r->def)
			diag_second(g, r->def->name_span, "in this %s", node_kind_text(r->def->kind));
	}
}

/* ---- bodies ---- */

static void body(struct resolver *r, struct node *n)
{
	if (!n)
		return;
	scope_enter(r);
	r->flow++;
	if (n->kind == NODE_SCOPE)
		for (uint32_t i = 0; i < n->list.n; i++)
			statement(r, n->list.v[i]);
	else
		statement(r, n);
	r->flow--;
	scope_leave(r);
}

/* The body of a construct that is a context of its own. */
static void inside(struct resolver *r, struct node *n, enum context context)
{
	enum context outer = r->context;
	unsigned flow = r->flow;

	r->context = context;
	r->flow = 0;
	for (uint32_t i = 0; i < n->list.n; i++)
		statement(r, n->list.v[i]);
	r->flow = flow;
	r->context = outer;
}

static void in_scope(struct resolver *r, struct node *n, enum context context)
{
	scope_enter(r);
	inside(r, n, context);
	scope_leave(r);
}

/* Lengths of lists of qubits: from constants, not from formals. */
static void wire_sizes(struct resolver *r, struct node *n)
{
	for (uint32_t i = 0; i < n->list.n; i++) {
		struct node *f = n->list.v[i];

		if (f->op == AST_TYPE_QUBIT)
			kinds_check_int(r, f->a, "the number of qubits");
	}
}

static void formals(struct resolver *r, struct node *n)
{
	for (uint32_t i = 0; i < n->list.n; i++) {
		struct node *f = n->list.v[i];

		if (f->op != AST_TYPE_QUBIT)
			decl_dims(r, f->a);
		decl_set_kind(f, f->op, true);
		scope_declare(r, SPACE_VALUE, f);
	}
}

/* The numbers of a matrix are seen by no call, as those of a body. */
static void do_define(struct resolver *r, struct node *n)
{
	struct node *outer = r->def;
	unsigned outer_scope = r->def_scope;

	scope_enter(r);
	r->def = n;
	r->def_scope = r->scope;
	if (n->kind != NODE_MATRIX_DEF)
		wire_sizes(r, n);
	formals(r, n);
	if (n->kind == NODE_MATRIX_DEF)
		decl_matrix(r, n);
	else
		inside(r, n->c, n->kind == NODE_GATE_DEF ? IN_GATE : IN_BLOCK);
	r->def = outer;
	r->def_scope = outer_scope;
	scope_leave(r);
	scope_declare(r, SPACE_CALL, n);
}

static void do_layer(struct resolver *r, struct node *n)
{
	scope_declare(r, SPACE_LAYER, n);
	in_scope(r, n->c, IN_LAYER);
}

static void do_embed(struct resolver *r, struct node *n) { in_scope(r, n->c, IN_EMBED); }

static void do_circuit(struct resolver *r, struct node *n)
{
	scope_declare(r, SPACE_CIRCUIT, n);
	r->late = r->tree->ndecl;
	scope_enter(r);
	formals(r, n);
	inside(r, n->c, IN_CIRCUIT);
	scope_leave(r);
	r->late = 0;
}

/* ---- flow ---- */

/* Each run of a text reads what the one before has assigned: visits it until no variable from outside changes its kind.  Kinds
 * only grow; the limit is for many loops inside each other. */
static void repeated(struct resolver *r, struct node *n,
	void (*visit)(struct resolver *r, struct node *n))
{
	unsigned outer = r->grown, nerror = diags_errors(r->diags);

	do {
		if (r->nvisit > RESOLVE_VISITS_MAX) {
			diag_help(diag_at(r->diags, DIAG_TOO_NESTED, n->span,
					  "the variables of these loops change their kinds too often"),
				"declare each with a value of its last kind, for example `let c = 0*z(q[0]);`");
			return;
		}
		r->grown = UINT_MAX;
		visit(r, n);
		outer = r->grown < outer ? r->grown : outer;
	} while (r->grown <= r->scope && diags_errors(r->diags) == nerror);
	r->grown = outer;
}

static void condition(struct resolver *r, struct node *n)
{
	kinds_check(r, n, KINDS_CONDITION, "a condition", "a comparison or an int");
}

static void for_body(struct resolver *r, struct node *n)
{
	scope_enter(r);
	scope_declare(r, SPACE_VALUE, n);
	body(r, n->c);
	scope_leave(r);
}

static void do_for(struct resolver *r, struct node *n)
{
	enum kind k = kinds_expr(r, n->a);
	uint8_t ndim = 0;

	if (n->a->kind == NODE_RANGE && (!n->a->a || !n->a->c))
		diag_help(diag_at(r->diags, DIAG_WRONG_KIND, n->a->span,
				  "the range of a loop needs both ends"),
			"write `[0:n-1]` for n runs");
	if (kinds_require(r, n->a, KINDS_ARRAY | KINDS_WIRES, "what `for` runs over", "a range or a list"))
		k = kinds_element(n->a, 1, &ndim);
	else
		k = KIND_UNKNOWN;
	n->rank = k;
	n->ndim = ndim;
	if (n->op) {
		decl_set_kind(n, n->op, false);
		n->ndim = 0;
		n->rank = n->op == AST_TYPE_INT ? KIND_INT : KIND_FLOAT;
		if (!decl_takes(n->rank, k)) {
			struct diag *g = diag_at(r->diags, DIAG_WRONG_KIND, n->name_span, "`%s` is %s", n->name, kind_text(n->rank));

			diag_second(g, n->a->span, "runs over %s", kind_text(n->a->rank));
			diag_help(g, "leave out the type: `for %s in ...`", n->name);
		}
	}
	repeated(r, n, for_body);
}

static void while_text(struct resolver *r, struct node *n)
{
	condition(r, n->a);
	body(r, n->c);
}

static void do_while(struct resolver *r, struct node *n) { repeated(r, n, while_text); }

static void do_if(struct resolver *r, struct node *n)
{
	condition(r, n->a);
	body(r, n->c);
	body(r, n->b);
}

/* The gate or block around discards or measures. */
static void mark_traces(struct resolver *r)
{
	if (r->def)
		r->def->op = 1;
}

static void do_if_measure(struct resolver *r, struct node *n)
{
	enum context outer = r->context;

	kinds_check(r, n->a, KIND_BIT(KIND_QUBITS), "what is measured", "a qubit");
	mark_traces(r);
	r->context = IN_MEASURED;
	body(r, n->c);
	body(r, n->b);
	r->context = outer;
}

/* ---- the rest ---- */

static void qubit_list(struct resolver *r, struct node *n, const char *role)
{
	kinds_list(r, &n->list);
	for (uint32_t i = 0; i < n->list.n; i++)
		kinds_require(r, n->list.v[i], KIND_BIT(KIND_QUBITS), role, "qubits");
}

static void do_discard(struct resolver *r, struct node *n)
{
	mark_traces(r);
	qubit_list(r, n, "what is discarded");
}

static void do_barrier(struct resolver *r, struct node *n)
{
	qubit_list(r, n, "an operand of `barrier`");
}

static void do_observe(struct resolver *r, struct node *n)
{
	unsigned outputs = KINDS_CONSTANT | KIND_BIT(KIND_OBSERVABLE) | KIND_BIT(KIND_PROBS);

	kinds_list(r, &n->list);
	for (uint32_t i = 0; i < n->list.n; i++) {
		struct node *o = n->list.v[i];

		if (o->rank == KIND_QUBITS) {
			struct diag *g = diag_at(r->diags, DIAG_WRONG_KIND, o->span, "an output must be an observable");

			diag_label(g, "this is a list of qubits");
			diag_help(g, "`z(w)` is one output per qubit of w, `probs(w)` all probabilities");
		} else {
			kinds_require(r, o, outputs, "an output", "an observable or `probs`");
		}
	}
}

static void do_measure(struct resolver *r, struct node *n)
{
	kinds_check(r, n->a, KIND_BIT(KIND_QUBITS), "what is measured", "qubits");
	kinds_check(r, n->b, KIND_BIT(KIND_BITS), "where a measurement goes", "classical bits");
}

static void do_reset(struct resolver *r, struct node *n) { qubit_list(r, n, "what is reset"); }

static void do_opaque(struct resolver *r, struct node *n) { scope_declare(r, SPACE_CALL, n); }

static const struct statement_row statements[NODE_COUNT] = {
	[NODE_INCLUDE] = { "", IN_ANY, false, "", NULL },
	[NODE_ERROR] = { "", IN_ANY, false, "", NULL },
	[NODE_SCOPE] = { "", IN_ANY, false, "", body },
	[NODE_CONST] = { "`const`", IN_CODE, false, "files, circuits, layers and blocks", decl_const },
	[NODE_VAR] = { "a variable", IN_CODE, false, "files, circuits, layers and blocks", decl_var },
	[NODE_LET] = { "`let`", IN_CODE, false, "files, circuits, layers and blocks", decl_let },
	[NODE_ASSIGN] = { "an assignment", IN_CODE, false, "files, circuits, layers and blocks",
		decl_assign },
	[NODE_QUBIT] = { "`qubit`", IN_PARTS, false, "circuits and layers", decl_qubit },
	[NODE_GATE_DEF] = { "a gate definition", IN_TOP | IN_CIRCUIT, true,
		"files and circuits, outside of any other { }", do_define },
	[NODE_MATRIX_DEF] = { "a gate definition", IN_TOP | IN_CIRCUIT, true,
		"files and circuits, outside of any other { }", do_define },
	[NODE_BLOCK_DEF] = { "a block definition", IN_TOP | IN_CIRCUIT, true,
		"files and circuits, outside of any other { }", do_define },
	[NODE_CALL] = { "a call", IN_BODY | IN_GATE | IN_MEASURED, false,
		"circuits, layers, blocks and gates", calls_call },
	[NODE_BARRIER] = { "`barrier`", IN_BODY | IN_GATE, false,
		"circuits, layers, blocks and gates", do_barrier },
	[NODE_FOR] = { "`for`", IN_ANY & ~IN_MEASURED, false, "circuits, layers, blocks and gates",
		do_for },
	[NODE_WHILE] = { "`while`", IN_CODE, false, "circuits, layers and blocks", do_while },
	[NODE_IF] = { "`if`", IN_CODE, false, "circuits, layers and blocks", do_if },
	[NODE_IF_MEASURE] = { "`if (measure ...)`", IN_BODY | IN_MEASURED, false,
		"circuits, layers and blocks", do_if_measure },
	[NODE_PARAM] = { "`param`", IN_PARTS, false, "circuits and layers", decl_param },
	[NODE_INPUT] = { "`input`", IN_TOP, true, "files, outside of any { }", decl_input },
	[NODE_DISCARD] = { "`discard`", IN_BODY, false, "circuits, layers and blocks", do_discard },
	[NODE_OBSERVE] = { "`observe`", IN_PARTS, false, "circuits and layers", do_observe },
	[NODE_LAYER] = { "a layer", IN_PARTS, false, "circuits and layers", do_layer },
	[NODE_EMBED] = { "`embed`", IN_PARTS, false, "circuits and layers", do_embed },
	[NODE_CIRCUIT] = { "a circuit", IN_TOP, true, "files, outside of any { }", do_circuit },
	[NODE_HEAD] = { "`head`", IN_TOP, true, "files, outside of any { }", calls_head },
	[NODE_BITS] = { "classical bits", IN_FILE, false, "files, outside of gates", decl_bits },
	[NODE_MEASURE] = { "`measure`", IN_FILE, false, "files, outside of gates", do_measure },
	[NODE_OPAQUE] = { "`opaque`", IN_FILE, true, "files, outside of any { }", do_opaque },
	[NODE_RESET] = { "`reset`", IN_FILE, false, "files, outside of gates", do_reset },
};

static void statement(struct resolver *r, struct node *n)
{
	r->nvisit++;
	check_place(r, n);
	if (statements[n->kind].visit)
		statements[n->kind].visit(r, n);
}

static void several_circuits(struct resolver *r, const struct node *file)
{
	unsigned nth = 0;

	for (uint32_t i = 0; i < file->list.n; i++) {
		struct node *n = file->list.v[i];

		if (n->kind != NODE_CIRCUIT || ++nth != 2)
			continue;
		struct diag *g = diag_at(r->diags, DIAG_SEVERAL_CIRCUITS, n->name_span,
			"several circuits, and no head that joins them");
		diag_second(g, r->circuit->name_span, "the first one");
		diag_help(g, "write `head (%s a, %s b) { }`", r->circuit->name, n->name);
	}
}

static int visit_error(struct node *n, void *ctx)
{
	if (n->kind == NODE_ERROR)
		scope_drop(ctx, n->span);
	return 0;
}

void lang_resolve(struct ast *t, struct diags *d)
{
	mem_auto struct resolver *r = mem_alloc(1, sizeof *r);

	r->tree = t;
	r->diags = d;
	r->scope = 1;
	for (uint32_t i = 0; i < t->file->list.n; i++) {
		struct node *n = t->file->list.v[i];

		if (n->kind == NODE_CIRCUIT && !r->ncircuit++)
			r->circuit = n;
	}
	if (diags_errors(d))
		ast_walk(t->file, visit_error, r);
	r->grown = UINT_MAX;
	inside(r, t->file, r->ncircuit ? IN_OUTSIDE : IN_FILE);
	if (r->ncircuit > 1 && !r->head)
		several_circuits(r, t->file);
	arena_release(&r->arena);
	free(r->order);
}
