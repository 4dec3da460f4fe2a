/* SPDX-License-Identifier: Apache-2.0
 * weights.bin: the safetensors layout, holding all that inference needs.
 *
 * Tensors `params/<path>` (F64) and `program` (U8, the bytecode), in a checkpoint vectors (F64) of the
 * training's state too; metadata (strings):
 * format, source, config (canonical JSON of the result scope), parameter order, seed,
 * split, metrics without timings, and `sha256` of the whole file with its own 64 digits
 * read as `0`.  Header at most 16 MiB, every size checked before allocation, exact file
 * length, every flipped bit noticed.  Equal results are equal files. */
#pragma once

#include "runtime/base/buf.h"
#include "runtime/base/err.h"
#include "runtime/base/system/file_parts.h"
#include "runtime/program/program.h"

enum { WEIGHTS_HEADER_MAX = 16 << 20, WEIGHTS_FORMAT = 1 };

struct metadata { const char *key, *value; };

/* Beside the weights: a tensor (F64, one dimension) of a checkpoint. Its name begins with one of
 * WEIGHTS_STATES; values need not be finite. */
struct weights_vector { const char *name; const double *value; size_t n; };
#define WEIGHTS_STATES \
	"optimizer/", "training/", "callbacks/", "starts/", "ends/", "best/", "report/", "log/"

struct weights {
	struct program *program;     /* owned */
	double *weight;              /* (nweight) owned */
	struct weights_vector *vector; unsigned nvector;         /* owned, sorted by name; none in a weights.bin */
	struct metadata *meta; unsigned nmeta;   /* owned, sorted by key; without sha256 */
	struct arena arena;
};

/* meta: keys differ; format, sha256 and order are made here (and skipped where given, so that
 * a file's own metadata may be handed back).  0, or -ERR_CONFIG when the header would be
 * larger than its limit; *out is then unchanged. */
int weights_format(const struct program *p, const double *weight, const struct metadata *meta,
	unsigned nmeta, struct buf *out);
/* The same with vectors, whose names differ, in parts that borrow the numbers; release in any case. */
struct weights_image { struct file_parts file; struct buf header, numbers, program; };
int weights_image(const struct program *p, const double *weight, const struct weights_vector *vector,
	unsigned nvector, const struct metadata *meta, unsigned nmeta, struct weights_image *out);
void weights_image_release(struct weights_image *m);
int weights_parse(const void *bytes, size_t len, struct weights **out, struct err *e);
int weights_open(const char *path, struct weights **out, struct err *e);
int weights_open_fd(int fd, const char *path, struct weights **out, struct err *e);     /* path: for errors */
void weights_free(struct weights *w);
const char *weights_meta(const struct weights *w, const char *key);   /* NULL if absent */
const struct weights_vector *weights_vector(const struct weights *w, const char *name);          /* NULL if absent */

/* Numbers for a program from another file: weights.bin, .npz (path -> array) or .json
 * (flat list in declaration order; path -> nested array; or what weights_to_json writes,
 * also as the member `params` of an object), or .h5 (Keras: see keras.h).  circuit_only: the head's may be missing.
 * Fills weight[nweight] (or [nweight_circuit]); errors name the path and shapes. */
int weights_import(const struct program *p, const char *path, bool circuit_only, double *weight, struct err *e);
/* Export by ending: .npz, .json or .h5. */
int weights_export(const struct program *p, const double *weight, const char *path, struct err *e);
void weights_to_json(const struct program *p, const double *weight,
	struct buf *out); /* {path: {shape, values}}; values flat, last index fastest */
