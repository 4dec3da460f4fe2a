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

/* Where an entry of an op's matrix comes from, and how it is rounded. */
struct source {
	uint32_t at; /* entry of the step's matrix */
	bool conjugate;
	uint32_t noise[2];
};

static struct source source_of(uint32_t index, bool adjoint, unsigned d, unsigned row, unsigned column)
{
	uint32_t at = adjoint ? column * d + row : row * d + column;
	uint64_t random = rng_u64(0, RNG_ROUND, index, at);

	return (struct source){ .at = at,
		.conjugate = adjoint,
		.noise = { (uint32_t)(random >> 35), (uint32_t)random >> 3 } };
}

/* index: the step's number, by which its matrix is rounded. Returns how many there are. */
static unsigned list_sources(uint32_t index, const struct cuda_placed *p, struct source *out)
{
	unsigned d = 1u << p->step->ntarget, n = 0;
	bool adjoint = p->step->adjoint != p->back;

	for (unsigned r = 0; r < d; r++) {
		if (p->diagonal)
			out[n++] = source_of(index, adjoint, d, r, r);
		for (unsigned c = 0; c < d && !p->diagonal; c++)
			out[n++] = source_of(index, adjoint, d, p->row[r], p->row[c]);
	}
	return n;
}

void cuda_put_number(const struct cuda_state *b, void *out, size_t k, double re, double im)
{
	double *twice = out;
	float *single = out;

	if (b->twice) {
		twice[2 * k] = re;
		twice[2 * k + 1] = im;
	} else {
		single[2 * k] = (float)re;
		single[2 * k + 1] = (float)im;
	}
}

/* As the device has it, behind `before` complex numbers. */
static void put_matrix(const struct cuda_state *b, const struct source *s, unsigned n,
	const cplx *u, void *out, size_t before)
{
	for (unsigned k = 0; k < n; k++) {
		double re = creal(u[s[k].at]), im = cimag(u[s[k].at]);

		if (!b->twice) {
			re = rounded(re, s[k].noise[0]);
			im = rounded(im, s[k].noise[1]);
		}
		cuda_put_number(b, out, before + k, re, s[k].conjugate ? -im : im);
	}
}

/* ---- in the launches' arguments ---- */

static void store_launches(const struct cuda_state *b, const struct cuda_circuit *c,
	struct cuda_launch *l, bool sample, const cplx *u)
{
	const struct matrix_set *set = &b->plan->set;
	struct source source[MATRIX_ENTRIES_MAX];

	for (; l; l = l->next)
		for (uint32_t k = 0; k < l->nplaced; k++) {
			const struct cuda_placed *p = &l->placed[k];
			uint32_t m = p->step->matrix;

			if (!p->op->of_sample && (set->def[m]->cls == VALUE_SAMPLE) == sample)
				put_matrix(b, source,
					list_sources(c->noise[p->step - c->plan->step], p, source),
					u + set->offset[m], &l->args.matrix, p->op->entry);
		}
}

void cuda_store_matrices(struct cuda_state *b, struct cuda_circuit *c, bool sample, const cplx *u)
{
	for (uint32_t k = 0; k < c->plan->nstage; k++) {
		store_launches(b, c, c->forward[k], sample, u);
		if (b->gradient)
			store_launches(b, c, c->back[k], sample, u);
	}
	store_launches(b, c, c->joined, sample, u);
	for (unsigned back = 0; back < 2 && c->tail; back++)
		store_launches(b, c, c->tail->last[back], sample, u);
}

/* ---- of each sample ---- */

/* Of one pass: what threads share. */
struct packing {
	const struct cuda_state *b;
	const struct cuda_circuit *c;
	const struct unit_input *in; /* or NULL: what makes lambda of psi */
	bool back;
};

static const cplx *sample_matrix(const struct packing *k, const struct cuda_placed *p, uint32_t sample)
{
	if (p->tail)
		return k->c->tail->lambda + ((size_t)sample << 2 * p->step->ntarget);
	return k->in->u[sample < k->in->count ? sample : 0] + k->b->plan->set.offset[p->step->matrix];
}

static void put_launch(const struct packing *k, const struct cuda_launch *l, uint32_t from, uint32_t to)
{
	struct source source[MATRIX_ENTRIES_MAX];

	for (uint32_t i = 0; i < l->nplaced; i++) {
		const struct cuda_placed *p = &l->placed[i];
		unsigned n;

		if (!p->op->of_sample || p->tail != !k->in)
			continue;
		n = list_sources(k->c->noise[p->step - k->c->plan->step], p, source);
		for (uint32_t s = from; s < to; s++)
			put_matrix(k->b, source, n, sample_matrix(k, p, s), l->matrix_host,
				p->op->entry + (size_t)s * l->args.nsample_entry);
	}
}

static void put_part(void *ctx, uint32_t from, uint32_t to)
{
	const struct packing *k = ctx;

	for (uint32_t s = 0; s < k->c->plan->nstage; s++)
		for (const struct cuda_launch *l = cuda_launches(k->c, s, k->back); l; l = l->next)
			put_launch(k, l, from, to);
}

void cuda_put_matrices(struct cuda_state *b, struct cuda_circuit *c, bool back,
	const struct unit_input *in)
{
	struct packing k = { b, c, in, back };

	if (c->nsample_entry[back] || c->takes_joined || !in)
		cuda_samples(b, c->nsample, put_part, &k);
}
