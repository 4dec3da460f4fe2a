/* SPDX-License-Identifier: Apache-2.0
 * Matrices of gates between coefficients of Pauli operators (Pauli transfer matrices: Greenbaum, arXiv:1509.02921, section 2.2), and
 * from gradients with respect to their entries to reduced transition matrices. */
#include "runtime/exec/tensor/network.h"

#include <string.h>

#include "runtime/base/maths.h"
#include "runtime/program/anti_hermitian.h"

enum { DIM = 1 << NETWORK_QUBITS, WORDS = 1 << (2 * NETWORK_QUBITS) };

/* The whole gate: its matrix under its controls, which are the lowest bits. */
static void whole_gate(const struct transfer *t, const cplx *u, cplx *out)
{
	unsigned d = 1u << t->nqubit, target = 1u << (t->nqubit - t->ncontrol);
	cplx adjoint[DIM * DIM];

	if (t->adjoint) {
		matrix_adjoint(target, u, adjoint);
		u = adjoint;
	}
	memset(out, 0, (size_t)d * d * sizeof *out);
	for (unsigned x = 0; x < d; x++)
		out[x * d + x] = 1;
	for (unsigned r = 0; r < target; r++)
		for (unsigned c = 0; c < target; c++)
			out[(r << t->ncontrol | t->control_ones) * d
				+ (c << t->ncontrol | t->control_ones)] = u[r * target + c];
}

/* The number in base 4 whose digits are a bit of x and twice that of y, for each qubit. */
static unsigned interleave(unsigned nqubit, unsigned x, unsigned y)
{
	unsigned out = 0;

	for (unsigned q = 0; q < nqubit; q++)
		out |= ((x >> q & 1) | (y >> q & 1) << 1) << (2 * q);
	return out;
}

static cplx times_i(cplx x) { return cplx_of(-cimag(x), creal(x)); }

/* Four entries M[0, 0], M[1, 0], M[0, 1], M[1, 1] of a qubit become Tr(P M) for I, X, Y, Z. */
static void to_words(cplx *a, cplx *b, cplx *c, cplx *d)
{
	cplx m00 = *a, m10 = *b, m01 = *c, m11 = *d;

	*a = m00 + m11;
	*b = m10 + m01;
	*c = times_i(m01 - m10);
	*d = m00 - m11;
}

/* The sums over those of P[r, c] M[r, c] are those of the transpose: Y changes its sign. Digit `q` of n numbers, `stride` apart. */
static void change_basis(cplx *m, unsigned nword, unsigned stride, unsigned q, bool transpose)
{
	unsigned step = 1u << (2 * q);

	for (unsigned w = 0; w < nword; w++) {
		cplx *at = m + (size_t)w * stride;

		if (w >> (2 * q) & 3)
			continue;
		to_words(at, at + step * stride, at + 2 * step * stride, at + 3 * step * stride);
		if (transpose)
			at[2 * step * stride] = -at[2 * step * stride];
	}
}

/* R[i, j] = Tr(P_i U P_j U^+) / d: U and its conjugate side by side, in the basis of products of Pauli operators on both sides. */
void transfer_make(const struct transfer *t, const cplx *u, double *r)
{
	unsigned nq = t->nqubit, d = 1u << nq, nword = d * d;
	cplx gate[DIM * DIM], both[WORDS * WORDS];

	whole_gate(t, u, gate);
	for (unsigned x = 0; x < d; x++)
		for (unsigned y = 0; y < d; y++)
			for (unsigned p = 0; p < d; p++)
				for (unsigned q = 0; q < d; q++)
					both[interleave(nq, x, y) * nword + interleave(nq, p, q)] =
						cplx_mul(gate[x * d + p], conj(gate[y * d + q]));
	for (unsigned q = 0; q < nq; q++)
		for (unsigned k = 0; k < nword; k++)
			change_basis(both + (size_t)k * nword, nword, 1, q, true);
	for (unsigned q = 0; q < nq; q++)
		for (unsigned k = 0; k < nword; k++)
			change_basis(both + k, nword, nword, q, false);
	for (unsigned k = 0; k < nword * nword; k++)
		r[k] = creal(both[k]) / d;
}

/* P_a P_b = i^n P_(a ^ b) of one qubit, by a + 4 b. */
static const uint8_t product_power[16] = { 0, 0, 0, 0, 0, 0, 3, 1, 0, 1, 0, 3, 0, 3, 1, 0 };

static unsigned product_of(unsigned nqubit, unsigned a, unsigned b)
{
	unsigned power = 0;

	for (unsigned q = 0; q < nqubit; q++)
		power += product_power[(a >> (2 * q) & 3) + 4 * (b >> (2 * q) & 3)];
	return power & 3;
}

/* As dU = i A U, dL = 2 Re sum G[i, j] Tr(P_i i A U P_j U^+) / d = -2 Im Tr(A B) with B = sum N[i, m] P_m P_i / d and
 * N = G R^T, which is what Y = B^T of anti_hermitian.h gives. */
void transfer_gradient(const struct transfer *t, const cplx *u, const double *r, const double *g,
	double *anti_hermitian)
{
	unsigned nq = t->nqubit, d = 1u << nq, nword = d * d, target = 1u << (nq - t->ncontrol);
	double part[WORDS][4] = { { 0 } }, own[MATRIX_ENTRIES_MAX] = { 0 };
	cplx b[DIM * DIM] = { 0 }, y[MATRIX_ENTRIES_MAX];

	for (unsigned i = 0; i < nword; i++)
		for (unsigned m = 0; m < nword; m++) {
			double n = 0;

			for (unsigned j = 0; j < nword; j++)
				n += g[i * nword + j] * r[m * nword + j];
			part[m ^ i][product_of(nq, m, i)] += n;
		}
	/* P[x, x ^ flip] is -1 to the power of |x & sign|, times -i for each Y. */
	for (unsigned w = 0; w < nword; w++) {
		cplx value = cplx_of((part[w][0] - part[w][2]) / d, (part[w][1] - part[w][3]) / d);
		unsigned flip = 0, sign = 0;

		for (unsigned q = 0; q < nq; q++) {
			unsigned letter = w >> (2 * q) & 3;

			flip |= (unsigned)(letter == PAULI_X || letter == PAULI_Y) << q;
			sign |= (unsigned)(letter == PAULI_Y || letter == PAULI_Z) << q;
			if (letter == PAULI_Y)
				value = -times_i(value);
		}
		for (unsigned x = 0; x < d; x++)
			b[x * d + (x ^ flip)] += __builtin_parity(x & sign) ? -value : value;
	}
	for (unsigned x = 0; x < target; x++)
		for (unsigned c = 0; c < target; c++)
			y[x * target + c] = b[(c << t->ncontrol | t->control_ones) * d
				+ (x << t->ncontrol | t->control_ones)];
	if (!t->adjoint) {
		anti_hermitian_add(target, y, anti_hermitian);
		return;
	}
	anti_hermitian_add(target, y, own);
	anti_hermitian_add_adjoint(target, u, own, anti_hermitian);
}
