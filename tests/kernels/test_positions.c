/* SPDX-License-Identifier: Apache-2.0
 * Every family of kernels on every target and precision, its qubits in every position of one state
 * (in a lane, in a row of the block, outside the block), against the reference.
 *
 * test_positions [device]: on that device alone, in an eighth of the positions, or in one, of a family that the device computes
 * as it does a dense matrix or a diagonal one: by entries, of which some are 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tests/kernels/build.h"
#include "tests/kernels/interpreter.h"
#include "tests/kernels/random_program.h"

enum { NWIRE = 8, NWEIGHT = 8, PLANS = 2, TARGETS_MAX = 8 };
enum { X = 1, Y = 2, Z = 3, XX = 0x5, YY = 0xA, ZZ = 0xF, ZZZ = 0x3F };

static const struct target *device; /* or NULL: each target of this machine's processor */

static const struct target *target_number(unsigned k)
{
	return !device ? tested_target(k) : k ? NULL : device;
}

/* ---- families ---- */

/* Items of a matrix under construction. */
struct items { struct item item[8]; uint32_t n; };

static struct item *add(struct items *m, enum gate g, uint8_t word, unsigned nwire, const uint8_t *wire)
{
	struct item *it = &m->item[m->n++];

	*it = (struct item){ .gate = g, .word = word, .nwire = (uint8_t)nwire };
	memcpy(it->wire, wire, nwire);
	return it;
}

static void turn(struct items *m, struct build *b, uint8_t word, unsigned nwire, const uint8_t *wire, uint32_t weight)
{
	add(m, GATE_RPAULI, word, nwire, wire)->angle[0] = build_weight(b, weight);
}

/* x on the last of the wires where the others are 1. */
static void flip(struct items *m, unsigned nwire, const uint8_t *wire)
{
	struct item *it = add(m, GATE_PAULI, X, nwire, wire);

	it->ncontrol = (uint8_t)(nwire - 1);
	it->control_ones = (uint8_t)((1u << (nwire - 1)) - 1);
}

static const uint8_t at[3] = { 0, 1, 2 };

static void dense(struct build *b, unsigned n, struct items *m)
{
	for (uint8_t k = 0; k < n; k++)
		turn(m, b, k % 2 ? Y : X, 1, &at[k], k);
	for (uint8_t k = 0; k + 1u < n; k++)
		turn(m, b, k % 2 ? YY : XX, 2, &at[k], 3);
	turn(m, b, Z, 1, &at[0], 4);
}

static void real(struct build *b, unsigned n, struct items *m)
{
	for (uint8_t k = 0; k < n; k++)
		turn(m, b, Y, 1, &at[k], k);
	for (uint8_t k = 0; k + 1u < n; k++)
		flip(m, 2, &at[k]);
	turn(m, b, Y, 1, &at[n - 1], 3);
}

/* Entries are real or imaginary by the parity of the bits that they turn. */
static void parity(struct build *b, unsigned n, struct items *m)
{
	for (uint8_t k = 0; k < n; k++)
		turn(m, b, X, 1, &at[k], k);
	for (uint8_t k = 0; k + 1u < n; k++)
		turn(m, b, X | Z << 2, 2, &at[k], 3);
	turn(m, b, X, 1, &at[n - 1], 4);
}

static void diagonal(struct build *b, unsigned n, struct items *m)
{
	turn(m, b, n == 1 ? Z : n == 2 ? ZZ : ZZZ, n, at, 0);
	turn(m, b, Z, 1, &at[n - 1], 1);
}

/* One phase alone is not 1. */
static void phase(struct build *b, unsigned n, struct items *m)
{
	struct item *it = add(m, GATE_P, 0, n, at);

	it->ncontrol = (uint8_t)(n - 1);
	it->control_ones = (uint8_t)((1u << (n - 1)) - 1);
	it->angle[0] = build_weight(b, 0);
}

/* A cycle of all 2^n. */
static void permutation(struct build *b, unsigned n, struct items *m)
{
	(void)b;
	for (unsigned k = n; k > 0; k--)
		flip(m, k, at);
}

/* A permutation with factors: no bits change places without them. */
static void signs(struct build *b, unsigned n, struct items *m)
{
	(void)b;
	for (uint8_t k = 0; k < n; k++)
		add(m, GATE_PAULI, k ? X : Y, 1, &at[k]);
}

static const struct family {
	const char *name;
	void (*make)(struct build *b, unsigned n, struct items *m);
	unsigned ntarget, ncontrol;
} family[] = {
	{ "dense, 1 qubit", dense, 1, 0 }, { "dense, 2 qubits", dense, 2, 0 }, { "dense, 3 qubits", dense, 3, 0 },
	{ "real, 1 qubit", real, 1, 0 }, { "real, 2 qubits", real, 2, 0 }, { "real, 3 qubits", real, 3, 0 },
	{ "parity, 1 qubit", parity, 1, 0 }, { "parity, 2 qubits", parity, 2, 0 }, { "parity, 3 qubits", parity, 3, 0 },
	{ "diagonal, 1 qubit", diagonal, 1, 0 }, { "diagonal, 2 qubits", diagonal, 2, 0 }, { "diagonal, 3 qubits", diagonal, 3, 0 },
	{ "one phase, 1 qubit", phase, 1, 0 }, { "one phase, 2 qubits", phase, 2, 0 }, { "one phase, 3 qubits", phase, 3, 0 },
	{ "permutation, 1 qubit", permutation, 1, 0 }, { "permutation, 2 qubits", permutation, 2, 0 },
	{ "permutation, 3 qubits", permutation, 3, 0 }, { "permutation with factors, 1 qubit", signs, 1, 0 },
	{ "permutation with factors, 3 qubits", signs, 3, 0 },
	{ "dense, 1 qubit, 1 control", dense, 1, 1 }, { "dense, 2 qubits, 1 control", dense, 2, 1 },
	{ "dense, 1 qubit, 2 controls", dense, 1, 2 }, { "real, 2 qubits, 1 control", real, 2, 1 },
	{ "parity, 2 qubits, 1 control", parity, 2, 1 },
	{ "diagonal, 2 qubits, 1 control", diagonal, 2, 1 }, { "permutation, 1 qubit, 1 control", permutation, 1, 1 },
	{ "permutation, 1 qubit, 2 controls", permutation, 1, 2 }, { "permutation, 2 qubits, 1 control", permutation, 2, 1 },
};
enum { NFAMILY = sizeof family / sizeof *family };

/* ---- programs ---- */

/* Every qubit turned away from |0> by another angle, and each bound to the next: a state without zeros. */
static void layer(struct build *b, unsigned which)
{
	for (uint32_t w = 0; w < NWIRE; w++) {
		uint32_t angle = build_op(b, EXPR_MUL, build_const(b, 0.31 + 0.17 * w + 0.4 * which), build_weight(b, 5 + (w + which) % 3));

		build_apply(b, 0, build_gate(b, GATE_RPAULI, (w + which) % 2 ? X : Y, &angle), 1, &w);
		build_apply(b, 0, build_gate(b, GATE_RPAULI, Z, &angle), 1, &w);
	}
	for (uint32_t w = 0; w < NWIRE; w++)
		build_controlled(b, 0, build_gate(b, GATE_PAULI, X, NULL), 1, 2, (uint32_t[]){ w, (w + 1) % NWIRE });
}

/* The family's step on these wires (controls first) between two layers. */
static struct program *program_of(const struct family *f, const uint32_t *wire)
{
	struct build b = build_new(NWEIGHT, 0, 1);
	struct items m = { .n = 0 };

	build_wires(&b, 0, NWIRE);
	f->make(&b, f->ntarget, &m);
	layer(&b, 0);
	build_controlled(&b, 0, build_matrix(&b, f->ntarget, m.n, m.item), f->ncontrol, f->ncontrol + f->ntarget, wire);
	layer(&b, 1);
	for (uint32_t w = 0; w < NWIRE; w++)
		build_z(&b, 0, w);
	build_pauli(&b, 0, 1, &(struct pauli_term){ 0.7, 3, (struct pauli_factor[]){ { 0, 1 }, { 3, 2 }, { 7, 3 } } });
	build_probs(&b, 0, 2, (uint32_t[]){ wire[0], (wire[0] + 5) % NWIRE });
	return build_done(&b);
}

enum { TRIES = 4 * NWIRE };
/* Wires of try `t` of a family: its first wire is at each position, the others near and far, in either order. */
static bool wires_of(unsigned nwire, unsigned t, uint32_t *wire)
{
	static const uint8_t step[][2] = { { 1, 2 }, { 7, 3 }, { 4, 6 }, { 5, 1 } };
	unsigned set = t / NWIRE;

	if (set >= (nwire == 1 ? 1 : sizeof step / sizeof *step))
		return false;
	wire[0] = t % NWIRE;
	wire[1] = (wire[0] + step[set][0]) % NWIRE;
	wire[2] = (wire[0] + step[set][1]) % NWIRE;
	return true;
}

/* ---- against ref ---- */

struct worst {
	double readout, dreadout;
};

/* One program by whole and by random stages (small blocks, so that bits lie outside). */
static bool compare(const struct program *p, const double *weight, const struct outcome *want, struct evaluator_options o, struct worst *w)
{
	struct outcome got = outcome_new(p, 1);
	struct err e = { 0, "" };
	bool ran = true;

	for (unsigned plan = 0; plan < PLANS && ran; plan++) {
		o.random_plan = plan ? 40 + plan : 0;
		o.no_fuse = true;
		ran = !outcome_of(p, &o, 1, weight, weight, &got, &e);
		w->readout = tap_worst(w->readout, largest_difference(got.readout, want->readout, p->nreadout));
		w->dreadout = tap_worst(w->dreadout,
			largest_difference(got.gradient, want->gradient, p->nweight));
	}
	if (!ran)
		tap_note("%s", e.text);
	outcome_release(&got);
	return ran;
}

static void test_family(const struct family *f)
{
	unsigned every = f->make == dense || f->make == diagonal ? 8 : TRIES;
	struct worst worst[TARGETS_MAX][2] = { 0 };
	const struct target *target;
	double weight[NWEIGHT];
	uint32_t wire[3];
	unsigned n = 0;
	bool ran = true;

	random_numbers(7, 2, NWEIGHT, weight);
	for (unsigned t = device ? (unsigned)(f - family) % 8 : 0;
		ran && wires_of(f->ncontrol + f->ntarget, t, wire); t += device ? every : 1, n++) {
		struct evaluator_options ref = { .target = &target_ref, .nthread = 1, .gradient = GRADIENT_ADJOINT };
		struct program *p = program_of(f, wire);
		struct outcome want = outcome_new(p, 1);
		struct err e = { 0, "" };

		ran = !outcome_of(p, &ref, 1, weight, weight, &want, &e);
		for (unsigned k = 0; (target = target_number(k)) && ran; k++)
			for (int precision = target_can(target, TARGET_SINGLE) ? PRECISION_SINGLE
									       : PRECISION_DOUBLE;
				precision <= PRECISION_DOUBLE && ran; precision++) {
				struct evaluator_options o = { .nthread = 1,
					.gradient = GRADIENT_ADJOINT,
					.target = target,
					.precision = (enum precision)precision,
					.shape = t % 2 ? SHAPE_PER_THREAD : SHAPE_SHARED };

				ran = compare(p, weight, &want, o,
					&worst[k][precision == PRECISION_DOUBLE]);
			}
		outcome_release(&want);
		program_free(p);
	}
	for (unsigned k = 0; (target = target_number(k)); k++) {
		const struct worst *w = worst[k];

		tap_ok(ran && n >= (device ? 1 : NWIRE) && w[0].readout < 2e-6 && w[0].dreadout < 5e-5
				&& w[1].readout < 1e-14 && w[1].dreadout < 1e-12,
			"%s, %s: %u places: single off by %.2g, gradients by %.2g; double by %.2g, %.2g",
			f->name, target->kernels, n, w[0].readout, w[0].dreadout, w[1].readout,
			w[1].dreadout);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		device = tested_device(argc, argv);
	for (unsigned k = 0; k < NFAMILY; k++)
		test_family(&family[k]);
	return tap_done();
}
