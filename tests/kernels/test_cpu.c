/* SPDX-License-Identifier: Apache-2.0
 * The cpu backend against the reference: random programs in every instruction set,
 * precision and shape of this machine, and the same bits for any number of threads. */
#include "config.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tests/kernels/random_program.h"
#include "tests/kernels/build.h"

enum { NSAMPLE = 19, NPROGRAM = 12, MANY = 150 };

struct job { struct program *p; double *weight, *input; struct outcome want; unsigned seed; };

static struct job job_new(unsigned seed, unsigned nwire, uint32_t nsample)
{
	struct random_shape r = { .seed = seed, .nwire = nwire, .napply = 8 + seed % 16, .ncircuit = 1 + seed % 2,
		.nweight = 5, .ninput = 3, .sample_matrices = seed % 2, .controls = seed % 3 != 0,
		.vectors = seed % 4 == 0, .swaps = seed % 5 == 0, .wide = seed % 2 == 0, .frozen = seed % 6 == 0,
		.diagonals = seed % 4 > 1, .nz = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 150 : 5 };
	struct job j = { .p = random_program(&r), .seed = seed };

	j.weight = mem_alloc(j.p->nweight, sizeof(double));
	j.input = mem_alloc((size_t)j.p->ninput * nsample, sizeof(double));
	random_numbers(seed, 2, j.p->nweight, j.weight);
	random_numbers(seed + 100, 2, (size_t)j.p->ninput * nsample, j.input);
	j.want = outcome_new(j.p, nsample);
	return j;
}

static void job_release(struct job *j)
{
	outcome_release(&j->want);
	free(j->weight);
	free(j->input);
	program_free(j->p);
}

static bool run(const struct job *j, const struct evaluator_options *o, uint32_t nsample, struct outcome *out)
{
	struct err e = { 0, "" };

	if (!outcome_of(j->p, o, nsample, j->weight, j->input, out, &e))
		return true;
	tap_note("seed %u: %s", j->seed, e.text);
	return false;
}

/* ---- against ref ---- */

/* One program in all shapes; the worst differences. */
static bool compare(const struct job *j, struct evaluator_options o, double *worst_readout, double *worst_slope)
{
	struct outcome got = outcome_new(j->p, NSAMPLE);
	bool ran = true;

	for (int shape = SHAPE_SAMPLES; shape <= SHAPE_SHARED && ran; shape++) {
		o.shape = (enum shape)shape;
		ran = run(j, &o, NSAMPLE, &got);
		*worst_readout = tap_worst(*worst_readout, largest_difference(got.readout, j->want.readout, (size_t)NSAMPLE * j->p->nreadout));
		*worst_slope = tap_worst(*worst_slope, largest_difference(got.gradient, j->want.gradient, j->p->nweight));
	}
	outcome_release(&got);
	return ran;
}

static void test_kernel_set(struct job *job, enum isa isa, enum precision precision)
{
	double readout = 0, slope = 0, most = precision == PRECISION_DOUBLE ? 1e-12 : 1e-5;
	bool ran = true;

	for (unsigned k = 0; k < NPROGRAM && ran; k++) {
		struct evaluator_options o = { .device = "cpu", .nthread = 1, .gradient = GRADIENT_ADJOINT, .isa = isa,
			.precision = precision, .random_plan = k % 3, .no_fuse = k % 4 == 3 };

		ran = compare(&job[k], o, &readout, &slope);
	}
	tap_ok(ran && readout < most && slope < 100 * most, "%s, %s: readouts off by %.2g, gradients by %.2g", isa_name(isa),
		precision == PRECISION_DOUBLE ? "double" : "single", readout, slope);
}

static void test_kernel_sets(void)
{
	struct evaluator_options ref = { .device = "ref", .nthread = 1, .gradient = GRADIENT_ADJOINT };
	struct job job[NPROGRAM];

	for (unsigned k = 0; k < NPROGRAM; k++) {
		job[k] = job_new(k + 1, 1 + k % 7, NSAMPLE);
		if (!run(&job[k], &ref, NSAMPLE, &job[k].want))
			tap_bail("ref does not run");
	}
	for (int isa = ISA_BASELINE; isa < ISA_COUNT; isa++) {
		if ((enum isa)isa > isa_best()) {
			tap_skip("no %s here", isa_name((enum isa)isa));
			continue;
		}
		test_kernel_set(job, (enum isa)isa, PRECISION_SINGLE);
		test_kernel_set(job, (enum isa)isa, PRECISION_DOUBLE);
	}
	for (unsigned k = 0; k < NPROGRAM; k++)
		job_release(&job[k]);
}

/* ---- threads ---- */

static void test_threads(enum shape shape, enum precision precision, unsigned nwire)
{
	static const char *const name[] = { "", "samples in lanes", "one state a thread", "one state, all threads" };
	struct job j = job_new(9, nwire, MANY);
	struct outcome got = outcome_new(j.p, MANY);
	struct evaluator_options o = { .device = "cpu", .nthread = 1, .gradient = GRADIENT_ADJOINT, .precision = precision, .shape = shape };
	uint32_t nsample = shape == SHAPE_SHARED ? 2 : MANY;
	bool ran = run(&j, &o, nsample, &j.want);

	for (o.nthread = 2; o.nthread <= 4; o.nthread++) {
		ran = ran && run(&j, &o, nsample, &got);
		tap_ok(ran && !memcmp(got.readout, j.want.readout, nsample * j.p->nreadout * sizeof(double))
			&& !memcmp(got.gradient, j.want.gradient, j.p->nweight * sizeof(double)),
			"%s, %s: the same bits for %u threads", name[shape], precision == PRECISION_DOUBLE ? "double" : "single", o.nthread);
	}
	outcome_release(&got);
	job_release(&j);
}

int main(void)
{
	test_kernel_sets();
	for (int precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++) {
		test_threads(SHAPE_SAMPLES, (enum precision)precision, 6);
		test_threads(SHAPE_STATE, (enum precision)precision, 6);
		test_threads(SHAPE_SHARED, (enum precision)precision, 14);
	}
	return tap_done();
}
