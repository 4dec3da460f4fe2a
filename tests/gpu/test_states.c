/* SPDX-License-Identifier: Apache-2.0
 * The cuda backend against the reference: every gate with controls, targets inside and outside the tile, and random programs
 * of 1 to 14 qubits, in both precisions, of one sample and of many: readouts (expectations, Pauli products, probabilities) and
 * gradients.
 *
 * test_states [few]: few of each, for a device that is slow because it checks every access. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/statevector/backend.h"
#include "tests/kernels/build.h"
#include "tests/kernels/random_program.h"

enum { NWEIGHT = 8 };
enum { X = 1, Y = 2, Z = 3 };

static bool few;

struct worst {
	double readout, dreadout;
};

/* ---- one program ---- */

static bool compare(const struct program *p, uint64_t seed, struct evaluator_options o,
	uint32_t nsample, struct worst *w)
{
	const struct evaluator_options ref = {
		.target = &target_ref, .nthread = 1, .gradient = GRADIENT_ADJOINT
	};
	struct err e = { 0, "" };
	struct apart apart;

	o.nthread = 1;
	o.gradient = GRADIENT_ADJOINT;
	o.target = target_find("cuda", NULL);
	apart = outcomes_apart(p, &o, &ref, nsample, seed, &e);
	w->readout = tap_worst(w->readout, apart.readouts);
	w->dreadout = tap_worst(w->dreadout, apart.gradients);
	if (e.text[0])
		tap_note("seed %llu: %s", (unsigned long long)seed, e.text);
	return !e.text[0];
}

/* [0]: single precision, of numbers around 1; [1]: double. */
static bool small(const struct worst *w)
{
	return w[0].readout < 3e-6 && w[0].dreadout < 3e-5 && w[1].readout < 1e-11
		&& w[1].dreadout < 1e-10;
}

static bool compare_both(const struct program *p, uint64_t seed, struct evaluator_options o,
	uint32_t nsample, struct worst *w)
{
	bool ran = true;

	for (int twice = 0; twice < 2 && ran; twice++) {
		o.precision = twice ? PRECISION_DOUBLE : PRECISION_SINGLE;
		ran = compare(p, seed, o, nsample, &w[twice]);
	}
	return ran;
}

/* ---- every gate ---- */

/* Every qubit turned away from |0>, and bound to the next. */
static void layer(struct build *b, uint32_t n, unsigned which)
{
	for (uint32_t w = 0; w < n; w++) {
		uint32_t angle = build_op(b, EXPR_MUL, build_const(b, 0.31 + 0.17 * w + 0.4 * which),
			build_weight(b, (w + which) % NWEIGHT));

		build_apply(b, 0, build_gate(b, GATE_RPAULI, (w + which) % 2 ? X : Y, &angle), 1, &w);
	}
	for (uint32_t w = 0; w < n; w++)
		build_controlled(b, 0, build_gate(b, GATE_PAULI, X, NULL), 1, 2,
			(uint32_t[]){ w, (w + 1) % n });
}

/* Applies of a gate under ncontrol controls, its first wire at every position, the others behind it at some distance. */
static struct program *gate_program(enum gate g, uint8_t word, unsigned ncontrol, uint32_t n)
{
	struct build b = build_new(NWEIGHT, 0, 1);
	unsigned nwire = gate_ntarget(g, word) + ncontrol;
	uint32_t angle[8], wire[64];

	build_wires(&b, 0, n);
	for (unsigned k = 0; k < 8; k++)
		angle[k] = build_weight(&b, k % NWEIGHT);
	layer(&b, n, 0);
	for (uint32_t at = 0; at < n; at++) {
		unsigned step = nwire < n ? 1 + at % 5 : 1;

		while (step > 1 && (n % step == 0 || nwire * step > 64))
			step--;
		for (unsigned k = 0; k < nwire; k++)
			wire[k] = (at + k * step) % n;
		for (unsigned k = 1; k < nwire; k++)
			for (unsigned j = 0; j < k; j++)
				if (wire[j] == wire[k])
					wire[k] = (wire[k] + 1) % n, j = (unsigned)-1;
		build_controlled(&b, 0, build_gate(&b, g, word, angle), ncontrol, nwire, wire);
	}
	layer(&b, n, 1);
	build_z(&b, 0, 0);
	build_z(&b, 0, n - 1);
	build_pauli(&b, 0, 1,
		&(struct pauli_term){
			0.7, 3, (struct pauli_factor[]){ { 0, X }, { n / 2, Y }, { n - 1, Z } } });
	build_probs(&b, 0, 2, (uint32_t[]){ 1, n - 1 });
	return build_done(&b);
}

static const uint8_t words[] = { X, Y, Z, X | X << 2, Z | Z << 2, Y | X << 2, X | Y << 2 | Z << 4,
	Z | Z << 2 | Z << 4 };

static bool is_family(enum gate g) { return gate_ntarget(g, X) != gate_ntarget(g, X | X << 2); }

static void test_gate(enum gate g)
{
	unsigned nword = is_family(g) ? sizeof words : 1, n = 0;
	struct worst w[2] = { 0 };
	bool ran = true;

	for (unsigned k = 0; k < nword; k++)
		for (unsigned ncontrol = 0; ncontrol < 3 && ran; ncontrol++)
			for (unsigned size = few ? 1 : 0; size < 2 && ran; size++) {
				uint8_t word = is_family(g) ? words[k] : 0;
				struct program *p;

				if (few && (k + ncontrol) % 3)
					continue;
				p = gate_program(g, word, ncontrol, size ? 13 : 6);
				ran = compare_both(p, g,
					(struct evaluator_options){ .no_fuse = true }, 1, w);
				program_free(p);
				n++;
			}
	tap_ok(ran && small(w),
		"%s: %u programs: single off by %.2g, gradients by %.2g; double by %.2g, %.2g",
		gate_row(g)->name, n, w[0].readout, w[0].dreadout, w[1].readout, w[1].dreadout);
}

/* A flip, a turn and a matrix on two and three qubits under controls on all other qubits: more than there are threads' bits. */
static void test_controls(void)
{
	struct worst w[2] = { 0 };
	bool ran = true;
	unsigned n = 0;

	for (unsigned nwire = few ? 12 : 3; nwire <= 13 && ran; nwire++)
		for (unsigned k = 0; k < 4 && ran; k++) {
			static const uint8_t word[] = { X, Y, X | Y << 2, X | Y << 2 | Y << 4 };
			unsigned ntarget = gate_ntarget(GATE_RPAULI, word[k]);
			struct program *p;

			if (ntarget + 1 > nwire || (few && k == 0))
				continue;
			p = gate_program(k ? GATE_RPAULI : GATE_PAULI, word[k], nwire - ntarget,
				nwire);
			ran = compare_both(p, nwire, (struct evaluator_options){ .no_fuse = true },
				1, w);
			program_free(p);
			n++;
		}
	tap_ok(ran && small(w),
		"controls on all other qubits: %u programs: single off by %.2g, gradients by %.2g; double by %.2g, %.2g",
		n, w[0].readout, w[0].dreadout, w[1].readout, w[1].dreadout);
}

/* ---- random programs ---- */

static struct random_shape shape_of(uint64_t seed, unsigned nwire)
{
	return (struct random_shape){ .seed = 300 + seed,
		.nwire = nwire,
		.napply = 6 + random_below(seed, 1, 40),
		.ncircuit = 1 + random_below(seed, 2, 2),
		.nweight = 5,
		.ninput = 3,
		.sample_matrices = random_below(seed, 3, 2),
		.controls = random_below(seed, 4, 2),
		.vectors = random_below(seed, 5, 3) == 0,
		.swaps = random_below(seed, 6, 2),
		.wide = random_below(seed, 7, 2),
		.diagonals = random_below(seed, 8, 3) == 0,
		.permutes = random_below(seed, 9, 4) == 0,
		.nz = random_below(seed, 11, 3) ? random_below(seed, 11, 6) : 150 };
}

static void test_random(unsigned nwire, unsigned nprogram)
{
	struct worst w[2] = { 0 };
	bool ran = true;

	for (unsigned k = 0; k < nprogram && ran; k++) {
		uint64_t seed = 100 * nwire + k;
		struct random_shape r = shape_of(seed, nwire);
		struct program *p = random_program(&r);
		struct evaluator_options o = { .random_plan = random_below(seed, 15, 4),
			.no_fuse = random_below(seed, 16, 3) == 0,
			.shape = SHAPE_STATE + random_below(seed, 17, 2) };

		ran = compare_both(p, seed, o, 1 + random_below(seed, 18, nwire < 12 ? 6 : 3), w);
		program_free(p);
	}
	tap_ok(ran && small(w),
		"%u random programs of %u qubits: single off by %.2g, gradients by %.2g; double by %.2g, %.2g",
		nprogram, nwire, w[0].readout, w[0].dreadout, w[1].readout, w[1].dreadout);
}

/* More samples than a unit has, the last unit short; each with matrices of its own, of which some are differentiated. */
static void test_units(void)
{
	struct worst w[2] = { 0 };
	bool ran = true;

	for (uint64_t seed = 1; seed <= 4 && ran; seed++) {
		struct random_shape r = shape_of(seed, 2 + (unsigned)seed % 3);
		struct program *p;

		r.sample_matrices = true;
		p = random_program(&r);
		ran = compare_both(p, seed, (struct evaluator_options){ 0 }, 1100, w);
		program_free(p);
	}
	for (int twice = 0; twice < 2; twice++)
		w[twice].dreadout /= sqrt(1100); /* sums over the samples */
	tap_ok(ran && small(w),
		"1,100 samples: single off by %.2g, gradients by %.2g; double by %.2g, %.2g",
		w[0].readout, w[0].dreadout, w[1].readout, w[1].dreadout);
}

int main(int argc, char **argv)
{
	const struct target *t = target_find("cuda", NULL);
	const char *obstacle = t ? target_obstacle(t) : "this build has no CUDA";

	if (obstacle)
		tap_skip_all(obstacle);
	few = argc > 1 && !strcmp(argv[1], "few");
	for (enum gate g = GATE_NONE + 1; g < GATE_COUNT; g++)
		if (!gate_row(g)->ncontrol && gate_ntarget(g, X)
			&& gate_ntarget(g, X) <= MATRIX_TARGETS_MAX)
			test_gate(g);
	test_controls();
	if (!few)
		test_units();
	for (unsigned n = 1; n <= (few ? 13 : 14); n++)
		test_random(n, few ? 1 : n < 12 ? 8 : 4);
	return tap_done();
}
