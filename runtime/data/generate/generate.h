/* SPDX-License-Identifier: Apache-2.0
 * Data sets that are generated: rows of generators.def. */
#pragma once

#include "runtime/data/dataset.h"

enum { GENERATOR_OPTIONS_MAX = 5 };
/* option: as in the row, in its order; NULL: all defaults. */
struct generate_options { const char *name; uint64_t seed; uint32_t rounds; uint32_t nqubit; const double *option; };
int dataset_generate(const struct generate_options *o, struct dataset **out, struct err *e);
enum generator_input { GENERATOR_NUMBERS = 0, GENERATOR_STATE, GENERATOR_NOTHING };
/* The input that samples have: nqubit numbers, a state of nqubit qubits, or none. NUMBERS where there is no such generator. */
enum generator_input generator_input(const char *name);

/* ---- what a generator implements ---- */

/* rounds and (but for NOTHING) nqubit are at least 1, options are there; the result has everything but its digest. */
typedef int (*generate_fn)(const struct generate_options *o, struct dataset **out, struct err *e);
struct generator { const char *name; enum generator_input input; generate_fn generate; const double *option; };

#define GENERATOR(function, name, input, meaning, options) \
	int generate_##function(const struct generate_options *o, struct dataset **out, struct err *e);
#include "runtime/data/generate/generators.def"
#undef GENERATOR
