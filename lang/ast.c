/* SPDX-License-Identifier: Apache-2.0
 * Nodes: their names, from the rows of ast.def, their lists and the walker. */
#include "lang/ast.h"

#include <stdlib.h>

static const char *const node_kind_texts[NODE_COUNT] = {
	[NODE_NONE] = "none",
#define NODE(kind, text, a, b, c, list) [NODE_##kind] = text,
#include "lang/ast.def"
#undef NODE
};

static const char *const op_texts[] = {
	[AST_NONE] = "",
	[AST_ADD] = "+", [AST_SUB] = "-", [AST_MUL] = "*", [AST_DIV] = "/", [AST_MOD] = "%",
	[AST_POW] = "**", [AST_JOIN] = "++",
	[AST_LT] = "<", [AST_LE] = "<=", [AST_GT] = ">", [AST_GE] = ">=", [AST_EQ] = "==",
	[AST_NE] = "!=", [AST_AND] = "&&", [AST_OR] = "||",
	[AST_NEG] = "-", [AST_NOT] = "!", [AST_PLUS] = "+", [AST_SET_TO] = "=",
	[AST_TYPE_INT] = "int", [AST_TYPE_FLOAT] = "float", [AST_TYPE_QUBIT] = "qubit",
	[AST_TYPE_STATE] = "state", [AST_FROZEN] = "frozen",
};

static const char *const kind_texts[KIND_COUNT] = {
	[KIND_UNKNOWN] = "unknown",
	[KIND_INT] = "an int",
	[KIND_FLOAT] = "a float",
	[KIND_BOOL] = "a condition",
	[KIND_ANGLE] = "an angle",
	[KIND_INT_ARRAY] = "an int array",
	[KIND_FLOAT_ARRAY] = "a float array",
	[KIND_ANGLE_ARRAY] = "an array of angles",
	[KIND_STATE] = "an input state",
	[KIND_QUBITS] = "a list of qubits",
	[KIND_TUPLES] = "a list of tuples",
	[KIND_OBSERVABLE] = "an observable",
	[KIND_PROBS] = "probabilities",
	[KIND_BITS] = "classical bits",
};

const char *node_kind_text(enum node_kind k) { return node_kind_texts[k]; }

const char *kind_text(enum kind k) { return kind_texts[k]; }

/* Pairs of a number's kind and its array's. */
static const struct {
	enum kind one, array;
} element_kinds[] = {
	{ KIND_INT, KIND_INT_ARRAY },
	{ KIND_FLOAT, KIND_FLOAT_ARRAY },
	{ KIND_ANGLE, KIND_ANGLE_ARRAY },
};

enum kind kind_element(enum kind array)
{
	for (size_t i = 0; i < 3; i++)
		if (element_kinds[i].array == array)
			return element_kinds[i].one;
	return array;
}

enum kind kind_array(enum kind one)
{
	for (size_t i = 0; i < 3; i++)
		if (element_kinds[i].one == one)
			return element_kinds[i].array;
	return one;
}

/* Numbers in the order in which they widen; an observable holds a constant too. */
static int width(enum kind k)
{
	return k == KIND_INT ? 1 : k == KIND_FLOAT ? 2 : k == KIND_ANGLE ? 3 : 0;
}

enum kind kinds_join(enum kind a, enum kind b)
{
	if (a == b || !a || !b)
		return a == b ? a : KIND_UNKNOWN;
	if (width(a) && width(b))
		return width(a) > width(b) ? a : b;
	if (kind_is_array(a) && kind_is_array(b))
		return kind_array(kinds_join(kind_element(a), kind_element(b)));
	if ((a == KIND_OBSERVABLE && kind_is_number(b)) || (b == KIND_OBSERVABLE && kind_is_number(a)))
		return KIND_OBSERVABLE;
	return KIND_COUNT;
}

const char *ast_op_text(int op) { return op_texts[op]; }

void node_list_add(struct arena *a, struct node_list *l, struct node *n)
{
	*arena_push(a, l->v, l->n) = n;
}

void ast_free(struct ast *t)
{
	if (!t)
		return;
	arena_release(&t->arena);
	free(t);
}

uint32_t ast_count_angles(const struct node *def)
{
	uint32_t n = 0;

	while (n < def->list.n && def->list.v[n]->op != AST_TYPE_QUBIT)
		n++;
	return n;
}

bool ast_takes_lists(const struct node *def)
{
	for (uint32_t i = 0; def && i < def->list.n; i++)
		if (def->list.v[i]->op == AST_TYPE_QUBIT && def->list.v[i]->a)
			return true;
	return false;
}

static int walk_list(const struct node_list *l, int (*visit)(struct node *, void *), void *ctx)
{
	int stop = 0;

	for (uint32_t i = 0; i < l->n && !stop; i++)
		stop = ast_walk(l->v[i], visit, ctx);
	return stop;
}

static bool begins_with_sum(const struct node *n) { return n->a && n->a->sum == n; }

struct node *ast_first_sum(const struct node *n)
{
	while (begins_with_sum(n))
		n = n->a;
	return (struct node *)n;
}

/* What is below n. */
static int walk_below(struct node *n, int (*visit)(struct node *n, void *ctx), void *ctx)
{
	int stop = 0;

	for (uint32_t i = 0; i < n->nmodifier && !stop; i++)
		stop = ast_walk(n->modifier[i].arg, visit, ctx);
	stop = stop ? stop : walk_list(&n->args, visit, ctx);
	stop = stop || begins_with_sum(n) ? stop : ast_walk(n->a, visit, ctx);
	stop = stop ? stop : ast_walk(n->b, visit, ctx);
	stop = stop ? stop : walk_list(&n->list, visit, ctx);
	return stop ? stop : ast_walk(n->c, visit, ctx);
}

int ast_walk(struct node *n, int (*visit)(struct node *n, void *ctx), void *ctx)
{
	if (!n)
		return 0;
	struct node *k = n;
	int stop;
	while (!(stop = visit(k, ctx)) && begins_with_sum(k))
		k = k->a;
	for (; !stop; k = k->sum) {
		stop = walk_below(k, visit, ctx);
		if (k == n)
			break;
	}
	return stop;
}
