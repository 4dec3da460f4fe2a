/* SPDX-License-Identifier: Apache-2.0
 * How items act on the rows of their matrices. */
#include "runtime/program/matrix_place.h"

#include <string.h>

#include "runtime/base/bits.h"

/* ---- seats ---- */

void seat_find(const struct item *it, unsigned ntarget, struct seat *s)
{
	unsigned nt = it->nwire - it->ncontrol;
	unsigned controls = (unsigned)bits_spread(UINT64_MAX, it->wire, it->ncontrol);
	unsigned met = (unsigned)bits_spread(it->control_ones, it->wire, it->ncontrol);

	s->d = 1u << ntarget;
	s->dim = 1u << nt;
	for (unsigned i = 0; i < s->dim; i++)
		s->at[i] = (unsigned)bits_spread(i, it->wire + it->ncontrol, nt);
	unsigned targets = s->at[s->dim - 1];
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
	return (uint8_t)bits_spread(bits, it->wire + it->ncontrol, it->nwire - it->ncontrol);
}

static struct item_place place_of(const struct matrix_set *s, const struct item *it, unsigned ntarget, struct arena *a)
{
	struct item_place pl = { .kind = PLACE_DENSE, .varies = item_varies(s, it), .kept = INDEX_NONE };
	struct gate_word w = gate_word_of(it->word);
	uint8_t outside[MATRIX_ENTRIES_MAX];
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
		gate_generator(it->gate, &pl.by_one, &pl.by_word);
		pl.word = pauli_gradient_outside(it, pauli_gradient_word(it->word));
		pl.pairs = pauli_gradient_pairs(pl.word, ntarget);
	} else if (seat.dim == 2) {
		pl.kind = PLACE_ONE;
		pl.flip = (uint8_t)seat.at[1];
	} else {
		pl.seat = arena_copy(a, &seat, 1, sizeof seat);
	}
	for (unsigned p = 0; p < seat.dim * seat.dim; p++)
		outside[p] = pauli_gradient_outside(it, p);
	if (pl.kind != PLACE_WORD)
		pl.outside = arena_copy(a, outside, seat.dim * seat.dim, sizeof *outside);
	return pl;
}

/* ---- their numbers ---- */

static void gate_of(const struct item *it, const double *expr_value, cplx *g)
{
	double angle[GATE_ANGLES_MAX] = { 0 };
	for (unsigned k = 0, n = gate_row(it->gate)->nangle; k < n; k++)
		angle[k] = expr_value[it->angle[k]];
	gate_matrix(it->gate, it->word, angle, g);
}

void item_small(const struct matrix_set *s, const struct item *it, unsigned dim,
	const double *expr_value, const cplx *u, cplx *g)
{
	cplx plain[MATRIX_ENTRIES_MAX];
	cplx *to = it->adjoint ? plain : g;
	if (it->gate == GATE_NONE)
		memcpy(to, u + s->offset[it->ref], dim * dim * sizeof *to);
	else
		gate_of(it, expr_value, to);
	if (it->adjoint)
		matrix_adjoint(dim, plain, g);
}

/* The numbers of a word whose angle gives c + i s (gate_word_turn), re and im, are by[0] + by[1] c + by[2] s. */
struct word_by { double by[3][4]; };

static struct word_by word_by_of(const struct item *it, unsigned ny)
{
	static const cplx at[3] = { 0, 1, CMPLX(0, 1) };
	struct word_by w;
	for (unsigned k = 0; k < 3; k++) {
		cplx x[2];
		gate_word_terms(it->gate, at[k], &x[0], &x[1]);
		for (unsigned n = 0; n < 2 && it->adjoint; n++)
			x[n] = conj(x[n]);
		x[1] = gate_word_turned(x[1], ny);
		memcpy(w.by[k], x, sizeof x);
		for (unsigned n = 0; n < 4 && k; n++)
			w.by[k][n] -= w.by[0][n];
	}
	return w;
}

static inline void word_numbers(const struct word_by *w, cplx e, cplx *to)
{
	double x[4];
	for (unsigned k = 0; k < 4; k++)
		x[k] = w->by[0][k] + w->by[1][k] * creal(e) + w->by[2][k] * cimag(e);
	memcpy(to, x, sizeof x);
}

/* A matrix that is one word. */
static void place_word(const struct item_place *pl, unsigned d, const cplx *x, cplx *out)
{
	memset(out, 0, d * d * sizeof *out);
	for (unsigned r = 0; r < d; r++) {
		bool on = pl->rows >> r & 1;
		out[r * d + r] = on ? x[0] : 1;
		if (on)
			out[r * d + (r ^ pl->flip)] += pl->minus >> r & 1 ? -x[1] : x[1];
	}
}

void place_one(const struct matrix_set *s, const struct matrix *m, const struct item_place *pl, const double *expr_value,
	const cplx *u, const cplx *kept, cplx *out)
{
	unsigned d = matrix_dim(m);
	cplx g[MATRIX_ENTRIES_MAX];
	struct seat seat;
	if (pl->kind == PLACE_WORD) {
		place_word(pl, d, item_numbers(s, m->item, pl, expr_value, u, kept, g), out);
		return;
	}
	seat_find(m->item, m->ntarget, &seat);
	if (item_is_whole(m->item, m->ntarget)) {
		item_small(s, m->item, seat.dim, expr_value, u, out);
		return;
	}
	item_small(s, m->item, seat.dim, expr_value, u, g);
	seat_place(&seat, g, out);
}

/* ---- what is kept ---- */

enum { WORD_GATES = 3, WORD_KINDS = 8 /* conjugate-transposed or not, i^0 to i^3 */ };
static const enum gate word_gate[WORD_GATES] = { GATE_RPAULI, GATE_PPAULI, GATE_PAULI };

/* Words lie together by their gate, so that all their turns are made by one call; then gates on one wire. */
struct keeping {
	struct kept_words {
		struct word_by by[WORD_KINDS];
		uint32_t n, *angle;              /* (n) number of the expression; no angle, none kept */
		uint8_t *kind;                   /* (n) which of by[] */
	} word[WORD_GATES];
	uint32_t nsmall;
	struct small { uint32_t matrix, kept; const struct item *item; } *small;
};

static uint8_t word_kind(const struct item *it, unsigned ny) { return (uint8_t)((ny & 3) << 1 | it->adjoint); }

void item_make(const struct matrix_set *s, const struct item *it, const struct item_place *pl, const double *expr_value, cplx *own)
{
	const struct kept_words *w = s->keeping->word;
	if (pl->kind != PLACE_WORD) {
		gate_of(it, expr_value, own);
		return;
	}
	while (word_gate[w - s->keeping->word] != it->gate)
		w++;
	word_numbers(&w->by[word_kind(it, pl->ny)], gate_word_turn(it->gate, &expr_value[it->angle[0]]), own);
}

static void keep_words(struct matrix_set *s, enum gate gate, struct kept_words *w, struct item_place *place, struct arena *a)
{
	for (unsigned kind = 0; kind < WORD_KINDS; kind++)
		w->by[kind] = word_by_of(&(struct item){ .gate = gate, .adjoint = kind & 1 }, kind >> 1);
	if (!gate_row(gate)->nangle)
		return;
	w->angle = arena_alloc(a, s->first_place[s->n], sizeof *w->angle);
	w->kind = arena_alloc(a, s->first_place[s->n], sizeof *w->kind);
	for (uint32_t m = 0; m < s->n; m++)
		for (uint32_t i = 0; s->def[m]->cls == VALUE_SHARED && i < s->def[m]->nitem; i++) {
			const struct item *it = &s->def[m]->item[i];
			struct item_place *pl = &place[s->first_place[m] + i];
			if (it->gate != gate)
				continue;
			w->angle[w->n] = it->angle[0];
			w->kind[w->n++] = word_kind(it, pl->ny);
			pl->kept = s->nkept;
			s->nkept += 2;
		}
}

static void keep_smalls(struct matrix_set *s, struct keeping *k, struct item_place *place, struct arena *a)
{
	k->small = arena_alloc(a, s->first_place[s->n], sizeof *k->small);
	for (uint32_t m = 0; m < s->n; m++)
		for (uint32_t i = 0; s->def[m]->cls == VALUE_SHARED && s->def[m]->nitem > 1 && i < s->def[m]->nitem; i++) {
			const struct item *it = &s->def[m]->item[i];
			struct item_place *pl = &place[s->first_place[m] + i];
			if (pl->kind != PLACE_ONE || it->gate == GATE_NONE)
				continue;
			pl->kept = s->nkept;
			k->small[k->nsmall++] = (struct small){ m, s->nkept, it };
			s->nkept += 4;
		}
}

void matrix_set_of(struct matrix_set *s, const struct program *p, const struct matrix *const *def,
	uint32_t n, struct arena *a)
{
	uint32_t *offset = arena_alloc(a, (size_t)n + 1, sizeof *offset);
	uint32_t *first = arena_alloc(a, (size_t)n + 1, sizeof *first);
	struct keeping *k = arena_alloc(a, 1, sizeof *k);
	*s = (struct matrix_set){ .program = p, .def = def, .n = n, .offset = offset };
	for (uint32_t m = 0; m < n; m++)
		offset[m + 1] = offset[m] + matrix_dim(def[m]) * matrix_dim(def[m]);
	for (uint32_t m = 0; m < s->n; m++)
		first[m + 1] = first[m] + s->def[m]->nitem;
	struct item_place *place = arena_alloc(a, first[s->n], sizeof *place);
	for (uint32_t m = 0; m < s->n; m++)
		for (uint32_t i = 0; i < s->def[m]->nitem; i++)
			place[first[m] + i] = place_of(s, &s->def[m]->item[i], s->def[m]->ntarget, a);
	s->first_place = first;
	s->place = place;
	s->keeping = k;
	for (unsigned w = 0; w < WORD_GATES; w++)
		keep_words(s, word_gate[w], &k->word[w], place, a);
	keep_smalls(s, k, place, a);
}

/* Of all words of one gate: 2 n numbers. */
static void make_words(enum gate gate, const struct kept_words *w, const double *expr_value, cplx *kept)
{
	enum { SOME = 64 };
	double angle[SOME];
	cplx e[SOME];
	for (uint32_t first = 0; first < w->n; first += SOME) {
		uint32_t n = w->n - first < SOME ? w->n - first : SOME;
		for (uint32_t i = 0; i < n; i++)
			angle[i] = expr_value[w->angle[first + i]];
		gate_word_turns(gate, n, angle, e);
		for (uint32_t i = 0; i < n; i++, kept += 2)
			word_numbers(&w->by[w->kind[first + i]], e[i], kept);
	}
}

void keep_all(const struct matrix_set *s, const bool *need, const double *expr_value, cplx *kept)
{
	const struct keeping *k = s->keeping;
	cplx *to = kept;
	for (unsigned w = 0; w < WORD_GATES; to += 2 * (size_t)k->word[w++].n)
		make_words(word_gate[w], &k->word[w], expr_value, to);
	for (uint32_t i = 0; i < k->nsmall; i++)
		if (!need || need[k->small[i].matrix])
			gate_of(k->small[i].item, expr_value, kept + k->small[i].kept);
}

/* ---- the backward pass ---- */

/* 2 Re sum du x: what an angle with that derivative gets. */
static double derivative_of(unsigned dim, const cplx *du, const cplx *x)
{
	double sum = 0;
	for (unsigned i = 0; i < dim * dim; i++)
		sum += creal(du[i]) * creal(x[i]) - cimag(du[i]) * cimag(x[i]);
	return 2 * sum;
}

/* The derivatives by the angles of a gate whose own reduced transition matrix is x. */
static void gate_derivatives(const struct program *p, const struct item *it, unsigned dim,
	const double *expr_value, const cplx *x, double *dexpr)
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
		dexpr[it->angle[k]] += derivative_of(dim, du, x);
	}
}

void item_derivatives(const struct matrix_set *s, const struct item *it, unsigned dim,
	const double *expr_value, const cplx *q, double *dexpr)
{
	cplx adjoint[MATRIX_ENTRIES_MAX];
	if (it->adjoint)             /* Re tr(dG^+T q) = Re tr(dG^T q^+) */
		matrix_adjoint(dim, q, adjoint);
	gate_derivatives(s->program, it, dim, expr_value, it->adjoint ? adjoint : q, dexpr);
}
