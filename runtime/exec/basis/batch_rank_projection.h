/* SPDX-License-Identifier: Apache-2.0
 * Projections of samples' encodings: what a basis of a batch is read off.
 *
 * Every matrix and vector of the encoding is one factor of a product; a projection is
 * the product of one random linear functional of each.  The functional of a matrix gives
 * all Pauli products weight 1 and a random phase, so that no direction is favoured. */
#pragma once

#include "runtime/exec/statevector/statevector.h"

struct sketch;

/* Numbers that the functionals of one projection have. */
uint64_t sketch_entries(const struct plan *pl);
/* ncol projections of each circuit, in memory of *l; NULL: there is none. */
struct sketch *sketch_new(struct mem_list *l, const struct plan *pl, uint32_t ncol);
/* y[2 * ncircuit * ncol]: real parts, then imaginary ones, of sample s of the filled scratch;
 * room[2 * ncol] is overwritten. */
void sketch_row(const struct sketch *k, const struct scratch *w, uint32_t s, double *y, double *room);
