/* SPDX-License-Identifier: Apache-2.0
 * Declarations and assignments: sizes, kinds, what a value must be. */
#include "lang/resolve.h"

#include <string.h>

/* ---- declarations ---- */

static const enum kind declared[] = {
	[AST_TYPE_INT] = KIND_INT,
	[AST_TYPE_FLOAT] = KIND_FLOAT,
	[AST_TYPE_QUBIT] = KIND_QUBITS,
	[AST_TYPE_STATE] = KIND_STATE,
};

enum { NDIM_MAX = 8 };

void decl_dims(struct resolver *r, struct node *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < n->list.n; i++)
		kinds_check_int(r, n->list.v[i], "a size");
	if (n->list.n > NDIM_MAX)
		diag_at(r->diags, DIAG_WRONG_KIND, n->span, "an array has at most %d dimensions", NDIM_MAX);
}

/* The kind a declaration says; float is KIND_ANGLE where weights or inputs may arrive. */
void decl_set_kind(struct node *n, int op, bool angle)
{
	bool array = n->a && op != AST_TYPE_QUBIT;

	n->rank = angle && op == AST_TYPE_FLOAT ? KIND_ANGLE : declared[op];
	n->rank = array ? kind_array(n->rank) : n->rank;
	n->ndim = array && n->a->list.n <= NDIM_MAX ? (uint8_t)n->a->list.n : 0;
}

/* May a place of kind `to` take a value of kind `from`? */
bool decl_takes(enum kind to, enum kind from)
{
	enum kind join = kinds_join(to, from);

	return !to || !from || join == to || (join == KIND_ANGLE && to == KIND_FLOAT)
		|| (join == KIND_ANGLE_ARRAY && to == KIND_FLOAT_ARRAY);
}

/* Is the value of the name n an array of as many dimensions? */
static bool fits_dims(struct resolver *r, struct node *n, struct span at, uint8_t ndim)
{
	if (!ndim || !n->ndim || ndim == n->ndim)
		return true;
	struct diag *g = diag_at(r->diags, DIAG_WRONG_KIND, at, "`%s` has %u dimension%s", n->name,
		n->ndim, n->ndim == 1 ? "" : "s");
	diag_label(g, "this has %u", ndim);
	diag_second(g, n->name_span, "declared here");
	if (n->kind == NODE_LET)
		diag_help(g, "give the new array another name: `let v = ...;`");
	return false;
}

static void check_value(struct resolver *r, struct node *n, struct node *value)
{
	if (!decl_takes(n->rank, value->rank)) {
		struct diag *g = diag_at(r->diags, DIAG_WRONG_KIND, value->span, "`%s` is %s",
			n->name, kind_text(n->rank));
		diag_label(g, "this is %s", kind_text(value->rank));
		diag_second(g, n->name_span, "declared here");
		if (n->rank == KIND_INT && value->rank == KIND_FLOAT)
			diag_help(g, "declare it `float`, or drop the fraction with `int(...)`");
	} else {
		fits_dims(r, n, value->span, value->ndim);
	}
}

void decl_const(struct resolver *r, struct node *n)
{
	decl_dims(r, n->a);
	decl_set_kind(n, n->op, false);
	kinds_expr(r, n->b);
	check_value(r, n, n->b);
	if (decl_takes(n->rank, n->b->rank)) {
		if (KIND_BIT(n->rank) & KINDS_ARRAY)
			kinds_require(r, n->b, KIND_BIT(KIND_INT_ARRAY) | KIND_BIT(KIND_FLOAT_ARRAY),
				"the value", "a list of numbers");
		else
			kinds_require(r, n->b, KINDS_CONSTANT, "the value", "a number");
	}
	scope_declare(r, SPACE_VALUE, n);
}

/* A variable that gets an angle is one from then on. A loop may have visited it before: n->decl is then of that visit. */
void decl_var(struct resolver *r, struct node *n)
{
	decl_dims(r, n->a);
	decl_set_kind(n, n->op, false);
	n->decl = NULL;
	if (n->b) {
		kinds_expr(r, n->b);
		check_value(r, n, n->b);
		enum kind join = kinds_join(n->rank, n->b->rank ? n->b->rank : n->rank);
		if (n->op == AST_TYPE_FLOAT && decl_takes(n->rank, n->b->rank) && join < KIND_COUNT)
			n->rank = join;
	}
	scope_declare(r, SPACE_VALUE, n);
}

void decl_let(struct resolver *r, struct node *n)
{
	n->rank = kinds_expr(r, n->b);
	n->ndim = n->b->ndim;
	n->decl = NULL;
	scope_declare(r, SPACE_VALUE, n);
}

void decl_qubit(struct resolver *r, struct node *n)
{
	kinds_check_int(r, n->a, "the number of qubits");
	n->rank = KIND_QUBITS;
	scope_declare(r, SPACE_VALUE, n);
}

void decl_bits(struct resolver *r, struct node *n)
{
	kinds_check_int(r, n->a, "the number of bits");
	kinds_check(r, n->b, KIND_BIT(KIND_QUBITS), "what is measured", "qubits");
	n->rank = KIND_BITS;
	scope_declare(r, SPACE_VALUE, n);
}

void decl_input(struct resolver *r, struct node *n)
{
	decl_dims(r, n->a);
	decl_set_kind(n, n->op, true);
	scope_declare(r, SPACE_VALUE, n);
}

static void initializer(struct resolver *r, struct node *n)
{
	static const char *const names[] = { "uniform", "normal" };
	struct diag *g;

	kinds_list(r, &n->args);
	if (strcmp(n->name, names[0]) && strcmp(n->name, names[1])) {
		g = diag_at(r->diags, DIAG_EXPECTED_WORD, n->name_span, "unknown distribution `%s`", n->name);
		diag_label(g, "expected `uniform` or `normal`");
		const char *near = diag_nearest(n->name, names, 2);
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

void decl_param(struct resolver *r, struct node *n)
{
	decl_dims(r, n->a);
	decl_set_kind(n, AST_TYPE_FLOAT, true);
	kinds_check(r, n->b,
		KINDS_CONSTANT | (n->a ? KIND_BIT(KIND_INT_ARRAY) | KIND_BIT(KIND_FLOAT_ARRAY) : 0),
		"the first value of a weight", n->a ? "a number or a list of numbers" : "a number");
	if (n->b)
		fits_dims(r, n, n->b->span, n->b->ndim);
	if (n->c)
		initializer(r, n->c);
	scope_declare(r, SPACE_VALUE, n);
}

/* ---- matrices ---- */

/* A number, or a pair of them. */
static void matrix_entry(struct resolver *r, struct node *n)
{
	static const char role[] = "an entry of a matrix",
			  wanted[] = "a number or a pair (real, imaginary)";
	bool pair = n->kind == NODE_TUPLE;

	if (pair && n->list.n != 2) {
		diag_label(diag_at(r->diags, DIAG_WRONG_KIND, n->span, "%s must be %s", role, wanted),
			"this has %u parts", n->list.n);
		return;
	}
	for (uint32_t i = 0; i < (pair ? 2 : 1); i++) {
		struct node *part = pair ? n->list.v[i] : n;

		kinds_expr(r, part);
		kinds_require(r, part, KINDS_CONSTANT, role, wanted);
	}
}

static bool is_list(struct resolver *r, const struct node *n)
{
	if (n->kind == NODE_SET)
		return true;
	diag_help(diag_at(r->diags, DIAG_WRONG_KIND, n->span, "a matrix is a list of rows"),
		"write `{{1, 0}, {0, (0, 1)}}`, or the name of a file: `\"v.txt\"`");
	return false;
}

void decl_matrix(struct resolver *r, struct node *n)
{
	if (r->tree->dialect != DIALECT_MODEL)
		diag_label(diag_at(r->diags, DIAG_QASM_PART, n->name_span, "a gate given by a matrix"),
			"models have it, OpenQASM has not");
	if (n->list.v[0]->op != AST_TYPE_QUBIT)
		diag_label(diag_at(r->diags, DIAG_WRONG_KIND, n->list.v[0]->span,
				   "a gate given by a matrix has no angles"),
			"a matrix is constant");
	if (!n->a || !is_list(r, n->a))
		return;
	for (uint32_t i = 0; i < n->a->list.n && is_list(r, n->a->list.v[i]); i++)
		for (uint32_t k = 0; k < n->a->list.v[i]->list.n; k++)
			matrix_entry(r, n->a->list.v[i]->list.v[k]);
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
	double value;

	if (decl && (decl->kind == NODE_VAR || decl->kind == NODE_LET))
		return true;
	if (!decl && !math_constant(name->name, &value))
		return false;
	struct diag *g = diag_at(r->diags, DIAG_CANNOT_ASSIGN, target->span,
		"`%s` cannot be assigned", name->name);
	if (!decl)
		diag_label(g, "a constant of mathematics");
	else
		diag_second(g, decl->name_span, "declared here as %s %s", decl->kind == NODE_INPUT ? "an" : "a",
			decl->kind == NODE_FOR ? "loop variable" : node_kind_text(decl->kind));
	diag_help(g, "variables are declared by `int`, `float` and `let`");
	return false;
}

static void grow(struct resolver *r, struct node *decl, enum kind k, struct node *assignment)
{
	if (decl->rank == k)
		return;
	unsigned scope = scope_of_value(r, decl->name);
	decl->rank = k;
	decl->decl = assignment;
	r->grown = scope < r->grown ? scope : r->grown;
}

/* A `let` may grow from numbers to angles or observables, a float to an angle; else the kind stays. */
static void assign_name(struct resolver *r, struct node *n, enum kind k)
{
	struct node *decl = n->a->decl;
	enum kind join = kinds_join(decl->rank, k);
	bool may_grow = decl->kind == NODE_LET
		? !decl->late
		: decl->op == AST_TYPE_FLOAT && decl_takes(decl->rank, k);

	if (!k || !decl->rank)
		return;
	if (join < KIND_COUNT && (join == decl->rank || may_grow)) {
		if (fits_dims(r, decl, n->b->span, n->ndim))
			grow(r, decl, join, n);
		return;
	}
	struct diag *g = diag_at(r->diags, DIAG_WRONG_KIND, n->b->span, "`%s` is %s", decl->name,
		kind_text(decl->rank));
	diag_label(g, "assigned %s", kind_text(k));
	diag_second(g, decl->name_span, "declared here");
	if (decl->late && join < KIND_COUNT)
		diag_help(g,
			"circuits and the head use its last value: declare it in the circuit, or give the new value another name");
	else if (decl->rank == KIND_INT && k == KIND_FLOAT)
		diag_help(g, "declare it `float`, or drop the fraction with `int(...)`");
}

void decl_assign(struct resolver *r, struct node *n)
{
	kinds_expr(r, n->a);
	enum kind k = kinds_expr(r, n->b);
	if (!can_assign(r, n->a))
		return;
	n->ndim = n->b->ndim;
	if (n->op != AST_SET_TO)
		k = kinds_binary(r, n, n->a, n->b, n->op);
	n->rank = k;
	if (n->a->kind == NODE_NAME)
		assign_name(r, n, k);
	else if (n->a->a->kind == NODE_INDEX)
		diag_help(diag_at(r->diags, DIAG_CANNOT_ASSIGN, n->a->span,
				  "an element of an element cannot be assigned"),
			"write all indices in one pair of brackets: `a[i,j] = ...;`");
	else if (!(KIND_BIT(n->a->rank) & (KINDS_NUMBER | KIND_BIT(KIND_UNKNOWN))))
		kinds_require(r, n->a, KINDS_NUMBER, "an assigned element", "a number");
	else if (!decl_takes(n->a->rank, k))
		kinds_require(r, n->b, n->a->rank == KIND_INT ? KIND_BIT(KIND_INT) : KINDS_NUMBER, "the value",
			n->a->rank == KIND_INT ? "an int" : "a number");
}
