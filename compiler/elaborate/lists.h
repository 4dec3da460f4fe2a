/* SPDX-License-Identifier: Apache-2.0
 * The lists of tuples of w that models name: even, odd, chain, ring, cycle, windows, all_pairs; in the arena. */
#pragma once

#include "compiler/elaborate/value.h"

/* Pairs of neighbours: from even places on, from odd ones, the last and the first of an even number. */
enum list_part { LIST_EVEN = 1, LIST_ODD = 2, LIST_CLOSED = 4 };
struct wire_list list_neighbours(struct arena *a, const struct wire_list *w, unsigned parts);
struct wire_list list_all_pairs(struct arena *a, const struct wire_list *w);
/* r mod w->n must not be 0 (r may be negative); a single qubit has no pairs. */
struct wire_list list_cycle(struct arena *a, const struct wire_list *w, int64_t r);
/* Of k >= 1 neighbours at every s >= 1 places. */
struct wire_list list_windows(struct arena *a, const struct wire_list *w, uint32_t k, uint32_t s);
