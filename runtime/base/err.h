/* SPDX-License-Identifier: Apache-2.0
 * Failures of the world (files, memory, peers): a negative code and a sentence.
 *
 * A function that can fail returns 0 or -ERR_<NAME> and fills a struct err that
 * the caller may pass as NULL.  On failure a function leaves its arguments as
 * they were.  Faults in a user's model, config or data with a place in a text
 * go to diag.h instead; our own faults are BUG(). */
#pragma once

#include <stdarg.h>
#include <stddef.h>

enum err_code {
	ERR_NONE = 0,
#define ERR(name, status, text) ERR_##name,
#include "runtime/base/err.def"
#undef ERR
	ERR_COUNT
};

enum { ERR_TEXT_MAX = 1024 };

struct err {
	int code;                   /* 0 or -ERR_... */
	char text[ERR_TEXT_MAX];    /* one sentence, no full stop, no newline */
};

/* Fill *e (unless NULL) and return code, so that a caller writes
 * `return err_set(e, -ERR_IO, "cannot write %s: %s", path, strerror(errno));` */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Put "prefix: " before the text of *e (unless NULL). Nothing is returned: who passed no *e has the code alone. */
void err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The process's exit status for a code (0 for 0). */
int err_exit_status(int code);
const char *err_name(int code);      /* "NO_INPUT" */

/* Our own fault: prints file, line and text to stderr and aborts (70 from the
 * handler that cli installs).  Never for input. */
_Noreturn void bug_at(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
