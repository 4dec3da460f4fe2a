/* SPDX-License-Identifier: Apache-2.0
 * MPI in this process: it starts with the first group and ends when the process exits, by calls that block until all processes of the
 * job make them. A thread of its own makes these, so that there is a deadline. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "runtime/net/comm/mpi_load.h"

struct mpi_process {
	const struct mpi_module *module;
	unsigned rank, size; /* among all that the launcher has started */
	unsigned ngroup;     /* that were opened */
	pthread_mutex_t lock; /* held by whoever calls a function of the module but start, end and abort */
};

/* Starts MPI if it is not; until: clock_seconds() at which it gives up. -ERR_UNREACHABLE; -ERR_CONFIG: it fails, or has failed; or as
 * mpi_load. */
int mpi_process_start(const struct mpi_library *l, double until, struct mpi_process **out,
	struct err *e);
/* A group has lost a rank: MPI can be neither used nor ended any more, which would wait for that rank. If this process leads the group,
 * it has the launcher end the others when it exits, with its status; else it leaves the leader some time to exit first. */
void mpi_process_fail(bool leads);
