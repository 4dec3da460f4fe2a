/* SPDX-License-Identifier: Apache-2.0
 * The parser's own state: nodes, brackets, included files, the version line. */
#include "lang/parser.h"

#include <stdlib.h>
#include <string.h>

#include "lang/builtins.h"
#include "lang/parse.h"

static uint32_t deepest(uint32_t depth, const struct node_list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->v[i]->depth > depth)
			depth = l->v[i]->depth;
	return depth;
}

static uint32_t depth_below(const struct node *n)
{
	const struct node *child[] = { n->a, n->b, n->c };
	uint32_t depth = deepest(deepest(0, &n->list), &n->args);

	for (size_t i = 0; i < sizeof child / sizeof *child; i++)
		if (child[i] && child[i]->depth > depth)
			depth = child[i]->depth;
	for (uint32_t i = 0; i < n->nmodifier; i++)
		if (n->modifier[i].arg && n->modifier[i].arg->depth > depth)
			depth = n->modifier[i].arg->depth;
	return depth;
}

static bool is_sum(const struct node *n)
{
	return n && n->kind == NODE_BINARY && (n->op == AST_ADD || n->op == AST_SUB);
}

struct node *parser_node(struct parser *p, const struct node *n)
{
	struct node *copy = arena_copy(&p->tree->arena, n, 1, sizeof *n);

	copy->depth = depth_below(n) + 1;
	if (is_sum(n) && is_sum(n->a)) {
		n->a->sum = copy;
		copy->depth = n->b->depth < n->a->depth ? n->a->depth : n->b->depth + 1;
	}
	if (copy->depth > PARSER_DEPTH_MAX) {
		if (!p->stop)
			diag_at(p->diags, DIAG_TOO_NESTED, n->span,
				"more than %d operators or statements inside each other", PARSER_DEPTH_MAX);
		*copy = (struct node){ .kind = NODE_ERROR, .span = n->span, .depth = 1 };
		parser_stop(p);
	}
	if (++p->nnode > LANG_NODES_MAX && !p->stop) {
		diag_at(p->diags, DIAG_TOO_LARGE, n->span,
			"this model has more than %d statements and expressions", LANG_NODES_MAX);
		parser_stop(p);
	}
	return copy;
}

void parser_list_add(struct parser *p, struct node_list *l, struct node *n)
{
	if (n)
		node_list_add(&p->tree->arena, l, n);
}

struct node_list parser_joined(struct parser *p, struct node_list a, struct node_list b)
{
	for (uint32_t i = 0; i < b.n; i++)
		parser_list_add(p, &a, b.v[i]);
	return a;
}

struct node_list parser_prepended(struct parser *p, struct node *first, struct node_list rest)
{
	struct node_list l = { 0 };

	parser_list_add(p, &l, first);
	return parser_joined(p, l, rest);
}

void parser_stop(struct parser *p)
{
	p->stop = true;
	p->nreplay = 0;
}

void parser_replay(struct parser *p, int token)
{
	if (p->nreplay < PARSER_REPLAY_MAX)
		p->replay[p->nreplay++] = (struct seen){ token, span_after(p->last.at), { 0 } };
}

void parser_replay_last(struct parser *p)
{
	if (p->nreplay < PARSER_REPLAY_MAX)
		p->replay[p->nreplay++] = p->last;
}

static void open_bracket(struct parser *p, int token, struct span at)
{
	if (p->nbracket == PARSER_BRACKETS_MAX) {
		diag_at(p->diags, DIAG_TOO_NESTED, at, "more than %d brackets inside each other",
			PARSER_BRACKETS_MAX);
		parser_stop(p);
		return;
	}
	p->bracket[p->nbracket++] = (struct bracket){ token, at };
}

/* A `}` also ends the ( and [ that are open inside; ) and ] never end a {. */
static void close_bracket(struct parser *p, int open)
{
	unsigned i = p->nbracket;

	if (i && p->bracket[i - 1].open != open)
		p->unclosed = p->bracket[i - 1].at;
	while (i && p->bracket[i - 1].open != open && (open == '{' || p->bracket[i - 1].open != '{'))
		i--;
	if (i && p->bracket[i - 1].open == open)
		p->nbracket = i - 1;
}

void parser_track(struct parser *p, int token, struct span at)
{
	struct parser_file *f = &p->file[p->nfile - 1];

	p->unclosed = (struct span){ 0 };
	if (!p->last.token || p->last.token == ';' || p->last.token == '{' || p->last.token == '}')
		p->begin = (struct span){ 0 };
	if (!p->begin.file)
		p->begin = at;
	if (!f->first.file)
		f->first = at;
	if (token == ';' || token == '{' || token == '}')
		p->unread = false;
	if (token == '(' || token == '[' || token == '{')
		open_bracket(p, token, at);
	else if (token == ')' || token == ']' || token == '}')
		close_bracket(p, token == ')' ? '(' : token == ']' ? '[' : '{');
}

const char *parser_physical(struct parser *p, uint64_t k, struct span at)
{
	struct node_list *l = &p->physical;
	uint32_t low = 0, high = l->n;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if ((uint64_t)l->v[middle]->value.i < k)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < l->n && (uint64_t)l->v[low]->value.i == k)
		return l->v[low]->name;
	if (l->n == PARSER_PHYSICAL_MAX) {
		diag_at(p->diags, DIAG_LIMIT_QUBITS, at, "more than %d physical qubits",
			PARSER_PHYSICAL_MAX);
		parser_stop(p);
		return l->v[0]->name;
	}
	struct node *n =
		NODE_OF(.kind = NODE_QUBIT, .name_span = at, .span = at, .value.i = (int64_t)k);
	n->name = arena_printf(&p->tree->arena, "$%llu", (unsigned long long)k);
	parser_list_add(p, l, n);
	for (uint32_t i = l->n - 1; i > low; i--) {
		l->v[i] = l->v[i - 1];
		l->v[i - 1] = n;
	}
	return n->name;
}

void parser_expect_word(struct parser *p, const char *got, struct span at, const char *want)
{
	if (!strcmp(got, want))
		return;
	struct diag *g = diag_at(p->diags, DIAG_EXPECTED_WORD, at, "unexpected `%s`", got);
	diag_label(g, "expected `%s`", want);
}

bool parser_head_layer(struct parser *p, const char *word, struct span at, bool has_units)
{
	bool dense = !strcmp(word, "dense");

	if (dense && has_units)
		return true;
	struct diag *g = dense
		? diag_at(p->diags, DIAG_SYNTAX, at, "`dense` without a number of units")
		: diag_at(p->diags, DIAG_EXPECTED_WORD, at, "unexpected `%s`", word);
	diag_label(g, dense ? "expected `(` behind it" : "expected `dense`");
	diag_help(g, "the layers of a head are dense, with a number of units and, if any, an activation: `head { dense(2, softmax); }`");
	return false;
}

void parser_version(struct parser *p, double number, struct span word, struct span at)
{
	static const double openqasm[] = { 2, 3, 3.1 };
	const struct parser_file *f = &p->file[p->nfile - 1];
	bool model = p->tree->dialect == DIALECT_MODEL, known = model && number == 1;
	struct diag *g;

	for (size_t i = 0; i < sizeof openqasm / sizeof *openqasm; i++)
		known = known || (!model && number == openqasm[i]);
	if (!known) {
		g = diag_at(p->diags, DIAG_BAD_VERSION, at, "unknown version of %s",
			model ? "the QCNN language" : "OpenQASM");
		diag_label(g,
			model ? "this program reads version 1"
			      : "this program reads 2.0, 3.0 and 3.1");
		diag_help(g, "write `%s;`", model ? "QCNN 1" : "OPENQASM 3.0");
	}
	if (f->first.file == word.file && f->first.begin != word.begin) {
		g = diag_at(p->diags, DIAG_BAD_VERSION, word, "the version line stands first in its file");
		diag_second(g, f->first, "the file begins here");
	}
}

struct node *parser_dims(struct parser *p, struct node *dims)
{
	return p->tree->dialect == DIALECT_MODEL ? dims : NULL;
}

void parser_width(struct parser *p, const struct node *dims, const char *expected)
{
	if (dims && p->tree->dialect == DIALECT_MODEL)
		diag_label(diag_at(p->diags, DIAG_SYNTAX, dims->span, "unexpected `[`"),
			"expected %s", expected);
}

/* Both inclusion headers of OpenQASM name gates that are built in. */
static bool is_built_in(const char *path)
{
	return !strcmp(path, "stdgates.inc") || !strcmp(path, "qelib1.inc");
}

/* The place `nth` where path is looked for: the including file's folder, then the
 * options' folders; an absolute path has one place. */
static const char *candidate(struct parser *p, const char *path, unsigned nth)
{
	const struct lang_options *o = p->options;
	const char *from = source_name(diags_sources(p->diags), p->file[p->nfile - 1].id);
	const char *slash = strrchr(from, '/');
	struct arena *a = &p->tree->arena;

	if (path[0] == '/')
		return nth ? NULL : path;
	if (!nth)
		return slash ? arena_printf(a, "%.*s/%s", (int)(slash - from), from, path) : path;
	if (!o || nth > o->ninclude_dir)
		return NULL;
	return arena_printf(a, "%s/%s", o->include_dir[nth - 1], path);
}

static bool is_being_read(struct parser *p, const char *name, struct span path_at)
{
	for (unsigned i = 0; i < p->nfile; i++) {
		if (strcmp(source_name(diags_sources(p->diags), p->file[i].id), name))
			continue;
		struct diag *g =
			diag_at(p->diags, DIAG_INCLUDE_CYCLE, path_at, "`%s` includes itself", name);
		for (unsigned k = i + 1; k < p->nfile; k++)
			diag_second(g, p->file[k].include_at, "on the way here");
		return true;
	}
	return false;
}

static void begin_file(struct parser *p, uint32_t id, struct span include_at)
{
	size_t len;
	const char *text = source_text(diags_sources(p->diags), id, &len);

	p->file[p->nfile++] = (struct parser_file){ .id = id, .include_at = include_at };
	scan_push(p, text, len);
}

static void not_found(struct parser *p, const char *verb, const char *path, struct span at,
	const char *const *why, unsigned nwhy)
{
	struct diag *g = diag_at(p->diags, DIAG_INCLUDE_NOT_FOUND, at, "cannot %s `%s`", verb, path);

	for (unsigned i = 0; i < nwhy; i++)
		if (!i || strcmp(why[i], why[i - 1]))
			diag_note(g, "%s", why[i]);
	if (p->file[p->nfile - 1].id == p->first_file && path[0] != '/')
		diag_help(g, "a relative name is looked for beside %s file, then in the -I folders",
			strcmp(verb, "read") ? "the including" : "this");
}

/* The file as a source, from the first folder that has it; 0: a message says why not, unless `built_in` needs none. */
static uint32_t open_named(struct parser *p, const char *verb, const char *path,
	struct span path_at, bool built_in)
{
	unsigned nplace = p->options ? p->options->ninclude_dir + 1 : 1, nwhy = 0;
	const char **why = arena_alloc(&p->tree->arena, nplace, sizeof *why), *name;
	struct err e = { 0 };
	int id = -ERR_NO_INPUT;

	while (id == -ERR_NO_INPUT && *path && (name = candidate(p, path, nwhy))) {
		if (is_being_read(p, name, path_at))
			return 0;
		id = source_open(diags_sources(p->diags), name, SOURCE_BYTES_MAX, &e);
		if (id < 0)
			why[nwhy++] = arena_strdup(&p->tree->arena, e.text);
	}
	if (id <= 0 && !built_in)
		not_found(p, verb, path, path_at, why, nwhy);
	return id > 0 ? (uint32_t)id : 0;
}

void parser_include(struct parser *p, const char *path, struct span path_at, struct span at)
{
	uint32_t id;

	if (p->stop)
		return;
	if (p->nfile == sizeof p->file / sizeof *p->file) {
		diag_at(p->diags, DIAG_TOO_NESTED, at, "more than %u files including each other", p->nfile);
		parser_stop(p);
		return;
	}
	if (p->tree->dialect != DIALECT_MODEL && is_built_in(path))
		return;
	id = open_named(p, "include", path, path_at, is_built_in(path));
	if (id)
		begin_file(p, id, at);
}

uint32_t parser_text(struct parser *p, const char *path, struct span path_at)
{
	return p->stop ? 0 : open_named(p, "read", path, path_at, false);
}

struct node *parser_read(struct parser *p, const char *name, const char *path, struct span path_at,
	struct node_list args, struct span name_span, struct span at)
{
	struct node n = { .kind = NODE_APPLY,
		.name = name,
		.name_span = name_span,
		.args = args,
		.has_args = true,
		.text = path,
		.callee_span = path_at,
		.span = at };

	if (builtin_reads(builtin_find(name)))
		n.value.i = parser_text(p, path, path_at);
	return parser_node(p, &n);
}

/* With a bracket open the text as a whole ends: what follows would only confuse. */
bool parser_end_of_file(struct parser *p)
{
	if (p->nfile == 1 || p->nbracket)
		return false;
	scan_pop(p);
	return true;
}

/* The version line selects the dialect, else the file's ending does. */
static enum dialect dialect_of(struct parser *p, uint32_t file)
{
	const char *name = source_name(diags_sources(p->diags), file), *dot = strrchr(name, '.');
	const char *text = source_text(diags_sources(p->diags), file, NULL);

	for (;;) {
		text += strspn(text, " \t\r\n\f\xef\xbb\xbf");
		if (!strncmp(text, "//", 2))
			text += strcspn(text, "\n");
		else if (!strncmp(text, "/*", 2) && strstr(text + 2, "*/"))
			text = strstr(text + 2, "*/") + 2;
		else
			break;
	}
	if (!strncmp(text, "QCNN", 4))
		return DIALECT_MODEL;
	if (!strncmp(text, "OPENQASM", 8))
		return text[8 + strspn(text + 8, " \t")] == '2' ? DIALECT_QASM2 : DIALECT_QASM3;
	return dot && !strcmp(dot, ".qasm") ? DIALECT_QASM3 : DIALECT_MODEL;
}

/* The text broke off: its whole statements, and an error over the rest. */
static struct node *broken_file(struct parser *p, uint32_t file)
{
	struct node_list l = p->statements;
	struct span rest = p->last.at;

	rest.begin = l.n && l.v[l.n - 1]->span.file == rest.file ? l.v[l.n - 1]->span.end : 0;
	if (rest.file)
		parser_list_add(p, &l, NODE_OF(.kind = NODE_ERROR, .span = rest));
	return NODE_OF(.kind = NODE_FILE, .span = { file, 0, 0 }, .list = l);
}

struct ast *lang_parse(struct diags *d, uint32_t file, const struct lang_options *o)
{
	mem_auto struct parser *p = mem_alloc(1, sizeof *p);
	struct ast *t = mem_alloc(1, sizeof *t);

	p->tree = t;
	p->diags = d;
	p->options = o;
	p->first_file = file;
	t->dialect = dialect_of(p, file);
	scan_open(p);
	begin_file(p, file, (struct span){ 0 });
	p->last.at = (struct span){ file, 0, 0 };
	parser_run(p);
	scan_close(p);
	if (!t->file)
		t->file = broken_file(p, file);
	if (p->physical.n)
		t->file->list = parser_joined(p, p->physical, t->file->list);
	return t;
}
