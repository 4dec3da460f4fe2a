/* SPDX-License-Identifier: Apache-2.0
 * Raises the limit on the stack where that is permitted, else runs in a thread with a larger stack. */
#include "cli/stack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

struct call { int (*run)(void *ctx); void *ctx; int result; };

static void *run_in_thread(void *p)
{
	struct call *c = p;

	c->result = c->run(c->ctx);
	return NULL;
}

/* The first thread's stack grows up to the limit as it is at that time. */
static bool is_large(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_STACK, &r))
		return true;
	if (r.rlim_cur == RLIM_INFINITY || r.rlim_cur >= STACK_BYTES)
		return true;
	r.rlim_cur = r.rlim_max == RLIM_INFINITY || r.rlim_max > STACK_BYTES ? STACK_BYTES : r.rlim_max;
	return !setrlimit(RLIMIT_STACK, &r) && r.rlim_cur >= STACK_BYTES;
}

int stack_run(int (*run)(void *ctx), void *ctx)
{
	struct call c = { run, ctx, 0 };
	pthread_attr_t attributes;
	pthread_t thread;
	bool begun = false;

	if (!is_large() && !pthread_attr_init(&attributes)) {
		begun = !pthread_attr_setstacksize(&attributes, STACK_BYTES) && !pthread_create(&thread, &attributes, run_in_thread, &c);
		pthread_attr_destroy(&attributes);
	}
	if (!begun)
		return run(ctx);
	pthread_join(thread, NULL);
	return c.result;
}
