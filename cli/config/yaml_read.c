/* SPDX-License-Identifier: Apache-2.0
 * libyaml's events to a tree; scalars resolved by the core schema of YAML 1.2 (chapter 10.3). */
#include "cli/config/yaml_read.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reader {
	yaml_parser_t parser;
	yaml_event_t event;
	struct diags *d;
	struct arena *arena;
	const char *text;
	size_t len, base;
	uint32_t file;
	size_t index, byte;          /* last place found: character number, byte offset */
};

/* ---- scalars ---- */

static bool is_one_of(const char *s, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(s, *words))
			return true;
	return false;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool looks_real(const char *s)
{
	size_t whole, part = 0;

	s += *s == '-' || *s == '+';
	whole = strspn(s, "0123456789");
	s += whole;
	if (*s == '.') {
		part = strspn(++s, "0123456789");
		s += part;
	}
	if (!whole && !part)
		return false;
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '-' || *s == '+';
		if (!isdigit((unsigned char)*s))
			return false;
		s += strspn(s, "0123456789");
	}
	return !*s;
}

static bool looks_int(const char *s)
{
	if (s[0] == '0' && s[1] == 'o')
		return s[2] && strspn(s + 2, "01234567") == strlen(s + 2);
	if (s[0] == '0' && s[1] == 'x')
		return s[2] && strspn(s + 2, "0123456789abcdefABCDEF") == strlen(s + 2);
	s += *s == '-' || *s == '+';
	return *s && strspn(s, "0123456789") == strlen(s);
}

static double octal_value(const char *digits)
{
	double v = 0;

	for (; *digits; digits++)
		v = 8 * v + (*digits - '0');
	return v;
}

static void resolve_int(struct ynode *v, const char *text)
{
	bool octal = text[0] == '0' && text[1] == 'o', hex = text[0] == '0' && text[1] == 'x';

	errno = 0;
	v->i = strtoll(octal || hex ? text + 2 : text, NULL, octal ? 8 : hex ? 16 : 10);
	v->kind = errno ? YNODE_REAL : YNODE_INT;    /* beyond 64 bits: the nearest double, about */
	v->f = !errno ? (double)v->i : octal ? octal_value(text + 2) : strtod(text, NULL);
}

void yaml_resolve(struct ynode *v, const char *text)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
	static const char *const yes[] = { "true", "True", "TRUE", NULL };
	static const char *const no[] = { "false", "False", "FALSE", NULL };
	static const char *const infinities[] = { ".inf", ".Inf", ".INF", NULL };
	static const char *const nans[] = { ".nan", ".NaN", ".NAN", NULL };
	bool sign = *text == '-' || *text == '+';

	v->kind = YNODE_TEXT;
	if (is_one_of(text, nulls)) {
		v->kind = YNODE_NULL;
	} else if (is_one_of(text, yes) || is_one_of(text, no)) {
		v->kind = YNODE_BOOL;
		v->b = is_one_of(text, yes);
	} else if (looks_int(text)) {
		resolve_int(v, text);
	} else if (looks_real(text)) {
		v->kind = YNODE_REAL;
		v->f = strtod(text, NULL);
	} else if (is_one_of(text + sign, infinities)) {
		v->kind = YNODE_REAL;
		v->f = *text == '-' ? -INFINITY : INFINITY;
	} else if (is_one_of(text, nans)) {
		v->kind = YNODE_REAL;
		v->f = NAN;
	}
}

/* ---- places ---- */

/* libyaml counts characters, spans count bytes. */
static uint32_t byte_of(struct reader *r, size_t index)
{
	if (index < r->index)
		r->index = r->byte = 0;
	while (r->index < index && r->byte < r->len) {
		r->byte++;
		while (r->byte < r->len && ((unsigned char)r->text[r->byte] & 0xc0) == 0x80)
			r->byte++;
		r->index++;
	}
	return (uint32_t)(r->base + r->byte);
}

static struct span span_of(struct reader *r, yaml_mark_t begin, yaml_mark_t end)
{
	struct span s = { r->file, byte_of(r, begin.index), 0 };

	s.end = byte_of(r, end.index);
	return s;
}

static struct span event_span(struct reader *r)
{
	return span_of(r, r->event.start_mark, r->event.end_mark);
}

/* A block collection's event ends where it begins; it is marked by one character. */
static struct span opening(struct reader *r)
{
	struct span s = event_span(r);

	if (s.end <= s.begin)
		s.end = s.begin + 1;
	return s;
}

static struct diag *fault(struct reader *r, enum diag_code code, struct span at, const char *text)
{
	if (!r->file)
		BUG("a built-in value is not YAML: %.*s: %s", (int)r->len, r->text, text);
	return diag_at(r->d, code, at, "%s", text);
}

/* ---- events ---- */

static bool syntax_fault(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	struct span at;

	if (p->error == YAML_READER_ERROR) {
		size_t begin = r->base + (p->problem_offset < r->len ? p->problem_offset : r->len);

		at = (struct span){ r->file, (uint32_t)begin, (uint32_t)begin };
		fault(r, DIAG_CONFIG_SYNTAX, at, p->problem ? p->problem : "this is no text in UTF-8");
		return false;
	}
	at = span_of(r, p->problem_mark, p->problem_mark);
	struct diag *g =
		fault(r, DIAG_CONFIG_SYNTAX, at, p->problem ? p->problem : "this is not YAML");
	if (p->context)
		diag_second(g, span_of(r, p->context_mark, p->context_mark), "%s", p->context);
	if (at.begin - r->base < r->len && r->text[at.begin - r->base] == '\t')
		diag_help(g, "YAML indents with spaces, not with tabs");
	return false;
}

static bool next(struct reader *r)
{
	yaml_event_delete(&r->event);
	if (yaml_parser_parse(&r->parser, &r->event))
		return true;
	memset(&r->event, 0, sizeof r->event);
	return syntax_fault(r);
}

static bool feature_fault(struct reader *r, const char *what)
{
	fault(r, DIAG_CONFIG_FEATURE, event_span(r), what);
	return false;
}

static bool plain_enough(struct reader *r)
{
	const yaml_event_t *v = &r->event;
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (v->type == YAML_ALIAS_EVENT)
		return feature_fault(r, "aliases (*name) are not read here");
	if (v->type == YAML_SCALAR_EVENT) {
		anchor = v->data.scalar.anchor;
		tag = v->data.scalar.tag;
	} else if (v->type == YAML_SEQUENCE_START_EVENT) {
		anchor = v->data.sequence_start.anchor;
		tag = v->data.sequence_start.tag;
	} else if (v->type == YAML_MAPPING_START_EVENT) {
		anchor = v->data.mapping_start.anchor;
		tag = v->data.mapping_start.tag;
	}
	if (anchor)
		return feature_fault(r, "anchors (&name) are not read here");
	if (tag)
		return feature_fault(r, "tags (!name) are not read here");
	return true;
}

static struct ynode *scalar(struct reader *r)
{
	struct ynode *v = arena_alloc(r->arena, 1, sizeof *v);
	size_t len = r->event.data.scalar.length;

	v->at = event_span(r);
	v->text = arena_strndup(r->arena, (const char *)r->event.data.scalar.value, len);
	if (r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		yaml_resolve(v, v->text);
	else
		v->kind = YNODE_TEXT;
	if (strlen(v->text) == len)
		return v;
	fault(r, DIAG_CONFIG_SYNTAX, v->at, "a text may not hold a zero byte");
	return NULL;
}

static struct ynode *node(struct reader *r, unsigned depth);

static bool map_entry(struct reader *r, struct ynode *map, unsigned depth)
{
	if (r->event.type != YAML_SCALAR_EVENT) {
		fault(r, DIAG_CONFIG_KIND, opening(r), "a key must be a single word or number");
		return false;
	}
	if (!plain_enough(r))
		return false;
	struct ynode *key = scalar(r);
	if (!key || !next(r))
		return false;
	struct ynode *value = node(r, depth);
	if (!value)
		return false;
	const struct yentry *before = ynode_find(map, key->text);
	if (!before) {
		ynode_add(r->arena, map, key->text, key->at, value);
		return true;
	}
	struct diag *g = fault(r, DIAG_CONFIG_DUPLICATE, key->at, "key given twice");
	diag_label(g, "`%s` once more", key->text);
	diag_second(g, before->key_at, "first given here");
	return true;
}

static struct ynode *collection(struct reader *r, enum ynode_kind kind, unsigned depth)
{
	struct ynode *v = arena_alloc(r->arena, 1, sizeof *v), *item;
	yaml_event_type_t end = kind == YNODE_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;

	v->kind = kind;
	v->at = opening(r);
	if (depth > YAML_DEPTH_MAX) {
		fault(r, DIAG_CONFIG_LIMIT, v->at, "nested too deeply");
		return NULL;
	}
	while (next(r) && r->event.type != end) {
		if (v->n == YAML_ENTRIES_MAX) {
			fault(r, DIAG_CONFIG_LIMIT, v->at, "more than 10000 entries");
			return NULL;
		}
		if (kind == YNODE_MAP) {
			if (!map_entry(r, v, depth + 1))
				return NULL;
			continue;
		}
		item = node(r, depth + 1);
		if (!item)
			return NULL;
		ynode_add(r->arena, v, NULL, item->at, item);
	}
	return r->event.type == end ? v : NULL;
}

/* The node that begins with the current event; its last event is current afterwards. */
static struct ynode *node(struct reader *r, unsigned depth)
{
	if (!plain_enough(r))
		return NULL;
	if (r->event.type == YAML_MAPPING_START_EVENT)
		return collection(r, YNODE_MAP, depth);
	if (r->event.type == YAML_SEQUENCE_START_EVENT)
		return collection(r, YNODE_LIST, depth);
	return scalar(r);
}

static struct ynode *document(struct reader *r)
{
	struct ynode *root;

	if (!next(r) || !next(r))            /* the stream's start, the document's */
		return NULL;
	if (r->event.type == YAML_STREAM_END_EVENT) {
		root = arena_alloc(r->arena, 1, sizeof *root);
		root->kind = YNODE_NULL;
		root->at = (struct span){ r->file, (uint32_t)r->base, (uint32_t)r->base };
		root->text = "";
		return root;
	}
	if (r->event.data.document_start.version_directive
			|| r->event.data.document_start.tag_directives.start != r->event.data.document_start.tag_directives.end) {
		feature_fault(r, "directives (%YAML, %TAG) are not read here");
		return NULL;
	}
	if (!next(r) || !(root = node(r, 1)) || !next(r) || !next(r))
		return NULL;
	if (r->event.type == YAML_STREAM_END_EVENT)
		return root;
	feature_fault(r, "a second document is not read here");
	return NULL;
}

struct ynode *yaml_read(struct diags *d, uint32_t file, size_t base, const char *text, size_t len, struct arena *a)
{
	struct reader r = { .d = d, .file = file, .base = base, .text = text, .len = len, .arena = a };
	unsigned errors = d ? diags_errors(d) : 0;

	if (!yaml_parser_initialize(&r.parser))
		BUG("libyaml has no memory");
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
	struct ynode *root = document(&r);
	yaml_event_delete(&r.event);
	yaml_parser_delete(&r.parser);
	return d && diags_errors(d) > errors ? NULL : root;
}

/* ---- nodes ---- */

struct yentry *ynode_find(const struct ynode *map, const char *key)
{
	for (uint32_t i = 0; i < map->n; i++)
		if (map->entry[i].key && !strcmp(map->entry[i].key, key))
			return &map->entry[i];
	return NULL;
}

void ynode_add(struct arena *a, struct ynode *n, const char *key, struct span key_at, struct ynode *value)
{
	if (n->n == n->cap) {
		struct yentry *more = arena_alloc(a, n->cap ? 2 * n->cap : 8, sizeof *more);

		if (n->n)
			memcpy(more, n->entry, n->n * sizeof *more);
		n->entry = more;
		n->cap = n->cap ? 2 * n->cap : 8;
	}
	n->entry[n->n++] = (struct yentry){ key, key_at, value };
}

const char *ynode_kind_text(enum ynode_kind k)
{
	static const char *const text[] = {
		[YNODE_NONE] = "nothing", [YNODE_NULL] = "null", [YNODE_BOOL] = "true or false",
		[YNODE_INT] = "a whole number", [YNODE_REAL] = "a number", [YNODE_TEXT] = "a text",
		[YNODE_LIST] = "a list", [YNODE_MAP] = "a map",
	};

	return text[k];
}
