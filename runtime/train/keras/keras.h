/* SPDX-License-Identifier: Apache-2.0
 * A program's weights as TensorFlow Quantum and Keras keep them in an .h5 file.
 *
 * Each circuit instance is one array `parameters`: TensorFlow Quantum sorts the names of a
 * circuit's symbols as strings, so that with names that count from 0 (theta0, theta1, ...) the
 * weights stand in the order 0, 1, 10, 11, ..., 2, 20, ...  A symbol that its circuit does not
 * contain has no number there: a list that is as long as there are weights in the program's gates
 * is read as one with these gaps, and the other weights become 0; so is it written.  Each dense layer is `kernel`
 * (nin, nout) and `bias` (nout), in the order of the layers. */
#pragma once

#include <stdbool.h>

#include "runtime/base/err.h"
#include "runtime/program/program.h"

/* As weights_import and weights_export (weights.h), which call them for .h5 and .hdf5. */
int keras_import(const struct program *p, const char *path, bool circuit_only, double *weight, struct err *e);
int keras_export(const struct program *p, const double *weight, const char *path, struct err *e);

/* The weights that a file's k-th list of `count` numbers stands for, in the order of the list, into
 * weight[count]; false: the model has no such circuit, or one of other numbers of weights. */
bool keras_order(const struct program *p, uint32_t k, uint64_t count, uint32_t *weight);

/* The number of the symbol behind symbol k when the n numbers 0 .. n-1 are sorted as strings. */
uint32_t keras_next_symbol(uint32_t k, uint32_t n);
