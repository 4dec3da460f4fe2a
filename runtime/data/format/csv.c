/* SPDX-License-Identifier: Apache-2.0
 * One pass over the bytes; fields are places, nothing is copied. */
#include "runtime/data/format/csv.h"
#include "runtime/data/format/csv_window.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/data/format/dataset_read.h"

void csv_init(struct csv *c, struct diags *d, uint32_t file)
{
	*c = (struct csv){ .diags = d, .file = file };
	c->text = source_text(diags_sources(d), file, &c->len);
	if (c->len >= 3 && !memcmp(c->text, "\xef\xbb\xbf", 3))
		c->at = 3;
}

void csv_release(struct csv *c)
{
	csv_window_free(c->window);
	c->window = NULL;
	free(c->field);
	c->field = NULL;
}

static struct span span(const struct csv *c, size_t begin, size_t end)
{
	return (struct span){ c->file, (uint32_t)begin, (uint32_t)end };
}

static bool at_line_end(const struct csv *c, size_t at)
{
	return at >= c->len || c->text[at] == '\n'
		|| (c->text[at] == '\r' && (at + 1 >= c->len || c->text[at + 1] == '\n'));
}

static int quote_fault(struct csv *c, size_t begin, size_t end, const char *label)
{
	struct diag *g = diag_at(c->diags, DIAG_DATA_QUOTE, span(c, begin, end), "a quoted field is broken");

	diag_label(g, "%s", label);
	return -1;
}

/* c->at is behind the opening quote. */
static int read_quoted(struct csv *c, struct csv_field *f)
{
	size_t open = c->at - 1;

	f->begin = (uint32_t)c->at;
	f->is_quoted = true;
	for (;;) {
		const char *quote = memchr(c->text + c->at, '"', c->len - c->at);
		if (!quote)
			return quote_fault(c, open, open + 1, "this quote is never closed");
		c->at = (size_t)(quote - c->text) + 1;
		if (c->at >= c->len || c->text[c->at] != '"')
			break;
		c->at++;
	}
	f->end = (uint32_t)c->at - 1;
	if (!at_line_end(c, c->at) && c->text[c->at] != c->separator)
		return quote_fault(c, c->at, c->at + 1, c->separator == ';' ? "expected a semicolon behind the closing quote"
			: c->separator == '\t' ? "expected a tab behind the closing quote" : "expected a comma behind the closing quote");
	return 0;
}

static void read_plain(struct csv *c, struct csv_field *f)
{
	f->begin = (uint32_t)c->at;
	f->is_quoted = false;
	while (!at_line_end(c, c->at) && c->text[c->at] != c->separator)
		c->at++;
	f->end = (uint32_t)c->at;
}

static int limit_fault(struct csv *c, struct span at, const char *what, int limit)
{
	diag_at(c->diags, DIAG_DATA_LIMIT, at, "%s, more than %d", what, limit);
	return -1;
}

static int read_field(struct csv *c)
{
	if (c->nfield > DATASET_COLUMNS_MAX)
		return limit_fault(c, span(c, c->at, c->at), "too many columns", DATASET_COLUMNS_MAX + 1);
	mem_reserve(c->field, c->nfield, c->cap);
	struct csv_field *f = &c->field[c->nfield++];
	if (c->at < c->len && c->text[c->at] == '"') {
		c->at++;
		if (read_quoted(c, f))
			return -1;
	} else {
		read_plain(c, f);
	}
	if (f->end - f->begin > CSV_FIELD_MAX)
		return limit_fault(c, span(c, f->begin, f->begin), "too many bytes in a field", CSV_FIELD_MAX);
	return 0;
}

static void skip_blank_lines(struct csv *c)
{
	size_t at = c->at;

	while (at < c->len) {
		while (at < c->len && strchr(" \t\r", c->text[at]) && c->text[at])
			at++;
		if (at < c->len && c->text[at] != '\n')
			return;
		at += at < c->len;
		c->at = at;
	}
}

/* What parts the fields of the row at c->at. */
static char find_separator(const struct csv *c)
{
	bool quoted = false, semicolon = false, tab = false;

	for (size_t at = c->at; at < c->len && (quoted || !at_line_end(c, at)); at++) {
		quoted ^= c->text[at] == '"';
		if (c->text[at] == ',' && !quoted)
			return ',';
		semicolon |= c->text[at] == ';' && !quoted;
		tab |= c->text[at] == '\t' && !quoted;
	}
	return semicolon ? ';' : tab ? '\t' : ',';
}

int csv_next(struct csv *c)
{
	if (c->window && csv_window_ready(c))
		return -1;
	skip_blank_lines(c);
	if (c->at >= c->len)
		return 0;
	if (!c->separator)
		c->separator = find_separator(c);
	size_t begin = c->at;
	c->nfield = 0;
	for (;;) {
		if (read_field(c))
			return -1;
		if (at_line_end(c, c->at))
			break;
		c->at++;                 /* the separator */
	}
	c->row = span(c, begin, c->at);
	c->at += c->at < c->len && c->text[c->at] == '\r';
	c->at += c->at < c->len;
	return 1;
}

/* Without blanks at its ends. */
static struct csv_field trimmed(const struct csv *c, size_t field)
{
	struct csv_field f = c->field[field];

	while (f.begin < f.end && strchr(" \t", c->text[f.begin]) && c->text[f.begin])
		f.begin++;
	while (f.begin < f.end && strchr(" \t", c->text[f.end - 1]) && c->text[f.end - 1])
		f.end--;
	return f;
}

struct span csv_span(const struct csv *c, size_t field)
{
	struct csv_field f = trimmed(c, field);

	return span(c, f.begin, f.end);
}

char *csv_text(const struct csv *c, size_t field)
{
	struct csv_field f = trimmed(c, field);
	struct buf b = BUF_INIT;

	for (uint32_t i = f.begin; i < f.end; i++) {
		buf_char(&b, c->text[i] ? c->text[i] : '?');
		if (f.is_quoted && c->text[i] == '"')
			i++;
	}
	return buf_take(&b);
}

bool csv_number(const struct csv *c, size_t field, double *v)
{
	struct csv_field f = trimmed(c, field);
	const char *p = c->text + f.begin;
	char *end;

	/* strtod knows more spellings; a field holds only these bytes. */
	if (f.begin == f.end || strspn(p, "0123456789+-.eE") < f.end - f.begin)
		return false;
	*v = strtod(p, &end);
	return end == c->text + f.end;
}
