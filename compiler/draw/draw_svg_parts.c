/* SPDX-License-Identifier: Apache-2.0
 * The parts of a circuit in SVG: their sizes, boxes and symbols, wires, the grounds of layers. */
#include "compiler/draw/draw_svg_parts.h"

#include <stdio.h>
#include <string.h>

#include "compiler/draw/draw_ink.h"

/* px */
static const double box_height = 36, box_least = 32, box_room = 11, small_size = 10,
		    title_size = 11.5, operand_room = 11, dot_radius = 4, plus_radius = 9.5,
		    cross_half = 6;

/* ---- sizes ---- */

static double label_width(const struct box_label *l)
{
	double name = ink_width(l->base, name_size) + ink_width(l->sub, small_size) + ink_width(l->sup, small_size);
	double params = ink_width(l->params, small_size);

	return name > params ? name : params;
}

static double element_width(const struct draw_options *o, const struct element *x)
{
	(void)o;
	if (!layout_has_box(x))
		return x->mark[0].kind == MARK_METER ? box_least : 2 * plus_radius;
	double w = label_width(&x->label) + 2 * box_room + (x->noperand ? operand_room : 0);
	return w > box_least ? w : box_least;
}

static double words_width(const struct draw_options *o, const char *s, bool title)
{
	(void)o;
	return ink_width(s, title ? title_size : name_size);
}

const struct layout_sizes svg_sizes = { .gap = 9,
	.title_room = 24,
	.name_room = 8,
	.output_room = 12,
	.rest_room = 12,
	.lane = 14,
	.edge = 7,
	.words = words_width,
	.element = element_width };

/* The middle of what stands in a column. */
static double centre_of(const struct layout *l, uint32_t column)
{
	return l->start[column] + (l->left[column] + l->width[column] - l->right[column]) / 2;
}

double svg_row(const struct svg_drawing *d, uint32_t row) { return d->top + row * pitch; }

/* ---- elements ---- */

/* Name with index and exponent, parameters below it; a tall box has the room to set them apart. */
static void draw_label(struct svg_drawing *d, const struct box_label *l, double x, double y)
{
	bool two = *l->params;

	buf_str(d->out, "<text class=\"q-name\"");
	INK_ATTRIBUTES(d->out, "x y", x, two ? y - 2.5 : y + 5);
	buf_char(d->out, '>');
	buf_xml_str(d->out, l->base);
	if (*l->sub)
		buf_xml_in(d->out, "<tspan class=\"q-small\" dy=\"4\">", l->sub, "</tspan>");
	if (*l->sup) {
		buf_printf(d->out, "<tspan class=\"q-small\" dy=\"%s\">", *l->sub ? "-10" : "-6");
		buf_xml_in(d->out, "", l->sup, "</tspan>");
	}
	buf_str(d->out, "</text>\n");
	if (two)
		ink_words(d->out, "q-params", x, y + 12, l->params);
}

/* The name of a layer without that of its circuit and its index: "a.conv[0]" is a conv. */
static const char *name_of(const char *path, size_t *n)
{
	const char *end = path + strcspn(path, "["), *begin = end;

	while (begin > path && begin[-1] != '.')
		begin--;
	*n = (size_t)(end - begin);
	return begin;
}

static bool same_name(const char *path, const char *other)
{
	size_t n, m;
	const char *a = name_of(path, &n), *b = name_of(other, &m);

	return n == m && !strncmp(a, b, n);
}

/* One tint for all layers of a name, whatever their circuit and index. */
static unsigned tint_of(const struct scene *s, uint32_t layer)
{
	const struct layer_note *l = s->program->layer;
	unsigned tint = 0;

	if (l[layer].embed)
		return EMBED_TINT;
	for (uint32_t i = 0; i < s->program->nlayer; i++) {
		bool first = !l[i].embed;

		if (first && same_name(l[i].path, l[layer].path))
			return tint % TINTS;
		for (uint32_t k = 0; first && k < i; k++)
			first = l[k].embed || !same_name(l[k].path, l[i].path);
		tint += first;
	}
	return 0;
}

static void draw_box(struct svg_drawing *d, const struct element *x, const struct mark *m, double cx)
{
	double w = element_width(d->l.o, x), y = svg_row(d, m->first) - box_height / 2;
	double h = (m->last - m->first) * pitch + box_height;
	char class[32] = "q-box";

	if (x->is_layer)
		snprintf(class, sizeof class, "q-layer q-tint%u", tint_of(d->l.s, x->layer));
	INK_SHAPE(d->out, "rect", class, "x y width height rx", cx - w / 2, y, w, h, 3);
	draw_label(d, &x->label, cx + (x->noperand ? operand_room / 2 : 0), y + h / 2);
	for (uint32_t k = 0; k < x->noperand; k++)
		if (x->operand[k] >= m->first && x->operand[k] <= m->last) {
			char number[16];

			snprintf(number, sizeof number, "%u", k);
			ink_words(d->out, "q-operand", cx - w / 2 + 7, svg_row(d, x->operand[k]) + 3.5, number);
		}
}

/* The sign for earth: what is traced out is gone. */
static void draw_discard(struct svg_drawing *d, double x, double y)
{
	for (int k = 0; k < 3; k++)
		ink_line(d->out, "q-line", x + 4 * k, y - 8 + 3 * k, x + 4 * k, y + 8 - 3 * k);
}

static void draw_meter(struct svg_drawing *d, double x, double y)
{
	INK_SHAPE(d->out, "rect", "q-box", "x y width height rx", x - box_least / 2, y - box_height / 2, box_least, box_height, 3);
	buf_str(d->out, "<path class=\"q-line\" d=\"M");
	ink_number(d->out, x - 9);
	buf_char(d->out, ' ');
	ink_number(d->out, y + 6);
	buf_str(d->out, "a9 9 0 0 1 18 0\"/>\n");
	ink_line(d->out, "q-line", x, y + 6, x + 7, y - 7);
}

static void draw_mark(struct svg_drawing *d, const struct element *x, const struct mark *m, double cx)
{
	double y = svg_row(d, m->first);

	switch (m->kind) {
	case MARK_BOX: draw_box(d, x, m, cx); break;
	case MARK_CONTROL:
		INK_SHAPE(d->out, "circle", "q-dot", "cx cy r", cx, y, dot_radius);
		break;
	case MARK_ANTICONTROL:
		INK_SHAPE(d->out, "circle", "q-ring", "cx cy r", cx, y, dot_radius);
		break;
	case MARK_PLUS:
		INK_SHAPE(d->out, "circle", "q-ring", "cx cy r", cx, y, plus_radius);
		ink_line(d->out, "q-line", cx - plus_radius, y, cx + plus_radius, y);
		ink_line(d->out, "q-line", cx, y - plus_radius, cx, y + plus_radius);
		break;
	case MARK_CROSS:
		ink_line(d->out, "q-line", cx - cross_half, y - cross_half, cx + cross_half, y + cross_half);
		ink_line(d->out, "q-line", cx - cross_half, y + cross_half, cx + cross_half, y - cross_half);
		break;
	case MARK_DISCARD: draw_discard(d, cx, y); break;
	case MARK_METER: draw_meter(d, cx, y); break;
	default: BUG("mark %d", m->kind);
	}
}

/* The line of an element. */
static double line_of(const struct layout *l, const struct element *x)
{
	double cx = centre_of(l, x->column);

	return scene_in_lanes(l->s, x) ? cx - layout_shared(l, x) / 2 + layout_lane(l, x) : cx;
}

/* The middle of a mark: that of the line, but boxes in lanes keep clear of the other lines. */
static double middle_of(const struct layout *l, const struct element *x, uint32_t mark, double line)
{
	double half = element_width(l->o, x) / 2 - l->z->edge;

	if (!scene_in_lanes(l->s, x))
		return line;
	return mark && !l->s->bundle[x->bundle].nested ? line - half : line + half;
}

void svg_element(struct svg_drawing *d, const struct element *x)
{
	double line = line_of(&d->l, x);

	for (uint32_t k = 0; k + 1 < x->nmark; k++)
		ink_line(d->out, "q-line", line, svg_row(d, x->mark[k].last), line, svg_row(d, x->mark[k + 1].first));
	for (uint32_t k = 0; k < x->nmark; k++)
		draw_mark(d, x, &x->mark[k], middle_of(&d->l, x, k, line));
}

/* ---- wires, frames ---- */

void svg_wire(struct svg_drawing *d, uint32_t r, double end)
{
	const struct layout *l = &d->l;
	const struct scene *s = l->s;
	double y = svg_row(d, r), from = l->start[l->from], classical = end;
	bool last = l->to == s->ncolumn, over = s->row_end[r] < l->to;

	if (s->row_end[r] < l->from)
		return;
	ink_words(d->out, "q-wire-name", from - 8, y + 5, s->row_name[r]);
	if (over)
		end = centre_of(l, s->row_end[r]);
	if (s->row_classical[r] < l->to)
		classical = s->row_classical[r] < l->from ? from : centre_of(l, s->row_classical[r]);
	classical = classical < end ? classical : end;
	if (classical > from)
		ink_line(d->out, "q-wire", from, y, classical, y);
	if (classical < end) {
		ink_line(d->out, "q-wire", classical, y - 1.5, end, y - 1.5);
		ink_line(d->out, "q-wire", classical, y + 1.5, end, y + 1.5);
	}
	if (!over && last && s->row_output[r])
		ink_words(d->out, "q-output", end + 6, y + 5, s->row_output[r]);
	if (!over && !last)
		ink_words(d->out, "q-output", end + 3, y + 4.5, "…");
}

void svg_frame(struct svg_drawing *d, const struct frame *f)
{
	const struct layout *l = &d->l;
	uint32_t from = f->column > l->from ? f->column : l->from, to = f->column + f->ncolumn;
	uint32_t first = f->first > l->first ? f->first : l->first,
		 last = f->last < l->last ? f->last : l->last;
	double x, w, y = svg_row(d, first) - pitch / 2 - 2, h = (last - first + 1) * pitch + 4;
	char class[32];

	to = to < l->to ? to : l->to;
	if (from >= to || first > last)
		return;
	x = l->start[from] + 2;
	w = l->start[to] - x - 2;
	snprintf(class, sizeof class, "q-frame q-tint%u", tint_of(l->s, f->layer));
	INK_SHAPE(d->out, "rect", class, "x y width height rx", x, y, w, h, 6);
	ink_words(d->out, "q-title", x + 5, y - 4, f->title);
}
