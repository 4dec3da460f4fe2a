/* SPDX-License-Identifier: Apache-2.0
 * The end of a process that gets no memory. Nothing here takes any. */
#include "cli/exhausted.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"

static atomic_int doing;

static const char *const goes_on[] = {
	[EXHAUSTED_IN_NONE] = "",
	[EXHAUSTED_IN_COMPUTING] = "",
	[EXHAUSTED_IN_STEPS] = "; the same command begins again",
	[EXHAUSTED_IN_TRAINING] = "; the same command goes on from the last checkpoint",
};

static _Noreturn void end(enum exhausted_in what)
{
	_exit(err_exit_status(what >= EXHAUSTED_IN_STEPS ? -ERR_STOPPED : -ERR_CONFIG));
}

static void exhausted(size_t nbytes)
{
	enum exhausted_in what = (enum exhausted_in)atomic_load(&doing);

	fprintf(stderr, "qcnn: error: out of memory: %zu bytes cannot be had%s\n", nbytes,
		goes_on[what]);
	end(what);
}

/* qcnn itself does not call exit while it computes. */
static void library_exits(void)
{
	enum exhausted_in what = (enum exhausted_in)atomic_load(&doing);

	if (what == EXHAUSTED_IN_NONE)
		return;
	fprintf(stderr,
		"qcnn: error: a library ended the process because it got no more memory or threads%s\n",
		goes_on[what]);
	end(what);
}

void exhausted_ends(void) { mem_on_exhausted(exhausted); }

void exhausted_in(enum exhausted_in what)
{
	static bool prepared;

	/* Not before: handlers run in reverse order, and that of MPI waits for the other ranks. */
	if (!prepared)
		prepared = !atexit(library_exits);
	atomic_store(&doing, (int)what);
}
