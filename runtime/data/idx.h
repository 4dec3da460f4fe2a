/* SPDX-License-Identifier: Apache-2.0
 * IDX, the format of MNIST: a type, up to eight dimensions, and numbers with the highest byte first. */
#ifndef QCNN_IDX_H
#define QCNN_IDX_H

#include "runtime/base/err.h"

#include <stdint.h>

enum { IDX_DIMS_MAX = 8 };

struct idx {
	uint8_t type;                /* 8, 9, 11 to 14, as in the file */
	uint32_t ndim, dim[IDX_DIMS_MAX];
	uint64_t count;              /* of numbers: the product of dim[] */
	const uint8_t *at;           /* they lie in the bytes that were parsed */
};

/* The exact length is checked; *out points into the bytes. */
int idx_parse(const void *bytes, size_t len, struct idx *out, struct err *e);
double idx_value(const struct idx *a, uint64_t i);

#endif
