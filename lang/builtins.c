/* SPDX-License-Identifier: Apache-2.0
 * The table of functions. */
#include "lang/builtins.h"

#include <string.h>

#include "runtime/base/maths.h"

const char *const math_constant_names[MATH_CONSTANTS] = { "pi", "tau", "euler" };

bool math_constant(const char *name, double *value)
{
	static const double values[MATH_CONSTANTS] = { PI, 2 * PI, 2.7182818284590452354 };
	int k = 0;

	while (k < MATH_CONSTANTS && strcmp(name, math_constant_names[k]))
		k++;
	if (k < MATH_CONSTANTS)
		*value = values[k];
	return k < MATH_CONSTANTS;
}

static const struct builtin_row rows[BUILTIN_COUNT] = {
#define BUILTIN(id, name, min_args, max_args, takes, result, doc) \
	[BUILTIN_##id] = { BUILTIN_##id, name, min_args, max_args, TAKES_##takes, result, doc },
#include "lang/builtins.def"
#undef BUILTIN
};

const struct builtin_row *builtin_row(enum builtin b)
{
	return b > BUILTIN_NONE && b < BUILTIN_COUNT ? &rows[b] : NULL;
}

enum builtin builtin_find(const char *name)
{
	for (int i = 1; i < BUILTIN_COUNT; i++)
		if (!strcmp(rows[i].name, name))
			return (enum builtin)i;
	return BUILTIN_NONE;
}
