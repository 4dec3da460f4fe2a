/* SPDX-License-Identifier: Apache-2.0
 * The inputs of a data set that stay in files: rows of numbers at equal distances, decoded when they are wanted.
 *
 * A row's x is put together from fields, one for each array or input. Steps of data.transform are applied to
 * each row that is read. Labels and weights are not here: they are in memory. */
#pragma once

#include "runtime/base/err.h"
#include "runtime/data/number.h"

/* count numbers of every row, at `at` + row * stride, become x[first], x[first + 1], ...; pad: each is followed
 * by a 0, as real amplitudes have no im. */
struct row_field {
	int fd;
	uint64_t at, stride;
	struct number type;
	uint32_t count, first;
	bool pad;
	const char *name;
};

struct row_store;

/* nx: width of a row before all steps. source is copied, and named in errors. */
struct row_store *row_store_new(const char *source, uint32_t nx);
/* Closes the files. */
void row_store_free(struct row_store *s);
/* Takes the descriptor, which several fields may share. name, copied: what errors call the array, or NULL. */
void row_store_add(struct row_store *s, const struct row_field *f);
/* Rows go through this step after those before: change() makes nout numbers, no more than there are, of x in place.
 * The store keeps a copy of the nbytes of step. */
typedef int (*row_step_fn)(const void *step, double *x, const char *source, size_t row, struct err *e);
void row_store_through(struct row_store *s, row_step_fn change, const void *step, size_t nbytes, uint32_t nout);
/* x[(n, width)] = rows row[0..n) (NULL: first, first + 1, ...), width being that after the last step.
 * -ERR_BAD_DATA names a number that is not finite or has no exact double. Threads may call it side by side. */
int row_store_read(struct row_store *s, const uint32_t *row, uint32_t first, uint32_t n, double *x,
	struct err *e);
