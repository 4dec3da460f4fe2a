/* SPDX-License-Identifier: Apache-2.0
 * The exact optimisation heisenberg_tail on random circuits: the same readouts and gradients as without, wherever it is taken. */
#include <stdlib.h>

#include "runtime/exec/statevector/cpu/cpu_target.h"
#include "runtime/exec/exact_optimisation.h"
#include "runtime/exec/statevector/plan/plan.h"
#include "tests/kernels/random_program.h"
#include "tests/tap.h"

enum { NSAMPLE = 5, NPROGRAM = 1500, NSMALL = 1200 };      /* behind the small ones, some of several stages */

/* Everything about circuit, outputs and execution from a seed. */
static struct random_shape shape_of(uint64_t seed)
{
	const bool large = seed > NSMALL;

	return (struct random_shape){ .seed = seed, .nwire = large ? 8 + random_below(seed, 0, 5) : 1 + random_below(seed, 0, 7),
		.napply = large ? 20 + random_below(seed, 1, 40) : 1 + random_below(seed, 1, 12), .ncircuit = 1 + random_below(seed, 2, 2),
		.nweight = 4, .ninput = 3, .sample_matrices = random_below(seed, 3, 2), .controls = random_below(seed, 4, 2), .swaps = random_below(seed, 5, 2),
		.frozen = random_below(seed, 6, 2), .wide = random_below(seed, 7, 2), .diagonals = random_below(seed, 8, 4) == 0, .permutes = random_below(seed, 9, 8) == 0,
		.nseen = 1 + random_below(seed, 10, 4) };
}

static struct evaluator_options options_of(uint64_t seed)
{
	return (struct evaluator_options){ .nthread = 1,
		.shape = SHAPE_BATCHED + random_below(seed, 11, 3),
		.precision = PRECISION_DOUBLE,
		.target = random_cpu_target(seed, 12),
		.random_plan = random_below(seed, 13, 3),
		.gradient = random_below(seed, 14, 4) ? GRADIENT_ADJOINT : GRADIENT_NONE,
		.optimisations_always = true };
}

/* Qubits of the tail that a plan has. */
static uint32_t tail_of(const struct program *p, const struct evaluator_options *o)
{
	struct plan *pl = plan_new(p,
		&(struct plan_options){ .target = o->target, .heisenberg_tail = true }, NULL);
	uint32_t n = pl ? plan_tail_qubits(pl) : 0;

	plan_free(pl);
	return n;
}

static void one(uint64_t seed, unsigned *ntail)
{
	const struct random_shape r = shape_of(seed);
	struct evaluator_options o = options_of(seed);
	struct program *p = random_program(&r);
	struct evaluator_options off = o;
	struct err e = { 0 };
	struct apart apart;

	ntail[tail_of(p, &o)]++;
	off.optimisations = OPTIMISATION_NONE;
	o.optimisations = OPTIMISATION_HEISENBERG_TAIL;
	apart = outcomes_apart(p, &o, &off, NSAMPLE, seed, &e);
	tap_ok(apart.readouts < 1e-11 && apart.gradients < 1e-10, "circuit %llu, %u wires, outputs of %u: readouts differ by %.1e, gradients by %.1e %s",
		(unsigned long long)seed, r.nwire, r.nseen, apart.readouts, apart.gradients, e.text);
	program_free(p);
}

int main(void)
{
	unsigned ntail[4] = { 0 };

	for (uint64_t seed = 1; seed <= NPROGRAM; seed++)
		one(seed, ntail);
	tap_ok(ntail[0] >= NPROGRAM / 16 && ntail[1] >= NPROGRAM / 16 && ntail[2] >= NPROGRAM / 16 && ntail[3] >= NPROGRAM / 16,
		"tails of no, one, two and three qubits: %u, %u, %u, %u", ntail[0], ntail[1], ntail[2], ntail[3]);
	return tap_done();
}
