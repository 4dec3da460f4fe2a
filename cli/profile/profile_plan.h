/* SPDX-License-Identifier: Apache-2.0
 * What a profile's items and stages are: the plan of the program that was evaluated. */
#pragma once

#include "runtime/base/profile/profile.h"
#include "runtime/exec/statevector/plan/plan.h"

/* Layers, stages and items of what an evaluator of `program` with these options evaluates, and its engine, target,
 * precision, shape and threads. Expected times are by the limits (NULL: those of a usual machine, and the profile has none).
 * Where there is no plan, nothing is added. */
void profile_describe_plan(struct profile *p, const struct program *program,
	const struct evaluator_options *o, const struct plan_limits *limits);
/* Exact optimisations that o switches off and that would save operations for batches of p->batch_size. */
void profile_describe_options(struct profile *p, const struct program *program,
	const struct evaluator_options *o);
