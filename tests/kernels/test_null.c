/* SPDX-License-Identifier: Apache-2.0
 * The null backend: plans, units and sums as everywhere, at sizes that no machine holds, and results that are 0. */
#include <stdio.h>
#include <string.h>
#include "runtime/exec/evaluator.h"
#include "runtime/exec/statevector/statevector.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/compile_file.h"
#include "tests/tap.h"

static int dreadouts(void *ctx, uint32_t sample, const double *readout, double *dreadout, double *head)
{
	(void)ctx, (void)sample, (void)readout, (void)head;
	if (dreadout)
		dreadout[0] = 1;
	return 0;
}

/* A layer of nqubit rotations and a ring of cx, and <Z> of the last qubit. */
static struct program *ring(unsigned nqubit)
{
	struct program *p;
	char text[400];

	snprintf(text, sizeof text,
		"QCNN 1; qubit[%u] q; param float[%u] t; input float x; rx(x) q[0];\n"
		"for k in [0:%u] { ry(t[k]) q[k]; }\nfor k in [0:%u] { cx q[k], q[k+1]; }\nobserve z(q[%u]);",
		nqubit, nqubit, nqubit - 1, nqubit - 2, nqubit - 1);
	p = compile_text(text, NULL);
	if (!p)
		tap_bail("the model does not compile");
	return p;
}

static void test_size(unsigned nqubit)
{
	struct evaluator_options o = { .target = &target_null,
		.precision = PRECISION_SINGLE,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT };
	struct program *p = ring(nqubit);
	double weight[64] = { 0 }, gradient[64], x[20], readout[20];
	struct batch b = { .nsample = 20, .input = x };
	struct evaluator *ev = NULL;
	struct pool *pool;
	struct err e = { 0, "" };
	bool zero = true;
	int code;

	for (unsigned k = 0; k < 20; k++)
		x[k] = k, readout[k] = 7;
	for (unsigned k = 0; k < 64; k++)
		gradient[k] = 7;
	code = evaluator_new(p, &o, &ev, &e);
	if (!tap_is_int(code, 0, "%u qubits: an evaluator (%s)", nqubit, e.text))
		return;
	tap_ok(statevector_plan(ev)->target == &target_null
			&& statevector_plan(ev)->circuit[0].nstep > 0,
		"its plan has steps");
	tap_ok(nqubit <= PLAN_SAMPLES_WIRES_MAX || statevector_plan(ev)->circuit[0].nstage > 0,
		"and stages");
	pool = pool_threads_new(1);
	code = evaluator_weights(ev, weight, &e);
	evaluator_prepare(ev, &b, true, dreadouts, NULL, readout);
	if (!code)
		code = evaluator_run(ev, pool, gradient, &e);
	tap_is_int(code, 0, "a batch runs (%s)", e.text);
	for (unsigned k = 0; k < 20; k++)
		zero = zero && readout[k] == 0;
	for (unsigned k = 0; k < p->nweight; k++)
		zero = zero && gradient[k] == 0;
	tap_ok(zero, "readouts and gradients are 0");
	pool->ops->free(pool);
	evaluator_free(ev);
	program_free(p);
}

int main(void)
{
	test_size(4);
	test_size(16);
	test_size(20);
	test_size(50);
	return tap_done();
}
