/* SPDX-License-Identifier: Apache-2.0
 * The engine of state vectors: its table, its life, and units of a batch. */
#include "runtime/exec/statevector/statevector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/profile/recorder.h"
#include "runtime/exec/statevector/light_cones.h"
#include "runtime/exec/statevector/split/split_group.h"

/* ---- before it is open ---- */

/* Shots and shifted circuits look at states as they are. */
static unsigned statevector_optimisations(const struct evaluator_options *o)
{
	const struct target *t = target_or_best(o->target);
	unsigned can = 0;

	if (target_can(t, TARGET_STAGES))
		can |= OPTIMISATION_LIGHT_CONE;
	if (target_can(t, TARGET_HEISENBERG_TAIL)
		&& (o->split < 2 || target_can(t, TARGET_SPLIT_OPTIMISED)))
		can |= OPTIMISATION_HEISENBERG_TAIL;
	return o->gradient <= GRADIENT_ADJOINT && !o->shots ? o->optimisations & can : 0;
}

struct plan *statevector_plan_new(const struct program *p, const struct evaluator_options *o,
	struct err *e)
{
	const struct target *t = target_or_best(o->target);
	const struct plan_options po = {
		.precision = target_can(t, TARGET_SINGLE) ? o->precision : PRECISION_DOUBLE,
		.target = t,
		.shape = o->shape,
		.no_fuse = o->no_fuse,
		.split = o->split,
		.random = o->random_plan,
		.forward = o->outputs_alone,
		.loss_terms = o->terms.term && t->backend->unit && o->gradient == GRADIENT_ADJOINT
			&& !trajectories_of(p, o),
		.heisenberg_tail = statevector_optimisations(o) & OPTIMISATION_HEISENBERG_TAIL,
		.own_matrices = o->gradient == GRADIENT_SHIFT || o->gradient == GRADIENT_DIFFERENCE
	};

	return plan_new(p, &po, e);
}

static const char *statevector_obstacle(const struct engine_problem *p)
{
	if (p->options->trajectories != TRAJECTORIES_NONE && program_noise_varies(p->program))
		return "probabilities of noise channels depend on weights or data";
	return NULL;
}

/* Of a sample, with all its trajectories (0: without noise channels). More than a unit of them run forward once for the readouts, and
 * once more before the backward pass. */
static struct engine_cost sample_cost(const struct plan *pl, uint32_t ntrajectory, bool gradient)
{
	enum { AMPLITUDE_EFFORT = 8 }; /* each is cleared or written, and read */
	struct engine_cost sum = { .flops = plan_flops(pl, gradient),
		.effort = plan_effort(pl, gradient),
		.bytes = plan_traffic(pl, gradient).bytes };
	double times = ntrajectory ? ntrajectory : 1;

	if (gradient && ntrajectory > pl->width) {
		sum.flops += plan_flops(pl, false);
		sum.bytes += plan_traffic(pl, false).bytes;
	}
	for (uint32_t c = 0; c < pl->ncircuit; c++)
		sum.effort += ldexp(AMPLITUDE_EFFORT, (int)pl->circuit[c].nbit);
	return (struct engine_cost){ sum.flops * times, sum.effort * times, sum.bytes * times };
}

static int statevector_cost(const struct engine_problem *p, struct engine_cost *out)
{
	struct plan *pl = statevector_plan_new(p->program, p->options, NULL);

	if (!pl)
		return -ERR_CONFIG;
	*out = sample_cost(pl, trajectories_of(p->program, p->options),
		p->options->gradient != GRADIENT_NONE);
	plan_free(pl);
	return 0;
}

static int statevector_check(const struct engine_problem *p, struct err *e)
{
	struct plan *pl = statevector_plan_new(p->program, p->options, e);

	if (!pl)
		return -ERR_CONFIG;
	plan_free(pl);
	return 0;
}

/* States alone: where they are large, threads share one. */
static int statevector_memory(const struct engine_problem *p, double *nbyte)
{
	const struct evaluator_options *o = p->options;
	const struct target *t = target_or_best(o->target);
	bool single = o->precision == PRECISION_SINGLE && target_can(t, TARGET_SINGLE);
	double amplitude = single ? 8 : 16, nstate = o->gradient == GRADIENT_ADJOINT ? 2 : 1;

	if (target_can(t, TARGET_STATELESS))
		nstate = 0;
	*nbyte = ldexp(nstate * amplitude, (int)program_nwire(p->program)) / (o->split ? o->split : 1);
	return 0;
}

static void statevector_describe(const struct engine_problem *p, struct buf *out)
{
	struct evaluator_options plain = *p->options;
	struct plan *pl = statevector_plan_new(p->program, p->options, NULL);
	uint32_t nqubit = pl ? plan_tail_qubits(pl) : 0;
	struct engine_cost with, without;

	plain.optimisations = OPTIMISATION_NONE;
	plan_free(pl);
	if (statevector_cost(&(struct engine_problem){ .program = p->program, .options = &plain },
		    &without)) {
		buf_str(out, "too large");
		return;
	}
	buf_printf(out, "%.4g operations a sample", without.flops);
	if (trajectories_of(p->program, &plain))
		buf_printf(out, " of %u trajectories", trajectories_of(p->program, &plain));
	if (nqubit && !statevector_cost(p, &with))
		buf_printf(out,
			", %.4g with the last gates on %u qubit%s absorbed into the observable (heisenberg_tail)",
			with.flops, nqubit, nqubit == 1 ? "" : "s");
}

/* ---- life ---- */

/* Shots are drawn from states that were small enough so far. */
static void group_shots(struct statevector *sv)
{
	uint32_t ngroup = 0;

	if (!sv->o.shots)
		return;
	sv->shot_group = arena_alloc(&sv->arena, sv->p->ncircuit, sizeof(struct shot_groups *));
	for (uint32_t c = 0; c < sv->p->ncircuit; c++) {
		sv->shot_group[c] = shot_groups_new(&sv->arena, &sv->p->circuit[c], ngroup);
		ngroup += shot_groups_count(sv->shot_group[c]);
	}
}

static int make_plan(struct statevector *sv, struct err *e)
{
	sv->pl = statevector_plan_new(sv->p, &sv->o, e);
	if (!sv->pl)
		return -ERR_CONFIG;
	if (1u << sv->pl->nrank_bit > SPLIT_RANKS_MAX)
		return err_set(e, -ERR_CONFIG,
			"at most %d ranks can hold a state together; for %u, there are only plans",
			SPLIT_RANKS_MAX, 1u << sv->pl->nrank_bit);
	return sv->o.target->backend->supports(sv->pl, e);
}

static int build(struct statevector *sv, struct err *e)
{
	int code = sv->o.remote ? 0 : statevector_check_states(sv, e);

	if (!code)
		code = make_plan(sv, e);
	if (!code && sv->o.gradient == GRADIENT_SHIFT)
		code = shift_prepare(sv, e);
	if (code)
		return code;
	sv->nworker = statevector_workers(sv);
	sv->ntrajectory = trajectories_of(sv->p, &sv->o);
	group_shots(sv);
	if (!sv->o.remote)
		code = statevector_check_memory(sv, e);
	if (!code)
		code = scratch_new(sv, e);
	return code || sv->o.remote ? code : statevector_take_states(sv, e);
}

static void statevector_close(void *state)
{
	mem_auto struct statevector *sv = state;

	if (sv->state)
		sv->backend->free(sv->state);
	plan_free(sv->pl);
	arena_release(&sv->arena);
}

static int statevector_open(const struct engine_problem *p, void **state, struct err *e)
{
	struct statevector *sv = mem_alloc(1, sizeof *sv);

	sv->p = p->program;
	sv->o = *p->options;
	sv->o.target = target_or_best(sv->o.target);
	sv->backend = sv->o.rank ? &backend_split : sv->o.target->backend;
	if (!target_can(sv->o.target, TARGET_SINGLE))
		sv->o.precision = PRECISION_DOUBLE;
	int code = build(sv, e);
	if (code)
		statevector_close(sv);
	else
		*state = sv;
	return code;
}

void statevector_layout(const void *state, struct engine_layout *out)
{
	const struct statevector *sv = state;

	*out = (struct engine_layout){ .width = sv->ntrajectory ? 1 : sv->pl->width,
		.nvector = sv->nvector,
		.nworker = sv->nworker,
		.precision = sv->pl->precision };
}

static void statevector_set_weights(void *state, const double *weight)
{
	struct statevector *sv = state;

	sv->weight = weight;
	program_eval(sv->p, weight, NULL, sv->value);
	matrix_build(&sv->pl->set, sv->value, sv->weighted ? VALUE_SHARED : VALUE_CONSTANT,
		VALUE_SHARED, sv->need, sv->u, sv->kept);
	if (sv->state)
		sv->backend->matrices(sv->state, sv->u);
	scratch_weights(sv);
	sv->weighted = true;
	recorder_mark(PHASE_MATRICES);
	if (sv->o.start_again && sv->state && sv->backend->start)
		sv->backend->start(sv->state);
	recorder_mark(PHASE_FORWARD);
}

/* ---- a batch ---- */

void statevector_prepare(struct statevector *sv, const struct batch *b, bool gradient)
{
	sv->batch = *b;
	sv->gradient = gradient;
}

/* What one unit takes, in operations; 0 where more than the circuits, once, makes its time. */
static double unit_flops(struct statevector *sv)
{
	double *known = &sv->unit_flops[sv->gradient];

	if (sv->o.threads_always || sv->o.shots
		|| (sv->gradient && sv->o.gradient != GRADIENT_ADJOINT))
		return 0;
	if (*known == 0)
		*known = plan_effort(sv->pl, sv->gradient)
			* (sv->ntrajectory ? sv->ntrajectory : sv->pl->width);
	return *known;
}

static bool accept_batch(void *state, const struct batch *b, bool gradient, struct engine_units *out)
{
	struct statevector *sv = state;

	statevector_prepare(sv, b, gradient);
	*out = (struct engine_units){
		.nunit = sv->ntrajectory ? b->nsample : (uint32_t)plan_units(sv->pl, b->nsample),
		.nstate = b->nsample,
		.flops = unit_flops(sv)
	};
	return true;
}

static void statevector_work(const void *state, double *flops, double *bytes)
{
	const struct statevector *sv = state;
	struct engine_cost sample = sample_cost(sv->pl, sv->ntrajectory, sv->gradient);

	*flops = sample.flops * sv->batch.nsample + (sv->o.start_again ? plan_start_flops(sv->pl) : 0);
	*bytes = sample.bytes * sv->batch.nsample;
}

static double statevector_plain_flops(const void *state, const struct program *written)
{
	const struct statevector *sv = state;
	struct evaluator_options plain = sv->o;
	struct engine_cost cost;

	plain.optimisations = OPTIMISATION_NONE;
	if ((written != sv->p || plan_tail_qubits(sv->pl))
		&& !statevector_cost(&(struct engine_problem){ .program = written, .options = &plain },
			&cost))
		return cost.flops;
	if (written != sv->p)
		return 0; /* too large to be planned */
	return sample_cost(sv->pl, sv->ntrajectory, sv->o.gradient != GRADIENT_NONE).flops;
}

void statevector_count_program(const struct statevector *sv, const struct program *written,
	struct optimisation_tally *tally)
{
	if (written != sv->p)
		light_cones_count(sv->p, tally);
}

static void statevector_count(const void *state, const struct program *written,
	struct optimisation_tally *tally)
{
	struct optimisation_tally *tail = &tally[OPTIMISATION_ROW_HEISENBERG_TAIL];
	const struct statevector *sv = state;

	statevector_count_program(sv, written, tally);
	tail->nqubit = plan_tail_qubits(sv->pl);
	tail->nbatch += tail->nqubit > 0;
}

static void tail_text(const struct optimisation_use *u, struct buf *out)
{
	const struct optimisation_tally *t = &u->row[OPTIMISATION_ROW_HEISENBERG_TAIL];

	buf_printf(out, "heisenberg_tail: the last gates on %u qubit%s as one matrix", t->nqubit,
		t->nqubit == 1 ? "" : "s");
	optimisation_text_batches(u, t->nbatch, out);
}

static int statevector_begin(void *state, struct err *e) { return statevector_states(state, e); }

void statevector_run(void *state, const struct unit_job *job)
{
	struct statevector *sv = state;

	sv->backend->run(sv->state, job);
}

/* ---- a unit ---- */

/* The readouts of a sample's trajectories into those of the sample: what they differ from those of the first, in
 * their parts of the mean. Where all are alike the mean is exact. */
static void add_trajectories(const struct statevector *sv, struct scratch *w, uint32_t count,
	double *readout)
{
	for (uint32_t c = 0; c < sv->pl->ncircuit; c++) {
		uint32_t n = sv->pl->circuit[c].nreadout, first = sv->pl->circuit[c].first_readout;

		if (w->trajectory == 0) {
			memcpy(w->base + first, w->readout[c], n * sizeof *readout);
			memset(readout + first, 0, n * sizeof *readout);
		}
		for (uint32_t s = 0; s < count; s++) {
			double part = unit_part(sv, w, s);

			for (uint32_t k = 0; k < n; k++)
				readout[first + k] += part
					* (w->readout[c][(size_t)s * n + k] - w->base[first + k]);
		}
	}
	if (w->trajectory + count < sv->ntrajectory)
		return;
	for (uint32_t k = 0; k < sv->p->nreadout; k++)
		readout[k] += w->base[k];
}

/* The readouts of the unit's samples, from all circuits. */
static void collect_readouts(const struct statevector *sv, struct scratch *w, uint32_t count,
	double *readout)
{
	if (sv->ntrajectory) {
		add_trajectories(sv, w, count, readout);
		return;
	}
	for (uint32_t s = 0; s < count; s++)
		for (uint32_t c = 0; c < sv->pl->ncircuit; c++) {
			const struct plan_circuit *pc = &sv->pl->circuit[c];

			memcpy(readout + (size_t)s * sv->p->nreadout + pc->first_readout,
				w->readout[c] + (size_t)s * pc->nreadout,
				pc->nreadout * sizeof *readout);
		}
}

int statevector_failure(const struct statevector *sv, struct err *e)
{
	return sv->backend->failure ? sv->backend->failure(sv->state, e) : 0;
}

/* Samples of a unit, or trajectories of its sample, that a worker's scratch has at once, and what is between its two passes. */
struct run {
	struct statevector *sv;
	struct scratch *w;
	unsigned worker;
	uint32_t count;
	double *readout;
	const double *dreadout;
	int (*losses)(void *ctx); /* NULL: dreadout is known */
	void *ctx;
	int code;
};

/* By a backend that does a unit at once; between: losses, or NULL: there is no backward pass. False: nothing is done. */
static bool do_unit(struct run *t, bool (*between)(void *ctx))
{
	struct scratch *w = t->w;

	return t->sv->backend->unit && !t->sv->shot_group
		&& t->sv->backend->unit(t->sv->state, t->worker, &w->input, w->readout, between, t,
			w->dreadout, w->anti_hermitian_shared, w->anti_hermitian_sample);
}

/* number: of unit_runs. */
static int fill(struct run *t, uint32_t unit, uint32_t number, struct err *e)
{
	struct scratch *w = t->w;

	t->count = unit_samples(t->sv, unit, &w->first);
	if (t->sv->ntrajectory)
		t->count = unit_states(number, t->sv->pl->width, t->sv->ntrajectory, &w->trajectory);
	int code = unit_fill(t->sv, w, w->first, t->count, e);
	w->variant = 0;
	recorder_mark(PHASE_ENCODING);
	return code;
}

static void forward_circuits(const struct run *t, bool keep)
{
	for (uint32_t c = 0; c < t->sv->pl->ncircuit; c++)
		unit_forward(t->sv, t->w, t->worker, c, t->count, keep, t->w->readout[c]);
	recorder_mark(PHASE_FORWARD);
}

static int forward_runs(struct run *t, uint32_t unit, struct err *e)
{
	int code = 0;

	for (uint32_t n = 0; n < unit_runs(t->sv) && !code; n++) {
		code = fill(t, unit, n, e);
		if (code)
			break;
		if (!do_unit(t, NULL))
			forward_circuits(t, false);
		code = statevector_failure(t->sv, e);
		if (!code)
			collect_readouts(t->sv, t->w, t->count, t->readout);
		recorder_mark(PHASE_FORWARD);
	}
	return code;
}

static int statevector_forward(void *state, unsigned worker, uint32_t unit, double *readout,
	struct err *e)
{
	struct statevector *sv = state;

	return forward_runs(&(struct run){ .sv = sv,
				    .w = &sv->scratch[worker],
				    .worker = worker,
				    .readout = readout },
		unit, e);
}

/* Gradients with respect to the readouts into the circuits' arrays, in trajectories their parts; 0 for copies. */
static void spread_gradient(const struct statevector *sv, struct scratch *w, uint32_t count,
	const double *dreadout)
{
	for (uint32_t c = 0; c < sv->pl->ncircuit; c++) {
		const struct plan_circuit *pc = &sv->pl->circuit[c];

		for (uint32_t s = 0; s < count && !sv->ntrajectory; s++)
			memcpy(w->dreadout[c] + (size_t)s * pc->nreadout,
				dreadout + (size_t)s * sv->p->nreadout + pc->first_readout,
				pc->nreadout * sizeof *dreadout);
		for (uint32_t s = 0; s < count && sv->ntrajectory; s++) {
			double part = unit_part(sv, w, s);

			for (uint32_t k = 0; k < pc->nreadout; k++)
				w->dreadout[c][(size_t)s * pc->nreadout + k] =
					part * dreadout[pc->first_readout + k];
		}
		memset(w->dreadout[c] + (size_t)count * pc->nreadout, 0,
			(size_t)(sv->pl->width - count) * pc->nreadout * sizeof *dreadout);
	}
}

static bool take_losses(void *ctx)
{
	struct run *t = ctx;

	if (t->losses) {
		collect_readouts(t->sv, t->w, t->count, t->readout);
		t->code = t->losses(t->ctx);
	}
	if (!t->code)
		spread_gradient(t->sv, t->w, t->count, t->dreadout);
	return !t->code;
}

/* Both passes of a run that is filled, by the adjoint method. */
static int adjoint_run(struct run *t, struct err *e)
{
	struct statevector *sv = t->sv;
	struct scratch *w = t->w;

	if (!do_unit(t, take_losses)) {
		forward_circuits(t, true);
		t->code = statevector_failure(sv, e);
		if (t->code || !take_losses(t))
			return t->code;
		recorder_mark(PHASE_LOSSES);
		recorder_states(true, t->count * sv->pl->ncircuit);
		for (uint32_t c = 0; c < sv->pl->ncircuit; c++)
			sv->backend->backward(sv->state, t->worker, c, &w->input, w->dreadout[c],
				w->anti_hermitian_shared, w->anti_hermitian_sample);
	}
	recorder_mark(PHASE_BACKWARD);
	int code = statevector_failure(sv, e);
	if (code || t->code)
		return code ? code : t->code;
	adjoint_samples(sv, w, t->count);
	return 0;
}

/* Adds the gradient of a run whose gradient with respect to the readouts is known. */
static int gradient_run(struct run *t, uint32_t unit, uint32_t number, struct err *e)
{
	struct statevector *sv = t->sv;
	int code = fill(t, unit, number, e);

	t->w->variant = sv->pl->ncircuit; /* behind those of the forward pass */
	if (code)
		return code;
	if (sv->o.gradient == GRADIENT_ADJOINT) {
		adjoint_clear_samples(sv, t->w);
		return adjoint_run(t, e);
	}
	spread_gradient(sv, t->w, t->count, t->dreadout);
	if (sv->o.gradient == GRADIENT_SHIFT)
		code = shift_unit(sv, t->w, t->count, t->worker, e);
	else
		difference_unit(sv, t->w, t->count, t->worker);
	recorder_mark(PHASE_BACKWARD);
	return code ? code : statevector_failure(sv, e);
}

static int statevector_unit(void *state, unsigned worker, uint32_t unit, double *readout,
	int (*losses)(void *ctx), void *ctx, const double *dreadout, double *gradient,
	struct fixed *v, struct err *e)
{
	struct statevector *sv = state;
	struct scratch *w = &sv->scratch[worker];
	struct run t = { sv, w, worker, 0, readout, dreadout, losses, ctx, 0 };
	uint32_t first, nsample = unit_samples(sv, unit, &first);
	bool adjoint = sv->o.gradient == GRADIENT_ADJOINT;
	int code;

	w->gradient = gradient;
	if (adjoint)
		adjoint_clear(sv, w);
	if (adjoint && unit_runs(sv) == 1) {
		code = fill(&t, unit, 0, e);
		code = code ? code : adjoint_run(&t, e);
	} else {
		code = forward_runs(&t, unit, e);
		code = code ? code : losses(ctx);
		recorder_mark(PHASE_LOSSES);
		t.losses = NULL;
		for (uint32_t n = 0; n < unit_runs(sv) && !code; n++)
			code = gradient_run(&t, unit, n, e);
	}
	code = code ? code : adjoint_vector(sv, w, first, nsample, v, e);
	recorder_mark(PHASE_SUMS);
	return code;
}

/* ---- amplitudes ---- */

struct one_forward {
	struct statevector *sv;
	uint32_t circuit;
};

static void claim_one(void *ctx, unsigned worker) { (void)ctx, (void)worker; }

static void forward_one(void *ctx, unsigned worker)
{
	struct one_forward *f = ctx;
	struct scratch *w = &f->sv->scratch[worker];

	w->input.whole = true;
	f->sv->backend->forward(f->sv->state, worker, f->circuit, &w->input, true,
		w->readout[f->circuit]);
}

static int check_norm(const struct statevector *sv, uint32_t c, const cplx *psi, struct err *e)
{
	double sum = 0;

	for (uint64_t i = 0; i < UINT64_C(1) << sv->p->circuit[c].nwire; i++)
		sum += creal(psi[i]) * creal(psi[i]) + cimag(psi[i]) * cimag(psi[i]);
	if (fabs(sum - 1) <= norm_tolerance(sv->pl->precision))
		return 0;
	return err_set(e, -ERR_NOT_FINITE,
		"the probabilities of the state add up to %.6g, not 1: rounding has changed the norm%s",
		sum, sv->pl->precision == PRECISION_SINGLE ? "; compute in double precision" : "");
}

static int statevector_amplitudes(void *state, uint32_t c, const struct batch *b,
	uint32_t trajectory, cplx *out, struct err *e)
{
	struct statevector *sv = state;
	struct batch kept = sv->batch;
	int code = statevector_states(sv, e);

	sv->batch = *b;
	sv->scratch[0].first = 0;
	sv->scratch[0].trajectory = trajectory;
	if (!code)
		code = unit_fill(sv, &sv->scratch[0], 0, 1, e);
	if (!code) {
		/* As units are done: small numbers are 0 then, too. */
		sv->backend->run(sv->state,
			&(struct unit_job){
				&(struct one_forward){ sv, c }, 1, 0, claim_one, forward_one });
		sv->backend->amplitudes(sv->state, 0, c, 0, 0,
			UINT64_C(1) << sv->p->circuit[c].nwire, out);
		code = statevector_failure(sv, e);
		code = code ? code : check_norm(sv, c, out, e);
	}
	sv->batch = kept;
	return code;
}

/* ---- for those who know this engine ---- */

static const struct statevector *statevector_of(const struct evaluator *ev)
{
	return evaluator_engine(ev, &engine_statevector);
}

const struct plan *statevector_plan(const struct evaluator *ev)
{
	const struct statevector *sv = statevector_of(ev);

	return sv ? sv->pl : NULL;
}

const struct plan_seconds *statevector_passes(const struct evaluator *ev, uint32_t c)
{
	const struct statevector *sv = statevector_of(ev);

	return sv && sv->state && sv->backend->passes ? sv->backend->passes(sv->state, c) : NULL;
}

static const struct engine_optimisation statevector_uses[] = {
	{ .row = OPTIMISATION_ROW_LIGHT_CONE,
		.of_program = true,
		.describe = light_cones_describe,
		.text = light_cones_text },
	{ .row = OPTIMISATION_ROW_HEISENBERG_TAIL, .text = tail_text },
	{ .text = NULL },
};

const struct engine engine_statevector = {
	.name = "statevector",
	.obstacle = statevector_obstacle,
	.describe = statevector_describe,
	.cost = statevector_cost,
	.check = statevector_check,
	.memory = statevector_memory,
	.optimisations = statevector_optimisations,
	.uses = statevector_uses,
	.program = light_cones_program,
	.open = statevector_open,
	.close = statevector_close,
	.layout = statevector_layout,
	.set_weights = statevector_set_weights,
	.prepare = accept_batch,
	.work = statevector_work,
	.plain_flops = statevector_plain_flops,
	.count = statevector_count,
	.begin = statevector_begin,
	.run = statevector_run,
	.forward = statevector_forward,
	.unit = statevector_unit,
	.finish = statevector_finish,
	.amplitudes = statevector_amplitudes,
};
