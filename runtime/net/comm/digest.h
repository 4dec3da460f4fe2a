/* SPDX-License-Identifier: Apache-2.0
 * A fast 64-bit digest against bytes that change by accident; not against someone who chooses them.
 *
 * Eight lanes take the words of 8 bytes in turn, in the manner of xxHash64: lane = rotate(lane + word, 29) * P.  Each
 * step is a bijection of the word, and so is each step of the final mixing of the lane: a change within one word always
 * changes the digest, others are missed once in 2^64. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { DIGEST_LANES = 8, DIGEST_STRIPE = 8 * DIGEST_LANES };

struct digest {
	uint64_t lane[DIGEST_LANES];
	uint64_t bytes;
};

void digest_begin(struct digest *d);
/* Appends p[0..len); len is a multiple of DIGEST_STRIPE, but for the last call. */
void digest_add(struct digest *d, const void *p, size_t len);
/* The same for from[0..len), which is copied to `to` at once. */
void digest_copy(struct digest *d, void *to, const void *from, size_t len);
uint64_t digest_end(struct digest *d);
