/* SPDX-License-Identifier: Apache-2.0
 * Does a state belong to a job?  Shapes are given by who made the state; here are its numbers. */
#include "config.h"
#include "runtime/train/state.h"

#include <math.h>

static int wrong(struct err *e, const char *what)
{
	return err_set(e, -ERR_BAD_DATA, "the state is not of this training: %s", what);
}

static int check_start(const struct train_job *j, const struct start_state *s, struct err *e)
{
	uint32_t batch = j->batch_size < j->train.nrow ? j->batch_size : j->train.nrow;
	uint64_t per_epoch = (j->train.nrow - 1) / batch + 1, steps;
	bool last;

	if (!s->epoch || s->epoch > j->epochs)
		return wrong(e, "no such epoch");
	if (!s->at || s->at > j->train.nrow || (s->at < j->train.nrow && s->at % batch))
		return wrong(e, "no such place in an epoch");
	steps = (s->epoch - 1) * per_epoch + (s->at - 1) / batch + 1;
	if (s->step != steps || (j->max_steps && s->step > j->max_steps))
		return wrong(e, "its step is not in its epoch");
	last = s->at == j->train.nrow || s->step == j->max_steps;
	if (last != (s->gradient != NULL) || last != (s->readout != NULL) || s->nbatch > batch || last != (s->nbatch > 0))
		return wrong(e, "the last update is missing");
	if ((s->output != NULL) != (j->measures.nmetric > 0))
		return wrong(e, "the outputs are missing");
	if (!isfinite(s->loss_sum) || !(s->seconds >= 0))
		return wrong(e, "a sum is not a number");
	return 0;
}

int train_state_check(const struct train_job *j, const struct train_state *s, struct err *e)
{
	if (s->nrunning != 1 || s->ndone >= j->restarts || s->running[0].start != s->ndone)
		return wrong(e, "no such start");
	if (s->ndone && (!s->best || s->best->winner >= s->ndone))
		return wrong(e, "no such winner");
	return check_start(j, &s->running[0], e);
}
