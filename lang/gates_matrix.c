/* SPDX-License-Identifier: Apache-2.0
 * Matrices of the base gates and their derivatives by each angle: the table, Pauli words, three qubits. */
#include "config.h"
#include "lang/gates_matrix.h"

#include <math.h>
#include <string.h>
#include "runtime/base/err.h"

typedef void (*matrix_fn)(uint8_t word, const double *a, cplx *u);
typedef void (*derivative_fn)(uint8_t word, const double *a, unsigned k, cplx *du);

cplx exp_i_pi(double t)
{
	double r = t - 2 * rint(t / 2), quarter = rint(2 * r);
	cplx e = cplx_exp_i(PI * (r - quarter / 2));
	double c = creal(e), s = cimag(e);
	switch ((int)quarter & 3) {
	case 1: return cplx_of(-s, c);
	case 2: return cplx_of(-c, -s);
	case 3: return cplx_of(s, -c);
	default: return e;
	}
}

/* ---- Pauli words ---- */

void add_word(uint8_t word, cplx factor, cplx *u)
{
	static const signed char quarter[4][2] = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } };
	unsigned n = gate_word_length(word), flip = 0, sign = 0, ny = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned letter = word >> 2 * i & 3;
		flip |= (unsigned)(letter != 3) << i;
		sign |= (unsigned)(letter != 1) << i;
		ny += letter == 2;
	}
	cplx q = cplx_mul(factor, cplx_of(quarter[ny % 4][0], quarter[ny % 4][1]));
	for (unsigned c = 0; c < 1u << n; c++)
		u[(c ^ flip) << n | c] += __builtin_parity(c & sign) ? -q : q;
}

void add_identity(unsigned n, cplx factor, cplx *u)
{
	for (unsigned c = 0; c < 1u << n; c++)
		u[c << n | c] += factor;
}

void u_pauli(uint8_t word, const double *a, cplx *u)
{
	(void)a;
	add_word(word, 1, u);
}

/* cos - i sin P.  Rotations by one letter encode data, so they are written down. */
void u_rpauli(uint8_t word, const double *a, cplx *u)
{
	cplx e = cplx_exp_i(a[0] / 2);
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

void d_rpauli(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)k;
	cplx e = cplx_exp_i(a[0] / 2);
	add_identity(gate_word_length(word), -cimag(e) / 2, du);
	add_word(word, cplx_of(0, -creal(e) / 2), du);
}

struct halves power_halves(double t)
{
	cplx e = exp_i_pi(t);
	return (struct halves){ (1 + e) / 2, (1 - e) / 2 };
}

struct halves power_slope(double t)
{
	cplx e = cplx_mul(cplx_of(0, PI / 2), exp_i_pi(t));
	return (struct halves){ e, -e };
}

/* one + g P; one letter is written down, as most blocks are made of those. */
void u_ppauli(uint8_t word, const double *a, cplx *u)
{
	struct halves h = power_halves(a[0]);
	switch (word) {
	case 1:
		u[0] = u[3] = h.one;
		u[1] = u[2] = h.g;
		return;
	case 2:
		u[0] = u[3] = h.one;
		u[1] = cplx_of(cimag(h.g), -creal(h.g));
		u[2] = cplx_of(-cimag(h.g), creal(h.g));
		return;
	case 3:
		u[0] = h.one + h.g;
		u[3] = h.one - h.g;
		return;
	}
	add_identity(gate_word_length(word), h.one, u);
	add_word(word, h.g, u);
}

void d_ppauli(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)k;
	struct halves h = power_slope(a[0]);
	add_identity(gate_word_length(word), h.one, du);
	add_word(word, h.g, du);
}
/* ---- three qubits ---- */

/* Margolus's gate: x of the third under both, with -1 on 101 and +-i inside the exchange. */
CONSTANT(u_rccx)
{
	NO_ANGLE;
	u[0 * 8 + 0] = u[1 * 8 + 1] = u[2 * 8 + 2] = u[4 * 8 + 4] = u[6 * 8 + 6] = 1;
	u[5 * 8 + 5] = -1;
	u[6 * 8 + 6] = 1;
	u[3 * 8 + 7] = cplx_of(0, -1);
	u[7 * 8 + 3] = J;
}

/* ---- the table ---- */

static const struct { matrix_fn matrix; derivative_fn derivative; } functions[GATE_COUNT] = {
#define GATE(i, n, nc, nt, na, f, b, bw, p, pw, s, u, d, text) [GATE_##i] = { .matrix = u, .derivative = d },
#include "lang/gates.def"
#undef GATE
};

static void clear(enum gate g, uint8_t word, cplx *u)
{
	memset(u, 0, sizeof *u << 2 * gate_ntarget(g, word));
}

void gate_matrix(enum gate g, uint8_t word, const double *angle, cplx *u)
{
	if (!functions[g].matrix)
		BUG("gate %s has no matrix of its own", gate_row(g)->name);
	clear(g, word, u);
	functions[g].matrix(word, angle, u);
}

void gate_derivative(enum gate g, uint8_t word, const double *angle, unsigned k, cplx *du)
{
	if (k >= gate_row(g)->nangle || !functions[g].derivative)
		BUG("gate %s has no angle %u of its own", gate_row(g)->name, k);
	clear(g, word, du);
	functions[g].derivative(word, angle, k, du);
}

bool gate_generator(enum gate g, uint8_t word, cplx *d)
{
	if (g != GATE_RPAULI && g != GATE_PPAULI)
		return false;
	clear(g, word, d);
	if (g == GATE_PPAULI)
		add_identity(gate_word_length(word), cplx_of(0, PI / 2), d);
	add_word(word, cplx_of(0, g == GATE_PPAULI ? -PI / 2 : -0.5), d);
	return true;
}
