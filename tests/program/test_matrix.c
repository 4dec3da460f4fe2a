/* SPDX-License-Identifier: Apache-2.0
 * Small matrices: build against products of embedded items, reverse against central
 * differences, through adjoints, controls, references and expressions. */
#include "runtime/program/matrix.h"
#include "runtime/program/anti_hermitian.h"

#include <math.h>
#include "runtime/base/rng.h"
#include "runtime/base/system/clock.h"
#include "tests/tap.h"
#include "tests/program/own_set.h"

enum { NWEIGHT = 6, NINPUT = 2, NEXPR = 14, NMATRIX = 7 };

static unsigned drawn;
static double draw(void)
{
	return 2 * rng_uniform(3, RNG_TEST, 5, drawn++) - 1;
}

static struct expr leaf(enum expr_op op, uint32_t a, double value)
{
	return (struct expr){ .op = op, .a = a, .value = value };
}

static struct expr node(enum expr_op op, uint32_t a, uint32_t b)
{
	return (struct expr){ .op = op, .a = a, .b = b };
}

/* Weights 0-5, inputs 6-7, a constant 8, then compounds. */
static struct expr exprs[NEXPR];

/* 0: one qubit, weights. 1: two qubits, every kind of item, words conjugate-transposed too. 2: three qubits, of 0 and 1 in both
 * ways. 3: per sample. 4: constant. 5: one gate. 6: of 0, conjugate-transposed, and 5. */
static struct item m0[] = {
	{ .gate = GATE_RPAULI, .word = 1, .nwire = 1, .angle = { 0 } },
	{ .gate = GATE_H, .nwire = 1 },
	{ .gate = GATE_U3, .nwire = 1, .adjoint = true, .angle = { 1, 8, 9 } },
	{ .gate = GATE_PPAULI, .word = 3, .nwire = 1, .angle = { 10 } },
	{ .gate = GATE_PPAULI, .word = 2, .adjoint = true, .nwire = 1, .angle = { 3 } },
};
static struct item m1[] = {
	{ .gate = GATE_T, .nwire = 1, .wire = { 1 } },
	{ .gate = GATE_RPAULI, .word = 3 | 1 << 2, .nwire = 2, .wire = { 1, 0 }, .angle = { 2 } },
	{ .gate = GATE_NONE, .ref = 0, .nwire = 1, .wire = { 1 } },
	{ .gate = GATE_RPAULI, .word = 2, .ncontrol = 1, .nwire = 2, .wire = { 1, 0 }, .control_ones = 1, .angle = { 11 } },
	{ .gate = GATE_P, .ncontrol = 1, .nwire = 2, .wire = { 0, 1 }, .control_ones = 0, .angle = { 3 } },
	{ .gate = GATE_NONE, .ref = 0, .adjoint = true, .ncontrol = 1, .nwire = 2, .wire = { 0, 1 }, .control_ones = 1 },
	{ .gate = GATE_XX_PLUS_YY, .adjoint = true, .nwire = 2, .wire = { 0, 1 }, .angle = { 4, 5 } },
	{ .gate = GATE_SWAP, .nwire = 2, .wire = { 0, 1 } },
	{ .gate = GATE_RPAULI, .word = 1 | 2 << 2, .adjoint = true, .nwire = 2, .wire = { 0, 1 }, .angle = { 0 } },
	{ .gate = GATE_PAULI, .word = 2, .adjoint = true, .nwire = 1, .wire = { 1 } },
};
static struct item m2[] = {
	{ .gate = GATE_NONE, .ref = 1, .nwire = 2, .wire = { 2, 0 } },
	{ .gate = GATE_NONE, .ref = 4, .nwire = 1, .wire = { 1 } },
	{ .gate = GATE_NONE, .ref = 1, .adjoint = true, .nwire = 2, .wire = { 1, 2 } },
	{ .gate = GATE_NONE, .ref = 0, .ncontrol = 2, .nwire = 3, .wire = { 2, 0, 1 }, .control_ones = 2 },
	{ .gate = GATE_PPAULI, .word = 1 | 2 << 2 | 3 << 4, .nwire = 3, .wire = { 2, 0, 1 }, .angle = { 12 } },
};
static struct item m3[] = {
	{ .gate = GATE_RPAULI, .word = 1, .nwire = 1, .wire = { 0 }, .angle = { 13 } },
	{ .gate = GATE_NONE, .ref = 0, .nwire = 1, .wire = { 1 } },
	{ .gate = GATE_PAULI, .word = 1, .ncontrol = 1, .nwire = 2, .wire = { 0, 1 }, .control_ones = 1 },
};
static struct item m5[] = { { .gate = GATE_U3, .nwire = 1, .adjoint = true, .angle = { 9, 5, 2 } } };
static struct item m6[] = { { .gate = GATE_NONE, .ref = 0, .adjoint = true, .nwire = 1 }, { .gate = GATE_NONE, .ref = 5, .nwire = 1 } };
static struct item m4[] = { { .gate = GATE_H, .nwire = 1 }, { .gate = GATE_S, .nwire = 1 } };

static struct matrix matrices[NMATRIX] = {
	{ .ntarget = 1, .nitem = 5, .item = m0 }, { .ntarget = 2, .nitem = 10, .item = m1 },
	{ .ntarget = 3, .nitem = 5, .item = m2 }, { .ntarget = 2, .nitem = 3, .item = m3 },
	{ .ntarget = 1, .nitem = 2, .item = m4 }, { .ntarget = 1, .nitem = 1, .item = m5 },
	{ .ntarget = 1, .nitem = 2, .item = m6 },
};

/* Matrix 2 refers to 4: the order of a program's matrices is by reference. */
static void order_matrices(void)
{
	struct matrix constant = matrices[4];
	memmove(matrices + 1, matrices, 4 * sizeof *matrices);
	matrices[0] = constant;
	for (unsigned m = 0; m < NMATRIX; m++)
		for (unsigned i = 0; i < matrices[m].nitem; i++) {
			struct item *it = &matrices[m].item[i];
			if (it->gate == GATE_NONE)
				it->ref = it->ref == 4 ? 0 : it->ref + (it->ref < 4);
		}
}

static struct program prog;
static struct matrix_set set;

static void make_program(void)
{
	for (uint32_t i = 0; i < NWEIGHT; i++)
		exprs[i] = leaf(EXPR_WEIGHT, i, 0);
	exprs[6] = leaf(EXPR_INPUT, 0, 0);
	exprs[7] = leaf(EXPR_INPUT, 1, 0);
	exprs[8] = leaf(EXPR_CONST, 0, 0.7);
	exprs[9] = node(EXPR_MUL, 2, 8);
	exprs[10] = node(EXPR_SUB, 1, 3);
	exprs[11] = node(EXPR_SIN, 9, 0);
	exprs[12] = node(EXPR_MUL, 4, 5);
	exprs[13] = node(EXPR_MUL, 6, 0);
	order_matrices();
	arena_init(&prog.arena);
	prog.nexpr = NEXPR;
	prog.expr = exprs;
	prog.nmatrix = NMATRIX;
	prog.matrix = matrices;
	prog.nweight = prog.nweight_circuit = NWEIGHT;
	program_derive(&prog);
	own_set(&set, &prog, &prog.arena);
}

static void build_all(const double *weight, const double *input, double *value, cplx *u)
{
	program_eval(&prog, weight, input, value);
	matrix_build(&set, value, VALUE_CONSTANT, VALUE_CONSTANT, NULL, u, NULL);
	matrix_build(&set, value, VALUE_SHARED, VALUE_SAMPLE, NULL, u, NULL);
}

/* L = 2 Re sum of U R over the matrices, R constant: its differential is what R means. */
static double loss(const double *weight, const double *input, const cplx *r)
{
	double value[NEXPR], l = 0;
	cplx u[NMATRIX * MATRIX_ENTRIES_MAX];
	build_all(weight, input, value, u);
	for (uint32_t i = 0; i < set.offset[NMATRIX]; i++)
		l += 2 * creal(u[i] * r[i]);
	return l;
}

/* What matrix_reverse takes of these: Y = R U^T. */
static void anti_hermitian_of(const cplx *u, const cplx *r, double *anti_hermitian)
{
	memset(anti_hermitian, 0, set.offset[NMATRIX] * sizeof *anti_hermitian);
	for (unsigned m = 0; m < NMATRIX; m++) {
		unsigned d = matrix_dim(&matrices[m]);
		const cplx *a = r + set.offset[m], *b = u + set.offset[m];
		cplx y[MATRIX_ENTRIES_MAX] = { 0 };
		for (unsigned i = 0; i < d; i++)
			for (unsigned j = 0; j < d; j++)
				for (unsigned k = 0; k < d; k++)
					y[i * d + j] += a[i * d + k] * b[j * d + k];
		anti_hermitian_add(d, y, anti_hermitian + set.offset[m]);
	}
}

static void structure(void)
{
	tap_is_int(matrices[0].cls, VALUE_CONSTANT, "a matrix of constants");
	tap_is_int(matrices[1].cls, VALUE_SHARED, "a matrix of weights");
	tap_is_int(matrices[3].cls, VALUE_SHARED, "a matrix of such matrices");
	tap_is_int(matrices[4].cls, VALUE_SAMPLE, "a matrix with an input");
	struct item diagonal[] = { { .gate = GATE_S, .nwire = 1 },
		{ .gate = GATE_PAULI, .word = 3, .ncontrol = 1, .nwire = 2, .wire = { 1, 0 } } };
	struct matrix m = { .ntarget = 2, .nitem = 1, .item = diagonal };
	matrix_derive(&prog, NULL, &m);
	tap_is_int(m.flags, MATRIX_DIAGONAL | MATRIX_PERMUTATION, "s is diagonal");
	m.item++;
	matrix_derive(&prog, NULL, &m);
	tap_is_int(m.flags, MATRIX_DIAGONAL | MATRIX_PERMUTATION | MATRIX_REAL | MATRIX_PARITY, "cz is diagonal and real");
}

static void products(const double *weight, const double *input)
{
	double value[NEXPR];
	cplx u[NMATRIX * MATRIX_ENTRIES_MAX], a[MATRIX_ENTRIES_MAX], b[MATRIX_ENTRIES_MAX], c[MATRIX_ENTRIES_MAX];
	build_all(weight, input, value, u);
	for (unsigned m = 0; m < NMATRIX; m++) {
		unsigned d = matrix_dim(&matrices[m]);
		double off = 0, away = 0;
		item_matrix(&set, &matrices[m].item[0], matrices[m].ntarget, value, u, a);
		for (unsigned i = 1; i < matrices[m].nitem; i++) {
			item_matrix(&set, &matrices[m].item[i], matrices[m].ntarget, value, u, b);
			matrix_multiply(d, b, a, c);
			memcpy(a, c, sizeof a);
		}
		for (unsigned i = 0; i < d * d; i++)
			off = tap_worst(off, cabs(a[i] - u[set.offset[m] + i]));
		tap_ok(off < 1e-14, "matrix %u is the product of its items (%g)", m, off);
		matrix_adjoint(d, a, b);
		matrix_multiply(d, a, b, c);
		for (unsigned i = 0; i < d * d; i++)
			away = tap_worst(away, cabs(c[i] - (i / d == i % d)));
		tap_ok(away < 1e-14, "matrix %u is unitary (%g)", m, away);
	}
}

/* How far a product of an item and h on one wire is from what it should be. */
static double product_of_two(const struct item *first, unsigned ntarget)
{
	struct item item[2] = { *first, { .gate = GATE_H, .nwire = 1 } };
	struct expr x = leaf(EXPR_WEIGHT, 0, 0);
	struct matrix m = { .ntarget = ntarget, .nitem = 2, .item = item };
	struct program p = { .nexpr = 1, .expr = &x, .nmatrix = 1, .matrix = &m };
	double value = draw(), off = 0;
	cplx u[MATRIX_ENTRIES_MAX], a[MATRIX_ENTRIES_MAX], b[MATRIX_ENTRIES_MAX], c[MATRIX_ENTRIES_MAX];
	struct matrix_set s;
	struct arena room;
	arena_init(&room);
	program_derive(&p);
	own_set(&s, &p, &room);
	matrix_build(&s, &value, VALUE_CONSTANT, VALUE_SHARED, NULL, u, NULL);
	item_matrix(&s, &item[0], ntarget, &value, u, a);
	item_matrix(&s, &item[1], ntarget, &value, u, b);
	matrix_multiply(matrix_dim(&m), b, a, c);
	for (unsigned i = 0; i < matrix_dim(&m) * matrix_dim(&m); i++)
		off = tap_worst(off, cabs(c[i] - u[i]));
	arena_release(&room);
	return off;
}

/* Products that begin with a word: every word on up to three wires, with the other wires as controls and without, turned about. */
static void first_words(void)
{
	static const enum gate gate[3] = { GATE_RPAULI, GATE_PPAULI, GATE_PAULI };
	unsigned n = 0;
	double off = 0;
	for (unsigned ntarget = 1; ntarget <= 3; ntarget++)
		for (unsigned nt = 1; nt <= ntarget; nt++)
			for (unsigned word = 1; word < 1u << 2 * nt; word++)
				for (unsigned k = 0; k < 3 * 2 * 3 * 4; k++, n++) {
					struct item it = { .gate = gate[k % 3], .adjoint = k / 3 % 2, .ncontrol = (uint8_t)(k / 6 % (ntarget - nt + 1)),
						.control_ones = (uint8_t)(k / 18), .word = (uint8_t)word };
					bool whole = true;
					for (unsigned w = 0; w < nt; w++)
						whole &= (word >> 2 * w & 3) != 0;
					it.nwire = (uint8_t)(nt + it.ncontrol);
					it.control_ones &= (uint8_t)((1u << it.ncontrol) - 1);
					for (unsigned w = 0; w < it.nwire; w++)
						it.wire[w] = (uint8_t)((w + k / 6) % ntarget);
					if (whole)       /* no letter is the identity */
						off = tap_worst(off, product_of_two(&it, ntarget));
				}
	tap_ok(n > 0 && off < 1e-14, "products that begin with a word (%g)", off);
}

/* Controls by hand: x on wire 1 where wire 0 is 0. */
static void control_on_zero(void)
{
	struct item it = { .gate = GATE_PAULI, .word = 1, .ncontrol = 1, .nwire = 2, .wire = { 0, 1 } };
	cplx u[MATRIX_ENTRIES_MAX];
	item_matrix(&set, &it, 2, NULL, NULL, u);
	tap_ok(u[0 * 4 + 2] == 1 && u[2 * 4 + 0] == 1 && u[1 * 4 + 1] == 1 && u[3 * 4 + 3] == 1,
		"a control on 0 acts where the wire is 0");
}

static void reverse(double *weight, const double *input)
{
	double value[NEXPR], derivative[NEXPR] = { 0 }, got[NWEIGHT] = { 0 };
	double pauli_gradient[NMATRIX * MATRIX_ENTRIES_MAX], anti_hermitian[NMATRIX * MATRIX_ENTRIES_MAX];
	cplx u[NMATRIX * MATRIX_ENTRIES_MAX], r[NMATRIX * MATRIX_ENTRIES_MAX];
	for (unsigned i = 0; i < set.offset[NMATRIX]; i++)
		r[i] = cplx_of(draw(), draw());
	build_all(weight, input, value, u);
	anti_hermitian_of(u, r, anti_hermitian);
	matrix_reverse(&set, value, u, NULL, NULL, NULL, anti_hermitian, pauli_gradient, derivative);
	program_eval_reverse(&prog, value, derivative, got);
	for (unsigned k = 0; k < NWEIGHT; k++) {
		static const double at[4] = { -2, -1, 1, 2 }, factor[4] = { 1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12 };
		double want = 0, was = weight[k];
		for (unsigned p = 0; p < 4; p++) {
			weight[k] = was + at[p] * 5e-4;
			want += factor[p] / 5e-4 * loss(weight, input, r);
		}
		weight[k] = was;
		tap_close(got[k], want, 1e-9, "derivative by weight %u", k);
	}
}

static void only_needed(const double *weight, const double *input)
{
	double value[NEXPR];
	bool need[NMATRIX] = { false, true };
	cplx u[NMATRIX * MATRIX_ENTRIES_MAX] = { 0 };
	program_eval(&prog, weight, input, value);
	matrix_build(&set, value, VALUE_CONSTANT, VALUE_SAMPLE, need, u, NULL);
	tap_ok(u[0] == 0 && u[set.offset[1]] != 0 && u[set.offset[2]] == 0, "only marked matrices are built");
}

/* Whatever vectors the processor has, and whether the build's numbers were kept: the same bits. */
static void same_bits(const double *weight, const double *input)
{
	double value[NEXPR], derivative[3][NEXPR] = { 0 };
	double pauli_gradient[NMATRIX * MATRIX_ENTRIES_MAX], anti_hermitian[NMATRIX * MATRIX_ENTRIES_MAX];
	cplx u[3][NMATRIX * MATRIX_ENTRIES_MAX] = { 0 }, kept[NMATRIX * MATRIX_ENTRIES_MAX * 4];
	tap_ok(set.nkept > 0 && set.nkept <= sizeof kept / sizeof *kept, "%u numbers are kept", set.nkept);
	for (unsigned i = 0; i < set.offset[NMATRIX]; i++)
		anti_hermitian[i] = draw();
	program_eval(&prog, weight, input, value);
	for (unsigned k = 0; k < 3; k++) {
		matrix_plain(k == 2);
		matrix_build(&set, value, VALUE_CONSTANT, VALUE_SAMPLE, NULL, u[k], k ? kept : NULL);
		matrix_reverse(&set, value, u[k], k ? kept : NULL, NULL, NULL, anti_hermitian,
			pauli_gradient, derivative[k]);
	}
	matrix_plain(false);
	tap_ok(!memcmp(u[0], u[1], sizeof u[0]) && !memcmp(u[0], u[2], sizeof u[0]), "matrices are the same bits however they are made");
	tap_ok(!memcmp(derivative[0], derivative[1], sizeof derivative[0])
			&& !memcmp(derivative[0], derivative[2], sizeof derivative[0])
			&& derivative[0][0] != 0,
		"and so are derivatives");
}

/* The block of 15 angles on two qubits of the cluster models. */
static void speed(void)
{
	enum { N = 15, ROUNDS = 2000 };
	static const uint8_t word[N] = { 1, 2, 3, 1, 2, 3, 15, 10, 5, 1, 2, 3, 1, 2, 3 };
	struct expr x[N];
	struct item item[N] = { 0 };
	double value[N], derivative[N] = { 0 };
	for (uint32_t i = 0; i < N; i++) {
		x[i] = leaf(EXPR_WEIGHT, i, 0);
		item[i] = (struct item){ .gate = GATE_PPAULI, .word = word[i], .angle = { i },
			.nwire = word[i] > 3 ? 2 : 1, .wire = { word[i] > 3 ? 0 : i / 3 % 3 == 1, 1 } };
		value[i] = draw();
	}
	struct matrix m = { .ntarget = 2, .nitem = N, .item = item };
	struct program p = { .nexpr = N, .expr = x, .nmatrix = 1, .matrix = &m };
	struct arena a;
	struct matrix_set s;
	arena_init(&a);
	program_derive(&p);
	own_set(&s, &p, &a);
	double pauli_gradient[16], anti_hermitian[16];
	cplx u[16];
	double start = clock_seconds(), built, reversed;
	for (unsigned i = 0; i < ROUNDS; i++)
		matrix_build(&s, value, VALUE_SHARED, VALUE_SHARED, NULL, u, NULL);
	built = clock_seconds();
	for (unsigned i = 0; i < 16; i++)
		anti_hermitian[i] = creal(u[i]);
	for (unsigned i = 0; i < ROUNDS; i++)
		matrix_reverse(&s, value, u, NULL, NULL, NULL, anti_hermitian, pauli_gradient,
			derivative);
	reversed = clock_seconds();
	tap_note("a block of %d angles: build %.2f us, reverse %.2f us", N, (built - start) / ROUNDS * 1e6,
		(reversed - built) / ROUNDS * 1e6);
	tap_ok(isfinite(derivative[0]), "the block's derivatives are finite");
	arena_release(&a);
}

int main(void)
{
	double weight[NWEIGHT], input[NINPUT] = { 0.4, -1.1 };
	make_program();
	for (unsigned i = 0; i < NWEIGHT; i++)
		weight[i] = draw();
	structure();
	products(weight, input);
	first_words();
	control_on_zero();
	reverse(weight, input);
	only_needed(weight, input);
	same_bits(weight, input);
	speed();
	arena_release(&prog.arena);
	return tap_done();
}
