/* SPDX-License-Identifier: Apache-2.0
 * Data sets read from files: what a model wants of them, and which of a file's numbers that is. */
#pragma once

#include "runtime/base/diag.h"
#include "runtime/data/dataset.h"

enum {
	CSV_FIELD_MAX = 1 << 16,
	CSV_BYTES_MAX = 1 << 28,
	CSV_ROW_BYTES_MAX = 1 << 25        /* of a file that is read window by window */
};

/* What the model wants: one row per `input`. */
struct input_want { const char *name; bool is_state; uint32_t count; /* scalars */ uint32_t ndim, dim[8];
	struct span at; /* its declaration, for messages; file 0: none */
	bool any_count; /* the only input takes as many as there are */ };

/* Which columns (CSV) or array (npz) feed an input; from the config's data.inputs. */
struct input_map { const char *input; const char *const *column; unsigned ncolumn; };

/* Applied to labels; others are an error. name (may be NULL): as a CSV file writes them, from is NAN
 * where that is no number; the name LABEL_OTHERS stands for all that no other entry has. to: NAN leaves
 * the row out. */
#define LABEL_OTHERS "*"
struct label_map { const double *from, *to; unsigned n; const char *const *name; };

struct read_options {
	const struct input_want *want; unsigned nwant;
	const struct input_map *map; unsigned nmap;      /* may be empty */
	const char *label;           /* column or key; NULL: "label" (CSV), "y" (npz) */
	const char *weight;          /* column or key of the samples' weights; NULL: there are none */
	/* Names of the columns of x in the training, or none: where a CSV file has one of them, its columns are found by them;
	 * messages name them. */
	const char *const *trained; uint32_t ntrained;
	bool label_required;         /* else data without labels or weights are taken too, and messages name no keys of a configuration */
	bool inputs_only;            /* the column of labels is skipped */
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
int dataset_read(const char *path, const struct read_options *o, struct diags *d,
	struct dataset **out, struct err *e);
