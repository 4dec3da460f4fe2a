/* SPDX-License-Identifier: Apache-2.0
 * A basis of batch rank that is wrong is found by the samples that are evolved by themselves. */
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/basis/basis.h"
#include "tests/kernels/build.h"
#include "tests/kernels/random_program.h"

enum { NWIRE = 5, NSAMPLE = 64 };

bool __real_rank_find(struct basis *k, uint32_t max, uint32_t *r, uint32_t *pivot, cplx *c);
bool __wrap_rank_find(struct basis *k, uint32_t max, uint32_t *r, uint32_t *pivot, cplx *c);

static struct {
	double factor;
	uint32_t nstate;
} wrong; /* what becomes of all combinations */

bool __wrap_rank_find(struct basis *k, uint32_t max, uint32_t *r, uint32_t *pivot, cplx *c)
{
	bool found = __real_rank_find(k, max, r, pivot, c);

	for (size_t i = 0; found && i < (size_t)NSAMPLE * *r; i++)
		c[i] *= wrong.factor;
	wrong.nstate = found ? *r : 0;
	return found;
}

/* rx of an input each, rot of three weights each, cx in a row; <Z> and <X> of the last. */
static struct program *program(void)
{
	struct build b = build_new(3 * NWIRE, NWIRE, 1);
	uint32_t x = build_gate(&b, GATE_PAULI, 1, NULL);

	build_wires(&b, 0, NWIRE);
	for (uint32_t w = 0; w < NWIRE; w++)
		build_apply(&b, 0, build_gate(&b, GATE_RPAULI, 1, (uint32_t[]){ build_input(&b, w) }),
			1, (uint32_t[]){ w });
	for (uint32_t w = 0; w < NWIRE; w++) {
		const uint32_t angle[3] = { build_weight(&b, 3 * w), build_weight(&b, 3 * w + 1),
			build_weight(&b, 3 * w + 2) };

		build_apply(&b, 0, build_gate(&b, GATE_ROT, 0, angle), 1, (uint32_t[]){ w });
	}
	for (uint32_t w = 0; w + 1 < NWIRE; w++)
		build_controlled(&b, 0, x, 1, 2, (uint32_t[]){ w, w + 1 });
	build_z(&b, 0, NWIRE - 1);
	return build_done(&b);
}

static void test_factor(double factor, bool gradient, int want)
{
	struct program *p = program();
	struct evaluator_options o = { .nthread = 2,
		.gradient = gradient ? GRADIENT_ADJOINT : GRADIENT_NONE,
		.precision = PRECISION_SINGLE,
		.optimisations = OPTIMISATION_BATCH_RANK,
		.optimisations_always = true };
	struct outcome out = outcome_new(p, NSAMPLE);
	double weight[3 * NWIRE], input[NSAMPLE][NWIRE] = { { 0 } };
	struct err e = { 0, "" };
	int code;

	random_numbers(1, 3, p->nweight, weight);
	for (uint32_t s = 0; s < NSAMPLE; s++)
		input[s][s % NWIRE] = 0.05 * (s + 1);
	wrong.factor = factor;
	code = outcome_of(p, &o, NSAMPLE, weight, *input, &out, &e);
	tap_ok(wrong.nstate == NWIRE + 1 && code == want,
		"%s, %u states, combinations %g of what they are: %s",
		gradient ? "with gradient" : "forward", wrong.nstate, factor,
		*e.text ? e.text : "fine");
	if (want)
		tap_ok(strstr(e.text, "the exact optimisation batch_rank reads ") != NULL,
			"says what reads otherwise");
	outcome_release(&out);
	program_free(p);
}

int main(void)
{
	for (int gradient = 0; gradient <= 1; gradient++) {
		test_factor(1, gradient, 0);
		test_factor(1.01, gradient, -ERR_BUG);
	}
	return tap_done();
}
