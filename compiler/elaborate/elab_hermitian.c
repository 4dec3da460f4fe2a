/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: observables given by their matrices, hermitian("file", w), as sums of Pauli products.
 *
 * The product that flips the bits f and has signs at the bits s is i^-ny (-1)^popcount(i & s) in row i and column i ^ f, so
 * that for each f a Walsh-Hadamard transform of these entries gives the coefficients for all s. */
#include <math.h>

#include "compiler/elaborate/elab.h"
#include "compiler/elaborate/unitary.h"

#define HERMITIAN_TOLERANCE 1e-6 /* of the largest entry */

static double largest(const cplx *a, size_t n)
{
	double most = 0;

	for (size_t k = 0; k < n; k++)
		most = fmax(most, cabs(a[k]));
	return most;
}

static bool is_hermitian(struct elab *e, const struct node *n, const cplx *a, uint32_t dim,
	const struct span *row)
{
	double most = largest(a, (size_t)dim * dim);

	for (uint32_t i = 0; i < dim; i++)
		for (uint32_t k = i; k < dim; k++) {
			cplx x = a[(size_t)i * dim + k], y = a[(size_t)k * dim + i];

			if (cabs(x - conj(y)) <= HERMITIAN_TOLERANCE * most)
				continue;
			struct diag *g = elab_error(e, DIAG_MATRIX, row[k],
				"not Hermitian: %.10g%+.10gj in row %u, column %u and %.10g%+.10gj in row %u, column %u",
				creal(x), cimag(x), i, k, creal(y), cimag(y), k, i);
			diag_second(g, n->span, "read here");
			return false;
		}
	return true;
}

static void transform(cplx *v, uint32_t dim)
{
	for (uint32_t half = 1; half < dim; half *= 2)
		for (uint32_t i = 0; i < dim; i++) {
			cplx x = v[i], y = v[i ^ half];

			if (i & half)
				continue;
			v[i] = x + y;
			v[i ^ half] = x - y;
		}
}

static bool add_term(struct elab *e, struct pauli_sum *sum, const struct wire_list *w, double c,
	uint32_t flip, uint32_t sign)
{
	struct pauli_term t = { .coefficient = c };

	t.factor = arena_alloc(e->arena, w->n + 1, sizeof *t.factor);
	for (uint32_t k = 0; k < w->n; k++) {
		unsigned x = flip >> k & 1, z = sign >> k & 1;

		if (x | z)
			t.factor[t.nfactor++] = (struct pauli_factor){ k,
				x && z      ? PAULI_Y
					: x ? PAULI_X
					    : PAULI_Z };
	}
	pauli_term_place(&t, w->wire);
	return pauli_sum_append(e->arena, sum, &t);
}

static struct value of_matrix(struct elab *e, const struct node *n, const cplx *a, uint32_t dim,
	const struct wire_list *w)
{
	double least = 1e-15 * largest(a, (size_t)dim * dim); /* smaller ones are rounding errors */
	mem_auto cplx *v = mem_alloc(dim, sizeof *v);
	struct pauli_sum sum = pauli_sum_empty(e->arena);
	bool fine = true;

	for (uint32_t flip = 0; flip < dim; flip++) {
		for (uint32_t i = 0; i < dim; i++)
			v[i] = (a[(size_t)i * dim + (i ^ flip)]
				       + conj(a[(size_t)(i ^ flip) * dim + i]))
				/ 2;
		transform(v, dim);
		for (uint32_t sign = 0; fine && sign < dim; sign++) {
			double c = creal(gate_word_turned(v[sign],
					   (unsigned)__builtin_popcount(flip & sign)))
				/ dim;

			fine = fabs(c) <= least || add_term(e, &sum, w, c, flip, sign);
		}
	}
	if (!fine)
		return elab_fail(e, DIAG_LIMIT_OUTPUTS, n->span,
			"an observable of more than %d terms", PROGRAM_TERMS_MAX);
	return elab_sum(e, sum);
}

struct value elab_hermitian(struct elab *e, const struct node *n)
{
	struct wire_list w;

	if (!elab_file_qubits(e, n, &w))
		return value_unknown();
	if (!w.n || w.n > UNITARY_QUBITS_MAX)
		return elab_fail(e, DIAG_MATRIX, n->args.v[0]->span,
			"a matrix on %u qubits, 1 to %d are possible", w.n, UNITARY_QUBITS_MAX);
	uint32_t dim = 1u << w.n;
	mem_auto cplx *a = mem_alloc((size_t)dim * dim, sizeof *a);
	mem_auto struct span *row = mem_alloc(dim, sizeof *row);
	if (!elab_work(e, (uint64_t)dim * dim, n->span) || !elab_matrix_file(e, n, dim, dim, a, row)
		|| !is_hermitian(e, n, a, dim, row))
		return value_unknown();
	return of_matrix(e, n, a, dim, &w);
}
