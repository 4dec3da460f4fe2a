/* SPDX-License-Identifier: Apache-2.0
 * Nodes: their lists, the printer and the walker, from the rows of ast.def. */
#include "config.h"
#include "lang/ast.h"

#include <stdlib.h>

#include "lang/names.h"

static const struct { const char *text, *a, *b, *c, *list; } rows[NODE_COUNT] = {
#define NODE(kind, text, a, b, c, list) [NODE_##kind] = { text, a, b, c, list },
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
	[KIND_UNKNOWN] = "unknown", [KIND_INT] = "an int", [KIND_FLOAT] = "a float",
	[KIND_BOOL] = "a condition", [KIND_ANGLE] = "an angle",
	[KIND_INT_ARRAY] = "an int array", [KIND_FLOAT_ARRAY] = "a float array",
	[KIND_ANGLE_ARRAY] = "an array of angles", [KIND_STATE] = "an input state",
	[KIND_QUBITS] = "a list of qubits", [KIND_TUPLES] = "a list of tuples",
	[KIND_OBSERVABLE] = "an observable", [KIND_PROBS] = "probabilities",
};

static const char *const modifier_texts[] = {
	[MODIFIER_CTRL] = "ctrl", [MODIFIER_NEGCTRL] = "negctrl", [MODIFIER_INV] = "inv",
	[MODIFIER_POW] = "pow",
};

const char *node_kind_text(enum node_kind k)
{
	return rows[k].text ? rows[k].text : "none";
}

const char *kind_text(enum kind k)
{
	return kind_texts[k];
}

const char *ast_op_text(int op)
{
	return op_texts[op];
}

void node_list_add(struct arena *a, struct node_list *l, struct node *n)
{
	if (l->n == l->cap) {
		struct node **old = l->v;

		l->cap = l->cap ? 2 * l->cap : 4;
		l->v = arena_alloc(a, l->cap, sizeof *l->v);
		for (uint32_t i = 0; i < l->n; i++)
			l->v[i] = old[i];
	}
	l->v[l->n++] = n;
}

void ast_free(struct ast *t)
{
	if (!t)
		return;
	arena_release(&t->arena);
	free(t);
}

static int walk_list(const struct node_list *l, int (*visit)(struct node *, void *), void *ctx)
{
	int stop = 0;

	for (uint32_t i = 0; i < l->n && !stop; i++)
		stop = ast_walk(l->v[i], visit, ctx);
	return stop;
}

int ast_walk(struct node *n, int (*visit)(struct node *n, void *ctx), void *ctx)
{
	int stop;

	if (!n)
		return 0;
	stop = visit(n, ctx);
	for (uint32_t i = 0; i < n->nmodifier && !stop; i++)
		stop = ast_walk(n->modifier[i].arg, visit, ctx);
	stop = stop ? stop : walk_list(&n->args, visit, ctx);
	stop = stop ? stop : ast_walk(n->a, visit, ctx);
	stop = stop ? stop : ast_walk(n->b, visit, ctx);
	stop = stop ? stop : walk_list(&n->list, visit, ctx);
	return stop ? stop : ast_walk(n->c, visit, ctx);
}

/* Is node.op an enum ast_op here, or a flag of its own? */
static int op_of(const struct node *n)
{
	if (n->kind == NODE_PARAM)
		return n->op ? AST_FROZEN : AST_NONE;
	return n->kind == NODE_BLOCK_DEF || n->kind == NODE_GATE_DEF ? AST_NONE : n->op;
}

static void print_own(const struct node *n, struct buf *out)
{
	char word[16];

	buf_str(out, node_kind_text(n->kind));
	if (op_of(n))
		buf_printf(out, " %s", ast_op_text(op_of(n)));
	if (n->name)
		buf_printf(out, " %s", n->name);
	if (n->text)
		buf_printf(out, " of %s", n->text);
	if (n->kind == NODE_INT)
		buf_printf(out, " %lld", (long long)n->value.i);
	if (n->kind == NODE_REAL) {
		buf_char(out, ' ');
		buf_real(out, n->value.f);
	}
	if (n->has_args && !n->args.n)
		buf_str(out, " ()");
	if (n->gate)
		buf_printf(out, " = %s", gate_word_name(n->gate, n->word, word));
	if (n->rank)
		buf_printf(out, " : %s", kind_text(n->rank));
	buf_char(out, '\n');
}

static void print_node(const struct node *n, const char *role, unsigned indent, struct buf *out);

static void print_child(const struct node *n, const char *role, unsigned indent, struct buf *out)
{
	char text[32];
	size_t len = 0;

	if (!n)
		return;
	while (role[len] && role[len] != '?' && len + 2 < sizeof text) {
		text[len] = role[len];
		len++;
	}
	text[len++] = ' ';
	text[len] = '\0';
	print_node(n, text, indent, out);
}

static void print_modifier(const struct modifier *m, unsigned indent, struct buf *out)
{
	buf_pad(out, ' ', 2 * (size_t)indent);
	buf_printf(out, "modifier %s\n", modifier_texts[m->kind]);
	print_child(m->arg, "by", indent + 1, out);
}

static void print_node(const struct node *n, const char *role, unsigned indent, struct buf *out)
{
	buf_pad(out, ' ', 2 * (size_t)indent);
	buf_str(out, role);
	print_own(n, out);
	for (uint32_t i = 0; i < n->nmodifier; i++)
		print_modifier(&n->modifier[i], indent + 1, out);
	for (uint32_t i = 0; i < n->args.n; i++)
		print_child(n->args.v[i], "argument", indent + 1, out);
	print_child(n->a, rows[n->kind].a, indent + 1, out);
	for (uint32_t i = 0; i < n->list.n; i++)
		print_node(n->list.v[i], "", indent + 1, out);
	print_child(n->c, rows[n->kind].c, indent + 1, out);
	print_child(n->b, rows[n->kind].b, indent + 1, out);
}

void ast_print(const struct ast *t, struct buf *out)
{
	if (t->file)
		print_node(t->file, "", 0, out);
}
