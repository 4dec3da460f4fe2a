/* SPDX-License-Identifier: Apache-2.0
 * Text that others wrote, for a terminal.
 *
 * Files of weights, records of runs, data, models and the output of other hosts may hold control characters, which
 * move the cursor, change colours or the window's title, or make a terminal answer; marks that turn the direction of
 * text around; and bytes that are no UTF-8. All of it becomes visible: \x1b, \u202e, \xff. */
#pragma once

#include "runtime/base/buf.h"

enum { VISIBLE_TABS = 1, VISIBLE_LINES = 2, VISIBLE_ONE_COLUMN = 4 };

/* Append to *out. keep: VISIBLE_TABS and VISIBLE_LINES stay as they are; VISIBLE_ONE_COLUMN: `?` stands for each, so that
 * columns can be counted. */
void visible_text(struct buf *out, const char *s, size_t len, unsigned keep);
void visible_str(struct buf *out, const char *s);
/* Is the character, valid UTF-8 of len bytes, one that a terminal does not show as it is? */
bool visible_is_control(const unsigned char *s, size_t len);
