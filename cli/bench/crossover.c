/* SPDX-License-Identifier: Apache-2.0
 * Times of GPU and processor for growing batches, until the GPU is the faster one. */
#include "cli/bench/bench.h"

#include <math.h>

#include "cli/bench/selftest.h"
#include "cli/job/device_choice.h"

enum { QUBITS = 8, BATCH_MOST = 1 << 15, BATCH_FACTOR = 8, RUNS = 3 };
/* The batch grew by BATCH_FACTOR, and the time by as much: the GPU is busy, and larger batches change nothing. */
static const double BUSY = 4;

struct times {
	double operations, gpu, cpu;
};

static int measure(struct cli *c, const struct bench_program *bp, const char *device,
	unsigned nthread, uint32_t batch, double *seconds, double *operations, struct err *e)
{
	const struct execution_words w = { .device = device,
		.precision = "single",
		.isa = "auto",
		.gradient = "adjoint",
		.threads = nthread };
	struct bench_case bc = { .program = bp, .batch = batch, .gradient = true };
	struct bench_result r = { 0 };
	int code = execution_options(&w, &bc.options, e);

	if (!code)
		code = bench_measure(&bc, &(struct bench_run){ .runs = RUNS, .cli = c }, NULL, &r, e);
	*seconds = r.min;
	*operations = device_operations(bp->model.program, batch, &bc.options);
	return code;
}

/* Between two batches, the logarithm of the ratio of times is linear in that of the operations. */
static double crossing(const struct times *before, const struct times *now)
{
	double a = log(before->gpu / before->cpu), b = log(now->gpu / now->cpu);

	return before->operations * pow(now->operations / before->operations, a / (a - b));
}

int crossover_measure(struct cli *c, unsigned nthread, double *operations, struct err *e)
{
	struct bench_program bp = { .name = (char *)"qcnn", .qubits = QUBITS, .start = "zero" };
	struct times before = { 0 }, now = { 0 };
	int code = 0;

	bp.model.program = selftest_program("qcnn", QUBITS);
	*operations = HUGE_VAL;
	for (uint32_t batch = 1; !code && batch <= BATCH_MOST; batch *= BATCH_FACTOR, before = now) {
		code = measure(c, &bp, target_gpu()->device, nthread, batch, &now.gpu,
			&now.operations, e);
		if (!code)
			code = measure(c, &bp, device_name(0), nthread, batch, &now.cpu,
				&now.operations, e);
		if (code || (now.gpu > now.cpu && batch > 1 && now.gpu > BUSY * before.gpu))
			break;
		if (now.gpu <= now.cpu) {
			*operations = batch > 1 ? crossing(&before, &now) : now.operations;
			break;
		}
	}
	program_free(bp.model.program);
	return code;
}
