/* SPDX-License-Identifier: Apache-2.0
 * Suggestions for unknown options, from the rows of options, keys, their tables, and what these are called elsewhere. */
#include "cli/options_unknown.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/config/aliases.h"
#include "cli/config/schema.h"
#include "runtime/base/buf.h"
#include "runtime/base/diag.h"

enum { WORD_MAX = 63, VALUE_MAX = 40 };   /* of these, no more is shown */

/* What a word may stand for: an option, or a key with a path; its option, where the key's value is a row that has some. */
struct meaning {
	const struct schema_row *key;    /* NULL: an option of the command */
	const char *row, *option;        /* NULL: the key itself */
};

struct meanings {
	struct arena a;                  /* of the lists */
	const char **word;               /* n of them; - stands for _ */
	struct meaning *of;
	size_t n;
};

static char *with_dashes(struct arena *a, const char *word, size_t len)
{
	char *copy = arena_strndup(a, word, len);

	for (char *p = copy; (p = strchr(p, '_')); p++)
		*p = '-';
	return copy;
}

static void add(struct meanings *m, const char *word, struct meaning of)
{
	m->word = arena_grow(&m->a, m->word, m->n, sizeof *m->word);
	m->word[m->n] = with_dashes(&m->a, word, strlen(word));
	*arena_push(&m->a, m->of, m->n) = of;
}

/* The options of the rows that a key's value may name, each once: of its preset, if that has it. */
static void add_row(struct meanings *m, const struct schema_row *key, const char *name)
{
	struct table_row row;

	if (!schema_table_row(key->type, name, &row))
		return;
	for (unsigned k = 0; k < row.noption; k++)
		if (!text_among(with_dashes(&m->a, row.option[k].name, strlen(row.option[k].name)),
			    m->word, m->n))
			add(m, row.option[k].name, (struct meaning){ key, row.name, row.option[k].name });
}

/* The keys that --set of this row takes: infer's are of the data, and the metrics. */
static bool can_set(enum option_id set, const struct schema_row *key)
{
	return set == OPT_SET || key->id == KEY_RUN_SEED || key->id == KEY_TRAIN_METRICS
		|| !strncmp(key->path, "data.", strlen("data."));
}

static void add_keys(struct meanings *m, enum option_id set, bool paths)
{
	const char *name[SCHEMA_NAMES_MAX];

	for (const struct schema_row *key = schema_rows; key < schema_rows + KEY_COUNT; key++)
		if (can_set(set, key))
			add(m, paths ? key->path : strchr(key->path, '.') + 1,
				(struct meaning){ .key = key });
	for (const struct schema_row *key = schema_rows; key < schema_rows + KEY_COUNT; key++) {
		if (!can_set(set, key) || (!schema_has_rows(key->type) && key->type != TYPE_CALLBACKS))
			continue;
		if (key->preset)
			add_row(m, key, key->preset);
		for (size_t i = 0, n = schema_names(key, name); i < n; i++)
			add_row(m, key, name[i]);
	}
}

/* paths: keys are written with their sections. */
static void find_meanings(struct meanings *m, enum command_bit command, bool paths)
{
	const struct option_row *set = NULL;

	for (const struct option_row *row = option_rows; row < option_rows + OPT_IDS; row++) {
		if (!(row->commands & command))
			continue;
		add(m, row->name, (struct meaning){ .key = NULL });
		if (!strcmp(row->name, "set"))
			set = row;
	}
	if (set)
		add_keys(m, set->id, paths);
}

static bool is_number(const char *text)
{
	char *end;

	strtod(text, &end);
	return end != text && !*end;
}

/* `--hosts`, or `--set train.epochs=3`. */
static void print_meaning(const struct meanings *m, size_t nth, const char *value, const char *next, struct buf *out)
{
	const struct meaning *of = &m->of[nth];

	if (!of->key) {
		buf_printf(out, "`--%s`", m->word[nth]);
		return;
	}
	buf_printf(out, "`--set %s", of->key->path);
	if (of->row)
		buf_printf(out, ".%s.%s", of->row, of->option);
	if (!value && next && is_number(next))
		value = next;
	buf_printf(out, "=%s`", value && strlen(value) <= VALUE_MAX ? value : "...");
}

static size_t position(const struct meanings *m, const char *word)
{
	size_t i = 0;

	while (i < m->n && m->word[i] != word)
		i++;
	return i;
}

/* Each key, or option of a row, that has this name. */
static void print_keys(const struct meanings *m, const char *word, const char *value,
	const char *next, struct buf *out)
{
	const char *before = ": it is a key, ";

	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(m->word[i], word)) {
			buf_str(out, before);
			print_meaning(m, i, value, next, out);
			before = ", or ";
		}
}

/* What was meant, behind a colon; nothing where nothing is likely. */
static void print_suggestion(const struct meanings *m, const char *word, const char *value, const char *next, struct buf *out)
{
	const char *elsewhere = alias_find(word, m->word, m->n),
		   *near = diag_nearest(word, m->word, m->n);
	buf_auto others = BUF_INIT;
	size_t nth = position(m, near ? near : "");

	/* The commands that have this option, as `qcnn run`, with commas between. */
	for (const struct command *c = commands; c->name; c++)
		for (const struct option_row *row = option_rows; row < option_rows + OPT_IDS; row++)
			if ((row->commands & c->bit) && !strcmp(row->name, word))
				buf_printf(&others, "%s`qcnn %s`", others.len ? ", " : "", c->name);
	if (near && !strcmp(near, word)) {
		print_keys(m, word, value, next, out);
		buf_clear(&others);
	} else if (elsewhere) {
		buf_str(out, ": here it is called ");
		print_meaning(m, position(m, elsewhere), value, next, out);
	} else if (near) {
		buf_str(out, ": did you mean ");
		print_meaning(m, nth, value, next, out);
		buf_char(out, '?');
	}
	if (others.len)
		buf_printf(out, "%s an option of %s", near || elsewhere ? " It is" : ": it is",
			others.data);
}

int options_unknown(enum command_bit command, const char *dashes, const char *word, size_t len, const char *value,
	const char *next, struct err *e)
{
	struct meanings m = { .n = 0 };
	buf_auto b = BUF_INIT;

	if (len > WORD_MAX)
		len = WORD_MAX;
	buf_printf(&b, "unknown option `%s%.*s`", dashes, (int)len, word);
	find_meanings(&m, command, memchr(word, '.', len));
	print_suggestion(&m, with_dashes(&m.a, word, len), value, next, &b);
	err_set(e, -ERR_USAGE, "%s", b.data);
	arena_release(&m.a);
	return -ERR_USAGE;
}
