/* SPDX-License-Identifier: Apache-2.0
 * Contraction of tensors against the reference backend: readouts and gradients of random programs. */
#include "runtime/exec/engine.h"
#include "runtime/exec/target.h"
#include "tests/kernels/build.h"
#include "tests/kernels/random_program.h"
#include "tests/kernels/targets.h"
#include "tests/tap.h"

enum { CASES = 60, SAMPLES = 11 };

static const double CLOSE = 1e-11;

static struct random_shape shape_of(uint64_t seed)
{
	return (struct random_shape){ .seed = seed,
		.nwire = 2 + random_below(seed, 0, 6),
		.napply = 4 + random_below(seed, 1, 24),
		.ncircuit = 1 + random_below(seed, 2, 2),
		.nweight = 1 + random_below(seed, 3, 9),
		.ninput = 1 + random_below(seed, 4, 5),
		.sample_matrices = random_below(seed, 5, 2),
		.controls = false,
		.swaps = random_below(seed, 7, 2),
		.frozen = random_below(seed, 8, 2),
		.wide = random_below(seed, 9, 3) == 0,
		.nseen = 1 + random_below(seed, 10, 3) };
}

static void test_random(const struct target *t, uint64_t seed)
{
	struct random_shape r = shape_of(seed);
	struct program *p = random_program(&r);
	struct evaluator_options tensors = { .target = t,
		.method = METHOD_TENSOR,
		.precision = PRECISION_DOUBLE,
		.nthread = 2,
		.gradient = GRADIENT_ADJOINT };
	struct evaluator_options states = { .target = &target_ref,
		.method = METHOD_STATEVECTOR,
		.precision = PRECISION_DOUBLE,
		.gradient = GRADIENT_ADJOINT };
	struct engine_problem problem = { .program = p, .options = &tensors };
	const char *why = engine_tensor.obstacle(&problem);
	struct err e = { 0, "" };

	if (why) {
		tap_ok(false, "%s: seed %u: %s", t->kernels, (unsigned)seed, why);
	} else {
		struct apart d = outcomes_apart(p, &tensors, &states, SAMPLES, seed, &e);

		tap_ok(d.readouts < CLOSE && d.gradients < CLOSE,
			"%s: seed %u, %u qubits: readouts %.2g, gradients %.2g apart %s",
			t->kernels, (unsigned)seed, r.nwire, d.readouts, d.gradients, e.text);
	}
	program_free(p);
}

int main(void)
{
	const struct target *t;

	for (unsigned k = 0; (t = cpu_target_here(k)); k++)
		for (uint64_t seed = 1; seed <= CASES; seed++)
			test_random(t, seed);
	return tap_done();
}
