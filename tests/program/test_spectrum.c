/* SPDX-License-Identifier: Apache-2.0
 * The frequencies that are counted for a weight are enough: readouts of random programs, rebuilt from
 * 2n + 1 evaluations by Dirichlet's kernel, against evaluations elsewhere. */
#include "runtime/program/spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/maths.h"
#include "tests/kernels/random_program.h"
#include "tests/tap.h"

enum { NPROGRAM = 60, NINPUT = 2, READOUTS_MAX = 64 };

struct case_of { const struct program *p; double *weight; double input[NINPUT]; };

static void evaluate(const struct case_of *c, uint32_t i, double x, double *readout)
{
	struct evaluator_options o = { .target = &target_ref, .precision = PRECISION_DOUBLE, .nthread = 1, .gradient = GRADIENT_NONE };
	struct outcome out = { .readout = readout };
	double kept = c->weight[i];
	struct err e = { 0 };

	c->weight[i] = x;
	if (outcome_of(c->p, &o, 1, c->weight, c->input, &out, &e))
		tap_bail("%s", e.text);
	c->weight[i] = kept;
}

/* The largest error of readouts rebuilt with n frequencies at a few places. */
static double rebuild_error(const struct case_of *c, uint32_t i, double w, uint32_t n)
{
	uint32_t count = 2 * n + 1, nreadout = c->p->nreadout;
	double (*at)[READOUTS_MAX] = calloc(count, sizeof *at), exact[READOUTS_MAX], worst = 0;

	for (uint32_t k = 0; k < count; k++)
		evaluate(c, i, 2 * PI * k / (count * w), at[k]);
	for (int t = 0; t < 3; t++) {
		double x = (0.37 + 1.9 * t) / w, rebuilt[READOUTS_MAX] = { 0 };

		evaluate(c, i, x, exact);
		for (uint32_t k = 0; k < count; k++) {
			double u = w * x - 2 * PI * k / count;

			for (uint32_t r = 0; r < nreadout; r++)
				rebuilt[r] += at[k][r] * sin(count * u / 2) / (count * sin(u / 2));
		}
		worst = fmax(worst, largest_difference(rebuilt, exact, nreadout));
	}
	free(at);
	return worst;
}

static unsigned fits, refused, sharp;

static void test_program(uint64_t seed)
{
	struct random_shape r = { .seed = seed, .nwire = 3, .napply = 6, .ncircuit = 1 + seed % 2, .nweight = 4, .ninput = NINPUT,
		.sample_matrices = seed % 3 == 0, .controls = seed % 4 > 0, .vectors = seed % 5 == 0, .swaps = true, .wide = seed % 2 };
	struct program *p = random_program(&r);
	double weight[PROGRAM_DIMS_MAX * 4] = { 0 };
	struct case_of c = { .p = p, .weight = weight };

	if (p->nreadout > READOUTS_MAX || p->nweight > sizeof weight / sizeof *weight)
		tap_bail("too large a program");
	random_numbers(seed, 1.5, p->nweight, weight);
	random_numbers(seed + 1000, 0.7, NINPUT, c.input);
	for (uint32_t i = 0; i < p->nweight_circuit; i++) {
		struct spectrum s;
		struct err e = { 0 };
		double error;

		if (weight_spectrum(p, i, &s, &e)) {
			tap_ok(strstr(e.text, "another way") || strstr(e.text, "more than"), "program %d, weight %u: %s", (int)seed, i, e.text);
			refused++;
			continue;
		}
		if (!s.n)
			continue;
		error = rebuild_error(&c, i, s.w, s.n);
		tap_close(error, 0, 1e-9, "program %d, weight %u: %u frequencies from %g on", (int)seed, i, s.n, s.w);
		fits++;
		sharp += s.n == 1 || rebuild_error(&c, i, s.w, s.n - 1) > 1e-9;
	}
	program_free(p);
}

int main(void)
{
	for (uint64_t seed = 1; seed <= NPROGRAM; seed++)
		test_program(seed);
	tap_ok(fits > 30 && refused > 10, "%u weights were compared, %u refused", fits, refused);
	tap_ok(sharp > fits / 3, "for %u of them one frequency less is not enough", sharp);
	return tap_done();
}
