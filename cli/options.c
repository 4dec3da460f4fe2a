/* SPDX-License-Identifier: Apache-2.0
 * Parsing the command line by the rows of options.def. */
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/config/aliases.h"
#include "cli/options_unknown.h"
#include "runtime/base/buf.h"
#include "runtime/exec/evaluator.h"
#include "runtime/exec/statevector/backends.h"

/* The commands' bits, as options.def names them. */
enum {
	TOP = COMMAND_TOP,
	EVERY = COMMAND_EVERY,
#define COMMAND(ID, name) ID = COMMAND_##ID,
#include "cli/commands.def"
#undef COMMAND
};

const struct option_row option_rows[OPT_IDS] = {
#define GROUP(id, heading)
#define OPTION(id, commands, name, letter, argument, kind, values, preset, text) \
	[OPT_##id] = { OPT_##id, commands, name, letter, argument, OPTION_##kind, values, preset, text },
#include "cli/options.def"
#undef OPTION
#undef GROUP
};

static const struct { int first; const char *heading; } groups[] = {
#define GROUP(id, heading) { OPT_GROUP_##id, heading },
#define OPTION(id, commands, name, letter, argument, kind, values, preset, text)
#include "cli/options.def"
#undef OPTION
#undef GROUP
};

static int group_of(int i)
{
	int k = sizeof groups / sizeof *groups - 1;

	while (groups[k].first > i)
		k--;
	return k;
}

const char *option_heading(enum command_bit command, int i)
{
	int n = 0, before = i - 1;

	for (int k = 0; k < OPT_IDS; k++)
		n += (option_rows[k].commands & command) != 0;
	while (before >= 0 && !(option_rows[before].commands & command))
		before--;
	return n < OPTION_GROUPED_FROM || (before >= 0 && group_of(before) == group_of(i)) ? NULL : groups[group_of(i)].heading;
}

/* The words being read. */
struct reader {
	enum command_bit command;
	int narg, at;
	char *const *arg;
	struct options *out;
	struct err *e;
};

static const struct option_row *find_long(enum command_bit command, const char *name, size_t len)
{
	for (const struct option_row *row = option_rows; row < option_rows + OPT_IDS; row++)
		if ((row->commands & command) && strlen(row->name) == len
			&& !strncmp(row->name, name, len))
			return row;
	name = former_now(FORMER_OPTION, name, len);
	return name ? find_long(command, name, strlen(name)) : NULL;
}

static const struct option_row *find_letter(enum command_bit command, char letter)
{
	for (const struct option_row *row = option_rows; row < option_rows + OPT_IDS; row++)
		if ((row->commands & command) && row->letter == letter)
			return row;
	return NULL;
}

static const char *next_word(const struct reader *r)
{
	return r->at < r->narg ? r->arg[r->at] : NULL;
}

/* Is value one of the words between bars? *nth gets its position. */
static bool among(const char *values, const char *value, unsigned *nth)
{
	*nth = 0;
	for (const char *p = values;; p++, ++*nth) {
		size_t n = strcspn(p, "|");

		if (choice_is(p, n, value))
			return true;
		p += n;
		if (!*p)
			return false;
	}
}

static bool count_in_range(const char *range, const char *value)
{
	char *end;
	unsigned long long low = strtoull(range, &end, 10), high = strtoull(end + 1, NULL, 10), v;

	errno = 0;
	v = strtoull(value, &end, 10);
	return isdigit((unsigned char)*value) && !*end && !errno && v >= low && v <= high;
}

/* Does the name of a file end like one of another format than `format`?  Words that are no formats may end it. */
static bool has_other_format(const char *value, const char *format)
{
	static const char *const formats[] = { "svg", "png", "pdf", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "eps", "ps",
		"tex", "html", "txt", "md", "json", "csv" };
	const char *dot = strrchr(path_base(value), '.');

	for (size_t k = 0; dot && strcasecmp(dot + 1, format) && k < sizeof formats / sizeof *formats; k++)
		if (!strcasecmp(dot + 1, formats[k]))
			return true;
	return false;
}

static int check_value(struct reader *r, const struct option_row *row, const char *value, bool attached)
{
	unsigned nth;

	if ((row->kind == OPTION_CHOICE || (row->kind == OPTION_OPTIONAL && row->values && attached)) && !among(row->values, value, &nth))
		return err_set(r->e, -ERR_USAGE, "--%s takes %s, not `%s`", row->name, row->values, value);
	if (row->kind == OPTION_COUNT && !count_in_range(row->values, value))
		return err_set(r->e, -ERR_USAGE, "--%s takes a whole number in the range %s, not `%s`",
			row->name, row->values, value);
	if (row->kind == OPTION_TEXT && row->values && has_other_format(value, row->values))
		return err_set(r->e, -ERR_USAGE, "--%s writes an %s file, but `%s` names another format: write `%.*s%s` and convert it",
			row->name, row->values, value, (int)(strrchr(value, '.') - value + 1), value, row->values);
	if (row->argument && !*value && (row->kind != OPTION_OPTIONAL || attached))
		return err_set(r->e, -ERR_USAGE, "--%s needs %s", row->name, row->argument);
	return 0;
}

static int keep(struct reader *r, const struct option_row *row, const char *value, bool attached)
{
	struct options *o = r->out;
	int code = check_value(r, row, value, attached);

	if (code)
		return code;
	if (row->kind == OPTION_LIST) {
		if (o->nlist == OPTIONS_LIST_MAX)
			return err_set(r->e, -ERR_USAGE, "more than %d options that may be repeated", OPTIONS_LIST_MAX);
		o->list[o->nlist].id = row->id;
		o->list[o->nlist++].value = value;
	}
	o->value[row->id] = value;
	o->given[row->id] = true;
	return 0;
}

/* The argument of an option that has one: behind `=` or the letter, else the next word. */
static int take_argument(struct reader *r, const struct option_row *row, const char *attached)
{
	if (attached)
		return keep(r, row, attached, true);
	if (r->at == r->narg)
		return err_set(r->e, -ERR_USAGE, "--%s needs %s", row->name, row->argument);
	return keep(r, row, r->arg[r->at++], true);
}

static int read_long(struct reader *r, const char *word)
{
	size_t len = strcspn(word, "=");
	const struct option_row *row = find_long(r->command, word, len);
	const char *attached = word[len] ? word + len + 1 : NULL;

	if (!row)
		return options_unknown(r->command, "--", word, len, attached, next_word(r), r->e);
	if (row->argument && (row->kind != OPTION_OPTIONAL || attached))
		return take_argument(r, row, attached);
	if (attached)
		return err_set(r->e, -ERR_USAGE, "--%s takes no argument", row->name);
	return keep(r, row, "", false);
}

/* A word that begins with an unknown letter is an option with one dash too few, or letters. */
static int unknown_letter(struct reader *r, const char *word)
{
	size_t len = strcspn(word, "=");

	if (len < 2)
		return err_set(r->e, -ERR_USAGE, "unknown option `-%c`", *word);
	return options_unknown(r->command, "-", word, len, word[len] ? word + len + 1 : NULL, next_word(r), r->e);
}

static int read_letters(struct reader *r, const char *word)
{
	const char *first = word;

	for (; *word; word++) {
		const struct option_row *row = find_letter(r->command, *word);

		if (!row)
			return word == first ? unknown_letter(r, word) : err_set(r->e, -ERR_USAGE, "unknown option `-%c`", *word);
		if (row->argument && row->kind != OPTION_OPTIONAL)
			return take_argument(r, row, word[1] ? word + 1 : NULL);
		int code = keep(r, row, "", false);
		if (code)
			return code;
	}
	return 0;
}

int options_parse(enum command_bit command, int narg, char *const *arg, bool stop, struct options *o,
	int *used, struct err *e)
{
	struct reader r = { .command = command, .narg = narg, .arg = arg, .out = o, .e = e };
	bool ended = false;
	int code = 0;

	memset(o, 0, sizeof *o);
	for (int i = 0; i < OPT_IDS; i++)
		o->value[i] = option_rows[i].preset;
	while (!code && r.at < narg) {
		const char *word = arg[r.at];

		if (stop && (word[0] != '-' || !word[1]))
			break;
		r.at++;
		bool operand = ended || word[0] != '-' || !word[1];
		if (operand && o->noperand < OPTIONS_OPERANDS_MAX)
			o->operand[o->noperand++] = word;
		else if (operand)
			code = err_set(e, -ERR_USAGE, "more than %d operands", OPTIONS_OPERANDS_MAX);
		else if (word[1] != '-')
			code = read_letters(&r, word + 1);
		else if (word[2])
			code = read_long(&r, word + 2);
		else
			ended = true;
	}
	if (used)
		*used = r.at;
	return code;
}

uint64_t options_count(const struct options *o, enum option_id id)
{
	return strtoull(o->value[id], NULL, 10);
}

uint64_t options_count_or(const struct options *o, enum option_id id, uint64_t other)
{
	return o->given[id] ? options_count(o, id) : other;
}

unsigned options_list(const struct options *o, enum option_id id, const char **value)
{
	unsigned n = 0;

	for (unsigned i = 0; i < o->nlist; i++)
		if (o->list[i].id == id)
			value[n++] = o->list[i].value;
	return n;
}

unsigned options_choice(const struct options *o, enum option_id id)
{
	unsigned nth = 0;

	if (!o->value[id] || !among(option_rows[id].values, o->value[id], &nth))
		BUG("option --%s has no value", option_rows[id].name);
	return nth;
}
