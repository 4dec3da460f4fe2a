/* SPDX-License-Identifier: Apache-2.0
 * The launcher: hosts, the processes of workers on them, and the rendezvous of external ones.
 *
 * A worker's standard input and output are a socket, its control pipe: the worker exits when that is closed.  Lines that
 * the worker prints are passed on; marks, special lines among them, are its requests. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include "runtime/base/arena.h"
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

/* A mark is LAUNCH_MARK, a word, optionally a space and a text, and a newline, on the standard output. */
#define LAUNCH_MARK "\001QCNN "
#define LAUNCH_PIPE "PIPE"               /* protocol frames follow; with the reason why there is no TCP connection */
#define LAUNCH_NEED "NEED"               /* requests the program's bytes */
#define LAUNCH_RANK "RANK"               /* the address of a rank, in reply to its first frame */
#define LAUNCH_BOOT "BOOT"               /* the worker runs, and requests its first frame */

struct launch_row { const char *name, *line, *text; };
const struct launch_row *launch_row(enum launcher l);
/* Find a launcher by its name, "ssh" or "exec:my-agent -q"; *agent gets the words after exec:, else NULL.
 * LAUNCHER_NONE: unknown. */
enum launcher launcher_find(const char *word, const char **agent);

/* Where and how a worker is started. */
struct launch_place {
	enum launcher launcher;
	const char *agent;           /* of LAUNCHER_EXEC */
	const char *host;            /* as given: user@name */
	const char *program;         /* path of qcnn on the host; NULL: as on this machine */
	bool push;                   /* hosts without this version get this program; not of LAUNCHER_LOCAL */
	bool follow; /* `qcnn worker --follow`: a rank that holds a part of states */
};

/* The command line as an array of words that ends in NULL, in the arena. */
char **launch_argv(const struct launch_place *p, struct arena *a);
/* The file to execute if it is not the first word of the command line, else NULL: a local worker executes the program of
 * this process, even if its file has been replaced. */
#define LAUNCH_SELF "/proc/self/exe"
const char *launch_file(const struct launch_place *p);
/* Number of bytes at the beginning of this program's file that push sends: all that the program needs to run. */
long long launch_program_bytes(void);

struct launched {
	pid_t pid;                   /* 0: not started, or reaped */
	int control, errors;         /* its control pipe; its standard error; -1: closed */
	int program;                 /* the program file that is being sent to it; -1: none */
	off_t sent;                  /* bytes of the file sent so far */
	bool silent;                 /* its standard output has ended */
	bool wants_boot;             /* it waits for the first frame */
	bool begun;                  /* the control pipe carries protocol frames */
	bool ended;
	int status;                  /* of waitpid, when it has ended */
	struct buf line, said;       /* incomplete lines of its standard error and output */
	struct buf mark;             /* an incomplete mark */
	char why[LAUNCH_MARK_MAX];   /* begun: why there is no TCP connection */
	char address[LAUNCH_MARK_MAX];  /* of a rank; "": not known yet */
	bool complained;                /* last is from the standard error, which is preferred */
	char last[LAUNCH_LINE_MAX + 1]; /* its last complete line, to report with its exit */
};
#define LAUNCHED_NONE ((struct launched){ .control = -1, .errors = -1, .program = -1 })

/* Start a worker: -ERR_UNREACHABLE, -ERR_CONFIG.  wants_boot is set at once or, with push, when it requests the frame. */
int launch_start(const struct launch_place *p, struct launched *out, struct err *e);
/* Write boot[0..len), at most 32 KiB, to its standard input, which stays open. */
void launch_boot(struct launched *l, const void *boot, size_t len);
/* Events to poll the control pipe for; 0: none, it is closed or carries frames. */
short launch_events(const struct launched *l);
/* Read its output: pass lines without newlines to say, handle marks, and send more of the program if that was requested.
 * False when its standard error is closed. */
bool launch_relay(struct launched *l, void (*say)(void *ctx, const char *line), void *ctx);
/* Whether its process has ended. */
bool launch_reap(struct launched *l);
/* Append how its process ended: "exit status 255", "signal 9 (Killed)". */
void launch_ending(const struct launched *l, struct buf *out);
/* The hint of hint.def for the way its process ended; NULL: none. */
const char *launch_hint(const struct launched *l);
/* The same for a worker of this machine, which no launcher stands before. */
const char *launch_hint_local(const struct launched *l);
/* The hint for a last line and an exit status. */
const char *launch_hint_of(const char *last, int status);
/* Close its standard input; with kill, also kill its process on this machine. */
void launch_let_go(struct launched *l, bool kill);
/* After launch_let_go: wait for the process, and close all descriptors. */
void launch_release(struct launched *l);
