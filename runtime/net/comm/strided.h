/* SPDX-License-Identifier: Apache-2.0
 * Bytes of a part to and from the contiguous memory of a chunk, with their digest on the way. */
#pragma once

#include <stddef.h>
#include "runtime/net/comm/digest.h"

/* Bytes to and from another rank: nrun runs of run_bytes, stride_bytes from one beginning to the next, numbered in that
 * order.  `send` and `receive` have this one layout, and are the same memory or do not overlap; NULL: nothing goes, or
 * comes, that way. */
struct strided {
	unsigned peer;
	const void *send;
	void *receive;
	size_t run_bytes, nrun, stride_bytes;
};

/* Copies bytes [at, at + len) of p->send to `to`, or from `from` to those of p->receive.  The bytes of the chunk are
 * appended to *d unless it is NULL. */
void strided_pack(const struct strided *p, size_t at, size_t len, uint8_t *to, struct digest *d);
void strided_unpack(const struct strided *p, size_t at, size_t len, const uint8_t *from,
	struct digest *d);
