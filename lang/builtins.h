/* SPDX-License-Identifier: Apache-2.0
 * Functions that may stand in an expression, from one table, with their kinds. */
#pragma once

#include "lang/ast.h"

enum builtin {
	BUILTIN_NONE = 0,
#define BUILTIN(id, name, min_args, max_args, takes, result, doc) BUILTIN_##id,
#include "lang/builtins.def"
#undef BUILTIN
	BUILTIN_COUNT
};

/* node.builtin of a CALL of `amplitudes`, `evolve` or a noise channel, which are neither gates nor declared. */
enum { CALL_AMPLITUDES = BUILTIN_COUNT, CALL_EVOLVE, CALL_CHANNEL };

/* The arguments: numbers; numbers known while compiling; ints; a list or an array; qubits; qubits, then ints. */
enum builtin_takes {
	TAKES_NUMBERS,
	TAKES_CONSTANTS,
	TAKES_INTS,
	TAKES_ELEMENTS,
	TAKES_QUBITS,
	TAKES_QUBITS_INTS,
	TAKES_COUNT
};

struct builtin_row {
	enum builtin id;
	const char *name;
	unsigned min_args, max_args;
	enum builtin_takes takes;
	enum kind result; /* see builtins.def */
	const char *doc;
};
/* Constants that expressions name. */
enum { MATH_CONSTANTS = 3 };
extern const char *const math_constant_names[MATH_CONSTANTS];
bool math_constant(const char *name, double *value);

const struct builtin_row *builtin_row(enum builtin b);
enum builtin builtin_find(const char *name);
/* Its first argument is the name of a file. */
static inline bool builtin_reads(enum builtin b)
{
	return b == BUILTIN_PAULI_SUM || b == BUILTIN_HERMITIAN;
}
