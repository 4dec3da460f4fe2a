/* SPDX-License-Identifier: Apache-2.0
 * The exact optimisations an evaluator may take: bits of a set, and their names.
 *
 * An optimisation changes how numbers are computed, not what they are: results with and
 * without it differ by rounding.  Whether one is taken depends on program, batch,
 * precision and kernel set alone. */
#pragma once

enum optimisation_row {
#define OPTIMISATION(id, name, text) OPTIMISATION_ROW_##id,
#include "runtime/exec/exact_optimisation.def"
#undef OPTIMISATION
	OPTIMISATIONS_COUNT
};

enum optimisation {
	OPTIMISATION_NONE = 0,
#define OPTIMISATION(id, name, text) OPTIMISATION_##id = 1u << OPTIMISATION_ROW_##id,
#include "runtime/exec/exact_optimisation.def"
#undef OPTIMISATION
	OPTIMISATION_ALL = (1u << OPTIMISATIONS_COUNT) - 1
};

extern const char *const optimisation_name[OPTIMISATIONS_COUNT];
extern const char *const optimisation_text[OPTIMISATIONS_COUNT];

/* The bit of a name, or OPTIMISATION_NONE. */
unsigned optimisation_find(const char *name);
