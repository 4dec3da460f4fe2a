/* SPDX-License-Identifier: Apache-2.0
 * An evaluator's life, its weights, and what can be asked of it. */
#include "runtime/exec/evaluator.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/evaluator_state.h"
#include "runtime/exec/shots.h"

/* ---- life ---- */

/* From the last, which the others may stand on, to the first. */
static int open_engines(struct evaluator *ev, struct err *e)
{
	struct engine_problem problem = { .program = ev->p, .options = &ev->o };
	const struct engine *engine[ENGINES_MAX];
	unsigned n = engine_choose(&problem, engine);
	const char *why = engine[n - 1]->obstacle(&problem);
	int code = 0;

	/* Why auto has not chosen it, engine_method_explain says. */
	if (why && ev->o.method_chosen)
		return err_set(e, -ERR_CONFIG, "%s; that needs the method tensor", why);
	if (why)
		return err_set(e, -ERR_CONFIG, "%s, but %s; that needs the method tensor",
			engine_tensor.obstacle(&problem), why);
	ev->nengine = n;
	for (unsigned k = n; k-- > 0 && !code; problem.below = ev->engine[k].state) {
		ev->engine[k].engine = engine[k];
		code = engine[k]->open(&problem, &ev->engine[k].state, e);
	}
	return code;
}

/* The sum of the coefficients' magnitudes; 1 of a probability.  And what is refused above. */
static void bound_readouts(struct evaluator *ev)
{
	double *most = ev->readout_most;

	for (uint32_t c = 0; c < ev->p->ncircuit; c++)
		for (uint32_t i = 0; i < ev->p->circuit[c].noutput; i++) {
			const struct output *o = &ev->p->circuit[c].output[i];
			uint32_t n = output_nreadout(o);

			for (uint32_t k = 0; o->kind == OUTPUT_PROBS && k < n; k++)
				most[k] = 1;
			for (uint32_t k = 0; o->kind != OUTPUT_PROBS && k < o->nterm; k++)
				*most += fabs(o->term[k].coefficient);
			most += n;
		}
	for (uint32_t k = 0; k < ev->p->nreadout; k++)
		ev->readout_limit[k] =
			fmin(ev->readout_most[k] * (1 + norm_tolerance(ev->layout.precision)),
				DBL_MAX);
}

/* The method, where it is still to be chosen. */
static int choose_method(struct evaluator *ev, struct err *e)
{
	const struct engine_problem problem = { .program = ev->whole, .options = &ev->o };
	enum method m;
	int code = engine_method(&problem, &m, e);

	if (code)
		return code;
	ev->o.method_chosen |= ev->o.method == METHOD_AUTO;
	ev->o.method = m;
	return 0;
}

static void take_worker(struct evaluator *ev, struct evaluator_worker *w)
{
	size_t nvector = ev->layout.nvector + 1;
	struct mem_list *l = &ev->memory;

	w->dreadout =
		mem_list_try(l, (size_t)ev->layout.width * ev->p->nreadout + 1, sizeof *w->dreadout);
	w->gradient = mem_list_try(l, (size_t)ev->p->nweight + 1, sizeof *w->gradient);
	w->unit = mem_list_try(l, nvector, sizeof *w->unit);
	if (ev->nengine > 1 || ev->layout.two_phase) {
		w->sum = mem_list_try(l, nvector, sizeof *w->sum);
		w->head = mem_list_try(l, head_weights(ev) + (size_t)1, sizeof *w->head);
	}
}

static int take_memory(struct evaluator *ev, struct err *e)
{
	const struct program *p = ev->p;

	ev->worker = arena_alloc(&ev->arena, ev->nworker, sizeof *ev->worker);
	ev->weight = arena_alloc(&ev->arena, p->nweight, sizeof *ev->weight);
	ev->readout_most = arena_alloc(&ev->arena, p->nreadout, sizeof *ev->readout_most);
	ev->readout_limit = arena_alloc(&ev->arena, p->nreadout, sizeof *ev->readout_limit);
	ev->head = arena_alloc(&ev->arena, head_weights(ev), sizeof *ev->head);
	ev->sum = mem_list_try(&ev->memory, ev->layout.nvector + 1, sizeof *ev->sum);
	for (unsigned k = 0; k < ev->nworker; k++)
		take_worker(ev, &ev->worker[k]);
	if (ev->memory.failed)
		return err_set(e, -ERR_CONFIG, "no memory for the sums of %u threads", ev->nworker);
	bound_readouts(ev);
	return 0;
}

static int check_shots(const struct evaluator_options *o, struct err *e)
{
	if (o->shots > SHOTS_MAX)
		return err_set(e, -ERR_CONFIG, "at most %d shots", SHOTS_MAX);
	if (o->trajectories > TRAJECTORIES_MAX && o->trajectories != TRAJECTORIES_NONE)
		return err_set(e, -ERR_CONFIG, "at most %d trajectories", TRAJECTORIES_MAX);
	if (o->shots && o->gradient != GRADIENT_NONE && o->gradient != GRADIENT_SHIFT)
		return err_set(e, -ERR_CONFIG, "gradients from shots are made by parameter shift: the gradient method has to be shift");
	return 0;
}

int evaluator_new(const struct program *p, const struct evaluator_options *o, struct evaluator **out, struct err *e)
{
	struct evaluator *ev = mem_alloc(1, sizeof *ev);
	int code = check_shots(o, e);

	ev->whole = p;
	ev->o = *o;
	if (ev->o.nthread == 0)
		ev->o.nthread = 1;
	if (!code)
		code = choose_method(ev, e);
	if (!code) {
		ev->p = evaluator_program(p, &ev->o, &ev->arena);
		code = open_engines(ev, e);
		if (code == -ERR_CONFIG)
			engine_method_explain(&(struct engine_problem){ .program = p,
						      .options = &ev->o },
				e);
	}
	if (!code) {
		ev->on = &ev->engine[ev->nengine - 1];
		ev->on->engine->layout(ev->on->state, &ev->layout);
		ev->nworker = ev->layout.nworker;
		code = take_memory(ev, e);
	}
	if (code) {
		evaluator_free(ev);
		return code;
	}
	*out = ev;
	return 0;
}

void evaluator_free(struct evaluator *ev)
{
	if (!ev)
		return;
	for (unsigned k = 0; k < ev->nengine; k++)
		if (ev->engine[k].state)
			ev->engine[k].engine->close(ev->engine[k].state);
	mem_list_free(&ev->memory);
	arena_release(&ev->arena);
	free(ev);
}

/* ---- weights and batch ---- */

int evaluator_weights(struct evaluator *ev, const double *weight, struct err *e)
{
	for (uint32_t i = 0; i < ev->p->nweight; i++)
		if (!isfinite(weight[i]))
			return err_set(e, -ERR_NOT_FINITE, "weight %u is not finite", i);
	recorder_mark(PHASE_DATA);
	memcpy(ev->weight, weight, ev->p->nweight * sizeof *weight);
	ev->version = weights_version();
	for (unsigned k = 0; k < ev->nengine; k++)
		if (ev->engine[k].engine->set_weights)
			ev->engine[k].engine->set_weights(ev->engine[k].state, ev->weight);
	return 0;
}

void evaluator_draws(struct evaluator *ev, uint64_t key, uint32_t first)
{
	ev->draws = (struct draws){ .key = key, .first = first };
}

void evaluator_draws_of(struct evaluator *ev, uint64_t key, const uint32_t *sample)
{
	ev->draws.key = key;
	ev->draws.sample = sample;
}

uint64_t evaluator_draw_key(const struct evaluator *ev) { return ev->draws.key; }

bool evaluator_reads(const struct evaluator *ev, uint32_t nsample)
{
	bool reads = !ev->o.remote;

	for (unsigned k = 0; k < ev->nengine && !reads; k++)
		reads = ev->engine[k].engine->reads
			&& ev->engine[k].engine->reads(ev->engine[k].state, nsample);
	return reads;
}

uint32_t evaluator_prepare(struct evaluator *ev, const struct batch *b, bool gradient,
	readout_gradient_fn fn, void *ctx, double *readout)
{
	if (gradient && (!fn || ev->o.gradient == GRADIENT_NONE))
		BUG("a gradient is asked for without readout gradients or method");
	ev->batch = *b;
	ev->batch.draws = ev->draws;
	if (gradient)
		ev->batch.needs = ev->needs;
	ev->batch.needs_ctx = ctx;
	ev->gradient = gradient;
	ev->fn = fn;
	ev->ctx = ctx;
	ev->readout = readout;
	ev->on = ev->engine;
	while (!ev->on->engine->prepare(ev->on->state, &ev->batch, gradient, &ev->units))
		ev->on++;
	ev->on->engine->layout(ev->on->state, &ev->layout);
	return ev->units.nunit;
}

/* ---- the rest ---- */

const struct program *evaluator_evaluated(const struct evaluator *ev) { return ev->p; }

uint32_t evaluator_width(const struct evaluator *ev) { return ev->layout.width; }

const void *evaluator_engine(const struct evaluator *ev, const struct engine *engine)
{
	for (unsigned k = 0; k < ev->nengine; k++)
		if (ev->engine[k].engine == engine)
			return ev->engine[k].state;
	return NULL;
}

size_t evaluator_vector(const struct evaluator *ev) { return ev->layout.nvector; }

const struct fixed *evaluator_sums(const struct evaluator *ev) { return ev->sum; }

uint32_t evaluator_states_evolved(const struct evaluator *ev) { return ev->units.nstate; }

uint32_t trajectories_of(const struct program *p, const struct evaluator_options *o)
{
	uint32_t n = o->trajectories ? o->trajectories : TRAJECTORIES_DEFAULT;

	if (n == TRAJECTORIES_NONE || !program_is_noisy(p))
		return 0;
	return o->shots && o->shots < n ? o->shots : n;
}

uint32_t trajectory_shots(uint32_t shots, uint32_t n, uint32_t t)
{
	return shots / n + (t < shots % n);
}

int evaluator_state(struct evaluator *ev, uint32_t c, const double *input_row, cplx *out,
	struct err *e)
{
	return evaluator_trajectory(ev, c, input_row, 0, 0, out, e);
}

int evaluator_trajectory(struct evaluator *ev, uint32_t c, const double *input_row, uint32_t sample,
	uint32_t trajectory, cplx *out, struct err *e)
{
	const struct evaluator_engine *last = &ev->engine[ev->nengine - 1];
	const struct batch b = { .nsample = 1,
		.input = input_row,
		.draws = { .key = ev->draws.key, .first = ev->draws.first + sample } };

	if (ev->p != ev->whole)
		BUG("the state of a circuit is asked for, and others are evaluated");
	if (!last->engine->amplitudes)
		return err_set(e, -ERR_CONFIG, "the method %s has no state vectors",
			last->engine->name);
	return last->engine->amplitudes(last->state, c, &b, trajectory, out, e);
}

void evaluator_work(const struct evaluator *ev, double *flops, double *bytes)
{
	ev->on->engine->work(ev->on->state, flops, bytes);
}
