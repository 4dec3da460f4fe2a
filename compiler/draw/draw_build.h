/* SPDX-License-Identifier: Apache-2.0
 * A scene while it is built, for draw_scene.c (layers, the whole) and its parts alone. */
#pragma once

#include "compiler/draw/draw_scene.h"

/* How a mark acts on its row.  Two elements commute where they act alike on every row they share: dots and rings are
 * diagonal, and each circled plus is a function of the Pauli X of its row. */
enum row_action { ACTION_OTHER = 0, ACTION_DIAGONAL, ACTION_FLIP, ACTION_COUNT };

/* What the elements placed so far use of one row. */
struct row_columns {
	uint64_t *taken; uint32_t ntaken, cap_taken;         /* a bit per column that an element covers */
	uint32_t done[ACTION_COUNT];                         /* by action: the column after the last element that acts so */
};

struct builder {
	struct scene *s;
	const struct draw_options *o;
	struct err *e;
	int code; /* 0, or why there is too much to draw: nothing is added any more */
	uint32_t base;               /* columns before this one belong to earlier layers */
	struct row_columns *row;     /* (nrow) */
	uint32_t layer;              /* of the applies at hand */
};

/* draw_place.c: the first column that keeps the order of elements that do not commute and in which all rows from the
 * element's first to its last are free.  Needs the marks in order. */
void place(struct builder *b, struct element *x);

/* draw_element.c: each may set b->code. */

/* The path of the layer at hand, or NULL. */
const char *layer_path(const struct builder *b);
/* What one apply is: gates, blocks, the ends of wires. */
void add_apply(struct builder *b, const struct apply *a);
/* Operations that are one call, as one box; then those of its wires that end. */
void add_call(struct builder *b, const struct apply *a, uint32_t n);
/* A box for a whole layer on the rows given. */
void add_layer_box(struct builder *b, const char *title, uint32_t *row, uint32_t n);
/* A box at the ends of the wires of a distribution. */
void add_distribution(struct builder *b, const struct output *o);

/* draw_rows.c: names of the wires, and what is observed at their ends. */
void scene_rows(struct scene *s);
