/* SPDX-License-Identifier: Apache-2.0
 * Conditions with CLOCK_MONOTONIC, and signal masks. */
#include "runtime/base/system/threads.h"

#include <signal.h>
#include <time.h>

void cond_init(pthread_cond_t *c)
{
	pthread_condattr_t steady;

	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(c, &steady);
	pthread_condattr_destroy(&steady);
}

void cond_wait_for(pthread_cond_t *c, pthread_mutex_t *lock, double seconds)
{
	struct timespec until;
	time_t whole = (time_t)seconds;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += whole;
	until.tv_nsec += (long)((seconds - (double)whole) * 1e9);
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(c, lock, &until);
}

bool thread_start(pthread_t *thread, void *(*run)(void *ctx), void *ctx)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(thread, NULL, run, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !failed;
}
