/* SPDX-License-Identifier: Apache-2.0
 * Loading a configuration: the file's tree, changes from the command line, one walk by the schema. */
#include "cli/config/configuration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/config/aliases.h"
#include "cli/config/configuration_tree.h"

/* ---- changes ---- */

/* In a list of names and of maps from one name: what the entry of this name, the only one, leads to. */
static struct ynode *in_list(struct config *c, const struct ynode *list, const char *key, struct span key_at)
{
	struct ynode *found = NULL;
	unsigned n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		struct ynode *v = list->entry[i].value;

		if (v->kind == YNODE_TEXT ? !strcmp(v->text, key) : v->kind == YNODE_MAP && ynode_find(v, key)) {
			found = v;
			n++;
		}
	}
	if (n != 1) {
		struct diag *g = diag_at(c->d, DIAG_CONFIG_VALUE, key_at, "the list has %s entry `%s`", n ? "more than one" : "no", key);

		diag_second(g, list->at, "this is the list");
		diag_help(g, "give the whole list");
		found = arena_alloc(&c->arena, 1, sizeof *found);
		return found;
	}
	if (found->kind == YNODE_TEXT) {
		struct ynode *options = arena_alloc(&c->arena, 1, sizeof *options);
		struct span at = found->at;

		*options = (struct ynode){ .kind = YNODE_NULL, .at = key_at };
		*found = (struct ynode){ .kind = YNODE_MAP, .at = at };
		ynode_add(&c->arena, found, key, at, options);
	}
	return ynode_find(found, key)->value;
}

/* The node to change below `map`; grows maps on the way, and looks into lists. Replaces what is neither. */
static struct ynode *descend(struct config *c, struct ynode *node, const char *key, struct span key_at, bool alone)
{
	struct yentry *entry = NULL;
	struct ynode *child;

	if (node->kind == YNODE_LIST)
		return in_list(c, node, key, key_at);
	if (node->kind == YNODE_MAP)
		entry = ynode_find(node, key);
	if (entry)
		return entry->value;
	if (node->kind != YNODE_MAP || alone)
		*node = (struct ynode){ .kind = YNODE_MAP, .at = key_at };
	child = arena_alloc(&c->arena, 1, sizeof *child);
	child->kind = YNODE_NULL;
	child->at = key_at;
	ynode_add(&c->arena, node, key, key_at, child);
	return child;
}

/* Does path[0..n), with a dot at its end, name a key below which only one name can stand? */
static bool below_a_table(const char *path, size_t n)
{
	for (const struct schema_row *row = schema_rows; row < schema_rows + KEY_COUNT; row++) {
		size_t len = strlen(row->path);

		if (schema_has_rows(row->type) && n == len + 1 && !strncmp(path, row->path, len))
			return true;
	}
	return false;
}

/* Follow a dotted path; a constant's name is one key. */
static struct ynode *node_at(struct config *c, uint32_t file, const char *path, size_t len, bool is_const)
{
	struct ynode *node = c->root;
	struct span none = { file, 0, 0 };
	size_t at = 0;

	if (is_const) {
		node = descend(c, descend(c, node, "model", none, false), "const", none, false);
		return descend(c, node, arena_strndup(&c->arena, path, len), (struct span){ file, 0, (uint32_t)len }, false);
	}
	while (at <= len) {
		size_t n = 0;
		bool alone = below_a_table(path, at);

		while (at + n < len && path[at + n] != '.')
			n++;
		node = descend(c, node, arena_strndup(&c->arena, path + at, n),
			(struct span){ file, (uint32_t)at, (uint32_t)(at + n) }, alone);
		at += n + 1;
	}
	return node;
}

static void apply_change(struct config *c, const struct config_change *change)
{
	const char *text = change->text, *equals = strchr(text, '=');
	size_t len = strlen(text), name_len = equals ? (size_t)(equals - text) : len;
	int file = source_add(diags_sources(c->d), change->is_const ? "--const" : "--set", text, len);

	if (file < 0) {
		diag_at(c->d, DIAG_CONFIG_LIMIT, (struct span){ 0, 0, 0 }, "too many changes");
		return;
	}
	if (!equals || !name_len) {
		struct diag *g = diag_at(c->d, DIAG_CONFIG_SYNTAX,
			(struct span){ (uint32_t)file, 0, (uint32_t)len }, "this is no change");

		diag_label(g, change->is_const ? "expected NAME=VALUE" : "expected PATH=VALUE");
		return;
	}
	struct ynode *value = yaml_read(c->d, (uint32_t)file, name_len + 1, equals + 1,
		len - name_len - 1, &c->arena);
	if (value)
		*node_at(c, (uint32_t)file, text, name_len, change->is_const) = *value;
}

/* ---- the walk ---- */

/* The path of a key of another section, by its own name or the one that other programs give it; NULL: none. */
static const char *key_alias(const char *word)
{
	const char *last[KEY_COUNT], *found;

	for (int i = 0; i < KEY_COUNT; i++)
		last[i] = strchr(schema_rows[i].path, '.') + 1;
	found = text_among(word, last, KEY_COUNT) ? word : alias_find(word, last, KEY_COUNT);
	for (int i = 0; found && i < KEY_COUNT; i++)
		if (!strcmp(last[i], found))
			return schema_rows[i].path;
	return NULL;
}

/* The option of a table's row that has this name, here or elsewhere; or NULL. */
static const char *find_option(enum key_type t, const char *name, const char *word)
{
	const char *option[TRAIN_OPTIONS_MAX];
	struct table_row row;

	if (!schema_table_row(t, name, &row))
		return NULL;
	for (unsigned i = 0; i < row.noption; i++)
		option[i] = row.option[i].name;
	return text_among(word, option, row.noption) ? word : alias_find(word, option, row.noption);
}

/* A key that is an option of a value of the section, such as the learning rate: that of the chosen value first. */
static bool help_option(struct config *c, struct diag *g, const char *prefix, const char *word)
{
	for (const struct schema_row *key = schema_rows; key < schema_rows + KEY_COUNT; key++) {
		const struct ynode *v = c->value[key->id];
		const char *name[SCHEMA_NAMES_MAX], *chosen = key->preset, *option;

		if (strncmp(key->path, prefix, strlen(prefix)) || !schema_has_rows(key->type))
			continue;
		if (v && (v->kind == YNODE_TEXT || (v->kind == YNODE_MAP && v->n)))
			chosen = v->kind == YNODE_TEXT ? v->text : v->entry[0].key;
		size_t n = schema_names(key, name);
		for (size_t k = 0; !(chosen && find_option(key->type, chosen, word)) && k < n; k++)
			chosen = name[k];
		option = chosen ? find_option(key->type, chosen, word) : NULL;
		if (!option)
			continue;
		diag_help(g, "it is an option of `%s`: `%s: {%s: {%s: ...}}`", chosen, key->path, chosen, option);
		return true;
	}
	return false;
}

/* A key that is a value of another key, such as a callback. */
static bool help_value(struct diag *g, const char *prefix, const char *word)
{
	for (const struct schema_row *key = schema_rows; key < schema_rows + KEY_COUNT; key++) {
		const char *name[SCHEMA_NAMES_MAX], *value;

		if (strncmp(key->path, prefix, strlen(prefix))
			|| (!schema_has_rows(key->type) && !schema_is_list(key->type)
				&& key->type != TYPE_CALLBACKS))
			continue;
		size_t n = schema_names(key, name);
		value = text_among(word, name, n) ? word : alias_find(word, name, n);
		if (!value)
			continue;
		diag_help(g, "it is a value of `%s`: `%s: {%s: {...}}`", key->path, key->path, value);
		return true;
	}
	return false;
}

/* Elsewhere the part that is taken away, here the part that is left. */
static bool help_validation_split(struct diag *g, const struct yentry *entry)
{
	double part = entry->value->f;

	if ((strcmp(entry->key, "validation_split") && strcmp(entry->key, "test_size"))
			|| entry->value->kind != YNODE_REAL || !(part > 0 && part < 1))
		return false;
	diag_help(g, "write `data.split: %.6g`, the part of the rows to train with; the rest is for validation", 1 - part);
	return true;
}

/* What others call the number of parts of a cross-validation. */
static bool help_folds(struct diag *g, const struct yentry *entry)
{
	static const char *const word[] = { "fold", "folds", "n_folds", "k_folds", "kfold",
		"n_splits", "cv", "cross_validation" };
	double n = entry->value->kind == YNODE_INT && entry->value->f >= 2 ? entry->value->f : 5;

	if (!text_among(entry->key, word, sizeof word / sizeof *word))
		return false;
	diag_help(g, "write `data.split: {folds: %.0f, fold: 1}`, and train once for each fold", n);
	return true;
}

static bool help_data_file(struct diag *g, const char *prefix, const struct yentry *entry)
{
	static const char *const word[] = { "file", "path", "csv", "filename", "dataset" };

	if (strcmp(prefix, "data.") || !text_among(entry->key, word, sizeof word / sizeof *word))
		return false;
	diag_help(g, "the file of samples is `data.train`");
	return true;
}

static void unknown_key(struct config *c, const char *prefix, const struct yentry *entry)
{
	const char *name[KEY_COUNT + 8], *near, *here, *other;
	size_t n = 0, len = strlen(prefix);
	struct diag *g = diag_at(c->d, DIAG_CONFIG_UNKNOWN, entry->key_at, "unknown key `%s%s`", prefix, entry->key);

	for (const struct schema_row *row = schema_rows; row < schema_rows + KEY_COUNT; row++) {
		const char *path = row->path;

		if (!len)
			path = arena_strndup(&c->arena, path, strcspn(path, "."));
		else if (!strncmp(path, prefix, len))
			path += len;
		else
			continue;
		if (!n || strcmp(name[n - 1], path))
			name[n++] = path;
	}
	here = alias_find(entry->key, name, n);
	other = len ? key_alias(entry->key) : NULL;
	near = here ? here : diag_nearest(entry->key, name, n);
	if (help_validation_split(g, entry) || help_folds(g, entry)
		|| help_data_file(g, prefix, entry))
		return;
	if (here)
		diag_help(g, "here it is called `%s%s`", prefix, here);
	else if (other)
		diag_help(g, "here it is called `%s`", other);
	else if (len && (help_option(c, g, prefix, entry->key) || help_value(g, prefix, entry->key)))
		return;
	else if (near)
		diag_help(g, "did you mean `%s%s`?", prefix, near);
	else if ((other = key_alias(entry->key)))
		diag_help(g, "there is `%s`", other);
	else if (!len)
		help_option(c, g, prefix, entry->key);
	if (!near && !other && len)
		diag_note(g, "keys of `%.*s` are listed in qcnn-config(5)", (int)len - 1, prefix);
}

/* One word or map in the place of a list is a list of one. Of callbacks a map may have several. */
static void make_list(struct config *c, const struct schema_row *row, struct yentry *entry)
{
	struct ynode *list;

	if (entry->value->kind != YNODE_TEXT && entry->value->kind != YNODE_MAP)
		return;
	if (!schema_is_list(row->type) && (row->type != TYPE_CALLBACKS || entry->value->kind != YNODE_TEXT))
		return;
	list = arena_alloc(&c->arena, 1, sizeof *list);
	*list = (struct ynode){ .kind = YNODE_LIST, .at = entry->value->at };
	ynode_add(&c->arena, list, NULL, entry->value->at, entry->value);
	entry->value = list;
}

static void walk_section(struct config *c, const struct yentry *section)
{
	const struct ynode *map = section->value;

	if (map->kind == YNODE_NULL)
		return;
	if (map->kind != YNODE_MAP) {
		struct diag *g = diag_at(c->d, DIAG_CONFIG_KIND, map->at, "`%s` takes a map of keys", section->key);

		diag_label(g, "this is %s", ynode_kind_text(map->kind));
		if (!strcmp(section->key, "model") && map->kind == YNODE_TEXT)
			diag_help(g, "write `model: {file: %s}`", map->text);
		if (!strcmp(section->key, "data") && map->kind == YNODE_TEXT)
			diag_help(g, "write `data: {train: %s}`", map->text);
		/* Nothing is missing where all was refused. */
		size_t n = strlen(section->key);
		for (const struct schema_row *row = schema_rows; row < schema_rows + KEY_COUNT; row++)
			c->faulty[row->id] |=
				!strncmp(row->path, section->key, n) && row->path[n] == '.';
		return;
	}
	for (uint32_t i = 0; i < map->n; i++) {
		const char *path = arena_printf(&c->arena, "%s.%s", section->key, map->entry[i].key);
		const struct schema_row *row = schema_find(path);

		if (!row) {
			unknown_key(c, arena_printf(&c->arena, "%s.", section->key), &map->entry[i]);
			continue;
		}
		c->key_at[row->id] = map->entry[i].key_at;
		make_list(c, row, &map->entry[i]);
		if (schema_check(c->d, row, map->entry[i].value))
			c->value[row->id] = map->entry[i].value;
		else
			c->faulty[row->id] = true;
	}
}

static void fill_defaults(struct config *c)
{
	for (const struct schema_row *row = schema_rows; row < schema_rows + KEY_COUNT; row++) {
		if (c->value[row->id])
			continue;
		if (!row->preset && !c->faulty[row->id]) {
			struct span start = { c->file, 0, 0 };
			struct diag *g = diag_at(c->d, DIAG_CONFIG_MISSING, start, "`%s` is missing", row->path);

			diag_note(g, "%s", row->text);
			continue;
		}
		if (row->preset)
			c->value[row->id] =
				yaml_read(NULL, 0, 0, row->preset, strlen(row->preset), &c->arena);
	}
}

/* ---- keys that exclude each other ---- */

/* Returns what was said, or NULL. */
static struct diag *conflict(struct config *c, enum key_id k, enum key_id with, const char *why)
{
	if (!config_has(c, k) || !config_has(c, with))
		return NULL;
	struct diag *g = diag_at(c->d, DIAG_CONFIG_CONFLICT, c->value[k]->at,
		"`%s` and `%s` contradict each other", schema_rows[k].path, schema_rows[with].path);
	diag_label(g, "%s", why);
	if (c->value[with]->at.file)
		diag_second(g, c->value[with]->at, "`%s` is given here", schema_rows[with].path);
	return g;
}

static void split_conflict(struct config *c, const char *part, enum key_id file_key)
{
	const struct ynode *v = c->value[KEY_DATA_SPLIT];
	const struct yentry *entry = v->kind == YNODE_MAP ? ynode_find(v, part) : NULL;
	bool makes = v->kind != YNODE_MAP ? v->f != 1 : ynode_find(v, "folds") != NULL;
	bool takes = entry ? entry->value->f > 0 : makes && !strcmp(part, "validation");

	struct diag *g = takes
		? conflict(c, file_key, KEY_DATA_SPLIT, "the split makes this part already")
		: NULL;

	if (g)
		diag_help(g, "without data.split all rows of data.train are for training");
}

static void check_together(struct config *c)
{
	static const enum key_id only_files[] = { KEY_DATA_TRAIN, KEY_DATA_INPUTS, KEY_DATA_LABEL, KEY_DATA_LABEL_MAP,
		KEY_DATA_SAMPLE_WEIGHT, KEY_DATA_VALIDATION, KEY_DATA_TEST };

	for (size_t i = 0; i < sizeof only_files / sizeof *only_files; i++)
		conflict(c, only_files[i], KEY_DATA_GENERATE, "this is for data read from files");
	if (config_has(c, KEY_DATA_SPLIT)) {
		split_conflict(c, "validation", KEY_DATA_VALIDATION);
		split_conflict(c, "test", KEY_DATA_TEST);
	}
}

/* ---- loading ---- */

struct config *config_read(uint32_t file, const struct config_change *change, unsigned nchange, struct diags *d)
{
	struct config *c = mem_alloc(1, sizeof *c);
	unsigned errors = diags_errors(d);
	size_t len, mark;
	const char *text = source_text(diags_sources(d), file, &len);

	c->d = d;
	c->file = file;
	mark = len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;      /* some editors begin UTF-8 with one */
	c->root = yaml_read(d, file, mark, text + mark, len - mark, &c->arena);
	if (c->root && c->root->kind != YNODE_MAP && c->root->kind != YNODE_NULL)
		diag_at(d, DIAG_CONFIG_KIND, c->root->at, "a configuration is a map of keys");
	if (diags_errors(d) > errors)
		return c;
	for (unsigned i = 0; i < nchange; i++)
		apply_change(c, &change[i]);
	for (uint32_t i = 0; i < c->root->n; i++)
		if (schema_is_section(c->root->entry[i].key))
			walk_section(c, &c->root->entry[i]);
		else
			unknown_key(c, "", &c->root->entry[i]);
	fill_defaults(c);
	if (diags_errors(d) == errors)
		check_together(c);
	return c;
}

struct config *config_open(const char *path, const struct config_change *change, unsigned nchange,
	struct diags *d, struct err *e)
{
	buf_auto folder = BUF_INIT;
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		err_set(e, -ERR_NO_INPUT,
			"%s is a folder; name the configuration in it, for example %s%sconfig.yaml",
			path, path, path_ends(path, "/") ? "" : "/");
		return NULL;
	}
	if (path_ends(path, ".qcnn") || path_ends(path, ".qasm")) {
		err_set(e, -ERR_CONFIG, "%s is a model; a configuration, a YAML file, names it: `model: {file: %s}`",
			path, path);
		return NULL;
	}
	int file = source_open(diags_sources(d), path, YAML_BYTES_MAX, e);
	if (file < 0) {
		if (e && file == -ERR_BAD_DATA)
			e->code = -ERR_CONFIG;       /* too large */
		return NULL;
	}
	struct config *c = config_read((uint32_t)file, change, nchange, d);
	path_folder(path, &folder);
	c->folder = arena_strdup(&c->arena, folder.data);
	return c;
}

void config_of_run(struct config *c, const char *folder)
{
	c->folder = arena_strdup(&c->arena, folder);
	c->of_run = true;
}

void config_free(struct config *c)
{
	if (!c)
		return;
	arena_release(&c->arena);
	free(c);
}

/* ---- values ---- */

bool config_has(const struct config *c, enum key_id k)
{
	return c->value[k] && c->value[k]->kind != YNODE_NULL;
}

bool config_bool(const struct config *c, enum key_id k)
{
	return config_has(c, k) && c->value[k]->b;
}

int64_t config_int(const struct config *c, enum key_id k)
{
	if (!config_has(c, k))
		return 0;
	if (schema_rows[k].type == TYPE_FREQUENCY && !strcmp(c->value[k]->text, "batch"))
		return 1;
	return c->value[k]->kind == YNODE_INT ? c->value[k]->i : 0;
}

const char *config_text(const struct config *c, enum key_id k)
{
	return config_has(c, k) ? c->value[k]->text : NULL;
}

const struct ynode *config_node(const struct config *c, enum key_id k)
{
	return config_has(c, k) ? c->value[k] : NULL;
}

struct span config_span(const struct config *c, enum key_id k)
{
	return c->value[k] ? c->value[k]->at : (struct span){ 0, 0, 0 };
}

void config_blame(const struct config *c, enum key_id k, struct err *e)
{
	struct span at = config_span(c, k);

	if (!at.file || !e) {
		err_prefix(e, "%s", schema_rows[k].path);
		return;
	}
	struct place p = source_place(diags_sources(c->d), at);
	err_prefix(e, "%s:%u:%u: %s", p.name, p.line, p.column, schema_rows[k].path);
}

const char *config_folder(const struct config *c) { return c->folder ? c->folder : "."; }

const char *config_path(const struct config *c, const char *path)
{
	if (*path == '/' || !strcmp(config_folder(c), "."))
		return path;
	return arena_printf((struct arena *)&c->arena, "%s/%s", c->folder, path);
}

unsigned config_validation_epochs(const struct config *c, const uint32_t **epoch)
{
	const struct ynode *v = config_node(c, KEY_TRAIN_VALIDATION_FREQ);
	uint32_t *list;

	if (v->kind != YNODE_LIST)
		return 0;
	*epoch = list = arena_alloc((struct arena *)&c->arena, v->n, sizeof *list);
	for (uint32_t i = 0; i < v->n; i++)
		list[i] = (uint32_t)v->entry[i].value->i;
	return v->n;
}

bool config_range(const struct config *c, enum key_id id, uint64_t *first, uint64_t *last)
{
	const struct ynode *v = config_node(c, id);

	if (!v || v->kind != YNODE_LIST)
		return false;
	*first = (uint64_t)v->entry[0].value->i;
	*last = (uint64_t)v->entry[1].value->i;
	return true;
}

unsigned config_transforms(const struct config *c, uint32_t ninput, struct transform_wish *wish)
{
	const struct ynode *v = config_node(c, KEY_DATA_TRANSFORM);
	double option[TRAIN_OPTIONS_MAX];

	for (uint32_t i = 0; v && i < v->n; i++) {
		struct table_row row = config_row(TYPE_TRANSFORMS, v->entry[i].value, option, NULL);

		wish[i].kind = transform_find(row.name);
		for (unsigned k = 0; k < TRANSFORM_OPTIONS_MAX; k++)
			wish[i].option[k] = k < row.noption ? option[k] : 0;
		if (wish[i].kind == TRANSFORM_pca && !value_given(wish[i].option[0]))
			wish[i].option[0] = ninput;
		if (wish[i].kind == TRANSFORM_resize && !value_given(wish[i].option[0]))
			wish[i].option[0] = fmax(1, floor(sqrt(ninput) + 0.5));
		if (wish[i].kind == TRANSFORM_resize && !value_given(wish[i].option[1]))
			wish[i].option[1] = wish[i].option[0];
	}
	return v ? v->n : 0;
}

struct config_split config_split(const struct config *c)
{
	static const char *const part[] = { "train", "validation", "test" };
	const struct ynode *v = config_node(c, KEY_DATA_SPLIT);
	const struct yentry *folds = v && v->kind == YNODE_MAP ? ynode_find(v, "folds") : NULL,
			    *fold = folds ? ynode_find(v, "fold") : NULL;
	struct config_split s = { .fraction = { 1 } };
	double sum = 0;

	if (folds) {
		s.nfold = (unsigned)folds->value->f;
		s.fold = fold ? (unsigned)fold->value->f - 1 : 0;
		s.fraction[1] = 1.0 / s.nfold;
		s.fraction[0] = 1 - s.fraction[1];
	} else if (v && v->kind == YNODE_MAP) {
		for (int i = 0; i < 3; i++) {
			const struct yentry *entry = ynode_find(v, part[i]);

			s.fraction[i] = entry ? entry->value->f : 0;
		}
	} else if (v) {
		s.fraction[0] = v->f;
		s.fraction[1] = v->f != 1 ? fabs(1 - v->f) : 0;
	}
	for (int i = 0; i < 3; i++) {
		sum += s.fraction[i];
		s.number[i] = (uint32_t)s.fraction[i];
	}
	if (v && v->kind != YNODE_MAP)
		s.number[1] = SPLIT_REST;
	s.counts = sum > 1.5;
	return s;
}
