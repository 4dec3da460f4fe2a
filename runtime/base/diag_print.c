/* SPDX-License-Identifier: Apache-2.0
 * Diagnostics as text: for people, one line each, or JSON. */
#include "runtime/base/diag_print.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/visible.h"

/* A line longer than this is shown as a window around its place. */
enum { SHOWN_MAX = 160, SHOWN_BEFORE = 60 };

struct style { const char *error, *warning, *frame, *bold, *off; };

static const struct style plain = { "", "", "", "", "" };
static const struct style colours = {
	"\033[1;31m", "\033[1;33m", "\033[1;34m", "\033[1m", "\033[0m",
};

struct printer {
	const struct diags *d;
	const struct style *s;
	struct buf *out;
	int width;                  /* of line numbers */
};

static const char *severity_name(const struct diag *g)
{
	return g->row->severity == DIAG_ERROR ? "error" : "warning";
}

/* Control characters of a file never reach the terminal; each takes one column, as the marks below a line expect. */
static void add_clean(struct buf *out, const char *s, size_t len, bool keep_tabs)
{
	visible_text(out, s, len, VISIBLE_ONE_COLUMN | (keep_tabs ? VISIBLE_TABS : 0));
}

static void add_text(struct buf *out, const char *s) { add_clean(out, s, strlen(s), false); }

/* Byte offset of the character `column` (1-based) of a line, or its end. */
static size_t byte_of(const char *line, size_t len, uint32_t column)
{
	size_t i = 0;

	while (i < len && column > 1) {
		i++;
		while (i < len && (line[i] & 0xc0) == 0x80)
			i++;
		column--;
	}
	return i;
}

static void blank_frame(struct printer *p)
{
	buf_printf(p->out, "%s%*s |%s\n", p->s->frame, p->width, "", p->s->off);
}

struct window { const char *line; size_t len, begin, end; bool cut_before, cut_behind; };

static struct window window_of(const struct printer *p, uint32_t file, const struct place *at)
{
	struct window w = { 0 };
	uint32_t first = 1;

	w.line = source_line(p->d->sources, file, at->line, &w.len);
	if (byte_of(w.line, w.len, SHOWN_MAX + 1) < w.len && at->column > SHOWN_BEFORE)
		first = at->column - SHOWN_BEFORE;
	w.begin = byte_of(w.line, w.len, first);
	w.end = byte_of(w.line, w.len, first + SHOWN_MAX);
	w.cut_before = w.begin > 0;
	w.cut_behind = w.end < w.len;
	return w;
}

static void source_row(struct printer *p, const struct window *w, uint32_t line)
{
	buf_printf(p->out, "%s%*u |%s ", p->s->frame, p->width, line, p->s->off);
	if (w->cut_before)
		buf_str(p->out, "...");
	add_clean(p->out, w->line + w->begin, w->end - w->begin, true);
	if (w->cut_behind)
		buf_str(p->out, "...");
	buf_char(p->out, '\n');
}

/* Marks from the place's column to its end or the line's, then the label. */
static void marker_row(struct printer *p, const struct window *w, const struct place *at,
	char mark, const char *colour, const char *label)
{
	size_t from = byte_of(w->line, w->len, at->column), to = w->end, n = 0;

	if (at->end_line == at->line)
		to = byte_of(w->line, w->len, at->end_column);
	if (to > w->end)
		to = w->end;
	buf_printf(p->out, "%s%*s |%s ", p->s->frame, p->width, "", p->s->off);
	buf_pad(p->out, ' ', w->cut_before ? 3 : 0);
	for (size_t i = w->begin; i < from; i++)
		if ((w->line[i] & 0xc0) != 0x80)
			buf_char(p->out, w->line[i] == '\t' ? '\t' : ' ');
	for (size_t i = from; i < to; i++)
		n += (w->line[i] & 0xc0) != 0x80;
	buf_str(p->out, colour);
	buf_pad(p->out, mark, n ? n : 1);
	if (*label) {
		buf_char(p->out, ' ');
		add_text(p->out, label);
	}
	buf_str(p->out, p->s->off);
	buf_char(p->out, '\n');
}

static void arrow_row(struct printer *p, const char *arrow, const struct place *at)
{
	buf_printf(p->out, "%s%*s%s%s ", p->s->frame, p->width, "", arrow, p->s->off);
	add_text(p->out, at->name);
	buf_printf(p->out, ":%u:%u\n", at->line, at->column);
	blank_frame(p);
}

static bool same_line(const struct diag *g, const struct place *first, const struct diag_text *t,
	const struct place *second)
{
	return t->at.file == g->at.file && second->line == first->line;
}

/* Places on the first one's line are marked under it, others get their own lines. */
static void seconds(struct printer *p, const struct diag *g, const struct place *first,
	const struct window *w, bool on_line)
{
	for (const struct diag_text *t = g->part[DIAG_SECOND]; t; t = t->next) {
		struct place at = source_place(p->d->sources, t->at);

		if (!t->at.file || same_line(g, first, t, &at) != on_line)
			continue;
		/* Outside a long line's window there is nothing to mark under it. */
		if (on_line && byte_of(w->line, w->len, at.column) >= w->begin
				&& byte_of(w->line, w->len, at.column) <= w->end) {
			marker_row(p, w, &at, '-', p->s->frame, t->text);
			continue;
		}
		struct window own = window_of(p, t->at.file, &at);
		arrow_row(p, ":::", &at);
		source_row(p, &own, at.line);
		marker_row(p, &own, &at, '-', p->s->frame, t->text);
	}
}

static const char *label_of(const struct diag *g)
{
	return g->part[DIAG_LABEL] ? g->part[DIAG_LABEL]->text : "";
}

static void primary(struct printer *p, const struct diag *g, const char *colour)
{
	struct place at = source_place(p->d->sources, g->at);
	struct window w = window_of(p, g->at.file, &at);

	arrow_row(p, "-->", &at);
	source_row(p, &w, at.line);
	marker_row(p, &w, &at, '^', colour, label_of(g));
	seconds(p, g, &at, &w, true);
	seconds(p, g, &at, &w, false);
}

static void footers(struct printer *p, const struct diag_text *t, const char *word)
{
	for (; t; t = t->next) {
		buf_printf(p->out, "%s%*s = %s%s%s:%s ", p->s->frame, p->width, "", p->s->off,
			p->s->bold, word, p->s->off);
		add_text(p->out, t->text);
		buf_char(p->out, '\n');
	}
}

static int digits(uint32_t n) { return snprintf(NULL, 0, "%u", n); }

static int number_width(const struct diags *d, const struct diag *g)
{
	int width = digits(source_place(d->sources, g->at).line), w;

	for (const struct diag_text *t = g->part[DIAG_SECOND]; t; t = t->next) {
		w = digits(source_place(d->sources, t->at).line);
		width = w > width ? w : width;
	}
	return width;
}

static void headline(const struct diag *g, const struct style *s, struct buf *out)
{
	const char *colour = g->row->severity == DIAG_ERROR ? s->error : s->warning;

	buf_printf(out, "%s%s[Q%04u]%s%s: ", colour, severity_name(g), g->row->number, s->off, s->bold);
	add_text(out, g->text);
	buf_printf(out, "%s\n", s->off);
}

static void print_human(const struct diags *d, const struct diag *g, bool colour, struct buf *out)
{
	struct printer p = { d, colour ? &colours : &plain, out, number_width(d, g) };

	headline(g, p.s, out);
	if (g->at.file)
		primary(&p, g, g->row->severity == DIAG_ERROR ? p.s->error : p.s->warning);
	footers(&p, g->part[DIAG_HELP], "help");
	footers(&p, g->part[DIAG_NOTE], "note");
	buf_char(out, '\n');
}

static void print_short(const struct diags *d, const struct diag *g, bool colour, struct buf *out)
{
	struct place at = source_place(d->sources, g->at);

	if (g->at.file) {
		add_text(out, at.name);
		buf_printf(out, ":%u:%u: ", at.line, at.column);
	}
	headline(g, colour ? &colours : &plain, out);
}

static void json_place(const struct diags *d, struct span at, struct buf *out)
{
	struct place p = source_place(d->sources, at);

	buf_str(out, ", \"file\": ");
	buf_json_str(out, at.file ? p.name : NULL);
	if (at.file)
		buf_json(out, ", \"line\": %u, \"column\": %u, \"end_line\": %u, \"end_column\": %u",
			p.line, p.column, p.end_line, p.end_column);
}

static void json_texts(const char *key, const struct diag_text *t, struct buf *out)
{
	buf_json(out, ", %s: [", key);
	for (; t; t = t->next)
		buf_json(out, ", %s", t->text);
	buf_char(out, ']');
}

static void print_json(const struct diags *d, const struct diag *g, bool colour, struct buf *out)
{
	(void)colour;
	buf_json(out, "{\"schema\": 1, \"severity\": %s, \"code\": \"Q%04u\", \"message\": %s",
		severity_name(g), g->row->number, g->text);
	json_place(d, g->at, out);
	buf_json(out, ", \"label\": %s, \"related\": [", label_of(g));
	for (const struct diag_text *t = g->part[DIAG_SECOND]; t; t = t->next) {
		buf_json(out, ", {\"message\": %s", t->text);
		json_place(d, t->at, out);
		buf_char(out, '}');
	}
	buf_char(out, ']');
	json_texts("help", g->part[DIAG_HELP], out);
	json_texts("notes", g->part[DIAG_NOTE], out);
	buf_str(out, "}\n");
}

static void print_dropped(unsigned n, const char *what, enum diag_format f, struct buf *out)
{
	if (n <= DIAG_ERRORS_MAX)
		return;
	if (f == DIAG_JSON)
		buf_printf(out, "{\"schema\": 1, \"severity\": \"note\", \"message\": \"too many %ss: %u more "
			"not shown\"}\n", what, n - DIAG_ERRORS_MAX);
	else
		buf_printf(out, "too many %ss: %u more not shown\n", what, n - DIAG_ERRORS_MAX);
}

void diags_print(const struct diags *d, enum diag_format f, bool colour, struct buf *out)
{
	static void (*const print[])(const struct diags *, const struct diag *, bool, struct buf *) = {
		[DIAG_HUMAN] = print_human, [DIAG_SHORT] = print_short, [DIAG_JSON] = print_json,
	};

	for (size_t i = 0; i < d->n; i++)
		print[f](d, d->v[i], colour, out);
	print_dropped(d->nerror, "error", f, out);
	print_dropped(d->nwarning, "warning", f, out);
}
