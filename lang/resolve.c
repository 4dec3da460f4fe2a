/* SPDX-License-Identifier: Apache-2.0
 * Statements: where each kind may stand, what it declares, what it needs. */
#include "config.h"
#include "lang/resolve.h"

#include <stdlib.h>
#include <string.h>

static void statement(struct resolver *r, struct node *n);

/* ---- places ---- */

enum { IN_BODY = IN_FILE | IN_CIRCUIT | IN_LAYER | IN_EMBED | IN_BLOCK, IN_ANY = 255 };

/* top: not inside a loop, branch or {} either. */
static const struct { unsigned contexts; bool top; const char *where; } places[NODE_COUNT] = {
	[NODE_INCLUDE] = { IN_ANY, false, "" },
	[NODE_ERROR] = { IN_ANY, false, "" },
	[NODE_SCOPE] = { IN_ANY, false, "" },
	[NODE_CONST] = { IN_BODY | IN_OUTSIDE, false, "files, circuits, layers and blocks" },
	[NODE_VAR] = { IN_BODY | IN_OUTSIDE, false, "files, circuits, layers and blocks" },
	[NODE_LET] = { IN_BODY | IN_OUTSIDE, false, "files, circuits, layers and blocks" },
	[NODE_ASSIGN] = { IN_BODY | IN_OUTSIDE, false, "files, circuits, layers and blocks" },
	[NODE_QUBIT] = { IN_FILE | IN_CIRCUIT | IN_LAYER, false, "circuits and layers" },
	[NODE_GATE_DEF] = { IN_FILE | IN_OUTSIDE | IN_CIRCUIT, true, "files and circuits, outside of any other { }" },
	[NODE_BLOCK_DEF] = { IN_FILE | IN_OUTSIDE | IN_CIRCUIT, true, "files and circuits, outside of any other { }" },
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
		[NODE_CONST] = "`const`", [NODE_VAR] = "a variable", [NODE_LET] = "`let`",
		[NODE_ASSIGN] = "an assignment", [NODE_QUBIT] = "`qubit`", [NODE_GATE_DEF] = "a gate definition",
		[NODE_BLOCK_DEF] = "a block definition", [NODE_CALL] = "a call", [NODE_BARRIER] = "`barrier`",
		[NODE_FOR] = "`for`", [NODE_WHILE] = "`while`", [NODE_IF] = "`if`",
		[NODE_IF_MEASURE] = "`if (measure ...)`", [NODE_PARAM] = "`param`", [NODE_INPUT] = "`input`",
		[NODE_DISCARD] = "`discard`", [NODE_OBSERVE] = "`observe`", [NODE_LAYER] = "a layer",
		[NODE_EMBED] = "`embed`", [NODE_CIRCUIT] = "a circuit", [NODE_HEAD] = "`head`",
	};

	return words[n->kind];
}

static void check_place(struct resolver *r, struct node *n)
{
	bool top = !r->flow || !places[n->kind].top;
	struct diag *g;

	if ((places[n->kind].contexts & r->context && top) || (r->context == IN_OUTSIDE && r->told_outside))
		return;
	r->told_outside = r->context == IN_OUTSIDE;
	for (size_t i = 0; i < sizeof context_texts / sizeof *context_texts; i++) {
		if (context_texts[i].context != r->context)
			continue;
		g = diag_at(r->diags, DIAG_MISPLACED, n->name ? n->name_span : n->span, "%s cannot stand %s", word_of(n),
			r->flow && places[n->kind].contexts & r->context ? "inside { }, a loop or a branch"
			: context_texts[i].text);
		diag_label(g, "stands in %s", places[n->kind].where);
		if (r->context == IN_OUTSIDE)
			diag_second(g, r->circuit->name_span, "a file with a circuit holds its gates and weights in circuits");
		else if (r->def)
			diag_second(g, r->def->name_span, "in this %s", node_kind_text(r->def->kind));
	}
}

/* ---- declarations ---- */

static const struct { int op; enum kind one, array; } declared[] = {
	{ AST_TYPE_INT, KIND_INT, KIND_INT_ARRAY }, { AST_TYPE_FLOAT, KIND_FLOAT, KIND_FLOAT_ARRAY },
	{ AST_TYPE_QUBIT, KIND_QUBITS, KIND_QUBITS }, { AST_TYPE_STATE, KIND_STATE, KIND_STATE },
};

enum { NDIM_MAX = 8 };

static void dims(struct resolver *r, struct node *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < n->list.n; i++) {
		kinds_expr(r, n->list.v[i]);
		kinds_require(r, n->list.v[i], KIND_BIT(KIND_INT), "a size", "an int");
	}
	if (n->list.n > NDIM_MAX)
		diag_at(r->diags, DIAG_WRONG_KIND, n->span, "an array has at most %d dimensions", NDIM_MAX);
}

/* The kind a declaration says; float is KIND_ANGLE where weights or inputs may arrive. */
static void set_kind(struct node *n, int op, bool angle)
{
	for (size_t i = 0; i < sizeof declared / sizeof *declared; i++)
		if (declared[i].op == op)
			n->rank = n->a && op != AST_TYPE_QUBIT ? declared[i].array : declared[i].one;
	n->ndim = n->a && op != AST_TYPE_QUBIT && n->a->list.n <= NDIM_MAX ? (uint8_t)n->a->list.n : 0;
	if (angle && n->rank == KIND_FLOAT)
		n->rank = KIND_ANGLE;
	if (angle && n->rank == KIND_FLOAT_ARRAY)
		n->rank = KIND_ANGLE_ARRAY;
}

/* May a place of kind `to` take a value of kind `from`? */
static bool takes(enum kind to, enum kind from)
{
	enum kind join = kinds_join(to, from);

	return !to || !from || join == to || (join == KIND_ANGLE && to == KIND_FLOAT)
		|| (join == KIND_ANGLE_ARRAY && to == KIND_FLOAT_ARRAY);
}

static void check_value(struct resolver *r, struct node *n, struct node *value, const char *what)
{
	struct diag *g;

	if (!takes(n->rank, value->rank)) {
		g = diag_at(r->diags, DIAG_WRONG_KIND, value->span, "`%s` is %s", n->name, kind_text(n->rank));
		diag_label(g, "this is %s", kind_text(value->rank));
		diag_second(g, n->name_span, "%s here", what);
		if (n->rank == KIND_INT && value->rank == KIND_FLOAT)
			diag_help(g, "declare it `float`");
	} else if (value->ndim && n->ndim && value->ndim != n->ndim) {
		g = diag_at(r->diags, DIAG_WRONG_KIND, value->span, "`%s` has %u dimension%s", n->name, n->ndim,
			n->ndim == 1 ? "" : "s");
		diag_label(g, "this has %u", value->ndim);
		diag_second(g, n->name_span, "%s here", what);
	}
}

static void constant_value(struct resolver *r, struct node *value, enum kind declared_kind)
{
	if (KIND_BIT(declared_kind) & KINDS_ARRAY)
		kinds_require(r, value, KIND_BIT(KIND_INT_ARRAY) | KIND_BIT(KIND_FLOAT_ARRAY), "the value", "a list of numbers");
	else
		kinds_require(r, value, KINDS_CONSTANT, "the value", "a number");
}

static void do_const(struct resolver *r, struct node *n)
{
	dims(r, n->a);
	set_kind(n, n->op, false);
	kinds_expr(r, n->b);
	check_value(r, n, n->b, "declared");
	if (takes(n->rank, n->b->rank))
		constant_value(r, n->b, n->rank);
	scope_declare(r, SPACE_VALUE, n);
}

/* A variable that gets an angle is one from then on. */
static void widen(struct node *n, enum kind k)
{
	enum kind join = kinds_join(n->rank, k);

	if (join < KIND_COUNT)
		n->rank = join;
}

static void do_var(struct resolver *r, struct node *n)
{
	dims(r, n->a);
	set_kind(n, n->op, false);
	if (n->b) {
		kinds_expr(r, n->b);
		check_value(r, n, n->b, "declared");
		if (n->op == AST_TYPE_FLOAT && takes(n->rank, n->b->rank))
			widen(n, n->b->rank ? n->b->rank : n->rank);
	}
	scope_declare(r, SPACE_VALUE, n);
}

static void do_let(struct resolver *r, struct node *n)
{
	n->rank = kinds_expr(r, n->b);
	n->ndim = n->b->ndim;
	scope_declare(r, SPACE_VALUE, n);
}

static void do_qubit(struct resolver *r, struct node *n)
{
	if (n->a) {
		kinds_expr(r, n->a);
		kinds_require(r, n->a, KIND_BIT(KIND_INT), "the number of qubits", "an int");
	}
	n->rank = KIND_QUBITS;
	scope_declare(r, SPACE_VALUE, n);
}

static void do_input(struct resolver *r, struct node *n)
{
	dims(r, n->a);
	set_kind(n, n->op, true);
	scope_declare(r, SPACE_VALUE, n);
}

static void initializer(struct resolver *r, struct node *n)
{
	static const char *const names[] = { "uniform", "normal" };
	const char *near;
	struct diag *g;

	kinds_list(r, &n->args);
	if (strcmp(n->name, names[0]) && strcmp(n->name, names[1])) {
		g = diag_at(r->diags, DIAG_EXPECTED_WORD, n->name_span, "unknown distribution `%s`", n->name);
		diag_label(g, "expected `uniform` or `normal`");
		near = diag_nearest(n->name, names, 2);
		if (near)
			diag_help(g, "did you mean `%s`?", near);
		return;
	}
	if (n->args.n != 2) {
		g = diag_at(r->diags, DIAG_FUNCTION_ARGUMENTS, n->span, "wrong number of arguments for `%s`", n->name);
		diag_label(g, "takes 2, here %s %u", n->args.n == 1 ? "is" : "are", n->args.n);
		diag_help(g, "write `uniform(low, high)` or `normal(mean, deviation)`");
	}
	for (uint32_t i = 0; i < n->args.n; i++)
		kinds_require(r, n->args.v[i], KINDS_CONSTANT, "an argument of a distribution", "a number");
}

static void do_param(struct resolver *r, struct node *n)
{
	dims(r, n->a);
	set_kind(n, AST_TYPE_FLOAT, true);
	if (n->b && kinds_expr(r, n->b))
		kinds_require(r, n->b, KINDS_CONSTANT | (n->a ? KIND_BIT(KIND_INT_ARRAY) | KIND_BIT(KIND_FLOAT_ARRAY) : 0),
			"the first value of a weight", n->a ? "a number or a list of numbers" : "a number");
	if (n->c)
		initializer(r, n->c);
	scope_declare(r, SPACE_VALUE, n);
}

/* ---- assignment ---- */

static struct node *root_name(struct node *n)
{
	while (n->kind == NODE_INDEX)
		n = n->a;
	return n;
}

static bool can_assign(struct resolver *r, struct node *target)
{
	struct node *name = root_name(target), *decl = name->decl;
	struct diag *g;

	if (decl && (decl->kind == NODE_VAR || decl->kind == NODE_LET))
		return true;
	if (!decl && !is_math_constant(name->name))
		return false;
	g = diag_at(r->diags, DIAG_CANNOT_ASSIGN, target->span, "`%s` cannot be assigned", name->name);
	if (!decl)
		diag_label(g, "a constant of mathematics");
	else
		diag_second(g, decl->name_span, "declared here as %s %s", decl->kind == NODE_INPUT ? "an" : "a",
			decl->kind == NODE_FOR ? "loop variable" : node_kind_text(decl->kind));
	diag_help(g, "variables are declared by `int`, `float` and `let`");
	return false;
}

/* A `let` may grow from numbers to angles or observables; else its kind stays. */
static void assign_name(struct resolver *r, struct node *n, enum kind k)
{
	struct node *decl = n->a->decl;
	bool may_grow = decl->kind == NODE_LET || decl->op == AST_TYPE_FLOAT;
	enum kind join = kinds_join(decl->rank, k);
	struct diag *g;

	if (!k || !decl->rank)
		return;
	if (join < KIND_COUNT && (join == decl->rank || (may_grow && takes(decl->kind == NODE_LET ? join : decl->rank, k)))) {
		decl->rank = join;
		if (n->b->ndim != decl->ndim)
			decl->ndim = 0;
		return;
	}
	g = diag_at(r->diags, DIAG_WRONG_KIND, n->b->span, "`%s` is %s", decl->name, kind_text(decl->rank));
	diag_label(g, "assigned %s", kind_text(k));
	diag_second(g, decl->name_span, "declared here");
	if (decl->rank == KIND_INT && k == KIND_FLOAT)
		diag_help(g, "declare it `float`");
}

static void do_assign(struct resolver *r, struct node *n)
{
	enum kind k;

	kinds_expr(r, n->a);
	k = kinds_expr(r, n->b);
	if (!can_assign(r, n->a))
		return;
	if (n->op != AST_SET_TO)
		k = kinds_binary(r, n, n->a, n->b, n->op);
	n->rank = k;
	if (n->a->kind == NODE_NAME)
		assign_name(r, n, k);
	else if (!(KIND_BIT(n->a->rank) & (KINDS_NUMBER | KIND_BIT(KIND_UNKNOWN))))
		kinds_require(r, n->a, KINDS_NUMBER, "an assigned element", "a number");
	else if (!takes(n->a->rank, k))
		kinds_require(r, n->b, n->a->rank == KIND_INT ? KIND_BIT(KIND_INT) : KINDS_NUMBER, "the value",
			n->a->rank == KIND_INT ? "an int" : "a number");
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

static void do_scope(struct resolver *r, struct node *n)
{
	body(r, n);
}

static void formals(struct resolver *r, struct node *n)
{
	for (uint32_t i = 0; i < n->list.n; i++) {
		struct node *f = n->list.v[i];

		dims(r, f->a);
		set_kind(f, f->op, true);
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

static void do_embed(struct resolver *r, struct node *n)
{
	in_scope(r, n->c, IN_EMBED);
}

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
	kinds_expr(r, n);
	kinds_require(r, n, KINDS_CONDITION, "a condition", "a comparison or an int");
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
		set_kind(n, n->op, false);
		n->ndim = 0;
		n->rank = n->op == AST_TYPE_INT ? KIND_INT : KIND_FLOAT;
		if (!takes(n->rank, k)) {
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

	kinds_expr(r, n->a);
	kinds_require(r, n->a, KIND_BIT(KIND_QUBITS), "what is measured", "a qubit");
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

static void nothing(struct resolver *r, struct node *n)
{
	(void)r;
	(void)n;
}

static void (*const visit[NODE_COUNT])(struct resolver *r, struct node *n) = {
	[NODE_INCLUDE] = nothing, [NODE_ERROR] = nothing, [NODE_SCOPE] = do_scope,
	[NODE_CONST] = do_const, [NODE_VAR] = do_var, [NODE_LET] = do_let, [NODE_ASSIGN] = do_assign,
	[NODE_QUBIT] = do_qubit, [NODE_GATE_DEF] = do_define, [NODE_BLOCK_DEF] = do_define,
	[NODE_CALL] = calls_call, [NODE_BARRIER] = do_barrier, [NODE_FOR] = do_for, [NODE_WHILE] = do_while,
	[NODE_IF] = do_if, [NODE_IF_MEASURE] = do_if_measure, [NODE_PARAM] = do_param, [NODE_INPUT] = do_input,
	[NODE_DISCARD] = do_discard, [NODE_OBSERVE] = do_observe, [NODE_LAYER] = do_layer,
	[NODE_EMBED] = do_embed, [NODE_CIRCUIT] = do_circuit, [NODE_HEAD] = calls_head,
};

static void statement(struct resolver *r, struct node *n)
{
	check_place(r, n);
	visit[n->kind](r, n);
}

static void several_circuits(struct resolver *r, const struct node *file)
{
	struct diag *g;
	unsigned nth = 0;

	for (uint32_t i = 0; i < file->list.n; i++) {
		struct node *n = file->list.v[i];

		if (n->kind != NODE_CIRCUIT || ++nth != 2)
			continue;
		g = diag_at(r->diags, DIAG_SEVERAL_CIRCUITS, n->name_span, "several circuits, and no head that joins them");
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
	struct resolver *r = mem_alloc(1, sizeof *r);

	r->tree = t;
	r->diags = d;
	r->scope = 1;
	arena_init(&r->arena);
	survey(r, t->file);
	if (diags_errors(d))
		ast_walk(t->file, visit_error, r);
	inside(r, t->file, r->ncircuit ? IN_OUTSIDE : IN_FILE);
	if (r->ncircuit > 1 && !r->head)
		several_circuits(r, t->file);
	arena_release(&r->arena);
	free(r->dropped);
	free(r->order);
	free(r);
}
