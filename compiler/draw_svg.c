/* SPDX-License-Identifier: Apache-2.0
 * Circuits as SVG, fit for a paper: thin lines, typeset names, layers on pale grounds.
 *
 * Sizes are in px at 96 to the inch; text is set in a sans serif whose widths are taken
 * from Helvetica's metrics, with some room for other faces. */
#include "config.h"
#include "compiler/draw_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* px */
static const double pitch = 44, box_height = 32, box_least = 32, box_room = 8, gap = 9, frame_room = 9, margin = 12,
	name_size = 14, small_size = 10, title_size = 11.5, operand_room = 11, title_height = 15, line_height = 18,
	dot_radius = 4, plus_radius = 9.5, cross_half = 6, note_width = 900;

enum { TINTS = 4, EMBED_TINT = 4 };

struct svg_drawing {
	const struct scene *s;
	const struct draw_options *o;
	struct buf *out;
	double *width, *left, *right;        /* (ncolumn) */
	double *start;                       /* (ncolumn + 1) where columns of this band begin, and its end */
	double name_width, end_width;
	uint32_t from, to;                   /* columns of this band */
	uint32_t first, last;                /* its rows: those that go on, and what is between */
	double top, x0;                      /* of the first wire, of the first column */
};

/* ---- text ---- */

/* Advance widths of Helvetica, 1/1000 em, from U+0020 on (Adobe's font metrics). */
static const unsigned short advance[95] = {
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
};

static double text_width(const char *s, double size)
{
	double w = 0;

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c >= ' ' && c < 127)
			w += advance[c - ' '];
		else if ((c & 0xc0) != 0x80)
			w += 600;
	}
	return w * size / 1000 * 1.04;
}

static void add_escaped(struct buf *out, const char *s)
{
	for (; *s; s++)
		*s == '&' ? buf_str(out, "&amp;") : *s == '<' ? buf_str(out, "&lt;") : *s == '>' ? buf_str(out, "&gt;")
			: *s == '"' ? buf_str(out, "&quot;") : (unsigned char)*s < ' ' ? buf_char(out, ' ') : buf_char(out, *s);
}

/* At most two digits behind the point, none where they are zero. */
static void num(struct buf *out, double v)
{
	char s[32];
	int n = snprintf(s, sizeof s, "%.2f", v);

	while (n > 0 && s[n - 1] == '0')
		s[--n] = 0;
	if (n > 0 && s[n - 1] == '.')
		s[--n] = 0;
	buf_str(out, !strcmp(s, "-0") ? "0" : s);
}

/* name="value" pairs of numbers: attr(out, "x y", x, y). */
static void attrs(struct buf *out, const char *names, const double *v)
{
	while (*names) {
		size_t n = strcspn(names, " ");

		buf_char(out, ' ');
		buf_add(out, names, n);
		buf_str(out, "=\"");
		num(out, *v++);
		buf_char(out, '"');
		names += n + strspn(names + n, " ");
	}
}
#define ATTRS(out, names, ...) attrs(out, names, (const double[]){ __VA_ARGS__ })

static void shape(struct svg_drawing *d, const char *tag, const char *class, const char *names, const double *v)
{
	buf_printf(d->out, "<%s class=\"%s\"", tag, class);
	attrs(d->out, names, v);
	buf_str(d->out, "/>\n");
}
#define SHAPE(d, tag, class, names, ...) shape(d, tag, class, names, (const double[]){ __VA_ARGS__ })

static void words(struct svg_drawing *d, const char *class, double x, double y, const char *s)
{
	buf_printf(d->out, "<text class=\"%s\"", class);
	ATTRS(d->out, "x y", x, y);
	buf_char(d->out, '>');
	add_escaped(d->out, s);
	buf_str(d->out, "</text>\n");
}

static void line(struct svg_drawing *d, const char *class, double x1, double y1, double x2, double y2)
{
	SHAPE(d, "line", class, "x1 y1 x2 y2", x1, y1, x2, y2);
}

/* ---- sizes ---- */

static double label_width(const struct box_label *l)
{
	double name = text_width(l->base, name_size) + text_width(l->sub, small_size) + text_width(l->sup, small_size);
	double params = text_width(l->params, small_size);

	return name > params ? name : params;
}

static double element_width(const struct element *x)
{
	double w;

	for (uint32_t k = 0; k < x->nmark; k++)
		if (x->mark[k].kind == MARK_BOX) {
			w = label_width(&x->label) + 2 * box_room + (x->noperand ? operand_room : 0);
			return w > box_least ? w : box_least;
		}
	return x->mark[0].kind == MARK_METER ? box_least : 2 * plus_radius;
}

static void measure(struct svg_drawing *d)
{
	const struct scene *s = d->s;

	for (uint32_t i = 0; i < s->nelement; i++) {
		double w = element_width(&s->element[i]);

		if (w > d->width[s->element[i].column])
			d->width[s->element[i].column] = w;
	}
	for (uint32_t k = 0; k < s->ncolumn; k++) {
		d->left[k] = d->right[k] = gap;
		d->width[k] += 2 * gap;
	}
	for (uint32_t i = 0; i < s->nframe; i++) {
		const struct frame *f = &s->frame[i];
		double total = 0, want = text_width(f->title, title_size) + 2 * frame_room + 6;
		uint32_t last = f->column + f->ncolumn - 1;

		d->left[f->column] += frame_room;
		d->right[last] += frame_room;
		d->width[f->column] += frame_room;
		d->width[last] += frame_room;
		for (uint32_t k = 0; k < f->ncolumn; k++)
			total += d->width[f->column + k];
		if (total < want)
			d->width[last] += want - total;
	}
	for (uint32_t r = 0; r < s->nrow; r++) {
		double n = text_width(s->row_name[r], name_size) + 8;
		double m = s->row_output[r] ? text_width(s->row_output[r], name_size) + 12 : 0;

		d->name_width = n > d->name_width ? n : d->name_width;
		d->end_width = m > d->end_width ? m : d->end_width;
	}
}

static double start_of(const struct svg_drawing *d, uint32_t column)
{
	return d->start[column];
}

/* The middle of what stands in a column. */
static double centre_of(const struct svg_drawing *d, uint32_t column)
{
	return start_of(d, column) + (d->left[column] + d->width[column] - d->right[column]) / 2;
}

static double row_y(const struct svg_drawing *d, uint32_t row)
{
	return d->top + row * pitch;
}

/* ---- elements ---- */

/* Name with index and exponent, parameters below it; a tall box has the room to set them apart. */
static void draw_label(struct svg_drawing *d, const struct box_label *l, double x, double y)
{
	bool two = *l->params;

	buf_str(d->out, "<text class=\"q-name\"");
	ATTRS(d->out, "x y", x, two ? y - 1 : y + 5);
	buf_char(d->out, '>');
	add_escaped(d->out, l->base);
	if (*l->sub) {
		buf_str(d->out, "<tspan class=\"q-small\" dy=\"4\">");
		add_escaped(d->out, l->sub);
		buf_str(d->out, "</tspan>");
	}
	if (*l->sup) {
		buf_printf(d->out, "<tspan class=\"q-small\" dy=\"%s\">", *l->sub ? "-10" : "-6");
		add_escaped(d->out, l->sup);
		buf_str(d->out, "</tspan>");
	}
	buf_str(d->out, "</text>\n");
	if (two)
		words(d, "q-params", x, y + 12, l->params);
}

static void draw_box(struct svg_drawing *d, const struct element *x, const struct mark *m, double cx)
{
	double w = element_width(x), y = row_y(d, m->first) - box_height / 2;
	double h = (m->last - m->first) * pitch + box_height;

	SHAPE(d, "rect", x->is_layer ? "q-layer" : "q-box", "x y width height rx", cx - w / 2, y, w, h, 3);
	draw_label(d, &x->label, cx + (x->noperand ? operand_room / 2 : 0), y + h / 2);
	for (uint32_t k = 0; k < x->noperand; k++)
		if (x->operand[k] >= m->first && x->operand[k] <= m->last) {
			char number[16];

			snprintf(number, sizeof number, "%u", k);
			words(d, "q-operand", cx - w / 2 + 7, row_y(d, x->operand[k]) + 3.5, number);
		}
}

/* The sign for earth: what is traced out is gone. */
static void draw_discard(struct svg_drawing *d, double x, double y)
{
	for (int k = 0; k < 3; k++)
		line(d, "q-line", x + 4 * k, y - 8 + 3 * k, x + 4 * k, y + 8 - 3 * k);
}

static void draw_meter(struct svg_drawing *d, double x, double y)
{
	SHAPE(d, "rect", "q-box", "x y width height rx", x - box_least / 2, y - box_height / 2, box_least, box_height, 3);
	buf_str(d->out, "<path class=\"q-line\" d=\"M");
	num(d->out, x - 9);
	buf_char(d->out, ' ');
	num(d->out, y + 6);
	buf_str(d->out, "a9 9 0 0 1 18 0\"/>\n");
	line(d, "q-line", x, y + 6, x + 7, y - 7);
}

static void draw_mark(struct svg_drawing *d, const struct element *x, const struct mark *m, double cx)
{
	double y = row_y(d, m->first);

	switch (m->kind) {
	case MARK_BOX:
		draw_box(d, x, m, cx);
		break;
	case MARK_CONTROL:
		SHAPE(d, "circle", "q-dot", "cx cy r", cx, y, dot_radius);
		break;
	case MARK_ANTICONTROL:
		SHAPE(d, "circle", "q-ring", "cx cy r", cx, y, dot_radius);
		break;
	case MARK_PLUS:
		SHAPE(d, "circle", "q-ring", "cx cy r", cx, y, plus_radius);
		line(d, "q-line", cx - plus_radius, y, cx + plus_radius, y);
		line(d, "q-line", cx, y - plus_radius, cx, y + plus_radius);
		break;
	case MARK_CROSS:
		line(d, "q-line", cx - cross_half, y - cross_half, cx + cross_half, y + cross_half);
		line(d, "q-line", cx - cross_half, y + cross_half, cx + cross_half, y - cross_half);
		break;
	case MARK_DISCARD:
		draw_discard(d, cx, y);
		break;
	case MARK_METER:
		draw_meter(d, cx, y);
		break;
	default:
		BUG("mark %d", m->kind);
	}
}

static void draw_element(struct svg_drawing *d, const struct element *x)
{
	double cx = centre_of(d, x->column);

	for (uint32_t k = 0; k + 1 < x->nmark; k++)
		line(d, "q-line", cx, row_y(d, x->mark[k].last), cx, row_y(d, x->mark[k + 1].first));
	for (uint32_t k = 0; k < x->nmark; k++)
		draw_mark(d, x, &x->mark[k], cx);
}

/* ---- wires, frames ---- */

static void draw_wire(struct svg_drawing *d, uint32_t r, double end)
{
	const struct scene *s = d->s;
	double y = row_y(d, r), from = d->x0, classical = end;
	bool last = d->to == s->ncolumn, over = s->row_end[r] != INDEX_NONE && s->row_end[r] < d->to;

	if (s->row_end[r] != INDEX_NONE && s->row_end[r] < d->from)
		return;
	words(d, "q-wire-name", from - 8, y + 5, s->row_name[r]);
	if (over)
		end = centre_of(d, s->row_end[r]);
	if (s->row_classical[r] != INDEX_NONE && s->row_classical[r] < d->to)
		classical = s->row_classical[r] < d->from ? from : centre_of(d, s->row_classical[r]);
	classical = classical < end ? classical : end;
	if (classical > from)
		line(d, "q-wire", from, y, classical, y);
	if (classical < end) {
		line(d, "q-wire", classical, y - 1.5, end, y - 1.5);
		line(d, "q-wire", classical, y + 1.5, end, y + 1.5);
	}
	if (!over && last && s->row_output[r])
		words(d, "q-output", end + 6, y + 5, s->row_output[r]);
	if (!over && !last)
		words(d, "q-output", end + 3, y + 4.5, "…");
}

/* One tint for all layers of a name, whatever their index. */
static unsigned tint_of(const struct scene *s, const struct frame *f)
{
	const char *path = s->program->layer[f->layer].path;
	size_t n = strcspn(path, "[");
	unsigned tint = 0;

	if (s->program->layer[f->layer].embed)
		return EMBED_TINT;
	for (uint32_t i = 0; i < s->program->nlayer; i++) {
		const char *other = s->program->layer[i].path;
		bool first = !s->program->layer[i].embed;

		if (strcspn(other, "[") == n && !strncmp(other, path, n))
			return tint % TINTS;
		for (uint32_t k = 0; first && k < i; k++)
			first = strcspn(s->program->layer[k].path, "[") != strcspn(other, "[")
				|| strncmp(s->program->layer[k].path, other, strcspn(other, "["));
		tint += first;
	}
	return 0;
}

static void draw_frame(struct svg_drawing *d, const struct frame *f)
{
	uint32_t from = f->column > d->from ? f->column : d->from, to = f->column + f->ncolumn;
	uint32_t first = f->first > d->first ? f->first : d->first, last = f->last < d->last ? f->last : d->last;
	double x, w, y = row_y(d, first) - pitch / 2 - 2, h = (last - first + 1) * pitch + 4;
	char class[32];

	to = to < d->to ? to : d->to;
	if (from >= to || first > last)
		return;
	x = start_of(d, from) + 2;
	w = start_of(d, to) - x - 2;
	snprintf(class, sizeof class, "q-frame q-tint%u", tint_of(d->s, f));
	SHAPE(d, "rect", class, "x y width height rx", x, y, w, h, 6);
	words(d, "q-title", x + 5, y - 4, f->title);
}

/* ---- bands ---- */

/* Also says where the band's columns begin. */
static uint32_t band_end(const struct svg_drawing *d)
{
	double x = d->x0, width = d->o->width - 2 * margin;
	uint32_t to = d->from;

	while (to < d->s->ncolumn && (!d->o->width || to == d->from
			|| x + d->width[to] + (to + 1 == d->s->ncolumn ? d->end_width : 12) <= width))
		x += d->width[to++];
	d->start[d->from] = d->x0;
	for (uint32_t k = d->from; k < to; k++)
		d->start[k + 1] = d->start[k] + d->width[k];
	return to;
}

static void draw_band(struct svg_drawing *d, double *widest)
{
	double end = start_of(d, d->to), right = end + (d->to == d->s->ncolumn ? d->end_width : 16);

	for (uint32_t i = 0; i < d->s->nframe; i++)
		draw_frame(d, &d->s->frame[i]);
	for (uint32_t r = 0; r < d->s->nrow; r++)
		draw_wire(d, r, end);
	for (uint32_t i = 0; i < d->s->nelement; i++)
		if (d->s->element[i].column >= d->from && d->s->element[i].column < d->to)
			draw_element(d, &d->s->element[i]);
	*widest = right > *widest ? right : *widest;
}

/* The rows that are over give no room above the next band. */
static uint32_t first_row(const struct svg_drawing *d)
{
	uint32_t r = 0;

	while (r + 1 < d->s->nrow && d->s->row_end[r] != INDEX_NONE && d->s->row_end[r] < d->from)
		r++;
	return r;
}

static uint32_t last_row(const struct svg_drawing *d)
{
	uint32_t r = d->s->nrow - 1;

	while (r > 0 && d->s->row_end[r] != INDEX_NONE && d->s->row_end[r] < d->from)
		r--;
	return r;
}

/* An output in words, broken before + and - where it gets too wide; where it ends. */
static double draw_note(struct svg_drawing *d, const char *note, double y, double *widest)
{
	const double room = d->o->width > 2 * margin ? d->o->width - 2 * margin : note_width;
	struct buf line = BUF_INIT;
	double indent = 0;

	while (*note) {
		size_t n = strcspn(note, " ");       /* "+ 0.5*z(q[0])": a sign and what follows */
		double w;

		n += strspn(note + n, " ");
		if (n == 2 && (*note == '+' || *note == '-')) {
			n += strcspn(note + n, " ");
			n += strspn(note + n, " ");
		}
		w = text_width(line.data ? line.data : "", name_size);
		buf_add(&line, note, n);
		if (w > 0 && (*note == '+' || *note == '-') && indent + text_width(line.data, name_size) > room) {
			line.len -= n;
			line.data[line.len] = 0;
			words(d, "q-note", margin + indent, y + 12, line.data);
			*widest = margin + indent + w > *widest ? margin + indent + w : *widest;
			y += line_height;
			indent = 2 * name_size;
			buf_clear(&line);
			continue;
		}
		note += n;
	}
	if (line.len) {
		const double end = margin + indent + text_width(line.data, name_size);

		words(d, "q-note", margin + indent, y + 12, line.data);
		*widest = end > *widest ? end : *widest;
		y += line_height;
	}
	buf_release(&line);
	return y;
}

/* One circuit below y; where it ends. */
static double draw_scene(struct scene *s, const struct draw_options *o, double y, double *widest, struct buf *out)
{
	struct svg_drawing d = { .s = s, .o = o, .out = out };

	d.width = mem_alloc(s->ncolumn + 1, sizeof *d.width);
	d.left = mem_alloc(s->ncolumn + 1, sizeof *d.left);
	d.right = mem_alloc(s->ncolumn + 1, sizeof *d.right);
	d.start = mem_alloc(s->ncolumn + 1, sizeof *d.start);
	measure(&d);
	d.x0 = margin + d.name_width;
	if (*s->circuit->name) {
		words(&d, "q-circuit", margin, y + 12, scene_title(s));
		y += line_height + 4;
	}
	do {
		d.first = first_row(&d);
		d.last = last_row(&d);
		d.to = band_end(&d);
		d.top = y + (s->nframe ? title_height : 0) + pitch / 2 - d.first * pitch;
		draw_band(&d, widest);
		y = row_y(&d, d.last) + pitch / 2 + 8;
		d.from = d.to;
	} while (d.from < s->ncolumn);
	for (uint32_t i = 0; i < s->nnote; i++)
		y = draw_note(&d, s->note[i], y, widest);
	free(d.width);
	free(d.left);
	free(d.right);
	free(d.start);
	return y;
}

void draw_svg_style(bool dark, struct buf *out)
{
	static const char *const tint[2][TINTS + 1] = {
		{ "#eef4fc", "#fdf1e3", "#eaf6ee", "#f6eef9", "#f3f3f3" },
		{ "#1c2a3d", "#3a2c1b", "#1d3325", "#33263a", "#2a2c2f" },
	};
	const char *ink = dark ? "#e6e6e6" : "#111", *paper = dark ? "#14171a" : "#fff", *soft = dark ? "#9aa3ad" : "#555";

	buf_printf(out, ".qcnn-circuit text{font-family:Helvetica,Arial,\"Liberation Sans\",sans-serif;font-size:14px;fill:%s}\n"
		".qcnn-circuit .q-wire,.qcnn-circuit .q-line{stroke:%s;stroke-width:1;fill:none}\n"
		".qcnn-circuit .q-box{fill:%s;stroke:%s;stroke-width:1}\n"
		".qcnn-circuit .q-layer{fill:%s;stroke:%s;stroke-width:1}\n"
		".qcnn-circuit .q-dot{fill:%s}\n"
		".qcnn-circuit .q-ring{fill:%s;stroke:%s;stroke-width:1}\n"
		".qcnn-circuit .q-name,.qcnn-circuit .q-params,.qcnn-circuit .q-operand{text-anchor:middle}\n"
		".qcnn-circuit .q-small,.qcnn-circuit .q-params{font-size:10px}\n"
		".qcnn-circuit .q-params,.qcnn-circuit .q-operand{fill:%s}\n"
		".qcnn-circuit .q-operand{font-size:9px}\n"
		".qcnn-circuit .q-wire-name{text-anchor:end}\n"
		".qcnn-circuit .q-title{font-size:11.5px;fill:%s}\n"
		".qcnn-circuit .q-circuit{font-weight:bold}\n"
		".qcnn-circuit .q-frame{stroke:none}\n",
		ink, ink, paper, ink, tint[dark][0], ink, ink, paper, ink, soft, soft);
	for (unsigned k = 0; k <= TINTS; k++)
		buf_printf(out, ".qcnn-circuit .q-tint%u{fill:%s}\n", k, tint[dark][k]);
}

static void svg_open(const struct draw_options *o, double width, double height, struct buf *out)
{
	buf_str(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"qcnn-circuit\" role=\"img\"");
	ATTRS(out, "width height", width, height);
	buf_str(out, " viewBox=\"0 0 ");
	num(out, width);
	buf_char(out, ' ');
	num(out, height);
	buf_str(out, "\">\n<title>quantum circuit</title>\n");
	if (o->embedded)
		return;
	buf_str(out, "<style>\n");
	draw_svg_style(false, out);
	buf_str(out, "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

int draw_svg(const struct program *p, const struct draw_options *o, struct buf *out, struct err *e)
{
	struct buf body = BUF_INIT, head = BUF_INIT;
	double y = margin, widest = 0;
	int code = scene_check(p, o, e);

	for (uint32_t i = 0; !code && i < p->ncircuit; i++) {
		struct scene s;

		if (!program_instances(p, i))
			continue;
		code = scene_build(p, i, o, &s, e);
		if (!code)
			y = draw_scene(&s, o, y + (i ? 8 : 0), &widest, &body);
		scene_release(&s);
	}
	scene_head(p, &head);
	if (!code && head.len) {
		struct svg_drawing d = { .out = &body };
		double w = margin + text_width(head.data, name_size);

		words(&d, "q-note", margin, y + 16, head.data);
		y += line_height + 4;
		widest = w > widest ? w : widest;
	}
	if (!code) {
		svg_open(o, widest + margin, y + margin, out);
		buf_add(out, body.data ? body.data : "", body.len);
		buf_str(out, "</svg>\n");
	}
	buf_release(&body);
	buf_release(&head);
	return code;
}
