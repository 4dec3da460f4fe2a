/* SPDX-License-Identifier: Apache-2.0
 * Circuits as text: two lines a wire, boxes drawn with lines that join where they meet. */
#include "compiler/draw/draw_canvas.h"
#include "compiler/draw/draw_layout.h"

#include <stdio.h>
#include <stdlib.h>

struct text_drawing {
	struct layout l;
	struct canvas c;
};

/* Lines: 0 titles of layers, 1 above the first wire, 2 the first wire, 3 between, ... */
static unsigned line_of_row(const struct text_drawing *d, uint32_t row)
{
	return 2 * (row - d->l.first) + 2;
}

/* ---- elements ---- */

static unsigned operand_width(const struct element *x)
{
	return x->noperand > 10 ? 3 : x->noperand ? 2 : 0;
}

static unsigned element_width(const struct draw_options *o, const struct element *x)
{
	return layout_has_box(x) ? canvas_columns(x->label.plain, o->ascii) + operand_width(x) + 4
		: x->mark[0].kind == MARK_METER ? 5
						: 1;
}

static void draw_box(struct text_drawing *d, const struct element *x, const struct mark *m, unsigned left, unsigned width)
{
	unsigned top = line_of_row(d, m->first) - 1, bottom = line_of_row(d, m->last) + 1;

	canvas_box(&d->c, top, bottom, left, left + width - 1);
	canvas_text(&d->c, (top + bottom) / 2, left + 2 + operand_width(x), x->label.plain);
	for (uint32_t k = 0; k < x->noperand; k++)
		if (x->operand[k] >= m->first && x->operand[k] <= m->last) {
			char number[16];

			snprintf(number, sizeof number, "%u", k);
			canvas_text(&d->c, line_of_row(d, x->operand[k]), left + 1, number);
		}
}

static void draw_mark(struct text_drawing *d, const struct element *x, const struct mark *m, unsigned left, unsigned width)
{
	unsigned y = line_of_row(d, m->first), middle = left + (width - 1) / 2;

	switch (m->kind) {
	case MARK_BOX: draw_box(d, x, m, left, width); break;
	case MARK_CONTROL: canvas_glyph(&d->c, y, middle, d->l.o->ascii ? '@' : 0x25cf); break;
	case MARK_ANTICONTROL: canvas_glyph(&d->c, y, middle, d->l.o->ascii ? 'o' : 0x25cb); break;
	case MARK_PLUS: canvas_glyph(&d->c, y, middle, d->l.o->ascii ? 'X' : 0x2295); break;
	case MARK_CROSS: canvas_glyph(&d->c, y, middle, d->l.o->ascii ? 'x' : 0x2573); break;
	case MARK_DISCARD: canvas_glyph(&d->c, y, middle, d->l.o->ascii ? '|' : 0x2524); break;
	case MARK_METER:
		canvas_box(&d->c, y - 1, y + 1, left, left + 4);
		canvas_glyph(&d->c, y, left + 2, 'M');
		break;
	default: BUG("mark %d", m->kind);
	}
}

/* Between marks, down the middle. */
static void draw_links(struct text_drawing *d, const struct element *x, unsigned middle)
{
	for (uint32_t k = 0; k + 1 < x->nmark; k++) {
		const struct mark *a = &x->mark[k], *b = &x->mark[k + 1];
		unsigned from = line_of_row(d, a->last) + (a->kind == MARK_BOX), to = line_of_row(d, b->first) - (b->kind == MARK_BOX);

		for (unsigned y = from; y <= to; y++)
			canvas_arms(&d->c, y, middle, (y > from ? UP : 0) | (y < to ? DOWN : 0));
	}
}

/* Where a column begins, or at its end the band. */
static unsigned start_of(const struct text_drawing *d, uint32_t column)
{
	return (unsigned)d->l.start[column];
}

/* Where something of that width begins in its column; the lines of frames keep their place. */
static unsigned left_in(const struct text_drawing *d, uint32_t column, unsigned width)
{
	unsigned left = (unsigned)d->l.left[column], right = (unsigned)d->l.right[column];

	return start_of(d, column) + left + ((unsigned)d->l.width[column] - left - right - width) / 2;
}

/* An element of a bundle: its line at `middle`, its boxes on the sides that keep clear of the other lines. */
static void draw_lane(struct text_drawing *d, const struct element *x, unsigned middle, unsigned width)
{
	bool nested = d->l.s->bundle[x->bundle].nested;

	for (uint32_t k = 0; k < x->nmark; k++)
		draw_mark(d, x, &x->mark[k], k && !nested ? middle + 2 - width : middle - 1, width);
	draw_links(d, x, middle);
}

static void draw_element(struct text_drawing *d, const struct element *x)
{
	unsigned width = element_width(d->l.o, x);
	unsigned left = left_in(d, x->column, (unsigned)layout_shared(&d->l, x));

	if (scene_in_lanes(d->l.s, x)) {
		draw_lane(d, x, left + (unsigned)layout_lane(&d->l, x), width);
		return;
	}
	for (uint32_t k = 0; k < x->nmark; k++)
		draw_mark(d, x, &x->mark[k], left, width);
	draw_links(d, x, left + (width - 1) / 2);
}

/* ---- wires, frames ---- */

static void draw_wire(struct text_drawing *d, uint32_t row, unsigned end)
{
	const struct scene *s = d->l.s;
	unsigned y = line_of_row(d, row), x = (unsigned)d->l.name_width - 1, classical = end + 1;

	if (s->row_end[row] < d->l.from)
		return;
	canvas_text(&d->c, y, x - 1 - canvas_columns(s->row_name[row], d->l.o->ascii),
		s->row_name[row]);
	if (s->row_classical[row] < d->l.to)
		classical =
			s->row_classical[row] < d->l.from ? 0 : start_of(d, s->row_classical[row]);
	if (s->row_end[row] < d->l.to)
		end = left_in(d, s->row_end[row], 1);
	for (; x < end; x++)
		canvas_arms(&d->c, y, x, LEFT | RIGHT | (x > classical ? DOUBLE : 0));
}

static void frame_side(struct text_drawing *d, unsigned x, bool right, unsigned bottom)
{
	canvas_arms(&d->c, 0, x, DOWN | (right ? LEFT : RIGHT));
	canvas_arms(&d->c, bottom, x, UP | (right ? LEFT : RIGHT));
	for (unsigned y = 1; y < bottom; y++) {
		struct cell *c = canvas_cell(&d->c, y, x);

		if (!c->arms && !c->glyph)
			c->arms = UP | DOWN | DASHED;
	}
}

static void draw_frame(struct text_drawing *d, const struct frame *f)
{
	uint32_t from = f->column > d->l.from ? f->column : d->l.from, to = f->column + f->ncolumn;
	unsigned bottom = line_of_row(d, d->l.last) + 2, left, right, room;

	to = to < d->l.to ? to : d->l.to;
	if (from >= to)
		return;
	left = start_of(d, from);
	right = start_of(d, to) - 1;
	for (unsigned x = left + (from == f->column); x < right + (to < f->column + f->ncolumn); x++) {
		canvas_arms(&d->c, 0, x, LEFT | RIGHT);
		canvas_arms(&d->c, bottom, x, LEFT | RIGHT);
	}
	if (from == f->column)
		frame_side(d, left, false, bottom);
	if (to == f->column + f->ncolumn)
		frame_side(d, right, true, bottom);
	room = right > left + 3 ? right - left - 3 : 0;
	if (canvas_columns(f->title, d->l.o->ascii) <= room) {
		unsigned x = canvas_text(&d->c, 0, left + 3, f->title);

		canvas_glyph(&d->c, 0, left + 2, ' ');
		if (x < right)
			canvas_glyph(&d->c, 0, x, ' ');
	}
}

/* ---- bands ---- */

static void draw_ends(struct text_drawing *d, unsigned x)
{
	const struct scene *s = d->l.s;

	for (uint32_t r = d->l.first; r <= d->l.last; r++) {
		if (s->row_end[r] < d->l.to)
			continue;
		if (d->l.to < s->ncolumn)
			canvas_glyph(&d->c, line_of_row(d, r), x, d->l.o->ascii ? '>' : 0xbb);
		else if (s->row_output[r])
			canvas_text(&d->c, line_of_row(d, r), x + 1, s->row_output[r]);
	}
}

static int draw_band(struct text_drawing *d, struct buf *out, struct err *e)
{
	const struct layout *l = &d->l;
	const struct scene *s = l->s;
	unsigned end = start_of(d, l->to), more = l->to == s->ncolumn ? (unsigned)l->end_width : 1;

	d->c = (struct canvas){ .nline = line_of_row(d, l->last) + (s->nframe ? 3 : 2),
		.ncolumn = end + more + 1,
		.ascii = l->o->ascii };
	if ((size_t)d->c.nline * d->c.ncolumn > DRAW_CELLS_MAX)
		return err_set(e, -ERR_CONFIG, "the drawing would have %u lines of %u characters; show layers as one box each",
			d->c.nline, d->c.ncolumn);
	d->c.cell = mem_try((size_t)d->c.nline * d->c.ncolumn, sizeof *d->c.cell);
	if (!d->c.cell)
		return err_set(e, -ERR_CONFIG, "no memory for a drawing");
	for (uint32_t r = l->first; r <= l->last; r++)
		draw_wire(d, r, end);
	for (uint32_t i = 0; i < s->nelement; i++)
		if (s->element[i].column >= l->from && s->element[i].column < l->to)
			draw_element(d, &s->element[i]);
	for (uint32_t i = 0; i < s->nframe; i++)
		draw_frame(d, &s->frame[i]);
	draw_ends(d, end);
	canvas_print(&d->c, s->nframe ? 0 : 1, out);
	free(d->c.cell);
	return 0;
}

static double words_size(const struct draw_options *o, const char *s, bool title)
{
	(void)title;
	return canvas_columns(s, o->ascii);
}

static double element_size(const struct draw_options *o, const struct element *x)
{
	return element_width(o, x);
}

/* A box has its line one cell from its edge. */
static const struct layout_sizes sizes = { .gap = 1,
	.title_room = 6,
	.name_room = 2,
	.output_room = 2,
	.lane = 3, /* the line, a blank, the edge of the next box */
	.edge = 1,
	.line = 1,
	.words = words_size,
	.element = element_size };

static int draw_scene(struct scene *s, const struct draw_options *o, struct buf *out, struct err *e)
{
	struct text_drawing d = { .l = layout_of(s, o, &sizes) };
	int code;

	do {
		layout_band(&d.l, d.l.name_width, o->width - 2.0);
		if (d.l.from && !s->nframe)
			buf_char(out, '\n');
		code = draw_band(&d, out, e);
	} while (!code && d.l.to < s->ncolumn);
	for (uint32_t i = 0; !code && i < s->nnote; i++) {
		buf_printf(out, i ? "" : "\n");
		canvas_words(out, s->note[i], o->ascii);
		buf_char(out, '\n');
	}
	return code;
}

int draw_text(const struct program *p, const struct draw_options *o, struct buf *out, struct err *e)
{
	buf_auto head = BUF_INIT;
	int code = scene_check(p, o, e);

	for (uint32_t i = 0; !code && i < p->ncircuit; i++) {
		struct scene s;

		if (!program_instances(p, i))
			continue;
		code = scene_build(p, i, o, &s, e);
		if (!code && *s.circuit->name) {
			buf_str(out, i ? "\n" : "");
			canvas_words(out, scene_title(&s), o->ascii);
			buf_str(out, ":\n");
		}
		if (!code)
			code = draw_scene(&s, o, out, e);
		scene_release(&s);
	}
	scene_head(p, &head);
	if (!code && head.len) {
		buf_char(out, '\n');
		canvas_words(out, head.data, o->ascii);
		buf_char(out, '\n');
	}
	return code;
}
