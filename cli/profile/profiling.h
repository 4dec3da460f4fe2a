/* SPDX-License-Identifier: Apache-2.0
 * A command that runs under `qcnn profile` (struct cli.profiling): what it evaluates, and where its steps begin. */
#pragma once

#include "cli/command.h"
#include "cli/profile/captures.h"
#include "runtime/exec/evaluator.h"
#include "runtime/exec/statevector/plan/plan.h"

/* What a profile is about; all is borrowed and stays as it is while captures are taken. */
struct profile_subject {
	const char *command, *model; /* or NULL */
	const struct program *program;
	const struct evaluator_options *options;
	uint32_t batch_size;
	bool gradient, streaming, histograms; /* the latter two as in struct profile */
	const struct plan_limits *limits;     /* NULL: they were not measured */
};

/* captures_new's function; ctx: struct profile_subject. */
void profile_describe_subject(void *ctx, struct profile *p);

struct profiling {
	struct capture_order order;
	uint64_t warmup; /* steps before the profile */
	bool no_limits;  /* of the machine are measured */
	struct plan_limits limits;
	double began;           /* clock_seconds of the command's beginning */
	double startup_seconds; /* until the first step */
	double first_step;      /* clock_seconds */
	uint64_t nstep;
	bool asked; /* for the profile */
	struct profile_subject subject;
	struct captures *captures; /* NULL until there is a subject */
	struct profile *result;    /* NULL until the profile is complete */
};

/* Without effect where c->profiling is NULL: the command's evaluations are about to begin. */
void profiling_begin(struct cli *c, const struct profile_subject *s, struct pool *pool);
/* Between two steps, and before the first. True: the profile is complete, and the command may stop. */
bool profiling_step(struct cli *c, uint64_t samples);
/* No step follows; what was evaluated is about to be freed. */
void profiling_end(struct cli *c);
