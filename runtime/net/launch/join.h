/* SPDX-License-Identifier: Apache-2.0
 * Whether this process was started as one of several of a job, by the environment variables of mpirun, srun, Kubernetes
 * and others: its rank, the number of processes, and the address of rank 0. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"

enum join_mode {
	JOIN_NONE = 0,
#define JOIN(id, name, rank, size, needs, local, job, step, text) JOIN_##id,
#include "runtime/net/launch/join.def"
#undef JOIN
	JOIN_COUNT
};

enum { JOIN_SIZE_MAX = 4096, JOIN_NAME_MAX = 255, JOIN_JOB_MAX = 127, JOIN_PORT = 29500 };

struct join_row { const char *name, *rank, *size, *needs, *local, *job, *step, *text; };
const struct join_row *join_row(enum join_mode m);

struct join {
	enum join_mode mode;         /* JOIN_NONE: a job of one process */
	unsigned rank, size;         /* rank 0 coordinates */
	unsigned local;              /* processes on this machine; 0: not known */
	char why[256];               /* "OMPI_COMM_WORLD_RANK is 1, OMPI_COMM_WORLD_SIZE is 4" */
	char host[JOIN_NAME_MAX + 1]; uint16_t port;       /* address of rank 0; "": not known */
	char job[JOIN_JOB_MAX + 1];        /* identifies the job, in characters of a file name; "": not known */
};

/* Fill *out from the environment, also on error; a job of one process has JOIN_NONE.  -ERR_CONFIG names the variable. */
int join_find(struct join *out, struct err *e);

/* From this process's host name, "train-3.train.default.svc" with rank 3, make that of rank 0,
 * "train-0.train.default.svc"; false if `own` has another form. */
bool join_first_name(const char *own, unsigned rank, char out[JOIN_NAME_MAX + 1]);
