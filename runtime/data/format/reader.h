/* SPDX-License-Identifier: Apache-2.0
 * What the readers of the file formats share. */
#pragma once

#include "runtime/base/crypto/crypto.h"
#include "runtime/data/format/dataset_read.h"

int dataset_read_csv(const char *path, const struct read_options *o, struct diags *d,
	struct dataset **out, struct err *e);
int dataset_read_arrays(const char *path, const struct read_options *o, struct diags *d,
	struct dataset **out, struct err *e);
int dataset_read_idx(const char *path, const struct read_options *o, struct diags *d,
	struct dataset **out, struct err *e);

/* The row of data.inputs for this input, or NULL. */
const struct input_map *reader_map(const struct read_options *o, const char *input);
/* Report a width that does not fit an input (NULL: all of them): "the file has" 8 columns. */
struct diag *reader_width(struct diags *d, const struct read_options *o, struct span at,
	const struct input_want *w, uint64_t width, const char *who);
/* Says in *e, and at the declarations of the inputs where there are any, what does not fit input w (NULL: all);
 * -ERR_BAD_DATA. */
int reader_misfit(struct diags *d, const struct read_options *o, const struct input_want *w, struct err *e,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The options for a row of `width` numbers: o itself, or *copy and *want where o takes as many as there are. */
const struct read_options *reader_any_width(const struct read_options *o, uint64_t width, struct read_options *copy,
	struct input_want *want);
/* The label's new value; false when a map is given and lacks it. */
bool label_map_apply(const struct label_map *m, double *v);
/* The value of a label with this name in the map, where LABEL_OTHERS stands for labels that it does not list; false: there is none. */
bool label_map_named(const struct label_map *m, const char *name, double *v);

/* A data file whose rows stay there; bytes: all of it is in memory, and fd -1. */
struct data_file {
	const char *path;
	int fd;
	uint64_t size;
	const uint8_t *bytes;
};
int data_file_open(struct data_file *f, const char *path, struct err *e);
/* As file_read. */
int data_file_read(const struct data_file *f, uint64_t at, void *p, size_t len, struct err *e);
/* Adds its bytes to the digest: a long way through a large file, so it comes behind all other looks at it. */
int data_file_digest(const struct data_file *f, struct sha256 *h, struct err *e);
/* Closes it, unless fd was handed over (-1). */
void data_file_close(struct data_file *f);
