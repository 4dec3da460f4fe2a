/* SPDX-License-Identifier: Apache-2.0
 * Sections about commands: options, examples, exit statuses, diagnostics, and the words in commands that start workers. */
#include "cli/manual/manual.h"

#include "cli/command.h"
#include "runtime/base/diag.h"
#include "runtime/net/launch/join.h"
#include "runtime/net/launch/launch.h"

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
	mdoc_argument(out, row->argument);
}

static void option_item(struct buf *out, const struct option_row *row)
{
	buf_str(out, ".It ");
	if (row->letter)
		buf_printf(out, "Fl %c , ", row->letter);
	buf_printf(out, "Fl Fl %s", row->name);
	if (row->argument)
		option_argument(out, row);
	buf_char(out, '\n');
	mdoc_text(out, row->text);
	buf_auto b = BUF_INIT;
	if (row->values && row->kind != OPTION_TEXT) {
		buf_str(&b, row->kind != OPTION_COUNT ? "One of " : "Range: ");
		for (const char *p = row->values; *p; p++)
			*p == '|' ? buf_str(&b, ", ") : buf_char(&b, *p);
		if (row->preset)
			buf_printf(&b, "; the default is %s", row->preset);
		buf_char(&b, '.');
	} else if (row->preset) {
		buf_printf(&b, "The default is %s.", row->preset);
	}
	if (b.len)
		mdoc_text(out, b.data);
}

void section_options(struct buf *out, const char *name)
{
	const struct command *c = command_of(name);
	unsigned bit = c ? c->bit : COMMAND_TOP;

	bool open = false;

	for (const struct option_row *row = option_rows; row < option_rows + OPT_IDS; row++) {
		if (!(row->commands & bit))
			continue;
		const char *heading = option_heading(bit, row->id);
		if (heading)
			buf_printf(out, "%s.Ss %s\n", open ? ".El\n" : "", heading);
		if (heading || !open)
			buf_str(out, ".Bl -tag -width Ds\n");
		option_item(out, row);
		open = true;
	}
	buf_str(out, ".El\n");
}

void section_synopsis(struct buf *out, const char *name)
{
	const struct command *c = command_of(name);

	buf_printf(out, ".Nm qcnn %s\n", name);
	for (const struct option_row *row = option_rows; row < option_rows + OPT_IDS; row++) {
		if (!(row->commands & c->bit) || (row->commands & COMMAND_TOP))
			continue;
		buf_printf(out, ".Op Fl Fl %s", row->name);
		if (row->argument)
			option_argument(out, row);
		buf_char(out, '\n');
	}
	if (*c->about->operands) {
		buf_str(out, ".Ar ");
		mdoc_argument(out, c->about->operands);
		buf_char(out, '\n');
	}
}

void section_commands(struct buf *out)
{
	for (const struct command *c = commands; c->name; c++) {
		buf_printf(out, ".It Cm %s\n", c->name);
		mdoc_sentence(out, c->about->summary);
		buf_printf(out, "See\n.Xr qcnn-%s 1 .\n", c->name);
	}
}

void section_examples(struct buf *out, const char *name)
{
	for (const char *const *p = command_of(name)->about->example; *p; p++)
		buf_printf(out, ".Dl $ %s\n", *p);
}

/* Status 1 has the meaning of the command `name`, which may have none; "": that of all. */
void section_exit(struct buf *out, const char *name)
{
	static const struct {
		int status;
		const char *text;
	} rows[] = {
#define ERR(name, status, text) { status, text },
#include "runtime/base/err.def"
#undef ERR
	};
	const struct command *c = command_of(name);

	buf_str(out, "Test the exit status in a script:\n.Bl -tag -width Ds\n.It 0\nAll went well.\n");
	for (int status = 1; status < 256; status++)
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			const char *text = c && status == 1 ? c->about->exit_1 : rows[i].text;

			if (rows[i].status != status || !text)
				continue;
			buf_printf(out, ".It %d\n", status);
			mdoc_sentence(out, text);
		}
	buf_str(out, ".El\n");
}

void section_diagnostics(struct buf *out)
{
	for (int i = 1; i < DIAG_COUNT; i++) {
		const struct diag_row *r = diag_row((enum diag_code)i);

		buf_printf(out, ".It Q%04u\n%s: ", r->number, r->severity == DIAG_ERROR ? "error" : "warning");
		mdoc_text(out, r->title);
	}
}

void section_messages(struct buf *out)
{
	static const struct { const char *id, *from, *text; int number; } row[] = {
#define WIRE(id, number, from, text) { #id, from, text, number },
#include "runtime/net/protocol/wire.def"
#undef WIRE
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		buf_printf(out, ".It %s Ta %d Ta %s Ta %s\n", row[i].id, row[i].number, row[i].from,
			row[i].text);
}

void section_launchers(struct buf *out)
{
	for (int i = 1; i < LAUNCHER_COUNT; i++) {
		const struct launch_row *row = launch_row((enum launcher)i);

		buf_printf(out, ".It Cm %s\n", row->name);
		mdoc_text(out, row->text);
		buf_printf(out, ".br\n.Ql %s\n", row->line);
	}
}

void section_attachments(struct buf *out)
{
	for (int i = 1; i < JOIN_COUNT; i++) {
		const struct join_row *row = join_row((enum join_mode)i);

		buf_printf(out, ".It Cm %s\n", row->name);
		mdoc_text(out, row->text);
	}
}
