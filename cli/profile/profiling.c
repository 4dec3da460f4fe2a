/* SPDX-License-Identifier: Apache-2.0
 * Counts the steps of a command and takes one capture after the first of them. */
#include "cli/profile/profiling.h"

#include "cli/machine.h"
#include "cli/profile/profile_plan.h"
#include "runtime/base/system/clock.h"

static const double LONG_SECONDS = 1;

void profile_describe_subject(void *ctx, struct profile *p)
{
	const struct profile_subject *s = ctx;

	p->command = arena_strdup(&p->arena, s->command ? s->command : "");
	p->model = arena_strdup(&p->arena, s->model ? s->model : "");
	p->batch_size = s->batch_size;
	p->gradient = s->gradient;
	p->streaming = s->streaming;
	p->histograms = s->histograms;
	profile_describe_plan(p, s->program, s->options, s->limits);
	profile_describe_options(p, s->program, s->options);
}

/* What the machine can do at best with the kernels that are used, by all threads of a process; without workers'
 * processes those of the command. */
static void measure_limits(struct profiling *g)
{
	const struct target *t = target_or_best(g->subject.options->target);
	double began = clock_seconds();
	struct err e;

	if (target_has_limits(t) && !limits_measure(t, g->subject.options->nthread, &g->limits, &e))
		g->subject.limits = &g->limits;
	g->began += clock_seconds() - began; /* no part of the time before the first step */
}

void profiling_begin(struct cli *c, const struct profile_subject *s, struct pool *pool)
{
	struct profiling *g = c->profiling;

	if (!g || g->captures || g->result)
		return;
	g->subject = *s;
	if (!g->no_limits)
		measure_limits(g);
	g->captures = captures_new(profile_describe_subject, &g->subject, pool, s->options->rank);
}

static void complete(void *ctx, struct profile *p)
{
	struct profiling *g = ctx;

	g->result = p;
	p->startup_seconds = g->startup_seconds;
}

bool profiling_step(struct cli *c, uint64_t samples)
{
	struct profiling *g = c->profiling;

	if (!g || !g->captures)
		return false;
	if (!g->nstep++) {
		g->first_step = clock_seconds();
		g->startup_seconds = g->first_step - g->began;
	}
	/* After the first steps, or after one that takes long. */
	if (!g->asked
		&& (g->nstep > g->warmup
			|| (g->nstep > 1 && clock_seconds() - g->first_step > LONG_SECONDS))) {
		captures_ask(g->captures, &g->order, complete, g);
		g->asked = true;
	}
	captures_step(g->captures, samples);
	return g->result != NULL;
}

void profiling_end(struct cli *c)
{
	struct profiling *g = c->profiling;

	if (!g || !g->captures)
		return;
	captures_end(g->captures);
	captures_free(g->captures);
	g->captures = NULL;
}
