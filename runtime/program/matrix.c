/* SPDX-License-Identifier: Apache-2.0
 * Small matrices from their definitions: M = I_n ... I_1 is built by row operations on the
 * d x d product, one item after the other. */
#include "config.h"
#include "runtime/program/matrix_seat.h"

#include <string.h>

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

/* x <- a x + b y and y <- c x + d y for rows of n complex numbers; g = a, b, c, d. */
static inline void mix_rows(const cplx *g, unsigned n, cplx *x, cplx *y)
{
	#pragma GCC unroll 4
	for (unsigned k = 0; k < n; k++) {
		pair p = *(pair *)&x[k], q = *(pair *)&y[k];
		*(pair *)&x[k] = pair_times(g[0], p) + pair_times(g[1], q);
		*(pair *)&y[k] = pair_times(g[2], p) + pair_times(g[3], q);
	}
}

/* Most factors act on one wire: two rows at a time, their length known. */
static void apply_pairs(const struct seat *s, const cplx *g, cplx *m)
{
	for (unsigned b = 0; b < s->nbase; b++) {
		cplx *x = m + (s->base[b] | s->at[0]) * s->d, *y = m + (s->base[b] | s->at[1]) * s->d;
		switch (s->d) {
		case 2: mix_rows(g, 2, x, y); break;
		case 4: mix_rows(g, 4, x, y); break;
		case 8: mix_rows(g, 8, x, y); break;
		}
	}
}

/* Rows x[0 .. dim) of n complex numbers: x <- g x. */
static inline void multiply_rows(const cplx *g, unsigned dim, unsigned n, cplx *const *x)
{
	for (unsigned c = 0; c < n; c++) {
		pair old[MATRIX_DIM_MAX];
		for (unsigned j = 0; j < dim; j++)
			old[j] = *(pair *)&x[j][c];
		for (unsigned i = 0; i < dim; i++) {
			pair sum = { 0, 0 };
			#pragma GCC unroll 4
			for (unsigned j = 0; j < dim; j++)
				sum += pair_times(g[i * dim + j], old[j]);
			*(pair *)&x[i][c] = sum;
		}
	}
}

void seat_rows(const struct seat *s, const cplx *g, cplx *m)
{
	if (s->dim == 2) {
		apply_pairs(s, g, m);
		return;
	}
	for (unsigned b = 0; b < s->nbase; b++) {
		cplx *x[MATRIX_DIM_MAX];
		for (unsigned i = 0; i < s->dim; i++)
			x[i] = m + (s->base[b] | s->at[i]) * s->d;
		if (s->dim == 4 && s->d == 4)
			multiply_rows(g, 4, 4, x);
		else if (s->dim == 4)
			multiply_rows(g, 4, 8, x);
		else
			multiply_rows(g, s->dim, s->d, x);
	}
}

static void set_identity(unsigned d, cplx *m)
{
	memset(m, 0, d * d * sizeof *m);
	for (unsigned i = 0; i < d; i++)
		m[i * d + i] = 1;
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

/* out = G in the item's seat, 1 elsewhere. */
static void seat_place(const struct seat *s, const cplx *g, cplx *out)
{
	set_identity(s->d, out);
	for (unsigned b = 0; b < s->nbase; b++)
		for (unsigned i = 0; i < s->dim; i++)
			for (unsigned j = 0; j < s->dim; j++)
				out[(s->base[b] | s->at[i]) * s->d + (s->base[b] | s->at[j])] = g[i * s->dim + j];
}

static void build_one(const struct matrix_set *s, const struct matrix *m, const double *expr_value,
	const cplx *u, cplx *out)
{
	cplx g[MATRIX_ENTRIES_MAX];
	struct seat seat;
	if (m->nitem == 1 && item_is_whole(&m->item[0], m->ntarget)) {
		item_small(s, &m->item[0], matrix_dim(m), expr_value, u, out);
		return;
	}
	if (m->nitem == 0)
		set_identity(matrix_dim(m), out);
	for (uint32_t i = 0; i < m->nitem; i++) {
		seat_find(&m->item[i], m->ntarget, &seat);
		item_small(s, &m->item[i], seat.dim, expr_value, u, g);
		if (i == 0)
			seat_place(&seat, g, out);
		else
			seat_rows(&seat, g, out);
	}
}

static bool wanted(const struct matrix_set *s, uint32_t m, enum value_class lo, enum value_class hi, const bool *need)
{
	enum value_class cls = s->def[m]->cls;
	return cls >= lo && cls <= hi && (!need || need[m]);
}

void matrix_set_of(struct matrix_set *s, const struct program *p, struct arena *a)
{
	const struct matrix **def = arena_alloc(a, p->nmatrix, sizeof *def);
	uint32_t *offset = arena_alloc(a, (size_t)p->nmatrix + 1, sizeof *offset);
	for (uint32_t i = 0; i < p->nmatrix; i++) {
		def[i] = &p->matrix[i];
		offset[i + 1] = offset[i] + matrix_dim(def[i]) * matrix_dim(def[i]);
	}
	*s = (struct matrix_set){ .program = p, .def = def, .n = p->nmatrix, .offset = offset };
}

void matrix_build(const struct matrix_set *s, const double *expr_value, enum value_class lo,
	enum value_class hi, const bool *need, cplx *u)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (wanted(s, i, lo, hi, need))
			build_one(s, s->def[i], expr_value, u, u + s->offset[i]);
}

void item_matrix(const struct matrix_set *s, const struct item *it, unsigned ntarget,
	const double *expr_value, const cplx *u, cplx *out)
{
	cplx g[MATRIX_ENTRIES_MAX];
	struct seat seat;
	seat_find(it, ntarget, &seat);
	item_small(s, it, seat.dim, expr_value, u, g);
	seat_place(&seat, g, out);
}

void matrix_multiply(unsigned d, const cplx *a, const cplx *b, cplx *c)
{
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++) {
			cplx sum = 0;
			for (unsigned k = 0; k < d; k++)
				sum += cplx_mul(a[i * d + k], b[k * d + j]);
			c[i * d + j] = sum;
		}
}

void matrix_adjoint(unsigned d, const cplx *a, cplx *out)
{
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++)
			out[j * d + i] = conj(a[i * d + j]);
}
