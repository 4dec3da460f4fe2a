/* SPDX-License-Identifier: Apache-2.0
 * The exact shortcuts an evaluator may take: bits of a set, and their names.
 *
 * A shortcut changes how numbers are computed, not what they are: results with and
 * without it differ by rounding.  Whether one is taken depends on program, batch,
 * precision and kernel set alone. */
#ifndef QCNN_SHORTCUT_H
#define QCNN_SHORTCUT_H

enum shortcut_row {
#define SHORTCUT(id, name, text) SHORTCUT_ROW_##id,
#include "runtime/exec/exact_optimisation.def"
#undef SHORTCUT
	SHORTCUTS_COUNT
};

enum shortcut {
	SHORTCUT_NONE = 0,
#define SHORTCUT(id, name, text) SHORTCUT_##id = 1u << SHORTCUT_ROW_##id,
#include "runtime/exec/exact_optimisation.def"
#undef SHORTCUT
	SHORTCUT_ALL = (1u << SHORTCUTS_COUNT) - 1
};

extern const char *const shortcut_name[SHORTCUTS_COUNT];
extern const char *const shortcut_text[SHORTCUTS_COUNT];

/* The bit of a name, or SHORTCUT_NONE. */
unsigned shortcut_find(const char *name);

#endif
