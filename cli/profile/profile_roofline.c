/* SPDX-License-Identifier: Apache-2.0
 * Stages under the limits of the machine (Williams, Waterman, Patterson: Roofline, Communications of the ACM 52(4), 2009). */
#include "cli/profile/profile_roofline.h"

#include <math.h>
#include <string.h>

#include "runtime/log/svg.h"

enum { WIDTH = 1000 };

/* Decades of the axes; a stage is a point. */
void profile_roofline(const struct profile *p, const struct profile_section *stages, bool alone,
	struct buf *out)
{
	enum { H = 360, LEFT = 60, BOTTOM = 40, DECADES_X = 5, DECADES_Y = 5 };
	double fma = profile_fma_limit(p), stream = profile_stream_limit(p);
	double y0 = fma > 0 ? floor(log10(fma)) - DECADES_Y + 2 : 0, x0 = -2;
	double w = WIDTH - LEFT - 20, h = H - BOTTOM - 10;
	static const char *const pass_key[] = { "forward", "backward", "both" };
	static const char *const pass_name[] = { "stage, forward", "stage, backward",
		"stage, both passes" };
	int at_x = -1, at_y = -1;

#define X(v) (LEFT + w * (log10(v) - x0) / DECADES_X)
#define Y(v) (10 + h * (1 - (log10(v) - y0) / DECADES_Y))
	for (unsigned k = 0; k < stages->ncolumn; k++) {
		at_x = !strcmp(stages->column[k].key, "flops_per_byte") ? (int)k : at_x;
		at_y = !strcmp(stages->column[k].key, "gflop_s") ? (int)k : at_y;
	}
	if (!(fma > 0) || !(stream > 0) || !stages->nrow)
		return;
	buf_printf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"qcnn-plot\" viewBox=\"0 0 %u %u\" style=\"min-width:560px\" role=\"img\">\n",
		WIDTH, H);
	if (alone) {
		buf_str(out, "<style>\n");
		svg_style(false, out);
		buf_str(out, "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
	}
	for (int d = 0; d <= DECADES_X; d++)
		buf_printf(out, "<text class=\"p-label\" x=\"%.1f\" y=\"%u\">%g</text>",
			LEFT + w * d / DECADES_X - 8, H - 20, pow(10, x0 + d));
	for (int d = 0; d <= DECADES_Y; d++)
		buf_printf(out, "<text class=\"p-label\" x=\"4\" y=\"%.1f\">%g</text>",
			14 + h * (1 - (double)d / DECADES_Y), pow(10, y0 + d));
	buf_printf(out,
		"<text class=\"p-label\" x=\"%u\" y=\"%u\">operations a byte of memory</text><text class=\"p-label\" x=\"%u\" y=\"%u\">GFLOP/s</text>\n",
		WIDTH / 2 - 90, H - 3, LEFT + 6, 22);
	/* Memory up to where it meets the multiply-add limit, and that limit. */
	double knee = fma / stream, low = pow(10, x0);

	buf_printf(out,
		"<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>\n",
		X(low), fmin(Y(fmax(low * stream, pow(10, y0))), h + 10), X(knee), Y(fma), LEFT + w,
		Y(fma));
	buf_printf(out,
		"<text class=\"p-label p-end\" x=\"%.1f\" y=\"%.1f\">%.3g GFLOP/s by multiply-add</text><text class=\"p-label\" x=\"%.1f\" y=\"%.1f\">%.3g GB/s from memory</text>\n",
		LEFT + w, Y(fma) - 8, fma, X(0.1) + 10, Y(0.1 * stream) + 14, stream);
	for (unsigned k = 0; k < 3; k++)
		buf_printf(out,
			"<circle class=\"p-dot p-c%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/><text class=\"p-label\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
			k, LEFT + w - 150, h - 40 + 18. * k, LEFT + w - 138, h - 36 + 18. * k,
			pass_name[k]);
	for (uint32_t r = 0; r < stages->nrow; r++) {
		const struct profile_cell *row = &stages->cell[r * stages->ncolumn];
		double x = row[at_x].number, y = row[at_y].number, cx, cy;
		unsigned pass = 0;

		if (!(x > 0) || !(y > 0))
			continue;
		while (pass < 2 && row[2].text && strcmp(row[2].text, pass_key[pass]))
			pass++;
		cx = fmin(fmax(X(x), LEFT), LEFT + w);
		cy = fmin(fmax(Y(y), 10), 10 + h);
		buf_printf(out,
			"<circle class=\"p-dot p-c%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"><title>stage %.0f, %s: %.3g GFLOP/s, %.3g flops a byte</title></circle><text class=\"p-label\" x=\"%.1f\" y=\"%.1f\">%.0f</text>\n",
			pass, cx, cy, row[1].number, pass_name[pass], y, x, cx + 9, cy + 4,
			row[1].number);
	}
	buf_str(out, "</svg>");
#undef X
#undef Y
}
