/* SPDX-License-Identifier: Apache-2.0
 * Copies of restarts' last states, in one piece of memory each. */
#include "runtime/train/checkpoint/end_states.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

enum { SEVERAL_BYTES_MAX = 256 << 20 };

struct end_state {
	struct restart_state at;
	struct epoch_record after;
	struct arena memory;
};

struct end_states {
	const struct train_job *job;
	pthread_mutex_t lock;
	struct end_state *of[STATE_RESTARTS_MAX]; /* NULL: that restart has not ended */
};

struct end_states *end_states_new(const struct train_job *j)
{
	struct end_states *s = mem_alloc(1, sizeof *s);

	*s = (struct end_states){ .job = j };
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

static void end_state_free(struct end_state *d)
{
	if (d)
		arena_release(&d->memory);
	free(d);
}

void end_states_free(struct end_states *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < STATE_RESTARTS_MAX; i++)
		end_state_free(s->of[i]);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* All of them are in memory at the same time, and in every checkpoint. */
static bool keeps(const struct train_job *j)
{
	unsigned nvector = 2 + optimizer_slots(j->optimizer, j->option);
	uint64_t each = (uint64_t)j->program->nweight * nvector * sizeof(double);

	return j->restarts == 1
		|| (j->restarts <= STATE_RESTARTS_MAX && j->restarts * each <= SEVERAL_BYTES_MAX);
}

static struct end_state *copy(const struct train_job *j, const struct restart_state *at)
{
	unsigned nslot = optimizer_slots(j->optimizer, j->option);
	size_t n = j->program->nweight,
	       ncallback = at->callbacks ? callbacks_state(at->callbacks, NULL, 0) : at->ncallback;
	const double *best = at->callbacks ? callbacks_best((struct callbacks *)at->callbacks)
					   : at->callback_best;
	struct end_state *d = mem_alloc(1, sizeof *d);
	struct arena *a = &d->memory;
	double *list = at->callbacks ? arena_alloc(a, ncallback, sizeof *list)
				     : arena_copy(a, at->callback_list, ncallback, sizeof *list);

	d->at = (struct restart_state){ .restart = at->restart,
		.epoch = at->epoch,
		.step = at->step,
		.weight = arena_copy(a, at->weight, n, sizeof *at->weight),
		.record = arena_copy(a, at->record, at->nrecord, sizeof *at->record),
		.nrecord = at->nrecord,
		.over = at->over || (at->callbacks && callbacks_stopped(at->callbacks)),
		.output = at->output ? list : NULL, /* of no sample */
		.callback_list = list,
		.callback_best = best ? arena_copy(a, best, n, sizeof *best) : NULL,
		.ncallback = ncallback };
	if (at->after) {
		d->after = *at->after;
		d->at.after = &d->after;
	}
	for (unsigned k = 0; k < nslot; k++)
		d->at.slot[k] = arena_copy(a, at->slot[k], n, sizeof *at->slot[k]);
	if (at->callbacks)
		callbacks_state(at->callbacks, list, ncallback);
	return d;
}

void end_states_add(struct end_states *s, const struct restart_state *at)
{
	if (!keeps(s->job))
		return;
	struct end_state *d = copy(s->job, at);
	pthread_mutex_lock(&s->lock);
	end_state_free(s->of[at->restart]);
	s->of[at->restart] = d;
	pthread_mutex_unlock(&s->lock);
}

const struct restart_state *end_states_of(const struct end_states *s, uint32_t restart)
{
	return s && restart < STATE_RESTARTS_MAX && s->of[restart] ? &s->of[restart]->at : NULL;
}

bool end_states_complete(const struct end_states *s)
{
	for (uint32_t i = 0; i < s->job->restarts; i++)
		if (!end_states_of(s, i))
			return false;
	return true;
}

uint32_t end_states_others(void *other_context, struct restart_state *out)
{
	const struct end_states *s = other_context;
	uint32_t n = 0;

	for (uint32_t i = 1; i < s->job->restarts; i++)
		out[n++] = *end_states_of(s, i);
	return n;
}
