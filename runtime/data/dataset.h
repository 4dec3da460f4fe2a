/* SPDX-License-Identifier: Apache-2.0
 * Samples: rows of inputs and labels, where they came from, and how they are split.
 *
 * x is (nrow, nx) row-major, in the order of the program's input slots (a state input
 * takes re, im, re, im, ...).  y is (nrow, ny). */
#ifndef QCNN_DATASET_H
#define QCNN_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/diag.h"
#include "runtime/base/err.h"

enum {
	DATASET_ROWS_MAX = 1 << 28,
	DATASET_COLUMNS_MAX = 1 << 20,
	CSV_FIELD_MAX = 1 << 16,
	NPZ_MEMBERS_MAX = 4096,
	NPZ_NAME_MAX = 1024,             /* bytes, with .npy */
	NPY_HEADER_MAX = 1 << 16,
	CSV_BYTES_MAX = 1 << 28,
	CSV_ROW_BYTES_MAX = 1 << 25        /* of a file that is read window by window */
};
#define DATASET_BYTES_MAX ((uint64_t)1 << (SIZE_MAX > UINT32_MAX ? 36 : 31))

struct dataset {
	uint32_t nrow, nx, ny;
	double *x, *y;               /* y NULL when ny is 0 (no labels) */
	struct row_store *rows;      /* where x is NULL and nx is not 0: it stays in a file (row_store.h) */
	double *weight;              /* (nrow) of the samples in the loss, or NULL: all 1 */
	char *source;                /* path or generator, for messages */
	uint8_t digest[32];          /* SHA-256 of the file's bytes; of the arrays when generated */
	char *spec;                  /* how dataset_read has read it (dataset_spec.h); NULL: generated */
	char **column; uint32_t ncolumn;     /* what a CSV file's header calls the numbers of a row, as they were read; none without one */
	uint32_t file;               /* its number among those that workers elsewhere open themselves, from 1 on; 0: none */
};

void dataset_free(struct dataset *d);

/* x[(n, nx)] = rows row[0..n) (NULL: first, first + 1, ...), from memory or from the file. */
int dataset_rows(const struct dataset *d, const uint32_t *row, uint32_t first, uint32_t n, double *x, struct err *e);
/* Takes x into memory when it is in a file and needs at most max_bytes; the same bits. */
int dataset_keep(struct dataset *d, uint64_t max_bytes, struct err *e);

/* What the model wants: one row per `input`. */
struct input_want { const char *name; bool is_state; uint32_t count; /* scalars */ uint32_t ndim, dim[8];
	struct span at; /* its declaration, for messages; file 0: none */
	bool any_count; /* the only input takes as many as there are */ };

/* Which columns (CSV) or array (npz) feed an input; from the config's data.inputs. */
struct input_map { const char *input; const char *const *column; unsigned ncolumn; };

/* Applied to labels; others are an error. name (may be NULL): as a CSV file writes them, from is NAN
 * where that is no number. */
struct label_map { const double *from, *to; unsigned n; const char *const *name; };

struct read_options {
	const struct input_want *want; unsigned nwant;
	const struct input_map *map; unsigned nmap;      /* may be empty */
	const char *label;           /* column or key; NULL: "label" (CSV), "y" (npz) */
	const char *weight;          /* column or key of the samples' weights; NULL: there are none */
	/* Names of the columns of x in the training, or none: where a CSV file has one of them, its columns are found by them;
	 * messages name them. */
	const char *const *trained; uint32_t ntrained;
	bool label_required;         /* else data without labels or weights are taken too */
	bool streamed;               /* x stays in the file (or, decoded, in a temporary one): see dataset_rows */
	struct label_map label_map;
};

/* Bytes of memory that dataset_read may take for this file when it is not streamed, a guess from above by its size
 * and kind; 0 for what cannot be streamed, such as a pipe. */
uint64_t dataset_memory(const char *path);
/* By the file's ending: .npz, .npy (one input, no labels), .csv; else a name with idx in it: IDX, whose
 * labels are another such file (dataset_idx.c).  Faults in a CSV text
 * are reported through `d` with line and column (returns -ERR_BAD_DATA with a summary in
 * e); a width that differs from the model's inputs names both. */
int dataset_read(const char *path, const struct read_options *o, struct diags *d, struct dataset **out, struct err *e);

/* Generators: rows of generators.def. */
enum { GENERATOR_OPTIONS_MAX = 5 };
/* option: as in the row, in its order; NULL: all defaults. */
struct generate_options { const char *name; uint64_t seed; uint32_t rounds; uint32_t nqubit; const double *option; };
int dataset_generate(const struct generate_options *o, struct dataset **out, struct err *e);
size_t generator_names(const char *const **names);
/* Is the input a state of nqubit qubits, instead of nqubit numbers? */
bool generator_makes_states(const char *name);

/* Rows of a part: floor(fraction * nrow + 1e-9), where fraction, from 0 to 1, stands for the shortest decimal that reads as it
 * (0.7 is 7/10), without rounding. For nrow up to 2^53. */
uint64_t split_count(double fraction, uint64_t nrow);
/* Splits: fractions in order; part k has split_count(f_k, nrow) rows, the last takes the
 * rest.  Rows in file order unless shuffled by (seed). order[nrow] and count[npart]. */
int split_rows(uint32_t nrow, const double *fraction, unsigned npart, bool shuffle, uint64_t seed,
	uint32_t *order, uint32_t *count, struct err *e);

/* The same by numbers of rows; SPLIT_REST for a part takes what the others leave. Rows beyond the
 * sum are in no part, at the end of order. */
enum { SPLIT_REST = UINT32_MAX, SPLIT_PARTS_MAX = 8, SPLIT_CLASSES_MAX = 1024 };
int split_numbers(uint32_t nrow, const uint32_t *number, unsigned npart, bool shuffle, uint64_t seed,
	uint32_t *order, uint32_t *count, struct err *e);
/* Makes each part's share of every label (of several: the largest) as equal as whole rows allow, in
 * parts of the same sizes; rows of a label keep their order. */
int split_stratify(const struct dataset *d, const uint32_t *count, unsigned npart, uint32_t *order, struct err *e);

/* One array out of an .npy or .npz file, as doubles (complex: re, im pairs). */
struct array { uint32_t ndim; uint64_t dim[8]; bool is_complex; uint64_t count; double *value; };
void array_free(struct array *a);
int npy_parse(const void *bytes, size_t len, struct array *out, struct err *e);
/* Does the file's length agree with what it declares? Looked at before memory is taken for all of it;
 * a pipe passes. */
int npy_check_file(const char *path, struct err *e);
int npz_check_file(const char *path, struct err *e);
struct npz_member { char *name; struct array array; };
struct npz { unsigned n; struct npz_member *member; };
int npz_parse(const void *bytes, size_t len, struct npz *out, struct err *e);
int npz_read(const char *path, struct npz *out, struct err *e);
void npz_free(struct npz *z);
const struct array *npz_find(const struct npz *z, const char *name);
/* Writing: little-endian float64 (or complex128), C order; .npz members stored. */
int npy_format(const struct array *a, struct buf *out);
int npz_format(const struct npz *z, struct buf *out, struct err *e);
int npz_write(const char *path, const struct npz *z, struct err *e);

#endif
