/* SPDX-License-Identifier: Apache-2.0
 * Plots as SVG: curves and points, histograms, matrices; for reports and for files.
 *
 * Colours are classes: svg_style gives them, once a page, or inside of a figure that stands
 * alone.  Values that are not finite are left out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "runtime/base/buf.h"

enum { SVG_COLOURS = 8 };        /* and SVG_FAINT, for what stands behind */
#define SVG_FAINT SVG_COLOURS

struct svg_size { double width, height; bool alone; };   /* px; alone: with its own style and ground */

struct svg_series {
	const char *name;            /* in the legend; NULL: none */
	const double *x, *y; size_t n;
	const double *low, *high; /* (n) a band behind the line; NULL: none */
	unsigned colour;
	bool dashed, points;         /* points: dots instead of a line */
};
struct svg_plot {
	const char *title, *x_label, *y_label;
	const struct svg_series *series; unsigned nseries;
	bool log_y;                  /* where all values are positive */
	bool may_log_y;              /* where they are and span a decade or more */
	bool whole_x;                /* ticks at whole numbers only */
	const double *x_tick; unsigned nx_tick;      /* instead of chosen ones; NULL: chosen */
	const char *const *x_name;   /* of these ticks instead of their numbers; NULL: numbers */
	const char *mark; double mark_x;     /* a vertical line and its name in the legend; NULL: none */
	bool hover;                  /* values in tooltips, as <title> elements */
};
void svg_plot(const struct svg_plot *p, const struct svg_size *size, struct buf *out);

/* Bars of nseries counts side by side in each of nbin bins from low to high. */
struct svg_bars {
	const char *title, *x_label, *y_label;
	double low, high; unsigned nbin, nseries;
	const char *const *name;
	const double *count;         /* (nseries, nbin) */
};
void svg_bars(const struct svg_bars *b, const struct svg_size *size, struct buf *out);

/* A square matrix of counts; rows are what is, columns what was said. */
struct svg_matrix { const char *title, *row_label, *column_label; unsigned n; const char *const *name; const double *count; };
void svg_matrix(const struct svg_matrix *m, const struct svg_size *size, struct buf *out);

/* A line of ticks at values between low and high. */
void svg_strip(const double *value, size_t n, double low, double high, const struct svg_size *size, struct buf *out);

void svg_style(bool dark, struct buf *out);
