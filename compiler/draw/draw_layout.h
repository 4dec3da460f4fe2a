/* SPDX-License-Identifier: Apache-2.0
 * Where the columns of a scene stand, in the units of its drawing: characters, or px at 96 to the inch. A band is what stands
 * in one line of it. */
#pragma once

#include "compiler/draw/draw_scene.h"

/* A kind of drawing. */
struct layout_sizes {
	double gap; /* at each side of a column, and again of a layer */
	double title_room, name_room, output_room; /* beside these words */
	double rest_room;                          /* behind a band that is not the last */
	double lane;                               /* from a line to the next */
	double edge, line; /* from a line to the edge of its box; width of a line */
	double (*words)(const struct draw_options *o, const char *s, bool title);
	double (*element)(const struct draw_options *o, const struct element *x);
};

struct layout {
	const struct scene *s;
	const struct draw_options *o;
	const struct layout_sizes *z;
	double *width, *left, *right; /* (ncolumn) of all, of the room before and behind elements */
	double *start;      /* (ncolumn + 1) where columns of this band begin, and its end */
	double *bundle_box; /* (nbundle) width of the widest box */
	double name_width, end_width; /* of the names of wires, of the widest output */
	uint32_t from, to;            /* columns of this band */
	uint32_t first, last;         /* its rows: those that go on, and what is between */
};

/* All but the band, in the scene's arena. */
struct layout layout_of(struct scene *s, const struct draw_options *o, const struct layout_sizes *z);
/* The next band: as many columns from x on as end before `room`, at least one. */
void layout_band(struct layout *l, double x, double room);
/* Of all that shares the element's bundle. */
double layout_shared(const struct layout *l, const struct element *x);
/* The line of an element in lanes, from the left end of its bundle. */
double layout_lane(const struct layout *l, const struct element *x);
bool layout_has_box(const struct element *x);
