/* SPDX-License-Identifier: Apache-2.0
 * Arrays in .npy and .npz files. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "runtime/base/buf.h"
#include "runtime/base/err.h"

enum {
	NPZ_MEMBERS_MAX = 4096,
	NPZ_NAME_MAX = 1024,             /* bytes, with .npy */
	NPY_HEADER_MAX = 1 << 16
};

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
