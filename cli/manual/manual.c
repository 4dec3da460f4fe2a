/* SPDX-License-Identifier: Apache-2.0
 * Build-time helper: fills a manual page's template with what the tables hold.
 *
 * manual TEMPLATE copies the template to stdout; a line `.\" @NAME ARGUMENT@` is replaced by
 * the section of that name, written in mdoc from the same rows that the program uses. */
#include "cli/manual/manual.h"

#include <stdio.h>
#include <string.h>

enum { TEMPLATE_BYTES_MAX = 1 << 20 };

static const struct section {
	const char *name;
	void (*write)(struct buf *out, const char *argument);
	const char *list; /* of the items that write_items adds; NULL: write writes it all */
	void (*write_items)(struct buf *out);
} sections[] = {
#define SECTION(name) { #name, section_##name, NULL, NULL },
#define LIST(name, kind) { #name, NULL, kind, section_##name },
	MANUAL_SECTIONS(SECTION, LIST)
#undef LIST
#undef SECTION
};

static void write_section(const struct section *s, const char *argument, struct buf *out)
{
	if (!s->list) {
		s->write(out, argument);
		return;
	}
	buf_printf(out, ".Bl %s\n", s->list);
	s->write_items(out);
	buf_str(out, ".El\n");
}

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
			write_section(&sections[i], argument ? argument : "", out);
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
	buf_auto template = BUF_INIT, out = BUF_INIT;
	struct err e;

	if (argc != 2) {
		fprintf(stderr, "use: manual TEMPLATE\n");
		return 2;
	}
	if (buf_read_file(&template, argv[1], TEMPLATE_BYTES_MAX, &e)) {
		fprintf(stderr, "manual: %s\n", e.text);
		return 1;
	}
	fill(&template, &out);
	size_t written = fwrite(out.data, 1, out.len, stdout);
	return written != out.len || fflush(stdout);
}
