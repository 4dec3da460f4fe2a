/* SPDX-License-Identifier: Apache-2.0
 * Counts the steps of a command and takes one capture after the first of them. */
#include "config.h"
#include "cli/profile/profiling.h"

#include "cli/profile/profile_plan.h"
#include "runtime/base/system/clock.h"

void profile_describe_subject(void *ctx, struct profile *p)
{
	const struct profile_subject *s = ctx;

	p->command = arena_strdup(&p->arena, s->command ? s->command : "");
	p->model = arena_strdup(&p->arena, s->model ? s->model : "");
	p->batch_size = s->batch_size;
	p->gradient = s->gradient;
	profile_describe_plan(p, s->program, s->options, s->limits);
	profile_describe_options(p, s->program, s->options);
}

void profiling_begin(struct cli *c, const struct profile_subject *s, struct pool *pool)
{
	struct profiling *g = c->profiling;

	if (!g || g->captures || g->result)
		return;
	g->subject = *s;
	g->subject.limits = g->measured ? &g->limits : NULL;
	g->captures = captures_new(profile_describe_subject, &g->subject, pool);
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
	if (!g->nstep)
		g->startup_seconds = clock_seconds() - g->began;
	if (g->nstep++ == g->warmup)
		captures_ask(g->captures, &g->order, complete, g);
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
