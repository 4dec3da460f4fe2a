/* SPDX-License-Identifier: Apache-2.0
 * Small matrices forward and in reverse.
 *
 * A definition M = I_n ... I_1 is built by row operations on the d x d product, one
 * item after the other.  In reverse, with P = I_(k-1) ... I_1 and S = I_n ... I_(k+1),
 * dM = S dI_k P gives item k the cross matrix S^T R P^T; S^T R grows by I_k^T and P
 * shrinks by the inverse of I_k, so that nothing has to be kept. */
#include "config.h"
#include "runtime/program/matrix.h"

#include <string.h>

/* Where an item's small matrix sits in the d x d one. */
struct seat {
	unsigned d, dim;                     /* of the matrix, of the item's targets */
	unsigned nbase, base[MATRIX_DIM_MAX]; /* index bits outside the item, its controls met */
	unsigned at[MATRIX_DIM_MAX];         /* target index -> index bits */
};

static void seat_find(const struct item *it, unsigned ntarget, struct seat *s)
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

/* The item's small matrix, conjugate-transposed if it says so. */
static void item_small(const struct matrix_set *s, const struct item *it, unsigned dim,
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

/* A complex number as a pair of doubles, and a factor laid out for multiplying such pairs;
 * the same operations in the same order as cplx_mul, two at a time. */
typedef double pair __attribute__((vector_size(16), may_alias));
struct factor { pair re, im; };

static inline struct factor factor_of(cplx z)
{
	return (struct factor){ { creal(z), creal(z) }, { -cimag(z), cimag(z) } };
}

static inline pair times(const struct factor *f, pair x)
{
	return f->re * x + f->im * (pair){ x[1], x[0] };
}

/* x <- a x + b y and y <- c x + d y for rows of n complex numbers; g = a, b, c, d. */
static inline void mix_rows(const cplx *g, unsigned n, cplx *x, cplx *y)
{
	struct factor a = factor_of(g[0]), b = factor_of(g[1]), c = factor_of(g[2]), d = factor_of(g[3]);
	for (unsigned k = 0; k < n; k++) {
		pair p = *(pair *)&x[k], q = *(pair *)&y[k];
		*(pair *)&x[k] = times(&a, p) + times(&b, q);
		*(pair *)&y[k] = times(&c, p) + times(&d, q);
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

/* m <- G m, where G is g (dim x dim) in its seat. */
static void apply_rows(const struct seat *s, const cplx *g, cplx *m)
{
	cplx old[MATRIX_DIM_MAX][MATRIX_DIM_MAX];
	if (s->dim == 2) {
		apply_pairs(s, g, m);
		return;
	}
	for (unsigned b = 0; b < s->nbase; b++) {
		for (unsigned i = 0; i < s->dim; i++)
			memcpy(old[i], m + (s->base[b] | s->at[i]) * s->d, s->d * sizeof *m);
		for (unsigned i = 0; i < s->dim; i++) {
			cplx *row = m + (s->base[b] | s->at[i]) * s->d;
			memset(row, 0, s->d * sizeof *row);
			for (unsigned j = 0; j < s->dim; j++) {
				cplx f = g[i * s->dim + j];
				if (f == 0)
					continue;
				for (unsigned c = 0; c < s->d; c++)
					row[c] += cplx_mul(f, old[j][c]);
			}
		}
	}
}

static void set_identity(unsigned d, cplx *m)
{
	memset(m, 0, d * d * sizeof *m);
	for (unsigned i = 0; i < d; i++)
		m[i * d + i] = 1;
}

/* One factor that fills its matrix: every target of it, in order, without controls. */
static bool is_whole(const struct item *it, unsigned ntarget)
{
	if (it->ncontrol != 0 || it->nwire != ntarget)
		return false;
	for (unsigned k = 0; k < ntarget; k++)
		if (it->wire[k] != k)
			return false;
	return true;
}

static void build_one(const struct matrix_set *s, const struct matrix *m, const double *expr_value,
	const cplx *u, cplx *out)
{
	cplx g[MATRIX_ENTRIES_MAX];
	struct seat seat;
	if (m->nitem == 1 && is_whole(&m->item[0], m->ntarget)) {
		item_small(s, &m->item[0], matrix_dim(m), expr_value, u, out);
		return;
	}
	set_identity(matrix_dim(m), out);
	for (uint32_t i = 0; i < m->nitem; i++) {
		seat_find(&m->item[i], m->ntarget, &seat);
		item_small(s, &m->item[i], seat.dim, expr_value, u, g);
		apply_rows(&seat, g, out);
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

/* x[i][j] = (a p^T) at the item's entry i, j, summed over the other index bits. */
static void cross_of_item(const struct seat *s, const cplx *a, const cplx *p, cplx *x)
{
	for (unsigned i = 0; i < s->dim; i++)
		for (unsigned j = 0; j < s->dim; j++) {
			cplx sum = 0;
			for (unsigned b = 0; b < s->nbase; b++) {
				const cplx *ra = a + (s->base[b] | s->at[i]) * s->d;
				const cplx *rp = p + (s->base[b] | s->at[j]) * s->d;
				for (unsigned c = 0; c < s->d; c++)
					sum += cplx_mul(ra[c], rp[c]);
			}
			x[i * s->dim + j] = sum;
		}
}

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
		double sum = 0;
		for (unsigned i = 0; i < dim * dim; i++)
			sum += creal(du[i]) * creal(x[i]) - cimag(du[i]) * cimag(x[i]);
		slope_expr[it->angle[k]] += 2 * sum;
	}
}

static bool item_varies(const struct matrix_set *s, const struct item *it)
{
	if (it->gate == GATE_NONE)
		return s->def[it->ref]->cls != VALUE_CONSTANT;
	for (unsigned k = 0, n = gate_row(it->gate)->nangle; k < n; k++)
		if (s->program->expr[it->angle[k]].cls != VALUE_CONSTANT)
			return true;
	return false;
}

static void item_reverse(const struct matrix_set *s, const struct item *it, const struct seat *seat,
	const double *expr_value, const cplx *a, const cplx *p, cplx *r, double *slope_expr)
{
	cplx x[MATRIX_ENTRIES_MAX], turned[MATRIX_ENTRIES_MAX];
	const cplx *of_plain = x;
	cross_of_item(seat, a, p, x);
	if (it->adjoint) {           /* Re tr(dG^+T x) = Re tr(dG^T x^+) */
		matrix_adjoint(seat->dim, x, turned);
		of_plain = turned;
	}
	if (it->gate != GATE_NONE) {
		gate_slopes(s->program, it, seat->dim, expr_value, of_plain, slope_expr);
		return;
	}
	cplx *to = r + s->offset[it->ref];
	for (unsigned i = 0; i < seat->dim * seat->dim; i++)
		to[i] += of_plain[i];
}

static void transpose(unsigned d, const cplx *a, cplx *out)
{
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++)
			out[j * d + i] = a[i * d + j];
}

/* a = S^T R in r's own place, p = the product before the item. */
static void reverse_one(const struct matrix_set *s, uint32_t number, const double *expr_value,
	const cplx *u, cplx *r, double *slope_expr)
{
	const struct matrix *m = s->def[number];
	unsigned d = matrix_dim(m);
	cplx p[MATRIX_ENTRIES_MAX], g[MATRIX_ENTRIES_MAX], turned[MATRIX_ENTRIES_MAX];
	cplx *a = r + s->offset[number];
	struct seat seat;
	uint32_t first = 0;
	while (first < m->nitem && !item_varies(s, &m->item[first]))
		first++;
	memcpy(p, u + s->offset[number], d * d * sizeof *p);
	for (uint32_t i = m->nitem; i-- > first;) {
		const struct item *it = &m->item[i];
		seat_find(it, m->ntarget, &seat);
		item_small(s, it, seat.dim, expr_value, u, g);
		matrix_adjoint(seat.dim, g, turned);
		apply_rows(&seat, turned, p);
		if (item_varies(s, it))
			item_reverse(s, it, &seat, expr_value, a, p, r, slope_expr);
		transpose(seat.dim, g, turned);
		apply_rows(&seat, turned, a);
	}
}

void matrix_reverse(const struct matrix_set *s, const double *expr_value, const cplx *u,
	enum value_class lo, enum value_class hi, const bool *need, cplx *r, double *slope_expr)
{
	for (uint32_t i = s->n; i-- > 0;)
		if (s->def[i]->cls != VALUE_CONSTANT && wanted(s, i, lo, hi, need))
			reverse_one(s, i, expr_value, u, r, slope_expr);
}

void item_matrix(const struct matrix_set *s, const struct item *it, unsigned ntarget,
	const double *expr_value, const cplx *u, cplx *out)
{
	cplx g[MATRIX_ENTRIES_MAX];
	struct seat seat;
	seat_find(it, ntarget, &seat);
	item_small(s, it, seat.dim, expr_value, u, g);
	set_identity(seat.d, out);
	apply_rows(&seat, g, out);
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
