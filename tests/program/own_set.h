/* SPDX-License-Identifier: Apache-2.0
 * A program's own matrices as a set. */
#pragma once

#include "runtime/program/matrix.h"

/* Its tables live in a. */
static inline void own_set(struct matrix_set *s, const struct program *p, struct arena *a)
{
	const struct matrix **def = arena_alloc(a, p->nmatrix, sizeof *def);

	for (uint32_t m = 0; m < p->nmatrix; m++)
		def[m] = &p->matrix[m];
	matrix_set_of(s, p, def, p->nmatrix, a);
}
