/* SPDX-License-Identifier: Apache-2.0
 * A canvas of characters for drawings in text.
 *
 * A cell holds the arms of a line (up, down, left, right) or a character; arms that are drawn
 * over each other add up, so crossings and shared borders come out by themselves. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/buf.h"

enum arm { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8, DASHED = 16, DOUBLE = 32 };

struct cell { unsigned char arms; uint32_t glyph; };
/* cell: (nline, ncolumn) row-major, the caller's. ascii: nothing else is written. */
struct canvas { unsigned nline, ncolumn; struct cell *cell; bool ascii; };

struct cell *canvas_cell(struct canvas *c, unsigned line, unsigned column);
void canvas_arms(struct canvas *c, unsigned line, unsigned column, unsigned a);
void canvas_glyph(struct canvas *c, unsigned line, unsigned column, uint32_t code);
/* UTF-8 from a column on; the column behind it. */
unsigned canvas_text(struct canvas *c, unsigned line, unsigned column, const char *text);
/* The border of a box, over what was inside. */
void canvas_box(struct canvas *c, unsigned top, unsigned bottom, unsigned left, unsigned right);
/* The lines from `first` on, without blanks at their ends, and without empty lines at the top and below. */
void canvas_print(const struct canvas *c, unsigned first, struct buf *out);

/* How many columns a text takes. */
unsigned canvas_columns(const char *text, bool ascii);
/* A text beside a canvas. */
void canvas_words(struct buf *out, const char *text, bool ascii);
