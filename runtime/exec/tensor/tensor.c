/* SPDX-License-Identifier: Apache-2.0
 * The engine of tensor contraction: its table, its life, and batches. */
#include "runtime/exec/tensor/tensor.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/exec/target.h"
#include "runtime/exec/tensor/tensor_summary.h"

enum {
	QUBITS_LEAST = 16, /* with fewer, 2^n amplitudes are few: not worth looking for an order of contraction */
	MIB = 1 << 20
};

static const double SHARING_GAIN = 0.7; /* of each thread, in contractions that threads share */

/* ---- before it is open ---- */

static const char *tensor_obstacle(const struct engine_problem *p)
{
	const struct evaluator_options *o = p->options;

	if (o->method == METHOD_STATEVECTOR)
		return "state vectors are asked for";
	/* Unless there would be trajectories, whose number was left open. */
	if (o->method == METHOD_AUTO && program_nwire(p->program) < QUBITS_LEAST
		&& (o->trajectories || !program_is_noisy(p->program))
		&& !engine_statevector.obstacle(p))
		return "state vectors of less than 16 qubits are small";
	if (!target_or_best(o->target)->contraction)
		return "only the device cpu contracts tensors (run.device)";
	if (o->shots)
		return "readouts are drawn from state vectors";
	if (o->gradient > GRADIENT_ADJOINT)
		return "the gradient method is not adjoint";
	if (o->split > 1 || o->rank)
		return "states are split over ranks";
	return network_obstacle(p->program, o->trajectories != TRAJECTORIES_NONE);
}

static int tensor_cost(const struct engine_problem *p, struct engine_cost *out)
{
	uint32_t n = p->nsample ? p->nsample : tensor_usual_samples(p->program);
	bool gradient = p->options->gradient != GRADIENT_NONE;
	struct tensor_plan *pl = tensor_plan_within(p->program, p->options, n, gradient,
		p->most > 0 ? p->most : INFINITY);

	if (!pl)
		return -ERR_CONFIG;
	*out = (struct engine_cost){ .flops = tensor_plan_flops(pl, n, gradient) / n,
		.effort = tensor_plan_effort(pl, n, gradient) / n };
	tensor_plan_free(pl);
	return 0;
}

static int tensor_check(const struct engine_problem *p, struct err *e)
{
	struct tensor_plan *pl = tensor_plan_new(p->program, p->options);

	if (!pl)
		return err_set(e, -ERR_CONFIG,
			"each order of contraction that was found has tensors of more than 2^32 entries");
	tensor_plan_free(pl);
	return 0;
}

static void tensor_describe(const struct engine_problem *p, struct buf *out)
{
	bool gradient = p->options->gradient != GRADIENT_NONE;
	struct tensor_summary s;

	if (!tensor_summary(p, &s)) {
		buf_str(out, "too large");
		return;
	}
	buf_printf(out,
		"%.4g operations a sample in batches of %u, in double precision; %u network%s, %u contraction%s, the largest tensor of "
		"%.4g entries; units of %u sample%s, %.4g MiB a thread and %.4g MiB for all",
		gradient ? s.gradient_flops : s.forward_flops, s.batch, s.nnetwork,
		s.nnetwork == 1 ? "" : "s", s.ncontraction, s.ncontraction == 1 ? "" : "s", s.largest,
		s.width, s.width == 1 ? "" : "s", s.thread_bytes / MIB, s.shared_bytes / MIB);
}

/* ---- life ---- */

static void tensor_close(void *state)
{
	mem_auto struct tensor *t = state;

	tensor_free_memory(t);
	free(t->dreadout);
	tensor_plan_free(t->pl);
	arena_release(&t->arena);
}

static void list_matrices(struct tensor *t)
{
	const struct network_set *s = &t->pl->set;
	uint32_t n = s->set.n;

	t->sample_offset = arena_alloc(&t->arena, s->ntransfer, sizeof *t->sample_offset);
	t->need_sample = arena_alloc(&t->arena, n, sizeof(bool));
	t->transition = arena_alloc(&t->arena, n, sizeof(bool));
	t->reverse = arena_alloc(&t->arena, n, sizeof(bool));
	t->transition_sample = arena_alloc(&t->arena, n, sizeof(bool));
	t->reverse_sample = arena_alloc(&t->arena, n, sizeof(bool));
	t->channel = arena_alloc(&t->arena, s->nchannel, sizeof(bool));
	for (uint32_t k = 0; k < s->ntransfer; k++) {
		const struct transfer *x = &s->transfer[k];
		bool sample = x->cls == VALUE_SAMPLE;

		if (sample) {
			t->sample_offset[k] = t->nsample_entry;
			t->nsample_entry += (size_t)1 << (4 * x->nqubit);
		}
		if (sample && x->channel == INDEX_NONE)
			t->need_sample[x->matrix] = true;
		if (!t->pl->depends[x->matrix] || t->o.gradient == GRADIENT_NONE)
			continue;
		if (x->channel != INDEX_NONE) {
			t->channel[x->channel] = !sample;
			t->direct |= sample;
			continue;
		}
		(sample ? t->transition_sample : t->transition)[x->matrix] = true;
		(sample ? t->reverse_sample : t->reverse)[x->matrix] = true;
		t->direct |= sample;
	}
	matrix_set_close(&s->set, t->need_sample);
	matrix_set_close(&s->set, t->reverse);
	matrix_set_close(&s->set, t->reverse_sample);
	for (uint32_t m = 0; m < n; m++)
		t->nvector += t->transition[m] ? s->set.offset[m + 1] - s->set.offset[m] : 0;
	for (uint32_t c = 0; c < s->nchannel; c++)
		t->nvector += t->channel[c] ? s->channel[c].nword : 0;
	t->nvector += (t->direct ? t->p->nweight_circuit : 0) + t->p->nweight - t->p->nweight_circuit;
}

static int tensor_open(const struct engine_problem *p, void **state, struct err *e)
{
	struct tensor *t = mem_alloc(1, sizeof *t);
	int code = 0;

	t->p = p->program;
	t->o = *p->options;
	t->o.target = target_or_best(t->o.target);
	t->kernels = t->o.target->contraction;
	t->nthread = t->o.nthread;
	t->pl = tensor_plan_new(t->p, &t->o);
	if (!t->pl)
		code = err_set(e, -ERR_CONFIG, "tensors of more than 2^32 entries are too large");
	if (!code)
		list_matrices(t);
	if (!code && !t->o.remote)
		code = tensor_check_memory(t, e);
	if (!code)
		tensor_take_lists(t);
	if (!code && !t->o.remote)
		code = tensor_take_memory(t, e);
	if (code)
		tensor_close(t);
	else
		*state = t;
	return code;
}

static void tensor_layout(const void *state, struct engine_layout *out)
{
	const struct tensor *t = state;

	*out = (struct engine_layout){ .width = t->pl->lanes,
		.nvector = t->nvector,
		.nworker = t->nthread,
		.two_phase = t->pl->nslice > 0,
		.precision = PRECISION_DOUBLE };
}

/* ---- a batch ---- */

static bool tensor_prepare(void *state, const struct batch *b, bool gradient, struct engine_units *out)
{
	struct tensor *t = state;
	uint32_t lanes = t->pl->lanes;

	t->batch = *b;
	t->gradient = gradient;
	if (t->pl->nslice) {
		*out = (struct engine_units){
			.nunit = t->pl->nslice, .nstate = b->nsample, .two_phase = true
		};
		if (gradient)
			t->dreadout = mem_grow(t->dreadout, (size_t)b->nsample * t->p->nreadout,
				sizeof *t->dreadout);
		return true;
	}
	*out = (struct engine_units){ .nunit = (b->nsample + lanes - 1) / lanes,
		.nstate = b->nsample,
		.flops = tensor_plan_effort(t->pl, lanes, gradient) };
	return true;
}

static void tensor_work(const void *state, double *flops, double *bytes)
{
	const struct tensor *t = state;

	*flops = tensor_plan_flops(t->pl, t->batch.nsample, t->gradient);
	*bytes = 0;
}

static double tensor_plain_flops(const void *state, const struct program *written)
{
	const struct tensor *t = state;

	uint32_t n = tensor_usual_samples(written);

	return tensor_plan_flops(t->pl, n, t->o.gradient != GRADIENT_NONE) / n;
}

static int tensor_begin(void *state, struct err *e)
{
	const struct tensor *t = state;

	return t->improper ? tensor_refuse_channel(t->improper, e) : tensor_take_memory(state, e);
}

/* Units side by side, or one after the other with all threads on each? */
static unsigned workers(const struct tensor *t, uint32_t nunit)
{
	unsigned n = t->nworker < nunit ? t->nworker : nunit;
	double large = t->pl->nslice ? t->pl->shared_large : t->pl->sample_large;
	double alone = nunit * (1 - large + large / (SHARING_GAIN * t->nthread));

	return n && alone < (double)((nunit + n - 1) / n) ? 1 : n;
}

static void tensor_run(void *state, const struct unit_job *job)
{
	struct tensor *t = state;
	unsigned n = workers(t, job->nunit);

	t->together = n > 1 ? 1 : t->nthread;
	t->kernels->run(n, job);
}

const struct engine engine_tensor = {
	.name = "tensor",
	.obstacle = tensor_obstacle,
	.describe = tensor_describe,
	.cost = tensor_cost,
	.check = tensor_check,
	.memory = tensor_memory,
	.open = tensor_open,
	.close = tensor_close,
	.layout = tensor_layout,
	.set_weights = tensor_set_weights,
	.prepare = tensor_prepare,
	.work = tensor_work,
	.plain_flops = tensor_plain_flops,
	.begin = tensor_begin,
	.run = tensor_run,
	.forward = tensor_forward,
	.backward = tensor_backward,
	.finish = tensor_finish,
	.readout = tensor_readout,
	.readout_gradient = tensor_readout_gradient,
	.mix = tensor_mix,
};
