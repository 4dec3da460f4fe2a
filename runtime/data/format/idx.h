/* SPDX-License-Identifier: Apache-2.0
 * IDX, the format of MNIST: a type, up to eight dimensions, and numbers with the highest byte first. */
#pragma once

#include "runtime/base/err.h"

#include <stdint.h>

#include "runtime/data/number.h"

enum { IDX_DIMS_MAX = 8, IDX_HEAD_MAX = 4 + 4 * IDX_DIMS_MAX };

struct idx {
	uint8_t type;                /* 8, 9, 11 to 14, as in the file */
	uint32_t ndim, dim[IDX_DIMS_MAX];
	uint64_t count;              /* of numbers: the product of dim[] */
	const uint8_t *at;           /* they lie in the bytes that were parsed */
};

struct number idx_number(uint8_t type);
/* The header alone, of which `have` bytes are there (IDX_HEAD_MAX are enough), of a file of len bytes; at is NULL.
 * Its length goes to *head. */
int idx_parse_head(const void *bytes, size_t have, uint64_t len, struct idx *out, size_t *head, struct err *e);
/* The exact length is checked; *out points into the bytes. */
int idx_parse(const void *bytes, size_t len, struct idx *out, struct err *e);
double idx_value(const struct idx *a, uint64_t i);
