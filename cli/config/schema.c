/* SPDX-License-Identifier: Apache-2.0
 * The rows of schema.def and one check per type of value. */
#include "cli/config/schema_check.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/config/aliases.h"
#include "cli/config/schema_text.h"
#include "runtime/data/dataset.h"
#include "runtime/data/generate/generate.h"
#include "runtime/data/transform/transform.h"
#include "runtime/exec/exact_optimisation.h"
#include "runtime/exec/evaluator.h"
#include "runtime/exec/shots.h"
#include "runtime/exec/statevector/backends.h"
#include "runtime/net/launch/hostfile.h"
#include "runtime/net/launch/launch.h"

/* ---- words that other folders define ---- */

static size_t names_of_regularizers(const char **name)
{
	const struct regularizer_row *row;
	size_t n = regularizer_rows(&row);

	for (size_t i = 0; i < n; i++)
		name[i] = row[i].name;
	return n;
}

static size_t copy_words(const char **name, const char *const *word)
{
	size_t n = 0;

	while (word[n]) {
		name[n] = word[n];
		n++;
	}
	return n;
}

#define WORDS(function, ...) \
	static size_t function(const char **name) \
	{ \
		return copy_words(name, (const char *const[]){ __VA_ARGS__, NULL }); \
	}
WORDS(names_of_precisions, "single", "double")
WORDS(names_of_streaming, "auto", "on", "off")
WORDS(names_of_encryption, "on", "off", "true", "false")
WORDS(names_of_sharding, "off", "data", "file", "auto")
WORDS(names_of_transports, "auto", "tcp", "stdio", "mpi", "nccl")
WORDS(names_of_agreements, "common", "same")
WORDS(names_of_methods, "auto", METHODS(METHOD_IN_LIST) NULL)
WORDS(names_of_gradients, "adjoint", "shift", "difference")
WORDS(names_of_frequencies, "batch", "epoch")

static size_t names_of_devices(const char **name)
{
	return copy_words(name,
		(const char *const[]){
			"auto", BACKENDS(BACKEND_WORDS, BACKEND_LEFT_OUT, WORD_IN_LIST) NULL });
}

static size_t names_of_optimisations(const char **name)
{
	size_t n = copy_words(name, (const char *const[]){ "auto", "none", NULL });

	for (unsigned k = 0; k < OPTIMISATIONS_COUNT; k++)
		name[n++] = optimisation_name[k];
	return n;
}

static size_t names_of_launchers(const char **name)
{
	size_t n = 0;

	for (int i = 1; i < LAUNCHER_COUNT; i++)
		name[n++] = i == LAUNCHER_EXEC ? "exec:WORDS" : launch_row((enum launcher)i)->name;
	return n;
}

static size_t names_of_isas(const char **name)
{
	const struct target *t;
	size_t n = 0;

	name[n++] = "auto";
	for (unsigned k = 0; (t = target_of(NULL, k)); k++)
		name[n++] = t->kernels;
	return n;
}

/* ---- rows ---- */

const struct schema_row schema_rows[KEY_COUNT] = {
#define KEY(id, path, type, low, high, choices, preset, scope, unit, example, text) \
	[KEY_##id] = { KEY_##id, path, TYPE_##type, low, high, choices, preset, SCOPE_##scope, unit, example, text },
#include "cli/config/schema.def"
#undef KEY
};

const struct schema_row *schema_find(const char *path)
{
	for (const struct schema_row *row = schema_rows; row < schema_rows + KEY_COUNT; row++)
		if (!strcmp(row->path, path))
			return row;
	path = former_now(FORMER_KEY, path, strlen(path));
	return path ? schema_find(path) : NULL;
}

bool schema_is_section(const char *section)
{
	size_t len = strlen(section);

	for (const struct schema_row *row = schema_rows; row < schema_rows + KEY_COUNT; row++)
		if (!strncmp(row->path, section, len) && row->path[len] == '.')
			return true;
	return false;
}

/* ---- checks ---- */

/* Of the key or option itself; what stands in a value has no range of its own. */
static void allowed_text(const struct check *c, struct buf *out)
{
	buf_auto b = BUF_INIT;

	if (c->option)
		option_allowed(c->option, &b);
	else if (!strcmp(c->what, c->row->path))
		schema_allowed(c->row, &b);
	if (b.len && strcmp(b.data, "any"))
		buf_printf(out, "; %s%s", strncmp(b.data, "one of", 6) ? "allowed: " : "", b.data);
}

bool check_wrong_kind(const struct check *c, const struct ynode *v, const char *wanted)
{
	struct diag *g = diag_at(c->d, DIAG_CONFIG_KIND, v->at, "`%s` takes %s", c->what, wanted);
	bool empty = v->kind == YNODE_TEXT && !*v->text;
	buf_auto b = BUF_INIT;

	buf_printf(&b, "this is %s", empty ? "empty" : ynode_kind_text(v->kind));
	allowed_text(c, &b);
	diag_label(g, "%s", b.data);
	if (v->kind == YNODE_TEXT && !strncmp(wanted, "true", 4))
		diag_help(g, "by YAML 1.2 only true and false are such values; on, off, yes and no are texts");
	else if (v->kind == YNODE_REAL && !strncmp(wanted, "a whole", 7) && v->f == floor(v->f) && fabs(v->f) < 1e15)
		diag_help(g, "a whole number has no point and no exponent: %.0f", v->f);
	else if (v->kind == YNODE_NULL && strchr(c->what, ':'))
		diag_help(g, "a colon that separates a key from its value needs a space after it: `%.*s: %s`", (int)strcspn(c->what, ":"),
			c->what, strchr(c->what, ':') + 1);
	else if (!strncmp(wanted, "a map", 5) && c->row->example && !strcmp(c->what, c->row->path))
		diag_help(g, "for example `%s: %s`", c->row->path, c->row->example);
	return false;
}

bool check_number(const struct check *c, const struct ynode *v, double low, double high)
{
	buf_auto b = BUF_INIT;

	if (v->kind != YNODE_INT && v->kind != YNODE_REAL)
		return check_wrong_kind(c, v, "a number");
	if (v->f >= low && v->f <= high)
		return true;
	buf_str(&b, isfinite(v->f) ? "" : "finite, ");
	if (v->f > high && high > 9e18 && isfinite(v->f))
		buf_printf(&b, "at most %" PRId64, INT64_MAX);   /* what an integer here can hold */
	else
		range_text(low, high, &b);
	diag_label(diag_at(c->d, DIAG_CONFIG_RANGE, v->at, "`%s` is out of range", c->what), "%s",
		b.data);
	return false;
}

bool check_bool(const struct check *c, const struct ynode *v)
{
	return v->kind == YNODE_BOOL || check_wrong_kind(c, v, "true or false");
}

static bool check_int(const struct check *c, const struct ynode *v)
{
	if (v->kind != YNODE_INT && !(v->kind == YNODE_REAL && fabs(v->f) > 9.2e18))
		return check_wrong_kind(c, v, "a whole number");
	if (v->kind == YNODE_INT)
		return check_number(c, v, c->row->low, c->row->high);
	return check_number(c, v, c->row->low, fmin(c->row->high, 9.2e18));
}

static bool check_whole(const struct check *c, const struct ynode *v, double low, double high)
{
	return v->kind == YNODE_INT ? check_number(c, v, low, high)
				    : check_wrong_kind(c, v, "a whole number");
}

static bool check_auto_int(const struct check *c, const struct ynode *v)
{
	if (v->kind == YNODE_TEXT && !strcmp(v->text, "auto"))
		return true;
	if (v->kind != YNODE_INT)
		return check_wrong_kind(c, v, "a whole number or auto");
	return check_int(c, v);
}

static bool check_frequency(const struct check *c, const struct ynode *v)
{
	return v->kind == YNODE_TEXT ? check_one_of(c, v, v->at, v->text) : check_int(c, v);
}

bool check_text(const struct check *c, const struct ynode *v)
{
	if (v->kind == YNODE_LIST || v->kind == YNODE_MAP || v->kind == YNODE_NULL || !*v->text)
		return check_wrong_kind(c, v, v->kind == YNODE_TEXT ? "a text of at least one character" : "a text");
	return true;
}

bool check_each(const struct check *c, const struct ynode *v,
	bool (*entry)(const struct check *c, const struct ynode *v))
{
	bool well = true;

	for (uint32_t i = 0; i < v->n; i++)
		well &= entry(c, v->entry[i].value);
	return well;
}

bool check_count(const struct check *c, const struct ynode *v, uint32_t n, unsigned most,
	const char *what)
{
	if (n > most)
		diag_at(c->d, DIAG_CONFIG_RANGE, v->at, "more than %u %s", most, what);
	return n <= most;
}

/* An option in the place of the row that has it, such as that of train.optimizer: of the preset, or else of the first. */
static bool help_row_option(const struct check *c, struct diag *g, const char *word)
{
	const char *name[SCHEMA_NAMES_MAX + 1];
	size_t n = c->row->preset ? 1 : 0;

	name[0] = c->row->preset;
	n += schema_names(c->row, name + n);
	if (!schema_has_rows(c->row->type) && c->row->type != TYPE_CALLBACKS)
		return false;
	for (size_t i = 0; i < n; i++) {
		struct table_row row;

		if (!schema_table_row(c->row->type, name[i], &row))
			continue;
		for (unsigned k = 0; k < row.noption; k++)
			if (!strcmp(row.option[k].name, word)) {
				diag_help(g, "it is an option, for example: `%s.%s.%s`", c->what,
					row.name, word);
				return true;
			}
	}
	return false;
}

bool check_one_of(const struct check *c, const struct ynode *v, struct span at, const char *word)
{
	const char *name[SCHEMA_NAMES_MAX];
	size_t n = schema_names(c->row, name);
	buf_auto b = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		if (choice_is(name[i], strlen(name[i]), word)
			|| !strcmp(former_name(FORMER_VALUE, name[i]), word))
			return true;
	if (v->kind == YNODE_MAP && (c->row->type == TYPE_REGULARIZERS || c->row->type == TYPE_CONSTRAINTS))
		name[n++] = "weights";       /* which callers take themselves */
	words_text(name, n, &b);
	struct diag *g = diag_at(c->d, DIAG_CONFIG_CHOICE, at, "`%s` cannot be `%s`", c->what, word);
	diag_label(g, "one of: %s", b.data);
	if (c->row->type == TYPE_METRICS && !strncmp(word, "val_", 4))
		diag_help(g,
			"metrics are computed for the validation data, too: write them without val_");
	else if (!help_row_option(c, g, word))
		help_name(g, word, name, n);
	return false;
}

void help_name(struct diag *g, const char *word, const char *const *name, size_t n)
{
	const char *here = alias_find(word, name, n), *near = diag_nearest(word, name, n);

	if (here)
		diag_help(g, "here it is called `%s`", here);
	else if (near)
		diag_help(g, "did you mean `%s`?", near);
}

static bool check_choice(const struct check *c, const struct ynode *v)
{
	if (v->kind == YNODE_LIST || v->kind == YNODE_MAP)
		return check_wrong_kind(c, v, "one word");
	return check_one_of(c, v, v->at, v->text);
}

/* A number for each key of a map; null: or null. */
static bool check_numbers(const struct check *c, const struct ynode *map, double low, double high,
	bool null)
{
	bool well = true;

	for (uint32_t i = 0; i < map->n; i++) {
		const struct check inner = { c->d, c->row, map->entry[i].key, NULL };
		const struct ynode *v = map->entry[i].value;

		/* {1:1} is the key 1:1 without a value. */
		well &= (null && v->kind == YNODE_NULL && v->text && *v->text)
			|| check_number(&inner, v, low, high);
	}
	return well;
}

static bool check_consts(const struct check *c, const struct ynode *v)
{
	return v->kind == YNODE_MAP ? check_numbers(c, v, -DBL_MAX, DBL_MAX, false)
				    : check_wrong_kind(c, v, "a map from names to numbers");
}

static bool check_noise(const struct check *c, const struct ynode *v)
{
	static const char *const name[] = { "one_qubit", "two_qubit" };
	bool well = true;

	if (v->kind != YNODE_MAP)
		return check_wrong_kind(c, v, "a map of one_qubit and two_qubit to probabilities");
	for (uint32_t i = 0; i < v->n; i++) {
		const char *key = v->entry[i].key;

		if (!strcmp(key, name[0]) || !strcmp(key, name[1]))
			continue;
		struct diag *g = diag_at(c->d, DIAG_CONFIG_CHOICE, v->entry[i].key_at,
			"`%s` has no `%s`", c->what, key);
		diag_label(g, "one of: one_qubit, two_qubit");
		help_name(g, key, name, 2);
		well = false;
	}
	return well && check_numbers(c, v, 0, 1, false);
}

static bool impossible_split(const struct check *c, struct span at, const char *label)
{
	diag_label(diag_at(c->d, DIAG_CONFIG_SPLIT, at, "impossible split"), "%s", label);
	return false;
}

/* 80%, or [0.7, 0.15, 0.15]. */
static bool wrong_split(const struct check *c, const struct ynode *v)
{
	struct diag *g = diag_at(c->d, DIAG_CONFIG_KIND, v->at, "`%s` takes a number or a map", c->what);
	char *end = NULL;
	double percent = v->kind == YNODE_TEXT ? strtod(v->text, &end) : 0;

	diag_label(g, "this is %s", ynode_kind_text(v->kind));
	if (percent > 0 && percent < 100 && !strcmp(end, "%"))
		diag_help(g, "write the fraction: %.6g", percent / 100);
	else
		diag_help(g, "for example 0.8, or with the parts by name: `{train: 0.7, validation: 0.15, test: 0.15}`");
	return false;
}

/* {folds: 5, fold: 1} */
static bool check_folds(const struct check *c, const struct ynode *v)
{
	const struct yentry *folds = ynode_find(v, "folds"), *fold = ynode_find(v, "fold");

	for (uint32_t i = 0; i < v->n; i++)
		if (&v->entry[i] != folds && &v->entry[i] != fold)
			return impossible_split(c, v->entry[i].key_at,
				"folds divide all samples into training and validation");
	if (!folds)
		return impossible_split(c, fold->key_at, "of how many `folds`?");
	return check_whole(c, folds->value, 2, SPLIT_PARTS_MAX)
		&& (!fold || check_whole(c, fold->value, 1, folds->value->f));
}

static bool check_split(const struct check *c, const struct ynode *v)
{
	static const char *const part[] = { "train", "validation", "test" };
	bool counts = true;
	double sum = 0;

	if (v->kind == YNODE_MAP && (ynode_find(v, "folds") || ynode_find(v, "fold")))
		return check_folds(c, v);

	if (v->kind == YNODE_INT && v->f > 1)
		return check_number(c, v, 0, DATASET_ROWS_MAX);
	if (v->kind == YNODE_INT || v->kind == YNODE_REAL)
		return (v->f > 0 && v->f <= 1) || impossible_split(c, v->at, "above 0, at most 1, or a whole number of samples");
	if (v->kind != YNODE_MAP)
		return wrong_split(c, v);
	for (uint32_t i = 0; i < v->n; i++) {
		const struct ynode *f = v->entry[i].value;
		const char *near = diag_nearest(v->entry[i].key, part, 3);

		if (!near || strcmp(near, v->entry[i].key)) {
			struct diag *g = diag_at(c->d, DIAG_CONFIG_UNKNOWN, v->entry[i].key_at, "unknown part `%s`",
				v->entry[i].key);

			diag_help(g, near ? "did you mean `%s`?" : "parts are train, validation and test", near);
			return false;
		}
		if (!check_number(c, f, 0, f->kind == YNODE_INT ? DATASET_ROWS_MAX : 1))
			return false;
		sum += f->f;
		counts &= f->kind == YNODE_INT;
	}
	if (!ynode_find(v, "train") || ynode_find(v, "train")->value->f <= 0)
		return impossible_split(c, v->at, "nothing to train with");
	return (counts && sum > 1) || fabs(sum - 1) <= 1e-9 || impossible_split(c, v->at, "the fractions do not add up to 1");
}

static bool check_columns(const struct check *c, const struct ynode *v)
{
	if (v->kind != YNODE_LIST)
		return check_text(c, v);
	return v->n ? check_each(c, v, check_text) : check_wrong_kind(c, v, "at least one column");
}

static bool check_inputs(const struct check *c, const struct ynode *v)
{
	return v->kind == YNODE_MAP ? check_each(c, v, check_columns)
				    : check_wrong_kind(c, v, "a map from inputs to columns");
}

static bool named_class(const struct check *c, const struct ynode *key)
{
	struct diag *g = diag_at(c->d, DIAG_CONFIG_KIND, key->at,
		"`%s` takes a map from numbers to numbers", c->what);

	diag_label(g, "this is %s", ynode_kind_text(key->kind));
	diag_help(g,
		"a class is given by the number that data.label_map gives its name, for example `%s: %s`",
		c->row->path, c->row->example);
	return false;
}

static bool check_label_map(const struct check *c, const struct ynode *v)
{
	return v->kind == YNODE_MAP && v->n ? check_numbers(c, v, -1e300, 1e300, true)
					    : check_wrong_kind(c, v, "a map from labels to numbers");
}

static bool check_class_weights(const struct check *c, const struct ynode *v)
{
	bool well = true;

	if (v->kind != YNODE_MAP || !v->n)
		return check_wrong_kind(c, v, "a map from numbers to numbers");
	if (!check_count(c, v, v->n, CLASS_WEIGHTS_MAX, "classes"))
		return false;
	for (uint32_t i = 0; i < v->n; i++) {
		struct ynode key = { .at = v->entry[i].key_at, .text = v->entry[i].key };

		yaml_resolve(&key, key.text);
		if (key.kind == YNODE_TEXT)
			well = named_class(c, &key);
		else
			well &= check_number(c, &key, -DBL_MAX, DBL_MAX)
				&& check_number(c, v->entry[i].value, 0, 1e300);
	}
	return well;
}

/* One of the choices, or a list of them but auto and none. */
static bool check_words(const struct check *c, const struct ynode *v)
{
	bool well = true;

	if (v->kind != YNODE_LIST)
		return check_text(c, v) && check_one_of(c, v, v->at, v->text);
	for (uint32_t i = 0; i < v->n; i++) {
		const struct ynode *word = v->entry[i].value;

		if (!check_text(c, word) || !check_one_of(c, word, word->at, word->text)) {
			well = false;
		} else if (!strcmp(word->text, "auto") || !strcmp(word->text, "none")) {
			diag_at(c->d, DIAG_CONFIG_CHOICE, word->at, "`%s` stands alone, not in a list", word->text);
			well = false;
		}
	}
	return well;
}

static bool check_init(const struct check *c, const struct ynode *v)
{
	if (v->kind == YNODE_TEXT && !strcmp(v->text, "random"))
		return true;
	if (v->kind == YNODE_MAP && v->n == 1 && !strcmp(v->entry[0].key, "from"))
		return check_text(c, v->entry[0].value);
	return check_wrong_kind(c, v, "random or {from: FILE}");
}

/* Each text is a list of hosts itself. */
static bool check_hosts(const struct check *c, const struct ynode *v)
{
	struct hosts h = { NULL, 0, 0 };
	struct err e;
	bool well = true;

	if (v->kind == YNODE_MAP || v->kind == YNODE_NULL || (v->kind == YNODE_LIST && !v->n))
		return check_wrong_kind(c, v, "a host or a list of hosts");
	for (uint32_t i = 0; v->kind == YNODE_LIST && i < v->n; i++)
		well &= v->entry[i].value->kind == YNODE_LIST ? check_text(c, v->entry[i].value) : check_hosts(c, v->entry[i].value);
	if (v->kind != YNODE_LIST && hosts_add_list(&h, v->text, &e)) {
		diag_at(c->d, DIAG_CONFIG_VALUE, v->at, "%s", e.text);
		well = false;
	}
	hosts_release(&h);
	return well;
}

static bool check_launcher(const struct check *c, const struct ynode *v)
{
	const char *agent;

	return check_text(c, v) && (launcher_find(v->text, &agent) || check_one_of(c, v, v->at, v->text));
}

static bool check_epochs(const struct check *c, const struct ynode *v)
{
	if (v->kind != YNODE_LIST)
		return v->kind == YNODE_INT ? check_int(c, v) : check_wrong_kind(c, v, "a whole number, or a list of epochs");
	return v->n ? check_each(c, v, check_int)
		    : check_wrong_kind(c, v, "a list of at least one epoch");
}

static bool check_range(const struct check *c, const struct ynode *v)
{
	if (v->kind != YNODE_LIST || v->n != 2)
		return check_wrong_kind(c, v, "a list of two whole numbers, the first and the last");
	if (!check_int(c, v->entry[0].value) || !check_int(c, v->entry[1].value))
		return false;
	return v->entry[0].value->i <= v->entry[1].value->i
		|| check_wrong_kind(c, v, "a list of two whole numbers in ascending order");
}

static const struct {
	bool (*check)(const struct check *c, const struct ynode *v);
	const char *text;
} types[TYPE_COUNT] = {
	[TYPE_BOOL] = { check_bool, "true or false" },
	[TYPE_INT] = { check_int, "whole number" },
	[TYPE_FREQUENCY] = { check_frequency, "whole number or word" },
	[TYPE_AUTO_INT] = { check_auto_int, "whole number or auto" },
	[TYPE_TEXT] = { check_text, "text" },
	[TYPE_PATH] = { check_text, "path" },
	[TYPE_CHOICE] = { check_choice, "word" },
	[TYPE_CONSTS] = { check_consts, "map of numbers" },
	[TYPE_SPLIT] = { check_split, "number or map" },
	[TYPE_INPUTS] = { check_inputs, "map of lists" },
	[TYPE_LABEL_MAP] = { check_label_map, "map of numbers" },
	[TYPE_CLASS_WEIGHTS] = { check_class_weights, "map of numbers" },
	[TYPE_NOISE] = { check_noise, "map of numbers" },
	[TYPE_GENERATOR] = { check_row, "word or map" },
	[TYPE_LOSS] = { check_row, "word or map" },
	[TYPE_OPTIMIZER] = { check_row, "word or map" },
	[TYPE_SCHEDULE] = { check_row, "word or map" },
	[TYPE_METRICS] = { check_metrics, "list of words or maps, or one of them" },
	[TYPE_REGULARIZERS] = { check_regularizers, "list of maps, or one of them" },
	[TYPE_CONSTRAINTS] = { check_constraints, "list of words or maps, or one of them" },
	[TYPE_TRANSFORMS] = { check_transforms, "list of words or maps, or one of them" },
	[TYPE_WORDS] = { check_words, "word or list of words" },
	[TYPE_INIT] = { check_init, "word or map" },
	[TYPE_HOSTS] = { check_hosts, "text or list of texts" },
	[TYPE_LAUNCHER] = { check_launcher, "text" },
	[TYPE_EPOCHS] = { check_epochs, "whole number or list of them" },
	[TYPE_RANGE] = { check_range, "list of two whole numbers" },
	[TYPE_CALLBACKS] = { check_callbacks, "map of maps, or list of words or maps, or one word" },
};

const char *schema_type_text(enum key_type t) { return types[t].text; }

bool schema_is_text(enum key_type t)
{
	return t == TYPE_TEXT || t == TYPE_PATH || t == TYPE_CHOICE || t == TYPE_WORDS || t == TYPE_INPUTS || t == TYPE_INIT
		|| t == TYPE_HOSTS || t == TYPE_LAUNCHER;
}

bool schema_check(struct diags *d, const struct schema_row *r, const struct ynode *v)
{
	struct check c = { d, r, r->path, NULL };

	if (v->kind == YNODE_NULL && r->preset && !strcmp(r->preset, "null"))
		return true;
	return types[r->type].check(&c, v);
}
