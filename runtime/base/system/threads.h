/* SPDX-License-Identifier: Apache-2.0
 * Locks that a scope holds, waits for a time, and threads that take no signals. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

/* `mutex_auto held = mutex_hold(&lock);`: a lock that is held until the scope ends, also by return. */
#define mutex_auto __attribute__((cleanup(mutex_drop), unused)) pthread_mutex_t *
static inline pthread_mutex_t *mutex_hold(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	return lock;
}
static inline void mutex_drop(pthread_mutex_t **held) { pthread_mutex_unlock(*held); }

/* A condition whose waits go by the steady clock. */
void cond_init(pthread_cond_t *c);
/* Wait for it with the lock, at most for a time. */
void cond_wait_for(pthread_cond_t *c, pthread_mutex_t *lock, double seconds);

/* Start a thread in which all signals are blocked: they are for the others. False: the system has none. */
bool thread_start(pthread_t *thread, void *(*run)(void *ctx), void *ctx);
