/* SPDX-License-Identifier: Apache-2.0
 * What a drawing of one circuit shows and in which column, before any ink.
 *
 * Rows are wires.  An element takes one column and all rows from its first to its last,
 * so that lines between its marks cross nothing but wires; a column may hold several elements
 * whose rows overlap where each is two boxes (struct bundle).  Layers begin and end between
 * columns. */
#pragma once

#include "compiler/draw/draw.h"

enum mark_kind {
	MARK_NONE = 0,
	MARK_BOX,                    /* on rows first .. last */
	MARK_CONTROL,                /* a dot: acts on 1 */
	MARK_ANTICONTROL,            /* a ring: acts on 0 */
	MARK_PLUS,                   /* x under controls */
	MARK_CROSS,                  /* one end of a swap */
	MARK_DISCARD,                /* the wire ends */
	MARK_METER                   /* the wire is classical from here on */
};

struct mark { enum mark_kind kind; uint32_t first, last; };

/* What is written in a box: `plain` on one line of text; typeset base with index and exponent,
 * and `params` below. Parts may be "". */
struct box_label { const char *plain, *base, *sub, *sup, *params; };

/* Elements of two boxes each that share a column: their lines run side by side, in lanes.  The rows of each element are
 * inside those of the one before (nested; the last may be one box), or each pair of boxes is below the pair before. */
struct bundle {
	uint32_t nlane;
	bool nested;
	uint32_t newest;                     /* element */
	uint32_t lower;                      /* first row of the first element's second box */
};

struct element {
	uint32_t column, first, last;        /* last, first: rows */
	uint32_t bundle, lane;               /* bundle: INDEX_NONE where it is in none */
	uint32_t nmark; struct mark *mark;   /* by rows, from the first on */
	struct box_label label;
	uint32_t noperand, *operand;         /* rows of the operands in order, where their order matters */
	bool is_layer;                       /* a whole layer */
	uint32_t layer;                      /* INDEX_NONE outside */
};

struct frame { uint32_t layer, column, ncolumn, first, last; const char *title; };

struct scene {
	struct arena arena;
	const struct program *program;
	const struct circuit_code *circuit;
	uint32_t nrow, ncolumn;
	const char **row_name;               /* "q[0]" */
	uint32_t *row_end; /* column of the discard; INDEX_NONE, above all columns, where the wire goes on */
	uint32_t *row_classical;             /* column of the measurement, or INDEX_NONE */
	const char **row_output;             /* "<Z>", or NULL */
	uint32_t nelement;
	struct element *element;
	uint32_t nframe;
	struct frame *frame;
	uint32_t nbundle;
	struct bundle *bundle;
	uint32_t nnote; const char **note;   /* outputs that are on no single wire */
	uint32_t *stamp, stamp_now;          /* (nexpr) marks of a walk; while building */
};

int scene_build(const struct program *p, uint32_t circuit, const struct draw_options *o, struct scene *s, struct err *e);
void scene_release(struct scene *s);
/* Does its column hold other elements of the same bundle? */
bool scene_in_lanes(const struct scene *s, const struct element *x);
/* What stands above a circuit: its instance's name, and how often it is there; "" where there is no name. */
const char *scene_title(struct scene *s);
/* The head in words, "dense 4 -> 8 -> 1"; nothing where there is none. */
void scene_head(const struct program *p, struct buf *out);

/* Does every word of `collapse` name a layer? */
int scene_check(const struct program *p, const struct draw_options *o, struct err *e);

/* draw_label.c: labels of a gate or a block in the words of a layer (NULL: none). */
struct box_label label_gate(struct scene *s, const struct item *it, bool inverse, const char *layer);
struct box_label label_matrix(struct scene *s, const struct matrix *m, bool adjoint, const char *layer);
/* Of n operations that are one call. */
struct box_label label_call(struct scene *s, const struct call_note *c, const struct apply *a,
	uint32_t n, const char *layer);
struct box_label label_words(struct arena *a, const char *words);
/* One output in words: "z(q[0])*z(q[1]) + 0.5*x(q[2])". */
void label_output(const struct scene *s, const struct output *o, struct buf *out);
