/* SPDX-License-Identifier: Apache-2.0
 * Arrays of results: as nested JSON lists, NPY, or CSV. */
#pragma once

#include "runtime/data/dataset.h"
#include "runtime/data/format/npz.h"
#include "runtime/program/program.h"

/* A named array; complex ones hold re, im pairs. */
struct values {
	const char *name;
	struct array array;
	const char *index[3];        /* CSV: what each leading dimension counts: "sample", "output" */
	const char *column;          /* CSV: the last dimension's columns are column[k]; NULL: rows instead */
	const struct program *paths; /* CSV: the last dimension counts this program's weights; or NULL */
};

/* Zeroed array of checked size; 0 or a negative code. */
int values_new(struct values *v, const char *name, unsigned ndim, const uint64_t *dim, bool is_complex, struct err *e);
void values_release(struct values *v);

/* {"schema": 1, "<name>": [[...]]}; complex: {"re": [[...]], "im": [[...]]}. */
void values_json(const struct values *v, unsigned n, struct buf *out);
void values_npy(const struct values *v, struct buf *out);
void values_csv(const struct values *v, struct buf *out);

/* "conv[0].t[3]": the path of weight k. */
void weight_path(const struct program *p, uint32_t k, struct buf *out);

/* "12.3 ms", "5 min", "11 h". */
void duration_print(double seconds, struct buf *out);
