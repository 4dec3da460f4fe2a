/* SPDX-License-Identifier: Apache-2.0
 * The size of a terminal, and text that fits it. */
#pragma once

#include <stdio.h>
#include "runtime/base/buf.h"

/* Columns of the terminal that `f` writes to, read at each call since windows change; else COLUMNS, else 80; at least
 * 20 and at most 1000. height may be NULL. */
unsigned terminal_width(FILE *f, unsigned *height);
/* Append the text, broken at spaces into lines of less than `width` columns; lines that continue begin with two spaces.
 * A longer word stays whole. Colours take no columns. */
void terminal_wrap(const char *text, size_t width, struct buf *out);
