/* SPDX-License-Identifier: Apache-2.0
 * A grid of dots, two by four to a character of braille. */
#include "runtime/log/live.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

enum { LABEL = 10, MARGIN = LABEL + 2, COLUMNS_MOST = 120 };
enum { MARK_EVERY = 3 };             /* columns between the marks of validation */

/* ---- what was seen ---- */

void live_clear(struct live *l)
{
	l->n = 0;
	l->every = 1;
	l->skipped = 0;
}

void live_release(struct live *l)
{
	free(l->training);
	free(l->validation);
	memset(l, 0, sizeof *l);
}

static void thin_out(struct live *l)
{
	for (size_t i = 0; i < l->n / 2; i++) {
		l->training[i] = l->training[2 * i + 1];
		l->validation[i] = l->validation[2 * i + 1];
	}
	l->n /= 2;
	l->every *= 2;
}

void live_add(struct live *l, uint32_t epoch, double training, double validation)
{
	if (!l->training) {
		l->training = mem_alloc(LIVE_POINTS_MAX, sizeof *l->training);
		l->validation = mem_alloc(LIVE_POINTS_MAX, sizeof *l->validation);
	}
	if (!l->n && !l->skipped) {
		l->every = 1;
		l->first = epoch;
	}
	l->last = epoch;
	if (++l->skipped < l->every)
		return;
	l->skipped = 0;
	if (l->n == LIVE_POINTS_MAX)
		thin_out(l);
	l->training[l->n] = training;
	l->validation[l->n++] = validation;
}

/* ---- the scale ---- */

struct scale { double low, high; bool logarithmic; };

static double scaled(const struct scale *s, double v) { return s->logarithmic ? log(v) : v; }

static void widen(struct scale *s, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i])) {
			s->low = fmin(s->low, v[i]);
			s->high = fmax(s->high, v[i]);
		}
}

static struct scale scale_of(const struct live *l)
{
	struct scale s = { INFINITY, -INFINITY, false };

	widen(&s, l->training, l->n);
	widen(&s, l->validation, l->n);
	if (s.low > s.high)
		s.low = s.high = 0;
	s.logarithmic = plot_is_logarithmic(s.low, s.high);
	if (s.low == s.high) {
		double around = s.low != 0 ? fabs(s.low) * 0.1 : 1;

		s.low -= around;
		s.high += around;
	}
	return s;
}

bool plot_is_logarithmic(double low, double high) { return low > 0 && high >= 10 * low; }

/* ---- dots ---- */

/* wide x tall dots of training, in characters of across x down dots; mark: where validation has one, a character each. */
struct grid { unsigned wide, tall, across, down; uint8_t *dot, *mark; };

static unsigned row_of(const struct scale *s, double v, unsigned rows)
{
	double low = scaled(s, s->low), share = (scaled(s, v) - low) / (scaled(s, s->high) - low);

	return (unsigned)lround((1 - fmin(fmax(share, 0), 1)) * (rows - 1));
}

/* From one point, a column and a row, to the next. */
static void segment(struct grid *g, const unsigned from[2], const unsigned to[2])
{
	unsigned across = to[0] - from[0];
	unsigned down = from[1] > to[1] ? from[1] - to[1] : to[1] - from[1], steps = across > down ? across : down;

	for (unsigned k = 0; k <= steps; k++) {
		double t = steps ? (double)k / steps : 0;
		unsigned x = from[0] + (unsigned)lround(t * across);
		unsigned y = (unsigned)lround(from[1] + t * ((double)to[1] - from[1]));

		g->dot[y * g->wide + x] = 1;
	}
}

static void curve(struct grid *g, const struct scale *s, const double *v, size_t n)
{
	unsigned before[2] = { 0, 0 };
	bool begun = false;

	for (size_t i = 0; i < n; i++) {
		unsigned at[2] = { (unsigned)(i * (g->wide - 1) / (n - 1)), 0 };

		if (!isfinite(v[i]))
			continue;
		at[1] = row_of(s, v[i], g->tall);
		segment(g, begun ? before : at, at);
		memcpy(before, at, sizeof at);
		begun = true;
	}
}

/* The value at a share of the way along the points, between the finite ones around it; NaN: beyond these. */
static double value_at(const struct scale *s, const double *v, size_t n, double share)
{
	double at = share * (double)(n - 1), t;
	size_t before = (size_t)at, after = (size_t)ceil(at);

	while (before > 0 && !isfinite(v[before]))
		before--;
	while (after + 1 < n && !isfinite(v[after]))
		after++;
	if (!isfinite(v[before]) || !isfinite(v[after]))
		return NAN;
	t = after > before ? (at - (double)before) / (double)(after - before) : 0;
	return s->logarithmic ? exp((1 - t) * log(v[before]) + t * log(v[after])) : (1 - t) * v[before] + t * v[after];
}

static void marks(struct grid *g, const struct scale *s, const double *v, size_t n)
{
	unsigned columns = g->wide / g->across, rows = g->tall / g->down;

	for (unsigned k = 0; k < columns; k += MARK_EVERY) {
		double y = value_at(s, v, n, columns > 1 ? (double)k / (columns - 1) : 0);

		if (isfinite(y))
			g->mark[row_of(s, y, rows) * columns + k] = 1;
	}
}

/* ---- characters ---- */

/* Braille: dots 1 2 3 7 on the left from above, 4 5 6 8 on the right. */
static void add_braille(const struct grid *g, unsigned column, unsigned row, struct buf *out)
{
	static const uint8_t bit[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
	unsigned code = 0x2800;

	for (unsigned y = 0; y < 4; y++)
		for (unsigned x = 0; x < 2; x++)
			if (g->dot[(4 * row + y) * g->wide + 2 * column + x])
				code |= bit[y][x];
	buf_char(out, (int)(0xe0 | code >> 12));
	buf_char(out, (int)(0x80 | (code >> 6 & 0x3f)));
	buf_char(out, (int)(0x80 | (code & 0x3f)));
}

static bool has_dot(const struct grid *g, unsigned column, unsigned row)
{
	for (unsigned y = 0; y < g->down; y++)
		for (unsigned x = 0; x < g->across; x++)
			if (g->dot[(g->down * row + y) * g->wide + g->across * column + x])
				return true;
	return false;
}

/* A mark stands above the curve of training: without colours it is another character. */
static void add_row(const struct grid *g, unsigned row, bool utf8, bool colour, struct buf *out)
{
	unsigned columns = g->wide / g->across;

	for (unsigned k = 0; k < columns; k++) {
		bool mark = g->mark[row * columns + k];

		if (!mark && !has_dot(g, k, row)) {
			buf_char(out, ' ');
			continue;
		}
		buf_str(out, !colour ? "" : mark ? "\033[33m" : "\033[32m");
		if (utf8 && !mark)
			add_braille(g, k, row, out);
		else
			buf_char(out, mark ? 'o' : '*');
		buf_str(out, colour ? "\033[0m" : "");
	}
}

static void add_label(struct buf *out, double v, bool there, bool utf8)
{
	if (there)
		buf_printf(out, fabs(v) >= 1e-3 && fabs(v) < 1e5 ? "%*.4f" : "%*.2e", LABEL, v);
	else
		buf_pad(out, ' ', LABEL);
	buf_str(out, utf8 ? " │" : " |");
}

/* "loss  ** training  o validation, log": what has no room in `columns` is left out, the scale first, then
 * validation; then the name of the metric is cut. */
static void add_legend(const struct scale *s, const char *metric, unsigned columns, bool validation, bool utf8, bool colour, struct buf *out)
{
	enum { TRAINING = sizeof "  ** training" - 1, VALIDATION = sizeof "  o validation" - 1, LOG = sizeof ", log" - 1 };
	const unsigned room = columns - 1 - TRAINING;
	unsigned name = (unsigned)strlen(metric), used;

	name = name < room ? name : room;
	used = name + TRAINING;
	validation = validation && used + VALIDATION < columns;
	used += validation ? VALIDATION : 0;
	bool logarithmic = s->logarithmic && used + LOG < columns;
	used += logarithmic ? LOG : 0;
	buf_pad(out, ' ', name < LABEL && used + LABEL - name < columns ? LABEL - name : 0);
	buf_add(out, metric, name);
	buf_printf(out, "  %s%s%s training", colour ? "\033[32m" : "", utf8 ? "⠤⠤" : "**", colour ? "\033[0m" : "");
	if (validation)
		buf_printf(out, "  %so%s validation", colour ? "\033[33m" : "", colour ? "\033[0m" : "");
	buf_str(out, logarithmic ? ", log\n" : "\n");
}

static void add_epochs(const struct live *l, unsigned columns, struct buf *out)
{
	int first = snprintf(NULL, 0, "epoch %u", l->first), last = snprintf(NULL, 0, "%u", l->last);

	buf_pad(out, ' ', MARGIN);
	buf_printf(out, "epoch %u", l->first);
	buf_pad(out, ' ', (int)columns > first + last ? (size_t)((int)columns - first - last) : 1);
	buf_printf(out, "%u\n", l->last);
}

void live_draw(const struct live *l, const char *metric, unsigned rows, unsigned columns, bool utf8, bool colour, struct buf *out)
{
	bool validation = false;
	const unsigned given = columns;

	columns = columns < COLUMNS_MOST ? columns : COLUMNS_MOST;
	if (l->n < 2 || rows < LIVE_ROWS_LEAST || columns < LIVE_COLUMNS_LEAST)
		return;
	struct scale s = scale_of(l);
	columns -= MARGIN + 1;
	rows -= 2;
	struct grid g = { .across = utf8 ? 2 : 1, .down = utf8 ? 4 : 1 };
	g.wide = g.across * columns;
	g.tall = g.down * rows;
	g.dot = mem_alloc((size_t)g.wide * g.tall, 1);
	g.mark = mem_alloc((size_t)columns * rows, 1);
	for (size_t i = 0; i < l->n; i++)
		validation = validation || isfinite(l->validation[i]);
	marks(&g, &s, l->validation, l->n);
	curve(&g, &s, l->training, l->n);
	add_legend(&s, metric, given, validation, utf8, colour, out);
	for (unsigned k = 0; k < rows; k++) {
		add_label(out, k ? s.low : s.high, !k || k + 1 == rows, utf8);
		add_row(&g, k, utf8, colour, out);
		buf_char(out, '\n');
	}
	add_epochs(l, columns, out);
	free(g.dot);
	free(g.mark);
}

bool live_utf8(void)
{
	static const char *const name[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
		const char *v = getenv(name[k]);

		if (v && *v)
			return strstr(v, "UTF-8") || strstr(v, "utf8") || strstr(v, "utf-8") || strstr(v, "UTF8");
	}
	return false;
}
