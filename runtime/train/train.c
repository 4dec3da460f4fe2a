/* SPDX-License-Identifier: Apache-2.0
 * A training run: checks, its restarts, and the best of them. */
#include "runtime/train/train.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/train/checkpoint/train_state.h"
#include "runtime/train/concurrent_restarts.h"
#include "runtime/train/score.h"

/* A class that no sample has is an error, for example 0 and 1 for labels -1 and 1. */
static int classes_check(const struct train_job *j, struct err *e)
{
	const struct dataset *d = j->train.data;

	for (unsigned k = 0; k < j->class_weights.n; k++) {
		uint32_t i = 0;

		while (i < j->train.nrow
			&& label_class(d->y + (size_t)(j->train.row ? j->train.row[i] : i) * d->ny, d->ny) != j->class_weights.label[k])
			i++;
		if (i == j->train.nrow)
			return err_set(e, -ERR_CONFIG, "class_weight names class %g, which no label of the training data has",
				j->class_weights.label[k]);
	}
	return 0;
}

static bool lists_an_epoch(const struct train_job *j)
{
	for (uint32_t i = 0; i < j->nvalidation_epoch; i++)
		if (j->validation_epoch[i] > j->initial_epoch && j->validation_epoch[i] <= j->epochs)
			return true;
	return false;
}

static int epochs_check(const struct train_job *j, struct err *e)
{
	if (!j->epochs || !j->batch_size)
		return err_set(e, -ERR_CONFIG, "epochs and batch_size must be at least 1");
	if (j->initial_epoch >= j->epochs)
		return err_set(e, -ERR_CONFIG, "initial_epoch is %u of %u epochs, so that nothing is left to train",
			j->initial_epoch, j->epochs);
	if (j->nvalidation_epoch && !lists_an_epoch(j))
		return err_set(e, -ERR_CONFIG, "train.validation_freq lists none of the epochs %u to %u", j->initial_epoch + 1, j->epochs);
	if (j->steps_per_epoch > 1 && optimizer_takes_all(j->optimizer))
		return err_set(e, -ERR_CONFIG, "steps_per_epoch is %u, but the optimizer %s takes all samples in one step",
			j->steps_per_epoch, j->optimizer->name);
	if (j->steps_per_epoch && (uint64_t)j->steps_per_epoch * j->batch_size > UINT32_MAX)
		return err_set(e, -ERR_CONFIG, "steps_per_epoch %u times batch_size %u is more than %u samples",
			j->steps_per_epoch, j->batch_size, UINT32_MAX);
	if (!j->restarts || j->restarts > TRAIN_RESTARTS_MAX)
		return err_set(e, -ERR_CONFIG, "restarts must be between 1 and %d", TRAIN_RESTARTS_MAX);
	return 0;
}

static int data_check(const struct train_job *j, struct err *e)
{
	if (!j->train.nrow)
		return err_set(e, -ERR_BAD_DATA, "the training data has no rows");
	int code = part_check(j->program, &j->train, "training data", &j->measures, e);
	return code || !j->validation.nrow ? code : part_check(j->program, &j->validation, "validation data", &j->measures, e);
}

static int loss_check(const struct train_job *j, struct err *e)
{
	int code = measures_check(&j->measures, j->program->noutput, e);

	return code ? code : penalty_check(j->measures.penalty, j->measures.npenalty, j->program, e);
}

static int update_check(const struct train_job *j, struct err *e)
{
	int code = optimizer_check(j->optimizer, j->option, e);

	return code || !j->optimizer->check ? code : j->optimizer->check(j->program, e);
}

/* An optimizer that finds its own learning rate takes no schedule. */
static int rate_check(const struct train_job *j, struct err *e)
{
	const struct schedule_row *row = j->schedule.row;
	int code = schedule_check(&j->schedule, e);

	if (code || !row || row == schedule_find("constant") || optimizer_has_rate(j->optimizer))
		return code;
	return err_set(e, -ERR_CONFIG,
		"schedule %s changes the learning rate, but the optimizer %s controls its own",
		row->name, j->optimizer->name);
}

static int constraints_check(const struct train_job *j, struct err *e)
{
	int code = constraint_check(j->constraint, j->nconstraint, j->program, e);

	if (code || !j->nconstraint || !optimizer_takes_all(j->optimizer))
		return code;
	return err_set(e, -ERR_CONFIG,
		"the optimizer %s does not support constraints: it chooses the weights of each evaluation",
		j->optimizer->name);
}

int train_check(const struct train_job *j, struct err *e)
{
	static int (*const check[])(const struct train_job *j, struct err *e) = { epochs_check, data_check, loss_check, update_check,
		rate_check, constraints_check, callbacks_check, classes_check };
	int code = 0;

	for (size_t k = 0; !code && k < sizeof check / sizeof *check; k++)
		code = check[k](j, e);
	return code;
}

static int result_memory(struct train_result *r, const struct train_job *j, struct err *e)
{
	size_t n = j->program->nweight ? j->program->nweight : 1;

	r->weight = mem_list_try(&r->memory, n, sizeof *r->weight);
	r->restart_loss = mem_list_try(&r->memory, j->restarts, sizeof *r->restart_loss);
	r->end = mem_list_try(&r->memory, j->restarts, sizeof *r->end);
	for (unsigned k = 0; k < optimizer_slots(j->optimizer, j->option); k++)
		r->slot[k] = mem_list_try(&r->memory, n, sizeof *r->weight);
	return r->memory.failed ? err_set(e, -ERR_CONFIG, "no memory for %zu weights", n) : 0;
}

/* The results of the restarts that had ended when the run was left. */
static void take_over(struct train_result *r, const struct train_job *j, const struct train_state *from)
{
	const struct train_result *best = from->best;
	size_t nbytes = j->program->nweight * sizeof *r->weight;

	if (!from->ndone)
		return;
	memcpy(r->restart_loss, from->restart_loss, from->ndone * sizeof *r->restart_loss);
	memcpy(r->end, from->end, from->ndone * sizeof *r->end);
	r->winner = best->winner;
	r->last = best->last;
	r->step = best->step;
	memcpy(r->weight, best->weight, nbytes);
	for (unsigned k = 0; k < optimizer_slots(j->optimizer, j->option); k++)
		memcpy(r->slot[k], best->slot[k], nbytes);
}

int train_run(const struct train_job *j, const struct train_observer *o, struct train_result *out, struct err *e)
{
	static const struct train_observer none;
	struct train_result r = { 0 };
	int code = train_check(j, e);

	if (!code && j->resume)
		code = train_state_check(j, j->resume, e);
	if (!o)
		o = &none;
	if (!code)
		code = result_memory(&r, j, e);
	if (!code && j->resume)
		take_over(&r, j, j->resume);
	if (!code)
		code = concurrent_restarts_run(j, o, &r, e);
	if (code)
		train_result_release(&r);
	else
		*out = r;
	return code;
}

void train_result_release(struct train_result *r)
{
	mem_list_free(&r->memory);
	*r = (struct train_result){ .memory.n = 0 };
}
