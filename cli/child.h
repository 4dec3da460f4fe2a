/* SPDX-License-Identifier: Apache-2.0
 * A program of the user's, run to its end but no longer than it may. */
#ifndef QCNN_CHILD_H
#define QCNN_CHILD_H

#include <stdbool.h>
#include "runtime/base/err.h"

struct child {
	const char *const *word;     /* the program, looked for in PATH, and its arguments; NULL at the end */
	char *const *environment;    /* NULL at the end */
	int output;                  /* a descriptor that both its outputs go to; it reads nothing */
	double timeout_seconds;
	const char *(*stop)(void);   /* not NULL: a reason to end it earlier; may be NULL */
};

/* 0 when it ended with status 0; else -ERR_IO and in *e how it failed.  At the time limit it and all that it has
 * started in its process group are ended: TERM, and a second later KILL. */
int child_run(const struct child *c, struct err *e);

#endif
