/* SPDX-License-Identifier: Apache-2.0
 * Where the bits of the index lie in a state, stage by stage: nothing of it shows in what comes out, places stay within the
 * rows of a stage's blocks, and blocks of large states are made of long runs. */
#include <math.h>
#include <stdlib.h>

#include "runtime/exec/statevector/cpu/cpu_target.h"
#include "runtime/exec/exact_optimisation.h"
#include "runtime/exec/statevector/plan/plan_stage.h"
#include "tests/kernels/build.h"
#include "tests/kernels/random_program.h"

enum { NSAMPLE = 3, NPROGRAM = 400 };

/* ---- against the reference ---- */

static struct random_shape shape_of(uint64_t seed)
{
	return (struct random_shape){ .seed = 7000 + seed,
		.nwire = 4 + random_below(seed, 0, 8),
		.napply = 6 + random_below(seed, 1, 30),
		.ncircuit = 1 + random_below(seed, 2, 2),
		.nweight = 4,
		.ninput = 3,
		.sample_matrices = random_below(seed, 3, 2),
		.controls = random_below(seed, 4, 2),
		.vectors = random_below(seed, 5, 4) == 0,
		.swaps = random_below(seed, 6, 2),
		.wide = random_below(seed, 7, 2),
		.diagonals = random_below(seed, 8, 3) == 0,
		.permutes = random_below(seed, 9, 3) == 0,
		.only_z = random_below(seed, 10, 2),
		.no_probs = random_below(seed, 18, 2),
		.nz = random_below(seed, 11, 6) };
}

static struct evaluator_options options_of(uint64_t seed)
{
	return (struct evaluator_options){ .nthread = 1 + (random_below(seed, 12, 8) == 0),
		.shape = SHAPE_PER_THREAD + random_below(seed, 13, 2),
		.precision = PRECISION_DOUBLE,
		.target = random_cpu_target(seed, 14),
		.random_plan = random_below(seed, 15, 4),
		.gradient = GRADIENT_ADJOINT,
		.no_fuse = random_below(seed, 16, 3) == 0,
		.optimisations_always = true,
		.optimisations =
			random_below(seed, 17, 2) ? OPTIMISATION_NONE : OPTIMISATION_BATCH_RANK };
}

/* The amplitudes of circuit 0, in memory of the caller's to free; NULL where it fails. */
static double *amplitudes(const struct program *p, const struct evaluator_options *with,
	uint64_t seed, struct err *e)
{
	struct evaluator_options o = *with;
	struct evaluator *ev = NULL;
	double *weight = mem_alloc(p->nweight, sizeof *weight),
	       *input = mem_alloc(p->ninput, sizeof *input);
	double *psi = mem_alloc((size_t)2 << p->circuit[0].nwire, sizeof *psi);

	o.gradient = GRADIENT_NONE;
	o.optimisations = OPTIMISATION_NONE;
	random_numbers(seed, 2, p->nweight, weight);
	random_numbers(seed + 1, 2, p->ninput, input);
	if (evaluator_new(p, &o, &ev, e) || evaluator_weights(ev, weight, e)
		|| evaluator_state(ev, 0, input, (cplx *)psi, e)) {
		free(psi);
		psi = NULL;
	}
	evaluator_free(ev);
	free(weight);
	free(input);
	return psi;
}

static double states_apart(const struct program *p, const struct evaluator_options *a,
	const struct evaluator_options *b, uint64_t seed, struct err *e)
{
	double *one = amplitudes(p, a, seed, e), *other = one ? amplitudes(p, b, seed, e) : NULL;
	double apart =
		other ? largest_difference(one, other, (size_t)2 << p->circuit[0].nwire) : HUGE_VAL;

	free(one);
	free(other);
	return apart;
}

static void test_random(void)
{
	const struct evaluator_options ref = {
		.target = &target_ref, .nthread = 1, .gradient = GRADIENT_ADJOINT
	};
	unsigned wrong = 0;

	for (uint64_t seed = 1; seed <= NPROGRAM; seed++) {
		const struct random_shape r = shape_of(seed);
		const struct evaluator_options o = options_of(seed);
		struct program *p = random_program(&r);
		struct err e = { 0 };
		struct apart apart = outcomes_apart(p, &o, &ref, NSAMPLE, seed, &e);
		double state = states_apart(p, &o, &ref, seed, &e);

		if (!(apart.readouts < 1e-11 && apart.gradients < 1e-10 && state < 1e-12)
			&& wrong++ < 5)
			tap_note("circuit %llu: readouts differ by %.1e, gradients by %.1e, amplitudes by %.1e %s",
				(unsigned long long)seed, apart.readouts, apart.gradients, state,
				e.text);
		program_free(p);
	}
	tap_ok(wrong == 0, "%d random circuits in stages, %u of them otherwise than the reference",
		NPROGRAM, wrong);
}

/* ---- the places themselves ---- */

static uint64_t bit(unsigned b) { return UINT64_C(1) << b; }

static uint64_t local_of(const struct plan_stage *s)
{
	uint64_t local = 0;

	for (unsigned k = 0; k < s->nlocal; k++)
		local |= bit(s->local[k]);
	return local;
}

/* Bits that are rows of the stage's blocks. */
static uint64_t rows_of(const struct plan_stage *s, unsigned nlane)
{
	uint64_t rows = 0;

	for (unsigned k = 0; k < s->nlocal; k++)
		rows |= bit(s->place[s->local[k]] < nlane ? s->partner[s->place[s->local[k]]]
							  : s->local[k]);
	return rows;
}

/* Lanes, and places above them one after the other that are rows of the stage's blocks: as a power of two. */
static unsigned run_of(const struct plan_stage *s, unsigned nbit, unsigned nlane, uint64_t rows)
{
	unsigned run = nlane;

	for (unsigned b = 0; b < nbit; b++)
		if (s->place[b] == run && ((rows >> b) & 1)) {
			run++;
			b = (unsigned)-1;
		}
	return run;
}

/* Each place once, and what is not a row of the block stays where it is; |moved| bits that do not. */
static bool legal(const uint8_t *before, const uint8_t *after, unsigned nbit, uint64_t rows,
	unsigned *moved)
{
	uint64_t all = 0;

	for (unsigned b = 0; b < nbit; b++) {
		all |= bit(after[b]);
		*moved += before[b] != after[b];
		if (!((rows >> b) & 1) && before[b] != after[b])
			return false;
	}
	return all == bit(nbit) - 1;
}

static void test_legal(void)
{
	unsigned nlane = 3, moved = 0, prepared = 0, exchanged = 0;
	bool good = true, kept = true, runs = true;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct random_shape r = shape_of(seed);
		const struct plan_options o = { .precision = PRECISION_SINGLE,
			.target = cpu_target(ISA_AVX2),
			.shape = SHAPE_SHARED,
			.random = random_below(seed, 15, 4) };

		r.nwire += 8;
		struct program *p = random_program(&r);
		struct plan *pl = plan_new(p, &o, NULL);

		for (uint32_t n = 0; n < pl->ncircuit; n++) {
			const struct plan_circuit *c = &pl->circuit[n];
			unsigned nbit = plan_stored_bits(pl, c->nbit);

			for (uint32_t k = 0; k < c->nstage; k++) {
				const struct plan_stage *s = &c->stage[k];
				uint64_t rows = rows_of(s, nlane);

				good = good && (unsigned)__builtin_popcountll(rows) == s->nlocal
					&& legal(s->place, k + 1 < c->nstage ? s[1].place : c->place,
						nbit, rows, &moved);
				runs = runs && plan_run(pl, s) == run_of(s, nbit, nlane, rows);
				exchanged += rows != local_of(s);
			}
			for (unsigned b = 0; c->nprepare && c->nstage && b < nbit; b++)
				kept = kept && c->stage[0].place[b] == b;
			prepared += c->nprepare > 0;
		}
		plan_free(pl);
		program_free(p);
	}
	tap_ok(good && moved > 1000,
		"every place once, and only rows of a stage's blocks change theirs (%u did)", moved);
	tap_ok(runs && exchanged > 100,
		"runs of memory are counted as they lie (%u stages with bits in the lanes)",
		exchanged);
	tap_ok(kept && prepared > 20,
		"where vectors are prepared (%u circuits), bits begin where these have them",
		prepared);
}

/* ---- runs ---- */

/* Convolutional networks one after the other: neighbours, and every second qubit goes. */
static struct program *networks(unsigned n, unsigned times)
{
	struct build b = build_new(3, 0, 1);
	struct item item[3] = { { .gate = GATE_RPAULI,
					.word = 1,
					.nwire = 1,
					.wire = { 0 },
					.angle = { build_weight(&b, 0) } },
		{ .gate = GATE_RPAULI,
			.word = 2,
			.nwire = 1,
			.wire = { 1 },
			.angle = { build_weight(&b, 1) } },
		{ .gate = GATE_RPAULI,
			.word = 0xe,
			.nwire = 2,
			.wire = { 0, 1 },
			.angle = { build_weight(&b, 2) } } };
	uint32_t block = build_matrix(&b, 2, 3, item);

	build_wires(&b, 0, n);
	for (unsigned time = 0; time < times; time++)
		for (unsigned step = 1; step < n; step *= 2)
			for (unsigned odd = 0; odd < 2; odd++)
				for (unsigned w = odd * step; w + step < n; w += 2 * step)
					build_apply(&b, 0, block, 2, (uint32_t[]){ w, w + step });
	build_z(&b, 0, 0);
	return build_done(&b);
}

/* Turns of every qubit, and each flips its neighbour, from layer to layer a farther one. */
static struct program *layers(unsigned n, unsigned times)
{
	struct build b = build_new(3, 0, 1);
	uint32_t turn = build_gate(&b, GATE_RPAULI, 1, (uint32_t[]){ build_weight(&b, 0) }),
		 not = build_gate(&b, GATE_PAULI, 1, NULL);

	build_wires(&b, 0, n);
	for (unsigned time = 0; time < times; time++) {
		for (unsigned w = 0; w < n; w++)
			build_apply(&b, 0, turn, 1, &w);
		for (unsigned w = 0; w < n; w++)
			build_controlled(&b, 0, not, 1, 2, (uint32_t[]){ w, (w + time + 1) % n });
	}
	build_z(&b, 0, 0);
	return build_done(&b);
}

/* The geometric mean of the runs of stages that read much is at least 2^lg amplitudes. */
static void test_runs(const char *name, struct program *p, unsigned lg)
{
	struct plan_options o = { .precision = PRECISION_SINGLE, .target = cpu_target(ISA_AVX512) };
	struct plan *pl = plan_new(p, &o, NULL);
	const struct plan_circuit *c = pl->circuit;
	unsigned total = 0, large = 0;

	for (uint32_t k = 0; k < c->nstage; k++)
		if ((unsigned)__builtin_popcountll(plan_nonzero(pl, c, c->stage[k].first)) + 3
			>= c->nbit) {
			total += plan_run(pl, &c->stage[k]);
			large++;
		}
	tap_ok(large > 0 && total >= large * lg,
		"%s of %u qubits, %u stages that read much: blocks of runs of 2^%.2f amplitudes",
		name, c->nbit, large, (double)total / large);
	plan_free(pl);
	program_free(p);
}

/* ---- cuts ---- */

static double expected(const struct plan *pl, const struct plan_circuit *c, bool back)
{
	struct plan_seconds s = plan_usual_seconds(pl, c);

	return back ? 2 * s.forward + s.back : s.forward;
}

/* Against stages that take all they can. */
static void test_cut(const char *name, struct program *p, bool back, double share)
{
	struct plan_options o = {
		.precision = PRECISION_SINGLE, .target = cpu_target(ISA_AVX2), .forward = !back
	};
	struct plan *pl = plan_new(p, &o, NULL);
	struct plan_circuit greedy = pl->circuit[0];
	struct plan_cut cut = { 0 };
	double chosen = expected(pl, pl->circuit, back), other;

	plan_cut(pl, &greedy, &cut, 0);
	plan_backward_pass(pl, &greedy);
	other = expected(pl, &greedy, back);
	tap_ok(chosen < share * other,
		"%s of %u qubits, %s: %.3g s instead of %.3g s in stages as large as they can be",
		name, greedy.nbit, back ? "gradient" : "forward", chosen, other);
	plan_free(pl);
	program_free(p);
}

int main(void)
{
	test_random();
	test_legal();
	test_runs("three networks", networks(20, 3), 10);
	test_runs("a network", networks(22, 1), 9);
	test_runs("two networks", networks(22, 2), 10);
	test_runs("a network", networks(24, 1), 15);
	test_runs("two networks", networks(24, 2), 11);
	test_runs("three networks", networks(26, 3), 9);
	test_runs("three layers", layers(28, 3), 10);
	test_runs("five layers", layers(29, 5), 9);
	test_runs("three layers", layers(30, 3), 9);
	test_cut("a network", networks(20, 1), true, 0.98);
	test_cut("a network", networks(22, 1), true, 0.98);
	test_cut("a network", networks(22, 1), false, 0.98);
	test_cut("a layer", layers(24, 1), false, 0.8);
	return tap_done();
}
