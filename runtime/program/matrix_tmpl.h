/* SPDX-License-Identifier: Apache-2.0
 * Building matrices with D rows, and their reverse. Included once a D and instruction set: VEC is a vector of WIDTH
 * doubles, WIDTH divides D, NAME() tells the functions apart, TARGET is their attribute.
 *
 * Real and imaginary parts lie apart, so that every step multiplies and adds whole rows: the same numbers in the same order,
 * and so the same bits, whatever WIDTH is. */

struct NAME(rows) { VEC re[D][D / WIDTH], im[D][D / WIDTH]; };

#define PARTS(k) _Pragma("GCC unroll 4") for (unsigned k = 0; k < D / WIDTH; k++)

TARGET static inline double *NAME(numbers)(VEC *row) { return (double *)row; }

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
#if WIDTH == 2
			to[0] = SHUFFLED(INDEX, re, im, 0, 2);
			to[1] = SHUFFLED(INDEX, re, im, 1, 3);
#else
			to[0] = SHUFFLED(INDEX, re, im, 0, 4, 1, 5);
			to[1] = SHUFFLED(INDEX, re, im, 2, 6, 3, 7);
#endif
		}
}

TARGET static inline void NAME(identity)(struct NAME(rows) *x)
{
	memset(x, 0, sizeof *x);
	for (unsigned r = 0; r < D; r++)
		NAME(numbers)(x->re[r])[r] = 1;
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

/* x <- I x for an item on one wire whose 2 x 2 matrix is g: itself, or one of the forms of enum form. */
TARGET static inline void NAME(one)(const struct item_place *pl, const cplx *g, unsigned form, struct NAME(rows) *x)
{
	cplx a = g[0], b = g[form & FORM_TRANSPOSED ? 2 : 1], c = g[form & FORM_TRANSPOSED ? 1 : 2], d = g[3];
	if (form & FORM_CONJUGATE) {
		a = conj(a);
		b = conj(b);
		c = conj(c);
		d = conj(d);
	}
	for (unsigned k = 0; k < D / 2; k++) {
		unsigned r = ROW_WITHOUT(k, pl->flip);
		if (pl->rows >> r & 1)
			NAME(pair)(x, r, r | pl->flip, a, b, c, d);
	}
}

/* The same of a word: its numbers are w. */
TARGET static inline void NAME(word)(const struct item_place *pl, const cplx *w, unsigned form, struct NAME(rows) *x)
{
	cplx one = form & FORM_CONJUGATE ? conj(w[0]) : w[0], turn = form & FORM_CONJUGATE ? conj(w[1]) : w[1];
	unsigned lowest = pl->flip & -pl->flip, minus = pl->minus;
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
		unsigned r = ROW_WITHOUT(k, lowest), q = r ^ pl->flip, to_r = form & FORM_TRANSPOSED ? q : r;
		double sign = sign_of[minus >> to_r & 1];
		cplx b = cplx_of(sign * creal(turn), sign * cimag(turn));
		if (pl->rows >> r & 1)
			NAME(pair)(x, r, q, one, b, pl->ny & 1 ? -b : b, one);
	}
}

/* The same of a dense item g. */
TARGET static inline void NAME(dense)(const struct seat *s, const cplx *g, unsigned form, struct NAME(rows) *x)
{
	for (unsigned b = 0; b < s->nbase; b++)
		for (unsigned k = 0; k < D / WIDTH; k++) {
			VEC re[D], im[D];
			for (unsigned j = 0; j < s->dim; j++) {
				re[j] = x->re[s->base[b] | s->at[j]][k];
				im[j] = x->im[s->base[b] | s->at[j]][k];
			}
			for (unsigned i = 0; i < s->dim; i++) {
				VEC sr = { 0 }, si = { 0 };
				for (unsigned j = 0; j < s->dim; j++) {
					cplx f = form & FORM_TRANSPOSED ? g[j * s->dim + i] : g[i * s->dim + j];
					double fr = creal(f), fi = form & FORM_CONJUGATE ? -cimag(f) : cimag(f);
					sr += fr * re[j] - fi * im[j];
					si += fr * im[j] + fi * re[j];
				}
				x->re[s->base[b] | s->at[i]][k] = sr;
				x->im[s->base[b] | s->at[i]][k] = si;
			}
		}
}

/* The sum of a row's numbers. */
TARGET static inline double NAME(total)(const VEC *v)
{
	const double *x = (const double *)v;
#if D == 2
	return x[0] + x[1];
#elif D == 4
	return (x[0] + x[1]) + (x[2] + x[3]);
#else
	return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
#endif
}

/* ---- build ---- */

TARGET static void NAME(build)(const struct matrix_set *s, uint32_t number, const double *expr_value, cplx *u, const cplx *kept)
{
	const struct matrix *m = s->def[number];
	const struct item_place *place = s->place + s->first_place[number];
	struct NAME(rows) x;
	bool whole = m->nitem && place->kind != PLACE_WORD && item_is_whole(&m->item[0], m->ntarget);
	cplx g[MATRIX_ENTRIES_MAX];
	if (!whole)
		NAME(identity)(&x);
	for (uint32_t i = 0; i < m->nitem; i++) {
		const struct item *it = &m->item[i];
		const struct item_place *pl = &place[i];
		if (pl->kind == PLACE_WORD) {
			NAME(word)(pl, item_numbers(s, it, pl, expr_value, u, kept, g), FORM_ITSELF, &x);
		} else if (i == 0 && whole) {
			if (it->gate != GATE_NONE || it->adjoint)
				item_small(s, it, D, expr_value, u, g);
			NAME(load)(it->gate != GATE_NONE || it->adjoint ? g : u + s->offset[it->ref], &x);
		} else if (pl->kind == PLACE_ONE) {
			NAME(one)(pl, item_numbers(s, it, pl, expr_value, u, kept, g), it->adjoint ? FORM_ADJOINT : FORM_ITSELF, &x);
		} else {
			item_small(s, it, pl->seat->dim, expr_value, u, g);
			NAME(dense)(pl->seat, g, FORM_ITSELF, &x);
		}
	}
	NAME(store)(&x, u + s->offset[number]);
}

/* ---- reverse ---- */

/* The slope by the angle of a word: see matrix.c. */
TARGET static inline double NAME(word_slope)(const struct item_place *pl, double one, double by_word, const struct NAME(rows) *b,
	const struct NAME(rows) *p)
{
	VEC t0[D / WIDTH] = { { 0 } }, t1[D / WIDTH] = { { 0 } };
	for (unsigned r = 0; r < D; r++) {
		unsigned q = r ^ pl->flip;
		if (!(pl->rows >> r & 1))
			continue;
		double sign = sign_of[(pl->minus >> q ^ pl->ny >> 1) & 1];
		PARTS(k) {
			VEC br = b->re[q][k], bi = b->im[q][k];
			if (pl->ny & 1)      /* Im(i z) */
				t1[k] += sign * (br * p->re[r][k] - bi * p->im[r][k]);
			else
				t1[k] += sign * (br * p->im[r][k] + bi * p->re[r][k]);
			if (one != 0)
				t0[k] += b->re[r][k] * p->im[r][k] + b->im[r][k] * p->re[r][k];
		}
	}
	return -2 * (one * NAME(total)(t0) + by_word * NAME(total)(t1));
}

/* q[i][j] = sum over the rows outside the item of B's row i times P's row j. */
TARGET static inline void NAME(cross)(const struct seat *s, const struct NAME(rows) *b, const struct NAME(rows) *p, cplx *q)
{
	for (unsigned i = 0; i < s->dim; i++)
		for (unsigned j = 0; j < s->dim; j++) {
			VEC re[D / WIDTH] = { { 0 } }, im[D / WIDTH] = { { 0 } };
			for (unsigned n = 0; n < s->nbase; n++) {
				unsigned x = s->base[n] | s->at[i], y = s->base[n] | s->at[j];
				PARTS(k) {
					re[k] += b->re[x][k] * p->re[y][k] - b->im[x][k] * p->im[y][k];
					im[k] += b->re[x][k] * p->im[y][k] + b->im[x][k] * p->re[y][k];
				}
			}
			q[i * s->dim + j] = cplx_of(NAME(total)(re), NAME(total)(im));
		}
}

/* The same of an item on one wire. */
TARGET static inline void NAME(cross_one)(const struct item_place *pl, const struct NAME(rows) *b, const struct NAME(rows) *p, cplx *q)
{
	VEC re[4][D / WIDTH] = { { { 0 } } }, im[4][D / WIDTH] = { { { 0 } } };
	for (unsigned n = 0; n < D / 2; n++) {
		unsigned r = ROW_WITHOUT(n, pl->flip);
		if (!(pl->rows >> r & 1))
			continue;
		_Pragma("GCC unroll 4")
		for (unsigned e = 0; e < 4; e++) {
			unsigned x = e & 2 ? r | pl->flip : r, y = e & 1 ? r | pl->flip : r;
			PARTS(k) {
				re[e][k] += b->re[x][k] * p->re[y][k] - b->im[x][k] * p->im[y][k];
				im[e][k] += b->re[x][k] * p->im[y][k] + b->im[x][k] * p->re[y][k];
			}
		}
	}
	for (unsigned e = 0; e < 4; e++)
		q[e] = cplx_of(NAME(total)(re[e]), NAME(total)(im[e]));
}

/* The same of any item where P is 1. */
TARGET static inline void NAME(cross_first)(const struct seat *s, struct NAME(rows) *b, cplx *q)
{
	for (unsigned i = 0; i < s->dim; i++)
		for (unsigned j = 0; j < s->dim; j++) {
			double re = 0, im = 0;
			for (unsigned k = 0; k < s->nbase; k++) {
				re += NAME(numbers)(b->re[s->base[k] | s->at[i]])[s->base[k] | s->at[j]];
				im += NAME(numbers)(b->im[s->base[k] | s->at[i]])[s->base[k] | s->at[j]];
			}
			q[i * s->dim + j] = cplx_of(re, im);
		}
}

TARGET static void NAME(reverse)(const struct matrix_set *s, uint32_t number, const double *expr_value, const cplx *u, const cplx *kept,
	cplx *r, double *slope_expr)
{
	const struct matrix *m = s->def[number];
	const struct item_place *place = s->place + s->first_place[number];
	struct NAME(rows) b, p;
	uint32_t first = 0;
	while (first < m->nitem && !place[first].varies)
		first++;
	NAME(load)(r + s->offset[number], &b);
	NAME(load)(u + s->offset[number], &p);
	for (uint32_t i = m->nitem; i-- > first; ) {
		const struct item *it = &m->item[i];
		const struct item_place *pl = &place[i];
		cplx own[MATRIX_ENTRIES_MAX], q[MATRIX_ENTRIES_MAX];
		if (pl->kind == PLACE_WORD) {
			if (pl->varies) {    /* d(G^+) = -D G^+ where D commutes with G */
				double slope = NAME(word_slope)(pl, pl->by_one, pl->by_word, &b, &p);
				slope_expr[it->angle[0]] += it->adjoint ? -slope : slope;
			}
			if (i == first)
				break;
			const cplx *w = item_numbers(s, it, pl, expr_value, u, kept, own);
			NAME(word)(pl, w, FORM_ADJOINT, &p);
			NAME(word)(pl, w, FORM_TRANSPOSED, &b);
			continue;
		}
		if (i == 0) {
			struct seat seat;
			seat_find(it, m->ntarget, &seat);
			NAME(cross_first)(&seat, &b, q);
			item_hand_on(s, it, seat.dim, expr_value, q, r, slope_expr);
			break;
		}
		if (pl->kind == PLACE_ONE) {
			unsigned form = it->adjoint ? FORM_ADJOINT : FORM_ITSELF;
			const cplx *g = item_numbers(s, it, pl, expr_value, u, kept, own);
			NAME(one)(pl, g, form ^ FORM_ADJOINT, &p);
			if (pl->varies) {
				NAME(cross_one)(pl, &b, &p, q);
				item_hand_on(s, it, 2, expr_value, q, r, slope_expr);
			}
			if (i > first)
				NAME(one)(pl, g, form ^ FORM_TRANSPOSED, &b);
		} else {
			item_small(s, it, pl->seat->dim, expr_value, u, own);
			NAME(dense)(pl->seat, own, FORM_ADJOINT, &p);
			if (pl->varies) {
				NAME(cross)(pl->seat, &b, &p, q);
				item_hand_on(s, it, pl->seat->dim, expr_value, q, r, slope_expr);
			}
			if (i > first)
				NAME(dense)(pl->seat, own, FORM_TRANSPOSED, &b);
		}
	}
}

#undef ROW_WITHOUT
#undef INDEX
#undef PARTS
#undef D
#undef VEC
#undef LOOSE
#undef WIDTH
#undef NAME
