/* SPDX-License-Identifier: Apache-2.0
 * Starts workers and holds their leash: a pipe to their standard input, whose end tells them to go.
 * What they print comes back line by line. */
#ifndef QCNN_LAUNCH_H
#define QCNN_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>
#include "runtime/base/buf.h"
#include "runtime/base/err.h"

enum launcher {
	LAUNCHER_NONE = 0,
#define LAUNCHER(id, name, line, text) LAUNCHER_##id,
#include "runtime/net/launch.def"
#undef LAUNCHER
	LAUNCHER_COUNT
};

enum { LAUNCH_LINE_MAX = 1000 };

struct launch_row { const char *name, *line, *text; };
const struct launch_row *launch_row(enum launcher l);
/* "ssh", "exec:my-agent -q"; *agent gets the words behind exec:, else NULL. LAUNCHER_NONE: unknown. */
enum launcher launcher_find(const char *word, const char **agent);

/* Where a worker is started, and how. */
struct launch_place {
	enum launcher launcher;
	const char *agent;           /* of LAUNCHER_EXEC */
	const char *host;            /* as given: user@name */
	const char *program;         /* path of qcnn there; NULL: that of this one */
};

/* The command line as words, NULL at the end; malloc'ed, words too. */
char **launch_argv(const struct launch_place *p);
void launch_argv_free(char **argv);

struct launched {
	pid_t pid;                   /* 0: not started, or reaped */
	int leash, talk;             /* its standard input; its standard output and error; -1: closed */
	bool ended;
	int status;                  /* of waitpid, when it has ended */
	struct buf line;             /* what it has said of a line */
	char last[LAUNCH_LINE_MAX + 1];      /* its last whole line, for telling why it ended */
};

/* Start it and write boot[0..len) to its standard input, which stays open. */
int launch_start(const struct launch_place *p, const void *boot, size_t len, struct launched *out, struct err *e);
/* Lines that have come, without their ends, to say; false when it has closed its output. */
bool launch_relay(struct launched *l, void (*say)(void *ctx, const char *line), void *ctx);
/* Has it ended? */
bool launch_reap(struct launched *l);
/* "exit status 255", "signal 9 (Killed)". */
void launch_ending(const struct launched *l, struct buf *out);
/* What to do about such an end, as far as it is a known one; else NULL. */
const char *launch_cure(const struct launched *l);
/* Let the leash go; and, with kill, end the process (that of this machine) at once. */
void launch_let_go(struct launched *l, bool kill);
/* Afterwards: wait until it is gone, and close. */
void launch_release(struct launched *l);

#endif
