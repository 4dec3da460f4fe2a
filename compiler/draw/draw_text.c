/* SPDX-License-Identifier: Apache-2.0
 * Circuits as text: two lines a wire, boxes drawn with lines that join where they meet. */
#include "compiler/draw/draw_canvas.h"
#include "compiler/draw/draw_scene.h"

#include <stdio.h>
#include <stdlib.h>

/* A band: columns of the scene that stand side by side. */
struct text_drawing {
	const struct scene *s;
	const struct draw_options *o;
	unsigned *width;             /* (ncolumn) of the scene's columns, frames' lines included */
	unsigned *left, *right;      /* (ncolumn) cells of a column before and behind elements */
	unsigned *bundle_box;        /* (nbundle) width of the widest box */
	unsigned name_width, end_width;
	struct canvas c;
	uint32_t from, to;           /* columns of this band */
	uint32_t first, last;        /* rows of this band: the wires that still go on, and those between */
};

/* Lines: 0 titles of layers, 1 above the first wire, 2 the first wire, 3 between, ... */
static unsigned line_of_row(const struct text_drawing *d, uint32_t row)
{
	return 2 * (row - d->first) + 2;
}

/* ---- elements ---- */

static unsigned operand_width(const struct element *x)
{
	return x->noperand > 10 ? 3 : x->noperand ? 2 : 0;
}

static bool has_box(const struct element *x)
{
	for (uint32_t k = 0; k < x->nmark; k++)
		if (x->mark[k].kind == MARK_BOX)
			return true;
	return false;
}

static unsigned element_width(const struct element *x, bool ascii)
{
	return has_box(x) ? canvas_columns(x->label.plain, ascii) + operand_width(x) + 4
		: x->mark[0].kind == MARK_METER ? 5 : 1;
}

/* Cells from a lane to the next: the line, a blank, the edge of the next box. */
enum { LANE = 3 };

/* The line of the first lane, from the left end of a bundle.  Boxes that are inside each other are right of their lines;
 * else the first boxes are right, the second ones left of them. */
static unsigned first_lane(const struct text_drawing *d, const struct element *x)
{
	return d->s->bundle[x->bundle].nested ? 1 : d->bundle_box[x->bundle] - 2;
}

/* Of all that shares the element's bundle. */
static unsigned shared_width(const struct text_drawing *d, const struct element *x)
{
	if (!scene_in_lanes(d->s, x))
		return element_width(x, d->o->ascii);
	return first_lane(d, x) - 1 + LANE * (d->s->bundle[x->bundle].nlane - 1) + d->bundle_box[x->bundle];
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
	case MARK_CONTROL: canvas_glyph(&d->c, y, middle, d->o->ascii ? '@' : 0x25cf); break;
	case MARK_ANTICONTROL: canvas_glyph(&d->c, y, middle, d->o->ascii ? 'o' : 0x25cb); break;
	case MARK_PLUS: canvas_glyph(&d->c, y, middle, d->o->ascii ? 'X' : 0x2295); break;
	case MARK_CROSS: canvas_glyph(&d->c, y, middle, d->o->ascii ? 'x' : 0x2573); break;
	case MARK_DISCARD: canvas_glyph(&d->c, y, middle, d->o->ascii ? '|' : 0x2524); break;
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

/* Where something of that width begins in its column; the lines of frames keep their place. */
static unsigned left_in(const struct text_drawing *d, uint32_t column, unsigned width)
{
	return d->left[column] + (d->width[column] - d->left[column] - d->right[column] - width) / 2;
}

/* An element of a bundle: its line at `middle`, its boxes on the sides that keep clear of the other lines. */
static void draw_lane(struct text_drawing *d, const struct element *x, unsigned middle, unsigned width)
{
	bool nested = d->s->bundle[x->bundle].nested;

	for (uint32_t k = 0; k < x->nmark; k++)
		draw_mark(d, x, &x->mark[k], k && !nested ? middle + 2 - width : middle - 1, width);
	draw_links(d, x, middle);
}

static void draw_element(struct text_drawing *d, const struct element *x, unsigned column_left)
{
	unsigned width = element_width(x, d->o->ascii), left = column_left + left_in(d, x->column, shared_width(d, x));

	if (scene_in_lanes(d->s, x)) {
		draw_lane(d, x, left + first_lane(d, x) + LANE * x->lane, width);
		return;
	}
	for (uint32_t k = 0; k < x->nmark; k++)
		draw_mark(d, x, &x->mark[k], left, width);
	draw_links(d, x, left + (width - 1) / 2);
}

/* ---- wires, frames ---- */

static unsigned start_of(const struct text_drawing *d, uint32_t column)
{
	unsigned x = d->name_width;

	for (uint32_t k = d->from; k < column; k++)
		x += d->width[k];
	return x;
}

static void draw_wire(struct text_drawing *d, uint32_t row, unsigned end)
{
	const struct scene *s = d->s;
	unsigned y = line_of_row(d, row), x = d->name_width - 1, classical = end + 1;

	if (s->row_end[row] != INDEX_NONE && s->row_end[row] < d->from)
		return;
	canvas_text(&d->c, y, d->name_width - 2 - canvas_columns(s->row_name[row], d->o->ascii), s->row_name[row]);
	if (s->row_classical[row] != INDEX_NONE)
		classical = s->row_classical[row] < d->from ? 0 : s->row_classical[row] < d->to
			? start_of(d, s->row_classical[row]) : end + 1;
	if (s->row_end[row] != INDEX_NONE && s->row_end[row] < d->to)
		end = start_of(d, s->row_end[row]) + left_in(d, s->row_end[row], 1);
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
	uint32_t from = f->column > d->from ? f->column : d->from, to = f->column + f->ncolumn;
	unsigned bottom = line_of_row(d, d->last) + 2, left, right, room;

	to = to < d->to ? to : d->to;
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
	if (canvas_columns(f->title, d->o->ascii) <= room) {
		unsigned x = canvas_text(&d->c, 0, left + 3, f->title);

		canvas_glyph(&d->c, 0, left + 2, ' ');
		if (x < right)
			canvas_glyph(&d->c, 0, x, ' ');
	}
}

/* ---- bands ---- */

static void measure_bundles(struct text_drawing *d)
{
	const struct scene *s = d->s;

	for (uint32_t i = 0; i < s->nelement; i++) {
		unsigned w = element_width(&s->element[i], d->o->ascii);
		uint32_t u = s->element[i].bundle;

		if (u != INDEX_NONE && w > d->bundle_box[u])
			d->bundle_box[u] = w;
	}
}

static void measure(struct text_drawing *d)
{
	const struct scene *s = d->s;

	measure_bundles(d);
	for (uint32_t k = 0; k < s->ncolumn; k++)
		d->width[k] = 1;
	for (uint32_t i = 0; i < s->nelement; i++) {
		unsigned w = shared_width(d, &s->element[i]);

		if (w > d->width[s->element[i].column])
			d->width[s->element[i].column] = w;
	}
	for (uint32_t k = 0; k < s->ncolumn; k++) {
		d->left[k] = d->right[k] = 1;
		d->width[k] += 2;
	}
	for (uint32_t i = 0; i < s->nframe; i++) {
		const struct frame *f = &s->frame[i];
		unsigned total = 0, want = canvas_columns(f->title, d->o->ascii) + 6;

		d->left[f->column]++;
		d->width[f->column]++;
		d->right[f->column + f->ncolumn - 1]++;
		d->width[f->column + f->ncolumn - 1]++;
		for (uint32_t k = 0; k < f->ncolumn; k++)
			total += d->width[f->column + k];
		if (total < want)
			d->width[f->column + f->ncolumn - 1] += want - total;
	}
	for (uint32_t r = 0; r < s->nrow; r++) {
		unsigned n = canvas_columns(s->row_name[r], d->o->ascii) + 2;
		unsigned m = s->row_output[r] ? canvas_columns(s->row_output[r], d->o->ascii) + 2 : 0;

		d->name_width = n > d->name_width ? n : d->name_width;
		d->end_width = m > d->end_width ? m : d->end_width;
	}
}

/* The columns that fit beside each other, at least one. */
static uint32_t band_end(const struct text_drawing *d)
{
	unsigned x = d->name_width + 2, width = d->o->width;
	uint32_t to = d->from;

	while (to < d->s->ncolumn && (!width || to == d->from
			|| x + d->width[to] + (to + 1 == d->s->ncolumn ? d->end_width : 0) <= width))
		x += d->width[to++];
	return scene_break(d->s, d->from, to);
}

static void draw_ends(struct text_drawing *d, unsigned x)
{
	const struct scene *s = d->s;

	for (uint32_t r = d->first; r <= d->last; r++) {
		bool ended = s->row_end[r] != INDEX_NONE && s->row_end[r] < d->to;

		if (ended)
			continue;
		if (d->to < s->ncolumn)
			canvas_glyph(&d->c, line_of_row(d, r), x, d->o->ascii ? '>' : 0xbb);
		else if (s->row_output[r])
			canvas_text(&d->c, line_of_row(d, r), x + 1, s->row_output[r]);
	}
}

static int draw_band(struct text_drawing *d, struct buf *out, struct err *e)
{
	unsigned end = start_of(d, d->to), more = d->to == d->s->ncolumn ? d->end_width : 1;

	d->c = (struct canvas){ .nline = line_of_row(d, d->last) + (d->s->nframe ? 3 : 2), .ncolumn = end + more + 1, .ascii = d->o->ascii };
	if ((size_t)d->c.nline * d->c.ncolumn > DRAW_CELLS_MAX)
		return err_set(e, -ERR_CONFIG, "the drawing would have %u lines of %u characters; show layers as one box each",
			d->c.nline, d->c.ncolumn);
	d->c.cell = mem_try((size_t)d->c.nline * d->c.ncolumn, sizeof *d->c.cell);
	if (!d->c.cell)
		return err_set(e, -ERR_CONFIG, "no memory for a drawing");
	for (uint32_t r = d->first; r <= d->last; r++)
		draw_wire(d, r, end);
	for (uint32_t i = 0; i < d->s->nelement; i++)
		if (d->s->element[i].column >= d->from && d->s->element[i].column < d->to)
			draw_element(d, &d->s->element[i], start_of(d, d->s->element[i].column));
	for (uint32_t i = 0; i < d->s->nframe; i++)
		draw_frame(d, &d->s->frame[i]);
	draw_ends(d, end);
	canvas_print(&d->c, d->s->nframe ? 0 : 1, out);
	free(d->c.cell);
	return 0;
}

static int draw_scene(const struct scene *s, const struct draw_options *o, struct buf *out, struct err *e)
{
	struct text_drawing d = { .s = s, .o = o };
	int code = 0;

	d.width = mem_alloc(s->ncolumn + 1, sizeof *d.width);
	d.left = mem_alloc(s->ncolumn + 1, sizeof *d.left);
	d.right = mem_alloc(s->ncolumn + 1, sizeof *d.right);
	d.bundle_box = mem_alloc(s->nbundle + 1, sizeof *d.bundle_box);
	measure(&d);
	do {
		d.to = band_end(&d);
		scene_rows_from(s, d.from, &d.first, &d.last);
		if (d.from && !s->nframe)
			buf_char(out, '\n');
		code = draw_band(&d, out, e);
		d.from = d.to;
	} while (!code && d.from < s->ncolumn);
	free(d.width);
	free(d.left);
	free(d.right);
	free(d.bundle_box);
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
