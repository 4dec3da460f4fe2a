/* SPDX-License-Identifier: Apache-2.0
 * Building matrices with D rows, and their reverse. Included once a D and instruction set: VEC is a vector of WIDTH
 * doubles, WIDTH divides D, NAME() tells the functions apart, TARGET is their attribute.
 *
 * Real and imaginary parts lie apart, so that every step multiplies and adds whole rows: the same numbers in the same order,
 * and so the same bits, whatever WIDTH is. */

struct NAME(rows) { VEC re[D][D / WIDTH], im[D][D / WIDTH]; };

#define PARTS(k) _Pragma("GCC unroll 4") for (unsigned k = 0; k < D / WIDTH; k++)

TARGET static inline double *NAME(numbers)(VEC *row) { return (double *)row; }

TARGET static inline void NAME(load)(const cplx *m, struct NAME(rows) *x)
{
	for (unsigned r = 0; r < D; r++)
		_Pragma("GCC unroll 8")
		for (unsigned c = 0; c < D; c++) {
			NAME(numbers)(x->re[r])[c] = creal(m[r * D + c]);
			NAME(numbers)(x->im[r])[c] = cimag(m[r * D + c]);
		}
}

TARGET static inline void NAME(store)(struct NAME(rows) *x, cplx *m)
{
	for (unsigned r = 0; r < D; r++)
		_Pragma("GCC unroll 8")
		for (unsigned c = 0; c < D; c++)
			m[r * D + c] = cplx_of(NAME(numbers)(x->re[r])[c], NAME(numbers)(x->im[r])[c]);
}

TARGET static inline void NAME(identity)(struct NAME(rows) *x)
{
	memset(x, 0, sizeof *x);
	for (unsigned r = 0; r < D; r++)
		NAME(numbers)(x->re[r])[r] = 1;
}

/* One item's two terms on rows that hold 1: what it is itself. */
TARGET static inline void NAME(place)(const struct item_place *pl, const cplx *t, struct NAME(rows) *x)
{
	NAME(identity)(x);
	for (unsigned r = 0; r < D; r++) {
		double *re = NAME(numbers)(x->re[r]), *im = NAME(numbers)(x->im[r]);
		if (!(pl->rows >> r & 1))
			continue;
		re[r] = creal(t[r]);
		im[r] = cimag(t[r]);
		if (pl->flip) {
			re[r ^ pl->flip] = creal(t[D + r]);
			im[r ^ pl->flip] = cimag(t[D + r]);
		}
	}
}

/* x <- I x; the transpose of I where `transposed`; conjugated where sign is -1. */
TARGET static inline void NAME(terms)(const struct item_place *pl, const cplx *t, bool transposed, double sign,
	struct NAME(rows) *x)
{
	for (unsigned r = 0; r < D; r++) {
		unsigned q = r ^ pl->flip;
		if (q < r || !(pl->rows >> r & 1))
			continue;
		double ar = creal(t[r]), ai = sign * cimag(t[r]);
		if (q == r) {
			PARTS(k) {
				VEC xr = x->re[r][k], xi = x->im[r][k];
				x->re[r][k] = ar * xr - ai * xi;
				x->im[r][k] = ar * xi + ai * xr;
			}
			continue;
		}
		cplx to_r = transposed ? t[D + q] : t[D + r], to_q = transposed ? t[D + r] : t[D + q];
		double br = creal(to_r), bi = sign * cimag(to_r), cr = creal(to_q), ci = sign * cimag(to_q);
		double dr = creal(t[q]), di = sign * cimag(t[q]);
		PARTS(k) {
			VEC xr = x->re[r][k], xi = x->im[r][k], yr = x->re[q][k], yi = x->im[q][k];
			x->re[r][k] = (ar * xr - ai * xi) + (br * yr - bi * yi);
			x->im[r][k] = (ar * xi + ai * xr) + (br * yi + bi * yr);
			x->re[q][k] = (cr * xr - ci * xi) + (dr * yr - di * yi);
			x->im[q][k] = (cr * xi + ci * xr) + (dr * yi + di * yr);
		}
	}
}

/* The same of a dense item g. */
TARGET static inline void NAME(dense)(const struct seat *s, const cplx *g, bool transposed, double sign, struct NAME(rows) *x)
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
					cplx f = transposed ? g[j * s->dim + i] : g[i * s->dim + j];
					double fr = creal(f), fi = sign * cimag(f);
					sr += fr * re[j] - fi * im[j];
					si += fr * im[j] + fi * re[j];
				}
				x->re[s->base[b] | s->at[i]][k] = sr;
				x->im[s->base[b] | s->at[i]][k] = si;
			}
		}
}

TARGET static inline double NAME(total)(const VEC *v)
{
	const double *x = (const double *)v;
	double sum = x[0];
	_Pragma("GCC unroll 8")
	for (unsigned c = 1; c < D; c++)
		sum += x[c];
	return sum;
}

/* ---- build ---- */

TARGET static void NAME(build)(const struct matrix_set *s, uint32_t number, const double *expr_value, cplx *u, cplx *kept)
{
	const struct matrix *m = s->def[number];
	const struct item_place *place = s->place + s->first_place[number];
	struct NAME(rows) x;
	if (!m->nitem || place[0].kind == PLACE_DENSE)
		NAME(identity)(&x);
	for (uint32_t i = 0; i < m->nitem; i++) {
		cplx own[2 * D], *t = kept && place[i].kept != INDEX_NONE ? kept + place[i].kept : own;
		if (place[i].kind == PLACE_DENSE) {
			struct seat seat;
			cplx g[MATRIX_ENTRIES_MAX];
			seat_find(&m->item[i], m->ntarget, &seat);
			item_small(s, &m->item[i], seat.dim, expr_value, u, g);
			if (i == 0 && item_is_whole(&m->item[0], m->ntarget))
				NAME(load)(g, &x);
			else
				NAME(dense)(&seat, g, false, 1, &x);
			continue;
		}
		place_terms(s, &m->item[i], &place[i], D, expr_value, u, t);
		if (i == 0)
			NAME(place)(&place[i], t, &x);
		else
			NAME(terms)(&place[i], t, false, 1, &x);
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
		double sign = ((pl->minus >> q) ^ (pl->ny >> 1)) & 1 ? -1 : 1;
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

/* The same where P is 1. */
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
		bool dense = pl->kind == PLACE_DENSE;
		cplx own[2 * D], g[MATRIX_ENTRIES_MAX], q[MATRIX_ENTRIES_MAX];
		const cplx *t = kept && pl->kept != INDEX_NONE ? kept + pl->kept : own;
		struct seat seat;
		double one, by_word;
		bool word = it->gate != GATE_NONE && gate_generator(it->gate, &one, &by_word);
		if (word && pl->varies) {    /* d(G^+) = -D G^+ where D commutes with G */
			double slope = NAME(word_slope)(pl, one, by_word, &b, &p);
			slope_expr[it->angle[0]] += it->adjoint ? -slope : slope;
		}
		if (i == first && (i == 0 || word)) {
			if (word)
				break;
			seat_find(it, m->ntarget, &seat);
			NAME(cross_first)(&seat, &b, q);
			item_hand_on(s, it, seat.dim, expr_value, q, r, slope_expr);
			break;
		}
		if (dense || (pl->varies && !word))
			seat_find(it, m->ntarget, &seat);
		if (dense) {
			item_small(s, it, seat.dim, expr_value, u, g);
			NAME(dense)(&seat, g, true, -1, &p);
		} else {
			if (t == own)
				place_terms(s, it, pl, D, expr_value, u, own);
			NAME(terms)(pl, t, true, -1, &p);
		}
		if (pl->varies && !word) {
			NAME(cross)(&seat, &b, &p, q);
			item_hand_on(s, it, seat.dim, expr_value, q, r, slope_expr);
		}
		if (i == first)
			break;
		if (dense)
			NAME(dense)(&seat, g, true, 1, &b);
		else
			NAME(terms)(pl, t, true, 1, &b);
	}
}

#undef PARTS
#undef D
#undef VEC
#undef WIDTH
#undef NAME
