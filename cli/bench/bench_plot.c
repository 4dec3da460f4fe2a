/* SPDX-License-Identifier: Apache-2.0
 * Results of qcnn bench as an SVG: one line a circuit, a logarithmic axis of time. */
#include "cli/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	LEFT = 78, TOP = 32, AREA_WIDTH = 480, AREA_HEIGHT = 358, BOTTOM = 58,   /* the area between the axes, and beside it */
	SERIES_MAX = 24, NAME_MAX = 128, LEGEND_STEP = 20, LEGEND_LEFT = 16, LEGEND_TEXT = 34, LETTER = 7, LEGEND_LETTERS_MIN = 26,
	CACHE_LEVELS = 3
};

/* Colours that stay apart for colour-blind readers (Okabe and Ito), and marks for those who print in grey. */
static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000" };
enum { COLOURS = sizeof colours / sizeof *colours, MARKS = 4 };

static const double FEW_DECADES = 2.5;

/* What runs along the x axis: the first of these that varies. */
static const struct axis { const char *label; size_t at; } axes[] = {
	{ "qubits", offsetof(struct bench_result, qubits) }, { "samples in a batch", offsetof(struct bench_result, batch) },
	{ "threads", offsetof(struct bench_result, threads) }, { "layers", offsetof(struct bench_result, layers) },
};
enum { AXES = sizeof axes / sizeof *axes };

struct plot {
	const struct bench_report *r;
	bool per_amplitude;
	unsigned axis;
	bool log_x;
	double x0, x1, y0, y1;       /* of the axes; y in decades */
	bool splits[AXES];           /* results differ in it that are the same circuit at the same x */
	char name[SERIES_MAX][NAME_MAX];
	unsigned nseries, left_out;  /* results of series beyond SERIES_MAX */
	struct buf *out;
};

static uint64_t count_of(const struct bench_result *r, unsigned axis)
{
	return *(const uint64_t *)((const char *)r + axes[axis].at);
}

static double x_of(const struct plot *p, const struct bench_result *r)
{
	double x = (double)count_of(r, p->axis);

	return p->log_x ? log10(x) : x;
}

/* Seconds as the y axis shows them. */
static double y_of(const struct plot *p, const struct bench_result *r, double seconds)
{
	if (p->per_amplitude)
		seconds = 1e9 * seconds / ((double)r->batch * ldexp((double)(r->gates ? r->gates : 1), (int)r->qubits));
	return log10(seconds);
}

static double at_x(const struct plot *p, double x)
{
	return LEFT + (x - p->x0) / (p->x1 - p->x0) * AREA_WIDTH;
}

static double at_y(const struct plot *p, double y)
{
	return TOP + (p->y1 - y) / (p->y1 - p->y0) * AREA_HEIGHT;
}

/* ---- series ---- */

/* 0 is "has none": no other value. */
static bool varies(const struct bench_report *r, unsigned axis)
{
	uint64_t first = 0;

	for (unsigned k = 0; k < r->n; k++) {
		uint64_t v = count_of(&r->result[k], axis);

		if (v && first && v != first)
			return true;
		first = v ? v : first;
	}
	return false;
}

static bool same_point(const struct bench_result *a, const struct bench_result *b, unsigned axis)
{
	return !strcmp(a->circuit, b->circuit) && count_of(a, axis) == count_of(b, axis);
}

/* A batch that depends on the number of qubits alone makes one series, not many. */
static void find_splits(struct plot *p)
{
	for (unsigned i = 0; i < p->r->n; i++)
		for (unsigned j = 0; j < i; j++)
			for (unsigned a = 0; a < AXES && same_point(&p->r->result[i], &p->r->result[j], p->axis); a++)
				p->splits[a] |= count_of(&p->r->result[i], a) != count_of(&p->r->result[j], a);
}

/* The circuit and whatever else differs between results at the same x. */
static void series_name(const struct plot *p, const struct bench_result *r, char name[NAME_MAX])
{
	size_t n = (size_t)snprintf(name, NAME_MAX, "%.60s%s%s%s", path_base(r->circuit),
		!strcmp(r->start, "product") ? ", product" : "", r->gradient ? ", gradient" : "",
		!strcmp(r->precision, "double") ? ", double" : "");

	for (unsigned a = 0; a < AXES && n < NAME_MAX; a++) {
		static const char *const word[AXES] = { "qubit", "sample", "thread", "layer" };
		uint64_t v = count_of(r, a);

		if (a != p->axis && v && p->splits[a])
			n += (size_t)snprintf(name + n, NAME_MAX - n, ", %llu %s%s", (unsigned long long)v, word[a], v == 1 ? "" : "s");
	}
}

static unsigned series_of(const struct plot *p, const struct bench_result *r)
{
	char name[NAME_MAX];
	unsigned k = 0;

	series_name(p, r, name);
	while (k < p->nseries && strcmp(name, p->name[k]))
		k++;
	return k;
}

static void find_series(struct plot *p)
{
	for (unsigned k = 0; k < p->r->n; k++) {
		if (series_of(p, &p->r->result[k]) < p->nseries)
			continue;
		if (p->nseries < SERIES_MAX)
			series_name(p, &p->r->result[k], p->name[p->nseries++]);
		else
			p->left_out++;
	}
}

/* ---- axes ---- */

/* What the plan allows, or where that is not known what the machine does; 0: neither. */
static double least_seconds(const struct bench_result *r)
{
	double s = isfinite(r->floor_seconds) ? r->floor_seconds : r->limit_seconds;

	return isfinite(s) && s > 0 ? s : 0;
}

/* The next 1, 2 or 5 times a power of ten below (-1) or above (1), all as logarithms; itself where it is one. */
static double snap(double y, int way)
{
	static const double step[] = { 0, 0.30102999566398120, 0.69897000433601880, 1 };
	double decade = floor(y + 1e-9);
	unsigned k = 0;

	while (k < 3 && step[k + (way < 0)] <= y - decade + (way < 0 ? 1e-9 : -1e-9))
		k++;
	return decade + step[k];
}

static void find_ranges(struct plot *p)
{
	p->axis = 0;
	for (unsigned a = AXES; a-- > 0; )
		if (varies(p->r, a))
			p->axis = a;
	p->log_x = p->axis == 1;
	p->x0 = p->y0 = INFINITY;
	p->x1 = p->y1 = -INFINITY;
	for (unsigned k = 0; k < p->r->n; k++) {
		const struct bench_result *r = &p->r->result[k];

		p->x0 = fmin(p->x0, x_of(p, r));
		p->x1 = fmax(p->x1, x_of(p, r));
		p->y0 = fmin(p->y0, y_of(p, r, r->min));
		p->y1 = fmax(p->y1, y_of(p, r, r->max));
		if (least_seconds(r) > 0)
			p->y0 = fmin(p->y0, y_of(p, r, least_seconds(r)));
	}
	p->y0 = snap(p->y0, -1);
	p->y1 = snap(p->y1, 1);
	if (p->y1 <= p->y0)
		p->y1 = p->y0 + 1;
	if (p->x1 <= p->x0) {
		p->x0 -= 1;
		p->x1 += 1;
	}
	double margin = 0.03 * (p->x1 - p->x0);
	p->x0 -= margin;
	p->x1 += margin;
}

static void put_text(struct buf *out, double x, double y, const char *anchor, const char *text)
{
	buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	buf_xml_in(out, "", text, "</text>\n");
}

static void put_line(struct buf *out, double x0, double y0, double x1, double y1, const char *style)
{
	buf_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x0, y0, x1, y1, style);
}

/* m times 10 to the power of d with its unit: seconds by thousands, other numbers as they are. */
static void tick_text(const struct plot *p, int m, int d, char text[BENCH_TEXT_MAX])
{
	if (!p->per_amplitude && d >= -9 && d < 0) {
		static const char *const unit[] = { "ns", "us", "ms" };
		int k = (d + 9) / 3;

		snprintf(text, BENCH_TEXT_MAX, "%.0f %s", m * pow(10, d + 9 - 3 * k), k == 1 ? "\xc2\xb5s" : unit[k]);
	} else if (d >= -4 && d <= 5) {
		snprintf(text, BENCH_TEXT_MAX, "%.*f%s", d < 0 ? -d : 0, m * pow(10, d), p->per_amplitude ? "" : " s");
	} else {
		snprintf(text, BENCH_TEXT_MAX, "%de%d%s", m, d, p->per_amplitude ? "" : " s");
	}
}

/* Lines at powers of ten, and at 2 and 5 times where there is room for their numbers. */
static void put_tick(const struct plot *p, int m, int d)
{
	double y = d + log10(m);
	bool large = m == 1 || (p->y1 - p->y0 < FEW_DECADES && (m == 2 || m == 5));
	char text[BENCH_TEXT_MAX];

	if (y < p->y0 - 1e-9 || y > p->y1 + 1e-9)
		return;
	if (!large) {
		put_line(p->out, LEFT, at_y(p, y), LEFT + 4, at_y(p, y), "stroke=\"#888888\"");
		return;
	}
	put_line(p->out, LEFT, at_y(p, y), LEFT + AREA_WIDTH, at_y(p, y), "stroke=\"#cccccc\"");
	tick_text(p, m, d, text);
	put_text(p->out, LEFT - 8, at_y(p, y) + 4, "end", text);
}

static void put_y_axis(const struct plot *p)
{
	for (int d = (int)floor(p->y0); d <= (int)ceil(p->y1); d++)
		for (int m = 1; m < 10; m++)
			put_tick(p, m, d);
	buf_printf(p->out,
		"<text transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
		TOP + AREA_HEIGHT / 2,
		p->per_amplitude ? "time per amplitude and operation (ns)" : "time of one call");
}

static void put_x_axis(const struct plot *p)
{
	double last = -INFINITY;
	char text[BENCH_TEXT_MAX];

	/* The values that were measured, where there is room for their numbers. */
	for (double x = -INFINITY;;) {
		double next = INFINITY;

		for (unsigned k = 0; k < p->r->n; k++) {
			double v = x_of(p, &p->r->result[k]);

			next = v > x && v < next ? v : next;
		}
		if (!isfinite(next))
			break;
		x = next;
		put_line(p->out, at_x(p, x), TOP + AREA_HEIGHT, at_x(p, x), TOP + AREA_HEIGHT + 5, "stroke=\"#444444\"");
		snprintf(text, sizeof text, "%.0f", p->log_x ? pow(10, x) : x);
		if (at_x(p, x) - last > 12 + 7 * (double)strlen(text)) {
			put_text(p->out, at_x(p, x), TOP + AREA_HEIGHT + 20, "middle", text);
			last = at_x(p, x);
		}
	}
	put_text(p->out, LEFT + AREA_WIDTH / 2.0, TOP + AREA_HEIGHT + 42, "middle", axes[p->axis].label);
}

/* ---- lines ---- */

static void put_mark(struct buf *out, unsigned series, double x, double y)
{
	const char *c = colours[series % COLOURS];

	switch (series % MARKS) {
	case 0: buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.6\" fill=\"%s\"/>\n", x, y, c); break;
	case 1: buf_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"6.6\" height=\"6.6\" fill=\"%s\"/>\n", x - 3.3, y - 3.3, c);
		break;
	case 2: buf_printf(out, "<path d=\"M%.1f %.1fl4.4 7.6h-8.8z\" fill=\"%s\"/>\n", x, y - 5, c); break;
	default: buf_printf(out, "<path d=\"M%.1f %.1fl4.8 4.8l-4.8 4.8l-4.8 -4.8z\" fill=\"%s\"/>\n", x, y - 4.8, c); break;
	}
}

/* Numbers of a series' results by x. */
static unsigned sorted(const struct plot *p, unsigned series, const struct bench_result **list)
{
	unsigned n = 0;

	for (unsigned k = 0; k < p->r->n; k++) {
		const struct bench_result *r = &p->r->result[k];
		unsigned at = n;

		if (series_of(p, r) != series)
			continue;
		for (; at > 0 && x_of(p, list[at - 1]) > x_of(p, r); at--)
			list[at] = list[at - 1];
		list[at] = r;
		n++;
	}
	return n;
}

/* A polyline through the medians, or through the machine's limits. */
static void put_path(const struct plot *p, const struct bench_result *const *list, unsigned n, bool limits, unsigned series)
{
	bool open = false;

	buf_str(p->out, "<path fill=\"none\" stroke=\"");
	buf_printf(p->out, "%s\" %s d=\"", colours[series % COLOURS],
		limits ? "stroke-width=\"1.1\" stroke-dasharray=\"2 4\"" : "stroke-width=\"1.8\"");
	for (unsigned k = 0; k < n; k++) {
		double seconds = limits ? least_seconds(list[k]) : list[k]->median;

		if (seconds <= 0)
			continue;
		buf_printf(p->out, "%c%.1f %.1f", open ? 'L' : 'M', at_x(p, x_of(p, list[k])), at_y(p, y_of(p, list[k], seconds)));
		open = true;
	}
	buf_str(p->out, open ? "\"/>\n" : "M0 0\"/>\n");
}

static void put_series(const struct plot *p, unsigned series, const struct bench_result **list)
{
	unsigned n = sorted(p, series, list);
	char style[64];

	put_path(p, list, n, false, series);
	if (p->r->nlimit)
		put_path(p, list, n, true, series);
	snprintf(style, sizeof style, "stroke=\"%s\" stroke-opacity=\"0.6\"", colours[series % COLOURS]);
	for (unsigned k = 0; k < n; k++) {
		double x = at_x(p, x_of(p, list[k]));

		put_line(p->out, x, at_y(p, y_of(p, list[k], list[k]->min)), x, at_y(p, y_of(p, list[k], list[k]->max)), style);
		put_mark(p->out, series, x, at_y(p, y_of(p, list[k], list[k]->median)));
	}
}

/* ---- caches ---- */

#define CACHE_STYLE "stroke=\"#888888\" stroke-dasharray=\"6 4\""

/* A line where the states that are worked on at once begin to be more than a cache holds, or are less again. */
static void put_crossing(const struct plot *p, const struct bench_result *a, const struct bench_result *b, unsigned level)
{
	double bytes = (double)cpus_cache(level, NULL), x = at_x(p, (x_of(p, a) + x_of(p, b)) / 2);
	char text[BENCH_TEXT_MAX];

	if (!(bytes > 0) || (a->unit_bytes > bytes) == (b->unit_bytes > bytes))
		return;
	put_line(p->out, x, TOP, x, TOP + AREA_HEIGHT, CACHE_STYLE);
	snprintf(text, sizeof text, b->unit_bytes > bytes ? "> L%u" : "L%u", level);
	put_text(p->out, x, TOP - 6, "middle", text);
}

/* Of the first series, along an axis of qubits: a state of n qubits has 2^n amplitudes whatever the circuit. */
static void put_caches(const struct plot *p, const struct bench_result **list)
{
	unsigned n = p->axis == 0 && p->nseries ? sorted(p, 0, list) : 0;

	for (unsigned k = 0; k + 1 < n; k++)
		for (unsigned level = 1; level <= CACHE_LEVELS; level++)
			put_crossing(p, list[k], list[k + 1], level);
}

/* ---- the page ---- */

static unsigned legend_rows(const struct plot *p) { return p->nseries + (p->r->nlimit > 0) + (p->axis == 0) + (p->left_out > 0) + 1; }

static unsigned width_of(const struct plot *p)
{
	size_t letters = LEGEND_LETTERS_MIN;

	for (unsigned k = 0; k < p->nseries; k++)
		letters = strlen(p->name[k]) > letters ? strlen(p->name[k]) : letters;
	return LEFT + AREA_WIDTH + LEGEND_LEFT + LEGEND_TEXT + LETTER * (unsigned)letters;
}

static unsigned height_of(const struct plot *p)
{
	unsigned legend = TOP + LEGEND_STEP * legend_rows(p) + LEGEND_STEP, area = TOP + AREA_HEIGHT + BOTTOM;

	return legend > area ? legend : area;
}

static void put_legend(const struct plot *p)
{
	double x = LEFT + AREA_WIDTH + LEGEND_LEFT, y = TOP + 10;

	for (unsigned k = 0; k < p->nseries; k++, y += LEGEND_STEP) {
		char style[64];

		snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"1.8\"", colours[k % COLOURS]);
		put_line(p->out, x, y, x + 26, y, style);
		put_mark(p->out, k, x + 13, y);
		put_text(p->out, x + LEGEND_TEXT, y + 4, "start", p->name[k]);
	}
	if (p->r->nlimit) {
		put_line(p->out, x, y, x + 26, y, "stroke=\"#444444\" stroke-width=\"1.1\" stroke-dasharray=\"2 4\"");
		put_text(p->out, x + LEGEND_TEXT, y + 4, "start", "floor of the plan");
		y += LEGEND_STEP;
	}
	if (p->axis == 0) {
		put_line(p->out, x, y, x + 26, y, CACHE_STYLE);
		put_text(p->out, x + LEGEND_TEXT, y + 4, "start", "states beyond a cache");
		y += LEGEND_STEP;
	}
	if (p->left_out) {
		char text[BENCH_TEXT_MAX];

		snprintf(text, sizeof text, "%u results not drawn", p->left_out);
		put_text(p->out, x, y + 4, "start", text);
		y += LEGEND_STEP;
	}
	put_text(p->out, x, y + 4, "start", "marks: medians; bars: range");
}

void bench_plot(const struct bench_report *r, bool per_amplitude, struct buf *out)
{
	struct plot p = { .r = r, .per_amplitude = per_amplitude, .out = out };
	mem_auto const struct bench_result **list = mem_alloc(r->n + 1, sizeof *list);

	find_ranges(&p);
	find_splits(&p);
	find_series(&p);
	buf_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
		"font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12.5\" fill=\"#222222\">\n"
		"<title>qcnn bench: time against %s</title>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", width_of(&p), height_of(&p), width_of(&p), height_of(&p), axes[p.axis].label);
	put_y_axis(&p);
	put_x_axis(&p);
	buf_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#444444\"/>\n", LEFT, TOP,
		AREA_WIDTH, AREA_HEIGHT);
	put_caches(&p, list);
	for (unsigned k = 0; k < p.nseries; k++)
		put_series(&p, k, list);
	put_legend(&p);
	buf_str(out, "</svg>\n");
}
