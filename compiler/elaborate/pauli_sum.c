/* SPDX-License-Identifier: Apache-2.0
 * Arithmetic of observables. */
#include "compiler/elaborate/pauli_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/order.h"

static struct pauli_sum empty(struct arena *a, uint32_t cap)
{
	struct term_store *s = arena_alloc(a, 1, sizeof *s);

	s->cap = cap ? cap : 1;
	s->v = arena_alloc(a, s->cap, sizeof *s->v);
	return (struct pauli_sum){ .store = s };
}

struct pauli_sum pauli_sum_of(struct arena *a, double coefficient, uint8_t letter, uint32_t wire)
{
	struct pauli_sum s = empty(a, 1);
	struct pauli_term *t = &s.store->v[0];

	t->coefficient = coefficient;
	if (letter) {
		t->factor = arena_alloc(a, 1, sizeof *t->factor);
		t->factor[0] = (struct pauli_factor){ .wire = wire, .letter = letter };
		t->nfactor = 1;
	}
	s.n = s.store->n = 1;
	return s;
}

/* Room for `more` terms behind the first s->n: in place when nobody else appended. */
static struct pauli_sum extended(struct arena *a, const struct pauli_sum *s, uint32_t more)
{
	if (s->store->n == s->n && s->store->cap - s->n >= more)
		return *s;
	struct pauli_sum t = empty(a, 2 * (s->n + more));
	memcpy(t.store->v, s->store->v, s->n * sizeof *t.store->v);
	t.n = t.store->n = s->n;
	return t;
}

struct pauli_sum pauli_sum_empty(struct arena *a) { return empty(a, 0); }

bool pauli_sum_append(struct arena *a, struct pauli_sum *s, const struct pauli_term *t)
{
	if (s->n == PROGRAM_TERMS_MAX)
		return false;
	*s = extended(a, s, 1);
	s->store->v[s->n++] = *t;
	s->store->n = s->n;
	return true;
}

void pauli_term_place(struct pauli_term *t, const uint32_t *wire)
{
	for (uint32_t k = 0; k < t->nfactor; k++)
		t->factor[k].wire = wire[t->factor[k].wire];
	if (t->nfactor)
		qsort(t->factor, t->nfactor, sizeof *t->factor, order_u32);
}

bool pauli_sum_add(struct arena *a, const struct pauli_sum *left, double scale,
	const struct pauli_sum *right, struct pauli_sum *out)
{
	uint32_t more = right->n;

	if (left->n > PROGRAM_TERMS_MAX - more)
		return false;
	const struct pauli_term *from = right->store->v;
	struct pauli_sum s = extended(a, left, more);
	for (uint32_t i = 0; i < more; i++) {
		struct pauli_term t = from[i];
		t.coefficient *= scale;
		s.store->v[s.n++] = t;
	}
	s.store->n = s.n;
	*out = s;
	return true;
}

struct pauli_sum pauli_sum_scaled(struct arena *a, const struct pauli_sum *s, double scale)
{
	struct pauli_sum t = empty(a, s->n);

	pauli_sum_add(a, &t, scale, s, &t);
	return t;
}

/* The product of two letters: *letter and the power of i before it. x y = i z, and so on around. */
static unsigned multiply_letters(uint8_t l, uint8_t r, uint8_t *letter)
{
	*letter = l == r ? 0 : (uint8_t)(6 - l - r);
	return l == r ? 0 : r == l % 3 + 1 ? 1 : 3;
}

/* Factors of both in order of wires; returns the power of i before them. *wire: one on which both act, if there is. */
static unsigned merge(struct arena *a, const struct pauli_term *l, const struct pauli_term *r,
	struct pauli_term *out, uint32_t *wire)
{
	uint32_t i = 0, j = 0, n = 0;
	unsigned power = 0;

	out->coefficient = l->coefficient * r->coefficient;
	out->factor = arena_alloc(a, l->nfactor + r->nfactor + 1, sizeof *out->factor);
	while (i < l->nfactor || j < r->nfactor) {
		if (i < l->nfactor && j < r->nfactor && l->factor[i].wire == r->factor[j].wire) {
			uint8_t letter;

			*wire = l->factor[i].wire;
			power += multiply_letters(l->factor[i++].letter, r->factor[j++].letter,
				&letter);
			if (letter)
				out->factor[n++] = (struct pauli_factor){ *wire, letter };
			continue;
		}
		bool take_left = j == r->nfactor
			|| (i < l->nfactor && l->factor[i].wire < r->factor[j].wire);
		out->factor[n++] = take_left ? l->factor[i++] : r->factor[j++];
	}
	out->nfactor = n;
	return power % 4;
}

/* Is it 0 but for rounding, beside coefficients as large as that? */
static bool vanishes(struct arena *a, const struct pauli_sum *s, double largest)
{
	struct pauli_term *t;
	uint32_t n = pauli_sum_gather(a, s, &t);

	for (uint32_t i = 0; i < n; i++)
		if (!(fabs(t[i].coefficient) <= 1e-12 * largest))
			return false;
	return true;
}

bool pauli_sum_multiply(struct arena *a, const struct pauli_sum *left,
	const struct pauli_sum *right, struct pauli_sum *out, uint32_t *wire)
{
	struct pauli_sum s = empty(a, left->n * right->n), odd = empty(a, 1);
	uint32_t shared = UINT32_MAX;
	double largest = 0;

	for (uint32_t i = 0; i < left->n; i++)
		for (uint32_t j = 0; j < right->n; j++) {
			struct pauli_term t = { 0 };
			unsigned power =
				merge(a, &left->store->v[i], &right->store->v[j], &t, &shared);

			t.coefficient = power > 1 ? -t.coefficient : t.coefficient;
			largest = fmax(largest, fabs(t.coefficient));
			pauli_sum_append(a, power % 2 ? &odd : &s, &t);
			if (power % 2)
				*wire = shared;
		}
	if (!vanishes(a, &odd, largest))
		return false;
	if (shared != UINT32_MAX)
		s.n = s.store->n = s.store->cap = pauli_sum_gather(a, &s, &s.store->v);
	*out = s;
	return true;
}

static int by_factors(const void *p, const void *q)
{
	const struct pauli_term *x = p, *y = q;
	uint32_t n = x->nfactor < y->nfactor ? x->nfactor : y->nfactor;

	for (uint32_t i = 0; i < n; i++) {
		const struct pauli_factor *f = &x->factor[i], *g = &y->factor[i];
		if (f->wire != g->wire)
			return f->wire < g->wire ? -1 : 1;
		if (f->letter != g->letter)
			return f->letter < g->letter ? -1 : 1;
	}
	return (x->nfactor > y->nfactor) - (x->nfactor < y->nfactor);
}

/* Stable order of equal products, so that their sum does not depend on qsort. */
struct numbered { struct pauli_term t; uint32_t at; };

static int by_factors_then_place(const void *p, const void *q)
{
	const struct numbered *x = p, *y = q;
	int c = by_factors(&x->t, &y->t);

	return c ? c : (x->at > y->at) - (x->at < y->at);
}

uint32_t pauli_sum_gather(struct arena *a, const struct pauli_sum *s, struct pauli_term **out)
{
	mem_auto struct numbered *v = mem_alloc(s->n + 1, sizeof *v);
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < s->n; i++)
		v[i] = (struct numbered){ s->store->v[i], i };
	qsort(v, s->n, sizeof *v, by_factors_then_place);
	*out = arena_alloc(a, s->n + 1, sizeof **out);
	for (uint32_t i = 0; i < s->n; i++) {
		if (n && !by_factors(&(*out)[n - 1], &v[i].t))
			(*out)[n - 1].coefficient += v[i].t.coefficient;
		else
			(*out)[n++] = v[i].t;
	}
	for (uint32_t i = 0; i < n; i++)
		if ((*out)[i].coefficient != 0)
			(*out)[kept++] = (*out)[i];
	return kept;
}
