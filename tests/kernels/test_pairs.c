/* SPDX-License-Identifier: Apache-2.0
 * One-qubit steps that a stage takes in pairs: random circuits with random plans, which leave many, against ref. */
#include "runtime/exec/statevector/cpu/cpu_target.h"
#include "tests/kernels/random_program.h"
#include "tests/tap.h"

enum { NSAMPLE = 2, NPROGRAM = 200 };

static void one(uint64_t seed)
{
	const struct random_shape r = { .seed = seed, .nwire = 4 + random_below(seed, 0, 6), .napply = 20 + random_below(seed, 1, 40),
		.ncircuit = 1, .nweight = 6, .ninput = 2, .sample_matrices = random_below(seed, 2, 2), .controls = random_below(seed, 3, 2),
		.swaps = random_below(seed, 4, 2) };
	const struct evaluator_options ref = { .target = &target_ref, .nthread = 1, .precision = PRECISION_DOUBLE, .gradient = GRADIENT_ADJOINT };
	const struct evaluator_options cpu = { .nthread = 2,
		.precision = PRECISION_DOUBLE,
		.gradient = GRADIENT_ADJOINT,
		.shape = SHAPE_SHARED,
		.target = random_cpu_target(seed, 5),
		.random_plan = seed };
	struct program *p = random_program(&r);
	struct err e = { 0 };
	struct apart apart = outcomes_apart(p, &cpu, &ref, NSAMPLE, seed, &e);

	tap_ok(apart.readouts < 1e-11 && apart.gradients < 1e-10, "circuit %llu, %u wires: readouts differ by %.1e, gradients by %.1e %s",
		(unsigned long long)seed, r.nwire, apart.readouts, apart.gradients, e.text);
	program_free(p);
}

int main(void)
{
	for (uint64_t seed = 1; seed <= NPROGRAM; seed++)
		one(seed);
	return tap_done();
}
