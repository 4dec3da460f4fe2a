/* SPDX-License-Identifier: Apache-2.0
 * Gates given by their matrices, made of gates of the table.
 *
 * One qubit is u3 or p, and a phase; two are gates on each of them around a rotation (unitary_two.c).  Of more, rotations between two rows whose indices differ in one bit (controlled by all other
 * bits) make one column after the other that of a diagonal matrix (Nielsen and Chuang, section 4.5.1, with the rows in an
 * order that needs no others); the phases on the diagonal come first.  Such a gate acts on two of the 2^n amplitudes, so that
 * all of them together cost no more than the dense matrix. */
#include "compiler/elaborate/unitary.h"

#include <math.h>
#include <string.h>

#include "compiler/circuit_builder.h"

#define NOTHING 1e-15 /* smaller numbers are rounding errors */

/* ---- unitary? ---- */

static cplx row_product(const cplx *u, uint32_t dim, uint32_t i, uint32_t j)
{
	cplx sum = 0;

	for (uint32_t k = 0; k < dim; k++)
		sum += cplx_mul(u[(size_t)i * dim + k], conj(u[(size_t)j * dim + k]));
	return sum;
}

struct unitary_fault unitary_worst(const cplx *u, uint32_t dim)
{
	struct unitary_fault worst = { 0 };

	for (uint32_t i = 0; i < dim; i++)
		for (uint32_t j = i; j < dim; j++) {
			cplx product = row_product(u, dim, i, j);
			double off = cabs(product - (i == j));

			if (off > worst.deviation)
				worst = (struct unitary_fault){ i, j, product, off };
		}
	return worst;
}

/* ---- powers ---- */

/* out = a b; adjoint: of the conjugate transpose of a. */
static void multiply(const cplx *a, bool adjoint, const cplx *b, uint32_t dim, cplx *out)
{
	memset(out, 0, (size_t)dim * dim * sizeof *out);
	for (uint32_t i = 0; i < dim; i++)
		for (uint32_t k = 0; k < dim; k++) {
			cplx x = adjoint ? conj(a[(size_t)k * dim + i]) : a[(size_t)i * dim + k];

			for (uint32_t j = 0; j < dim; j++)
				out[(size_t)i * dim + j] += cplx_mul(x, b[(size_t)k * dim + j]);
		}
}

/* One step of Newton's method to the nearest unitary matrix: u (3 - u' u)/2. room[2 * dim * dim] */
static void restore(cplx *u, uint32_t dim, cplx *room)
{
	size_t n = (size_t)dim * dim;
	cplx *left = room + n;

	multiply(u, true, u, dim, left);
	for (size_t k = 0; k < n; k++)
		left[k] = ((k % (dim + 1) ? 0 : 3) - left[k]) / 2;
	multiply(u, false, left, dim, room);
	memcpy(u, room, n * sizeof *u);
}

void unitary_power(cplx *u, uint32_t dim, uint64_t k)
{
	size_t n = (size_t)dim * dim, bytes = n * sizeof *u;
	mem_auto cplx *square = mem_alloc(n, sizeof *square), *room = mem_alloc(2 * n, sizeof *room);
	bool some = k & 1;

	memcpy(square, u, bytes);
	while (k >>= 1) {
		multiply(square, false, square, dim, room);
		memcpy(square, room, bytes);
		restore(square, dim, room);
		if (!(k & 1))
			continue;
		if (some)
			multiply(u, false, square, dim, room);
		memcpy(u, some ? room : square, bytes);
		some = true;
	}
	restore(u, dim, room);
}

/* ---- one qubit ---- */

static void add_gate(struct design *d, struct calls *ops, enum gate g, uint8_t word,
	const double *angle)
{
	uint32_t x[GATE_ANGLES_MAX];

	for (unsigned k = 0; k < gate_row(g)->nangle; k++)
		x[k] = exprs_const(&d->exprs, angle[k]);
	build_gate(d, ops, g, word, x);
}

static void add_phase(struct design *d, struct calls *ops, double phase)
{
	if (fabs(phase) > NOTHING)
		add_gate(d, ops, GATE_GPHASE, 0, &phase);
}

/* On that qubit u3(theta, phi, lambda), or p(lambda) of a diagonal matrix; returns the phase that is left. */
static double build_one(struct design *d, struct calls *ops, const cplx u[4], uint32_t wire)
{
	double c = cabs(u[0]), s = cabs(u[2]), angle[3] = { 2 * atan2(s, c) };
	double phase = carg(u[c > NOTHING ? 0 : 2]);
	uint32_t n = ops->n;

	if (s <= NOTHING) {
		angle[0] = carg(cplx_mul(u[3], conj(u[0])));
		if (fabs(angle[0]) > NOTHING)
			add_gate(d, ops, GATE_P, 0, angle);
	} else {
		angle[1] = carg(u[2]) - phase;
		angle[2] = c >= s ? carg(u[3]) - phase - angle[1] : carg(-u[1]) - phase;
		add_gate(d, ops, GATE_U3, 0, angle);
	}
	if (ops->n > n)
		ops->v[n].wire[0] = wire;
	return phase;
}

/* ---- two qubits ---- */

static void build_two(struct design *d, struct calls *ops, const cplx u[16])
{
	struct two_qubit_parts p;
	double phase;

	unitary_two(u, &p);
	phase = p.phase;
	for (uint32_t k = 0; k < 2; k++)
		phase += build_one(d, ops, p.before[k], k);
	for (uint8_t letter = PAULI_X; letter <= PAULI_Z; letter++)
		if (fabs(p.angle[letter - PAULI_X]) > NOTHING)
			add_gate(d, ops, GATE_RPAULI, (uint8_t)(letter | letter << 2),
				&p.angle[letter - PAULI_X]);
	for (uint32_t k = 0; k < 2; k++)
		phase += build_one(d, ops, p.after[k], k);
	add_phase(d, ops, remainder(phase, 2 * PI));
}

/* ---- more qubits ---- */

/* A gate on one bit of the index, where all others are those of `row`. */
struct step {
	enum gate gate;
	uint8_t word;
	double angle[3];
	uint32_t row;
	unsigned bit;
};

static void control_by_others(struct design *d, struct apply *p, unsigned n, uint32_t row, unsigned bit)
{
	p->wire = arena_alloc(d->arena, n, sizeof *p->wire);
	p->ncontrol = 0;
	for (unsigned k = 0; k < n; k++)
		if (k != bit) {
			p->control_ones |= (uint64_t)(row >> k & 1) << p->ncontrol;
			p->wire[p->ncontrol++] = k;
		}
	p->wire[p->ncontrol] = bit;
	p->nwire = (uint16_t)n;
}

static void add_step(struct design *d, struct calls *ops, unsigned n, const struct step *s)
{
	add_gate(d, ops, s->gate, s->word, s->angle);
	control_by_others(d, &ops->v[ops->n - 1], n, s->row, s->bit);
}

/* Rows p and r, which differ in one bit: entry (r, column) becomes 0. *undo: the gate that takes it back. */
static void eliminate(cplx *u, uint32_t dim, uint32_t p, uint32_t r, uint32_t column, struct step *undo)
{
	cplx *up = u + (size_t)p * dim, *ur = u + (size_t)r * dim, a = up[column], b = ur[column];
	double c = cabs(a), norm = hypot(c, cabs(b));
	bool swap = c <= NOTHING;
	cplx s = swap ? 1 : conj(b / a) * (c / norm);

	c = swap ? 0 : c / norm;
	for (uint32_t k = column; k < dim; k++) {
		cplx x = up[k], y = ur[k];

		up[k] = c * x + cplx_mul(s, y);
		ur[k] = swap ? x : c * y - cplx_mul(conj(s), x);
	}
	ur[column] = 0;
	*undo = (struct step){ .row = p, .bit = (unsigned)__builtin_ctz(p ^ r) };
	cplx lower = p < r ? conj(s) : -s; /* the entry in row 1 and column 0 of its matrix */
	double theta = 2 * atan2(cabs(s), c);
	if (swap) {
		undo->gate = GATE_PAULI;
		undo->word = PAULI_X;
	} else if (cimag(lower) == 0) {
		undo->gate = GATE_RPAULI;
		undo->word = PAULI_Y;
		undo->angle[0] = creal(lower) < 0 ? -theta : theta;
	} else {
		undo->gate = GATE_U3;
		undo->angle[0] = theta;
		undo->angle[1] = carg(lower);
		undo->angle[2] = -undo->angle[1];
	}
}

/* What takes u to a diagonal matrix back again, the last first. */
static uint32_t diagonalise(cplx *u, uint32_t dim, struct step *undo)
{
	uint32_t n = 0;

	for (uint32_t column = 0; column < dim; column++)
		for (uint32_t off = dim - 1; off; off--) {
			uint32_t r = column ^ off, p = r ^ (off & -off);

			if (r > column && cabs(u[(size_t)r * dim + column]) > NOTHING)
				eliminate(u, dim, p, r, column, &undo[n++]);
		}
	return n;
}

/* The phases of rows `row` and row + 1. */
static void add_phases(struct design *d, struct calls *ops, unsigned n, uint32_t row, double low,
	double high)
{
	struct item v[2] = {
		{ .gate = GATE_RPAULI,
			.word = 3,
			.nwire = 1,
			.angle = { exprs_const(&d->exprs, high - low) } },
		{ .gate = GATE_PHASE_ALL,
			.nwire = 1,
			.angle = { exprs_const(&d->exprs, (high + low) / 2) } },
	};
	struct apply p = { .op = APPLY_UNITARY, .layer = INDEX_NONE, .span = INDEX_NONE };

	p.matrix = design_matrix(d, "phases", 1, v, 2);
	control_by_others(d, &p, n, row, 0);
	calls_add(ops, &p);
}

void unitary_phases(struct design *d, struct calls *ops, const double *phase, unsigned n)
{
	for (uint32_t k = 0; k < 1u << n; k += 2)
		if (fabs(phase[k]) > NOTHING || fabs(phase[k + 1]) > NOTHING)
			add_phases(d, ops, n, k, phase[k], phase[k + 1]);
}

static void build_diagonal(struct design *d, struct calls *ops, const cplx *u, unsigned n)
{
	uint32_t dim = 1u << n;
	mem_auto double *phase = mem_alloc(dim, sizeof *phase);

	for (uint32_t k = 0; k < dim; k++)
		phase[k] = carg(u[(size_t)k * dim + k] * conj(u[0]));
	unitary_phases(d, ops, phase, n);
	add_phase(d, ops, carg(u[0]));
}

void unitary_build(struct design *d, struct calls *ops, const cplx *u, unsigned n)
{
	uint32_t dim = 1u << n, nstep;

	if (n == 1) {
		add_phase(d, ops, build_one(d, ops, u, 0));
		return;
	}
	mem_auto cplx *left = mem_alloc((size_t)dim * dim, sizeof *left);
	mem_auto struct step *undo = mem_alloc((size_t)dim * dim / 2, sizeof *undo);
	memcpy(left, u, (size_t)dim * dim * sizeof *left);
	nstep = diagonalise(left, dim, undo);
	if (n == 2 && nstep > 1) { /* else a gate under a control, or phases alone */
		build_two(d, ops, u);
		return;
	}
	build_diagonal(d, ops, left, n);
	while (nstep)
		add_step(d, ops, n, &undo[--nstep]);
}
