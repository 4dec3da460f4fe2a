/* SPDX-License-Identifier: Apache-2.0
 * One circuit as SVG while it is drawn: its sizes, and the parts of a band. Sizes are in px at 96 to the inch. */
#pragma once

#include "compiler/draw/draw_scene.h"

static const double pitch = 46, name_size = 14;      /* of the wires; of their names and those of gates */

struct svg_drawing {
	const struct scene *s;
	const struct draw_options *o;
	struct buf *out;
	double *width, *left, *right;        /* (ncolumn) */
	double *start;                       /* (ncolumn + 1) where columns of this band begin, and its end */
	double *bundle_box;                  /* (nbundle) width of the widest box */
	double name_width, end_width;
	uint32_t from, to;                   /* columns of this band */
	uint32_t first, last;                /* its rows: those that go on, and what is between */
	double top, x0;                      /* of the first wire, of the first column */
};

/* Fills width, left, bundle_box, right, name_width and end_width. */
void svg_measure(struct svg_drawing *d);
/* The y of a wire. */
double svg_row(const struct svg_drawing *d, uint32_t row);
void svg_element(struct svg_drawing *d, const struct element *x);
/* A wire of the band, up to `end` at most. */
void svg_wire(struct svg_drawing *d, uint32_t r, double end);
/* What of a layer's ground is in the band. */
void svg_frame(struct svg_drawing *d, const struct frame *f);
