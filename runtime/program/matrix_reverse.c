/* SPDX-License-Identifier: Apache-2.0
 * Small matrices in reverse: from cross matrices to angles.
 *
 * M = I_n ... I_1 has the cross matrix R.  With P = I_(k-1) ... I_1 and S = I_n ... I_(k+1),
 * dM = S dI_k P gives item k the cross matrix Q = S^T R P^T.  What is carried from item to item is
 * W = Q I_k^T: it begins as R M^T and goes from item k to the one before as I_k^T W conj(I_k), so
 * that nothing has to be kept and neither S nor P is formed.  Where dI_k = D I_k with a D that no
 * angle changes, sum dI_k Q = sum D W; else Q = W conj(I_k).  Only W's sum over the index bits
 * outside the item is needed for that, and both products are as small as the item. */
#include "config.h"
#include "runtime/program/matrix_seat.h"

#include <string.h>

/* The places of one item on the way back. */
struct step { const struct item *it; struct seat seat; cplx g[MATRIX_ENTRIES_MAX]; };

static bool item_varies(const struct matrix_set *s, const struct item *it)
{
	if (it->gate == GATE_NONE)
		return s->def[it->ref]->cls != VALUE_CONSTANT;
	for (unsigned k = 0, n = gate_row(it->gate)->nangle; k < n; k++)
		if (s->program->expr[it->angle[k]].cls != VALUE_CONSTANT)
			return true;
	return false;
}

/* c = a b^T, or a conj(b). */
static inline void multiply(unsigned d, const cplx *a, const cplx *b, bool transposed, cplx *c)
{
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++) {
			pair sum = { 0, 0 };
			#pragma GCC unroll 4
			for (unsigned k = 0; k < d; k++) {
				cplx y = transposed ? b[j * d + k] : conj(b[k * d + j]);
				sum += pair_times(y, *(const pair *)&a[i * d + k]);
			}
			*(pair *)&c[i * d + j] = sum;
		}
}

static void multiply_transposed(unsigned d, const cplx *a, const cplx *b, cplx *c)
{
	switch (d) {
	case 2:  multiply(2, a, b, true, c); break;
	case 4:  multiply(4, a, b, true, c); break;
	default: multiply(d, a, b, true, c); break;
	}
}

static void multiply_conjugate(unsigned d, const cplx *a, const cplx *b, cplx *c)
{
	switch (d) {
	case 2:  multiply(2, a, b, false, c); break;
	case 4:  multiply(4, a, b, false, c); break;
	default: multiply(d, a, b, false, c); break;
	}
}

/* w <- w conj(G), G being g in its seat: two columns, their length known. */
static inline void mix_columns(const cplx *g, unsigned d, cplx *x, cplx *y)
{
	cplx a = conj(g[0]), b = conj(g[1]), c = conj(g[2]), e = conj(g[3]);
	#pragma GCC unroll 4
	for (unsigned r = 0; r < d; r++) {
		pair p = *(pair *)&x[r * d], q = *(pair *)&y[r * d];
		*(pair *)&x[r * d] = pair_times(a, p) + pair_times(c, q);
		*(pair *)&y[r * d] = pair_times(b, p) + pair_times(e, q);
	}
}

static void pairs_of_columns(const struct seat *s, const cplx *g, cplx *w)
{
	for (unsigned b = 0; b < s->nbase; b++) {
		cplx *x = w + (s->base[b] | s->at[0]), *y = w + (s->base[b] | s->at[1]);
		switch (s->d) {
		case 2: mix_columns(g, 2, x, y); break;
		case 4: mix_columns(g, 4, x, y); break;
		case 8: mix_columns(g, 8, x, y); break;
		}
	}
}

/* The same for any number of columns. */
static inline void columns(const struct seat *s, unsigned dim, const cplx *g, cplx *w)
{
	for (unsigned r = 0; r < s->d; r++)
		for (unsigned b = 0; b < s->nbase; b++) {
			cplx *row = w + r * s->d + s->base[b];
			pair old[MATRIX_DIM_MAX];
			for (unsigned k = 0; k < dim; k++)
				old[k] = *(const pair *)&row[s->at[k]];
			for (unsigned j = 0; j < dim; j++) {
				pair sum = { 0, 0 };
				#pragma GCC unroll 4
				for (unsigned k = 0; k < dim; k++)
					sum += pair_times(conj(g[k * dim + j]), old[k]);
				*(pair *)&row[s->at[j]] = sum;
			}
		}
}

static void seat_columns(const struct seat *s, const cplx *g, cplx *w)
{
	if (s->dim == 2)
		pairs_of_columns(s, g, w);
	else if (s->dim == 4)
		columns(s, 4, g, w);
	else
		columns(s, s->dim, g, w);
}

/* W of an item becomes that of the item before it. */
static void step_back(const struct step *k, cplx *w)
{
	cplx turned[MATRIX_ENTRIES_MAX];
	unsigned dim = k->seat.dim;
	for (unsigned i = 0; i < dim; i++)
		for (unsigned j = 0; j < dim; j++)
			turned[j * dim + i] = k->g[i * dim + j];
	seat_rows(&k->seat, turned, w);
	seat_columns(&k->seat, k->g, w);
}

/* x[i][j] = w at the item's entry i, j, summed over the other index bits. */
static void sum_seat(const struct seat *s, const cplx *w, cplx *x)
{
	for (unsigned i = 0; i < s->dim; i++)
		for (unsigned j = 0; j < s->dim; j++) {
			pair sum = { 0, 0 };
			for (unsigned b = 0; b < s->nbase; b++)
				sum += *(const pair *)&w[(s->base[b] | s->at[i]) * s->d + (s->base[b] | s->at[j])];
			*(pair *)&x[i * s->dim + j] = sum;
		}
}

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

/* The item's cross matrix q: to the matrix it refers to, or to the gate's angles. */
static void hand_on(const struct matrix_set *s, const struct item *it, unsigned dim,
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

static void item_reverse(const struct matrix_set *s, const struct step *k, const double *expr_value,
	const cplx *w, cplx *r, double *slope_expr)
{
	const struct item *it = k->it;
	unsigned dim = k->seat.dim;
	cplx x[MATRIX_ENTRIES_MAX], q[MATRIX_ENTRIES_MAX];
	sum_seat(&k->seat, w, x);
	if (it->gate != GATE_NONE && gate_generator(it->gate, it->word, q)) {
		/* d(G^+) = -D G^+ where D commutes with G */
		slope_expr[it->angle[0]] += it->adjoint ? -slope_of(dim, q, x) : slope_of(dim, q, x);
		return;
	}
	multiply_conjugate(dim, x, k->g, q);
	hand_on(s, it, dim, expr_value, q, r, slope_expr);
}

static void reverse_one(const struct matrix_set *s, uint32_t number, const double *expr_value,
	const cplx *u, cplx *r, double *slope_expr)
{
	const struct matrix *m = s->def[number];
	unsigned d = matrix_dim(m);
	cplx w[MATRIX_ENTRIES_MAX];
	uint32_t first = 0;
	while (first < m->nitem && !item_varies(s, &m->item[first]))
		first++;
	if (m->nitem == 1 && first == 0 && item_is_whole(&m->item[0], m->ntarget)) {
		hand_on(s, &m->item[0], d, expr_value, r + s->offset[number], r, slope_expr);
		return;
	}
	multiply_transposed(d, r + s->offset[number], u + s->offset[number], w);
	for (uint32_t i = m->nitem; i-- > first;) {
		struct step k;
		k.it = &m->item[i];
		seat_find(k.it, m->ntarget, &k.seat);
		item_small(s, k.it, k.seat.dim, expr_value, u, k.g);
		if (item_varies(s, k.it))
			item_reverse(s, &k, expr_value, w, r, slope_expr);
		if (i > first)
			step_back(&k, w);
	}
}

void matrix_reverse(const struct matrix_set *s, const double *expr_value, const cplx *u,
	enum value_class lo, enum value_class hi, const bool *need, cplx *r, double *slope_expr)
{
	for (uint32_t i = s->n; i-- > 0;) {
		enum value_class cls = s->def[i]->cls;
		if (cls != VALUE_CONSTANT && cls >= lo && cls <= hi && (!need || need[i]))
			reverse_one(s, i, expr_value, u, r, slope_expr);
	}
}
