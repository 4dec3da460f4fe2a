/* SPDX-License-Identifier: Apache-2.0
 * A plan as the rows of a profile, in the order of plan_profile_item. */
#include "cli/profile/profile_plan.h"

#include "runtime/base/system/cpus.h"
#include "runtime/exec/engine.h"
#include "runtime/exec/statevector/plan/plan_work.h"
#include "runtime/exec/statevector/statevector.h"
#include "runtime/exec/tensor/tensor_summary.h"

static uint32_t line_of(const struct program *p, uint32_t span)
{
	return span < p->nspan ? p->span[span].line : 0;
}

/* A layer begins at the first line of its applies. */
static void add_layers(struct profile *p, const struct program *g)
{
	struct profile_layer *layer = arena_alloc(&p->arena, g->nlayer, sizeof *layer);

	for (uint32_t k = 0; k < g->nlayer; k++)
		layer[k].path = arena_strdup(&p->arena, g->layer[k].path);
	for (uint32_t c = 0; c < g->ncircuit; c++)
		for (uint32_t k = 0; k < g->circuit[c].napply; k++) {
			const struct apply *a = &g->circuit[c].apply[k];
			uint32_t line = line_of(g, a->span);

			if (a->layer < g->nlayer && line
				&& (!layer[a->layer].line || line < layer[a->layer].line))
				layer[a->layer].line = line;
		}
	p->layer = layer;
	p->nlayer = g->nlayer;
}

static const char *family_of(struct profile *p, const struct plan *pl, const struct plan_step *s)
{
	unsigned flags = s->op == STEP_UNITARY ? pl->set.def[s->matrix]->flags : 0;
	const char *kind = s->op != STEP_UNITARY ? "prepare"
		: flags & MATRIX_DIAGONAL        ? "diagonal"
		: pl->moves[s->matrix]           ? "permutation"
						 : "dense";

	return s->ncontrol ? arena_printf(&p->arena, "%s %u, controlled", kind, s->ntarget)
			   : arena_printf(&p->arena, "%s %u", kind, s->ntarget);
}

static void describe_step(struct profile *p, const struct plan *pl, const struct plan_circuit *c,
	uint32_t k, struct profile_item *item)
{
	const struct program *g = pl->program;
	const struct plan_step *s = &c->step[k];
	const struct apply *a = &c->code->apply[s->apply];
	const char *name = s->op == STEP_UNITARY ? pl->set.def[s->matrix]->name : NULL;

	item->kind = ITEM_STEP;
	item->step = k;
	item->matrix = name ? arena_strdup(&p->arena, name) : NULL;
	item->family = family_of(p, pl, s);
	item->layer = a->layer < g->nlayer ? a->layer : UINT32_MAX;
	item->line = line_of(g, a->span);
}

/* Operations of the steps of a stage, or of all where there are none, one by one. */
static void step_flops(const struct plan *pl, const struct plan_circuit *c,
	const struct plan_stage *s, struct profile_item *item)
{
	struct plan_visited v = plan_visit(pl, c, s);

	for (uint32_t k = s->first; k < s->first + s->count; k++) {
		struct plan_visited_step n = plan_visit_step(pl, &v, &c->step[k]);

		/* The tail's matrix is absorbed into the observable. */
		if (c->step[k].tail)
			continue;
		item[k].flops[0] = n.forward_flops;
		item[k].flops[1] = n.back_flops;
	}
}

static void add_circuit(struct profile *p, const struct plan *pl, uint32_t number,
	const struct plan_limits *l, struct profile_item *item, struct profile_stage *stage)
{
	const struct plan_circuit *c = &pl->circuit[number];
	mem_auto struct plan_seconds *expected = mem_alloc(c->nstage + (size_t)1, sizeof *expected);
	struct plan_seconds all;

	if (target_can(pl->target, TARGET_STAGES))
		plan_seconds(pl, c, l, expected, &all);
	for (uint32_t k = 0; k < c->nstep + PLAN_OTHER_STAGES + c->nstage; k++) {
		item[k].circuit = number;
		item[k].stage = item[k].layer = UINT32_MAX;
	}
	for (uint32_t k = 0; k < c->nstep; k++)
		describe_step(p, pl, c, k, &item[k]);
	item[c->nstep + PLAN_OTHER_READOUTS].kind = ITEM_READOUTS;
	item[c->nstep + PLAN_OTHER_START].kind = ITEM_START;
	if (!c->nstage)
		step_flops(pl, c,
			&(struct plan_stage){ .first = c->nstart, .count = c->nstep - c->nstart },
			item);
	/* What is constant at the start is done once, not in each call. */
	for (uint32_t k = c->nstart_stage; k < c->nstage; k++) {
		const struct plan_stage *s = &c->stage[k];
		struct profile_item *transfer = &item[c->nstep + PLAN_OTHER_STAGES + k];

		for (uint32_t i = s->first; i < s->first + s->count; i++)
			item[i].stage = k;
		step_flops(pl, c, s, item);
		transfer->kind = ITEM_TRANSFER;
		transfer->stage = k;
		stage[k] = (struct profile_stage){ .circuit = number,
			.stage = k,
			.fused = k + 1 == c->nstage && plan_fuses_last(pl, c),
			.expected_ns = { 1e9 * expected[k].forward, 1e9 * expected[k].back } };
		for (unsigned back = 0; back < 2; back++) {
			plan_pass(pl, c, k, back, &stage[k].flops[back], &stage[k].bytes[back]);
			transfer->bytes[back] = stage[k].bytes[back];
		}
	}
}

static void add_plan(struct profile *p, const struct plan *pl, const struct plan_limits *l)
{
	struct profile_stage *stage;
	struct profile_item *item;

	for (uint32_t c = 0; c < pl->ncircuit; c++)
		p->nstage += pl->circuit[c].nstage;
	p->nitem = plan_profile_items(pl);
	p->stage = stage = arena_alloc(&p->arena, p->nstage, sizeof *stage);
	p->item = item = arena_alloc(&p->arena, p->nitem, sizeof *item);
	for (uint32_t c = 0; c < pl->ncircuit; c++) {
		add_circuit(p, pl, c, l, item + plan_profile_item(pl, c, 0), stage);
		stage += pl->circuit[c].nstage;
	}
	p->width = pl->width;
	p->target = arena_strdup(&p->arena, pl->target->kernels);
	p->precision = pl->precision == PRECISION_DOUBLE ? "double" : "single";
	p->shape = pl->shape == SHAPE_BATCHED   ? "samples in lanes"
		: pl->shape == SHAPE_PER_THREAD ? "a state a thread"
						: "a state of all threads";
}

/* Effort of a sample; 0: unknown. */
static double effort(const struct program *program, const struct evaluator_options *o, uint32_t nsample)
{
	const struct engine *engine[ENGINES_MAX];
	struct engine_problem problem = { .options = o, .nsample = nsample };
	struct engine_cost cost = { 0 };
	arena_auto a = { 0 };

	problem.program = evaluator_program(program, o, &a);
	unsigned n = engine_choose(&problem, engine);
	for (unsigned k = 0; k < n && !(cost.effort > 0); k++)
		if (engine[k]->cost && engine[k]->cost(&problem, &cost))
			cost.effort = 0;
	return cost.effort;
}

void profile_describe_options(struct profile *p, const struct program *program,
	const struct evaluator_options *o)
{
	struct profile_option *off = arena_alloc(&p->arena, OPTIMISATIONS_COUNT, sizeof *off);
	double now = effort(program, o, p->batch_size);

	p->switched_off = off;
	for (unsigned k = 0; k < OPTIMISATIONS_COUNT; k++) {
		struct evaluator_options with = *o;

		with.optimisations |= 1u << k;
		double then = with.optimisations == o->optimisations
			? 0
			: effort(program, &with, p->batch_size);
		if (then > 0 && then < now)
			off[p->nswitched_off++] =
				(struct profile_option){ optimisation_name[k], now / then };
	}
}

/* Its contractions are not recorded one by one. */
static void describe_tensors(struct profile *p, const struct program *program,
	const struct evaluator_options *o)
{
	const struct engine_problem problem = {
		.program = program, .options = o, .nsample = p->batch_size
	};
	struct tensor_summary s = { 0 };

	add_layers(p, program);
	tensor_summary(&problem, &s);
	p->width = s.width;
	p->target = arena_strdup(&p->arena, target_or_best(o->target)->kernels);
	p->precision = "double";
	p->shape = arena_printf(&p->arena, "%u tensor network%s, %u contractions", s.nnetwork,
		s.nnetwork == 1 ? "" : "s", s.ncontraction);
}

/* The steps and stages of state vectors. */
static void describe_states(struct profile *p, const struct program *program,
	const struct evaluator_options *o, const struct plan_limits *l)
{
	arena_auto a = { 0 };
	struct plan *pl = statevector_plan_new(evaluator_program(program, o, &a), o, NULL);

	if (pl) {
		add_layers(p, pl->program);
		add_plan(p, pl, l);
	}
	plan_free(pl);
}

void profile_describe_plan(struct profile *p, const struct program *program,
	const struct evaluator_options *o, const struct plan_limits *limits)
{
	static const struct plan_limits usual = { .nthread = 2,
		.stream_gb_s = 50,
		.write_gb_s = 40,
		.l2_gb_s = 100,
		.single_gflop_s = 350,
		.double_gflop_s = 175 };
	struct plan_limits device = plan_usual_limits(target_or_best(o->target), 1);
	bool on_device = target_has_memory(target_or_best(o->target));

	if (o->method == METHOD_TENSOR)
		describe_tensors(p, program, o);
	else
		describe_states(p, program, o, limits ? limits : on_device ? &device : &usual);
	p->nthread = o->nthread;
	p->nprocessor = cpus_threads(NULL);
	p->engine = o->method == METHOD_TENSOR ? "tensor" : "statevector";
	if (limits)
		p->limits = (struct profile_limits){ .stream_gb_s = limits->stream_gb_s,
			.write_gb_s = limits->write_gb_s,
			.l2_gb_s = limits->l2_gb_s,
			.single_gflop_s = limits->single_gflop_s,
			.double_gflop_s = limits->double_gflop_s };
}
