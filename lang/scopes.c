/* SPDX-License-Identifier: Apache-2.0
 * Scopes as one hash table whose chains hold the innermost name first. */
#include "lang/resolve.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const space_texts[] = {
	[SPACE_VALUE] = "a value",
	[SPACE_CALL] = "a gate or block",
	[SPACE_LAYER] = "a layer",
	[SPACE_CIRCUIT] = "a circuit",
};

/* FNV-1a. */
static uint32_t hash_of(const char *s)
{
	uint32_t h = 2166136261u;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h;
}

void scope_enter(struct resolver *r) { r->scope++; }

void scope_leave(struct resolver *r)
{
	while (r->norder && r->order[r->norder - 1]->scope == r->scope) {
		struct symbol *s = r->order[--r->norder];

		r->bucket[s->hash % RESOLVE_BUCKETS] = s->below;
	}
	r->scope--;
}

static struct symbol *lookup(const struct resolver *r, enum space space, const char *name)
{
	uint32_t hash = hash_of(name);
	struct symbol *s = r->bucket[hash % RESOLVE_BUCKETS];

	while (s && (s->hash != hash || s->space != space || strcmp(s->name, name)))
		s = s->below;
	return s;
}

void scope_declare(struct resolver *r, enum space space, struct node *n)
{
	struct symbol *s = lookup(r, space, n->name);

	if (s && s->scope == r->scope) {
		struct diag *g = diag_at(r->diags, DIAG_DUPLICATE_NAME, n->name_span,
			"`%s` is declared twice", n->name);

		diag_label(g, "here again");
		diag_second(g, s->decl->name_span, "first declared here");
		if (n->kind == NODE_LET && s->decl->kind == NODE_LET)
			diag_help(g, "to assign again, leave out `let`: `%s = ...;`", n->name);
		else if (n->kind == NODE_LAYER && s->decl->kind == NODE_LAYER)
			diag_help(g,
				"give one of them another name, or repeat one by a loop, whose layers are %s[0], %s[1] and so on",
				n->name, n->name);
		else
			diag_help(g, "give one of them another name");
		return;
	}
	s = arena_alloc(&r->arena, 1, sizeof *s);
	n->number = ++r->tree->ndecl;
	s->name = n->name;
	s->decl = n;
	s->space = space;
	s->scope = r->scope;
	s->hash = hash_of(n->name);
	s->below = r->bucket[s->hash % RESOLVE_BUCKETS];
	r->bucket[s->hash % RESOLVE_BUCKETS] = s;
	mem_reserve(r->order, r->norder, r->order_cap);
	r->order[r->norder++] = s;
}

/* A gate or block sees its formals, what its body declares, and constants of the file. */
static bool is_visible(const struct resolver *r, const struct symbol *s)
{
	return !r->def || s->space != SPACE_VALUE || s->scope >= r->def_scope
		|| (s->scope == 1 && s->decl->kind == NODE_CONST);
}

struct node *scope_find(struct resolver *r, enum space space, const char *name, struct node **hidden)
{
	struct symbol *s = lookup(r, space, name);

	*hidden = NULL;
	for (; s; s = s->below) {
		if (s->space != space || strcmp(s->name, name))
			continue;
		if (is_visible(r, s))
			return s->decl;
		if (!*hidden)
			*hidden = s->decl;
	}
	return NULL;
}

unsigned scope_of_value(const struct resolver *r, const char *name)
{
	return lookup(r, SPACE_VALUE, name)->scope;
}

static enum space space_of(const struct node *n)
{
	switch (n->kind) {
	case NODE_CONST: case NODE_VAR: case NODE_LET: case NODE_QUBIT: case NODE_PARAM: case NODE_INPUT:
	case NODE_BITS: return SPACE_VALUE;
	case NODE_GATE_DEF:
	case NODE_MATRIX_DEF:
	case NODE_BLOCK_DEF:
	case NODE_OPAQUE: return SPACE_CALL;
	case NODE_LAYER:
		return SPACE_LAYER;
	case NODE_CIRCUIT:
		return SPACE_CIRCUIT;
	default:
		return 0;
	}
}

struct search { const char *name; struct node *found; };

static int visit_declaration(struct node *n, void *ctx)
{
	struct search *s = ctx;

	if (!n->name || !space_of(n) || strcmp(n->name, s->name))
		return 0;
	s->found = n;
	return 1;
}

/* Any declaration of the name, wherever: says why it does not serve. */
static void add_elsewhere(struct resolver *r, struct diag *g, enum space space, const char *name)
{
	struct search s = { name, NULL };

	ast_walk(r->tree->file, visit_declaration, &s);
	if (!s.found)
		return;
	if (space_of(s.found) != space)
		diag_second(g, s.found->name_span, "this `%s` is %s", name, space_texts[space_of(s.found)]);
	else
		diag_second(g, s.found->name_span, "a name is known from its declaration to the end of its scope");
}

/* Of names that differ from `near` in case only, the one most like `name` (CNOT, cnot). */
static const char *same_case(const char *name, const char *near, const char *const *names, size_t n)
{
	size_t best = 0;

	for (size_t i = 0; i < n; i++) {
		size_t like = 0;

		if (strcasecmp(names[i], near))
			continue;
		for (size_t k = 0; names[i][k] && name[k]; k++)
			like += names[i][k] == name[k];
		if (like > best) {
			best = like;
			near = names[i];
		}
	}
	return near;
}

void scope_suggest(struct resolver *r, struct diag *g, enum space space, const char *name,
	const char *const *more, size_t nmore)
{
	const char **names = mem_alloc(r->norder + nmore + 1, sizeof *names), *near, *of;
	size_t n = 0;
	uint8_t word;

	for (size_t i = 0; i < r->norder; i++)
		if (r->order[i]->space == space && is_visible(r, r->order[i]))
			names[n++] = r->order[i]->name;
	for (size_t i = 0; i < nmore; i++)
		if (space != SPACE_CALL || !gate_is_step(more[i]))
			names[n++] = more[i];
	near = diag_nearest(name, names, n);
	near = near ? same_case(name, near, names, n) : NULL;
	if (near && space == SPACE_CALL && !lookup(r, space, near) && gate_find(near, &word, &of) && of)
		diag_help(g, "did you mean `%s`? here it is called `%s`", near, of);
	else if (near)
		diag_help(g, "did you mean `%s`?", near);
	add_elsewhere(r, g, space, name);
	free(names);
}

void scope_drop(struct resolver *r, struct span at)
{
	const char *text = source_text(diags_sources(r->diags), at.file, NULL);
	uint32_t i = at.begin, begin;

	while (i < at.end) {
		for (begin = i; i < at.end && (isalnum((unsigned char)text[i]) || text[i] == '_'); i++)
			;
		if (i > begin && !isdigit((unsigned char)text[begin])) {
			const char **name = arena_push(&r->arena, r->dropped, r->ndropped);
			*name = arena_strndup(&r->arena, text + begin, i - begin);
		}
		i += i == begin;
	}
}

bool scope_dropped(const struct resolver *r, const char *name)
{
	for (const char *p = name; *p && r->tree->dialect == DIALECT_MODEL; p++)
		if ((unsigned char)*p >= 0x80)      /* reported by the scanner */
			return true;
	return text_among(name, r->dropped, r->ndropped);
}

static void not_visible(struct resolver *r, struct node *n, struct node *hidden)
{
	struct diag *g = diag_at(r->diags, DIAG_NOT_VISIBLE, n->name_span,
		"`%s` cannot be seen in %s `%s`", n->name, node_kind_text(r->def->kind), r->def->name);

	diag_label(g, "sees its formals and the constants of the file");
	diag_second(g, hidden->name_span, "declared here");
	diag_help(g, "%s",
		r->def->kind == NODE_MATRIX_DEF
			? "a matrix is constant; gates with angles are made of others: `gate v(t) a { ... }`"
			: hidden->rank == KIND_QUBITS ? "hand it over as an operand"
						      : "hand it over as an argument");
}

struct node *scope_value(struct resolver *r, struct node *n)
{
	struct node *hidden, *decl = scope_find(r, SPACE_VALUE, n->name, &hidden);
	double value;

	if (decl || math_constant(n->name, &value) || (!hidden && scope_dropped(r, n->name)))
		return decl;
	if (hidden) {
		not_visible(r, n, hidden);
		return NULL;
	}
	struct diag *g =
		diag_at(r->diags, DIAG_UNKNOWN_NAME, n->name_span, "unknown name `%s`", n->name);
	diag_label(g, "nothing of this name is declared above");
	scope_suggest(r, g, SPACE_VALUE, n->name, math_constant_names, MATH_CONSTANTS);
	return NULL;
}
