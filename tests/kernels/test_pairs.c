/* SPDX-License-Identifier: Apache-2.0
 * One-qubit steps that a stage takes in pairs: random circuits with random plans, which leave many, against ref. */
#include "config.h"

#include "runtime/base/rng.h"
#include "tests/kernels/random_program.h"
#include "tests/tap.h"

enum { NSAMPLE = 2, NPROGRAM = 200 };

static unsigned among(uint64_t seed, uint32_t k, unsigned n)
{
	return (unsigned)(rng_u64(seed, RNG_TEST, 10, k) % n);
}

static void one(uint64_t seed)
{
	const struct random_shape r = { .seed = seed, .nwire = 4 + among(seed, 0, 6), .napply = 20 + among(seed, 1, 40), .ncircuit = 1,
		.nweight = 6, .ninput = 2, .sample_matrices = among(seed, 2, 2), .controls = among(seed, 3, 2), .swaps = among(seed, 4, 2) };
	struct evaluator_options o = { .device = "ref", .nthread = 1, .precision = PRECISION_DOUBLE, .gradient = GRADIENT_ADJOINT };
	struct program *p = random_program(&r);
	struct outcome want = outcome_new(p, NSAMPLE), got = outcome_new(p, NSAMPLE);
	double weight[8], input[NSAMPLE * 2], readouts, gradients;
	struct err e = { 0 };
	int code;

	random_numbers(seed, 2, p->nweight, weight);
	random_numbers(seed + 1, 2, NSAMPLE * 2, input);
	code = outcome_of(p, &o, NSAMPLE, weight, input, &want, &e);
	o.device = "cpu";
	o.nthread = 2;
	o.shape = SHAPE_SHARED;
	o.isa = among(seed, 5, (unsigned)isa_best() + 1);
	o.random_plan = seed;
	if (!code)
		code = outcome_of(p, &o, NSAMPLE, weight, input, &got, &e);
	readouts = largest_difference(got.readout, want.readout, (size_t)NSAMPLE * p->nreadout);
	gradients = largest_difference(got.gradient, want.gradient, p->nweight);
	tap_ok(!code && readouts < 1e-11 && gradients < 1e-10, "circuit %llu, %u wires: readouts differ by %.1e, gradients by %.1e %s",
		(unsigned long long)seed, r.nwire, readouts, gradients, e.text);
	outcome_release(&want);
	outcome_release(&got);
	program_free(p);
}

int main(void)
{
	for (uint64_t seed = 1; seed <= NPROGRAM; seed++)
		one(seed);
	return tap_done();
}
