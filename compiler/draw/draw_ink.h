/* SPDX-License-Identifier: Apache-2.0
 * The ink of drawings in SVG: shapes with a class, and words whose width is known. */
#pragma once

#include "runtime/base/buf.h"

enum { TINTS = 4, EMBED_TINT = 4 };  /* classes q-tint0 and on: grounds of layers, and that of an embedding */

/* px that UTF-8 text takes in a face of that size. */
double ink_width(const char *s, double size);
/* At most two digits behind the point, none where they are zero. */
void ink_number(struct buf *out, double v);
/* name="value" pairs: INK_ATTRIBUTES(out, "x y", x, y). */
void ink_attributes(struct buf *out, const char *names, const double *v);
#define INK_ATTRIBUTES(out, names, ...) ink_attributes(out, names, (const double[]){ __VA_ARGS__ })
/* An empty element of that class. */
void ink_shape(struct buf *out, const char *tag, const char *class, const char *names, const double *v);
#define INK_SHAPE(out, tag, class, names, ...) ink_shape(out, tag, class, names, (const double[]){ __VA_ARGS__ })
void ink_words(struct buf *out, const char *class, double x, double y, const char *s);
void ink_line(struct buf *out, const char *class, double x1, double y1, double x2, double y2);
