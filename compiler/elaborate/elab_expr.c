/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: expressions of numbers, angles and lists. */
#include "compiler/elaborate/elab.h"

#include <math.h>
#include <string.h>

static const enum expr_op angle_op[] = {
	[AST_ADD] = EXPR_ADD, [AST_SUB] = EXPR_SUB, [AST_MUL] = EXPR_MUL, [AST_DIV] = EXPR_DIV,
	[AST_POW] = EXPR_POW, [AST_NEG] = EXPR_NEG,
};

/* ---- numbers ---- */

static bool int_power(int64_t a, int64_t b, int64_t *out)
{
	int64_t r = 1;

	for (; b > 0; b >>= 1) {
		if (b & 1 && __builtin_mul_overflow(r, a, &r))
			return false;
		if (b > 1 && __builtin_mul_overflow(a, a, &a))
			return false;
	}
	*out = r;
	return true;
}

static bool int_result(int op, int64_t a, int64_t b, int64_t *out)
{
	switch (op) {
	case AST_ADD: return !__builtin_add_overflow(a, b, out);
	case AST_SUB: return !__builtin_sub_overflow(a, b, out);
	case AST_MUL: return !__builtin_mul_overflow(a, b, out);
	case AST_POW: return int_power(a, b, out);
	case AST_DIV:
		if (a == INT64_MIN && b == -1)
			return false;
		*out = a / b;
		return true;
	default: *out = b == -1 ? 0 : a % b; return true;
	}
}

static struct value finite_value(struct elab *e, double f, struct span at)
{
	if (isfinite(f))
		return value_float(f);
	return elab_fail(e, DIAG_NOT_FINITE_VALUE, at, isnan(f) ? "this is not a real number" : "this number is not finite");
}

static struct value int_binary(struct elab *e, const struct node *n, int64_t a, int64_t b)
{
	int64_t r;

	if (n->op == AST_POW && b < 0)
		return finite_value(e, pow((double)a, (double)b), n->span);
	if (!int_result(n->op, a, b, &r))
		return elab_fail(e, DIAG_INT_OVERFLOW, n->span,
			"%lld %s %lld does not fit into 64 bits", (long long)a, ast_op_text(n->op),
			(long long)b);
	if (n->op == AST_DIV && e->in_angle && a % b) {
		struct diag *g = elab_error(e, DIAG_INT_DIVISION, n->span, "%lld/%lld of ints is %lld in an angle",
			(long long)a, (long long)b, (long long)r);
		diag_help(g, "write %lld.0/%lld for the fraction", (long long)a, (long long)b);
	}
	return value_int(r);
}

static struct value arithmetic(struct elab *e, const struct node *n, const struct value *a, const struct value *b)
{
	bool divides = n->op == AST_DIV || n->op == AST_MOD;

	if (divides && b->kind != KIND_ANGLE && value_number(b) == 0)
		return elab_fail(e, DIAG_DIVISION_BY_ZERO, n->span, "division by zero");
	if (a->kind == KIND_ANGLE || b->kind == KIND_ANGLE) {
		if (n->op == AST_MOD)
			return elab_fail(e, DIAG_NOT_CONSTANT, n->span,
				"`%%` cannot act on weights or inputs");
		return value_angle(exprs_node(&e->design.exprs, angle_op[n->op],
			value_expr(&e->design.exprs, a), value_expr(&e->design.exprs, b)));
	}
	if (a->kind == KIND_INT && b->kind == KIND_INT && e->tree->dialect != DIALECT_QASM2)
		return int_binary(e, n, a->i, b->i);
	double x = value_number(a), y = value_number(b);
	return finite_value(e, n->op == AST_MOD ? fmod(x, y) : expr_apply(angle_op[n->op], x, y),
		n->span);
}

static bool compare(int op, double c)
{
	switch (op) {
	case AST_LT: return c < 0;
	case AST_LE: return c <= 0;
	case AST_GT: return c > 0;
	case AST_GE: return c >= 0;
	case AST_EQ: return c == 0;
	default: return c != 0;
	}
}

static struct value comparison(struct elab *e, const struct node *n, const struct value *a, const struct value *b)
{
	if (a->kind == KIND_ANGLE || b->kind == KIND_ANGLE)
		return elab_fail(e, DIAG_NOT_CONSTANT, n->span, "weights and inputs cannot be compared while compiling");
	if (a->kind == KIND_FLOAT || b->kind == KIND_FLOAT) {
		double x = value_number(a), y = value_number(b);
		return value_bool(compare(n->op, (x > y) - (x < y)));
	}
	return value_bool(compare(n->op, (a->i > b->i) - (a->i < b->i)));
}

/* ---- operators ---- */

static struct value logic(struct elab *e, const struct node *n)
{
	int a = elab_truth(e, n->a);

	if (a >= 0 && a == (n->op == AST_AND))
		a = elab_truth(e, n->b);
	return a < 0 ? value_unknown() : value_bool(a);
}

/* The value of an operator whose first operand has the value a. */
static struct value binary_of(struct elab *e, const struct node *n, struct value a)
{
	struct value b = elab_eval(e, n->b);
	if (a.kind == KIND_UNKNOWN || b.kind == KIND_UNKNOWN)
		return value_unknown();
	bool compares = n->op >= AST_LT && n->op <= AST_NE;
	if (n->op == AST_JOIN)
		return elab_join(e, &a, &b, n->span);
	if (a.kind == KIND_OBSERVABLE || b.kind == KIND_OBSERVABLE)
		return elab_observable(e, n->op, n->span, &a, &b);
	return compares ? comparison(e, n, &a, &b) : arithmetic(e, n, &a, &b);
}

static struct value binary(struct elab *e, const struct node *n)
{
	if (n->op == AST_AND || n->op == AST_OR)
		return logic(e, n);
	const struct node *k = ast_first_sum(n);
	struct value v = binary_of(e, k, elab_eval(e, k->a));
	while (k != n) {
		k = k->sum;
		v = binary_of(e, k, v);
	}
	return v;
}

static struct value negated(struct elab *e, const struct node *n, const struct value *v)
{
	struct value minus = value_int(-1);

	if (v->kind == KIND_INT && v->i == INT64_MIN)
		return elab_fail(e, DIAG_INT_OVERFLOW, n->span, "-(%lld) does not fit into 64 bits", (long long)v->i);
	if (v->kind == KIND_INT)
		return value_int(-v->i);
	if (v->kind == KIND_FLOAT)
		return value_float(-v->f);
	if (v->kind == KIND_ANGLE)
		return value_angle(exprs_node(&e->design.exprs, EXPR_NEG, v->expr, 0));
	return elab_observable(e, AST_MUL, n->span, &minus, v);
}

static struct value unary(struct elab *e, const struct node *n)
{
	if (n->op == AST_NOT) {
		int a = elab_truth(e, n->a);
		return a < 0 ? value_unknown() : value_bool(!a);
	}
	struct value v = elab_eval(e, n->a);
	return n->op == AST_PLUS || v.kind == KIND_UNKNOWN ? v : negated(e, n, &v);
}

/* ---- lists ---- */

static struct value list_of(struct elab *e, enum kind kind, uint32_t width, const struct value *v, uint32_t n, struct span at)
{
	uint64_t total = 0;
	uint32_t *wire, k = 0;

	for (uint32_t i = 0; i < n; i++)
		total += v[i].list.n;
	if (total > COMPILE_LIST_MAX)
		return elab_fail(e, DIAG_LIMIT_LIST, at, "a list of more than %d elements", COMPILE_LIST_MAX);
	if (!elab_work(e, total * width / 4, at))
		return value_unknown();
	wire = arena_alloc(e->arena, total * width + 1, sizeof *wire);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < v[i].list.n * v[i].list.width; j++)
			wire[k++] = v[i].list.wire[j];
	return (struct value){ .kind = kind, .list = { (uint32_t)total, width, wire } };
}

static struct value join_arrays(struct elab *e, const struct value *a, const struct value *b, struct span at)
{
	const struct array *x = a->array, *y = b->array;
	uint32_t dim[PROGRAM_DIMS_MAX];

	if (x->ndim != y->ndim || memcmp(x->dim + 1, y->dim + 1, (x->ndim - 1) * sizeof *x->dim))
		return elab_fail(e, DIAG_JOIN, at, "`++` joins arrays whose rows have one shape");
	if ((uint64_t)x->count + y->count > COMPILE_LIST_MAX)
		return elab_fail(e, DIAG_LIMIT_LIST, at, "an array of more than %d elements", COMPILE_LIST_MAX);
	if (!elab_work(e, (x->count + y->count) / 4, at))
		return value_unknown();
	memcpy(dim, x->dim, sizeof dim);
	dim[0] += y->dim[0];
	struct array *r = array_new(e->arena, kinds_join(x->element, y->element), x->ndim, dim);
	array_copy(&e->design.exprs, r, 0, x);
	array_copy(&e->design.exprs, r, x->count, y);
	return value_array(r);
}

struct value elab_join(struct elab *e, const struct value *a, const struct value *b, struct span at)
{
	struct value both[2] = { *a, *b };

	if (value_is_array(a))
		return join_arrays(e, a, b, at);
	if (a->list.n && b->list.n && a->list.width != b->list.width)
		return elab_fail(e, DIAG_JOIN, at, "`++` joins tuples of one width, not of %u and %u qubits",
			a->list.width, b->list.width);
	return list_of(e, a->kind, a->list.n ? a->list.width : b->list.width, both, 2, at);
}

static struct value set_of_numbers(struct elab *e, const struct node *n, const struct value *v)
{
	enum kind element = v[0].kind;
	uint32_t count = n->list.n;

	for (uint32_t i = 0; i < count; i++)
		element = kinds_join(element, v[i].kind);
	struct array *a = array_new(e->arena, element, 1, &count);
	for (uint32_t i = 0; i < count; i++)
		array_set(&e->design.exprs, a, i, v[i]);
	return value_array(a);
}

static struct value set_of_arrays(struct elab *e, const struct node *n, const struct value *v)
{
	uint32_t dim[PROGRAM_DIMS_MAX] = { n->list.n };
	enum kind element = KIND_INT;

	for (uint32_t i = 0; i < n->list.n; i++) {
		if (!array_same_shape(v[i].array, v[0].array))
			return elab_fail(e, DIAG_ARRAY_SIZE, n->list.v[i]->span, "the rows of an array have one shape");
		element = kinds_join(element, v[i].array->element);
	}
	if (v[0].array->ndim + 1 > PROGRAM_DIMS_MAX)
		return elab_fail(e, DIAG_LIMIT_LIST, n->span, "an array of more than %d dimensions", PROGRAM_DIMS_MAX);
	uint64_t total = (uint64_t)n->list.n * v[0].array->count;
	if (total > COMPILE_LIST_MAX)
		return elab_fail(e, DIAG_LIMIT_LIST, n->span, "an array of more than %d elements", COMPILE_LIST_MAX);
	if (!elab_work(e, total / 4, n->span))
		return value_unknown();
	memcpy(dim + 1, v[0].array->dim, v[0].array->ndim * sizeof *dim);
	struct array *a = array_new(e->arena, element, v[0].array->ndim + 1, dim);
	for (uint32_t i = 0; i < n->list.n; i++)
		array_copy(&e->design.exprs, a, i * v[0].array->count, v[i].array);
	return value_array(a);
}

static struct value set_of_lists(struct elab *e, const struct node *n, const struct value *v)
{
	for (uint32_t i = 0; i < n->list.n; i++) {
		if (v[i].list.width != v[0].list.width)
			return elab_fail(e, DIAG_JOIN, n->list.v[i]->span, "a tuple of %u qubits in a list of tuples of %u",
				v[i].list.width, v[0].list.width);
	}
	return list_of(e, v[0].kind, v[0].list.width, v, n->list.n, n->span);
}

static struct value set_of(struct elab *e, const struct node *n)
{
	mem_auto struct value *v = mem_alloc(n->list.n + 1, sizeof *v);
	bool fine = elab_work(e, n->list.n / 4, n->span);

	for (uint32_t i = 0; i < n->list.n; i++) {
		v[i] = elab_eval(e, n->list.v[i]);
		fine = fine && v[i].kind != KIND_UNKNOWN;
	}
	if (!fine || !n->list.n)
		return value_unknown();
	return value_is_list(&v[0])     ? set_of_lists(e, n, v)
		: value_is_array(&v[0]) ? set_of_arrays(e, n, v)
					: set_of_numbers(e, n, v);
}

static struct value tuple(struct elab *e, const struct node *n)
{
	uint32_t *wire = arena_alloc(e->arena, n->list.n + 1, sizeof *wire);

	for (uint32_t i = 0; i < n->list.n; i++) {
		struct wire_list w;
		if (!elab_qubits(e, n->list.v[i], &w))
			return value_unknown();
		if (w.n != 1)
			return elab_fail(e, DIAG_TUPLE_WIDTH, n->list.v[i]->span, "a tuple has one qubit per place, not a list of %u", w.n);
		wire[i] = w.wire[0];
	}
	return (struct value){ .kind = KIND_TUPLES, .list = { 1, n->list.n, wire } };
}

/* ---- names and literals ---- */

static struct value name(struct elab *e, const struct node *n)
{
	double constant;

	if (n->decl)
		return e->value[n->decl->number];
	return math_constant(n->name, &constant) ? value_float(constant) : value_unknown();
}

static struct value value_of(struct elab *e, const struct node *n)
{
	switch (n->kind) {
	case NODE_INT: return value_int(n->value.i);
	case NODE_REAL: return finite_value(e, n->value.f, n->span);
	case NODE_NAME: return name(e, n);
	case NODE_INDEX: return elab_index(e, n);
	case NODE_SET: return set_of(e, n);
	case NODE_TUPLE: return tuple(e, n);
	case NODE_UNARY: return unary(e, n);
	case NODE_BINARY: return binary(e, n);
	case NODE_APPLY: return elab_apply(e, n);
	default: BUG("no expression: %s", node_kind_text(n->kind));
	}
}

/* The kinds that a value can have, by the kind that names and operators of its text give it (lang/kinds.c): `2 ** -1` is no
 * int, a float or an observable may still be an int, and what depends on weights or inputs is known here. */
static const unsigned kinds_of_values[KIND_COUNT] = {
	[KIND_INT] = KINDS_CONSTANT,
	[KIND_FLOAT] = KINDS_NUMBER,
	[KIND_ANGLE] = KINDS_NUMBER,
	[KIND_BOOL] = KIND_BIT(KIND_BOOL),
	[KIND_INT_ARRAY] = KIND_BIT(KIND_INT_ARRAY) | KIND_BIT(KIND_FLOAT_ARRAY),
	[KIND_FLOAT_ARRAY] = KINDS_ARRAY,
	[KIND_ANGLE_ARRAY] = KINDS_ARRAY,
	[KIND_STATE] = KIND_BIT(KIND_STATE),
	[KIND_QUBITS] = KIND_BIT(KIND_QUBITS),
	[KIND_TUPLES] = KIND_BIT(KIND_TUPLES),
	[KIND_OBSERVABLE] = KIND_BIT(KIND_OBSERVABLE) | KINDS_NUMBER,
	[KIND_PROBS] = KIND_BIT(KIND_PROBS),
	[KIND_BITS] = KIND_BIT(KIND_BITS),
};

struct value elab_eval(struct elab *e, const struct node *n)
{
	struct value v = e->stop ? value_unknown() : value_of(e, n);

	if (v.kind != KIND_UNKNOWN
		&& (!(kinds_of_values[n->rank] & KIND_BIT(v.kind))
			|| (value_is_array(&v) && v.array->ndim != n->ndim)))
		BUG("%s instead of %s", kind_text(v.kind), kind_text(n->rank));
	return v;
}

bool elab_is_int(struct elab *e, enum kind k, struct span at)
{
	if (k == KIND_INT || k == KIND_INT_ARRAY)
		return true;
	diag_help(elab_error(e, DIAG_WRONG_KIND, at, "%s needed here, not %s",
			  kind_is_array(k) ? "ints are" : "an int is", value_kind_text(k)),
		"a negative power of an int is a float; `int(...)` drops the fraction");
	return false;
}

int elab_truth(struct elab *e, const struct node *n)
{
	struct value v = elab_eval(e, n);

	if (v.kind == KIND_UNKNOWN || (v.kind != KIND_BOOL && !elab_is_int(e, v.kind, n->span)))
		return -1;
	return v.i != 0;
}

bool elab_int(struct elab *e, const struct node *n, int64_t *out)
{
	unsigned in_angle = e->in_angle;

	e->in_angle = 0;
	struct value v = elab_eval(e, n);
	e->in_angle = in_angle;
	*out = v.i;
	return v.kind != KIND_UNKNOWN && elab_is_int(e, v.kind, n->span);
}

bool elab_qubits(struct elab *e, const struct node *n, struct wire_list *out)
{
	struct value v = elab_eval(e, n);

	*out = v.list;
	return v.kind != KIND_UNKNOWN;
}
