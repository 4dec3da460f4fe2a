/* SPDX-License-Identifier: Apache-2.0
 * An evaluator's life, its weights, and what can be asked of it. */
#include "config.h"
#include "runtime/exec/evaluator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/system/cpus.h"
#include "runtime/base/system/resource_limits.h"
#include "runtime/exec/basis/batch_rank.h"
#include "runtime/exec/light_cones.h"
#include "runtime/exec/statevector/gradient_shift.h"
#include "runtime/exec/statevector/state_memory.h"
#include "runtime/exec/statevector/statevector.h"

/* ---- life ---- */

static const struct target *target_of_options(const struct evaluator_options *o)
{
	return o->target ? o->target : target_find("cpu", NULL);
}

static void find_backend(struct evaluator *ev)
{
	ev->o.target = target_of_options(&ev->o);
	ev->backend = backend_of(ev->o.target);
	if (!target_can(ev->o.target, TARGET_SINGLE))
		ev->o.precision = PRECISION_DOUBLE;
	if (ev->o.nthread == 0)
		ev->o.nthread = 1;
}

/* States that the method holds at once on one worker: psi, and lambda for the adjoint method. */
static unsigned states_per_sample(const struct evaluator *ev)
{
	if (target_can(ev->o.target, TARGET_STATELESS))
		return 0;
	return ev->o.gradient == GRADIENT_ADJOINT ? 2 : 1;
}

static int make_plan(struct evaluator *ev, struct err *e)
{
	struct plan_options po = { .precision = ev->o.precision, .target = ev->o.target, .shape = ev->o.shape,
		.no_fuse = ev->o.no_fuse, .random = ev->o.random_plan, .forward = ev->o.outputs_alone,
		.small_tail = ev->o.shortcuts & SHORTCUT_SMALL_TAIL && !ev->o.shots && ev->o.gradient <= GRADIENT_ADJOINT,
		.own_matrices = ev->o.gradient == GRADIENT_SHIFT || ev->o.gradient == GRADIENT_DIFFERENCE };

	ev->pl = plan_new(ev->p, &po, e);
	if (!ev->pl)
		return -ERR_CONFIG;
	return ev->backend->supports(ev->pl, e);
}

static unsigned count_workers(const struct evaluator *ev)
{
	return ev->pl->shape == SHAPE_SHARED || !target_can(ev->pl->target, TARGET_THREADS) ? 1 : ev->o.nthread;
}

static uint64_t bytes_needed(const struct evaluator *ev, bool two_states)
{
	uint64_t nbyte;

	if (__builtin_add_overflow(ev->backend->bytes(ev->pl, ev->o.nthread, two_states),
			units_bytes(ev), &nbyte))
		return UINT64_MAX;
	return nbyte;
}

static uint64_t memory_available(const struct evaluator *ev)
{
	uint64_t machine = cpus_memory_available(), process = room_address_space(ev->o.nthread);

	if (ev->o.memory_limit)
		return ev->o.memory_limit;
	return process < machine ? process : machine;
}

uint64_t evaluator_memory_left(const struct evaluator *ev)
{
	uint64_t taken = ev->o.memory_limit ? bytes_needed(ev, states_per_sample(ev) == 2) : 0, all = memory_available(ev);

	return all > taken ? all - taken : 0;
}

/* Once the states are there it shows how many threads can be; fewer of them give the same bits. */
static int prepare(struct evaluator *ev, bool two_states, struct err *e)
{
	int code = ev->backend->prepare(ev->pl, ev->o.nthread, two_states, &ev->state, e);
	unsigned possible = ev->o.nthread;

	if (!code && target_can(ev->pl->target, TARGET_THREADS))
		possible = room_threads(ev->o.nthread);
	if (possible == ev->o.nthread)
		return code;
	ev->backend->free(ev->state);
	ev->state = NULL;
	ev->o.nthread = possible;
	ev->nworker = count_workers(ev);
	return ev->backend->prepare(ev->pl, possible, two_states, &ev->state, e);
}

/* Shots are drawn from states that were small enough so far. */
static void group_shots(struct evaluator *ev)
{
	uint32_t ngroup = 0;

	if (!ev->o.shots)
		return;
	ev->shot_group = arena_alloc(&ev->arena, ev->p->ncircuit, sizeof(struct shot_groups *));
	for (uint32_t c = 0; c < ev->p->ncircuit; c++) {
		ev->shot_group[c] = shot_groups_new(&ev->arena, &ev->p->circuit[c], ngroup);
		ngroup += shot_groups_count(ev->shot_group[c]);
	}
}

static int check_shots(const struct evaluator *ev, struct err *e)
{
	if (ev->o.shots > SHOTS_MAX)
		return err_set(e, -ERR_CONFIG, "at most %d shots", SHOTS_MAX);
	if (ev->o.shots && ev->o.gradient != GRADIENT_NONE && ev->o.gradient != GRADIENT_SHIFT)
		return err_set(e, -ERR_CONFIG, "gradients from shots are made by parameter shift: the gradient method has to be shift");
	return 0;
}

static struct memory_need states_needed(const struct evaluator *ev)
{
	return (struct memory_need){ .nqubit = program_nwire(ev->p), .nstate = states_per_sample(ev),
		.precision = ev->o.precision, .available = memory_available(ev) };
}

static int check_memory(const struct evaluator *ev, struct err *e)
{
	struct memory_need need = states_needed(ev);

	need.nstate *= ev->nworker * ev->pl->width;
	return memory_check(&need, bytes_needed(ev, states_per_sample(ev) == 2), e);
}

int evaluator_need_states(struct evaluator *ev, struct err *e)
{
	struct memory_need need;
	int code;

	if (ev->state)
		return 0;
	need = states_needed(ev);
	code = memory_check_states(&need, e);
	if (!code)
		code = check_memory(ev, e);
	if (!code)
		code = prepare(ev, states_per_sample(ev) == 2, e);
	if (!code)
		ev->backend->matrices(ev->state, ev->u);
	return code;
}

/* Everything between the checks of the options and the first use. */
static int build(struct evaluator *ev, struct err *e)
{
	struct memory_need need = states_needed(ev);
	int code = ev->o.far ? 0 : memory_check_states(&need, e);

	if (!code)
		code = make_plan(ev, e);
	if (!code && ev->o.gradient == GRADIENT_SHIFT)
		code = shift_prepare(ev, e);
	if (code)
		return code;
	ev->nworker = count_workers(ev);
	group_shots(ev);
	if (!ev->o.far)
		code = check_memory(ev, e);
	if (!code)
		code = units_new(ev, e);
	if (!code && !ev->o.far)
		code = prepare(ev, states_per_sample(ev) == 2, e);
	if (!code && !ev->o.shots && ev->o.shortcuts & SHORTCUT_BATCH_RANK)
		code = rank_new(ev, e);
	return code;
}

const struct program *evaluator_program(const struct program *p, const struct evaluator_options *o, struct arena *a)
{
	struct plan_options po = { .precision = o->precision, .target = target_of_options(o), .shape = o->shape, .no_fuse = o->no_fuse, .forward = o->outputs_alone };
	bool adjoint = o->gradient <= GRADIENT_ADJOINT, staged = target_can(po.target, TARGET_STAGES);
	const struct program *cones;
	double off, on;

	if (!(o->shortcuts & SHORTCUT_LIGHT_CONE) || o->shots || !adjoint || !staged)
		return p;
	cones = cones_of(p, a);
	if (cones && (cones_worth(p, cones, &po, o->gradient != GRADIENT_NONE, &off, &on) || o->shortcuts_always))
		return cones;
	return p;
}

bool evaluator_cones(const struct evaluator *ev)
{
	return ev->p != ev->whole;
}

int evaluator_new(const struct program *p, const struct evaluator_options *o, struct evaluator **out, struct err *e)
{
	struct evaluator *ev = mem_alloc(1, sizeof *ev);
	int code;

	ev->whole = p;
	ev->o = *o;
	arena_init(&ev->arena);
	ev->p = evaluator_program(p, o, &ev->arena);
	code = check_shots(ev, e);
	find_backend(ev);
	if (!code)
		code = build(ev, e);
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
	rank_free(ev->rank);
	if (ev->state)
		ev->backend->free(ev->state);
	plan_free(ev->pl);
	arena_release(&ev->arena);
	free(ev);
}

const struct plan *evaluator_plan(const struct evaluator *ev)
{
	return ev->pl;
}

size_t evaluator_vector(const struct evaluator *ev)
{
	return ev->nvector;
}

/* ---- weights and batch ---- */

int evaluator_weights(struct evaluator *ev, const double *weight, struct err *e)
{
	for (uint32_t i = 0; i < ev->p->nweight; i++)
		if (!isfinite(weight[i]))
			return err_set(e, -ERR_NOT_FINITE, "weight %u is not finite", i);
	stopwatch_phase(&ev->watch, PHASE_NONE);
	memcpy(ev->weight, weight, ev->p->nweight * sizeof *weight);
	ev->version = weights_version();
	program_eval(ev->p, weight, NULL, ev->value);
	matrix_build(&ev->pl->set, ev->value, ev->weighted ? VALUE_SHARED : VALUE_CONSTANT, VALUE_SHARED, ev->need, ev->u, ev->kept);
	if (ev->state)
		ev->backend->matrices(ev->state, ev->u);
	units_weights(ev);
	ev->weighted = true;
	rank_weights(ev);
	stopwatch_phase(&ev->watch, PHASE_MATRICES);
	if (ev->o.start_again && ev->state && ev->backend->start)
		ev->backend->start(ev->state);
	stopwatch_phase(&ev->watch, PHASE_STATES);
	return 0;
}

void evaluator_draws(struct evaluator *ev, uint64_t key, uint32_t first)
{
	ev->draw_key = key;
	ev->draw_first = first;
	ev->draw_sample = NULL;
}

uint64_t evaluator_draw_key(const struct evaluator *ev)
{
	return ev->draw_key;
}

uint32_t evaluator_prepare(struct evaluator *ev, const struct batch *b, bool gradient,
	slope_fn fn, void *ctx, double *readout)
{
	if (gradient && (!fn || ev->o.gradient == GRADIENT_NONE))
		BUG("a gradient is asked for without slopes or method");
	ev->batch = *b;
	ev->gradient = gradient;
	ev->fn = fn;
	ev->ctx = ctx;
	ev->readout = readout;
	rank_prepare(ev);
	ev->nunit = ev->batch.nsample / ev->pl->width + (ev->batch.nsample % ev->pl->width != 0);
	return ev->nunit;
}

/* ---- the rest ---- */

struct one_forward { struct evaluator *ev; uint32_t circuit; };

static void claim_one(void *ctx, unsigned worker) { (void)ctx, (void)worker; }

static void forward_one(void *ctx, unsigned worker)
{
	struct one_forward *f = ctx;
	struct scratch *w = &f->ev->scratch[worker];

	w->input.whole = true;
	f->ev->backend->forward(f->ev->state, worker, f->circuit, &w->input, true, w->readout[f->circuit]);
}

static int check_norm(const struct evaluator *ev, uint32_t c, const cplx *psi, struct err *e)
{
	double sum = 0;

	for (uint64_t i = 0; i < UINT64_C(1) << ev->p->circuit[c].nwire; i++)
		sum += creal(psi[i]) * creal(psi[i]) + cimag(psi[i]) * cimag(psi[i]);
	if (fabs(sum - 1) <= norm_tolerance(ev))
		return 0;
	return err_set(e, -ERR_NOT_FINITE, "the probabilities of the state add up to %.6g, not 1: rounding has changed the norm%s", sum,
		ev->pl->precision == PRECISION_SINGLE ? "; compute in double precision" : "");
}

int evaluator_state(struct evaluator *ev, uint32_t c, const double *input_row, cplx *out, struct err *e)
{
	struct scratch *w = &ev->scratch[0];
	struct batch kept = ev->batch;
	int code;

	if (evaluator_cones(ev))
		BUG("the state of a circuit is asked for, and there are its cones");

	ev->batch = (struct batch){ .nsample = 1, .input = input_row };
	code = evaluator_need_states(ev, e);
	if (!code)
		code = unit_fill(ev, w, 0, 1, e);
	if (!code) {
		/* As units are done: small numbers are 0 then, too. */
		ev->backend->run(ev->state, &(struct unit_job){ &(struct one_forward){ ev, c }, 1, 0, claim_one, forward_one });
		ev->backend->amplitudes(ev->state, 0, c, 0, out);
		code = check_norm(ev, c, out, e);
	}
	ev->batch = kept;
	return code;
}

bool evaluator_rank(const struct evaluator *ev, uint32_t *r, uint32_t *nsample)
{
	return rank_size(ev, r, nsample);
}

void evaluator_work(const struct evaluator *ev, double *flops, double *bytes)
{
	uint32_t r, nsample = ev->batch.nsample, passes;
	bool rank = rank_size(ev, &r, &nsample);
	double nominal;

	plan_flops(ev->pl, ev->gradient, flops, &nominal);
	plan_traffic(ev->pl, ev->gradient, bytes, &passes);
	*flops = rank ? rank_flops(ev->pl, nsample, r, ev->gradient) : *flops * nsample;
	*flops += ev->o.start_again ? plan_start_flops(ev->pl) : 0;
	*bytes *= rank ? r : nsample;
}

void evaluator_measure(struct evaluator *ev, bool on)
{
	ev->watch = (struct stopwatch){ .on = on };
}

const double *evaluator_parts(const struct evaluator *ev)
{
	return ev->watch.seconds;
}

const struct plan_seconds *evaluator_passes(const struct evaluator *ev, uint32_t c)
{
	return ev->state && ev->backend->passes ? ev->backend->passes(ev->state, c) : NULL;
}

void evaluator_shares(const struct evaluator *ev, uint64_t *count, unsigned nthread)
{
	if (ev->state && ev->backend->shares && ev->backend->shares(ev->state, count, nthread))
		return;
	for (unsigned k = 0; k < nthread; k++)
		count[k] = k < ev->nworker ? ev->scratch[k].nunit : 0;
}
