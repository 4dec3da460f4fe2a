/* SPDX-License-Identifier: Apache-2.0
 * Stages under the limits of the machine (Williams, Waterman, Patterson: Roofline, Communications of the ACM 52(4), 2009). */
#include "cli/profile/profile_page.h"

#include <math.h>
#include <string.h>

#include "runtime/log/svg.h"

enum { WIDTH = 1000 };

enum { H = 360, LEFT = 60, BOTTOM = 40, DECADES = 5 };
static const double W = WIDTH - LEFT - 20, PLOT_H = H - BOTTOM - 10;

/* The logarithms of the least values on the axes, of DECADES decades each. */
struct axes {
	double x0, y0;
};

static double x_of(const struct axes *a, double flops_per_byte)
{
	return LEFT + W * (log10(flops_per_byte) - a->x0) / DECADES;
}

static double y_of(const struct axes *a, double gflop_s)
{
	return 10 + PLOT_H * (1 - (log10(gflop_s) - a->y0) / DECADES);
}

static const char *const pass_key[] = { "forward", "backward", "both" };
static const char *const pass_name[] = { "stage, forward", "stage, backward", "stage, both passes" };

static void put_axes(const struct axes *a, struct buf *out)
{
	for (int d = 0; d <= DECADES; d++) {
		double x = LEFT + W * d / DECADES, y = 10 + PLOT_H * (1 - (double)d / DECADES);

		buf_printf(out, "<path class=\"p-grid\" d=\"M%.1f 10V%.1fM%d %.1fH%.1f\"/>", x,
			10 + PLOT_H, LEFT, y, LEFT + W);
		buf_printf(out,
			"<text class=\"p-label p-middle\" x=\"%.1f\" y=\"%u\">%g</text><text class=\"p-label p-end\" x=\"%d\" y=\"%.1f\">%g</text>\n",
			x, H - 20, pow(10, a->x0 + d), LEFT - 6, y + 4, pow(10, a->y0 + d));
	}
	buf_printf(out,
		"<text class=\"p-label p-middle\" x=\"%.1f\" y=\"%u\">floating-point operations per byte of memory traffic</text><text class=\"p-label\" x=\"%u\" y=\"%u\">GFLOP/s</text>\n",
		LEFT + W / 2, H - 3, LEFT + 6, 24);
}

/* Memory up to where it meets the multiply-add limit, and that limit. */
static void put_limits(const struct axes *a, double fma, double stream, struct buf *out)
{
	double knee = fma / stream, low = pow(10, a->x0);

	buf_printf(out,
		"<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>\n",
		x_of(a, low), fmin(y_of(a, fmax(low * stream, pow(10, a->y0))), PLOT_H + 10),
		x_of(a, knee), y_of(a, fma), LEFT + W, y_of(a, fma));
	buf_printf(out,
		"<text class=\"p-label p-end\" x=\"%.1f\" y=\"%.1f\">%.3g GFLOP/s by multiply-add</text><text class=\"p-label\" x=\"%.1f\" y=\"%.1f\">%.3g GB/s from memory</text>\n",
		LEFT + W, y_of(a, fma) - 8, fma, x_of(a, 0.1) + 10, y_of(a, 0.1 * stream) + 14,
		stream);
}

static void put_legend(struct buf *out)
{
	for (unsigned k = 0; k < 3; k++)
		buf_printf(out,
			"<circle class=\"p-dot p-c%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/><text class=\"p-label\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
			k, LEFT + W - 150, PLOT_H - 40 + 18. * k, LEFT + W - 138,
			PLOT_H - 36 + 18. * k, pass_name[k]);
	buf_printf(out,
		"<text class=\"p-label\" x=\"%.1f\" y=\"%.1f\">numbers: of the stages</text>\n",
		LEFT + W - 156, PLOT_H - 58);
}

/* A point for the stage, at the edge where it lies outside. */
static void put_stage(const struct axes *a, const struct profile_cell *row, double x, double y,
	struct buf *out)
{
	double cx = fmin(fmax(x_of(a, x), LEFT), LEFT + W),
	       cy = fmin(fmax(y_of(a, y), 10), 10 + PLOT_H);
	unsigned pass = 0;

	while (pass < 2 && row[2].text && strcmp(row[2].text, pass_key[pass]))
		pass++;
	buf_printf(out,
		"<circle class=\"p-dot p-c%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"><title>stage %.0f, %s: %.3g GFLOP/s, %.3g flops a byte</title></circle><text class=\"p-label\" x=\"%.1f\" y=\"%.1f\">%.0f</text>\n",
		pass, cx, cy, row[1].number, pass_name[pass], y, x, cx + 9, cy + 4, row[1].number);
}

void profile_roofline(const struct profile *p, const struct profile_section *stages, bool alone,
	struct buf *out)
{
	double fma = profile_fma_limit(p), stream = profile_stream_limit(p);
	int at_x = -1, at_y = -1;

	for (unsigned k = 0; k < stages->ncolumn; k++) {
		at_x = !strcmp(stages->column[k].key, "flops_per_byte") ? (int)k : at_x;
		at_y = !strcmp(stages->column[k].key, "gflop_s") ? (int)k : at_y;
	}
	if (!(fma > 0) || !(stream > 0) || !stages->nrow)
		return;
	const struct axes a = { -2, floor(log10(fma)) - DECADES + 2 };
	buf_printf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"qcnn-plot\" viewBox=\"0 0 %u %u\" style=\"min-width:560px\" role=\"img\">\n",
		WIDTH, H);
	if (alone) {
		buf_str(out, "<style>\n");
		svg_style(false, out);
		buf_str(out, "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
	}
	put_axes(&a, out);
	put_limits(&a, fma, stream, out);
	put_legend(out);
	for (uint32_t r = 0; r < stages->nrow; r++) {
		const struct profile_cell *row = &stages->cell[r * stages->ncolumn];
		double x = row[at_x].number, y = row[at_y].number;

		if (x > 0 && y > 0)
			put_stage(&a, row, x, y, out);
	}
	buf_str(out, "</svg>");
}
