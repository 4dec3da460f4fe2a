/* SPDX-License-Identifier: Apache-2.0
 * Samples: rows of inputs and labels, where they came from, and how they are split.
 *
 * x is (nrow, nx) row-major, in the order of the program's input slots (a state input
 * takes re, im, re, im, ...).  y is (nrow, ny). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/arena.h"
#include "runtime/base/diag.h"
#include "runtime/base/err.h"

enum { DATASET_ROWS_MAX = 1 << 28, DATASET_COLUMNS_MAX = 1 << 20 };
#define DATASET_BYTES_MAX ((uint64_t)1 << (SIZE_MAX > UINT32_MAX ? 36 : 31))

struct dataset {
	uint32_t nrow, nx, ny;
	double *x, *y;               /* y NULL when ny is 0 (no labels) */
	struct row_store *rows;      /* where x is NULL and nx is not 0: it stays in a file (row_store.h) */
	double *weight;              /* (nrow) of the samples in the loss, or NULL: all 1 */
	const char *source;          /* path or generator, for messages */
	uint8_t digest[32];          /* SHA-256 of the file's bytes; of the arrays when generated */
	const char *spec; /* how dataset_read has read it (format/dataset_spec.h); NULL: generated */
	const char **column;
	uint32_t ncolumn; /* what a CSV file's header calls the numbers of a row, as they were read; none without one */
	uint32_t file;               /* its number among those that workers elsewhere open themselves, from 1 on; 0: none */
	struct arena memory;         /* of source, spec and column */
};

/* A zeroed data set of checked size, with memory for x and y (y: ny > 0). */
int dataset_new(uint64_t nrow, uint64_t nx, uint32_t ny, const char *source, struct dataset **out,
	struct err *e);
/* The same with x in files (rows not NULL), every number of which is looked at; rows becomes the data set's, unless it fails. */
int dataset_new_stored(uint64_t nrow, uint64_t nx, uint32_t ny, const char *source, struct row_store *rows,
	struct dataset **out, struct err *e);
/* SHA-256 over nrow, nx, ny, x and y, little-endian. */
void dataset_digest_arrays(struct dataset *d);
void dataset_free(struct dataset *d);

/* x[(n, nx)] = rows row[0..n) (NULL: first, first + 1, ...), from memory or from the file. */
int dataset_rows(const struct dataset *d, const uint32_t *row, uint32_t first, uint32_t n, double *x, struct err *e);
/* Takes x into memory when it is in a file and needs at most max_bytes; the same bits. */
int dataset_keep(struct dataset *d, uint64_t max_bytes, struct err *e);

/* Rows of a part: floor(fraction * nrow + 1e-9), where fraction, from 0 to 1, stands for the shortest decimal that reads as it
 * (0.7 is 7/10), without rounding. For nrow up to 2^53. */
uint64_t split_count(double fraction, uint64_t nrow);
/* Splits: fractions in order; part k has split_count(f_k, nrow) rows, the last takes the
 * rest.  Rows in file order unless shuffled by (seed). order[nrow] and count[npart]. */
int split_rows(uint32_t nrow, const double *fraction, unsigned npart, bool shuffle, uint64_t seed,
	uint32_t *order, uint32_t *count, struct err *e);

/* The same by numbers of rows; SPLIT_REST for a part takes what the others leave. Rows beyond the
 * sum are in no part, at the end of order. */
enum { SPLIT_REST = UINT32_MAX, SPLIT_PARTS_MAX = 100, SPLIT_CLASSES_MAX = 1024 };
int split_numbers(uint32_t nrow, const uint32_t *number, unsigned npart, bool shuffle, uint64_t seed,
	uint32_t *order, uint32_t *count, struct err *e);
/* Makes each part's share of every label (of several: the largest) as equal as whole rows allow, in
 * parts of the same sizes; rows of a label keep their order. order[nrow]: rows of d, not necessarily all. */
int split_stratify(const struct dataset *d, uint32_t nrow, const uint32_t *count, unsigned npart,
	uint32_t *order, struct err *e);
/* Sizes of the parts of a cross-validation, which differ by one row at most; larger ones first. */
void split_folds(uint32_t nrow, unsigned nfold, uint32_t *number);

/* Rows without a label that is NaN, which data.label_map leaves out: their numbers in row[d->nrow]; returns how many. */
uint32_t dataset_labelled(const struct dataset *d, uint32_t *row);
