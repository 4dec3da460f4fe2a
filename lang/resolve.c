/* SPDX-License-Identifier: Apache-2.0
 * Statements: where each kind may stand, what it declares, what it needs. */
#include "lang/resolve.h"

#include <stdlib.h>

static void statement(struct resolver *r, struct node *n);

/* ---- places ---- */

enum { IN_BODY = IN_FILE | IN_CIRCUIT | IN_LAYER | IN_EMBED | IN_BLOCK, IN_ANY = 255 };

/* top: not inside a loop, branch or {} either. */
static const struct {
	unsigned contexts;
	bool top;
	const char *where;
} places[NODE_COUNT] = {
	[NODE_INCLUDE] = { IN_ANY, false, "" },
	[NODE_ERROR] = { IN_ANY, false, "" },
	[NODE_SCOPE] = { IN_ANY, false, "" },
	[NODE_CONST] = { IN_BODY | IN_OUTSIDE, false, "files, circuits, layers and blocks" },
	[NODE_VAR] = { IN_BODY | IN_OUTSIDE, false, "files, circuits, layers and blocks" },
	[NODE_LET] = { IN_BODY | IN_OUTSIDE, false, "files, circuits, layers and blocks" },
	[NODE_ASSIGN] = { IN_BODY | IN_OUTSIDE, false, "files, circuits, layers and blocks" },
	[NODE_QUBIT] = { IN_FILE | IN_CIRCUIT | IN_LAYER, false, "circuits and layers" },
	[NODE_GATE_DEF] = { IN_FILE | IN_OUTSIDE | IN_CIRCUIT, true,
		"files and circuits, outside of any other { }" },
	[NODE_BLOCK_DEF] = { IN_FILE | IN_OUTSIDE | IN_CIRCUIT, true,
		"files and circuits, outside of any other { }" },
	[NODE_CALL] = { IN_BODY | IN_GATE | IN_MEASURED, false, "circuits, layers, blocks and gates" },
	[NODE_BARRIER] = { IN_BODY | IN_GATE, false, "circuits, layers, blocks and gates" },
	[NODE_FOR] = { IN_ANY & ~IN_MEASURED, false, "circuits, layers, blocks and gates" },
	[NODE_WHILE] = { IN_BODY | IN_OUTSIDE, false, "circuits, layers and blocks" },
	[NODE_IF] = { IN_BODY | IN_OUTSIDE, false, "circuits, layers and blocks" },
	[NODE_IF_MEASURE] = { IN_BODY | IN_MEASURED, false, "circuits, layers and blocks" },
	[NODE_PARAM] = { IN_FILE | IN_CIRCUIT | IN_LAYER, false, "circuits and layers" },
	[NODE_INPUT] = { IN_FILE | IN_OUTSIDE, true, "files, outside of any { }" },
	[NODE_DISCARD] = { IN_BODY, false, "circuits, layers and blocks" },
	[NODE_OBSERVE] = { IN_FILE | IN_CIRCUIT | IN_LAYER, false, "circuits and layers" },
	[NODE_LAYER] = { IN_FILE | IN_CIRCUIT | IN_LAYER, false, "circuits and layers" },
	[NODE_EMBED] = { IN_FILE | IN_CIRCUIT | IN_LAYER, false, "circuits and layers" },
	[NODE_CIRCUIT] = { IN_FILE | IN_OUTSIDE, true, "files, outside of any { }" },
	[NODE_HEAD] = { IN_FILE | IN_OUTSIDE, true, "files, outside of any { }" },
	[NODE_BITS] = { IN_FILE, false, "files, outside of gates" },
	[NODE_MEASURE] = { IN_FILE, false, "files, outside of gates" },
	[NODE_OPAQUE] = { IN_FILE, true, "files, outside of any { }" },
	[NODE_RESET] = { IN_FILE, false, "files, outside of gates" },
};

static const struct { enum context context; const char *text; } context_texts[] = {
	{ IN_FILE, "outside of the file's own level" }, { IN_OUTSIDE, "outside of the circuits of this file" },
	{ IN_CIRCUIT, "in a circuit" }, { IN_LAYER, "in a layer" }, { IN_EMBED, "in an `embed`" },
	{ IN_BLOCK, "in a block" }, { IN_GATE, "in a gate" }, { IN_MEASURED, "under `if (measure ...)`" },
};

/* The words a statement is known by in messages. */
static const char *word_of(const struct node *n)
{
	static const char *const words[NODE_COUNT] = {
		[NODE_CONST] = "`const`",
		[NODE_VAR] = "a variable",
		[NODE_LET] = "`let`",
		[NODE_ASSIGN] = "an assignment",
		[NODE_QUBIT] = "`qubit`",
		[NODE_GATE_DEF] = "a gate definition",
		[NODE_BLOCK_DEF] = "a block definition",
		[NODE_CALL] = "a call",
		[NODE_BARRIER] = "`barrier`",
		[NODE_FOR] = "`for`",
		[NODE_WHILE] = "`while`",
		[NODE_IF] = "`if`",
		[NODE_IF_MEASURE] = "`if (measure ...)`",
		[NODE_PARAM] = "`param`",
		[NODE_INPUT] = "`input`",
		[NODE_DISCARD] = "`discard`",
		[NODE_OBSERVE] = "`observe`",
		[NODE_LAYER] = "a layer",
		[NODE_EMBED] = "`embed`",
		[NODE_CIRCUIT] = "a circuit",
		[NODE_HEAD] = "`head`",
		[NODE_BITS] = "classical bits",
		[NODE_MEASURE] = "`measure`",
		[NODE_OPAQUE] = "`opaque`",
		[NODE_RESET] = "`reset`",
	};

	return words[n->kind];
}

static void check_place(struct resolver *r, struct node *n)
{
	bool top = !r->flow || !places[n->kind].top;

	if ((places[n->kind].contexts & r->context && top) || (r->context == IN_OUTSIDE && r->told_outside))
		return;
	r->told_outside = r->context == IN_OUTSIDE;
	for (size_t i = 0; i < sizeof context_texts / sizeof *context_texts; i++) {
		if (context_texts[i].context != r->context)
			continue;
		struct diag *g = diag_at(r->diags, DIAG_MISPLACED, n->name ? n->name_span : n->span,
			"%s cannot stand %s", word_of(n),
			r->flow && places[n->kind].contexts & r->context
				? "inside { }, a loop or a branch"
				: context_texts[i].text);
		diag_label(g, "stands in %s", places[n->kind].where);
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

static void do_scope(struct resolver *r, struct node *n) { body(r, n); }

static void formals(struct resolver *r, struct node *n)
{
	for (uint32_t i = 0; i < n->list.n; i++) {
		struct node *f = n->list.v[i];

		decl_dims(r, f->a);
		decl_set_kind(f, f->op, true);
		scope_declare(r, SPACE_VALUE, f);
	}
}

static void do_define(struct resolver *r, struct node *n)
{
	struct node *outer = r->def;
	unsigned outer_scope = r->def_scope;

	scope_enter(r);
	r->def = n;
	r->def_scope = r->scope;
	formals(r, n);
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
	scope_enter(r);
	formals(r, n);
	inside(r, n->c, IN_CIRCUIT);
	scope_leave(r);
}

/* ---- flow ---- */

static void condition(struct resolver *r, struct node *n)
{
	kinds_check(r, n, KINDS_CONDITION, "a condition", "a comparison or an int");
}

static void do_for(struct resolver *r, struct node *n)
{
	enum kind k = kinds_expr(r, n->a);
	uint8_t ndim = 0;

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
	scope_enter(r);
	scope_declare(r, SPACE_VALUE, n);
	body(r, n->c);
	scope_leave(r);
}

static void do_while(struct resolver *r, struct node *n)
{
	condition(r, n->a);
	body(r, n->c);
}

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

static void nothing(struct resolver *r, struct node *n)
{
	(void)r;
	(void)n;
}

static void (*const visit[NODE_COUNT])(struct resolver *r, struct node *n) = {
	[NODE_INCLUDE] = nothing,
	[NODE_ERROR] = nothing,
	[NODE_SCOPE] = do_scope,
	[NODE_CONST] = decl_const,
	[NODE_VAR] = decl_var,
	[NODE_LET] = decl_let,
	[NODE_ASSIGN] = decl_assign,
	[NODE_QUBIT] = decl_qubit,
	[NODE_GATE_DEF] = do_define,
	[NODE_BLOCK_DEF] = do_define,
	[NODE_CALL] = calls_call,
	[NODE_BARRIER] = do_barrier,
	[NODE_FOR] = do_for,
	[NODE_WHILE] = do_while,
	[NODE_IF] = do_if,
	[NODE_IF_MEASURE] = do_if_measure,
	[NODE_PARAM] = decl_param,
	[NODE_INPUT] = decl_input,
	[NODE_DISCARD] = do_discard,
	[NODE_OBSERVE] = do_observe,
	[NODE_LAYER] = do_layer,
	[NODE_EMBED] = do_embed,
	[NODE_CIRCUIT] = do_circuit,
	[NODE_HEAD] = calls_head,
	[NODE_BITS] = decl_bits,
	[NODE_MEASURE] = do_measure,
	[NODE_OPAQUE] = do_opaque,
	[NODE_RESET] = do_reset,
};

static void statement(struct resolver *r, struct node *n)
{
	check_place(r, n);
	visit[n->kind](r, n);
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

static void survey(struct resolver *r, const struct node *file)
{
	for (uint32_t i = 0; i < file->list.n; i++) {
		if (file->list.v[i]->kind != NODE_CIRCUIT)
			continue;
		if (!r->ncircuit++)
			r->circuit = file->list.v[i];
	}
}

void lang_resolve(struct ast *t, struct diags *d)
{
	mem_auto struct resolver *r = mem_alloc(1, sizeof *r);

	r->tree = t;
	r->diags = d;
	r->scope = 1;
	survey(r, t->file);
	if (diags_errors(d))
		ast_walk(t->file, visit_error, r);
	inside(r, t->file, r->ncircuit ? IN_OUTSIDE : IN_FILE);
	if (r->ncircuit > 1 && !r->head)
		several_circuits(r, t->file);
	arena_release(&r->arena);
	free(r->order);
}
