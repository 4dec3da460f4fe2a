/* SPDX-License-Identifier: Apache-2.0
 * The texts of --help, from the commands' entries and the rows of options.def. */
#include "cli/command.h"

#include <string.h>

enum { HELP_WIDTH = 79, HELP_INDENT = 26 };

/* Words of text, wrapped, further lines indented; `column` is where the line stands. */
static void wrap(struct buf *out, const char *text, size_t column, int indent)
{
	bool first = true;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (!first && column + 1 + n > HELP_WIDTH) {
			buf_printf(out, "\n%*s", indent, "");
			column = (size_t)indent;
		} else if (!first) {
			buf_char(out, ' ');
			column++;
		}
		buf_add(out, text, n);
		column += n;
		text += n + strspn(text + n, " ");
		first = false;
	}
	buf_char(out, '\n');
}

static void option_line(struct buf *out, const struct option_row *row)
{
	size_t start = out->len, used;

	if (row->letter)
		buf_printf(out, "  -%c, --%s", row->letter, row->name);
	else
		buf_printf(out, "      --%s", row->name);
	if (row->argument)
		buf_printf(out, row->kind == OPTION_OPTIONAL ? "[=%s]" : "=%s", row->argument);
	used = out->len - start;
	if (used + 2 > HELP_INDENT) {
		buf_printf(out, "\n%*s", HELP_INDENT, "");
	} else {
		buf_pad(out, ' ', HELP_INDENT - used);
	}
	wrap(out, row->text, HELP_INDENT, HELP_INDENT);
	if (row->values && row->kind != OPTION_TEXT)
		buf_printf(out, "%*s%s", HELP_INDENT, "", row->values);
	else if (row->preset)
		buf_printf(out, "%*s", HELP_INDENT - 1, "");
	if (row->preset)
		buf_printf(out, " [%s]", row->preset);
	if ((row->values && row->kind != OPTION_TEXT) || row->preset)
		buf_char(out, '\n');
}

static void options_of(struct buf *out, enum command_bit bit)
{
	bool first = true;

	for (const struct option_row *row = option_rows; row < option_rows + OPT_IDS; row++) {
		if (!(row->commands & bit))
			continue;
		const char *heading = option_heading(bit, row->id);
		if (heading)
			buf_printf(out, "\n%s:\n", heading);
		else if (first)
			buf_str(out, "\nOptions:\n");
		option_line(out, row);
		first = false;
	}
}

void help_top(struct buf *out)
{
	buf_str(out, "Usage: qcnn [options] COMMAND ...\n\n"
		"Compiles, trains and runs quantum convolutional neural networks.\n\nCommands:\n");
	for (const struct command *c = commands; c->name; c++)
		buf_printf(out, "  %-12s %s\n", c->name, c->about->summary);
	options_of(out, COMMAND_TOP);
	buf_str(out, "\nFor more information, use `qcnn COMMAND --help`, or read qcnn(1).\n");
}

void help_command(const struct command *c, struct buf *out)
{
	buf_printf(out, "Usage: qcnn %s [options]%s%s\n\n", c->name, *c->about->operands ? " " : "",
		c->about->operands);
	wrap(out, c->about->text, 0, 0);
	options_of(out, c->bit);
	buf_str(out, "\nExamples:\n");
	for (const char *const *p = c->about->example; *p; p++)
		buf_printf(out, "  %s\n", *p);
	buf_printf(out, "\nThe exit status is 0 on success; qcnn-%s(1) lists the others.\n", c->name);
}
