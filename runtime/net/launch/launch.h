/* SPDX-License-Identifier: Apache-2.0
 * Starts workers and holds their control pipe: a socket that is their standard input and output, whose end tells them to go.
 * What they print comes back line by line; marks between the lines say what they need. */
#ifndef QCNN_LAUNCH_H
#define QCNN_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>
#include "runtime/base/buf.h"
#include "runtime/net/launch/hostfile.h"
#include "runtime/net/launch/rendezvous.h"

enum launcher {
	LAUNCHER_NONE = 0,
#define LAUNCHER(id, name, line, text) LAUNCHER_##id,
#include "runtime/net/launch/launch.def"
#undef LAUNCHER
	LAUNCHER_COUNT
};

enum { LAUNCH_LINE_MAX = 1000, LAUNCH_MARK_MAX = 300 };

/* A mark is LAUNCH_MARK, a word, perhaps a space and more, and a newline, on the standard output. */
#define LAUNCH_MARK "\001QCNN "
#define LAUNCH_PIPE "PIPE"               /* frames follow, those of a connection; behind it: why there is no other one */
#define LAUNCH_NEED "NEED"               /* the program's bytes are wanted */
#define LAUNCH_BOOT "BOOT"               /* the worker is there, and its first frame is wanted */

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
	bool push;                   /* hosts without this version get this program; not of LAUNCHER_LOCAL */
};

/* The command line as words, NULL at the end; malloc'ed, words too. */
char **launch_argv(const struct launch_place *p);
void launch_argv_free(char **argv);
/* The file to run where it is not the first word of that line: a worker of this machine is the very program that
 * runs here, also when another one has taken its name; else NULL. */
#define LAUNCH_SELF "/proc/self/exe"
const char *launch_file(const struct launch_place *p);
/* Bytes at the beginning of this program's file that it needs to run: what push sends. */
long long launch_program_bytes(void);

struct launched {
	pid_t pid;                   /* 0: not started, or reaped */
	int control, errors;             /* its standard input and output; its standard error; -1: closed */
	int program;                 /* what is sent to it; -1: nothing */
	off_t sent;                  /* bytes of that */
	bool silent;                 /* its standard output has ended */
	bool wants_boot;             /* it waits for the first frame */
	bool begun;                  /* from now on frames come by the control pipe */
	bool ended;
	int status;                  /* of waitpid, when it has ended */
	struct buf line, said;       /* what it has said of a line, on the standard error and output */
	struct buf mark;             /* what has come of a mark */
	char why[LAUNCH_MARK_MAX];   /* begun: why there is no other way */
	bool complained;             /* last is of the standard error, which counts more */
	char last[LAUNCH_LINE_MAX + 1];      /* its last whole line, for telling why it ended */
};
#define LAUNCHED_NONE ((struct launched){ .control = -1, .errors = -1, .program = -1 })

/* Start it: -ERR_UNREACHABLE, -ERR_CONFIG.  It wants the first frame at once or, with push, when it says so. */
int launch_start(const struct launch_place *p, struct launched *out, struct err *e);
/* Write boot[0..len), at most a few KiB, to its standard input, which stays open. */
void launch_boot(struct launched *l, const void *boot, size_t len);
/* What to poll the control pipe for; 0: nothing, it is closed, or that of a connection. */
short launch_events(const struct launched *l);
/* Lines that have come, without their ends, to say, and marks; what it needs of the program is sent.
 * False when it has closed its standard error. */
bool launch_relay(struct launched *l, void (*say)(void *ctx, const char *line), void *ctx);
/* Has it ended? */
bool launch_reap(struct launched *l);
/* "exit status 255", "signal 9 (Killed)". */
void launch_ending(const struct launched *l, struct buf *out);
/* What to do about such an end, as far as it is a known one; else NULL. */
const char *launch_hint(const struct launched *l);
/* The same for a line that was the last, and a status. */
const char *launch_hint_of(const char *last, int status);
/* Let the control pipe go: its standard input ends; and, with kill, end the process (that of this machine) at once. */
void launch_let_go(struct launched *l, bool kill);
/* Afterwards: wait until it is gone, and close. */
void launch_release(struct launched *l);

#endif
