/* SPDX-License-Identifier: Apache-2.0
 * Drawings of a program's circuits: as text for terminals and as SVG for paper.
 *
 * Both show the same scene (draw_scene.h): wires with the names of their registers, gates
 * and blocks in columns, layers framed or each as one box, what is traced out, measured
 * and observed, and in words what has no place on a wire. */
#pragma once

#include "runtime/program/program.h"

enum {
	DRAW_WIRES_MAX = 1024,               /* of one circuit */
	DRAW_ELEMENTS_MAX = 50000,           /* boxes and symbols of one circuit */
	DRAW_CELLS_MAX = 8 << 20             /* rows times columns, in characters */
};

struct draw_options {
	const char *const *collapse; unsigned ncollapse;   /* layers as one box: "conv[0]", "conv" for all of that name, "all" */
	bool expand;                         /* the gates inside of blocks */
	bool ascii;                          /* text: no other characters */
	unsigned width;                      /* fold lines wider than this: characters or pixels; 0: never */
	bool whole_layers; /* SVG: a layer that is up to half wider stays in one line */
	bool embedded;                       /* SVG: classes alone, the page has the style */
};

/* 0, or -ERR_USAGE where `collapse` names no layer, or -ERR_CONFIG where the drawing would be too large. */
int draw_text(const struct program *p, const struct draw_options *o, struct buf *out, struct err *e);
int draw_svg(const struct program *p, const struct draw_options *o, struct buf *out, struct err *e);
/* The same scenes as one JSON object; qcnn-draw(1) has its keys. */
int draw_json(const struct program *p, const struct draw_options *o, struct buf *out, struct err *e);
/* The colours of the SVG's classes: light, or dark where `dark` is set. */
void draw_svg_style(bool dark, struct buf *out);
