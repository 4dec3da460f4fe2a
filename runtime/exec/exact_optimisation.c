/* SPDX-License-Identifier: Apache-2.0
 * Names of the optimisations. */
#include "runtime/exec/exact_optimisation.h"

#include <string.h>

const char *const optimisation_name[OPTIMISATIONS_COUNT] = {
#define OPTIMISATION(id, name, text) name,
#include "runtime/exec/exact_optimisation.def"
#undef OPTIMISATION
};

const char *const optimisation_text[OPTIMISATIONS_COUNT] = {
#define OPTIMISATION(id, name, text) text,
#include "runtime/exec/exact_optimisation.def"
#undef OPTIMISATION
};

unsigned optimisation_find(const char *name)
{
	for (unsigned k = 0; k < OPTIMISATIONS_COUNT; k++)
		if (!strcmp(name, optimisation_name[k]))
			return 1u << k;
	return OPTIMISATION_NONE;
}
