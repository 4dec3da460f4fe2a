/* SPDX-License-Identifier: Apache-2.0
 * The lists of tuples that models name: even, odd, chain, ring, cycle, windows,
 * zip, all_pairs.  By positions 0 .. m-1; the caller maps positions to qubits. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/arena.h"

/* A list under construction: n tuples of `width` positions. */
struct tuples {
	struct arena arena;
	uint32_t *pos;
	size_t n;
	unsigned width;
};

void tuples_release(struct tuples *t);

/* Each appends to *t (empty, width 2) for a list of m; m < 2 gives no pairs. */
void list_even(struct tuples *t, uint32_t m);
void list_odd(struct tuples *t, uint32_t m);
void list_chain(struct tuples *t, uint32_t m);
void list_ring(struct tuples *t, uint32_t m);
void list_all_pairs(struct tuples *t, uint32_t m);
/* r mod m must not be 0 (r may be negative). */
void list_cycle(struct tuples *t, uint32_t m, int64_t r);
/* k >= 1, s >= 1; sets the width. */
void list_windows(struct tuples *t, uint32_t m, uint32_t k, uint32_t s);
