/* SPDX-License-Identifier: Apache-2.0
 * Values that name a row of a table in runtime/train, with options of that row. */
#include "cli/config/schema_check.h"

#include <string.h>

#include "cli/config/schema_text.h"
#include "runtime/data/transform/transform.h"
#include "runtime/train/option/option_table.h"

static size_t transform_rows(const struct table_row **rows)
{
#define TRANSFORM(name, doc, source, options) \
	static const struct train_option name##_options[] = { OPTION_ROWS options };
#include "runtime/data/transform/transforms.def"
#undef TRANSFORM
	static const struct table_row table[] = {
#define TRANSFORM(name, doc, source, options) \
	{ #name, doc, OPTION_COUNT_OF(OPTION_ROWS options), name##_options },
#include "runtime/data/transform/transforms.def"
#undef TRANSFORM
	};

	*rows = table;
	return sizeof table / sizeof *table;
}

static size_t generator_rows(const struct table_row **rows)
{
#define GENERATOR(function, name, input, doc, options) \
	static const struct train_option function##_options[] = { OPTION_ROWS options };
#include "runtime/data/generate/generators.def"
#undef GENERATOR
	static const struct table_row table[] = {
#define GENERATOR(function, name, input, doc, options) \
		{ name, doc, OPTION_COUNT_OF(OPTION_ROWS options), function##_options },
#include "runtime/data/generate/generators.def"
#undef GENERATOR
	};

	*rows = table;
	return sizeof table / sizeof *table;
}

#define TABLES(TABLE) \
	TABLE(GENERATOR, table_row, generator_rows) \
	TABLE(LOSS, loss_row, loss_rows) \
	TABLE(METRICS, metric_row, metric_rows) \
	TABLE(OPTIMIZER, optimizer_row, optimizer_rows) \
	TABLE(SCHEDULE, schedule_row, schedule_rows) \
	TABLE(TRANSFORMS, table_row, transform_rows) \
	TABLE(CALLBACKS, callback_row, callback_rows) \
	TABLE(CONSTRAINTS, constraint_row, constraint_rows)

/* Row i of a table; false: there are fewer. */
#define TABLE(type, row_type, rows) \
	static bool row_of_##type(size_t i, struct table_row *out) \
	{ \
		const struct row_type *row; \
		bool there = i < rows(&row); \
\
		if (there) \
			*out = (struct table_row){ row[i].name, row[i].doc, row[i].noption, \
				row[i].option }; \
		return there; \
	}
TABLES(TABLE)
#undef TABLE

static bool (*const tables[TYPE_COUNT])(size_t i, struct table_row *out) = {
#define TABLE(type, row_type, rows) [TYPE_##type] = row_of_##type,
	TABLES(TABLE)
#undef TABLE
};

size_t schema_names(const struct schema_row *key, const char **name)
{
	struct table_row row;
	size_t n = 0;

	if (key->choices)
		return key->choices(name);
	while (tables[key->type] && tables[key->type](n, &row))
		name[n++] = row.name;
	return n;
}

bool schema_has_rows(enum key_type t)
{
	return tables[t] && !schema_is_list(t) && t != TYPE_CALLBACKS;
}

bool schema_is_list(enum key_type t)
{
	return t == TYPE_METRICS || t == TYPE_TRANSFORMS || t == TYPE_REGULARIZERS || t == TYPE_CONSTRAINTS;
}

bool schema_table_row(enum key_type t, const char *name, struct table_row *out)
{
	for (size_t i = 0; tables[t](i, out); i++)
		if (!strcmp(out->name, name))
			return true;
	return false;
}

struct table_row schema_chosen(enum key_type t, const struct ynode *v, const struct ynode **options)
{
	struct table_row row = { .name = NULL };
	const char *name = v->kind == YNODE_MAP ? v->entry[0].key : v->text;

	*options = v->kind == YNODE_MAP && v->entry[0].value->kind == YNODE_MAP ? v->entry[0].value : NULL;
	if (!schema_table_row(t, name, &row))
		BUG("`%s` was not checked", name);
	return row;
}

/* ---- options ---- */

/* Behind `before`: the names of a row's options, which name[TRAIN_OPTIONS_MAX] gets, too. */
static void label_options(struct diag *g, const char *before, const struct table_row *row, const char **name)
{
	buf_auto b = BUF_INIT;

	for (unsigned i = 0; i < row->noption; i++)
		name[i] = row->option[i].name;
	words_text(name, row->noption, &b);
	diag_label(g, "%s%s%s", before, row->noption ? "options: " : "it has none",
		row->noption ? b.data : "");
}

static bool unknown_option(const struct check *c, const struct table_row *row, const struct yentry *entry)
{
	const char *name[TRAIN_OPTIONS_MAX];
	struct diag *g = diag_at(c->d, DIAG_CONFIG_UNKNOWN, entry->key_at, "%s has no option `%s`", row->name, entry->key);

	label_options(g, "", row, name);
	help_name(g, entry->key, name, row->noption);
	return false;
}

/* The forms in which a row is written, with the option that it needs, or its first. */
static void help_forms(struct diag *g, const struct table_row *row)
{
	unsigned k = 0;

	while (k < row->noption && row->option[k].value != VALUE_REQUIRED)
		k++;
	if (!row->noption)
		diag_help(g, "write `%s`", row->name);
	else if (k < row->noption)
		diag_help(g, "write `{%s: {%s: ...}}`", row->name, row->option[k].name);
	else
		diag_help(g, "write `%s`, or with options `{%s: {%s: ...}}`", row->name, row->name, row->option[0].name);
}

static bool no_options(const struct check *c, const struct table_row *row, const struct ynode *v)
{
	const char *name[TRAIN_OPTIONS_MAX];
	buf_auto before = BUF_INIT;
	struct diag *g = diag_at(c->d, DIAG_CONFIG_KIND, v->at, row->noption ? "`%s` takes a map of options" : "`%s` takes no options",
		row->name);

	buf_printf(&before, "this is %s; ", ynode_kind_text(v->kind));
	label_options(g, before.data, row, name);
	help_forms(g, row);
	return false;
}

static bool check_in_range(const struct check *c, const struct ynode *v)
{
	return check_number(c, v, c->option->min, c->option->max);
}

static bool check_list(const struct check *c, const struct ynode *v)
{
	if (v->kind != YNODE_LIST || !v->n)
		return check_wrong_kind(c, v, "a list of at least one number");
	return check_count(c, v, v->n, VALUE_LIST_MAX, "entries") && check_each(c, v, check_in_range);
}

static bool check_word(const struct check *c, const struct ynode *v)
{
	buf_auto known = BUF_INIT;

	if (v->kind == YNODE_LIST || v->kind == YNODE_MAP || v->kind == YNODE_NULL)
		return check_wrong_kind(c, v, "one word");
	if (option_word(c->option->words, v->text) >= 0)
		return true;
	option_words_text(c->option->words, &known);
	diag_label(diag_at(c->d, DIAG_CONFIG_CHOICE, v->at, "`%s` cannot be `%s`", c->what, v->text),
		"one of: %s", known.data);
	return false;
}

static bool check_words(const struct check *c, const struct ynode *v)
{
	if (v->kind != YNODE_LIST)
		return check_word(c, v);
	return v->n ? check_each(c, v, check_word)
		    : check_wrong_kind(c, v, "a word, or a list of at least one");
}

/* A text, or a list of texts of which the first is not empty. */
static bool check_command(const struct check *c, const struct ynode *v)
{
	if (v->kind != YNODE_LIST)
		return check_text(c, v);
	for (uint32_t i = 0; i < v->n; i++) {
		const struct ynode *word = v->entry[i].value;

		if (word->kind == YNODE_LIST || word->kind == YNODE_MAP || word->kind == YNODE_NULL || (!i && !*word->text))
			return check_wrong_kind(c, word, i ? "texts" : "the name of a program first");
	}
	return v->n || check_wrong_kind(c, v, "a text, or a list of at least one");
}

static bool check_value(const struct check *c, const struct ynode *v)
{
	static bool (*const check[])(const struct check *c,
		const struct ynode *v) = { [VALUE_REAL] = check_in_range,
		[VALUE_BOOL] = check_bool,
		[VALUE_COUNT] = check_in_range,
		[VALUE_LIST] = check_list,
		[VALUE_WORD] = check_word,
		[VALUE_WORDS] = check_words,
		[VALUE_TEXT] = check_text,
		[VALUE_COMMAND] = check_command };
	const struct train_option *o = c->option;

	if (v->kind == YNODE_NULL && !value_given(o->value))
		return true;
	if (o->kind == VALUE_COUNT && o->words && v->kind == YNODE_TEXT)
		return check_word(c, v);
	if (o->kind == VALUE_COUNT && v->kind != YNODE_INT)
		return check_wrong_kind(c, v, "a whole number");
	return check[o->kind](c, v);
}

static bool check_option(const struct check *c, const struct table_row *row, const struct yentry *entry)
{
	for (unsigned i = 0; i < row->noption; i++) {
		const struct check inner = { c->d, c->row, entry->key, &row->option[i] };

		if (!strcmp(row->option[i].name, entry->key))
			return check_value(&inner, entry->value);
	}
	return unknown_option(c, row, entry);
}

static bool check_required(const struct check *c, const struct table_row *row, const struct ynode *options, struct span at)
{
	bool well = true;

	for (unsigned i = 0; i < row->noption; i++)
		if (row->option[i].value == VALUE_REQUIRED && !(options && ynode_find(options, row->option[i].name))) {
			diag_label(diag_at(c->d, DIAG_CONFIG_MISSING, at, "%s needs the option `%s`", row->name,
				row->option[i].name), "%s", row->option[i].doc);
			well = false;
		}
	return well;
}

/* ---- rows ---- */

static bool is_choice(const struct check *c, const char *word)
{
	const char *name[SCHEMA_NAMES_MAX];
	size_t n = schema_names(c->row, name);

	return text_among(word, name, n);
}

/* A flat map as it is to be written: {adam: {learning_rate: 0.1}}. */
static void help_nested(const struct check *c, struct diag *g, const struct ynode *v)
{
	const struct yentry *first = &v->entry[0];
	bool named = first->value->kind == YNODE_TEXT && is_choice(c, first->value->text);
	const char *name = named ? first->value->text : first->key;
	buf_auto b = BUF_INIT;

	if (is_choice(c, v->entry[1].key)) {
		diag_help(g, "keep one of them, for example `%s: {%s: {}}`", c->row->path, name);
		return;
	}
	for (uint32_t i = 1; i < v->n; i++) {
		const struct ynode *value = v->entry[i].value;

		buf_printf(&b, "%s%s: %s", i > 1 ? ", " : "", v->entry[i].key, value->text && *value->text ? value->text : "...");
	}
	diag_help(g, "options stand in a map of their own: `{%s: {%s}}`", name, b.data);
}

/* {adam: {}, sgd: {}}, or more often {adam: , learning_rate: 0.1}. */
static bool second_name(const struct check *c, const struct ynode *v)
{
	const struct yentry *entry = &v->entry[1];
	struct diag *g = diag_at(c->d, DIAG_CONFIG_KIND, entry->key_at, "`%s` takes one name, or a map from one name to its options", c->what);

	diag_label(g, "this is a second name");
	help_nested(c, g, v);
	return false;
}

/* {type: adam}, [adam]: the name of a row where none belongs; NULL otherwise. */
static const char *name_within(const struct check *c, const struct ynode *v)
{
	const struct ynode *value = (v->kind == YNODE_MAP || v->kind == YNODE_LIST) && v->n == 1 ? v->entry[0].value : NULL;

	if (!value || value->kind != YNODE_TEXT || !is_choice(c, value->text))
		return NULL;
	return v->kind == YNODE_MAP && is_choice(c, v->entry[0].key) ? NULL : value->text;
}

static bool misplaced_name(const struct check *c, const struct ynode *v, const char *name)
{
	struct diag *g = diag_at(c->d, DIAG_CONFIG_KIND, v->kind == YNODE_MAP ? v->entry[0].key_at : v->at,
		"`%s` takes one name, or a map from one name to its options", c->what);
	struct table_row row;

	diag_label(g, v->kind == YNODE_MAP ? "this is none of the names" : "this is a list");
	schema_table_row(c->row->type, name, &row);
	help_forms(g, &row);
	return false;
}

bool check_row(const struct check *c, const struct ynode *v)
{
	const struct ynode *options = NULL;
	struct table_row row;
	struct span at = v->at;
	bool well = true;

	if (name_within(c, v))
		return misplaced_name(c, v, name_within(c, v));
	if (v->kind == YNODE_MAP && v->n == 1) {
		at = v->entry[0].key_at;
		options = v->entry[0].value;
	} else if (v->kind == YNODE_MAP && v->n > 1) {
		return second_name(c, v);
	} else if (v->kind != YNODE_TEXT) {
		return check_wrong_kind(c, v, "one name, or a map from one name to its options");
	}
	if (!check_one_of(c, v, at, options ? v->entry[0].key : v->text))
		return false;
	if (options && options->kind == YNODE_NULL)
		options = NULL;
	schema_table_row(c->row->type, v->kind == YNODE_MAP ? v->entry[0].key : v->text, &row);
	if (options && options->kind != YNODE_MAP)
		return no_options(c, &row, options);
	for (uint32_t i = 0; options && i < options->n; i++)
		well &= check_option(c, &row, &options->entry[i]);
	return check_required(c, &row, options, at) && well;
}

static const char *name_in(const struct ynode *metric)
{
	return metric->kind == YNODE_MAP ? metric->entry[0].key : metric->text;
}

bool check_metrics(const struct check *c, const struct ynode *v)
{
	bool well = true;

	if (v->kind != YNODE_LIST)
		return check_wrong_kind(c, v, "a list of metrics");
	if (!check_count(c, v, v->n, TRAIN_METRICS_MAX, "metrics"))
		return false;
	for (uint32_t i = 0; i < v->n; i++) {
		const struct ynode *m = v->entry[i].value;

		well &= check_row(c, m);
		for (uint32_t k = 0; well && k < i; k++)
			if (!strcmp(name_in(v->entry[k].value), name_in(m))) {
				struct diag *g = diag_at(c->d, DIAG_CONFIG_VALUE, m->at, "metric `%s` given twice", name_in(m));

				diag_second(g, v->entry[k].value->at, "first given here");
				well = false;
			}
	}
	return well;
}

bool check_transforms(const struct check *c, const struct ynode *v)
{
	if (v->kind != YNODE_LIST)
		return check_wrong_kind(c, v, "a list of steps");
	return check_count(c, v, v->n, TRANSFORM_STEPS_MAX, "steps") && check_each(c, v, check_row);
}

/* A map from names to options, each of which may be left out; or a list, in which names may stand again. */
bool check_callbacks(const struct check *c, const struct ynode *v)
{
	bool well = true;

	if (v->kind != YNODE_MAP && v->kind != YNODE_LIST)
		return check_wrong_kind(c, v, "a map from names to options, or a list of such maps");
	if (!check_count(c, v, v->n, CALLBACKS_MAX, "callbacks"))
		return false;
	if (v->kind == YNODE_LIST)
		return check_each(c, v, check_row);
	for (uint32_t i = 0; i < v->n; i++) {
		struct yentry *entry = &v->entry[i];
		struct ynode one = { .kind = YNODE_MAP, .at = entry->key_at, .n = 1, .entry = entry };

		well &= check_row(c, &one);
	}
	return well;
}

/* ---- regularisers and constraints ---- */

/* Names, each of which `check_name` sees as a map of its own, and weights, a pattern of paths that may be left out. */
static bool check_names(const struct check *c, const struct ynode *v, const char *form,
	bool (*check_name)(const struct check *c, const struct ynode *v), uint32_t *count)
{
	const struct check pattern = { c->d, c->row, "weights", NULL };
	bool well = true, some = false;

	for (uint32_t i = 0; i < v->n; i++) {
		const struct ynode one = {
			.kind = YNODE_MAP, .at = v->at, .n = 1, .entry = &v->entry[i]
		};

		if (!strcmp(v->entry[i].key, pattern.what)) {
			well &= check_text(&pattern, v->entry[i].value);
			continue;
		}
		well &= check_name(c, &one);
		some = true;
		++*count;
	}
	return well && (some || check_wrong_kind(c, v, form));
}

static bool check_factor(const struct check *c, const struct ynode *v)
{
	const struct check inner = { c->d, c->row, v->entry->key, NULL };

	return check_one_of(c, v, v->entry->key_at, v->entry->key)
		&& check_number(&inner, v->entry->value, 0, 1e300);
}

/* Maps {l1: factor, l2: factor, weights: pattern}. */
bool check_regularizers(const struct check *c, const struct ynode *v)
{
	static const char form[] = "a map such as {l2: 0.01, weights: head.*}";
	uint32_t count = 0;
	bool well = true;

	if (v->kind != YNODE_LIST)
		return check_wrong_kind(c, v, "a list of maps");
	for (uint32_t i = 0; i < v->n && count <= PENALTIES_MAX; i++)
		well &= v->entry[i].value->kind == YNODE_MAP
			? check_names(c, v->entry[i].value, form, check_factor, &count)
			: check_wrong_kind(c, v->entry[i].value, form);
	return check_count(c, v, count, PENALTIES_MAX, "regularisers") && well;
}

/* NAME, or {NAME: {option: value}, weights: pattern}. */
bool check_constraints(const struct check *c, const struct ynode *v)
{
	static const char form[] =
		"a name, or a map such as {max_norm: {max_value: 3}, weights: head.*}";
	uint32_t count = 0;
	bool well = true;

	if (v->kind != YNODE_LIST)
		return check_wrong_kind(c, v, "a list of constraints");
	for (uint32_t i = 0; i < v->n && count <= CONSTRAINTS_MAX; i++)
		if (v->entry[i].value->kind == YNODE_MAP) {
			well &= check_names(c, v->entry[i].value, form, check_row, &count);
		} else {
			count++;
			well &= check_row(c, v->entry[i].value);
		}
	return check_count(c, v, count, CONSTRAINTS_MAX, "constraints") && well;
}
