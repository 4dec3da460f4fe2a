/* SPDX-License-Identifier: Apache-2.0
 * Plots: scales, axes, and the marks between them. */
#include "runtime/log/svg.h"

#include <math.h>
#include <string.h>

#include "runtime/log/live.h"

enum { TICKS_MAX = 12, TICKS_WANTED = 5, STRIP_MAX = 600, LEGEND_MAX = 12, POINTS_DRAWN_MAX = 4000, BANDS_MAX = 120, DOTS_NAMED_MAX = 500 };
static const double left_room = 52, right_room = 12, top_room = 34, bottom_room = 40, legend_height = 16, char_width = 6.1;

struct scale { double low, high, from, to; bool log; };
struct ticks { unsigned n; double at[TICKS_MAX]; double step; };

/* ---- writing ---- */

static void words(struct buf *out, const char *class, double x, double y, const char *s)
{
	buf_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
	buf_xml_in(out, "", s, "</text>\n");
}

static void open_svg(const struct svg_size *z, const char *title, struct buf *out)
{
	buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"qcnn-plot\" role=\"img\" viewBox=\"0 0 %.0f %.0f\"", z->width,
		z->height);
	if (z->alone)
		buf_printf(out, " width=\"%.0f\" height=\"%.0f\"", z->width, z->height);
	buf_str(out, ">\n");
	if (title)
		buf_xml_in(out, "<title>", title, "</title>\n");
	if (!z->alone)
		return;
	buf_str(out, "<style>\n");
	svg_style(false, out);
	buf_str(out, "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

/* ---- scales ---- */

static double place(const struct scale *s, double v)
{
	double at = s->log ? (log10(v) - log10(s->low)) / (log10(s->high) - log10(s->low)) : (v - s->low) / (s->high - s->low);

	return s->from + at * (s->to - s->from);
}

/* 1, 2 or 5 times a power of ten. */
static double nice_step(double range, unsigned wanted)
{
	double raw = range / wanted, power = pow(10, floor(log10(raw))), lead = raw / power;

	return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

static struct ticks linear_ticks(struct scale *s, bool whole, bool widen)
{
	struct ticks t = { .n = 0 };
	double step = nice_step(s->high - s->low, TICKS_WANTED), first;

	if (whole && step < 1)
		step = 1;
	if (widen) {
		s->low = floor(s->low / step + 1e-9) * step;
		s->high = ceil(s->high / step - 1e-9) * step;
	}
	t.step = step;
	first = ceil(s->low / step - 1e-9) * step;
	while (t.n < TICKS_MAX && first + t.n * step <= s->high + 1e-9 * step) {
		t.at[t.n] = fabs(first + t.n * step) < 1e-9 * step ? 0 : first + t.n * step;
		t.n++;
	}
	return t;
}

/* The largest of lead[] times a power of ten that is at most v, or the smallest that is at least v. */
static double round_log(double v, const double *lead, int n, bool up)
{
	double power = pow(10, floor(log10(v)) - (up ? 0 : 1)), best = 0;

	for (int e = 0; e < 2; e++)
		for (int k = 0; k < n; k++) {
			double at = lead[k] * power * (e ? 10 : 1);

			if (up ? !best && at >= v * 0.999 : at <= v * 1.001)
				best = at;
		}
	return best;
}

/* Powers of ten; with less than two decades 1, 2 and 5 times these. The scale ends at a tick. */
static struct ticks log_ticks(struct scale *s)
{
	static const double lead[] = { 1, 2, 5 };
	bool few = s->high / s->low < 100;
	struct ticks t = { .n = 0 };

	s->low = round_log(s->low, lead, few ? 3 : 1, false);
	s->high = round_log(s->high, lead, few ? 3 : 1, true);
	double low = floor(log10(s->low) + 1e-9);
	double high = ceil(log10(s->high) - 1e-9);
	double by = few ? 1 : fmax(1, ceil((high - low) / (TICKS_MAX - 1)));
	for (double e = low; e <= high; e += by)
		for (int k = 0; k < (few ? 3 : 1) && t.n < TICKS_MAX; k++) {
			double v = lead[k] * pow(10, e);

			if (v >= s->low * 0.999 && v <= s->high * 1.001)
				t.at[t.n++] = v;
		}
	return t;
}

static void widen(struct scale *s, double v)
{
	if (!isfinite(v) || (s->log && v <= 0))
		return;
	s->low = v < s->low ? v : s->low;
	s->high = v > s->high ? v : s->high;
}

/* The range of what can be drawn; something even for nothing or one value. */
static struct scale range_of(const struct svg_plot *p, bool y, bool log)
{
	struct scale s = { INFINITY, -INFINITY, 0, 0, y && log };

	for (unsigned k = 0; k < p->nseries; k++)
		for (size_t i = 0; i < p->series[k].n; i++) {
			const struct svg_series *one = &p->series[k];

			if (!isfinite(one->y[i]))
				continue;
			widen(&s, y ? one->y[i] : one->x[i]);
			if (y && one->low) {
				widen(&s, one->low[i]);
				widen(&s, one->high[i]);
			}
		}
	if (y && !log && p->may_log_y && plot_is_logarithmic(s.low, s.high))
		return range_of(p, y, true);
	if (!(s.low <= s.high))
		s.low = s.log ? 1 : 0, s.high = 1;
	if (s.log && s.high < s.low * 1.5)
		s.low /= 1.5, s.high *= 1.5;
	else if (!(s.high - s.low > 1e-12 * fabs(s.high)))
		s.low -= y ? 0.5 * (fabs(s.low) > 1e-12 ? fabs(s.low) : 1) : 0.5, s.high += y ? 0.5 * (fabs(s.high) > 1e-12 ? fabs(s.high) : 1) : 0.5;
	return s;
}

/* ---- axes ---- */

/* A name under a column, cut to what the column holds. */
static void column_name(const char *name, double x, double y, double width, struct buf *out)
{
	const size_t room = (size_t)(width / 6);
	buf_auto b = BUF_INIT;
	size_t last = 0,
	       len = 0; /* bytes: of all but the last character, of all that there is room for */

	for (size_t n = 0; name[len] && n < room; n++)
		for (last = len++; ((unsigned char)name[len] & 0xc0) == 0x80; len++)
			;
	buf_printf(&b, "%.*s%s", (int)(name[len] ? last : len), name, name[len] ? "\u2026" : "");
	words(out, "p-tick p-middle", x, y, b.data);
}

static void tick_words(double v, double step, struct buf *out)
{
	int digits = step > 0 && step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;

	buf_clear(out);
	int tens = !step && v > 0 && v < 0.999e-3 ? (int)floor(log10(v) + 1e-9) : 0;

	if (tens)
		buf_printf(out, "%.3ge%d", v / pow(10, tens), tens);
	else if (fabs(v) >= 1e5 || (step && step < 1e-4))
		buf_printf(out, "%.3g", v);
	else if (!step)
		buf_printf(out, "%g", v);
	else
		buf_printf(out, "%.*f", digits, v);
}

static void y_axis(const struct scale *x, const struct scale *y, const struct ticks *t, const char *label, struct buf *out)
{
	buf_auto b = BUF_INIT;

	for (unsigned k = 0; k < t->n; k++) {
		double at = place(y, t->at[k]);

		buf_printf(out, "<line class=\"p-grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", x->from, x->to, at, at);
		tick_words(t->at[k], t->step, &b);
		words(out, "p-tick p-end", x->from - 6, at + 3.5, b.data);
	}
	if (label && *label)
		buf_printf(out, "<text class=\"p-label p-middle\" transform=\"translate(11 %.1f) rotate(-90)\">", (y->from + y->to) / 2);
	if (label && *label)
		buf_xml_in(out, "", label, "</text>\n");
}

static void x_axis(const struct scale *x, const struct scale *y, const struct ticks *t, const char *const *name, const char *label,
	struct buf *out)
{
	buf_auto b = BUF_INIT;

	buf_printf(out, "<line class=\"p-axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", x->from, x->to, y->from, y->from);
	for (unsigned k = 0; k < t->n; k++) {
		double at = place(x, t->at[k]);

		buf_printf(out, "<line class=\"p-axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", at, at, y->from, y->from + 4);
		tick_words(t->at[k], t->step, &b);
		/* The last one may not fit below its stroke. */
		bool wide = at + char_width / 2 * (double)b.len > x->to + right_room;
		if (name)
			column_name(name[k], at, y->from + 16, (x->to - x->from) / t->n, out);
		else
			words(out, wide ? "p-tick p-end" : "p-tick p-middle",
				wide ? x->to + right_room : at, y->from + 16, b.data);
	}
	if (label)
		words(out, "p-label p-middle", (x->from + x->to) / 2, y->from + 33, label);
}

/* Names behind short strokes, below the title; as many rows as needed. Returns the height. */
struct key { const char *name; unsigned colour; bool dashed, point, mark; };

static double legend(const struct key *key, unsigned n, double x0, double x1, double y, struct buf *out)
{
	double x = x0, top = y;

	if (n < 2)
		return 0;
	for (unsigned k = 0; k < n && k < LEGEND_MAX; k++) {
		double w = (key[k].point ? 14 : 24) + strlen(key[k].name) * char_width + 10;

		if (x > x0 && x + w > x1) {
			x = x0;
			y += legend_height;
		}
		if (key[k].point)
			buf_printf(out, "<circle class=\"p-dot p-c%u\" r=\"4\" cx=\"%.1f\" cy=\"%.1f\"/>\n", key[k].colour, x + 4, y - 4);
		else if (key[k].mark)
			buf_printf(out, "<line class=\"p-mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", x, x + 16, y - 4, y - 4);
		else
			buf_printf(out, "<line class=\"p-line p-c%u%s p-key\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", key[k].colour,
				key[k].dashed ? " p-dashed" : "", x, x + 16, y - 4, y - 4);
		words(out, "p-tick", x + (key[k].point ? 12 : 21), y, key[k].name);
		x += w;
	}
	return y - top + legend_height;
}

/* ---- curves ---- */

static void curve(const struct svg_series *s, const struct scale *x, const struct scale *y, struct buf *out)
{
	size_t by = s->n > POINTS_DRAWN_MAX ? s->n / POINTS_DRAWN_MAX + 1 : 1;
	bool pen = false;

	buf_printf(out, "<path class=\"p-line p-c%u%s\" d=\"", s->colour, s->dashed ? " p-dashed" : "");
	for (size_t i = 0; i < s->n; i += by) {
		bool well = isfinite(s->x[i]) && isfinite(s->y[i]) && !(y->log && s->y[i] <= 0);

		if (well)
			buf_printf(out, "%c%.1f %.1f", pen ? 'L' : 'M', place(x, s->x[i]), place(y, s->y[i]));
		pen = well;
	}
	buf_str(out, "\"/>\n");
	if (s->n == 1 && isfinite(s->y[0]))
		buf_printf(out, "<circle class=\"p-dot p-c%u\" r=\"3\" cx=\"%.1f\" cy=\"%.1f\"/>\n", s->colour, place(x, s->x[0]), place(y, s->y[0]));
}

/* On a logarithmic axis it ends at the axis where it is not positive. */
static double place_inside(const struct scale *y, double v)
{
	return place(y, v < y->low ? y->low : v);
}

/* Around the line, there and back. */
static void area(const struct svg_series *s, const struct scale *x, const struct scale *y,
	struct buf *out)
{
	size_t by = s->n > POINTS_DRAWN_MAX ? s->n / POINTS_DRAWN_MAX + 1 : 1,
	       last = s->n ? (s->n - 1) / by * by : 0;

	buf_printf(out, "<path class=\"p-bar p-c%u\" fill-opacity=\".15\" d=\"M", s->colour);
	for (size_t i = 0; i < s->n; i += by)
		buf_printf(out, "%s%.1f %.1f", i ? "L" : "", place(x, s->x[i]),
			place_inside(y, s->high[i]));
	for (size_t i = last + by; i >= by; i -= by)
		buf_printf(out, "L%.1f %.1f", place(x, s->x[i - by]), place_inside(y, s->low[i - by]));
	buf_str(out, "Z\"/>\n");
}

static unsigned nearest_tick(const struct svg_plot *p, double x)
{
	unsigned nearest = 0;

	for (unsigned k = 1; p->x_tick && k < p->nx_tick; k++)
		if (fabs(p->x_tick[k] - x) < fabs(p->x_tick[nearest] - x))
			nearest = k;
	return nearest;
}

/* "label calm, output 0.41 (validation)". */
static void dot_words(const struct svg_plot *p, const struct svg_series *s, size_t i, struct buf *out)
{
	unsigned nearest = nearest_tick(p, s->x[i]);

	buf_printf(out, "<title>%s ", p->x_label);
	if (p->x_tick && p->x_name)
		buf_xml_str(out, p->x_name[nearest]);
	else
		buf_printf(out, "%.4g", p->x_tick ? p->x_tick[nearest] : s->x[i]);
	buf_printf(out, ", %s %.4g (", p->y_label ? p->y_label : "value", s->y[i]);
	buf_xml_in(out, "", s->name, ")</title>");
}

static void dots(const struct svg_plot *p, const struct svg_series *s, const struct scale *x, const struct scale *y, struct buf *out)
{
	size_t by = s->n > POINTS_DRAWN_MAX ? s->n / POINTS_DRAWN_MAX + 1 : 1;

	buf_printf(out, "<g class=\"p-dot p-c%u\">\n", s->colour);
	for (size_t i = 0; i < s->n; i += by) {
		if (!isfinite(s->x[i]) || !isfinite(s->y[i]))
			continue;
		buf_printf(out, "<circle r=\"%.1f\" cx=\"%.1f\" cy=\"%.1f\"", s->n > 100 ? 2.4 : 3.2, place(x, s->x[i]), place(y, s->y[i]));
		if (p->hover && s->n <= DOTS_NAMED_MAX) {
			buf_char(out, '>');
			dot_words(p, s, i, out);
			buf_str(out, "</circle>\n");
		} else {
			buf_str(out, "/>\n");
		}
	}
	buf_str(out, "</g>\n");
}

/* ---- tooltips of curves ---- */

/* The point of a series at x, whose index is likely i; n: it has none. */
static size_t point_at(const struct svg_series *s, size_t i, double x)
{
	if (i < s->n && s->x[i] == x)
		return i;
	for (i = 0; i < s->n && s->x[i] != x;)
		i++;
	return i;
}

/* "0.41", of a band "0.41 ± 0.02". */
static void value_words(const struct svg_series *s, size_t i, struct buf *out)
{
	buf_printf(out, "%.5g", s->y[i]);
	if (s->high && s->high[i] > s->y[i])
		buf_printf(out, " \u00b1 %.2g", s->high[i] - s->y[i]);
}

static bool is_named_curve(const struct svg_series *s)
{
	return !s->points && s->colour != SVG_FAINT;
}

/* The longest curve: its points are where the tooltips are. */
static const struct svg_series *longest(const struct svg_plot *p)
{
	const struct svg_series *best = NULL;

	for (unsigned k = 0; k < p->nseries; k++)
		if (is_named_curve(&p->series[k]) && (!best || p->series[k].n > best->n))
			best = &p->series[k];
	return best;
}

static void band_words(const struct svg_plot *p, size_t i, double x, struct buf *out)
{
	buf_printf(out, "<title>%s ", p->x_label ? p->x_label : "");
	if (p->x_tick && p->x_name)
		buf_xml_str(out, p->x_name[nearest_tick(p, x)]);
	else
		buf_printf(out, "%.6g", x);
	for (unsigned k = 0; k < p->nseries; k++) {
		const struct svg_series *s = &p->series[k];
		size_t at = point_at(s, i, x);

		if (!is_named_curve(s) || at == s->n || !isfinite(s->y[at]))
			continue;
		buf_str(out,
			!s->name && k ? ", dashed "
				      : "&#10;"); /* beside the one that has their name in the legend */
		if (s->name)
			buf_xml_in(out, "", s->name, " ");
		value_words(s, at, out);
	}
	buf_str(out, "</title>");
}

/* A band from top to bottom around each of at most BANDS_MAX points, seen when the pointer is on it. */
static void bands(const struct svg_plot *p, const struct scale *x, const struct scale *y, struct buf *out)
{
	const struct svg_series *s = longest(p);
	size_t by = s ? s->n / BANDS_MAX + 1 : 1;

	for (size_t i = 0; s && i < s->n; i += by) {
		double at = place(x, s->x[i]), left = i ? (at + place(x, s->x[i - by])) / 2 : x->from;
		double right = i + by < s->n ? (at + place(x, s->x[i + by])) / 2 : x->to;

		buf_printf(out, "<rect class=\"p-band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">", left, y->to, right - left,
			y->from - y->to);
		band_words(p, i, s->x[i], out);
		buf_str(out, "</rect>\n");
	}
}

static double plot_legend(const struct svg_plot *p, double x0, double x1, double y, struct buf *out)
{
	struct key key[LEGEND_MAX];
	unsigned n = 0;

	for (unsigned k = 0; k < p->nseries && n < LEGEND_MAX; k++)
		if (p->series[k].name)
			key[n++] = (struct key){ p->series[k].name, p->series[k].colour, p->series[k].dashed, p->series[k].points, false };
	if (p->mark && n < LEGEND_MAX)
		key[n++] = (struct key){ .name = p->mark, .mark = true };
	return legend(key, n, x0, x1, y, out);
}

void svg_plot(const struct svg_plot *p, const struct svg_size *z, struct buf *out)
{
	struct scale x = range_of(p, false, false), y = range_of(p, true, p->log_y);

	open_svg(z, p->title, out);
	x.from = left_room;
	x.to = z->width - right_room;
	if (p->title)
		words(out, "p-title", x.from, 16, p->title);
	double used = plot_legend(p, x.from, x.to, top_room, out);
	y.to = p->title || used ? top_room + used - (used ? legend_height / 2 : 10) : 10;
	y.from = z->height - bottom_room;
	struct ticks ty = y.log ? log_ticks(&y) : linear_ticks(&y, false, true);
	for (unsigned k = 0; p->whole_x && k < p->nseries; k++)
		if (p->series[k].points) {       /* whole dots, away from the edges */
			x.low -= 0.5, x.high += 0.5;
			break;
		}
	struct ticks tx = linear_ticks(&x, p->whole_x, false);
	if (p->x_tick) {
		double pad = 0.5;

		tx = (struct ticks){ .n = p->nx_tick < TICKS_MAX ? p->nx_tick : TICKS_MAX };
		memcpy(tx.at, p->x_tick, tx.n * sizeof *tx.at);
		if (tx.n > 1)
			pad = 0.5 * (tx.at[tx.n - 1] - tx.at[0]) / (tx.n - 1);
		x.low = (x.low < tx.at[0] ? x.low : tx.at[0]) - pad;
		x.high = (x.high > tx.at[tx.n - 1] ? x.high : tx.at[tx.n - 1]) + pad;
	}
	y_axis(&x, &y, &ty, p->y_label ? p->y_label : y.log ? "log scale" : NULL, out);
	x_axis(&x, &y, &tx, p->x_tick ? p->x_name : NULL, p->x_label, out);
	for (unsigned k = 0; k < p->nseries; k++)
		if (p->series[k].low)
			area(&p->series[k], &x, &y, out);
	for (unsigned k = 0; k < p->nseries; k++)
		p->series[k].points ? dots(p, &p->series[k], &x, &y, out) : curve(&p->series[k], &x, &y, out);
	if (p->mark && isfinite(p->mark_x))
		buf_printf(out, "<line class=\"p-mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", place(&x, p->mark_x),
			place(&x, p->mark_x), y.from, y.to);
	if (p->hover)
		bands(p, &x, &y, out);
	buf_str(out, "</svg>\n");
}

/* ---- histograms ---- */

static void bar(const struct svg_bars *b, unsigned series, unsigned bin, double x, double y, double width, double height, struct buf *out)
{
	double step = (b->high - b->low) / b->nbin, v = b->count[(size_t)series * b->nbin + bin];

	buf_printf(out, "<rect class=\"p-bar p-c%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>", series % SVG_COLOURS, x, y,
		width, height);
	if (b->name)
		buf_xml_str(out, b->name[series]);
	buf_printf(out, "%s%s %.3g to %.3g, %s %.0f</title></rect>\n", b->name ? ", " : "", b->x_label, b->low + bin * step,
		b->low + (bin + 1) * step, b->y_label, v);
}

void svg_bars(const struct svg_bars *b, const struct svg_size *z, struct buf *out)
{
	struct scale x = { b->low, b->high, left_room, z->width - right_room, false },
		     y = { 0, 1, 0, 0, false };
	struct key key[SVG_COLOURS];
	unsigned nkey = 0;

	for (size_t i = 0; i < (size_t)b->nseries * b->nbin; i++)
		y.high = b->count[i] > y.high ? b->count[i] : y.high;
	for (; b->name && nkey < b->nseries && nkey < SVG_COLOURS; nkey++)
		key[nkey] = (struct key){ .name = b->name[nkey], .colour = nkey };
	open_svg(z, b->title, out);
	if (b->title)
		words(out, "p-title", x.from, 16, b->title);
	double used = legend(key, nkey, x.from, x.to, top_room, out);
	y.to = top_room + used - (used ? legend_height / 2 : 10);
	y.from = z->height - bottom_room;
	struct ticks ty = linear_ticks(&y, true, true);
	struct ticks tx = linear_ticks(&x, false, false);
	y_axis(&x, &y, &ty, b->y_label, out);
	double slot = (x.to - x.from) / b->nbin;
	for (unsigned k = 0; k < b->nseries; k++)
		for (unsigned i = 0; i < b->nbin; i++) {
			double v = b->count[(size_t)k * b->nbin + i], at = place(&y, v), w = (slot - 2) / b->nseries;

			if (v > 0)
				bar(b, k, i, x.from + i * slot + 1 + k * w, at, w > 0.5 ? w : 0.5, y.from - at, out);
		}
	x_axis(&x, &y, &tx, NULL, b->x_label, out);
	buf_str(out, "</svg>\n");
}

/* ---- matrices ---- */

static double row_sum(const struct svg_matrix *m, unsigned row)
{
	double sum = 0;

	for (unsigned k = 0; k < m->n; k++)
		sum += m->count[row * m->n + k];
	return sum;
}

/* Each cell as dark as its share of its row. */
static void cell(const struct svg_matrix *m, unsigned row, unsigned column, double x, double y, double side, struct buf *out)
{
	double v = m->count[row * m->n + column], sum = row_sum(m, row), share = sum > 0 ? v / sum : 0;
	buf_auto b = BUF_INIT;

	buf_printf(out, "<g><title>%s ", m->row_label);
	buf_xml_str(out, m->name[row]);
	buf_printf(out, ", %s ", m->column_label);
	buf_xml_str(out, m->name[column]);
	buf_printf(out, ": %.0f of %.0f (%.3g %%)</title>\n", v, sum, 100 * share);
	buf_printf(out, "<rect class=\"p-cell\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", x, y, side, side);
	buf_printf(out, "<rect class=\"p-bar p-c%d\" fill-opacity=\"%.2f\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
		row == column ? 0 : 1, 0.6 * share, x + 1, y + 1, side - 2, side - 2);
	buf_printf(&b, "%.0f", v);
	words(out, strlen(b.data) * 8.4 > side - 5 ? "p-share p-middle" : "p-count p-middle", x + side / 2, y + side / 2 + (side > 44 ? 1 : 4), b.data);
	if (side > 44 && sum > 0) {
		buf_clear(&b);
		buf_printf(&b, "%.0f %%", 100 * share);
		words(out, "p-share p-middle", x + side / 2, y + side / 2 + 16, b.data);
	}
	buf_str(out, "</g>\n");
}

void svg_matrix(const struct svg_matrix *m, const struct svg_size *z, struct buf *out)
{
	double room = z->height - top_room - bottom_room - 14 < z->width - 90 ? z->height - top_room - bottom_room - 14 : z->width - 90;
	double side = room / m->n, x0 = (z->width - room) / 2 + 18, y0 = top_room + 2, beside = 40;

	open_svg(z, m->title, out);
	if (m->title)
		words(out, "p-title", left_room, 16, m->title);
	for (unsigned i = 0; i < m->n; i++) {
		words(out, "p-tick p-end", x0 - 7, y0 + (i + 0.5) * side + 4, m->name[i]);
		column_name(m->name[i], x0 + (i + 0.5) * side, y0 + room + 16, side, out);
		beside = 22 + 6.0 * strlen(m->name[i]) > beside ? 22 + 6.0 * strlen(m->name[i]) : beside;
		for (unsigned k = 0; k < m->n; k++)
			cell(m, i, k, x0 + k * side, y0 + i * side, side, out);
	}
	words(out, "p-label p-middle", x0 + room / 2, y0 + room + 34, m->column_label);
	buf_printf(out, "<text class=\"p-label p-middle\" transform=\"translate(%.1f %.1f) rotate(-90)\">", x0 - beside, y0 + room / 2);
	buf_xml_in(out, "", m->row_label, "</text>\n</svg>\n");
}

/* ---- strips ---- */

void svg_strip(const double *value, size_t n, double low, double high, const struct svg_size *z, struct buf *out)
{
	struct scale s = { low, high > low ? high : low + 1, 3, z->width - 3, false };
	size_t by = n > STRIP_MAX ? n / STRIP_MAX + 1 : 1;

	open_svg(z, NULL, out);
	buf_printf(out, "<line class=\"p-axis\" x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", z->width, z->height - 2, z->height - 2);
	if (low < 0 && high > 0)
		buf_printf(out, "<line class=\"p-grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%.0f\"/>\n", place(&s, 0), place(&s, 0), z->height);
	buf_str(out, "<path class=\"p-tickmark p-c0\" d=\"");
	for (size_t i = 0; i < n; i += by)
		if (isfinite(value[i]))
			buf_printf(out, "M%.1f 3V%.1f", place(&s, value[i]), z->height - 3);
	buf_str(out, "\"/>\n</svg>\n");
}

/* ---- colours ---- */

void svg_style(bool dark, struct buf *out)
{
	/* Okabe and Ito's, told apart with any kind of colour vision; lighter on dark ground. */
	static const char *const colour[2][SVG_COLOURS + 1] = {
		{ "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#555555", "#7b5ea7", "#b9bfc6" },
		{ "#5ab4f0", "#ff9a4d", "#3fcf9f", "#f0a3cb", "#f2c14e", "#9adcff", "#c4c9cf", "#bda2ea", "#4d555e" },
	};
	const char *ink = dark ? "#e6e6e6" : "#1a1a1a", *soft = dark ? "#a3abb5" : "#5b6470", *grid = dark ? "#2e343b" : "#e3e6ea",
		*ground = dark ? "#1b1f24" : "#f6f7f9";

	buf_printf(out, ".qcnn-plot text{font-family:Helvetica,Arial,\"Liberation Sans\",sans-serif;fill:%s}\n"
		".qcnn-plot .p-title{font-size:13px;font-weight:bold}\n.qcnn-plot .p-label{font-size:11.5px;fill:%s}\n"
		".qcnn-plot .p-tick{font-size:11px;fill:%s}\n.qcnn-plot .p-count{font-size:15px}\n.qcnn-plot .p-share{font-size:11px}\n"
		".qcnn-plot .p-middle{text-anchor:middle}\n.qcnn-plot .p-end{text-anchor:end}\n"
		".qcnn-plot .p-grid{stroke:%s;stroke-width:1}\n.qcnn-plot .p-axis{stroke:%s;stroke-width:1}\n"
		".qcnn-plot .p-line{fill:none;stroke-width:1.6;stroke-linejoin:round}\n.qcnn-plot .p-key{stroke-width:3}\n"
		".qcnn-plot .p-line.p-c%d{stroke-width:.9}\n"
		".qcnn-plot .p-mark{stroke:%s;stroke-width:1.2;stroke-dasharray:2 3}\n.qcnn-plot .p-band{fill:%s;fill-opacity:0}\n"
		".qcnn-plot .p-band:hover{fill-opacity:.1}\n"
		".qcnn-plot .p-dashed{stroke-dasharray:5 3}\n.qcnn-plot .p-tickmark{stroke-width:1.2;stroke-opacity:.8}\n"
		".qcnn-plot .p-dot{fill-opacity:.7}\n.qcnn-plot .p-cell{fill:%s;stroke:%s;stroke-width:1}\n", ink, soft, soft, grid, soft,
		SVG_FAINT, soft, ink, ground, grid);
	for (unsigned k = 0; k <= SVG_COLOURS; k++)
		buf_printf(out, ".qcnn-plot .p-line.p-c%u,.qcnn-plot .p-tickmark.p-c%u{stroke:%s}\n"
			".qcnn-plot .p-dot.p-c%u,.qcnn-plot .p-bar.p-c%u{fill:%s}\n", k, k, colour[dark][k], k, k, colour[dark][k]);
}
