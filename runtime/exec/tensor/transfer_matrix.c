/* SPDX-License-Identifier: Apache-2.0
 * Matrices of gates between coefficients of Pauli operators (Pauli transfer matrices: Greenbaum, arXiv:1509.02921, section 2.2), and
 * from gradients with respect to their entries to reduced transition matrices. */
#include "runtime/exec/tensor/network.h"

#include <string.h>

#include "runtime/base/maths.h"
#include "runtime/program/anti_hermitian.h"

enum { DIM = 1 << NETWORK_QUBITS, WORDS = 1 << (2 * NETWORK_QUBITS) };

/* A product of Pauli operators, by the digits I, X, Y, Z of a number in base 4: P[x, x ^ flip] = (-i)^ny (-1)^|x & sign|. */
struct word {
	unsigned flip, sign, ny;
};

static struct word word_of(unsigned nqubit, unsigned number)
{
	struct word w = { 0, 0, 0 };

	for (unsigned q = 0; q < nqubit; q++) {
		unsigned digit = number >> (2 * q) & 3;

		w.flip |= (unsigned)(digit == PAULI_X || digit == PAULI_Y) << q;
		w.sign |= (unsigned)(digit == PAULI_Y || digit == PAULI_Z) << q;
		w.ny += digit == PAULI_Y;
	}
	return w;
}

static const double real_of[4] = { 1, 0, -1, 0 }, imaginary_of[4] = { 0, 1, 0, -1 };

static cplx power_of_i(unsigned n) { return cplx_of(real_of[n & 3], imaginary_of[n & 3]); }

static cplx word_entry(const struct word *w, unsigned x)
{
	return power_of_i(3 * w->ny + 2u * (unsigned)__builtin_popcount(x & w->sign));
}

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

void transfer_make(const struct transfer *t, const cplx *u, double *r)
{
	unsigned d = 1u << t->nqubit, nword = d * d;
	cplx gate[DIM * DIM], moved[DIM * DIM];

	whole_gate(t, u, gate);
	for (unsigned j = 0; j < nword; j++) {
		struct word pj = word_of(t->nqubit, j);

		/* moved = U P_j U^+ */
		for (unsigned x = 0; x < d; x++)
			for (unsigned y = 0; y < d; y++) {
				cplx sum = 0;

				for (unsigned k = 0; k < d; k++)
					sum += cplx_mul(cplx_mul(gate[x * d + k], word_entry(&pj, k)),
						conj(gate[y * d + (k ^ pj.flip)]));
				moved[x * d + y] = sum;
			}
		for (unsigned i = 0; i < nword; i++) {
			struct word pi = word_of(t->nqubit, i);
			double sum = 0;

			/* Tr(P_i moved) */
			for (unsigned x = 0; x < d; x++)
				sum += creal(cplx_mul(word_entry(&pi, x),
					moved[(x ^ pi.flip) * d + x]));
			r[i * nword + j] = sum / d;
		}
	}
}

/* As dU = i A U, dL = 2 Re sum G[i, j] Tr(P_i i A U P_j U^+) / d = -2 Im Tr(A B) with B = sum N[i, m] P_m P_i / d and
 * N = G R^T, which is what Y = B^T of anti_hermitian.h gives. */
void transfer_gradient(const struct transfer *t, const cplx *u, const double *r, const double *g,
	double *anti_hermitian)
{
	unsigned d = 1u << t->nqubit, nword = d * d, target = 1u << (t->nqubit - t->ncontrol);
	cplx b[DIM * DIM] = { 0 }, y[MATRIX_ENTRIES_MAX];
	double own[MATRIX_ENTRIES_MAX] = { 0 };

	for (unsigned i = 0; i < nword; i++)
		for (unsigned m = 0; m < nword; m++) {
			struct word pi = word_of(t->nqubit, i), pm = word_of(t->nqubit, m);
			double n = 0;

			for (unsigned j = 0; j < nword; j++)
				n += g[i * nword + j] * r[m * nword + j];
			for (unsigned x = 0; x < d; x++) {
				unsigned z = x ^ pm.flip;

				b[x * d + (z ^ pi.flip)] +=
					n / d * cplx_mul(word_entry(&pm, x), word_entry(&pi, z));
			}
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
