/* SPDX-License-Identifier: Apache-2.0
 * Ends the process when memory is missing, without taking any. */
#include "cli/memory_exit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"

static atomic_int doing;

static const char *const goes_on[] = {
	[MEMORY_EXIT_NONE] = "",
	[MEMORY_EXIT_COMPUTING] = "",
	[MEMORY_EXIT_STEPS] = "; the same command begins again",
	[MEMORY_EXIT_TRAINING] = "; the same command goes on from the last checkpoint",
};

static _Noreturn void end(enum memory_exit_during what)
{
	_exit(err_exit_status(what >= MEMORY_EXIT_STEPS ? -ERR_STOPPED : -ERR_CONFIG));
}

static void memory_missing(size_t nbytes)
{
	enum memory_exit_during what = (enum memory_exit_during)atomic_load(&doing);

	fprintf(stderr, "qcnn: error: out of memory: %zu bytes cannot be had%s\n", nbytes,
		goes_on[what]);
	end(what);
}

/* qcnn itself does not call exit while it computes. */
static void library_exits(void)
{
	enum memory_exit_during what = (enum memory_exit_during)atomic_load(&doing);

	if (what == MEMORY_EXIT_NONE)
		return;
	fprintf(stderr,
		"qcnn: error: a library ended the process because it got no more memory or threads%s\n",
		goes_on[what]);
	end(what);
}

void memory_exit_install(void) { mem_on_exhausted(memory_missing); }

void memory_exit_during(enum memory_exit_during what)
{
	static bool prepared;

	/* Not before: handlers run in reverse order, and that of MPI waits for the other ranks. */
	if (!prepared)
		prepared = !atexit(library_exits);
	atomic_store(&doing, (int)what);
}
