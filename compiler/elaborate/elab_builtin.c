/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: functions in expressions: mathematics, len, lists of tuples. */
#include "compiler/elaborate/elab.h"

#include <math.h>
#include <stdlib.h>

#include "compiler/elaborate/lists.h"

typedef struct value (*builtin_fn)(struct elab *e, const struct node *n);
/* v: the values of the arguments, at most two. */
typedef struct value (*number_fn)(struct elab *e, const struct node *n, const struct value *v);

/* ---- mathematics ---- */

static const enum expr_op maths[BUILTIN_COUNT] = {
	[BUILTIN_SIN] = EXPR_SIN, [BUILTIN_COS] = EXPR_COS, [BUILTIN_TAN] = EXPR_TAN,
	[BUILTIN_ARCSIN] = EXPR_ARCSIN, [BUILTIN_ARCCOS] = EXPR_ARCCOS, [BUILTIN_ARCTAN] = EXPR_ARCTAN,
	[BUILTIN_EXP] = EXPR_EXP, [BUILTIN_LOG] = EXPR_LOG, [BUILTIN_SQRT] = EXPR_SQRT,
	[BUILTIN_ABS] = EXPR_ABS, [BUILTIN_MIN] = EXPR_MIN, [BUILTIN_MAX] = EXPR_MAX,
};

static struct value not_finite(struct elab *e, const struct node *n, double x, double f)
{
	struct diag *g = elab_error(e, DIAG_NOT_FINITE_VALUE, n->span, isnan(f) ? "`%s` of %g is not a real number" : "`%s` of %g is not finite",
		n->name, x);

	diag_note(g, "`%s`: %s", n->name, builtin_row(n->builtin)->doc);
	return value_unknown();
}

/* The arguments in v; false when one is unknown or was reported. */
static bool numbers(struct elab *e, const struct node *n, struct value v[2])
{
	const struct builtin_row *b = builtin_row(n->builtin);

	v[1] = value_int(0);
	for (uint32_t i = 0; i < n->args.n && i < 2; i++) {
		const struct node *at = n->args.v[i];

		v[i] = elab_eval(e, at);
		if (v[i].kind == KIND_UNKNOWN
			|| (b->takes == TAKES_INTS && !elab_is_int(e, v[i].kind, at->span)))
			return false;
		if (b->takes != TAKES_NUMBERS && v[i].kind == KIND_ANGLE)
			return elab_refuse(e, DIAG_NOT_CONSTANT, at->span,
				"`%s` cannot act on weights or inputs", n->name);
	}
	return true;
}

static struct value function(struct elab *e, const struct node *n, const struct value *v)
{
	enum expr_op op = maths[n->builtin];

	if (v[0].kind == KIND_ANGLE || v[1].kind == KIND_ANGLE)
		return value_angle(exprs_node(&e->design.exprs, op, value_expr(&e->design.exprs, &v[0]),
			n->args.n > 1 ? value_expr(&e->design.exprs, &v[1]) : 0));
	if (builtin_row(n->builtin)->result == KIND_UNKNOWN && v[0].kind == KIND_INT
		&& v[1].kind == KIND_INT) {
		if (n->builtin == BUILTIN_ABS && v[0].i == INT64_MIN)
			return elab_fail(e, DIAG_INT_OVERFLOW, n->span,
				"abs(%lld) does not fit into 64 bits", (long long)v[0].i);
		if (n->builtin == BUILTIN_ABS)
			return value_int(v[0].i < 0 ? -v[0].i : v[0].i);
		return value_int((n->builtin == BUILTIN_MIN) == (v[0].i < v[1].i) ? v[0].i : v[1].i);
	}
	double f = expr_apply(op, value_number(&v[0]), value_number(&v[1]));
	return isfinite(f) ? value_float(f) : not_finite(e, n, value_number(&v[0]), f);
}

/* pow(a, b) is a ** b and mod(a, b) is a % b. */
static struct value operator(struct elab *e, const struct node *n)
{
	struct node both = { .kind = NODE_BINARY,
		.op = n->builtin == BUILTIN_POW ? AST_POW : AST_MOD,
		.span = n->span,
		.a = n->args.v[0],
		.b = n->args.v[1],
		.rank = n->rank };

	return elab_eval(e, &both);
}

static struct value rounded(struct elab *e, const struct node *n, const struct value *v)
{
	(void)e;
	return value_float(n->builtin == BUILTIN_FLOOR ? floor(value_number(&v[0])) : ceil(value_number(&v[0])));
}

static struct value bits(struct elab *e, const struct node *n, const struct value *v)
{
	(void)e;
	uint64_t a = (uint64_t)v[0].i, k = (n->builtin == BUILTIN_ROTR ? -(uint64_t)v[1].i : (uint64_t)v[1].i) % 64;
	if (n->builtin == BUILTIN_POPCOUNT)
		return value_int(__builtin_popcountll(a));
	return value_int((int64_t)(k ? a << k | a >> (64 - k) : a));
}

static struct value to_int(struct elab *e, const struct node *n, const struct value *v)
{
	if (v[0].kind == KIND_INT)
		return v[0];
	double f = trunc(v[0].f);
	if (f < -0x1p63 || f >= 0x1p63)
		return elab_fail(e, DIAG_INT_OVERFLOW, n->span, "int(%g) does not fit into 64 bits", v[0].f);
	return value_int((int64_t)f);
}

static struct value to_float(struct elab *e, const struct node *n, const struct value *v)
{
	(void)e;
	(void)n;
	return v[0].kind == KIND_INT ? value_float((double)v[0].i) : v[0];
}

static struct value length(struct elab *e, const struct node *n)
{
	struct value v = elab_eval(e, n->args.v[0]);

	return v.kind == KIND_UNKNOWN ? v : value_int(value_len(&v));
}

/* ---- lists of tuples ---- */

static struct value too_long(struct elab *e, const struct node *n)
{
	return elab_fail(e, DIAG_LIMIT_LIST, n->span, "`%s` would give more than %d elements", n->name, COMPILE_LIST_MAX);
}

static struct value tuples(struct wire_list w)
{
	return (struct value){ .kind = KIND_TUPLES, .list = w };
}

static const unsigned neighbours[BUILTIN_COUNT] = {
	[BUILTIN_EVEN] = LIST_EVEN,
	[BUILTIN_ODD] = LIST_ODD,
	[BUILTIN_CHAIN] = LIST_EVEN | LIST_ODD,
	[BUILTIN_RING] = LIST_EVEN | LIST_ODD | LIST_CLOSED,
};

static struct value pairs(struct elab *e, const struct node *n)
{
	bool all = n->builtin == BUILTIN_ALL_PAIRS;
	struct wire_list w;

	if (!elab_qubits(e, n->args.v[0], &w))
		return value_unknown();
	uint64_t count = all ? (uint64_t)w.n * (w.n - (w.n > 0)) / 2 : w.n;
	if (count > COMPILE_LIST_MAX)
		return too_long(e, n);
	if (!elab_work(e, count, n->span))
		return value_unknown();
	return tuples(all ? list_all_pairs(e->arena, &w)
			  : list_neighbours(e->arena, &w, neighbours[n->builtin]));
}

static struct value cycle(struct elab *e, const struct node *n)
{
	struct wire_list w;
	int64_t r = 1;

	if (!elab_qubits(e, n->args.v[0], &w) || (n->args.n > 1 && !elab_int(e, n->args.v[1], &r)))
		return value_unknown();
	if (!elab_work(e, w.n, n->span))
		return value_unknown();
	if (w.n >= 2 && r % (int64_t)w.n == 0)
		return elab_fail(e, DIAG_LIST_ARGUMENT, n->args.n > 1 ? n->args.v[1]->span : n->span,
			"a cycle of %u with distance %lld pairs every qubit with itself", w.n, (long long)r);
	return tuples(list_cycle(e->arena, &w, r));
}

static struct value windows(struct elab *e, const struct node *n)
{
	struct wire_list w, t;
	int64_t k, s;

	if (!elab_qubits(e, n->args.v[0], &w) || !elab_int(e, n->args.v[1], &k) || !elab_int(e, n->args.v[2], &s))
		return value_unknown();
	if (k < 1 || s < 1)
		return elab_fail(e, DIAG_LIST_ARGUMENT, n->args.v[k < 1 ? 1 : 2]->span, "the %s of windows must be at least 1, not %lld",
			k < 1 ? "size" : "step", (long long)(k < 1 ? k : s));
	k = k > (int64_t)w.n + 1 ? (int64_t)w.n + 1 : k;
	s = s > (int64_t)w.n + 1 ? (int64_t)w.n + 1 : s;
	if (((uint64_t)w.n / (uint64_t)s + 1) * (uint64_t)k > COMPILE_LIST_MAX)
		return too_long(e, n);
	t = list_windows(e->arena, &w, (uint32_t)k, (uint32_t)s);
	return elab_work(e, (uint64_t)t.n * t.width / 4, n->span) ? tuples(t) : value_unknown();
}

static struct value zip(struct elab *e, const struct node *n)
{
	mem_auto struct wire_list *w = mem_alloc(n->args.n, sizeof *w);
	uint32_t least = UINT32_MAX, width = 0, k = 0;

	for (uint32_t i = 0; i < n->args.n; i++) {
		if (!elab_qubits(e, n->args.v[i], &w[i]))
			return value_unknown();
		least = w[i].n < least ? w[i].n : least;
		width += w[i].width;
	}
	if (!elab_work(e, (uint64_t)least * width / 4, n->span))
		return value_unknown();
	uint32_t *wire = arena_alloc(e->arena, (size_t)least * width + 1, sizeof *wire);
	for (uint32_t t = 0; t < least; t++)
		for (uint32_t i = 0; i < n->args.n; i++)
			wire[k++] = w[i].wire[t];
	return tuples((struct wire_list){ least, width, wire });
}

/* ---- observables ---- */

static struct value probs(struct elab *e, const struct node *n)
{
	struct wire_list w;

	if (!elab_qubits(e, n->args.v[0], &w))
		return value_unknown();
	return (struct value){ .kind = KIND_PROBS, .list = w };
}

static const number_fn of_numbers[BUILTIN_COUNT] = {
	[BUILTIN_CEILING] = rounded,
	[BUILTIN_FLOOR] = rounded,
	[BUILTIN_POPCOUNT] = bits,
	[BUILTIN_ROTL] = bits,
	[BUILTIN_ROTR] = bits,
	[BUILTIN_INT] = to_int,
	[BUILTIN_FLOAT] = to_float,
};

static const builtin_fn others[BUILTIN_COUNT] = {
	[BUILTIN_POW] = operator,
	[BUILTIN_MOD] =
	operator,
	[BUILTIN_LEN] = length,
	[BUILTIN_EVEN] = pairs,
	[BUILTIN_ODD] = pairs,
	[BUILTIN_CHAIN] = pairs,
	[BUILTIN_RING] = pairs,
	[BUILTIN_ALL_PAIRS] = pairs,
	[BUILTIN_CYCLE] = cycle,
	[BUILTIN_WINDOWS] = windows,
	[BUILTIN_ZIP] = zip,
	[BUILTIN_X] = elab_pauli,
	[BUILTIN_Y] = elab_pauli,
	[BUILTIN_Z] = elab_pauli,
	[BUILTIN_PROBS] = probs,
	[BUILTIN_PAULI_SUM] = elab_pauli_file,
	[BUILTIN_HERMITIAN] = elab_hermitian,
};

struct value elab_apply(struct elab *e, const struct node *n)
{
	number_fn number = maths[n->builtin] ? function : of_numbers[n->builtin];
	struct value v[2];

	if (number)
		return numbers(e, n, v) ? number(e, n, v) : value_unknown();
	return others[n->builtin](e, n);
}
