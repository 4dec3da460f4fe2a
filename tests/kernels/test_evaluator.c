/* SPDX-License-Identifier: Apache-2.0
 * The evaluator on the reference backend: the adjoint method against parameter shift
 * and central differences, merged plans against plain ones, and its refusals.
 *
 * test_evaluator [device]: another backend against the reference. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/exec/statevector/statevector.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/kernels/build.h"
#include "tests/kernels/random_program.h"

enum { NSAMPLE = 3 };

static const struct random_shape shapes[] = {
	{ .seed = 1, .nwire = 1, .napply = 6, .ncircuit = 1, .nweight = 3, .ninput = 2 },
	{ .seed = 2, .nwire = 3, .napply = 12, .ncircuit = 1, .nweight = 4, .ninput = 2 },
	{ .seed = 3, .nwire = 4, .napply = 12, .ncircuit = 1, .nweight = 4, .ninput = 3, .sample_matrices = true },
	{ .seed = 4, .nwire = 4, .napply = 12, .ncircuit = 1, .nweight = 4, .ninput = 3, .controls = true, .wide = true },
	{ .seed = 5, .nwire = 5, .napply = 14, .ncircuit = 1, .nweight = 5, .ninput = 3, .controls = true, .sample_matrices = true, .wide = true, .swaps = true },
	{ .seed = 6, .nwire = 4, .napply = 10, .ncircuit = 3, .nweight = 5, .ninput = 3, .controls = true, .sample_matrices = true, .swaps = true, .frozen = true },
	{ .seed = 7, .nwire = 5, .napply = 14, .ncircuit = 2, .nweight = 5, .ninput = 3, .controls = true, .sample_matrices = true, .wide = true, .swaps = true, .vectors = true, .frozen = true },
	{ .seed = 8, .nwire = 6, .napply = 30, .ncircuit = 1, .nweight = 8, .ninput = 4, .swaps = true, .vectors = true },
	{ .seed = 9, .nwire = 5, .napply = 30, .ncircuit = 2, .nweight = 8, .ninput = 4, .sample_matrices = true, .wide = true, .controls = true },
};

static const struct target *tested = &target_ref;
static const struct evaluator_options plain = { .method = METHOD_STATEVECTOR,
	.target = &target_ref,
	.nthread = 1,
	.gradient = GRADIENT_ADJOINT,
	.no_fuse = true };

static unsigned nlively;     /* programs whose gradient is not nothing */

struct job { const struct program *p; double *weight, *input; struct outcome want; };

static struct outcome outcome_with(const struct job *j, struct evaluator_options o)
{
	struct outcome out = outcome_new(j->p, NSAMPLE);
	struct err e = { 0, "" };

	if (outcome_of(j->p, &o, NSAMPLE, j->weight, j->input, &out, &e))
		tap_ok(false, "evaluates: %s", e.text);
	return out;
}

static void compare(const struct job *j, const char *what, struct evaluator_options o, double value,
	double dreadout)
{
	struct outcome got = outcome_with(j, o);
	double dr = largest_difference(got.readout, j->want.readout, (size_t)NSAMPLE * j->p->nreadout);
	double dg = largest_difference(got.gradient, j->want.gradient, j->p->nweight);

	tap_ok(dr <= value && dg <= dreadout, "%s: readouts off by %.2g, gradient by %.2g", what,
		dr, dg);
	outcome_release(&got);
}

static void test_shape(const struct random_shape *r)
{
	struct program *p = random_program(r);
	struct job j = { .p = p, .weight = mem_alloc(p->nweight, sizeof(double)),
		.input = mem_alloc((size_t)p->ninput * NSAMPLE, sizeof(double)) };
	struct evaluator_options o = plain;

	tap_note("program %llu: %u wires, %u weights, %u inputs", (unsigned long long)r->seed, r->nwire, p->nweight, p->ninput);
	random_numbers(r->seed, 2, p->nweight, j.weight);
	random_numbers(r->seed + 100, 2, (size_t)p->ninput * NSAMPLE, j.input);
	j.want = outcome_with(&j, plain);
	o.target = tested;
	o.precision = PRECISION_DOUBLE;
	if (tested != &target_ref)
		compare(&j, "plain", o, 1e-12, 1e-11);
	o.no_fuse = false;
	compare(&j, "merged", o, 1e-12, 1e-11);
	for (o.random_plan = 1; o.random_plan <= 3; o.random_plan++)
		compare(&j, "merged at random", o, 1e-12, 1e-11);
	o.random_plan = 0;
	o.no_fuse = true;
	o.gradient = GRADIENT_SHIFT;
	compare(&j, "parameter shift", o, 1e-12, 1e-10);
	o.gradient = GRADIENT_DIFFERENCE;
	compare(&j, "central differences", o, 1e-12, 2e-6);
	if (r->frozen)
		tap_ok(j.want.gradient[p->nweight - 1] == 0 && j.want.gradient[p->nweight - 2] == 0, "frozen weights have no gradient");
	nlively += largest_difference(j.want.gradient, (double[32]){ 0 }, p->nweight) > 1e-3;
	outcome_release(&j.want);
	free(j.weight);
	free(j.input);
	program_free(p);
}

/* ---- refusals ---- */

static struct program *wide_program(uint32_t nwire)
{
	struct build b = build_new(1, 1, 1);
	uint32_t m = build_gate(&b, GATE_RPAULI, 1, (uint32_t[]){ build_weight(&b, 0) });

	build_wires(&b, 0, nwire);
	build_apply(&b, 0, m, 1, (uint32_t[]){ 0 });
	build_z(&b, 0, 0);
	return build_done(&b);
}

static void refuse(enum gradient_method gradient, uint32_t nwire, const char *want)
{
	struct program *p = wide_program(nwire);
	struct evaluator_options o = plain;
	struct evaluator *ev = NULL;
	struct err e = { 0, "" };

	o.method = METHOD_STATEVECTOR;
	o.memory_limit = 64 << 20;
	o.gradient = gradient;
	tap_is_int(evaluator_new(p, &o, &ev, &e), -ERR_CONFIG, "%u qubits are refused", nwire);
	tap_is_str(e.text, want, "with needed and available memory");
	program_free(p);
}

static void test_memory(void)
{
	struct program *p = wide_program(20);
	struct evaluator_options o = plain;
	struct evaluator *ev = NULL;

	o.memory_limit = 64 << 20;
	tap_is_int(evaluator_new(p, &o, &ev, NULL), 0, "20 qubits fit in 64 MiB");
	evaluator_free(ev);
	program_free(p);
	refuse(GRADIENT_ADJOINT, 31, "needs 64.0 GiB for 2 states of 31 qubits in double precision, 64.0 MiB available, enough for 20");
	refuse(GRADIENT_ADJOINT, 60, "needs 32.0 EiB for 2 states of 60 qubits in double precision, 64.0 MiB available, enough for 20");
	refuse(GRADIENT_ADJOINT, 64, "needs 512.0 EiB for 2 states of 64 qubits in double precision, 64.0 MiB available, enough for 20");
	refuse(GRADIENT_ADJOINT, 4096, "needs 2^4101 bytes for 2 states of 4096 qubits in double precision, 64.0 MiB available, enough for 20");
	refuse(GRADIENT_SHIFT, 31, "needs 32.0 GiB for 1 state of 31 qubits in double precision, 64.0 MiB available, enough for 21");
	refuse(GRADIENT_NONE, 31, "needs 32.0 GiB for 1 state of 31 qubits in double precision, 64.0 MiB available, enough for 21");
}

/* One wire gets the two numbers of a sample. */
static struct program *vector_program(void)
{
	struct build b = build_new(1, 2, 1);
	uint32_t m = build_gate(&b, GATE_RPAULI, 2, (uint32_t[]){ build_weight(&b, 0) });

	build_wires(&b, 0, 1);
	build_amplitudes(&b, 0, 2, (uint32_t[]){ build_input(&b, 0), build_input(&b, 1) }, 1, (uint32_t[]){ 0 });
	build_apply(&b, 0, m, 1, (uint32_t[]){ 0 });
	build_z(&b, 0, 0);
	return build_done(&b);
}

static void test_bad_samples(void)
{
	static const double good[] = { 3, 4, 1e200, 0, 1e-200, 1e-200, 0, -1 };
	static const double zero[] = { 3, 4, 0, 0, 1, 1, 1, 1 };
	static const double not_finite[] = { 3, 4, 0, 1, 1, 1, 1, NAN };
	const struct evaluator_options o = { .method = METHOD_STATEVECTOR,
		.target = tested,
		.precision = PRECISION_DOUBLE,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT };
	struct program *p = vector_program();
	struct outcome out = outcome_new(p, 4);
	double weight = 0;
	struct err e = { 0, "" };

	tap_is_int(outcome_of(p, &o, 4, &weight, good, &out, &e), 0,
		"vectors of any size are normalised");
	tap_close(out.readout[0], (9.0 - 16) / 25, 1e-15, "<z> of (3, 4)");
	tap_close(out.readout[1], 1, 1e-15, "<z> of (1e200, 0)");
	tap_close(out.readout[2], 0, 1e-15, "<z> of (1e-200, 1e-200)");
	tap_is_int(outcome_of(p, &o, 4, &weight, zero, &out, &e), -ERR_BAD_DATA,
		"a zero vector is an error");
	tap_is_str(e.text, "sample 1: the vector of amplitudes is zero or not finite and cannot be normalised", "that names the sample");
	tap_is_int(outcome_of(p, &o, 4, &weight, not_finite, &out, &e), -ERR_BAD_DATA,
		"so is one that is not finite");
	tap_is_str(e.text, "sample 3: the vector of amplitudes is zero or not finite and cannot be normalised", "that names the sample");
	weight = NAN;
	tap_is_int(outcome_of(p, &o, 4, &weight, good, &out, &e), -ERR_NOT_FINITE,
		"a weight that is not finite is an error");
	outcome_release(&out);
	program_free(p);
}

static int steep(void *ctx, uint32_t sample, const double *readout, double *dreadout, double *head)
{
	(void)readout;
	(void)head;
	dreadout[0] = sample == 2 ? *(double *)ctx : 0.1;
	return 0;
}

static void test_steep(double dreadout, const char *want)
{
	static const double input[] = { 3, 4, 1, 0, 5, 1, 0, -1 };
	const struct evaluator_options o = { .method = METHOD_STATEVECTOR,
		.target = tested,
		.precision = PRECISION_DOUBLE,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT };
	struct program *p = vector_program();
	struct pool *pool = pool_threads_new(1);
	struct evaluator *ev = NULL;
	struct err e = { 0, "" };
	double weight = 0.5, readout[4], gradient;
	const uint32_t row[] = { 0, 1, 3, 2 };

	evaluator_new(p, &o, &ev, NULL);
	evaluator_weights(ev, &weight, NULL);
	evaluator_prepare(ev, &(struct batch){ .nsample = 4, .row = row, .input = input }, true,
		steep, &dreadout, readout);
	tap_is_int(evaluator_run(ev, pool, &gradient, &e), -ERR_NOT_FINITE,
		"a gradient of %g is an error", dreadout);
	tap_is_str(e.text, want, "that names the row of the data");
	dreadout = 1;
	tap_is_int(evaluator_run(ev, pool, &gradient, &e), 0, "and the next batch runs");
	evaluator_free(ev);
	pool->ops->free(pool);
	program_free(p);
}

/* Matrices that are unitary but for a factor, as if rounding had changed them. */
static void scale_matrices(struct evaluator *ev, double by)
{
	const struct statevector *sv = evaluator_engine(ev, &engine_statevector);

	for (uint32_t i = 0; i < sv->pl->nmatrix_entry; i++)
		sv->u[i] *= by;
	sv->backend->matrices(sv->state, sv->u);
}

static void test_norm(const char *device, enum precision precision, double by, int want)
{
	struct evaluator_options o = { .method = METHOD_STATEVECTOR,
		.target = target_find(device, NULL),
		.precision = precision,
		.nthread = 1 };
	struct program *p = wide_program(3);
	struct pool *pool = pool_threads_new(1);
	struct evaluator *ev = NULL;
	struct err e = { 0, "" };
	double weight = 0, readout;
	cplx psi[8];

	evaluator_new(p, &o, &ev, NULL);
	evaluator_weights(ev, &weight, NULL);
	scale_matrices(ev, by);
	evaluator_prepare(ev, &(struct batch){ .nsample = 1 }, false, NULL, NULL, &readout);
	tap_is_int(evaluator_run(ev, pool, NULL, &e), by > 1 ? want : 0, "%s: a readout of %g^2 times its most", device, by);
	tap_ok(!want || by < 1
			|| strstr(e.text,
				"and a state of norm 1 gives at most 1: rounding has changed the norm")
			|| (by >= 1e10 && strstr(e.text, "readout 0 is not finite")),
		"says so: %s", e.text);
	tap_is_int(evaluator_state(ev, 0, NULL, psi, &e), want, "%s: a state with %g times its norm", device, by);
	tap_ok(!want || strstr(e.text, "the probabilities of the state add up to "), "says so: %s", e.text);
	evaluator_free(ev);
	pool->ops->free(pool);
	program_free(p);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		tested = tested_device(argc, argv);
	for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
		test_shape(&shapes[k]);
	tap_ok(nlively >= 6, "%u of %zu programs have a gradient worth comparing", nlively,
		sizeof shapes / sizeof *shapes);
	test_bad_samples();
	test_steep(1e30,
		tested == &target_ref
			? "sample 3: its gradient is not finite or too large"
			: "samples 0 to 3 of the batch: their gradient is not finite or too large");
	test_steep(NAN, "sample 3: its loss has a gradient that is not finite");
	test_norm(tested->device, PRECISION_DOUBLE, 1.00001, -ERR_NOT_FINITE);
	test_norm(tested->device, PRECISION_DOUBLE, 1e10, -ERR_NOT_FINITE);
	test_norm(tested->device, PRECISION_DOUBLE, 1e200, -ERR_NOT_FINITE);
	if (tested != &target_ref) {
		test_norm(tested->device, PRECISION_SINGLE, 1 + 1e-5, 0);
		test_norm(tested->device, PRECISION_SINGLE, 1.001, -ERR_NOT_FINITE);
		test_norm(tested->device, PRECISION_SINGLE, 1e30, -ERR_NOT_FINITE);
		return tap_done();
	}
	test_memory();
	test_norm("cpu", PRECISION_SINGLE, 1 + 1e-5, 0);
	test_norm("cpu", PRECISION_SINGLE, 1.001, -ERR_NOT_FINITE);
	test_norm("cpu", PRECISION_SINGLE, 0.999, -ERR_NOT_FINITE);
	test_norm("cpu", PRECISION_DOUBLE, 1 + 1e-8, 0);
	test_norm("cpu", PRECISION_DOUBLE, 1.00001, -ERR_NOT_FINITE);
	return tap_done();
}
