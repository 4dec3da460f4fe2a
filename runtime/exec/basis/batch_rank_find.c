/* SPDX-License-Identifier: Apache-2.0
 * How many dimensions a batch has, by few projections of few samples first. */
#include "runtime/exec/basis/basis.h"

#include "runtime/exec/basis/batch_rank_projection.h"
#include "runtime/exec/basis/row_basis.h"

enum {
	PROBE = 32,                  /* samples looked at first: where they are independent, twice as many, ... */
	SPARE = 8                    /* projections beyond the dimensions that are expected */
};

struct look {
	struct basis *k;
	struct sketch *sketch;
	double *y, *room;
	uint32_t stride;
};

static int project_unit(void *ctx, unsigned worker, uint32_t unit, struct err *e)
{
	struct look *l = ctx;
	struct scratch *w = &l->k->sv->scratch[worker];
	uint32_t first, count = unit_samples(l->k->sv, unit, &first);
	int code = unit_fill(l->k->sv, w, first, count, e);

	for (uint32_t s = 0; s < count && !code; s++)
		sketch_row(l->sketch, w, s, l->y + (size_t)(first + s) * l->stride, l->room + (size_t)worker * l->stride);
	return code;
}

enum found { FOUND_FAULT = -1, FOUND_MORE = 0, FOUND_BASIS = 1 };

/* The basis of the prepared batch with ncol projections of each circuit: FOUND_MORE where it has
 * more than max dimensions; faults (no memory, a sample that cannot be encoded) are left to the
 * evaluation itself. */
static enum found look_at(struct basis *k, uint32_t ncol, uint32_t max, uint32_t *r,
	uint32_t *pivot, cplx *c)
{
	uint32_t n = k->sv->batch.nsample, width = k->pl->width, total = ncol * k->pl->ncircuit;
	mem_list_auto memory = { 0 };
	struct look l = { .k = k, .sketch = sketch_new(&memory, k->pl, ncol), .stride = 2 * total };

	l.y = mem_list_try(&memory, n, (size_t)l.stride * sizeof *l.y);
	l.room = mem_list_try(&memory, k->sv->nworker, (size_t)l.stride * sizeof *l.room);
	if (memory.failed || basis_items(k, n / width + (n % width != 0), project_unit, &l, NULL)
		|| !rank_basis(n, total, l.y, max, r, pivot, c))
		return FOUND_FAULT;
	return *r > max ? FOUND_MORE : FOUND_BASIS;
}

/* Dimensions that the first samples have, more and more of them until some depend on others:
 * a cheap no where all are independent.  0: more than max. */
static uint32_t probe(struct basis *k, uint32_t max, uint32_t *pivot, cplx *c)
{
	uint32_t all = k->sv->batch.nsample, r = 0;

	for (uint32_t n = PROBE;; n *= 2) {
		k->sv->batch.nsample = n < all ? n : all;
		enum found f = look_at(k,
			(k->sv->batch.nsample < max ? k->sv->batch.nsample : max) + SPARE, max, &r,
			pivot, c);
		n = k->sv->batch.nsample;
		k->sv->batch.nsample = all;
		if (f != FOUND_BASIS || (n == all && r == n))
			return 0;
		if (r < n)
			return r;
	}
}

/* Few projections first: where they do not tell more dimensions than there are, twice as many. */
bool rank_find(struct basis *k, uint32_t max, uint32_t *r, uint32_t *pivot, cplx *c)
{
	uint32_t expected = probe(k, max, pivot, c);

	for (; expected; expected = expected < max / 2 ? 2 * expected : max) {
		uint32_t most = expected < max ? 2 * expected + SPARE / 2 : max;

		if (most > max)
			most = max;
		enum found f = look_at(k, most + SPARE, most, r, pivot, c);
		if (f == FOUND_BASIS)
			return true;
		if (f == FOUND_FAULT || most == max)
			return false;
	}
	return false;
}
