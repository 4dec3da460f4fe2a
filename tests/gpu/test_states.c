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
	double most; /* component of a gradient */
};

/* ---- one program ---- */

/* [0]: single precision, of numbers around 1; [1]: double. Gradients that are all 0 would show nothing. */
static bool small(const struct worst *w)
{
	return (few || w[1].most > 1e-3) && w[0].readout < 3e-6 && w[0].dreadout < 3e-5
		&& w[1].readout < 1e-11 && w[1].dreadout < 1e-10;
}

/* In both precisions against what the reference has in double; o: of the device. */
static bool compare_both(const struct program *p, uint64_t seed, struct evaluator_options o,
	uint32_t nsample, struct worst *w)
{
	struct outcome want = outcome_new(p, nsample), got = outcome_new(p, nsample);
	double *weight = mem_alloc(p->nweight, sizeof *weight),
	       *input = mem_alloc((size_t)nsample * p->ninput, sizeof *input);
	const double zeros[64] = { 0 };
	struct err e = { 0, "" };
	bool ran = true;

	if (p->nweight > sizeof zeros / sizeof *zeros)
		tap_bail("more weights than this test compares");
	random_numbers(seed, 2, p->nweight, weight);
	random_numbers(seed + 1, 2, (size_t)nsample * p->ninput, input);
	o.nthread = 1;
	o.target = &target_ref;
	ran = !outcome_of(p, &o, nsample, weight, input, &want, &e);
	o.target = target_find("cuda", NULL);
	for (int twice = o.shots > 0; twice < 2 && ran; twice++) {
		o.precision = twice ? PRECISION_DOUBLE : PRECISION_SINGLE;
		ran = !outcome_of(p, &o, nsample, weight, input, &got, &e);
		w[twice].readout = tap_worst(w[twice].readout,
			largest_difference(got.readout, want.readout, (size_t)nsample * p->nreadout));
		w[twice].most = fmax(w[twice].most,
			o.gradient == GRADIENT_NONE
				? 1
				: largest_difference(want.gradient, zeros, p->nweight));
		w[twice].dreadout = tap_worst(w[twice].dreadout,
			largest_difference(got.gradient, want.gradient, p->nweight) / sqrt(nsample));
	}
	if (!ran)
		tap_note("seed %llu: %s", (unsigned long long)seed, e.text);
	outcome_release(&want);
	outcome_release(&got);
	free(weight);
	free(input);
	return ran;
}

static void report(bool ran, const struct worst *w, const char *what, unsigned n)
{
	tap_ok(ran && small(w),
		"%s, %u programs: single off by %.2g, gradients by %.2g; double by %.2g, %.2g",
		what, n, w[0].readout, w[0].dreadout, w[1].readout, w[1].dreadout);
}

static const struct evaluator_options plain = { .gradient = GRADIENT_ADJOINT, .no_fuse = true };

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

/* A gate before it has as many targets and the same flags, and so a matrix for the same code. */
static bool is_alike(enum gate g)
{
	enum gate other = GATE_NONE + 1;

	while (gate_row(other)->ncontrol || gate_ntarget(other, X) != gate_ntarget(g, X)
		|| gate_flags(other, X) != gate_flags(g, X))
		other++;
	return other < g;
}

/* Each word of it under no control, one and two, on 6 qubits or 13 by turns; few: words of one letter, two and three. One that is
 * like another has no code of its own: one of these programs. */
static void test_gate(enum gate g)
{
	unsigned nword = is_family(g) ? sizeof words : 1, n = 0;
	bool alike = is_alike(g);
	struct worst w[2] = { 0 };
	bool ran = true;

	for (unsigned k = 0; k < nword; k++)
		for (unsigned ncontrol = 0; ncontrol < 3 && ran; ncontrol++)
			for (unsigned size = few ? 1 : 0; size < 2 && ran; size++) {
				uint8_t word = is_family(g) ? words[k] : 0;
				struct program *p;

				if (few ? k != 3 * ncontrol : (g + k + ncontrol + size) % 2)
					continue;
				if (alike && ncontrol != g / 2 % 3)
					continue;
				p = gate_program(g, word, ncontrol, size ? 13 : 6);
				ran = compare_both(p, g, plain, 1, w);
				program_free(p);
				n++;
			}
	report(ran, w, gate_row(g)->name, n);
}

/* A flip, a turn and a matrix on two and three qubits under controls on all other qubits: more than there are threads' bits. */
static void test_controls(void)
{
	struct worst w[2] = { 0 };
	bool ran = true;
	unsigned n = 0;

	for (unsigned nwire = few ? 13 : 3; nwire <= 13 && ran; nwire++)
		for (unsigned k = 0; k < 4 && ran; k++) {
			static const uint8_t word[] = { X, Y, X | Y << 2, X | Y << 2 | Y << 4 };
			unsigned ntarget = gate_ntarget(GATE_RPAULI, word[k]);
			struct program *p;

			if (ntarget + 1 > nwire || (few && k == 0))
				continue;
			p = gate_program(k ? GATE_RPAULI : GATE_PAULI, word[k], nwire - ntarget,
				nwire);
			ran = compare_both(p, nwire, plain, 1, w);
			program_free(p);
			n++;
		}
	report(ran, w, "controls on all other qubits", n);
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
		struct evaluator_options o = { .gradient = GRADIENT_ADJOINT,
			.random_plan = random_below(seed, 15, 4),
			.no_fuse = random_below(seed, 16, 3) == 0,
			.shape = SHAPE_PER_THREAD + random_below(seed, 17, 2) };

		ran = compare_both(p, seed, o, 1 + random_below(seed, 18, nwire < 12 ? 6 : 3), w);
		program_free(p);
	}
	report(ran, w, "at random", nprogram);
}

/* Losses whose gradients a device makes itself: of sums of products of Z, each term, in short units and in whole ones. */
static void test_losses(unsigned nwire, unsigned nprogram)
{
	struct worst w[2] = { 0 };
	bool ran = true;

	for (unsigned k = 0; k < nprogram && ran; k++) {
		uint64_t seed = 700 + 100 * nwire + k;
		struct random_shape r = shape_of(seed, nwire);
		struct evaluator_options o = plain;
		struct program *p;

		r.ncircuit = 1;
		r.only_z = r.no_probs = true;
		p = random_program(&r);
		o.terms = (struct loss_terms){ 1 + (k + nwire) % (LOSS_TERM_COUNT - 1), p->nreadout,
			0.4 };
		ran = compare_both(p, seed, o, 1 + random_below(seed, 18, nwire < 12 ? 40 : 3), w);
		program_free(p);
	}
	report(ran, w, "losses of terms", nprogram);
}

/* ---- features, of small states and of large ones ---- */

static struct random_shape basic(uint64_t seed, unsigned nwire)
{
	return (struct random_shape){ .seed = seed,
		.nwire = nwire,
		.napply = 16,
		.ncircuit = 1,
		.nweight = 4,
		.ninput = 3,
		.sample_matrices = true,
		.controls = true };
}

/* Probabilities of all qubits, of 11 and of one, in that order; and of the bins' order. */
static struct program *probs_program(unsigned nwire)
{
	struct build b = build_new(NWEIGHT, 0, 1);
	uint32_t wire[64];

	build_wires(&b, 0, nwire);
	layer(&b, nwire, 0);
	for (uint32_t k = 0; k < nwire; k++)
		wire[k] = k * 5 % nwire;
	build_probs(&b, 0, nwire, wire);
	build_probs(&b, 0, nwire < 11 ? 2 : 11, wire + 1);
	build_probs(&b, 0, 1, wire + 2);
	build_z(&b, 0, 0);
	return build_done(&b);
}

/* Rotations by angles of each sample under controls on all other qubits, which leave registers to bits that number samples. */
static struct program *encoded_program(unsigned nwire)
{
	static const uint8_t word[] = { Y, X | Y << 2, Y | X << 2 | X << 4, Z, Z | Z << 2 };
	struct build b = build_new(NWEIGHT, 3, 1);
	uint32_t wire[64];

	build_wires(&b, 0, nwire);
	layer(&b, nwire, 0);
	for (uint32_t k = 0; k < 2 * sizeof word; k++) {
		uint8_t of = word[k % sizeof word];
		uint32_t angle = build_op(&b, EXPR_MUL, build_input(&b, k % 3),
			build_weight(&b, k % NWEIGHT));

		for (uint32_t w = 0; w < nwire; w++)
			wire[w] = (3 * k + w) % nwire;
		build_controlled(&b, 0, build_gate(&b, GATE_RPAULI, of, &angle),
			nwire - gate_ntarget(GATE_RPAULI, of), nwire, wire);
	}
	layer(&b, nwire, 1);
	build_z(&b, 0, 0);
	build_z(&b, 0, nwire - 1);
	return build_done(&b);
}

/* Products that flip two neighbours each, which several launches read of a large state, and
 * products that flip all qubits. */
static struct program *products_program(unsigned nwire)
{
	struct build b = build_new(NWEIGHT, 0, 1);
	struct pauli_factor all[64], pair[64][2];
	struct pauli_term term[64];

	build_wires(&b, 0, nwire);
	layer(&b, nwire, 0);
	for (uint32_t w = 0; w < nwire; w++)
		all[w] = (struct pauli_factor){ w, w % 2 ? X : Y };
	for (uint32_t w = 0; w + 1 < nwire; w++) {
		pair[w][0] = (struct pauli_factor){ w, w % 3 ? X : Y };
		pair[w][1] = (struct pauli_factor){ w + 1, w % 2 ? X : Y };
		term[w] = (struct pauli_term){ 0.1 * (w + 1), 2, pair[w] };
	}
	term[nwire - 1] = (struct pauli_term){ -0.7, nwire, all };
	build_pauli(&b, 0, nwire, term);
	build_pauli(&b, 0, 1, &term[nwire - 1]);
	build_z(&b, 0, nwire - 1);
	return build_done(&b);
}

/* Weights behind everything else: launches back change no state, and sums of all pairs of small circuits are more than one has. A
 * wire without gates. */
static struct program *late_program(unsigned nwire)
{
	struct build b = build_new(NWEIGHT, 0, 1);
	uint32_t half = build_const(&b, 0.5), turn = build_gate(&b, GATE_RPAULI, X, &half), angle;

	build_wires(&b, 0, nwire + 1);
	for (uint32_t w = 0; w < nwire; w++)
		build_apply(&b, 0, turn, 1, &w);
	for (uint32_t w = 0; w < nwire; w++)
		build_controlled(&b, 0, build_gate(&b, GATE_PAULI, X, NULL), 1, 2,
			(uint32_t[]){ w, (w + 1) % nwire });
	for (uint32_t w = 0; w < nwire; w++) {
		angle = build_weight(&b, w % NWEIGHT);
		for (uint32_t k = 0; k < w && nwire < 10; k++)
			build_apply(&b, 0, build_gate(&b, GATE_RPAULI, Z | Z << 2, &angle), 2,
				(uint32_t[]){ k, w });
		build_apply(&b, 0, build_gate(&b, GATE_RPAULI, Y, &angle), 1, &w);
	}
	for (uint32_t w = 0; w <= nwire; w++)
		build_z(&b, 0, w);
	if (nwire % 2)
		build_pauli(&b, 0, 1,
			&(struct pauli_term){ 1, 1, (struct pauli_factor[]){ { 0, X } } });
	return build_done(&b);
}

/* Wires that become something else than |0> one after the other, and some that never do: tiles are filled up with those. */
static struct program *chain_program(unsigned nwire)
{
	struct build b = build_new(NWEIGHT, 0, 1);
	uint32_t angle = build_weight(&b, 0), flip = build_gate(&b, GATE_PAULI, X, NULL), before = 5;

	build_wires(&b, 0, nwire);
	build_controlled(&b, 0, flip, 1, 2, (uint32_t[]){ 0, 1 });
	build_apply(&b, 0, build_gate(&b, GATE_RPAULI, Y, &angle), 1, &before);
	for (uint32_t w = 7; w < nwire; w++) {
		build_controlled(&b, 0, flip, 1, 2, (uint32_t[]){ before, w });
		before = w;
	}
	build_z(&b, 0, 0);
	build_z(&b, 0, nwire - 1);
	return build_done(&b);
}

/* As many steps as make a state that is normalised before it is read. */
static struct program *deep_program(unsigned nwire)
{
	enum { STEPS = 1024 };
	struct build b = build_new(NWEIGHT, 0, 1);
	uint32_t turn[NWEIGHT], flip = build_gate(&b, GATE_PAULI, X, NULL);

	for (unsigned k = 0; k < NWEIGHT; k++)
		turn[k] = build_gate(&b, GATE_RPAULI, k % 2 ? X : Y,
			(uint32_t[]){ build_weight(&b, k) });
	build_wires(&b, 0, nwire);
	for (uint32_t k = 0; k < STEPS / 2; k++) {
		uint32_t w = k % nwire;

		build_apply(&b, 0, turn[k % NWEIGHT], 1, &w);
		build_controlled(&b, 0, flip, 1, 2, (uint32_t[]){ w, (w + 1) % nwire });
	}
	build_z(&b, 0, 0);
	build_probs(&b, 0, 2, (uint32_t[]){ 1, 0 });
	return build_done(&b);
}

struct feature {
	const char *name;
	struct program *(*program)(unsigned nwire); /* or NULL: a random one of this */
	bool vectors, frozen, wide, swaps;
	unsigned ncircuit, nz;
	enum gradient_method gradient;
	uint32_t shots, nsample;
	unsigned small, large; /* qubits; 0: left out */
	bool slow;             /* many launches */
};

static const struct feature features[] = {
	{ .gradient = GRADIENT_ADJOINT,
		.name = "products that flip many qubits",
		.program = products_program,
		.nsample = 1,
		.small = 4,
		.large = 14 },
	{ .gradient = GRADIENT_ADJOINT,
		.name = "amplitudes and input states",
		.vectors = true,
		.nsample = 3,
		.small = 5,
		.large = 13 },
	{ .gradient = GRADIENT_ADJOINT,
		.name = "probabilities of up to 8,192 values",
		.program = probs_program,
		.nsample = 1,
		.small = 4,
		.large = 13 },
	{ .gradient = GRADIENT_ADJOINT,
		.name = "four circuits",
		.ncircuit = 4,
		.nsample = 2,
		.small = 5,
		.large = 13 },
	{ .gradient = GRADIENT_ADJOINT,
		.name = "frozen weights",
		.frozen = true,
		.swaps = true,
		.nsample = 2,
		.small = 5,
		.large = 13 },
	{ .gradient = GRADIENT_ADJOINT,
		.name = "300 Pauli products",
		.nz = 150,
		.nsample = 2,
		.small = 6,
		.large = 13 },
	{ .gradient = GRADIENT_ADJOINT,
		.name = "matrices on three qubits",
		.wide = true,
		.nsample = 2,
		.small = 5,
		.large = 13 },
	{ .name = "parameter shift",
		.gradient = GRADIENT_SHIFT,
		.nsample = 1,
		.small = 3,
		.large = 13,
		.slow = true },
	{ .name = "shots",
		.gradient = GRADIENT_NONE,
		.shots = 50,
		.vectors = true,
		.nsample = 2,
		.small = 4,
		.large = 12 },
	{ .gradient = GRADIENT_ADJOINT,
		.name = "more samples than a unit has",
		.nsample = 1030,
		.small = 3,
		.slow = true },
	{ .gradient = GRADIENT_ADJOINT,
		.name = "a short unit of large states",
		.vectors = true,
		.nsample = 9,
		.large = 12 },
	{ .gradient = GRADIENT_ADJOINT,
		.name = "weights behind everything else",
		.program = late_program,
		.nsample = 1,
		.small = 9,
		.large = 14 },
	{ .gradient = GRADIENT_ADJOINT,
		.name = "wires one after the other",
		.program = chain_program,
		.nsample = 1,
		.small = 8,
		.large = 14 },
	{ .gradient = GRADIENT_ADJOINT,
		.name = "1,024 steps",
		.program = deep_program,
		.nsample = 1,
		.small = 4,
		.slow = true },
	{ .gradient = GRADIENT_ADJOINT,
		.name = "samples in registers",
		.program = encoded_program,
		.nsample = 32,
		.small = 7 },
};

static void test_feature(const struct feature *f)
{
	struct evaluator_options o = {
		.gradient = f->gradient, .no_fuse = f->program != NULL, .shots = f->shots
	};
	struct worst w[2] = { 0 };
	bool ran = true;
	unsigned n = 0;

	for (unsigned k = few && f->large ? 3 : 0; k < 4 && ran; k++) {
		unsigned nwire = k / 2 ? f->large : f->small;
		struct random_shape r = basic(200 + 4 * (uint64_t)(f - features) + k, nwire);
		struct program *p;

		if (!nwire || ((f->program || f->slow) && k % 2 == 0))
			continue;
		r.vectors = f->vectors;
		r.frozen = f->frozen;
		r.wide = f->wide;
		r.swaps = f->swaps;
		r.ncircuit = f->ncircuit ? f->ncircuit : 1;
		r.nz = f->nz;
		p = f->program ? f->program(nwire) : random_program(&r);
		ran = compare_both(p, r.seed, o, f->nsample, w);
		program_free(p);
		n++;
	}
	report(ran, w, f->name, n);
}

int main(int argc, char **argv)
{
	const struct target *t = target_find("cuda", NULL);
	const char *obstacle = t ? target_obstacle(t) : "this build has no CUDA";

	if (obstacle)
		tap_skip_all("%s", obstacle);
	few = argc > 1 && !strcmp(argv[1], "few");
	for (enum gate g = GATE_NONE + 1; g < GATE_COUNT; g++)
		if (!gate_row(g)->ncontrol && gate_ntarget(g, X)
			&& gate_ntarget(g, X) <= MATRIX_TARGETS_MAX && !(few && is_alike(g)))
			test_gate(g);
	test_controls();
	for (size_t k = 0; k < sizeof features / sizeof *features; k++)
		if (!few || !features[k].slow)
			test_feature(&features[k]);
	for (unsigned n = 1; n <= (few ? 13 : 14); n++)
		test_random(n, few ? 1 : n < 10 ? 8 : 4);
	for (unsigned n = 1; n <= 13; n += few ? 6 : 2)
		test_losses(n, few ? 1 : LOSS_TERM_COUNT - 1);
	return tap_done();
}
