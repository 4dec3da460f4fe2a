/* SPDX-License-Identifier: Apache-2.0
 * Was this process started as one of several of a job?  What mpirun, srun, Kubernetes and others put into the
 * environment says so, who it is among them, and where the first of them is. */
#ifndef QCNN_ATTACH_H
#define QCNN_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"

enum attach_mode {
	ATTACH_NONE = 0,
#define ATTACH(id, name, rank, size, needs, local, job, step, text) ATTACH_##id,
#include "runtime/net/launch/attach.def"
#undef ATTACH
	ATTACH_COUNT
};

enum { ATTACH_SIZE_MAX = 4096, ATTACH_NAME_MAX = 255, ATTACH_JOB_MAX = 127, ATTACH_PORT = 29500 };

struct attach_row { const char *name, *rank, *size, *needs, *local, *job, *step, *text; };
const struct attach_row *attach_row(enum attach_mode m);

struct attach {
	enum attach_mode mode;       /* ATTACH_NONE: it was not */
	unsigned rank, size;         /* rank 0 leads */
	unsigned local;              /* of them on this machine; 0: not known */
	char why[256];               /* "OMPI_COMM_WORLD_RANK is 1, OMPI_COMM_WORLD_SIZE is 4" */
	char host[ATTACH_NAME_MAX + 1]; uint16_t port;       /* where rank 0 is; "": not known */
	char job[ATTACH_JOB_MAX + 1];        /* tells jobs apart, in letters of a file's name; "": not known */
};

/* *out is filled in any case; a job of one process is none.  -ERR_CONFIG with a sentence that names the variable. */
int attach_find(struct attach *out, struct err *e);

/* "train-3.train.default.svc" of rank 3: that of rank 0, "train-0.train.default.svc"; false: it is no such name. */
bool attach_first_name(const char *own, unsigned rank, char out[ATTACH_NAME_MAX + 1]);

#endif
