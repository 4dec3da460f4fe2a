/* SPDX-License-Identifier: Apache-2.0
 * Tables of words. */
#include "cli/output/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/arena.h"
#include "runtime/base/visible.h"

void table_add(struct table *t, const char *text)
{
	struct buf shown = BUF_INIT;

	visible_str(&shown, text);
	mem_reserve(t->cell, t->n, t->cap);
	t->cell[t->n++] = buf_take(&shown);
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

static size_t width_of(const struct table *t, unsigned column)
{
	size_t w = 0;

	for (size_t i = column; i < t->n; i += t->ncolumn)
		w = length(t->cell[i]) > w ? length(t->cell[i]) : w;
	return w;
}

void table_print(const struct table *t, struct buf *out)
{
	for (size_t i = 0; i < t->n; i += t->ncolumn) {
		size_t begin = out->len;

		for (unsigned k = 0; k < t->ncolumn; k++) {
			const char *s = t->cell[i + k];

			buf_str(out, s);
			buf_pad(out, ' ', width_of(t, k) + 2 - length(s));
		}
		while (out->len > begin && out->data[out->len - 1] == ' ')
			out->len--;
		buf_char(out, '\n');
	}
}

void table_release(struct table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->cell[i]);
	free(t->cell);
}
