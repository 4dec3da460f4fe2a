/* SPDX-License-Identifier: Apache-2.0
 * Does a state belong to a job?  Its numbers are checked here, the sizes of its vectors by those who made it. */
#include "runtime/train/checkpoint/train_state.h"

#include <math.h>

#include "runtime/train/optimizer/schedule.h"

static int wrong(struct err *e, const char *what)
{
	return err_set(e, -ERR_BAD_DATA, "the state is not of this training: %s", what);
}

static int check_callbacks(const struct train_job *j, const struct restart_state *s, struct err *e)
{
	struct learning_rate rate = { .optimizer = j->optimizer, .schedule = j->schedule };

	if (s->callbacks)
		return 0;
	struct callbacks *c = callbacks_new(j, &rate, e);
	if (!c)
		return -ERR_CONFIG;
	int code = callbacks_restore(c, s->restart, s->callback_list, s->ncallback, e);
	if (!code && (callbacks_best(c) != NULL) != (s->callback_best != NULL))
		code = wrong(e, "the best weights are missing");
	if (!code && !s->at && !s->after && callbacks_stopped(c))
		code = wrong(e, "its epoch was not begun");
	callbacks_free(c);
	return code;
}

static int check_start(const struct train_job *j, const struct restart_state *s, struct err *e)
{
	uint32_t per_epoch = train_steps_per_epoch(j), batch = train_batch_size(j);

	if (s->epoch <= j->initial_epoch || s->epoch - (s->after != NULL) > j->epochs)
		return wrong(e, "no such epoch");
	uint64_t before = (uint64_t)(s->epoch - 1 - j->initial_epoch) * per_epoch;
	uint64_t k = s->step - before;
	if (!s->step || s->step < before || k > per_epoch || (j->max_steps && s->step > j->max_steps))
		return wrong(e, "its step is not in its epoch");
	/* The first update of an epoch could not be made. */
	if (!k && !s->after && (s->over || s->step == j->max_steps))
		return wrong(e, "its epoch was not begun");
	if (s->at != train_samples(j, s->epoch, (uint32_t)k))
		return wrong(e, "no such place in an epoch");
	/* Where max_steps is larger by now, what was the last update is no longer. */
	bool last = !s->after && (k == per_epoch || s->step == j->max_steps), given = s->nbatch > 0;
	if ((last && !given) || given != (s->gradient != NULL) || given != (s->readout != NULL)
		|| s->nbatch > batch)
		return wrong(e, "the last update is missing");
	if ((s->output != NULL) != (j->measures.nmetric > 0))
		return wrong(e, "the outputs are missing");
	if (!isfinite(s->loss_sum) || !(s->seconds >= 0))
		return wrong(e, "a sum is not a number");
	return check_callbacks(j, s, e);
}

static int check_ended(const struct train_job *j, const struct restart_state *s, uint32_t at, struct err *e)
{
	if (!at || !s->last->epoch || s->last->epoch > j->epochs)
		return wrong(e, "the epoch at which a restart ended does not exist");
	return 0;
}

int train_state_check(const struct train_job *j, const struct train_state *s, struct err *e)
{
	int code = 0;

	if (!s->nrunning || s->nrunning > STATE_RESTARTS_MAX || s->ndone >= j->restarts
		|| s->running[0].restart != s->ndone || s->running[0].events.n)
		return wrong(e, "the number of a restart is out of range");
	if (s->ndone && (!s->best || !s->end || s->best->winner >= s->ndone))
		return wrong(e, "the number of the best restart is out of range");
	for (uint32_t k = 0; !code && k < s->nrunning; k++) {
		if (k && (s->running[k].restart <= s->running[k - 1].restart || s->running[k].restart >= j->restarts))
			return wrong(e, "the number of a restart is out of range");
		code = s->running[k].last ? check_ended(j, &s->running[k], k, e) : check_start(j, &s->running[k], e);
	}
	return code;
}

const struct restart_state *train_state_restart(const struct train_state *s, uint32_t restart)
{
	for (uint32_t k = 0; s && k < s->nrunning; k++)
		if (s->running[k].restart == restart)
			return &s->running[k];
	return NULL;
}
