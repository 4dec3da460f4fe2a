/* SPDX-License-Identifier: Apache-2.0
 * Random functionals of the encoding's factors, and their products. */
#include "runtime/exec/basis/batch_rank_projection.h"

#include <string.h>

#include "runtime/base/rng.h"

/* One factor of the encoding: a step with a per-sample matrix, or a vector. */
struct factor {
	uint32_t circuit, number;    /* matrix of the set, or vector of the circuit */
	bool vector, adjoint, controlled;
	uint32_t nentry;
	size_t first;                /* its functional's first entry among all; a controlled one has one more */
};

struct sketch {
	const struct plan *pl;
	uint32_t ncol, nfactor;
	struct factor *factor;
	double *w;                   /* [entry][re, im][ncol] */
};

static struct factor factor_of(const struct plan *pl, uint32_t c, const struct plan_step *s)
{
	struct factor f = { .circuit = c, .number = s->matrix, .vector = s->op == STEP_PREPARE,
		.adjoint = s->op == STEP_UNITARY && s->adjoint, .controlled = s->op == STEP_UNITARY && s->ncontrol > 0 };

	f.nentry = f.vector ? apply_nentry(pl->circuit[c].prepare[s->matrix])
			    : UINT32_C(1) << 2 * s->ntarget;
	return f;
}

/* Factors of the whole program into f (NULL: count); entries of all together. */
static uint64_t list_factors(const struct plan *pl, struct factor *f, uint32_t *n)
{
	uint64_t entries = 0;

	*n = 0;
	for (uint32_t c = 0; c < pl->ncircuit; c++)
		for (uint32_t k = 0; k < pl->circuit[c].nstep; k++) {
			const struct plan_step *s = &pl->circuit[c].step[k];

			if (s->op != STEP_PREPARE && pl->set.def[s->matrix]->cls != VALUE_SAMPLE)
				continue;
			struct factor x = factor_of(pl, c, s);
			x.first = entries;
			if (f)
				f[*n] = x;
			++*n;
			entries += x.nentry + x.controlled;
		}
	return entries;
}

uint64_t sketch_entries(const struct plan *pl)
{
	uint32_t n;

	return list_factors(pl, NULL, &n);
}

static cplx phase(size_t entry, uint32_t column)
{
	return cplx_exp_i(2 * PI * rng_uniform(0, RNG_BASIS, entry, column));
}

/* w[r,c] = sum over Pauli products P of e^(i phase) P[c,r] / d: those with flips x have
 * c = r ^ x, and signs by z. */
static void matrix_functional(const struct factor *f, uint32_t column, cplx *w)
{
	unsigned d = 1;

	while (d * d < f->nentry)
		d *= 2;
	memset(w, 0, f->nentry * sizeof *w);
	for (unsigned x = 0; x < d; x++)
		for (unsigned z = 0; z < d; z++) {
			cplx factor_i = phase(f->first + x * d + z, column) / d;

			for (unsigned r = 0; r < d; r++)
				w[r * d + (r ^ x)] += __builtin_parity(r & z) ? -factor_i : factor_i;
		}
}

static void put(struct sketch *k, size_t entry, uint32_t column, cplx z)
{
	k->w[(2 * entry) * k->ncol + column] = creal(z);
	k->w[(2 * entry + 1) * k->ncol + column] = cimag(z);
}

static void fill_factor(struct sketch *k, const struct factor *f)
{
	cplx w[MATRIX_ENTRIES_MAX];

	for (uint32_t column = 0; column < k->ncol; column++) {
		if (!f->vector)
			matrix_functional(f, column, w);
		for (uint32_t e = 0; e < f->nentry; e++)
			put(k, f->first + e, column, f->vector ? phase(f->first + e, column) : w[e]);
		if (f->controlled)
			put(k, f->first + f->nentry, column, phase(f->first + f->nentry, column));
	}
}

struct sketch *sketch_new(struct mem_list *l, const struct plan *pl, uint32_t ncol)
{
	uint32_t nfactor;
	uint64_t entries = list_factors(pl, NULL, &nfactor);
	struct factor *factor = mem_list_try(l, (size_t)nfactor + 1, sizeof *factor);
	double *w = mem_list_try(l, entries * 2 + 1, (size_t)ncol * sizeof *w);
	struct sketch *k = mem_list_try(l, 1, sizeof *k);

	if (l->failed)
		return NULL;
	*k = (struct sketch){ pl, ncol, nfactor, factor, w };
	list_factors(pl, k->factor, &k->nfactor);
	for (uint32_t i = 0; i < k->nfactor; i++)
		fill_factor(k, &k->factor[i]);
	return k;
}

/* re, im += w[entry] z over all projections. */
static void add_entry(const struct sketch *k, size_t entry, cplx z, double *restrict re, double *restrict im)
{
	const double *wr = k->w + 2 * entry * k->ncol, *wi = wr + k->ncol, a = creal(z), b = cimag(z);

	for (uint32_t j = 0; j < k->ncol; j++) {
		re[j] += wr[j] * a - wi[j] * b;
		im[j] += wr[j] * b + wi[j] * a;
	}
}

/* The factor's functionals: of U^+ they are conjugate, so that they are linear in what acts. */
static void project(const struct sketch *k, const struct factor *f, const struct scratch *w, uint32_t s, double *re, double *im)
{
	const struct plan *pl = k->pl;
	const cplx *x = f->vector ? w->vector[f->circuit][(size_t)f->number * pl->width + s] : w->u[s] + pl->set.offset[f->number];

	memset(re, 0, 2 * k->ncol * sizeof *re);
	for (uint32_t e = 0; e < f->nentry; e++)
		if (x[e] != 0)
			add_entry(k, f->first + e, x[e], re, im);
	if (f->controlled)
		add_entry(k, f->first + f->nentry, 1, re, im);
	for (uint32_t j = 0; f->adjoint && j < k->ncol; j++)
		im[j] = -im[j];
}

static void multiply(uint32_t n, const double *restrict ar, const double *restrict ai, double *restrict yr, double *restrict yi)
{
	for (uint32_t j = 0; j < n; j++) {
		double re = yr[j] * ar[j] - yi[j] * ai[j];

		yi[j] = yr[j] * ai[j] + yi[j] * ar[j];
		yr[j] = re;
	}
}

void sketch_row(const struct sketch *k, const struct scratch *w, uint32_t s, double *y, double *room)
{
	uint32_t total = k->ncol * k->pl->ncircuit;

	for (uint32_t j = 0; j < total; j++) {
		y[j] = 1;
		y[total + j] = 0;
	}
	for (uint32_t i = 0; i < k->nfactor; i++) {
		const struct factor *f = &k->factor[i];
		double *to = y + (size_t)f->circuit * k->ncol;

		project(k, f, w, s, room, room + k->ncol);
		multiply(k->ncol, room, room + k->ncol, to, to + total);
	}
}
