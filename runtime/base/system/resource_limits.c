/* SPDX-License-Identifier: Apache-2.0
 * Reads RLIMIT_AS and RLIMIT_DATA, and starts threads to find how many can be started. */
#include "runtime/base/system/resource_limits.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/cpus.h"

enum { STACK_DEFAULT = 8 << 20, STATM_FIELDS = 6 };

/* proc(5), statm: pages of the whole address space (field 0) and of data and stack (field 5). */
static uint64_t bytes_used(int field)
{
	unsigned long value[STATM_FIELDS] = { 0 };
	FILE *f = fopen("/proc/self/statm", "re");
	int n = 0;

	if (!f)
		return 0;
	while (n < STATM_FIELDS && fscanf(f, "%lu", &value[n]) == 1)
		n++;
	fclose(f);
	return (uint64_t)value[field] * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t stack_bytes(void)
{
	pthread_attr_t a;
	size_t stack = STACK_DEFAULT, guard = 0;

	if (!pthread_attr_init(&a)) {
		pthread_attr_getstacksize(&a, &stack);
		pthread_attr_getguardsize(&a, &guard);
		pthread_attr_destroy(&a);
	}
	return (uint64_t)stack + guard;
}

uint64_t ulimit_address_space(unsigned nthread)
{
	static const struct { int resource, field; } limit[] = { { RLIMIT_AS, 0 }, { RLIMIT_DATA, 5 } };
	uint64_t least = UINT64_MAX, left, used;
	struct rlimit r;

	for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
		if (getrlimit(limit[i].resource, &r) || r.rlim_cur == RLIM_INFINITY)
			continue;
		used = bytes_used(limit[i].field) + (nthread > 1 ? nthread - 1 : 0) * stack_bytes();
		left = r.rlim_cur > used ? r.rlim_cur - used : 0;
		least = left < least ? left : least;
	}
	return least;
}

uint64_t ulimit_memory_available(unsigned nthread)
{
	uint64_t machine = cpus_memory_available(), process = ulimit_address_space(nthread);

	return process < machine ? process : machine;
}

/* Every thread stays until all that can be there are there. */
static void *wait_for_end(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

unsigned ulimit_threads(unsigned wanted)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	unsigned n = 0, limit = cpus_thread_limit();
	pthread_t *thread;

	wanted = limit < wanted ? limit : wanted;
	thread = mem_alloc(wanted, sizeof *thread);
	pthread_mutex_lock(&lock);
	while (n + 1 < wanted && !pthread_create(&thread[n], NULL, wait_for_end, &lock))
		n++;
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return n + 1;
}
