/* SPDX-License-Identifier: Apache-2.0
 * Measuring one case: everything a step needs is inside the time, allocation is not. */
#include "cli/bench/bench.h"
#include "cli/hosts/ranks.h"
#include "cli/profile/profiling.h"
#include "cli/signals.h"
#include "runtime/exec/statevector/statevector.h"
#include "runtime/exec/tensor/tensor_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/maths.h"
#include "runtime/base/order.h"
#include "runtime/base/profile/recorder.h"
#include "runtime/base/rng.h"
#include "runtime/base/system/clock.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "runtime/train/score.h"

enum { RUNS_MIN = 3, RUNS_MAX = 100000, PARTS_RUNS_MAX = 4000 };
static const double BUDGET_SECONDS = 1, WARM_SECONDS = 0.1;
static const double LONG_SECONDS = 2;        /* a call that warms itself: its first one counts, too */

struct bench {
	const struct bench_case *bc;
	const struct program *p;
	struct evaluator *ev;
	struct ranks *ranks; /* that hold the states together; NULL: this process alone */
	struct pool *pool;
	struct batch batch;
	double *input, *weight, *readout, *gradient;
	double *seconds;             /* (nrun) */
	uint64_t nrun;
	struct evaluator_options options; /* of ev */
	struct cli *cli;
	bool profiled; /* the profile is complete */
};

/* ---- samples ---- */

static void fill_group(double *x, const struct input_group *g, uint64_t seed, uint32_t sample)
{
	double norm = 0;

	for (uint32_t k = 0; k < g->count; k++) {
		x[k] = g->is_state ? rng_normal(seed, RNG_DATA, sample, g->first + k)
			: PI * (2 * rng_uniform(seed, RNG_DATA, sample, g->first + k) - 1);
		norm += x[k] * x[k];
	}
	for (uint32_t k = 0; g->is_state && k < g->count; k++)
		x[k] /= sqrt(norm);
}

static int make_samples(struct bench *b, uint64_t seed, struct err *e)
{
	const struct program *p = b->p;

	b->batch.nsample = b->bc->batch;
	if (!p->ninput)
		return 0;
	b->input = mem_try(b->batch.nsample, (size_t)p->ninput * sizeof *b->input);
	if (!b->input)
		return err_set(e, -ERR_CONFIG, "no memory for %u samples of %u numbers", b->batch.nsample, p->ninput);
	b->batch.input = b->input;
	if (b->bc->program->named && b->bc->program->named->excitations) {
		/* One excited qubit a sample, in turn; its angle is uniform. */
		for (uint32_t s = 0; s < b->batch.nsample; s++)
			b->input[(size_t)s * b->p->ninput + s % b->p->ninput] =
				PI * (2 * rng_uniform(seed, RNG_DATA, s, 0) - 1);
		return 0;
	}
	for (uint32_t s = 0; s < b->batch.nsample; s++)
		for (uint32_t g = 0; g < p->ninput_group; g++)
			fill_group(b->input + (size_t)s * p->ninput + p->input_group[g].first, &p->input_group[g], seed, s);
	return 0;
}

/* ---- calls ---- */

/* The loss mse, labels 1 and -1 in turn: scale, weight, labels of a sample. */
static void give(void *ctx, uint32_t sample, double *out)
{
	const struct bench *b = ctx;

	out[LOSS_SCALE] = 1.0 / b->batch.nsample;
	out[LOSS_WEIGHT] = 1;
	for (uint32_t k = 0; k < b->p->noutput; k++)
		out[LOSS_LABELS + k] = sample & 1 ? -1 : 1;
}

static int dreadout(void *ctx, uint32_t sample, const double *readout, double *dreadout, double *head)
{
	const struct bench *b = ctx;
	const double number[] = { 1.0 / b->batch.nsample, 1, sample & 1 ? -1 : 1 };

	(void)head;
	for (uint32_t k = 0; dreadout && k < b->p->nreadout; k++)
		dreadout[k] = loss_gradient(LOSS_TERM_MSE, 0, readout[k], number, 0, b->p->nreadout);
	return 0;
}

/* What a training step needs: matrices, encoding, states, chain rule, sums. */
static int call(struct bench *b, double *seconds, struct err *e)
{
	bool gradient = b->bc->gradient;
	double began = clock_seconds();

	if (stop_asked())
		return err_set(e, -ERR_STOPPED, "stopped by %s", stop_asked());
	int code = evaluator_weights(b->ev, b->weight, e);
	if (!code) {
		evaluator_prepare(b->ev, &b->batch, gradient, gradient ? dreadout : NULL, b,
			b->readout);
		code = evaluator_run(b->ev, b->pool, gradient ? b->gradient : NULL, e);
	}
	*seconds = clock_seconds() - began;
	b->profiled = profiling_step(b->cli, b->batch.nsample);
	return code;
}

/* Under `qcnn profile`: calls until the profile is complete. */
static int call_for_profile(struct bench *b, double first, struct err *e)
{
	int code = 0;

	b->seconds = mem_alloc(1, sizeof *b->seconds);
	b->seconds[b->nrun++] = first;
	while (!code && !b->profiled)
		code = call(b, &(double){ 0 }, e);
	return code;
}

/* Until caches, clocks and predictors have settled: at least one call besides the first, never more
 * than are measured. */
static int warm(struct bench *b, uint64_t runs, double first, struct err *e)
{
	double began = clock_seconds(), seconds;
	uint64_t done = 0;
	int code;

	if (first >= LONG_SECONDS)
		return 0;
	do
		code = call(b, &seconds, e);
	while (!code && ++done < (runs ? runs : RUNS_MAX) && clock_seconds() - began < WARM_SECONDS);
	return code;
}

static int measure(struct bench *b, uint64_t runs, double first, struct err *e)
{
	double began = clock_seconds();
	uint64_t most = runs ? runs : RUNS_MAX;
	int code = 0;

	b->seconds = mem_alloc(most, sizeof *b->seconds);
	if (first >= LONG_SECONDS)
		b->seconds[b->nrun++] = first;
	while (!code && b->nrun < most && (runs || b->nrun < RUNS_MIN || clock_seconds() - began < BUDGET_SECONDS)) {
		code = call(b, &b->seconds[b->nrun], e);
		b->nrun++;
	}
	return code;
}

/* ---- parts ---- */

struct parts_call { double seconds, parts[PHASE_COUNT]; };

/* Of calls of their own, as looking at the clock takes time: the mean of the faster half of them. */
static int measure_parts(struct bench *b, struct bench_result *r, struct err *e)
{
	uint64_t n = b->nrun < PARTS_RUNS_MAX ? b->nrun : PARTS_RUNS_MAX, half = (n + 1) / 2;
	mem_auto struct parts_call *call_of = mem_alloc(n, sizeof *call_of);
	int code = 0;

	for (uint64_t k = 0; !code && k < n; k++) {
		recorder_start(PROFILE_PHASES, 0);
		code = call(b, &call_of[k].seconds, e);
		recorder_phases(call_of[k].parts);
		recorder_stop(NULL, NULL);
		if (!code)
			bench_passes_note(r, b->ev, b->bc->gradient);
	}
	qsort(call_of, n, sizeof *call_of, order_doubles);
	memset(r->parts, 0, sizeof r->parts);
	for (uint64_t k = 0; k < half; k++)
		for (unsigned p = PHASE_NONE + 1; p < PHASE_COUNT; p++)
			r->parts[p] += call_of[k].parts[p] / (double)half;
	r->parts[PHASE_WAIT] = 0;
	for (uint64_t k = 0; k < half; k++)
		r->parts[PHASE_WAIT] += call_of[k].seconds / (double)half;
	for (unsigned p = 0; p < PHASE_COUNT; p++)
		if (profile_phase_is_of_call(p))
			r->parts[PHASE_WAIT] -= r->parts[p];
	r->passes_seconds = r->parts[PHASE_FORWARD] + r->parts[PHASE_BACKWARD]
		+ r->parts[PHASE_EXCHANGE] + r->parts[PHASE_COMBINE];
	return code;
}

/* ---- results ---- */

static void describe_case(const struct bench *b, struct bench_result *r)
{
	const struct bench_case *bc = b->bc;

	r->circuit = bc->program->name;
	r->start = bc->program->start;
	r->qubits = bc->program->qubits;
	r->layers = bc->program->layers;
	r->batch = bc->batch;
	r->threads = bc->pool ? bc->worker_threads : bc->options.nthread;
	r->workers = bc->nworker;
	r->gates = bc->program->gates;
	r->weights = b->p->nweight_circuit;
	r->gradient = bc->gradient;
	r->method = method_name(bc->options.method);
	r->compile_seconds = bc->program->compile_seconds;
}

static void describe_tensors(const struct bench *b, struct bench_result *r)
{
	const struct target *t = target_or_best(b->options.target);
	struct tensor_summary s = { 0 };

	r->precision = "double";
	r->device = t->device;
	r->isa = t->kernels;
	r->shape = "tensors";
	r->optimisations = "";
	tensor_summary(&(struct engine_problem){ .program = b->p, .options = &b->options }, &s);
	r->unit_bytes = s.thread_bytes;
	evaluator_work(b->ev, &r->flops_executed, &r->bytes);
	r->bytes = r->flops_nominal = NAN;
}

static void describe_states(const struct bench *b, const struct plan *pl, struct bench_result *r)
{
	const struct bench_case *bc = b->bc;
	uint32_t nstate = evaluator_states_evolved(b->ev);
	uint32_t ntrajectory = trajectories_of(b->p, &bc->options);
	size_t used = 0;

	r->precision = pl->precision == PRECISION_DOUBLE ? "double" : "single";
	r->device = pl->target->device;
	r->isa = target_can(pl->target, TARGET_STAGES) ? pl->target->kernels : "none";
	r->shape = plan_shape_word(pl);
	r->unit_bytes = ldexp(plan_amplitude_bytes(pl) * (bc->gradient ? 2 : 1) * pl->width,
		(int)program_nwire(pl->program));
	evaluator_work(b->ev, &r->flops_executed, &r->bytes);
	r->passes = plan_traffic(pl, bc->gradient).passes;
	for (uint32_t k = 0; k < pl->ncircuit; k++)
		r->start_steps += pl->circuit[k].nstart;
	r->flops_nominal = plan_nominal(b->p, bc->gradient) * bc->batch;    /* of the text, not of its cones */
	if (ntrajectory)
		r->flops_nominal *= ntrajectory;
	if (evaluator_evaluated(b->ev) != b->p)
		used = (size_t)snprintf(r->optimisation_text, sizeof r->optimisation_text,
			"light_cone %u circuits of at most %u qubits", pl->ncircuit,
			program_nwire(pl->program));
	if (nstate < bc->batch)
		snprintf(r->optimisation_text + used, sizeof r->optimisation_text - used,
			"%sbatch_rank %u of %u", used ? ", " : "", nstate, (unsigned)bc->batch);
	else if (ntrajectory)
		snprintf(r->optimisation_text + used, sizeof r->optimisation_text - used,
			"%strajectories %u", used ? ", " : "", ntrajectory);
	else if (plan_tail_qubits(pl))
		snprintf(r->optimisation_text + used, sizeof r->optimisation_text - used,
			"%sheisenberg_tail of %u qubit%s", used ? ", " : "", plan_tail_qubits(pl),
			plan_tail_qubits(pl) == 1 ? "" : "s");
	r->optimisations = r->optimisation_text;
}

/* The least time that the machine allows: arithmetic, or streaming where the state is in no core's cache.  Limits are those
 * of the fastest loops, so it is the fastest call whose rates are compared with them. */
static void rates(struct bench_result *r, const struct plan_limits *l)
{
	r->gates_s = (double)r->gates * (double)r->batch / r->min;
	r->gb_s = r->bytes / r->min / 1e9;
	r->gflop_s = r->flops_executed / r->min / 1e9;
	r->nominal_gflop_s = r->flops_nominal / r->min / 1e9;
	r->limit_seconds = r->share_of_limit = NAN;
	r->limit = "none";
	if (!l)
		return;
	double fma = r->flops_executed
		/ (!strcmp(r->precision, "double") ? l->double_gflop_s : l->single_gflop_s) / 1e9;
	double stream = strcmp(r->shape, "shared") ? 0 : r->bytes / l->stream_gb_s / 1e9;
	r->limit = stream > fma ? "stream" : "fma";
	r->limit_seconds = fmax(stream, fma);
	r->share_of_limit = r->limit_seconds / r->min;
}

/* What the plan itself (NULL: none) allows: its arithmetic and traffic visit by visit.  Batch rank does other work. */
static void expect(const struct bench *b, const struct plan *pl, const struct plan_limits *l,
	struct bench_result *r)
{
	r->floor_seconds = r->share_of_floor = NAN;
	if (!pl)
		return;
	bench_passes_expect(r, pl, l);
	if (!l || evaluator_states_evolved(b->ev) < b->bc->batch || program_is_noisy(b->p))
		return;
	double rate = pl->precision == PRECISION_DOUBLE ? l->double_gflop_s : l->single_gflop_s;

	r->floor_seconds = plan_floor(pl, b->bc->gradient, b->bc->batch, l)
		+ plan_start_flops(pl) / (rate / l->nthread * 1e9); /* one thread's */
	r->share_of_floor = r->floor_seconds / r->min;
}

static void release(struct bench *b)
{
	profiling_end(b->cli);
	if (b->pool && !b->bc->pool)
		b->pool->ops->free(b->pool);
	evaluator_free(b->ev);
	ranks_end(b->ranks);
	free(b->input);
	free(b->weight);
	free(b->readout);
	free(b->gradient);
	free(b->seconds);
}

static int allocate(struct bench *b, uint64_t seed, double *seconds, struct err *e)
{
	const struct program *p = b->p;
	double began = clock_seconds();
	struct evaluator_options o = b->bc->options;

	o.remote = b->bc->pool != NULL;
	o.outputs_alone = !b->bc->gradient && !o.remote;
	if (!p->ndense)
		o.terms = (struct loss_terms){ LOSS_TERM_MSE, p->noutput, 0 };
	if (o.remote)
		o.nthread = 1;
	int code = ranks_start(&o, o.split, b->bc->places, &b->ranks, e);
	b->options = o;
	if (!code)
		code = evaluator_new(p, &o, &b->ev, e);
	*seconds = clock_seconds() - began;
	if (code)
		return code;
	evaluator_needs(b->ev, &(struct readout_gradient_needs){ LOSS_LABELS + p->noutput, give });
	b->pool = b->bc->pool ? b->bc->pool : pool_threads_new(o.nthread);
	b->weight = mem_alloc((size_t)p->nweight + 1, sizeof *b->weight);
	b->gradient = mem_alloc((size_t)p->nweight + 1, sizeof *b->gradient);
	b->readout = mem_try((size_t)b->bc->batch * p->nreadout + 1, sizeof *b->readout);
	if (!b->readout)
		return err_set(e, -ERR_CONFIG, "no memory for %u readouts of %u samples", p->nreadout, b->bc->batch);
	program_init_weights(p, seed, 0, b->weight);
	return make_samples(b, seed, e);
}

int bench_measure(const struct bench_case *bc, const struct bench_run *how,
	const struct plan_limits *l, struct bench_result *out, struct err *e)
{
	struct bench b = { .bc = bc, .p = bc->program->model.program, .cli = how->cli };
	int code = allocate(&b, how->seed, &out->allocate_seconds, e);

	profiling_begin(b.cli,
		&(struct profile_subject){ .command = "bench",
			.model = bc->program->name,
			.program = b.p,
			.options = &b.options,
			.batch_size = bc->batch,
			.gradient = bc->gradient },
		bc->pool);
	profiling_step(b.cli, 0);
	if (!code)
		code = (stop_catch(), call(&b, &out->first_seconds, e));
	if (!code && b.cli->profiling)
		code = call_for_profile(&b, out->first_seconds, e);
	else if (!code && !(code = warm(&b, how->runs, out->first_seconds, e)))
		code = measure(&b, how->runs, out->first_seconds, e);
	for (unsigned p = 0; p < PHASE_COUNT; p++)
		out->parts[p] = out->passes_seconds = NAN;
	if (!code && how->parts)
		code = measure_parts(&b, out, e);
	if (!code) {
		bench_statistics(b.seconds, b.nrun, out);
		out->seed = how->seed;
		const struct plan *pl = statevector_plan(b.ev);

		describe_case(&b, out);
		pl ? describe_states(&b, pl, out) : describe_tensors(&b, out);
		rates(out, l);
		expect(&b, pl, l, out);
	}
	release(&b);
	return code;
}
