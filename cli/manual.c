/* SPDX-License-Identifier: Apache-2.0
 * Build-time helper: fills a manual page's template with what the tables hold.
 *
 * manual TEMPLATE copies the template to stdout; a line `.\" @NAME ARGUMENT@` is replaced by
 * the section of that name, written in mdoc from the same rows that the program uses. */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/schema_text.h"
#include "runtime/net/launch.h"
#include "runtime/data/transform.h"
#include "runtime/exec/shortcut.h"
#include "compiler/compile.h"
#include "lang/gates.h"
#include "lang/names.h"
#include "runtime/data/dataset.h"

enum { LINE_MAX_BYTES = 78, TEMPLATE_BYTES_MAX = 1 << 20 };

/* ---- mdoc ---- */

static void escaped(struct buf *out, const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		word[i] == '\\' ? buf_str(out, "\\e") : buf_char(out, word[i]);
}

static bool ends_sentence(const char *word, size_t len)
{
	while (len && (word[len - 1] == ')' || word[len - 1] == '"'))
		len--;
	return len && strchr(".!?", word[len - 1]) && !(len > 2 && word[len - 2] == '.');
}

/* Text lines: wrapped, each sentence on a line of its own, no line taken for a macro. */
static void text(struct buf *out, const char *s)
{
	size_t column = 0;

	while (*s) {
		size_t n = strcspn(s, " \n");

		if (column && column + 1 + n > LINE_MAX_BYTES) {
			buf_char(out, '\n');
			column = 0;
		}
		if (!column && (*s == '.' || *s == '\''))
			buf_str(out, "\\&");
		if (column) {
			buf_char(out, ' ');
			column++;
		}
		escaped(out, s, n);
		column += n;
		if (ends_sentence(s, n)) {
			buf_char(out, '\n');
			column = 0;
		}
		s += n + strspn(s + n, " \n");
	}
	if (column)
		buf_char(out, '\n');
}

/* Does the phrase begin with a name (`cx a, b`, `rz(a)`, `i-th`), whose case means something? */
static bool begins_with_name(const char *phrase)
{
	size_t len = strcspn(phrase, " ,:;.");
	char word[32];
	const char *of;
	uint8_t letters;

	for (size_t i = 0; i < len; i++)
		if (!isalpha((unsigned char)phrase[i]))
			return true;
	if (len >= sizeof word || (len == 1 && *phrase == 'a'))
		return false;
	snprintf(word, sizeof word, "%.*s", (int)len, phrase);
	return len == 1 || (gate_find(word, &letters, &of) && !of && strcmp(word, "swap"));
}

/* A row's phrase as a sentence. */
static void sentence(struct buf *out, const char *phrase)
{
	struct buf b = BUF_INIT;
	size_t len = strlen(phrase);

	buf_char(&b, begins_with_name(phrase) ? *phrase : toupper((unsigned char)*phrase));
	buf_str(&b, phrase + 1);
	if (!strchr(".!?", phrase[len - 1]) || (len > 3 && phrase[len - 2] == '.'))
		buf_char(&b, '.');
	text(out, b.data);
	buf_release(&b);
}

/* One argument of a macro, never taken for a macro itself. */
static void argument(struct buf *out, const char *word)
{
	buf_str(out, "\\&");
	for (; *word; word++)
		*word == '\\' ? buf_str(out, "\\e") : *word == '"' ? buf_str(out, "\\(dq") : buf_char(out, *word);
}

/* ---- sections ---- */

static const struct command *command_of(const char *name)
{
	const struct command *c = command_find(name);

	if (!c && *name)
		BUG("no command `%s`", name);
	return c;
}

static void option_argument(struct buf *out, const struct option_row *row)
{
	buf_str(out, row->kind == OPTION_OPTIONAL ? " Ns Op = Ns Ar " : " Ns = Ns Ar ");
	argument(out, row->argument);
}

static void option_item(struct buf *out, const struct option_row *row)
{
	buf_str(out, ".It ");
	if (row->letter)
		buf_printf(out, "Fl %c , ", row->letter);
	buf_printf(out, "Fl Fl %s", row->name);
	if (row->argument) {
		option_argument(out, row);
	}
	buf_char(out, '\n');
	text(out, row->text);
	if (row->values) {
		struct buf b = BUF_INIT;

		buf_str(&b, row->kind == OPTION_CHOICE ? "One of " : "Range: ");
		for (const char *p = row->values; *p; p++)
			*p == '|' ? buf_str(&b, ", ") : buf_char(&b, *p);
		if (row->preset)
			buf_printf(&b, "; the default is %s", row->preset);
		buf_char(&b, '.');
		text(out, b.data);
		buf_release(&b);
	}
}

static void section_options(struct buf *out, const char *name)
{
	const struct command *c = command_of(name);
	unsigned bit = c ? c->bit : COMMAND_TOP;

	buf_str(out, ".Bl -tag -width Ds\n");
	for (int i = 0; i < OPT_IDS; i++)
		if (option_rows()[i].commands & bit)
			option_item(out, &option_rows()[i]);
	buf_str(out, ".El\n");
}

static void section_synopsis(struct buf *out, const char *name)
{
	const struct command *c = command_of(name);

	buf_printf(out, ".Nm qcnn %s\n", name);
	for (int i = 0; i < OPT_IDS; i++) {
		const struct option_row *row = &option_rows()[i];

		if (!(row->commands & c->bit) || (row->commands & COMMAND_TOP))
			continue;
		buf_printf(out, ".Op Fl Fl %s", row->name);
		if (row->argument) {
			option_argument(out, row);
		}
		buf_char(out, '\n');
	}
	if (*c->operands) {
		buf_str(out, ".Ar ");
		argument(out, c->operands);
		buf_char(out, '\n');
	}
}

static void section_commands(struct buf *out, const char *name)
{
	(void)name;
	buf_str(out, ".Bl -tag -width explain\n");
	for (const struct command *const *c = commands; *c; c++) {
		buf_printf(out, ".It Cm %s\n", (*c)->name);
		sentence(out, (*c)->summary);
		buf_printf(out, "See\n.Xr qcnn-%s 1 .\n", (*c)->name);
	}
	buf_str(out, ".El\n");
}

static void section_examples(struct buf *out, const char *name)
{
	for (const char *const *p = command_of(name)->example; *p; p++)
		buf_printf(out, ".Dl $ %s\n", *p);
}

static void section_exit(struct buf *out, const char *name)
{
	static const struct { int status; const char *text; } rows[] = {
#define ERR(name, status, text) { status, text },
#include "runtime/base/err.def"
#undef ERR
	};

	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n.It 0\nAll went well.\n");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		buf_printf(out, ".It %d\n", rows[i].status);
		sentence(out, rows[i].text);
	}
	buf_str(out, ".El\n");
}

static void section_diagnostics(struct buf *out, const char *name)
{
	(void)name;
	buf_str(out, ".Bl -tag -width Q0000\n");
	for (int i = 1; i < DIAG_COUNT; i++) {
		const struct diag_row *r = diag_row((enum diag_code)i);

		buf_printf(out, ".It Q%04u\n%s: ", r->number, r->severity == DIAG_ERROR ? "error" : "warning");
		text(out, r->title);
	}
	buf_str(out, ".El\n");
}

/* A value that a key takes, with the key's last name. */
static void key_example(struct buf *out, const struct schema_row *row)
{
	struct buf b = BUF_INIT;

	buf_printf(&b, "%s: %s", strrchr(row->path, '.') + 1, row->example);
	buf_str(out, "Example:\n.Ql \"");
	argument(out, b.data);
	buf_str(out, "\"\n");
	buf_release(&b);
}

static void section_keys(struct buf *out, const char *section)
{
	size_t len = strlen(section);

	buf_str(out, ".Bl -tag -width Ds\n");
	for (int i = 0; i < KEY_COUNT; i++) {
		const struct schema_row *row = schema_row((enum key_id)i);
		struct buf b = BUF_INIT;

		if (strncmp(row->path, section, len) || row->path[len] != '.')
			continue;
		buf_str(out, ".It Cm ");
		argument(out, row->path);
		buf_char(out, '\n');
		text(out, row->text);
		schema_describe(row, &b);
		text(out, b.data);
		key_example(out, row);
		buf_release(&b);
	}
	buf_str(out, ".El\n");
}

static void item(struct buf *out, const char *name, const char *doc)
{
	buf_str(out, ".It Cm ");
	argument(out, name);
	buf_char(out, '\n');
	sentence(out, doc);
}

static void table_options(struct buf *out, const struct train_option *o, unsigned n)
{
	if (!n)
		return;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (unsigned k = 0; k < n; k++) {
		struct buf b = BUF_INIT;

		item(out, o[k].name, o[k].doc);
		option_describe(&o[k], &b);
		text(out, b.data);
		buf_release(&b);
	}
	buf_str(out, ".El\n");
}

static void section_optimizers(struct buf *out, const char *name)
{
	const struct optimizer_row *row, *last = NULL;
	size_t n = optimizer_rows(&row);

	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < n; i++) {
		bool shares = row[i].noption > row[i].nown;
		double decay = shares ? row[i].option[row[i].nown + SHARED_WEIGHT_DECAY].value : VALUE_UNSET;

		item(out, row[i].name, row[i].doc);
		table_options(out, row[i].option, row[i].nown);
		last = shares ? &row[i] : last;
		if (value_given(decay))
			buf_printf(out, ".Pp\nIts\n.Cm weight_decay\nis %g if it is not given.\n", decay);
	}
	buf_printf(out, ".El\n.Pp\nThose up to\n.Cm %s\nalso take:\n", last->name);
	table_options(out, last->option + last->nown, SHARED_COUNT);
}

/* Tables whose rows are a name, a text and options. */
#define SECTION_OF(function, row_type, rows_function) \
	static void function(struct buf *out, const char *name) \
	{ \
		const struct row_type *row; \
		size_t n = rows_function(&row); \
		\
		(void)name; \
		buf_str(out, ".Bl -tag -width Ds\n"); \
		for (size_t i = 0; i < n; i++) { \
			item(out, row[i].name, row[i].doc); \
			table_options(out, row[i].option, row[i].noption); \
		} \
		buf_str(out, ".El\n"); \
	}
SECTION_OF(section_losses, loss_row, loss_rows)
SECTION_OF(section_schedules, schedule_row, schedule_rows)
SECTION_OF(section_callbacks, callback_row, callback_rows)
SECTION_OF(section_constraints, constraint_row, constraint_rows)

/* Losses come last among the metrics, and have been described. */
static void section_metrics(struct buf *out, const char *name)
{
	const struct metric_row *row;
	size_t n = metric_rows(&row);

	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < n && !loss_find(row[i].name); i++) {
		item(out, row[i].name, row[i].doc);
		table_options(out, row[i].option, row[i].noption);
	}
	buf_str(out, ".El\n.Pp\nEvery loss is a metric too, with the same options.\n");
}

static void section_regularizers(struct buf *out, const char *name)
{
	const struct regularizer_row *row;
	size_t n = regularizer_rows(&row);

	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < n; i++)
		item(out, row[i].name, row[i].doc);
	buf_str(out, ".El\n");
}

static void section_transforms(struct buf *out, const char *name)
{
	struct table_row row;

	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (int i = 1; i < TRANSFORM_COUNT; i++) {
		schema_table_row(TYPE_TRANSFORMS, transform_name((enum transform_kind)i), &row);
		item(out, row.name, row.doc);
		table_options(out, row.option, row.noption);
	}
	buf_str(out, ".El\n");
}

static void section_shortcuts(struct buf *out, const char *name)
{
	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (unsigned k = 0; k < SHORTCUTS_COUNT; k++)
		item(out, shortcut_name[k], shortcut_text[k]);
	buf_str(out, ".El\n");
}

static void section_generators(struct buf *out, const char *name)
{
	struct table_row row;
	const char *const *names;
	size_t n = generator_names(&names);

	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < n; i++) {
		schema_table_row(TYPE_GENERATOR, names[i], &row);
		item(out, row.name, row.doc);
		table_options(out, row.option, row.noption);
	}
	buf_str(out, ".El\n");
}

static void section_gates(struct buf *out, const char *name)
{
	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (int g = 1; g < GATE_COUNT; g++) {
		const struct gate_row *row = gate_row((enum gate)g);

		if (row->flags & GATE_STEP)
			continue;
		buf_str(out, ".It Cm ");
		argument(out, row->name);
		if (row->flags & GATE_WORD)
			buf_str(out, " No (family of words)");
		else
			buf_printf(out, " No (%u angle%s, %u control%s, %u target%s)", row->nangle, row->nangle == 1 ? "" : "s",
				row->ncontrol, row->ncontrol == 1 ? "" : "s", row->ntarget, row->ntarget == 1 ? "" : "s");
		buf_char(out, '\n');
		sentence(out, row->doc);
	}
	buf_str(out, ".El\n");
}

static void section_aliases(struct buf *out, const char *name)
{
	const char *const *names, *of;
	size_t n = gate_names(&names);
	uint8_t word;

	(void)name;
	buf_str(out, ".Bl -column -compact ControlledPhaseShift ControlledPhaseShift\n");
	for (size_t i = 0; i < n; i++) {
		of = NULL;
		if (!gate_find(names[i], &word, &of) || !of || !strcmp(of, names[i]))
			continue;
		buf_str(out, ".It ");
		argument(out, names[i]);
		buf_str(out, " Ta ");
		argument(out, of);
		buf_char(out, '\n');
	}
	buf_str(out, ".El\n");
}

static void section_builtins(struct buf *out, const char *name)
{
	(void)name;
	buf_str(out, ".Bl -tag -width windows\n");
	for (int i = 1; i < BUILTIN_COUNT; i++)
		item(out, builtin_row((enum builtin)i)->name, builtin_row((enum builtin)i)->doc);
	buf_str(out, ".El\n");
}

static void section_messages(struct buf *out, const char *name)
{
	static const struct { const char *id, *from, *text; int number; } row[] = {
#define WIRE(id, number, from, text) { #id, from, text, number },
#include "runtime/net/wire.def"
#undef WIRE
	};

	(void)name;
	buf_str(out, ".Bl -column \"CHALLENGE\" \"99\" \"coordinator\" \"text\"\n");
	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		buf_printf(out, ".It %s Ta %d Ta %s Ta %s\n", row[i].id, row[i].number, row[i].from, row[i].text);
	buf_str(out, ".El\n");
}

static void section_launchers(struct buf *out, const char *name)
{
	(void)name;
	buf_str(out, ".Bl -tag -width local\n");
	for (int i = 1; i < LAUNCHER_COUNT; i++) {
		const struct launch_row *row = launch_row((enum launcher)i);

		buf_printf(out, ".It Cm %s\n", row->name);
		text(out, row->text);
		buf_printf(out, ".br\n.Ql %s\n", row->line);
	}
	buf_str(out, ".El\n");
}

static void section_passes(struct buf *out, const char *name)
{
	const struct pass_row *row;
	size_t n = compile_passes(&row);

	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < n; i++) {
		buf_printf(out, ".It Cm %s No (%c%s)\n", row[i].name, row[i].letter, row[i].optional ? ", optional" : "");
		sentence(out, row[i].doc);
	}
	buf_str(out, ".El\n");
}

/* ---- the template ---- */

static const struct { const char *name; void (*write)(struct buf *out, const char *argument); } sections[] = {
	{ "options", section_options }, { "synopsis", section_synopsis }, { "commands", section_commands },
	{ "examples", section_examples }, { "exit", section_exit }, { "diagnostics", section_diagnostics },
	{ "keys", section_keys }, { "optimizers", section_optimizers }, { "losses", section_losses },
	{ "metrics", section_metrics }, { "schedules", section_schedules }, { "callbacks", section_callbacks }, { "regularizers", section_regularizers }, { "constraints", section_constraints }, { "generators", section_generators }, { "transforms", section_transforms }, { "gates", section_gates },
	{ "messages", section_messages }, { "launchers", section_launchers },
	{ "aliases", section_aliases }, { "builtins", section_builtins }, { "passes", section_passes },
	{ "shortcuts", section_shortcuts },
};

/* line: `.\" @NAME ARGUMENT@`; false when it is none. */
static bool directive(const char *line, size_t len, struct buf *out)
{
	char name[64], *argument;

	if (len < 6 || strncmp(line, ".\\\" @", 5) || line[len - 1] != '@' || len - 6 >= sizeof name)
		return false;
	memcpy(name, line + 5, len - 6);
	name[len - 6] = 0;
	argument = strchr(name, ' ');
	if (argument)
		*argument++ = 0;
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		if (!strcmp(sections[i].name, name)) {
			sections[i].write(out, argument ? argument : "");
			return true;
		}
	BUG("no section `%s`", name);
}

static void fill(const struct buf *template, struct buf *out)
{
	for (const char *line = template->data; *line; ) {
		size_t len = strcspn(line, "\n");

		if (!directive(line, len, out)) {
			buf_add(out, line, len);
			buf_char(out, '\n');
		}
		line += len + (line[len] == '\n');
	}
}

int main(int argc, char **argv)
{
	struct buf template = BUF_INIT, out = BUF_INIT;
	struct err e;
	size_t written;
	int failed;

	if (argc != 2) {
		fprintf(stderr, "use: manual TEMPLATE\n");
		return 2;
	}
	if (buf_read_file(&template, argv[1], TEMPLATE_BYTES_MAX, &e)) {
		fprintf(stderr, "manual: %s\n", e.text);
		return 1;
	}
	fill(&template, &out);
	written = fwrite(out.data, 1, out.len, stdout);
	failed = written != out.len || fflush(stdout);
	buf_release(&template);
	buf_release(&out);
	return failed;
}
