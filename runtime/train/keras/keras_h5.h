/* SPDX-License-Identifier: Apache-2.0
 * Keras's weight files (HDF5): named arrays in the order of the layers.
 *
 * The group at the root (or `model_weights`, in a whole saved model) has the attribute
 * `layer_names`; each layer's group has `weight_names`, paths of its arrays.  libhdf5 is
 * loaded when the first file is met, and reads in a process of its own: a damaged file may
 * make the library crash or loop, and that must end as an error.  Without HDF5 at build time
 * both functions say so. */
#pragma once

#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"

enum {
	KERAS_ARRAYS_MAX = 4096,     /* of a file, and layers too: Keras's own limit of one attribute */
	KERAS_DIMS_MAX = 8,
	KERAS_NAME_MAX = 1023,
	KERAS_NUMBERS_MAX = 1 << 24, /* of all arrays together */
	KERAS_NUMBERS_LEAST = 1 << 20,       /* that a file of any size may have; more by its bytes and the model's weights */
	KERAS_BYTES_MAX = 1 << 28    /* of a file */
};

struct keras_array {
	const char *layer, *name;    /* "dense_1", "dense_1/kernel:0" */
	uint32_t ndim;
	uint64_t dim[KERAS_DIMS_MAX];
	uint64_t count;
	const double *value;         /* (count), last index fastest */
};

struct keras_arrays { uint32_t n; struct keras_array *array; struct arena arena; };

/* nweight: of the model. Takes no more memory and time than a file of that size and the model's weights account for.
 * Fills *out, to be released; 0, -ERR_NO_INPUT, -ERR_BAD_DATA with what is wrong where, or -ERR_CONFIG
 * (no HDF5, no memory). */
int keras_h5_read(const char *path, uint64_t nweight, struct keras_arrays *out, struct err *e);
void keras_arrays_release(struct keras_arrays *a);
/* Arrays of a layer are neighbours.  The file is replaced as a whole; doubles. */
int keras_h5_write(const char *path, const struct keras_array *array, uint32_t n, struct err *e);

/* For keras_h5_process.c: load the library, -ERR_CONFIG where there is none; then read a file's bytes into
 * `out` (for each of *narray arrays: texts of layer and name, u32 dimensions, u64 each, f64 numbers). */
int keras_h5_load(struct err *e);
int keras_h5_read_image(const struct buf *image, uint64_t numbers, struct buf *out,
	uint32_t *narray, struct err *e);
