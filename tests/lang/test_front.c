/* SPDX-License-Identifier: Apache-2.0
 * The front end against golden files: NAME.ast is the resolved tree, NAME.err the
 * diagnostics with their carets. */
#include "lang/lang.h"
#include "lang/builtins.h"
#include "tests/lang/golden.h"

/* ---- the tree as an indented text ---- */

/* The roles of a node's children. */
static const struct {
	const char *a, *b, *c;
} rows[NODE_COUNT] = {
#define NODE(kind, text, a, b, c, list) [NODE_##kind] = { a, b, c },
#include "lang/ast.def"
#undef NODE
};

static const char *const modifier_texts[] = {
	[MODIFIER_CTRL] = "ctrl",
	[MODIFIER_NEGCTRL] = "negctrl",
	[MODIFIER_INV] = "inv",
	[MODIFIER_POW] = "pow",
};

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

static void ast_print(const struct ast *t, struct buf *out)
{
	if (t->file)
		print_node(t->file, "", 0, out);
}

/* ---- golden files ---- */

static void front(const char *model, struct buf *out, bool want_tree)
{
	static const char *const dirs[] = { "include" };
	struct lang_options o = { dirs, 1 };
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	struct err e = { 0 };
	int id = source_open(s, model, SOURCE_BYTES_MAX, &e);
	struct ast *t;

	if (id < 0) {
		buf_printf(out, "%s\n", e.text);
	} else {
		t = lang_parse(d, (uint32_t)id, &o);
		lang_resolve(t, d);
		diags_print(d, DIAG_HUMAN, false, out);
		if (want_tree)
			ast_print(t, out);
		ast_free(t);
	}
	diags_free(d);
	source_set_free(s);
}

static void make_ast(const char *model, struct buf *out)
{
	front(model, out, true);
}

static void make_err(const char *model, struct buf *out)
{
	front(model, out, false);
}

int main(void)
{
	static const struct golden_kind kinds[] = { { ".ast", make_ast }, { ".err", make_err } };

	golden_folder("tests/lang/front", kinds, sizeof kinds / sizeof *kinds);
	return tap_done();
}
