/* SPDX-License-Identifier: Apache-2.0
 * One circuit as SVG while it is drawn: its sizes, and the parts of a band. */
#pragma once

#include "compiler/draw/draw_layout.h"

static const double pitch = 46, name_size = 14;      /* of the wires; of their names and those of gates */

struct svg_drawing {
	struct layout l;
	struct buf *out;
	double top; /* of the first wire */
};

extern const struct layout_sizes svg_sizes;
/* The y of a wire. */
double svg_row(const struct svg_drawing *d, uint32_t row);
void svg_element(struct svg_drawing *d, const struct element *x);
/* A wire of the band, up to `end` at most. */
void svg_wire(struct svg_drawing *d, uint32_t r, double end);
/* What of a layer's ground is in the band. */
void svg_frame(struct svg_drawing *d, const struct frame *f);
