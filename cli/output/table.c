/* SPDX-License-Identifier: Apache-2.0
 * Tables of words. */
#include "cli/output/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/visible.h"

void table_add(struct table *t, const char *text)
{
	buf_auto shown = BUF_INIT;

	visible_str(&shown, text);
	*arena_push(&t->arena, t->cell, t->n) = arena_strndup(&t->arena, shown.data, shown.len);
}

void table_add_number(struct table *t, double v, const char *format)
{
	char s[64] = "";

	if (!isnan(v))
		snprintf(s, sizeof s, format, v);
	table_add(t, s);
}

/* Characters of a text in UTF-8. */
static size_t length(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

void table_print(struct table *t, struct buf *out)
{
	mem_auto size_t *width = mem_alloc(t->ncolumn, sizeof *width);

	for (size_t i = 0; i < t->n; i++) {
		size_t w = length(t->cell[i]);

		if (w > width[i % t->ncolumn])
			width[i % t->ncolumn] = w;
	}
	for (size_t i = 0; i < t->n; i += t->ncolumn) {
		size_t begin = out->len;

		for (unsigned k = 0; k < t->ncolumn; k++) {
			buf_str(out, t->cell[i + k]);
			buf_pad(out, ' ', width[k] + 2 - length(t->cell[i + k]));
		}
		while (out->len > begin && out->data[out->len - 1] == ' ')
			out->len--;
		buf_char(out, '\n');
	}
	arena_release(&t->arena);
	*t = (struct table){ .ncolumn = t->ncolumn };
}

void table_align(const char *text, struct buf *out)
{
	struct table t = { 0 };

	while (*text) {
		size_t len = strcspn(text, "\n");
		unsigned ncolumn = 1;

		for (size_t i = 0; i < len; i++)
			ncolumn += text[i] == '\t';
		if (t.n && ncolumn != t.ncolumn)
			table_print(&t, out);
		t.ncolumn = ncolumn;
		for (unsigned k = 0; k < ncolumn; k++) {
			size_t n = strcspn(text, "\t\n");
			buf_auto cell = BUF_INIT;

			buf_add(&cell, text, n);
			table_add(&t, cell.data ? cell.data : "");
			text += n + (text[n] != 0);
		}
	}
	if (t.n)
		table_print(&t, out);
}
