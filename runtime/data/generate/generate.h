/* SPDX-License-Identifier: Apache-2.0
 * What a generator implements, and what makers of data sets share. */
#ifndef QCNN_GENERATE_H
#define QCNN_GENERATE_H

#include "runtime/data/dataset.h"

/* rounds and nqubit are at least 1, options are there; the result has everything but its digest. */
typedef int (*generate_fn)(const struct generate_options *o, struct dataset **out, struct err *e);
enum generator_input { GENERATOR_NUMBERS = 0, GENERATOR_STATE };
struct generator { const char *name; enum generator_input input; generate_fn generate; const double *option; };

#define GENERATOR(function, name, input, meaning, options) \
	int generate_##function(const struct generate_options *o, struct dataset **out, struct err *e);
#include "runtime/data/generate/generators.def"
#undef GENERATOR

/* A zeroed data set of checked size, with memory for x and y (y: ny > 0). */
int dataset_new(uint64_t nrow, uint64_t nx, uint32_t ny, const char *source, struct dataset **out,
	struct err *e);
/* The same with x in files, every number of which is looked at; rows becomes the data set's, unless it fails. */
int dataset_new_stored(uint64_t nrow, uint64_t nx, uint32_t ny, const char *source, struct row_store *rows,
	struct dataset **out, struct err *e);
/* SHA-256 over nrow, nx, ny, x and y, little-endian. */
void dataset_digest_arrays(struct dataset *d);

#endif
