/* SPDX-License-Identifier: Apache-2.0
 * A thread of each rank sends heartbeats; the others note when they have last changed. */
#include "runtime/net/comm/group_liveness.h"

#include <signal.h>
#include <time.h>

enum { INTERVAL_MS = 250, INTERVALS = 8 /* in a deadline */ };
/* Between two looks: this process did not wait all that time, or did not run. */
static const double AWAY_S = 1;

static void wait_ms(struct group_liveness *l, unsigned ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&l->ending, &l->lock, &until);
}

static void *show(void *ctx)
{
	struct group_liveness *l = ctx;

	pthread_mutex_lock(&l->lock);
	while (!l->ends) {
		l->transport->heartbeat(l->t);
		wait_ms(l, l->interval_ms);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

int group_liveness_start(struct group_liveness *l, const struct group_transport *transport, void *t,
	unsigned size, unsigned deadline_ms, struct err *e)
{
	unsigned ms = deadline_ms / INTERVALS + 1;
	sigset_t all, before;

	*l = (struct group_liveness){ .transport = transport,
		.t = t,
		.size = size,
		.interval_ms = ms < INTERVAL_MS ? ms : INTERVAL_MS };
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->ending, NULL);
	sigfillset(&all); /* signals are for the other threads */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(&l->thread, NULL, show, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed ? err_set(e, -ERR_CONFIG, "the system has no thread for a group of ranks") : 0;
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
