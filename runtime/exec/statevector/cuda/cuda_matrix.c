/* SPDX-License-Identifier: Apache-2.0
 * Matrices of steps in the launches' arguments. */
#include "config.h"
#include "runtime/base/rng.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <string.h>

/* Bits of a double's fraction that a float has not. */
enum { LOST_BITS = 29 };

/* The float above or below x, the nearer one more often: see cpu_matrix.c on images of one matrix that differ by noise. */
static double rounded(double x, uint32_t noise)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	bits = (bits + noise) & ~((UINT64_C(1) << LOST_BITS) - 1);
	memcpy(&x, &bits, sizeof x);
	return x;
}

/* u[d * d] as the device has it, of step number `index`. */
static void round_matrix(uint32_t index, unsigned d, const cplx *u, cplx *out)
{
	for (unsigned e = 0; e < d * d; e++) {
		uint64_t random = rng_u64(0, RNG_ROUND, index, e);

		out[e] = cplx_of(rounded(creal(u[e]), (uint32_t)(random >> 35)),
			rounded(cimag(u[e]), (uint32_t)random >> 3));
	}
}

static void put(bool twice, struct cuda_stage_args *a, uint32_t entry, cplx x)
{
	if (twice) {
		a->matrix.twice[2 * entry] = creal(x);
		a->matrix.twice[2 * entry + 1] = cimag(x);
	} else {
		a->matrix.single[2 * entry] = (float)creal(x);
		a->matrix.single[2 * entry + 1] = (float)cimag(x);
	}
}

static void store_step(const struct backend_state *b, uint32_t index, bool back,
	const struct cuda_placed *p, const cplx *u, struct cuda_stage_args *a)
{
	unsigned d = 1u << p->step->ntarget;
	cplx v[MATRIX_ENTRIES_MAX], w[MATRIX_ENTRIES_MAX];

	if (b->twice)
		memcpy(v, u, d * d * sizeof *v);
	else
		round_matrix(index, d, u, v);
	if (p->step->adjoint != back)
		matrix_adjoint(d, v, w);
	else
		memcpy(w, v, d * d * sizeof *w);
	for (unsigned r = 0; r < d; r++) {
		if (p->diagonal)
			put(b->twice, a, p->entry + r, w[r * d + r]);
		for (unsigned c = 0; c < d && !p->diagonal; c++)
			put(b->twice, a, p->entry + r * d + c, w[p->row[r] * d + p->row[c]]);
	}
}

static void store_launches(struct backend_state *b, struct cuda_circuit *c, struct cuda_launch *l,
	bool back, bool sample, const cplx *u)
{
	const struct matrix_set *set = &b->plan->set;

	for (; l; l = l->next)
		for (uint32_t k = 0; k < l->nplaced; k++) {
			const struct plan_step *s = l->placed[k].step;

			if ((set->def[s->matrix]->cls == VALUE_SAMPLE) == sample)
				store_step(b, c->noise[s - c->plan->step], back, &l->placed[k],
					u + set->offset[s->matrix], &l->args);
		}
}

void cuda_store_matrices(struct backend_state *b, struct cuda_circuit *c, bool sample, const cplx *u)
{
	for (uint32_t k = 0; k < c->plan->nstage; k++) {
		store_launches(b, c, c->forward[k], false, sample, u);
		if (b->gradient)
			store_launches(b, c, c->back[k], true, sample, u);
	}
}
