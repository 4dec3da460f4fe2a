/* SPDX-License-Identifier: Apache-2.0
 * The test part with the weights of a training that has ended. */
#include "cli/training/train_test.h"

#include "cli/signals.h"
#include "runtime/base/rng.h"
#include "runtime/exec/exact_optimisation.h"
#include "runtime/net/scheduler/pool_threads.h"

/* As qcnn infer: a sample's numbers do not depend on the others, and shots are not those of the training. */
static struct evaluator_options options_of(const struct job *j)
{
	struct evaluator_options o = j->train.exec;

	o.optimisations &= OPTIMISATION_HEISENBERG_TAIL | OPTIMISATION_LIGHT_CONE;
	if (o.shots || o.gradient != GRADIENT_ADJOINT)
		o.gradient = GRADIENT_NONE;
	o.remote = j->train.pool != NULL;
	if (o.remote)
		o.nthread = 1;
	return o;
}

static int evaluate(struct job *j, const double *weight, struct err *e)
{
	const struct part *part = &j->samples.part[PART_TEST];
	struct evaluator_options o = options_of(j);
	mem_auto double *output =
		mem_try((size_t)part->nrow, j->model.program->noutput * sizeof *output);
	struct evaluator *ev;

	if (!output)
		return err_set(e, -ERR_CONFIG, "no memory for the outputs of %u samples", part->nrow);
	int code = evaluator_new(j->model.program, &o, &ev, e);
	if (code)
		return code;
	struct pool *pool = o.remote ? j->train.pool : pool_threads_new(o.nthread);
	evaluator_draws(ev,
		rng_u64((uint64_t)config_int(j->config, KEY_RUN_SEED), RNG_SHOT_KEY, 0, 0), 0);
	code = evaluate_part_until(ev, part, &j->train.measures, weight, output, &j->test.loss,
		j->test.metric, pool, stop_asked, e);
	if (!o.remote)
		pool->ops->free(pool);
	evaluator_free(ev);
	return code;
}

void train_test(const struct cli *c, struct job *j, const double *weight)
{
	const struct part *part = &j->samples.part[PART_TEST];
	struct err e;

	if (!part->nrow || !part->data->ny)
		return;
	j->test.done = !evaluate(j, weight, &e);
	if (!j->test.done)
		cli_note(c, "the test data were not evaluated: %s%s", e.text,
			stop_asked() ? "; `qcnn infer` evaluates them" : "");
}
