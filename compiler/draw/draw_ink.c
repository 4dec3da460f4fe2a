/* SPDX-License-Identifier: Apache-2.0
 * SVG's shapes and words, and the colours of drawings.
 *
 * Text is set in a sans serif whose widths are taken from Helvetica's metrics, with some room
 * for other faces. */
#include "compiler/draw/draw_ink.h"

#include <stdio.h>
#include <string.h>

#include "compiler/draw/draw.h"

/* Advance widths of Helvetica, 1/1000 em, from U+0020 on (Adobe's font metrics). */
static const unsigned short advance[95] = {
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
};

double ink_width(const char *s, double size)
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

/* At most two digits behind the point, none where they are zero. */
void ink_number(struct buf *out, double v)
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
void ink_attributes(struct buf *out, const char *names, const double *v)
{
	while (*names) {
		size_t n = strcspn(names, " ");

		buf_char(out, ' ');
		buf_add(out, names, n);
		buf_str(out, "=\"");
		ink_number(out, *v++);
		buf_char(out, '"');
		names += n + strspn(names + n, " ");
	}
}

void ink_shape(struct buf *out, const char *tag, const char *class, const char *names, const double *v)
{
	buf_printf(out, "<%s class=\"%s\"", tag, class);
	ink_attributes(out, names, v);
	buf_str(out, "/>\n");
}

void ink_words(struct buf *out, const char *class, double x, double y, const char *s)
{
	buf_printf(out, "<text class=\"%s\"", class);
	INK_ATTRIBUTES(out, "x y", x, y);
	buf_char(out, '>');
	buf_xml_in(out, "", s, "</text>\n");
}

void ink_line(struct buf *out, const char *class, double x1, double y1, double x2, double y2)
{
	INK_SHAPE(out, "line", class, "x1 y1 x2 y2", x1, y1, x2, y2);
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
		".qcnn-circuit .q-layer{stroke:%s;stroke-width:1}\n"
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
		ink, ink, paper, ink, ink, ink, paper, ink, soft, soft);
	for (unsigned k = 0; k <= TINTS; k++)
		buf_printf(out, ".qcnn-circuit .q-tint%u{fill:%s}\n", k, tint[dark][k]);
}
