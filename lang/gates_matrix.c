/* SPDX-License-Identifier: Apache-2.0
 * Matrices of the base gates and their derivatives by each angle: the table, Pauli words, three qubits. */
#include "lang/gates_matrix.h"

#include <math.h>
#include <string.h>
#include "runtime/base/err.h"

typedef void (*matrix_fn)(uint8_t word, const double *a, cplx *u);
typedef void (*derivative_fn)(uint8_t word, const double *a, unsigned k, cplx *du);

/* ---- Pauli words ---- */

struct gate_word gate_word_of(uint8_t word)
{
	struct gate_word w = { 0, 0, 0 };
	for (unsigned i = 0, n = gate_word_length(word); i < n; i++) {
		unsigned letter = word >> 2 * i & 3;
		w.flip |= (unsigned)(letter != 3) << i;
		w.sign |= (unsigned)(letter != 1) << i;
		w.ny += letter == 2;
	}
	return w;
}

/* u += factor P for a word. */
static void add_word(uint8_t word, cplx factor, cplx *u)
{
	struct gate_word w = gate_word_of(word);
	unsigned n = gate_word_length(word);
	cplx q = gate_word_turned(factor, w.ny);
	for (unsigned c = 0; c < 1u << n; c++)
		u[(c ^ w.flip) << n | c] += __builtin_parity(c & w.sign) ? -q : q;
}

void add_identity(unsigned n, cplx factor, cplx *u)
{
	for (unsigned c = 0; c < 1u << n; c++)
		u[c << n | c] += factor;
}

MATRIX(u_pauli) { add_word(word, 1, u); }

/* cos - i sin P, e being cos + i sin.  Rotations by one letter encode data, so they are written down. */
static void set_rotation(uint8_t word, cplx e, cplx *u)
{
	double c = creal(e), s = cimag(e);
	switch (word) {
	case 1:
		u[0] = u[3] = c;
		u[1] = u[2] = cplx_of(0, -s);
		return;
	case 2:
		u[0] = u[3] = c;
		u[1] = -s;
		u[2] = s;
		return;
	case 3:
		u[0] = conj(e);
		u[3] = e;
		return;
	}
	add_identity(gate_word_length(word), c, u);
	add_word(word, cplx_of(0, -s), u);
}

MATRIX(u_rpauli) { set_rotation(word, cplx_exp_i(a[0] / 2), u); }

DERIVATIVE(d_rpauli)
{
	cplx e = cplx_exp_i(a[0] / 2);
	add_identity(gate_word_length(word), -cimag(e) / 2, du);
	add_word(word, cplx_of(0, -creal(e) / 2), du);
}

struct halves power_halves(double t)
{
	struct halves h;
	gate_word_terms(GATE_PPAULI, cplx_exp_i_pi(t), &h.one, &h.g);
	return h;
}

struct halves power_derivative(double t)
{
	cplx e = cplx_mul(cplx_of(0, PI / 2), cplx_exp_i_pi(t));
	return (struct halves){ e, -e };
}

/* one + g P */
MATRIX(u_ppauli)
{
	struct halves h = power_halves(a[0]);
	add_identity(gate_word_length(word), h.one, u);
	add_word(word, h.g, u);
}

DERIVATIVE(d_ppauli)
{
	struct halves h = power_derivative(a[0]);
	add_identity(gate_word_length(word), h.one, du);
	add_word(word, h.g, du);
}
/* ---- three qubits ---- */

/* Margolus's gate: x of the third under both, with -1 on 101 and +-i inside the exchange. */
MATRIX(u_rccx)
{
	u[0 * 8 + 0] = u[1 * 8 + 1] = u[2 * 8 + 2] = u[4 * 8 + 4] = u[6 * 8 + 6] = 1;
	u[5 * 8 + 5] = -1;
	u[6 * 8 + 6] = 1;
	u[3 * 8 + 7] = cplx_of(0, -1);
	u[7 * 8 + 3] = J;
}

/* ---- the table ---- */

/* Of gates that are made of others, or have no angles. */
MATRIX(no_matrix) {}
DERIVATIVE(no_derivative) {}

static const struct { matrix_fn matrix; derivative_fn derivative; } functions[GATE_COUNT] = {
#define GATE(no, i, n, nc, nt, na, f, b, bw, p, pw, s, u, d, text) [GATE_##i] = { .matrix = u, .derivative = d },
#include "lang/gates.def"
#undef GATE
};

static void clear(enum gate g, uint8_t word, cplx *u)
{
	memset(u, 0, sizeof *u << 2 * gate_ntarget(g, word));
}

void gate_matrix(enum gate g, uint8_t word, const double *angle, cplx *u)
{
	if (functions[g].matrix == no_matrix)
		BUG("gate %s has no matrix of its own", gate_row(g)->name);
	clear(g, word, u);
	functions[g].matrix(word, angle, u);
}

/* Their cosines and sines side by side. */
static void rotations(uint8_t word, size_t n, const double *angle, cplx *const *u)
{
	enum { SOME = 16 };
	for (size_t k = 0; k < n; k += SOME) {
		size_t some = n - k < SOME ? n - k : SOME;
		cplx e[SOME];
		gate_word_turns(GATE_RPAULI, some, angle + k, e);
		for (size_t j = 0; j < some; j++) {
			clear(GATE_RPAULI, word, u[k + j]);
			set_rotation(word, e[j], u[k + j]);
		}
	}
}

void gate_matrices(enum gate g, uint8_t word, size_t n, const double *angle, cplx *const *u)
{
	double own[GATE_ANGLES_MAX];
	if (g == GATE_RPAULI) {
		rotations(word, n, angle, u);
		return;
	}
	for (size_t k = 0; k < n; k++) {
		for (unsigned i = 0; i < gate_row(g)->nangle; i++)
			own[i] = angle[i * n + k];
		gate_matrix(g, word, own, u[k]);
	}
}

void gate_derivative(enum gate g, uint8_t word, const double *angle, unsigned k, cplx *du)
{
	if (k >= gate_row(g)->nangle || functions[g].derivative == no_derivative)
		BUG("gate %s has no derivative by angle %u of its own", gate_row(g)->name, k);
	clear(g, word, du);
	functions[g].derivative(word, angle, k, du);
}

bool gate_generator(enum gate g, double *one, double *p)
{
	*one = g == GATE_PPAULI ? PI / 2 : 0;
	*p = g == GATE_PPAULI ? -PI / 2 : -0.5;
	return g == GATE_RPAULI || g == GATE_PPAULI;
}

cplx gate_word_turn(enum gate g, const double *angle)
{
	if (g == GATE_RPAULI)
		return cplx_exp_i(angle[0] / 2);
	return g == GATE_PPAULI ? cplx_exp_i_pi(angle[0]) : 1;
}

void gate_word_turns(enum gate g, size_t n, const double *angle, cplx *e)
{
	enum { SOME = 64 };
	double half[SOME];
	if (g == GATE_PPAULI) {
		cplx_exp_i_pi_all(n, angle, e);
		return;
	}
	for (size_t k = 0; k < n; k += SOME) {
		size_t some = n - k < SOME ? n - k : SOME;
		for (size_t j = 0; j < some; j++)
			half[j] = angle[k + j] / 2;
		cplx_exp_i_all(some, half, e + k);
	}
}

void gate_word_terms(enum gate g, cplx e, cplx *one, cplx *p)
{
	double c = creal(e), s = cimag(e);
	switch (g) {
	case GATE_RPAULI:
		*one = c;
		*p = cplx_of(0, -s);
		return;
	case GATE_PPAULI:
		*one = cplx_of(0.5 + 0.5 * c, 0.5 * s);
		*p = cplx_of(0.5 - 0.5 * c, -0.5 * s);
		return;
	default: *one = 0; *p = 1;
	}
}
