/* SPDX-License-Identifier: Apache-2.0
 * From reduced transition matrices back to angles, by Pauli components of the gradient.
 *
 * M = I_n ... I_1 has the reduced transition matrix Y_n (anti_hermitian.h): dL = t_n(A) = -2 Im sum A[r,c] Y_n[r,c] for dM = i A M, A Hermitian. So t_n is
 * linear in A, and all of it is known from its values at the 4^wires Pauli words: real numbers, the Pauli components of the gradient. An item that changes
 * by dI_k = i A I_k gives t_k(A), of Y_k; the items being unitary, Y_(k-1) = I_k^T Y_k conj(I_k), so that
 * t_(k-1)(A) = t_k(I_k A I_k^+):
 *  - an item one + p W with a word W turns each word that does not commute with W, and what their product is, by one angle;
 *  - one on one wire turns x, y and z there, as a rotation of space does;
 *  - any other turns Y itself.
 * What an item is made of finds its Pauli components of the gradient among them: those of words that are 1 on the other wires. An item under controls
 * takes the part of Y where they are met. */
#include "runtime/program/matrix_place.h"
#include "runtime/program/anti_hermitian.h"

#include <string.h>

enum { TORQUES_MAX = MATRIX_ENTRIES_MAX };

/* Once for each number of rows, so that loops have known lengths, and instruction set: see BACK. */
#define INLINE static inline __attribute__((always_inline))
#if defined QCNN_SANITIZERS      /* the checks would take long to compile */
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 4")
#endif

/* ---- words as numbers: two bits a wire, 0 for 1, 1 for x, 2 for z, 3 for y ---- */

static unsigned letter(unsigned of_gate) { return of_gate ^ of_gate >> 1; }

unsigned pauli_gradient_word(uint8_t word)
{
	unsigned w = 0;
	for (unsigned k = 0; word >> 2 * k; k++)
		w |= letter(word >> 2 * k & 3) << 2 * k;
	return w;
}

/* W P = i^e times the word W ^ P. */
static unsigned phase_of_product(unsigned w, unsigned p)
{
	static const uint8_t e[4][4] = { { 0, 0, 0, 0 }, { 0, 0, 3, 1 }, { 0, 1, 0, 3 }, { 0, 3, 1, 0 } };
	unsigned sum = 0;
	for (; w; w >>= 2, p >>= 2)
		sum += e[w & 3][p & 3];
	return sum % 4;
}

uint64_t pauli_gradient_pairs(unsigned word, unsigned ntarget)
{
	uint64_t first = 0;
	for (unsigned p = 0; p < 1u << 2 * ntarget; p++)
		first |= (uint64_t)(phase_of_product(word, p) == 1) << p;
	return first;
}

uint8_t pauli_gradient_outside(const struct item *it, unsigned p)
{
	unsigned out = 0;
	for (unsigned k = it->ncontrol; k < it->nwire; k++)
		out |= (p >> 2 * (k - it->ncontrol) & 3) << 2 * it->wire[k];
	return (uint8_t)out;
}

/* ---- between Pauli components of the gradient and Y ---- */

/* Bits of a row apart, so that those of a column fit between them. */
static const uint8_t apart[MATRIX_DIM_MAX] = { 0, 1, 4, 5, 16, 17, 20, 21 };

/* t += the Pauli components of the gradient of y. */
INLINE void add_pauli_gradients(unsigned d, const cplx *y, double *t)
{
	cplx v[TORQUES_MAX];
	UNROLL for (unsigned r = 0; r < d; r++)
		UNROLL for (unsigned c = 0; c < d; c++)
			v[apart[r] | apart[c] << 1] = y[r * d + c];
	UNROLL for (unsigned step = 1; step < d * d; step *= 4)
		UNROLL for (unsigned k = 0; k < d * d; k++) {
			if (k & 3 * step)
				continue;
			cplx a = v[k], b = v[k + step], c = v[k + 2 * step], e = v[k + 3 * step];
			v[k] = a + e;
			v[k + step] = b + c;
			v[k + 2 * step] = a - e;
			v[k + 3 * step] = cplx_of(cimag(c) - cimag(b), creal(b) - creal(c));
		}
	UNROLL for (unsigned k = 0; k < d * d; k++)
		t[k] += -2 * cimag(v[k]);
}

/* A Y that has these Pauli components of the gradient. */
INLINE void matrix_with(unsigned d, const double *t, cplx *y)
{
	cplx v[TORQUES_MAX];
	UNROLL for (unsigned k = 0; k < d * d; k++)
		v[k] = cplx_of(0, -t[k] / (2 * d));
	UNROLL for (unsigned step = 1; step < d * d; step *= 4)
		UNROLL for (unsigned k = 0; k < d * d; k++) {
			if (k & 3 * step)
				continue;
			cplx one = v[k], x = v[k + step], z = v[k + 2 * step], w = v[k + 3 * step], iw = cplx_of(-cimag(w), creal(w));
			v[k] = one + z;
			v[k + step] = x - iw;
			v[k + 2 * step] = x + iw;
			v[k + 3 * step] = one - z;
		}
	UNROLL for (unsigned r = 0; r < d; r++)
		UNROLL for (unsigned c = 0; c < d; c++)
			y[r * d + c] = v[apart[r] | apart[c] << 1];
}

INLINE void transpose(unsigned d, const cplx *a, cplx *out)
{
	UNROLL for (unsigned r = 0; r < d; r++)
		UNROLL for (unsigned c = 0; c < d; c++)
			out[c * d + r] = a[r * d + c];
}

/* ---- items turn Pauli components of the gradient ---- */

INLINE void turn_by_word(const struct item_place *pl, const cplx *x, double *t)
{
	cplx z = cplx_mul(x[1], conj(x[0]));     /* i^ny p conj(one) */
	double part = pl->ny & 1 ? creal(z) : cimag(z);
	double c = creal(x[0]) * creal(x[0]) + cimag(x[0]) * cimag(x[0]) - creal(x[1]) * creal(x[1]) - cimag(x[1]) * cimag(x[1]);
	double s = (pl->ny + 1) & 2 ? 2 * part : -2 * part;
	for (uint64_t left = pl->pairs; left; left &= left - 1) {
		unsigned p = (unsigned)__builtin_ctzll(left), q = p ^ pl->word;
		double a = t[p], b = t[q];
		t[p] = c * a + s * b;
		t[q] = c * b - s * a;
	}
}

/* o[p][q]: how much of q there is in g p g^+ (adjoint: in g^+ p g), for the words x, z, y. */
INLINE void rotation_of(const cplx *g, bool adjoint, double o[3][3])
{
	cplx u = cplx_mul(g[0], conj(g[3])), v = cplx_mul(g[1], conj(g[2])), w = cplx_mul(g[0], conj(g[1]));
	cplx h = cplx_mul(g[0], conj(g[2])) - cplx_mul(g[1], conj(g[3]));
	double length = creal(g[0]) * creal(g[0]) + cimag(g[0]) * cimag(g[0]) - creal(g[1]) * creal(g[1]) - cimag(g[1]) * cimag(g[1]);
	double to[3][3] = { { creal(u) + creal(v), 2 * creal(w), -cimag(u) - cimag(v) }, { creal(h), length, -cimag(h) },
		{ cimag(u) - cimag(v), 2 * cimag(w), creal(u) - creal(v) } };
	for (unsigned p = 0; p < 3; p++)
		for (unsigned q = 0; q < 3; q++)
			o[p][q] = adjoint ? to[q][p] : to[p][q];
}

INLINE void turn_step(unsigned ntorque, unsigned step, double o[3][3], double *t)
{
	for (unsigned high = 0; high < ntorque; high += 4 * step)
		for (unsigned k = high; k < high + step; k++) {
			double x = t[k + step], z = t[k + 2 * step], y = t[k + 3 * step];
			t[k + step] = o[0][0] * x + o[0][1] * z + o[0][2] * y;
			t[k + 2 * step] = o[1][0] * x + o[1][1] * z + o[1][2] * y;
			t[k + 3 * step] = o[2][0] * x + o[2][1] * z + o[2][2] * y;
		}
}

INLINE void turn_on_wire(unsigned ntorque, unsigned wire, double o[3][3], double *t)
{
	switch (wire) {
	case 0: turn_step(ntorque, 1, o, t); return;
	case 1: turn_step(ntorque, 4, o, t); return;
	default: turn_step(ntorque, 16, o, t);
	}
}

/* y <- I^T y conj(I) for the item's matrix g. */
INLINE void turn_matrix(unsigned d, const struct seat *seat, const cplx *g, cplx *y)
{
	cplx a[MATRIX_ENTRIES_MAX], b[MATRIX_ENTRIES_MAX];
	transpose(d, y, a);
	seat_apply(seat, g, FORM_ADJOINT, a, b);
	transpose(d, b, a);
	seat_apply(seat, g, FORM_TRANSPOSED, a, y);
}

/* ---- one matrix ---- */

/* What matrix_reverse was given. */
struct back {
	const struct matrix_set *set;
	const double *expr_value;
	const cplx *u, *kept;
	const double *anti_hermitian;
	double *pauli_gradient, *dexpr;
};

/* t, of a matrix with d rows, from behind an item to before it. */
INLINE void turn(const struct back *b, unsigned d, double *t, const struct item *it, const struct item_place *pl)
{
	cplx g[MATRIX_ENTRIES_MAX], y[MATRIX_ENTRIES_MAX];
	double o[3][3];
	struct seat seat;
	if (it->ncontrol == 0 && pl->kind == PLACE_WORD) {
		turn_by_word(pl, item_numbers(b->set, it, pl, b->expr_value, b->u, b->kept, g), t);
	} else if (it->ncontrol == 0 && pl->kind == PLACE_ONE) {
		rotation_of(item_numbers(b->set, it, pl, b->expr_value, b->u, b->kept, g), it->adjoint, o);
		turn_on_wire(d * d, it->wire[0], o, t);
	} else {
		seat_find(it, (unsigned)__builtin_ctz(d), &seat);
		matrix_with(d, t, y);
		turn_matrix(d, &seat, item_dense(b->set, it, seat.dim, b->expr_value, b->u, g), y);
		memset(t, 0, d * d * sizeof *t);
		add_pauli_gradients(d, y, t);
	}
}

/* The part of Y where the item's controls are met gives the Pauli components of the gradient of the item's own matrix. */
static void pauli_gradients_under_controls(unsigned d, const double *t, const struct item *it, double *own)
{
	cplx y[MATRIX_ENTRIES_MAX], part[MATRIX_ENTRIES_MAX] = { 0 };
	struct seat seat;
	seat_find(it, (unsigned)__builtin_ctz(d), &seat);
	matrix_with(d, t, y);
	for (unsigned n = 0; n < seat.nbase; n++)
		for (unsigned i = 0; i < seat.dim; i++)
			for (unsigned j = 0; j < seat.dim; j++)
				part[i * seat.dim + j] += y[(seat.base[n] | seat.at[i]) * d + (seat.base[n] | seat.at[j])];
	memset(own, 0, seat.dim * seat.dim * sizeof *own);
	add_pauli_gradients(seat.dim, part, own);
}

/* to += sign times the Pauli components of the gradient of the item's own matrix. */
INLINE void add_own(unsigned d, const double *t, const struct item *it, const struct item_place *pl, double sign, double *to)
{
	unsigned n = 1u << 2 * (it->nwire - it->ncontrol);
	double own[TORQUES_MAX];
	if (it->ncontrol == 0) {
		for (unsigned p = 0; p < n; p++)
			to[p] += sign * t[pl->outside[p]];
		return;
	}
	pauli_gradients_under_controls(d, t, it, own);
	for (unsigned p = 0; p < n; p++)
		to[p] += sign * own[p];
}

/* To the matrix that the item refers to. A change iA of G is one of -i G^+ A G of G^+. */
INLINE void hand_on(const struct back *b, unsigned d, const double *t, const struct item *it, const struct item_place *pl, double sign)
{
	add_own(d, t, it, pl, sign, b->pauli_gradient + b->set->offset[it->ref]);
}

/* To the angles of a gate of any kind with the matrix g: dL = 2 Re sum dg[r,c] q[r,c] with q = Y conj(g). */
static void gate_derivatives(const struct back *b, const struct item *it, unsigned dim,
	const cplx *y, const cplx *g)
{
	cplx other[MATRIX_ENTRIES_MAX], q[MATRIX_ENTRIES_MAX];
	for (unsigned k = 0; k < dim * dim; k++)
		other[k] = conj(g[k]);
	matrix_multiply(dim, y, other, q);
	item_derivatives(b->set, it, dim, b->expr_value, q, b->dexpr);
}

static void gate_back(const struct back *b, unsigned d, const double *t, const struct item *it, const struct item_place *pl)
{
	unsigned dim = 1u << (it->nwire - it->ncontrol);
	cplx y[MATRIX_ENTRIES_MAX], g[MATRIX_ENTRIES_MAX];
	double own[TORQUES_MAX] = { 0 };
	add_own(d, t, it, pl, 1, own);
	matrix_with(dim, own, y);
	item_small(b->set, it, dim, b->expr_value, b->u, g);
	gate_derivatives(b, it, dim, y, g);
}

INLINE void to_angles(const struct back *b, unsigned d, const double *t, const struct item *it, const struct item_place *pl)
{
	if (it->ncontrol == 0 && pl->kind == PLACE_WORD) {
		double derivative = pl->by_one * t[0] + pl->by_word * t[pl->word];
		b->dexpr[it->angle[0]] += it->adjoint ? -derivative : derivative;
	} else {
		gate_back(b, d, t, it, pl);
	}
}

/* t += the Pauli components of the gradient that the matrix' own reduced transition matrix gives. */
INLINE void begin(const struct back *b, unsigned d, uint32_t number, double *t)
{
	cplx y[MATRIX_ENTRIES_MAX];
	anti_hermitian_transition(d, b->anti_hermitian + b->set->offset[number], y);
	add_pauli_gradients(d, y, t);
}

static bool is_gate_alone(const struct matrix *m, const struct item_place *place)
{
	return m->item->gate != GATE_NONE && place->kind != PLACE_WORD && item_is_whole(m->item, m->ntarget);
}

static void alone_back(const struct back *b, const struct item *it, unsigned d, uint32_t number)
{
	cplx y[MATRIX_ENTRIES_MAX];
	anti_hermitian_transition(d, b->anti_hermitian + b->set->offset[number], y);
	gate_derivatives(b, it, d, y, b->u + b->set->offset[number]);
}

INLINE bool any(unsigned n, const double *t)
{
	for (unsigned k = 0; k < n; k++)
		if (t[k] != 0)
			return true;
	return false;
}

INLINE void back_through(const struct back *b, unsigned d, uint32_t number, bool transition)
{
	const struct matrix *m = b->set->def[number];
	const struct item_place *place = b->set->place + b->set->first_place[number];
	double *t = b->pauli_gradient + b->set->offset[number];
	uint32_t first = 0;
	while (first < m->nitem && !place[first].varies)
		first++;
	if (m->nitem == 1 && is_gate_alone(m, place)) {      /* its Y is the gate's own */
		if (transition)
			alone_back(b, m->item, d, number);
		if (!any(d * d, t))
			return;
	} else if (transition) {
		begin(b, d, number, t);
	}
	for (uint32_t i = m->nitem; i-- > first; ) {
		const struct item *it = &m->item[i];
		const struct item_place *pl = &place[i];
		bool refers = it->gate == GATE_NONE, after = pl->varies && refers && it->adjoint;
		if (pl->varies && !refers)
			to_angles(b, d, t, it, pl);
		else if (pl->varies && !after)
			hand_on(b, d, t, it, pl, 1);
		if (i > first || after)
			turn(b, d, t, it, pl);
		if (after)
			hand_on(b, d, t, it, pl, -1);
	}
}

#define BACK(name, target, d) \
	target static void name(const struct back *b, uint32_t number, bool transition) \
	{ \
		back_through(b, d, number, transition); \
	}
BACK(back_2, , 2)
BACK(back_4, , 4)
BACK(back_8, , 8)
#ifdef QCNN_X86_KERNELS
BACK(back_2_avx2, __attribute__((target("avx2"))), 2)
BACK(back_4_avx2, __attribute__((target("avx2"))), 4)
BACK(back_8_avx2, __attribute__((target("avx2"))), 8)
#endif

void matrix_reverse(const struct matrix_set *s, const double *expr_value, const cplx *u,
	const cplx *kept, const bool *need, const bool *transition, const double *anti_hermitian,
	double *pauli_gradient, double *dexpr)
{
	void (*back[MATRIX_TARGETS_MAX + 1])(const struct back *b, uint32_t number,
		bool transition) = { NULL, back_2, back_4, back_8 };
	struct back b = { .set = s,
		.expr_value = expr_value,
		.u = u,
		.kept = kept,
		.pauli_gradient = pauli_gradient,
		.dexpr = dexpr,
		.anti_hermitian = anti_hermitian };
#ifdef QCNN_X86_KERNELS
	if (matrix_wide()) {         /* the same operations, and so the same bits */
		back[1] = back_2_avx2;
		back[2] = back_4_avx2;
		back[3] = back_8_avx2;
	}
#endif
	for (uint32_t m = 0; m < s->n; m++)
		if (!need || need[m])
			memset(pauli_gradient + s->offset[m], 0, (s->offset[m + 1] - s->offset[m]) * sizeof *pauli_gradient);
	for (uint32_t m = s->n; m-- > 0; )
		if (s->def[m]->cls != VALUE_CONSTANT && (!need || need[m]))
			back[s->def[m]->ntarget](&b, m, !transition || transition[m]);
}
