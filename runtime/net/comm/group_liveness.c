/* SPDX-License-Identifier: Apache-2.0
 * A thread of each rank sends heartbeats; the others note when they have last changed. */
#include "runtime/net/comm/group_liveness.h"

#include "runtime/base/system/threads.h"

enum { INTERVAL_MS = 250, INTERVALS = 8 /* in a deadline */ };
/* Between two looks: this process did not wait all that time, or did not run. */
static const double AWAY_S = 1;

static void *show(void *ctx)
{
	struct group_liveness *l = ctx;

	mutex_auto held = mutex_hold(&l->lock);
	while (!l->ends) {
		l->transport->heartbeat(l->t);
		cond_wait_for(&l->ending, &l->lock, l->interval_ms / 1e3);
	}
	return NULL;
}

int group_liveness_start(struct group_liveness *l, const struct group_transport *transport, void *t,
	unsigned size, unsigned deadline_ms, struct err *e)
{
	unsigned ms = deadline_ms / INTERVALS + 1;

	*l = (struct group_liveness){ .transport = transport,
		.t = t,
		.size = size,
		.interval_ms = ms < INTERVAL_MS ? ms : INTERVAL_MS };
	pthread_mutex_init(&l->lock, NULL);
	cond_init(&l->ending);
	return thread_start(&l->thread, show, l)
		? 0
		: err_set(e, -ERR_CONFIG, "the system has no thread for a group of ranks");
}

void group_liveness_stop(struct group_liveness *l)
{
	pthread_mutex_lock(&l->lock);
	l->ends = true;
	pthread_cond_signal(&l->ending);
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->thread, NULL);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->ending);
}

void group_liveness_look(struct group_liveness *l, double now)
{
	bool away = now - l->looked > AWAY_S;

	l->looked = now;
	for (unsigned r = 0; r < l->size; r++) {
		uint32_t heartbeats = l->transport->heartbeats(l->t, r);

		if (away || heartbeats != l->heartbeats[r])
			l->seen[r] = now;
		l->heartbeats[r] = heartbeats;
	}
}
