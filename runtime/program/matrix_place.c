/* SPDX-License-Identifier: Apache-2.0
 * How items act on the rows of their matrices. */
#include "config.h"
#include "runtime/program/matrix_place.h"

#include <string.h>

/* ---- seats ---- */

void seat_find(const struct item *it, unsigned ntarget, struct seat *s)
{
	unsigned nt = it->nwire - it->ncontrol, targets = 0, controls = 0, met = 0;
	for (unsigned k = 0; k < it->ncontrol; k++) {
		controls |= 1u << it->wire[k];
		met |= (it->control_ones >> k & 1u) << it->wire[k];
	}
	s->d = 1u << ntarget;
	s->dim = 1u << nt;
	for (unsigned i = 0; i < s->dim; i++) {
		s->at[i] = 0;
		for (unsigned k = 0; k < nt; k++)
			s->at[i] |= (i >> k & 1) << it->wire[it->ncontrol + k];
	}
	targets = s->at[s->dim - 1];
	s->nbase = 0;
	for (unsigned i = 0; i < s->d; i++)
		if (!(i & targets) && (i & controls) == met)
			s->base[s->nbase++] = i;
}

bool item_is_whole(const struct item *it, unsigned ntarget)
{
	if (it->ncontrol != 0 || it->nwire != ntarget)
		return false;
	for (unsigned k = 0; k < ntarget; k++)
		if (it->wire[k] != k)
			return false;
	return true;
}

void seat_place(const struct seat *s, const cplx *g, cplx *out)
{
	memset(out, 0, s->d * s->d * sizeof *out);
	for (unsigned i = 0; i < s->d; i++)
		out[i * s->d + i] = 1;
	for (unsigned b = 0; b < s->nbase; b++)
		for (unsigned i = 0; i < s->dim; i++)
			for (unsigned j = 0; j < s->dim; j++)
				out[(s->base[b] | s->at[i]) * s->d + (s->base[b] | s->at[j])] = g[i * s->dim + j];
}

/* ---- places ---- */

static bool item_varies(const struct matrix_set *s, const struct item *it)
{
	if (it->gate == GATE_NONE)
		return s->def[it->ref]->cls != VALUE_CONSTANT;
	for (unsigned k = 0, n = gate_row(it->gate)->nangle; k < n; k++)
		if (s->program->expr[it->angle[k]].cls != VALUE_CONSTANT)
			return true;
	return false;
}

/* Bits of a word's targets as index bits of the matrix. */
static uint8_t spread(const struct item *it, unsigned bits)
{
	unsigned out = 0;
	for (unsigned k = it->ncontrol; k < it->nwire; k++)
		out |= (bits >> (k - it->ncontrol) & 1) << it->wire[k];
	return (uint8_t)out;
}

static struct item_place place_of(const struct matrix_set *s, const struct item *it, unsigned ntarget)
{
	struct item_place pl = { .kind = PLACE_DENSE, .varies = item_varies(s, it), .kept = INDEX_NONE };
	struct gate_word w = gate_word_of(it->word);
	struct seat seat;
	seat_find(it, ntarget, &seat);
	for (unsigned b = 0; b < seat.nbase; b++)
		for (unsigned i = 0; i < seat.dim; i++)
			pl.rows |= 1u << (seat.base[b] | seat.at[i]);
	if (it->gate != GATE_NONE && gate_row(it->gate)->flags & GATE_WORD) {
		pl.kind = PLACE_WORD;
		pl.flip = spread(it, w.flip);
		pl.ny = w.ny;
		for (unsigned r = 0; r < seat.d; r++)
			pl.minus |= (unsigned)__builtin_parity((r ^ pl.flip) & spread(it, w.sign)) << r;
	} else if (seat.dim == 2) {
		pl.kind = PLACE_ONE;
		pl.flip = (uint8_t)seat.at[1];
	}
	return pl;
}

void matrix_places(struct matrix_set *s, struct arena *a)
{
	uint32_t *first = arena_alloc(a, s->n, sizeof *first), n = 0;
	struct item_place *place;
	for (uint32_t m = 0; m < s->n; m++) {
		first[m] = n;
		n += s->def[m]->nitem;
	}
	place = arena_alloc(a, n, sizeof *place);
	s->nkept = 0;
	for (uint32_t m = 0; m < s->n; m++)
		for (uint32_t i = 0; i < s->def[m]->nitem; i++) {
			struct item_place *pl = &place[first[m] + i];
			*pl = place_of(s, &s->def[m]->item[i], s->def[m]->ntarget);
			if (s->def[m]->cls != VALUE_SHARED || pl->kind == PLACE_DENSE)
				continue;
			pl->kept = s->nkept;
			s->nkept += 2 * matrix_dim(s->def[m]);
		}
	s->first_place = first;
	s->place = place;
}

/* ---- their numbers ---- */

void item_small(const struct matrix_set *s, const struct item *it, unsigned dim,
	const double *expr_value, const cplx *u, cplx *g)
{
	cplx plain[MATRIX_ENTRIES_MAX];
	cplx *to = it->adjoint ? plain : g;
	if (it->gate == GATE_NONE) {
		memcpy(to, u + s->offset[it->ref], dim * dim * sizeof *to);
	} else {
		double angle[GATE_ANGLES_MAX] = { 0 };
		for (unsigned k = 0, n = gate_row(it->gate)->nangle; k < n; k++)
			angle[k] = expr_value[it->angle[k]];
		gate_matrix(it->gate, it->word, angle, to);
	}
	if (it->adjoint)
		matrix_adjoint(dim, plain, g);
}

void place_terms(const struct matrix_set *s, const struct item *it, const struct item_place *pl, unsigned d,
	const double *expr_value, const cplx *u, cplx *t)
{
	cplx g[4], one;
	if (pl->kind == PLACE_WORD) {
		gate_word_terms(it->gate, &expr_value[it->angle[0]], &one, g);
		if (it->adjoint) {
			one = conj(one);
			g[0] = conj(g[0]);
		}
		g[0] = gate_word_turned(g[0], pl->ny);
		g[1] = -g[0];
		for (unsigned r = 0; r < d; r++) {
			t[d + r] = g[pl->minus >> r & 1];
			t[r] = pl->flip ? one : one + t[d + r];
		}
		return;
	}
	item_small(s, it, 2, expr_value, u, g);
	for (unsigned r = 0; r < d; r++) {
		unsigned i = (r & pl->flip) != 0;
		t[r] = g[3 * i];
		t[d + r] = g[1 + i];
	}
}

void place_one(const struct matrix_set *s, const struct matrix *m, const struct item_place *pl, const double *expr_value,
	const cplx *u, cplx *kept, cplx *out)
{
	unsigned d = matrix_dim(m);
	cplx own[2 * MATRIX_DIM_MAX], g[MATRIX_ENTRIES_MAX], *t = kept && pl->kept != INDEX_NONE ? kept + pl->kept : own;
	struct seat seat;
	if (pl->kind == PLACE_DENSE) {
		seat_find(m->item, m->ntarget, &seat);
		item_small(s, m->item, seat.dim, expr_value, u, g);
		seat_place(&seat, g, out);
		return;
	}
	place_terms(s, m->item, pl, d, expr_value, u, t);
	memset(out, 0, d * d * sizeof *out);
	for (unsigned r = 0; r < d; r++) {
		bool on = pl->rows >> r & 1;
		if (on && pl->flip)
			out[r * d + (r ^ pl->flip)] = t[d + r];
		out[r * d + r] = on ? t[r] : 1;
	}
}

/* ---- the way back ---- */

/* 2 Re sum du x: what an angle with that derivative gets. */
static double slope_of(unsigned dim, const cplx *du, const cplx *x)
{
	double sum = 0;
	for (unsigned i = 0; i < dim * dim; i++)
		sum += creal(du[i]) * creal(x[i]) - cimag(du[i]) * cimag(x[i]);
	return 2 * sum;
}

/* The slopes by the angles of a gate whose own cross matrix is x. */
static void gate_slopes(const struct program *p, const struct item *it, unsigned dim,
	const double *expr_value, const cplx *x, double *slope_expr)
{
	cplx du[MATRIX_ENTRIES_MAX];
	double angle[GATE_ANGLES_MAX] = { 0 };
	unsigned n = gate_row(it->gate)->nangle;
	for (unsigned k = 0; k < n; k++)
		angle[k] = expr_value[it->angle[k]];
	for (unsigned k = 0; k < n; k++) {
		if (p->expr[it->angle[k]].cls == VALUE_CONSTANT)
			continue;
		gate_derivative(it->gate, it->word, angle, k, du);
		slope_expr[it->angle[k]] += slope_of(dim, du, x);
	}
}

void item_hand_on(const struct matrix_set *s, const struct item *it, unsigned dim,
	const double *expr_value, const cplx *q, cplx *r, double *slope_expr)
{
	cplx turned[MATRIX_ENTRIES_MAX];
	if (it->adjoint) {           /* Re tr(dG^+T q) = Re tr(dG^T q^+) */
		matrix_adjoint(dim, q, turned);
		q = turned;
	}
	if (it->gate != GATE_NONE) {
		gate_slopes(s->program, it, dim, expr_value, q, slope_expr);
		return;
	}
	cplx *to = r + s->offset[it->ref];
	for (unsigned i = 0; i < dim * dim; i++)
		to[i] += q[i];
}
