/* SPDX-License-Identifier: Apache-2.0
 * A resolved configuration as YAML with origins, and as JSON. */
#include "cli/config/configuration_tree.h"

#include <ctype.h>
#include <string.h>

#include "cli/config/aliases.h"

enum { COMMENT_COLUMN = 44 };

/* ---- values ---- */

/* texts: every scalar is a text, as it was written, even where it looks like a number or a truth value (01, 1e3, true). */
static json_t *json_of(const struct ynode *v, bool texts)
{
	json_t *j;

	if (v->kind == YNODE_LIST) {
		j = json_array();
		for (uint32_t i = 0; i < v->n; i++)
			json_array_append_new(j, json_of(v->entry[i].value, texts));
		return j;
	}
	if (v->kind == YNODE_MAP) {
		j = json_object();
		for (uint32_t i = 0; i < v->n; i++)
			json_object_set_new(j, v->entry[i].key, json_of(v->entry[i].value, texts));
		return j;
	}
	if (v->kind == YNODE_NONE || v->kind == YNODE_NULL)
		return json_null();
	if (v->kind == YNODE_TEXT || texts)
		return json_string(v->text);
	if (v->kind == YNODE_BOOL)
		return json_boolean(v->b);
	return v->kind == YNODE_INT ? json_integer(v->i) : json_real(v->f);
}

static json_t *value_json(const struct train_option *o, double value, const struct yentry *entry)
{
	char word[OPTION_WORD_MAX];

	if (o->kind == VALUE_LIST || o->kind == VALUE_COMMAND)
		return json_of(entry->value, o->kind == VALUE_COMMAND);
	if (o->kind == VALUE_TEXT)
		return json_string(entry ? entry->value->text : o->words);
	if (o->kind == VALUE_WORD)
		return json_string(option_word_at(o->words, (unsigned)value, word, sizeof word));
	if (o->kind == VALUE_WORDS) {
		json_t *all = json_array();

		for (unsigned k = 0; k < option_nword(o->words); k++)
			if ((unsigned)value >> k & 1)
				json_array_append_new(all,
					json_string(option_word_at(o->words, k, word, sizeof word)));
		return all;
	}
	if (o->kind == VALUE_COUNT && o->words && !value_given(value))
		return json_string(o->words);
	if (!value_given(value))
		return json_null();
	if (o->kind == VALUE_BOOL)
		return json_boolean(value != 0);
	return o->kind == VALUE_COUNT ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *options_json(enum key_type type, const struct ynode *v)
{
	double option[TRAIN_OPTIONS_MAX], list[SCHEDULE_LISTS_MAX][VALUE_LIST_MAX];
	const struct table_row row = config_row(type, v, option, list);
	const struct ynode *given;
	json_t *all = json_object();

	schema_chosen(type, v, &given);
	for (unsigned i = 0; i < row.noption; i++)
		json_object_set_new(all, row.option[i].name,
			value_json(&row.option[i], option[i],
				given ? ynode_find(given, row.option[i].name) : NULL));
	return all;
}

static json_t *chosen_json(enum key_type type, const struct ynode *v)
{
	const struct ynode *given;
	const struct table_row row = schema_chosen(type, v, &given);

	if (!row.noption)
		return json_string(row.name);
	json_t *outer = json_object();
	json_object_set_new(outer, row.name, options_json(type, v));
	return outer;
}

/* Of one scope: those that change results, or those that do not.  A map, or a list where a name comes
 * again, however it was written: the same callbacks are the same text. */
static json_t *callbacks_json(const struct config *c, enum key_scope scope)
{
	json_t *map = json_object(), *list = json_array();
	bool again = false;

	for (uint32_t i = 0; i < c->value[KEY_TRAIN_CALLBACKS]->n; i++) {
		const struct ynode one = config_callback(c, i), *given;
		const char *name = schema_chosen(TYPE_CALLBACKS, &one, &given).name;

		if (scope && callback_find(name)->changes_result != (scope == SCOPE_RESULT))
			continue;
		again |= json_object_get(map, name) != NULL;
		json_t *options = options_json(TYPE_CALLBACKS, &one);
		json_array_append_new(list, json_pack("{s:O}", name, options));
		json_object_set_new(map, name, options);
	}
	json_decref(again ? map : list);
	return again ? list : map;
}

/* ---- flow style ---- */

/* May a text stand without quotes, in flow style too? */
static bool is_plain(const char *text)
{
	struct ynode v = { .kind = YNODE_NONE };

	yaml_resolve(&v, text);
	if (v.kind != YNODE_TEXT || !(isalpha((unsigned char)*text) || *text == '/' || *text == '.' || *text == '_'))
		return false;
	return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+") == strlen(text);
}

static void print_text(const char *text, struct buf *out)
{
	if (is_plain(text))
		buf_str(out, text);
	else
		buf_json_str(out, text);
}

static void print_key_of_map(const char *text, struct buf *out)
{
	struct ynode key = { .kind = YNODE_TEXT };

	yaml_resolve(&key, text);
	if (key.kind == YNODE_INT || key.kind == YNODE_REAL)
		buf_str(out, text);
	else
		print_text(text, out);
}

static void print_flow(const json_t *v, struct buf *out)
{
	const char *key, *before = "";
	json_t *member;

	if (json_is_array(v)) {
		buf_char(out, '[');
		for (size_t i = 0; i < json_array_size(v); i++) {
			buf_str(out, i ? ", " : "");
			print_flow(json_array_get(v, i), out);
		}
		buf_char(out, ']');
	} else if (json_is_object(v)) {
		buf_char(out, '{');
		json_object_foreach((json_t *)v, key, member) {
			buf_str(out, before);
			print_key_of_map(key, out);
			buf_str(out, ": ");
			print_flow(member, out);
			before = ", ";
		}
		buf_char(out, '}');
	} else if (json_is_string(v)) {
		print_text(json_string_value(v), out);
	} else if (json_is_real(v)) {
		buf_real(out, json_real_value(v));
	} else {
		json_write(v, out);
	}
}

/* ---- lines ---- */

static const char mark[] = "  # "; /* before where a value came from */

/* What a line of a run's config.yaml says of that; false: nothing. */
static bool copy_origin(const struct config *c, uint32_t number, struct buf *out)
{
	size_t len, n = sizeof mark - 1;
	const char *line = source_line(diags_sources(c->d), c->file, number, &len);

	for (size_t at = len; at-- > 0;)
		if (len - at >= n && !memcmp(line + at, mark, n)) {
			buf_add(out, line + at + n, len - at - n);
			buf_char(out, '\n');
			return true;
		}
	return false;
}

static void finish_line(const struct config *c, size_t start, struct span at, struct buf *out)
{
	while (out->len - start < COMMENT_COLUMN)
		buf_char(out, ' ');
	buf_str(out, mark);
	if (!at.file) {
		buf_str(out, "default\n");
		return;
	}
	struct place p = source_place(diags_sources(c->d), at);
	if (at.file == c->file && c->of_run && copy_origin(c, p.line, out))
		return;
	if (at.file == c->file)
		buf_printf(out, "%s:%u\n", p.name, p.line);
	else
		buf_printf(out, "%s\n", p.name);
}

/* A line for each member of a map, whose origin is that of the member in `given`, else the default. maps: the members are maps of
 * such lines. */
static void print_lines(const struct config *c, const json_t *map, const struct ynode *given,
	bool maps, int indent, struct buf *out)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)map, key, v) {
		const struct yentry *entry =
			given && given->kind == YNODE_MAP ? ynode_find(given, key) : NULL;
		size_t start = out->len;

		buf_printf(out, "%*s", indent, "");
		print_text(key, out);
		buf_str(out, maps ? ":\n" : ": ");
		if (maps) {
			print_lines(c, v, entry ? entry->value : NULL, false, indent + 2, out);
			continue;
		}
		print_flow(v, out);
		finish_line(c, start, entry ? entry->value->at : (struct span){ 0, 0, 0 }, out);
	}
}

/* Callbacks with their options, as the list that they were written as. */
static void print_callbacks(const struct config *c, struct buf *out)
{
	for (uint32_t i = 0; i < c->value[KEY_TRAIN_CALLBACKS]->n; i++) {
		const struct ynode one = config_callback(c, i), *given;
		const char *name = schema_chosen(TYPE_CALLBACKS, &one, &given).name;
		json_auto_t *options = options_json(TYPE_CALLBACKS, &one);

		buf_printf(out, "    - %s:\n", name);
		print_lines(c, options, given, false, 8, out);
	}
}

static void print_key(const struct config *c, const struct schema_row *row, const char *name, struct buf *out)
{
	const struct ynode *v = c->value[row->id];
	size_t start = out->len;
	bool rows = schema_has_rows(row->type) && v->kind != YNODE_NULL,
	     callbacks = row->type == TYPE_CALLBACKS && v->n;
	json_auto_t *value = rows ? chosen_json(row->type, v)
		: callbacks       ? callbacks_json(c, SCOPE_NONE)
				  : json_of(v, schema_is_text(row->type));

	buf_printf(out, "  %s:", name);
	if (callbacks && v->kind == YNODE_LIST) {
		buf_char(out, '\n');
		print_callbacks(c, out);
	} else if (callbacks || (rows && json_is_object(value)) || (row->type == TYPE_CONSTS && v->n)) {
		buf_char(out, '\n');
		print_lines(c, value, v, callbacks || rows, 4, out);
	} else {
		buf_char(out, ' ');
		print_flow(value, out);
		finish_line(c, start, v->at, out);
	}
}

void config_print(const struct config *c, struct buf *out)
{
	const char *section = "";

	for (const struct schema_row *row = schema_rows; row < schema_rows + KEY_COUNT; row++) {
		size_t len = strcspn(row->path, ".");

		if (strncmp(section, row->path, len + 1)) {
			section = row->path;
			buf_printf(out, "%.*s:\n", (int)len, section);
		}
		print_key(c, row, row->path + len + 1, out);
	}
}

/* ---- JSON ---- */

/* NULL: the key leaves no choice, or nothing was resolved. */
static const char *resolved_word(const struct config_resolved *r, enum key_id id)
{
	switch (id) {
	case KEY_RUN_DEVICE: return r->device;
	case KEY_RUN_ISA: return r->isa;
	case KEY_RUN_METHOD: return r->method;
	default: return NULL;
	}
}

static json_t *key_json(const struct config *c, const struct schema_row *row, enum key_scope scope,
	const struct config_resolved *r)
{
	const char *word = resolved_word(r, row->id);

	if (row->type == TYPE_CALLBACKS)
		return callbacks_json(c, scope);
	if (schema_has_rows(row->type) && config_has(c, row->id))
		return chosen_json(row->type, c->value[row->id]);
	if (row->type == TYPE_METRICS || row->type == TYPE_TRANSFORMS) {
		json_t *all = json_array();

		for (uint32_t i = 0; i < c->value[row->id]->n; i++)
			json_array_append_new(all,
				chosen_json(row->type, c->value[row->id]->entry[i].value));
		return all;
	}
	if (word)
		return json_string(word);
	return json_of(c->value[row->id], schema_is_text(row->type));
}

json_t *config_json(const struct config *c, enum key_scope scope, const struct config_resolved *r)
{
	json_t *all = json_object();

	for (const struct schema_row *row = schema_rows; row < schema_rows + KEY_COUNT; row++) {
		const char *path =
			scope == SCOPE_RESULT ? former_name(FORMER_KEY, row->path) : row->path;
		const char *name = strchr(path, '.') + 1;
		char section[32] = "";

		if (scope && row->scope != scope)
			continue;
		/* Younger than the others: without a value, files are as they were. */
		if (scope && (row->id == KEY_RUN_TRAJECTORIES || row->id == KEY_RUN_NOISE)
			&& !config_has(c, row->id))
			continue;
		memcpy(section, path, (size_t)(name - 1 - path));
		json_t *part = json_object_get(all, section);
		if (!part) {
			part = json_object();
			json_object_set_new(all, section, part);
		}
		json_object_set_new(part, name, key_json(c, row, scope, r));
	}
	return all;
}
