/* SPDX-License-Identifier: Apache-2.0
 * Kinds of expressions, bottom up.  KIND_UNKNOWN stands for a reported fault or
 * for what the text alone does not tell, and is accepted everywhere. */
#include "lang/resolve.h"

#include <string.h>

static enum kind is(struct node *n, enum kind k)
{
	n->rank = k;
	return k;
}

static enum kind array_of(struct node *n, enum kind k, uint8_t ndim)
{
	n->ndim = ndim;
	return is(n, k);
}

/* Does the text show that n depends on a weight or an input?  (A formal may or may not.) */
static int visit_dependence(struct node *n, void *ctx)
{
	struct node **found = ctx;

	if (n->kind == NODE_NAME && n->decl && (n->decl->kind == NODE_PARAM || n->decl->kind == NODE_INPUT))
		*found = n->decl;
	return *found != NULL;
}

static struct node *depends_on(struct node *n)
{
	struct node *found = NULL;

	if (n->rank == KIND_ANGLE || n->rank == KIND_ANGLE_ARRAY)
		ast_walk(n, visit_dependence, &found);
	return found;
}

static void not_constant(struct resolver *r, struct node *n, struct node *source, const char *role)
{
	struct diag *g = diag_at(r->diags, DIAG_NOT_CONSTANT, n->span,
		"%s cannot depend on %s", role, source->kind == NODE_PARAM ? "a weight" : "an input");

	diag_label(g, "only angles may");
	diag_second(g, source->name_span, "`%s` is declared here", source->name);
}

bool kinds_require(struct resolver *r, struct node *n, unsigned kinds, const char *role, const char *wanted)
{
	enum kind k = n->rank;

	if (k == KIND_UNKNOWN || kinds & KIND_BIT(k))
		return true;
	if (k == KIND_BITS) {
		struct diag *g = diag_at(r->diags, DIAG_QASM_PART, n->span,
			"nothing can depend on classical bits");

		diag_label(g, "known only when the circuit runs");
		diag_help(g,
			"a gate under a measurement is written in a model: `if (measure q[0]) x q[1];`");
		return false;
	}
	if ((k == KIND_ANGLE && kinds & (KINDS_CONSTANT | KIND_BIT(KIND_BOOL)))
	    || (k == KIND_ANGLE_ARRAY && kinds & KINDS_ARRAY)) {
		struct node *source = depends_on(n);

		if (source)
			not_constant(r, n, source, role);
		if (source || kinds & (KIND_BIT(KIND_FLOAT) | KIND_BIT(KIND_FLOAT_ARRAY)))
			return !source;
	}
	struct diag *g = diag_at(r->diags, DIAG_WRONG_KIND, n->span, "%s must be %s", role, wanted);
	diag_label(g, "this is %s", kind_text(k));
	if (n->kind == NODE_NAME && n->decl && n->decl->decl)
		diag_second(g, n->decl->decl->span, "`%s` becomes %s here", n->name, kind_text(k));
	if (kinds & KIND_BIT(KIND_INT) && k == KIND_FLOAT && n->kind == NODE_BINARY && n->op == AST_DIV)
		diag_note(g, "`/` of two ints drops the fraction and is an int; with a float all is float");
	if (kinds == KINDS_CONDITION && k == KIND_QUBITS)
		diag_help(g, "a gate that depends on a measurement is written `if (measure a) x b;`");
	if (kinds == KINDS_NUMBER && kind_is_array(k))
		diag_help(g, "an element is written `t[i]`; `u(each t) on w;` hands one to each tuple of w");
	return false;
}

void kinds_check(struct resolver *r, struct node *n, unsigned kinds, const char *role,
	const char *wanted)
{
	if (n && kinds_expr(r, n))
		kinds_require(r, n, kinds, role, wanted);
}

void kinds_check_int(struct resolver *r, struct node *n, const char *role)
{
	kinds_check(r, n, KIND_BIT(KIND_INT), role, "an int");
}

void kinds_list(struct resolver *r, const struct node_list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		kinds_expr(r, l->v[i]);
}

/* ---- leaves ---- */

static enum kind expr_number(struct resolver *r, struct node *n)
{
	(void)r;
	return is(n,
		n->kind == NODE_INT            ? KIND_INT
			: n->kind == NODE_REAL ? KIND_FLOAT
					       : KIND_UNKNOWN);
}

static enum kind expr_name(struct resolver *r, struct node *n)
{
	double value;

	n->decl = scope_value(r, n);
	if (!n->decl)
		return is(n, math_constant(n->name, &value) ? KIND_FLOAT : KIND_UNKNOWN);
	n->decl->late |= n->decl->number <= r->late;
	return array_of(n, n->decl->rank, n->decl->ndim);
}

/* ---- lists ---- */

enum kind kinds_element(const struct node *list, unsigned nsubscript, uint8_t *ndim)
{
	*ndim = 0;
	if (!kind_is_array(list->rank))
		return list->rank;
	if (!list->ndim)
		return KIND_UNKNOWN;
	if (nsubscript < list->ndim) {
		*ndim = (uint8_t)(list->ndim - nsubscript);
		return list->rank;
	}
	return kind_element(list->rank);
}

static enum kind expr_range(struct resolver *r, struct node *n)
{
	kinds_check_int(r, n->a, "the first of a range");
	kinds_check_int(r, n->b, "the step of a range");
	kinds_check_int(r, n->c, "the last of a range");
	return array_of(n, KIND_INT_ARRAY, 1);
}

static bool has_elements(enum kind k) { return !k || KIND_BIT(k) & (KINDS_ARRAY | KINDS_LIST); }

static enum kind expr_index(struct resolver *r, struct node *n)
{
	enum kind k = kinds_expr(r, n->a);
	unsigned ntaken = 0;
	uint8_t ndim;

	for (uint32_t i = 0; i < n->list.n; i++) {
		struct node *s = n->list.v[i];
		enum kind of = kinds_expr(r, s);

		if (kinds_require(r, s, KIND_BIT(KIND_INT) | KIND_BIT(KIND_INT_ARRAY), "an index",
			    "an int or a list of ints")
			&& s->ndim > 1)
			diag_label(diag_at(r->diags, DIAG_WRONG_KIND, s->span,
					   "an index must be an int or a list of ints"),
				"this has %u dimensions", s->ndim);
		ntaken += !of || of == KIND_INT;
	}
	if (!has_elements(k)) {
		struct diag *g = diag_at(r->diags, DIAG_WRONG_KIND, n->a->span, "this has no elements to take");

		diag_label(g, "this is %s", kind_text(k));
		return is(n, KIND_UNKNOWN);
	}
	if (kind_is_array(k) && n->a->ndim && n->list.n > n->a->ndim) {
		struct diag *g = diag_at(r->diags, DIAG_WRONG_KIND, n->span,
			"%u indices for an array of %u", n->list.n, n->a->ndim);

		diag_label(g, n->a->ndim == 1 ? "the array has one dimension" : "the array has %u dimensions", n->a->ndim);
		return is(n, KIND_UNKNOWN);
	}
	k = kinds_element(n->a, ntaken, &ndim);
	return array_of(n, k, ndim);
}

static enum kind expr_tuple(struct resolver *r, struct node *n)
{
	for (uint32_t i = 0; i < n->list.n; i++)
		kinds_check(r, n->list.v[i], KIND_BIT(KIND_QUBITS), "an element of a tuple",
			"a qubit");
	return is(n, KIND_TUPLES);
}

static enum kind expr_set(struct resolver *r, struct node *n)
{
	enum kind all = kinds_expr(r, n->list.v[0]);
	uint8_t ndim = n->list.v[0]->ndim;

	for (uint32_t i = 1; i < n->list.n; i++) {
		enum kind k = kinds_expr(r, n->list.v[i]), join = kinds_join(all, k);

		if (join == KIND_COUNT || (kind_is_array(join) && n->list.v[i]->ndim != ndim)) {
			struct diag *g = diag_at(r->diags, DIAG_WRONG_KIND, n->list.v[i]->span,
				"the elements of a list must be of one kind");

			if (join == KIND_COUNT) {
				diag_label(g, "this is %s", kind_text(k));
				diag_second(g, n->list.v[0]->span, "this is %s", kind_text(all));
			} else {
				diag_label(g, "this has %u dimension%s", n->list.v[i]->ndim,
					n->list.v[i]->ndim == 1 ? "" : "s");
				diag_second(g, n->list.v[0]->span, "this has %u", ndim);
			}
			return is(n, KIND_UNKNOWN);
		}
		all = join;
	}
	if (all && !(KIND_BIT(all) & (KINDS_NUMBER | KINDS_ARRAY | KINDS_WIRES))) {
		for (uint32_t i = 0; i < n->list.n
			&& kinds_require(r, n->list.v[i], KINDS_NUMBER | KINDS_ARRAY | KINDS_WIRES,
				"an element of a list", "a number, qubits or a tuple");
			i++)
			;
		return is(n, KIND_UNKNOWN);
	}
	if (kind_is_number(all))
		return array_of(n, kind_array(all), 1);
	return array_of(n, all, kind_is_array(all) && ndim ? (uint8_t)(ndim + 1) : 0);
}

/* ---- operators ---- */

static enum kind expr_unary(struct resolver *r, struct node *n)
{
	enum kind k = kinds_expr(r, n->a);

	if (n->op == AST_NOT) {
		kinds_require(r, n->a, KINDS_CONDITION, "the operand of `!`", "a condition");
		return is(n, KIND_BOOL);
	}
	if (!kinds_require(r, n->a, KINDS_NUMBER | KIND_BIT(KIND_OBSERVABLE), "the operand of a sign",
			"a number or an observable"))
		return is(n, KIND_UNKNOWN);
	return is(n, k);
}

static enum kind bad_operands(struct resolver *r, struct node *n, struct node *a, struct node *b, int op)
{
	struct diag *g = diag_at(r->diags, DIAG_WRONG_KIND, n->span, "`%s` cannot take %s and %s",
		ast_op_text(op), kind_text(a->rank), kind_text(b->rank));

	diag_second(g, a->span, "this is %s", kind_text(a->rank));
	diag_second(g, b->span, "this is %s", kind_text(b->rank));
	if (op != AST_JOIN && a->rank == KIND_QUBITS && b->rank == KIND_QUBITS)
		diag_help(g, "lists are joined by `++`");
	else if (kind_is_array(a->rank) || kind_is_array(b->rank))
		diag_help(g, "arithmetic is element by element: `w[i]*x[i] + b[i]`");
	return KIND_UNKNOWN;
}

static bool has_constant_coefficient(struct resolver *r, struct node *n)
{
	struct node *source = depends_on(n);

	if (source)
		not_constant(r, n, source, "a coefficient of an observable");
	return !source;
}

/* Sums, products and quotients by a number: Pauli sums with constant coefficients. */
static enum kind observable(struct resolver *r, struct node *n, struct node *a, struct node *b, int op)
{
	bool fits = op == AST_ADD || op == AST_SUB || op == AST_MUL || (op == AST_DIV && b->rank != KIND_OBSERVABLE);

	if (!fits || kinds_join(a->rank, b->rank) != KIND_OBSERVABLE)
		return bad_operands(r, n, a, b, op);
	if (!has_constant_coefficient(r, a) || !has_constant_coefficient(r, b))
		return KIND_UNKNOWN;
	return KIND_OBSERVABLE;
}

static enum kind arithmetic(struct resolver *r, struct node *n, struct node *a, struct node *b, int op)
{
	if (!a->rank || !b->rank)
		return a->rank == KIND_OBSERVABLE || b->rank == KIND_OBSERVABLE ? KIND_OBSERVABLE : KIND_UNKNOWN;
	if (a->rank == KIND_OBSERVABLE || b->rank == KIND_OBSERVABLE)
		return observable(r, n, a, b, op);
	if (!kind_is_number(a->rank) || !kind_is_number(b->rank))
		return bad_operands(r, n, a, b, op);
	enum kind k = kinds_join(a->rank, b->rank);
	if (op == AST_MOD && k == KIND_ANGLE) {
		kinds_require(r, a, KINDS_CONSTANT, "an operand of `%`", "a number");
		kinds_require(r, b, KINDS_CONSTANT, "an operand of `%`", "a number");
	}
	return k == KIND_INT && r->tree->dialect == DIALECT_QASM2 ? KIND_FLOAT : k;
}

static enum kind joined(struct resolver *r, struct node *n, struct node *a, struct node *b, int op)
{
	enum kind k = kinds_join(a->rank, b->rank);

	if (k != KIND_UNKNOWN && (k == KIND_COUNT || !has_elements(k)))
		return bad_operands(r, n, a, b, op);
	n->ndim = a->ndim;
	return k ? k : a->rank ? a->rank : b->rank;
}

static enum kind compared(struct resolver *r, struct node *n, struct node *a, struct node *b, int op)
{
	bool logical = op == AST_AND || op == AST_OR;
	unsigned kinds = logical ? KINDS_CONDITION : KINDS_CONSTANT;
	char role[32] = "an operand of `";

	(void)n;
	strcat(strcat(role, ast_op_text(op)), "`");
	kinds_require(r, a, kinds, role, logical ? "a condition" : "a number");
	kinds_require(r, b, kinds, role, logical ? "a condition" : "a number");
	return KIND_BOOL;
}

enum kind kinds_binary(struct resolver *r, struct node *n, struct node *a, struct node *b, int op)
{
	if (op == AST_JOIN)
		return joined(r, n, a, b, op);
	return op >= AST_LT && op <= AST_OR ? compared(r, n, a, b, op) : arithmetic(r, n, a, b, op);
}

static enum kind expr_binary(struct resolver *r, struct node *n)
{
	struct node *k = ast_first_sum(n);

	for (kinds_expr(r, k->a);; k = k->sum) {
		kinds_expr(r, k->b);
		is(k, kinds_binary(r, k, k->a, k->b, k->op));
		if (k == n)
			return n->rank;
	}
}

/* ---- functions ---- */

/* Kinds of the first argument and of the others. */
static const struct { unsigned first, others; const char *first_text, *others_text; } takes[TAKES_COUNT] = {
	[TAKES_NUMBERS] = { KINDS_NUMBER, KINDS_NUMBER, "a number", "a number" },
	[TAKES_CONSTANTS] = { KINDS_CONSTANT, KINDS_CONSTANT, "a number", "a number" },
	[TAKES_INTS] = { KIND_BIT(KIND_INT), KIND_BIT(KIND_INT), "an int", "an int" },
	[TAKES_ELEMENTS] = { KINDS_ARRAY | KINDS_WIRES, 0, "a list or an array", "" },
	[TAKES_QUBITS] = { KIND_BIT(KIND_QUBITS), KIND_BIT(KIND_QUBITS), "qubits", "qubits" },
	[TAKES_QUBITS_INTS] = { KIND_BIT(KIND_QUBITS), KIND_BIT(KIND_INT), "qubits", "an int" },
};

/* Names of these functions in Python and C. */
static const struct { const char *name, *here; } elsewhere[] = {
	{ "asin", "arcsin" }, { "acos", "arccos" }, { "atan", "arctan" }, { "ln", "log" }, { "fabs", "abs" }, { "fmod", "mod" },
	{ "ceil", "ceiling" }, { "bit_count", "popcount" }, { "sizeof", "len" },
};

static const char *name_here(const char *name)
{
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (!strcmp(elsewhere[i].name, name))
			return elsewhere[i].here;
	return NULL;
}

static void unknown_function(struct resolver *r, struct node *n)
{
	const char *names[BUILTIN_COUNT], *near, *of;
	struct diag *g = diag_at(r->diags, DIAG_UNKNOWN_FUNCTION, n->name_span, "unknown function `%s`", n->name);
	struct node *hidden;
	uint8_t word;

	diag_label(g, "no function of this name");
	for (int i = 1; i < BUILTIN_COUNT; i++)
		names[i - 1] = builtin_row((enum builtin)i)->name;
	near = diag_nearest(n->name, names, BUILTIN_COUNT - 1);
	if (!strcmp(n->name, "range"))
		diag_help(g, "a range is written `[0:n-1]`; it holds both ends");
	else if (name_here(n->name))
		diag_help(g, "here it is called `%s`", name_here(n->name));
	else if (near)
		diag_help(g, "did you mean `%s`?", near);
	else if (gate_find(n->name, &word, &of) && of && builtin_find(of))
		diag_help(g, "did you mean `%s`?", of);
	if (scope_find(r, SPACE_CALL, n->name, &hidden) || gate_find(n->name, &word, &of))
		diag_note(g, "`%s` is a gate or block; it stands at the beginning of a statement", n->name);
	if (scope_find(r, SPACE_VALUE, n->name, &hidden))
		diag_note(g, "`%s` is a value; an element of it is written `%s[...]`", n->name, n->name);
}

/* A file, then qubits, where the function has a file. */
static bool file_fits(struct resolver *r, struct node *n, const struct builtin_row *b)
{
	bool reads = builtin_reads(b->id);

	if (reads ? n->text && n->args.n == 1 : !n->text)
		return true;
	struct diag *g = diag_at(r->diags, DIAG_FUNCTION_ARGUMENTS,
		n->text && !reads ? n->callee_span : n->span,
		reads ? "`%s` takes the name of a file and qubits" : "`%s` takes no text", b->name);
	if (reads)
		diag_help(g, "write `%s(\"h2.txt\", q)`", b->name);
	return false;
}

static bool function_fits(struct resolver *r, struct node *n, const struct builtin_row *b)
{
	if (!file_fits(r, n, b))
		return false;
	if (n->args.n >= b->min_args && n->args.n <= b->max_args)
		return true;
	struct diag *g = diag_at(r->diags, DIAG_FUNCTION_ARGUMENTS, n->span,
		"wrong number of arguments for `%s`", b->name);
	if (b->min_args == b->max_args)
		diag_label(g, "takes %u, here %s %u", b->min_args, n->args.n == 1 ? "is" : "are", n->args.n);
	else
		diag_label(g, "takes %u to %u, here %s %u", b->min_args, b->max_args, n->args.n == 1 ? "is" : "are", n->args.n);
	diag_note(g, "`%s`: %s", b->name, b->doc);
	return false;
}

static void check_arguments(struct resolver *r, struct node *n, const struct builtin_row *b)
{
	char role[64] = "an argument of `";

	strcat(strcat(role, b->name), "`");
	for (uint32_t i = 0; i < n->args.n; i++)
		kinds_require(r, n->args.v[i], i ? takes[b->takes].others : takes[b->takes].first, role,
			i ? takes[b->takes].others_text : takes[b->takes].first_text);
}

static enum kind function_kind(const struct node *n, const struct builtin_row *b)
{
	enum kind k = KIND_INT;

	if (b->result != KIND_ANGLE && b->result != KIND_UNKNOWN)
		return b->result;
	for (uint32_t i = 0; i < n->args.n; i++)
		k = kind_is_number(n->args.v[i]->rank) ? kinds_join(k, n->args.v[i]->rank)
						       : KIND_ANGLE;
	return k == KIND_INT && b->result == KIND_ANGLE ? KIND_FLOAT : k;
}

static enum kind expr_apply(struct resolver *r, struct node *n)
{
	const char *other = r->tree->dialect == DIALECT_QASM2 ? name_here(n->name) : NULL;
	const struct builtin_row *b = builtin_row(builtin_find(other ? other : n->name));

	kinds_list(r, &n->args);
	if (!b) {
		unknown_function(r, n);
		return is(n, KIND_UNKNOWN);
	}
	n->builtin = (int)b->id;
	if (function_fits(r, n, b))
		check_arguments(r, n, b);
	return is(n, function_kind(n, b));
}

static enum kind expr_each(struct resolver *r, struct node *n)
{
	uint8_t ndim;

	kinds_expr(r, n->a);
	if (!kinds_require(r, n->a, KINDS_ARRAY | KINDS_NUMBER, "the operand of `each`", "an array")
	    || !kinds_require(r, n->a, KINDS_ARRAY, "the operand of `each`", "an array"))
		return is(n, KIND_UNKNOWN);
	enum kind k = kinds_element(n->a, 1, &ndim);
	return array_of(n, k, ndim);
}

static enum kind (*const visit[NODE_COUNT])(struct resolver *r, struct node *n) = {
	[NODE_INT] = expr_number,
	[NODE_REAL] = expr_number,
	[NODE_ERROR] = expr_number,
	[NODE_NAME] = expr_name,
	[NODE_INDEX] = expr_index,
	[NODE_RANGE] = expr_range,
	[NODE_SET] = expr_set,
	[NODE_TUPLE] = expr_tuple,
	[NODE_UNARY] = expr_unary,
	[NODE_BINARY] = expr_binary,
	[NODE_APPLY] = expr_apply,
	[NODE_EACH] = expr_each,
};

enum kind kinds_expr(struct resolver *r, struct node *n)
{
	r->nvisit++;
	return visit[n->kind](r, n);
}
