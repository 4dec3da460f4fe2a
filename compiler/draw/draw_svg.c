/* SPDX-License-Identifier: Apache-2.0
 * Circuits as SVG, fit for a paper: thin lines, typeset names, layers on pale grounds; in bands where they are wide. */
#include "compiler/draw/draw_svg_parts.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/draw/draw_ink.h"

/* px */
static const double margin = 12, title_height = 15, line_height = 18, note_width = 900;

/* ---- bands ---- */

static void draw_band(struct svg_drawing *d, double *widest)
{
	const struct layout *l = &d->l;
	const struct scene *s = l->s;
	double end = l->start[l->to], right = end + (l->to == s->ncolumn ? l->end_width : 16);

	for (uint32_t i = 0; i < s->nframe; i++)
		svg_frame(d, &s->frame[i]);
	for (uint32_t r = 0; r < s->nrow; r++)
		svg_wire(d, r, end);
	for (uint32_t i = 0; i < s->nelement; i++)
		if (s->element[i].column >= l->from && s->element[i].column < l->to)
			svg_element(d, &s->element[i]);
	*widest = right > *widest ? right : *widest;
}

/* ---- words ---- */

/* An output in words, broken before + and - where it gets too wide; where it ends. */
static double draw_note(struct svg_drawing *d, const char *note, double y, double *widest)
{
	const double width = d->l.o->width,
		     room = width > 2 * margin ? width - 2 * margin : note_width;
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
	struct svg_drawing d = { .l = layout_of(s, o, &svg_sizes), .out = out };

	if (*s->circuit->name) {
		ink_words(d.out, "q-circuit", margin, y + 12, scene_title(s));
		y += line_height + 4;
	}
	do {
		layout_band(&d.l, margin + d.l.name_width, o->width - 2 * margin);
		d.top = y + (s->nframe ? title_height : 0) + pitch / 2 - d.l.first * pitch;
		draw_band(&d, widest);
		y = svg_row(&d, d.l.last) + pitch / 2 + 8;
	} while (d.l.to < s->ncolumn);
	for (uint32_t i = 0; i < s->nnote; i++)
		y = draw_note(&d, s->note[i], y, widest);
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
		double w = margin + ink_width(head.data, name_size);

		ink_words(&body, "q-note", margin, y + 16, head.data);
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
