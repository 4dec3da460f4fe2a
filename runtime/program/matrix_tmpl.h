/* SPDX-License-Identifier: Apache-2.0
 * Rows of matrices with D rows. Included once a D and instruction set: vectors are of WIDTH doubles,
 * WIDTH divides D, NAME() tells the functions apart, TARGET is their attribute.
 *
 * Real and imaginary parts lie apart, so that every step multiplies and adds whole rows: the same numbers in the same order,
 * and so the same bits, whatever WIDTH is. */

typedef double NAME(vec) __attribute__((vector_size(8 * WIDTH), may_alias));
typedef double NAME(loose) __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef int64_t NAME(index) __attribute__((vector_size(8 * WIDTH)));
#define VEC NAME(vec)
#define LOOSE NAME(loose)
#define INDEX NAME(index)

struct NAME(rows) { VEC re[D][D / WIDTH], im[D][D / WIDTH]; };

#define PARTS(k) _Pragma("GCC unroll 4") for (unsigned k = 0; k < D / WIDTH; k++)

/* A complex number is its two parts (C17 6.2.5): a row is D / WIDTH pairs of vectors. */
TARGET static inline void NAME(load)(const cplx *m, struct NAME(rows) *x)
{
	for (unsigned r = 0; r < D; r++)
		PARTS(k) {
			const LOOSE *from = (const LOOSE *)(m + r * D + k * WIDTH);
			VEC low = from[0], high = from[1];
#if WIDTH == 2
			x->re[r][k] = SHUFFLED(INDEX, low, high, 0, 2);
			x->im[r][k] = SHUFFLED(INDEX, low, high, 1, 3);
#else
			x->re[r][k] = SHUFFLED(INDEX, low, high, 0, 2, 4, 6);
			x->im[r][k] = SHUFFLED(INDEX, low, high, 1, 3, 5, 7);
#endif
		}
}

TARGET static inline void NAME(store)(const struct NAME(rows) *x, cplx *m)
{
	for (unsigned r = 0; r < D; r++)
		PARTS(k) {
			VEC re = x->re[r][k], im = x->im[r][k];
			LOOSE *to = (LOOSE *)(m + r * D + k * WIDTH);
			to[0] = INTERLEAVED(WIDTH, INDEX, re, im, 0);
			to[1] = INTERLEAVED(WIDTH, INDEX, re, im, 1);
		}
}

/* Part k of row r of an identity. */
TARGET static inline VEC NAME(unit)(unsigned r, unsigned k)
{
	return *(const LOOSE *)(unit_rows + MATRIX_DIM_MAX - 1 - r + k * WIDTH);
}

TARGET static inline void NAME(identity)(struct NAME(rows) *x)
{
	for (unsigned r = 0; r < D; r++)
		PARTS(k) {
			x->re[r][k] = NAME(unit)(r, k);
			x->im[r][k] = (VEC){ 0 };
		}
}

/* Rows r and q become a r + b q and c r + d q. */
TARGET static inline void NAME(pair)(struct NAME(rows) *x, unsigned r, unsigned q, cplx a, cplx b, cplx c, cplx d)
{
	double ar = creal(a), ai = cimag(a), br = creal(b), bi = cimag(b), cr = creal(c), ci = cimag(c), dr = creal(d), di = cimag(d);
	PARTS(k) {
		VEC xr = x->re[r][k], xi = x->im[r][k], yr = x->re[q][k], yi = x->im[q][k];
		x->re[r][k] = (ar * xr - ai * xi) + (br * yr - bi * yi);
		x->im[r][k] = (ar * xi + ai * xr) + (br * yi + bi * yr);
		x->re[q][k] = (cr * xr - ci * xi) + (dr * yr - di * yi);
		x->im[q][k] = (cr * xi + ci * xr) + (dr * yi + di * yr);
	}
}

/* The k-th row whose bit `bit` is 0. */
#define ROW_WITHOUT(k, bit) (((k) & ~((bit) - 1)) << 1 | ((k) & ((bit) - 1)))

/* x <- I x for an item on one wire whose 2 x 2 matrix, before it is conjugate-transposed, is g. */
TARGET static inline void NAME(one)(const struct item_place *pl, const cplx *g, bool adjoint, struct NAME(rows) *x)
{
	cplx a = g[0], b = g[1], c = g[2], d = g[3];
	if (adjoint) {
		a = conj(a);
		b = conj(g[2]);
		c = conj(g[1]);
		d = conj(d);
	}
	for (unsigned k = 0; k < D / 2; k++) {
		unsigned r = ROW_WITHOUT(k, pl->flip);
		if (pl->rows >> r & 1)
			NAME(pair)(x, r, r | pl->flip, a, b, c, d);
	}
}

/* The same of a word: its numbers are w. */
TARGET static inline void NAME(word)(const struct item_place *pl, const cplx *w, struct NAME(rows) *x)
{
	unsigned lowest = pl->flip & -pl->flip, minus = pl->minus;
	cplx one = w[0], turn = w[1];
	if (!pl->flip) {
		for (unsigned r = 0; r < D; r++) {
			double sign = sign_of[minus >> r & 1], ar = creal(one) + sign * creal(turn), ai = cimag(one) + sign * cimag(turn);
			if (pl->rows >> r & 1)
				PARTS(k) {
					VEC xr = x->re[r][k], xi = x->im[r][k];
					x->re[r][k] = ar * xr - ai * xi;
					x->im[r][k] = ar * xi + ai * xr;
				}
		}
		return;
	}
	for (unsigned k = 0; k < D / 2; k++) {
		unsigned r = ROW_WITHOUT(k, lowest);
		double sign = sign_of[minus >> r & 1];
		cplx b = cplx_of(sign * creal(turn), sign * cimag(turn));
		if (pl->rows >> r & 1)
			NAME(pair)(x, r, r ^ pl->flip, one, b, pl->ny & 1 ? -b : b, one);
	}
}

/* x <- I of a word: what its rows are of an identity. */
TARGET static inline void NAME(word_alone)(const struct item_place *pl, const cplx *w, struct NAME(rows) *x)
{
	NAME(identity)(x);
	for (unsigned r = 0; r < D; r++) {
		double sign = sign_of[pl->minus >> r & 1];
		if (pl->rows >> r & 1)
			PARTS(k) {
				VEC own = NAME(unit)(r, k), other = NAME(unit)(r ^ pl->flip, k);
				x->re[r][k] = creal(w[0]) * own + sign * creal(w[1]) * other;
				x->im[r][k] = cimag(w[0]) * own + sign * cimag(w[1]) * other;
			}
	}
}

/* The same of a dense item g with dim rows, in a form of its own. */
TARGET static inline __attribute__((always_inline)) void NAME(dense_of)(unsigned dim, const struct seat *s, const cplx *g, unsigned form,
	struct NAME(rows) *x)
{
	for (unsigned b = 0; b < s->nbase; b++)
		for (unsigned k = 0; k < D / WIDTH; k++) {
			VEC re[D], im[D];
			_Pragma("GCC unroll 8")
			for (unsigned j = 0; j < dim; j++) {
				re[j] = x->re[s->base[b] | s->at[j]][k];
				im[j] = x->im[s->base[b] | s->at[j]][k];
			}
			for (unsigned i = 0; i < dim; i++) {
				VEC sr = { 0 }, si = { 0 };
				_Pragma("GCC unroll 8")
				for (unsigned j = 0; j < dim; j++) {
					cplx f = form & FORM_TRANSPOSED ? g[j * dim + i] : g[i * dim + j];
					double fr = creal(f), fi = form & FORM_CONJUGATE ? -cimag(f) : cimag(f);
					sr += fr * re[j] - fi * im[j];
					si += fr * im[j] + fi * re[j];
				}
				x->re[s->base[b] | s->at[i]][k] = sr;
				x->im[s->base[b] | s->at[i]][k] = si;
			}
		}
}

TARGET static void NAME(dense)(const struct seat *s, const cplx *g, unsigned form, struct NAME(rows) *x)
{
	switch (s->dim) {            /* loops of known lengths */
	case 2: NAME(dense_of)(2, s, g, form, x); return;
#if D >= 4
	case 4: NAME(dense_of)(4, s, g, form, x); return;
#endif
#if D >= 8
	case 8: NAME(dense_of)(8, s, g, form, x); return;
#endif
	}
}

/* ---- build ---- */

TARGET static void NAME(build)(const struct matrix_set *s, uint32_t number, const double *expr_value, cplx *u, const cplx *kept)
{
	const struct matrix *m = s->def[number];
	const struct item_place *place = s->place + s->first_place[number];
	struct NAME(rows) x;
	bool word = m->nitem && place->kind == PLACE_WORD, whole = m->nitem && !word && item_is_whole(&m->item[0], m->ntarget);
	cplx g[MATRIX_ENTRIES_MAX];
	if (!whole && !word)
		NAME(identity)(&x);
	for (uint32_t i = 0; i < m->nitem; i++) {
		const struct item *it = &m->item[i];
		const struct item_place *pl = &place[i];
		if (i == 0 && word) {
			NAME(word_alone)(pl, item_numbers(s, it, pl, expr_value, u, kept, g), &x);
		} else if (pl->kind == PLACE_WORD) {
			NAME(word)(pl, item_numbers(s, it, pl, expr_value, u, kept, g), &x);
		} else if (i == 0 && whole) {
			NAME(load)(item_dense(s, it, D, expr_value, u, g), &x);
		} else if (pl->kind == PLACE_ONE) {
			NAME(one)(pl, item_numbers(s, it, pl, expr_value, u, kept, g), it->adjoint, &x);
		} else {
			NAME(dense)(pl->seat, item_dense(s, it, pl->seat->dim, expr_value, u, g), FORM_ITSELF, &x);
		}
	}
	NAME(store)(&x, u + s->offset[number]);
}

/* out <- I in, of a dense item. */
TARGET static void NAME(apply)(const struct seat *seat, const cplx *g, unsigned form, const cplx *in, cplx *out)
{
	struct NAME(rows) x;
	NAME(load)(in, &x);
	NAME(dense)(seat, g, form, &x);
	NAME(store)(&x, out);
}

#undef ROW_WITHOUT
#undef INDEX
#undef PARTS
#undef D
#undef VEC
#undef LOOSE
#undef WIDTH
#undef NAME
