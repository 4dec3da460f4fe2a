/* SPDX-License-Identifier: Apache-2.0
 * A scene while it is built, for draw_scene.c (layers, the whole) and its parts alone. */
#ifndef QCNN_DRAW_BUILD_H
#define QCNN_DRAW_BUILD_H

#include "compiler/draw_scene.h"

struct builder {
	struct scene *s;
	const struct draw_options *o;
	struct err *e;
	uint32_t *next;              /* (nrow) first free column */
	uint32_t *operand;           /* (nrow) scratch: rows of an element's operands */
	bool *touched;               /* (nrow) of a collapsed layer */
	uint32_t layer;              /* of the applies at hand */
};

/* draw_element.c. All return 0, or a code where there is too much to draw. */

/* The path of the layer at hand, or NULL. */
const char *layer_path(const struct builder *b);
/* What one apply is: gates, blocks, the ends of wires. */
int add_apply(struct builder *b, const struct apply *a);
/* A box for a whole layer on the rows given. */
int add_layer_box(struct builder *b, const char *title, const uint32_t *row, uint32_t n);

/* draw_rows.c: names of the wires, and what is observed at their ends. */
void scene_rows(struct scene *s);

#endif
