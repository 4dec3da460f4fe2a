/* SPDX-License-Identifier: Apache-2.0
 * Circuits as SVG, fit for a paper: thin lines, typeset names, layers on pale grounds; in bands where they are wide. */
#include "compiler/draw/draw_svg_parts.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/draw/draw_ink.h"

/* px */
static const double margin = 12, title_height = 15, line_height = 18, note_width = 900;

/* ---- bands ---- */

/* The end of the layer that a band would cut. */
static uint32_t layer_end(const struct scene *s, uint32_t to)
{
	for (uint32_t i = 0; i < s->nframe; i++)
		if (s->frame[i].column < to && s->frame[i].column + s->frame[i].ncolumn > to)
			return s->frame[i].column + s->frame[i].ncolumn;
	return to;
}

/* Also says where the band's columns begin. */
static uint32_t band_end(const struct svg_drawing *d)
{
	double x = d->x0, width = d->o->width - 2 * margin;
	uint32_t to = d->from;

	while (to < d->s->ncolumn && (!d->o->width || to == d->from
			|| x + d->width[to] + (to + 1 == d->s->ncolumn ? d->end_width : 12) <= width))
		x += d->width[to++];
	to = scene_break(d->s, d->from, to);
	if (d->o->whole_layers)
		to = layer_end(d->s, to);
	d->start[d->from] = d->x0;
	for (uint32_t k = d->from; k < to; k++)
		d->start[k + 1] = d->start[k] + d->width[k];
	return to;
}

static void draw_band(struct svg_drawing *d, double *widest)
{
	double end = d->start[d->to], right = end + (d->to == d->s->ncolumn ? d->end_width : 16);

	for (uint32_t i = 0; i < d->s->nframe; i++)
		svg_frame(d, &d->s->frame[i]);
	for (uint32_t r = 0; r < d->s->nrow; r++)
		svg_wire(d, r, end);
	for (uint32_t i = 0; i < d->s->nelement; i++)
		if (d->s->element[i].column >= d->from && d->s->element[i].column < d->to)
			svg_element(d, &d->s->element[i]);
	*widest = right > *widest ? right : *widest;
}

/* ---- words ---- */

/* An output in words, broken before + and - where it gets too wide; where it ends. */
static double draw_note(struct svg_drawing *d, const char *note, double y, double *widest)
{
	const double room = d->o->width > 2 * margin ? d->o->width - 2 * margin : note_width;
	buf_auto line = BUF_INIT;
	double indent = 0;

	while (*note) {
		size_t n = strcspn(note, " "); /* "+ 0.5*z(q[0])": a sign and what follows */

		n += strspn(note + n, " ");
		if (n == 2 && (*note == '+' || *note == '-')) {
			n += strcspn(note + n, " ");
			n += strspn(note + n, " ");
		}
		double w = ink_width(line.data ? line.data : "", name_size);
		buf_add(&line, note, n);
		if (w > 0 && (*note == '+' || *note == '-') && indent + ink_width(line.data, name_size) > room) {
			line.len -= n;
			line.data[line.len] = 0;
			ink_words(d->out, "q-note", margin + indent, y + 12, line.data);
			*widest = margin + indent + w > *widest ? margin + indent + w : *widest;
			y += line_height;
			indent = 2 * name_size;
			buf_clear(&line);
			continue;
		}
		note += n;
	}
	if (line.len) {
		const double end = margin + indent + ink_width(line.data, name_size);

		ink_words(d->out, "q-note", margin + indent, y + 12, line.data);
		*widest = end > *widest ? end : *widest;
		y += line_height;
	}
	return y;
}

/* ---- the whole ---- */

/* One circuit below y; where it ends. */
static double draw_scene(struct scene *s, const struct draw_options *o, double y, double *widest, struct buf *out)
{
	struct svg_drawing d = { .s = s, .o = o, .out = out };

	d.width = mem_alloc(s->ncolumn + 1, sizeof *d.width);
	d.left = mem_alloc(s->ncolumn + 1, sizeof *d.left);
	d.right = mem_alloc(s->ncolumn + 1, sizeof *d.right);
	d.bundle_box = mem_alloc(s->nbundle + 1, sizeof *d.bundle_box);
	d.start = mem_alloc(s->ncolumn + 1, sizeof *d.start);
	svg_measure(&d);
	d.x0 = margin + d.name_width;
	if (*s->circuit->name) {
		ink_words(d.out, "q-circuit", margin, y + 12, scene_title(s));
		y += line_height + 4;
	}
	do {
		scene_rows_from(s, d.from, &d.first, &d.last);
		d.to = band_end(&d);
		d.top = y + (s->nframe ? title_height : 0) + pitch / 2 - d.first * pitch;
		draw_band(&d, widest);
		y = svg_row(&d, d.last) + pitch / 2 + 8;
		d.from = d.to;
	} while (d.from < s->ncolumn);
	for (uint32_t i = 0; i < s->nnote; i++)
		y = draw_note(&d, s->note[i], y, widest);
	free(d.width);
	free(d.left);
	free(d.right);
	free(d.bundle_box);
	free(d.start);
	return y;
}

static void svg_open(const struct draw_options *o, double width, double height, struct buf *out)
{
	buf_str(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"qcnn-circuit\" role=\"img\"");
	INK_ATTRIBUTES(out, "width height", width, height);
	buf_str(out, " viewBox=\"0 0 ");
	ink_number(out, width);
	buf_char(out, ' ');
	ink_number(out, height);
	buf_str(out, "\">\n<title>quantum circuit</title>\n");
	if (o->embedded)
		return;
	buf_str(out, "<style>\n");
	draw_svg_style(false, out);
	buf_str(out, "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

int draw_svg(const struct program *p, const struct draw_options *o, struct buf *out, struct err *e)
{
	buf_auto body = BUF_INIT, head = BUF_INIT;
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
		double w = margin + ink_width(head.data, name_size);

		ink_words(d.out, "q-note", margin, y + 16, head.data);
		y += line_height + 4;
		widest = w > widest ? w : widest;
	}
	if (!code) {
		svg_open(o, widest + margin, y + margin, out);
		buf_add(out, body.data ? body.data : "", body.len);
		buf_str(out, "</svg>\n");
	}
	return code;
}
