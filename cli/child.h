/* SPDX-License-Identifier: Apache-2.0
 * Runs a program of the user, with a time limit. */
#pragma once

#include <stdbool.h>
#include "runtime/base/err.h"

struct child {
	const char *const *word; /* the program, searched in PATH, and its arguments; ends in NULL */
	char *const *environment;    /* NULL at the end */
	int output; /* descriptor for its standard output and error; its input is empty */
	double timeout_seconds;
	const char *(*stop)(void);   /* not NULL: a reason to end it earlier; may be NULL */
};

/* 0 if it ended with status 0; else -ERR_IO, and *e says how it failed.  At the time limit its process group gets TERM,
 * and KILL a second later. */
int child_run(const struct child *c, struct err *e);
