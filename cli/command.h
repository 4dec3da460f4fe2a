/* SPDX-License-Identifier: Apache-2.0
 * The description of a subcommand, and the context that main passes to it.
 *
 * Each cmd_*.c ends in one constant entry; commands.c lists them.  A command writes its
 * results to cli.out (stdout, written once and checked by main), its messages to stderr
 * with the cli_* functions, and returns the exit status. */
#pragma once

#include <stdbool.h>
#include <pthread.h>

#include "cli/options.h"
#include "runtime/base/buf.h"
#include "runtime/base/diag.h"

struct profiling;

struct cli {
	struct options options;
	const struct command *command;
	enum diag_format error_format;
	bool colour, quiet, verbose;
	bool strict;                 /* warnings are errors: cli_warnings */
	int argc;
	char *const *argv;           /* the whole command line, for run.json */
	void (*before_talk)(void *ctx);
	void *talk_ctx;              /* cli_draws */
	struct profiling *profiling; /* NULL: the command does not run under `qcnn profile` */
	const char *config_folder; /* that paths in the configuration are relative to; NULL: its own */
	struct buf out;              /* written to stdout when the command ends well */
};

/* What a command's file says of it. */
struct command_about {
	const char *summary;
	const char *operands;        /* as in the synopsis */
	unsigned min_operands, max_operands;
	const char *text;            /* a paragraph for --help */
	const char *const *example;  /* command lines, NULL at the end */
	const char *exit_1; /* what exit status 1 means, for the manual; NULL: it is never 1 */
	int (*run)(struct cli *c);   /* the exit status */
};

struct command {
	enum command_bit bit;
	const char *name;
	const struct command_about *about;
};

#define COMMAND(ID, name) extern const struct command_about command_##name;
#include "cli/commands.def"
#undef COMMAND
extern const struct command commands[]; /* the last one has no name */
const struct command *command_find(const char *name);

/* Text of `qcnn --help` and `qcnn CMD --help`. */
void help_top(struct buf *out);
void help_command(const struct command *c, struct buf *out);

/* Messages on stderr: `qcnn: error: ...`, or a JSON object, by --error-format. */
void cli_note(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));   /* not with -q */
void cli_detail(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* with -v only */
/* Print a line of a worker unchanged. */
void cli_relay(const struct cli *c, const char *worker, const char *line);
/* What clears a drawing from the terminal before messages of any thread; NULL: there is none. */
void cli_draws(struct cli *c, void (*before_talk)(void *ctx), void *ctx);
/* The lock that messages hold while they are written. */
pthread_mutex_t *cli_terminal(void);
/* Print *e and return its exit status. */
int cli_fail(const struct cli *c, const struct err *e);
/* The same for an error of our own: -ERR_*, and its text. */
int cli_error(const struct cli *c, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Append the message that cli_fail prints to *out. */
void cli_fail_text(const struct cli *c, const struct err *e, struct buf *out);
/* As cli_fail, and for -ERR_USAGE also print where to read more. */
int cli_usage(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Print d, which holds no errors: to be called when the inputs have been read and before long work.  A warning is a
 * row of diag.def with severity WARNING, added by diag_at.  0; with --strict 65 if there is a warning, also with -q. */
int cli_warnings(const struct cli *c, const struct diags *d);
/* "3 errors" as a last line for people; returns status. */
int cli_diags_fail(const struct cli *c, const struct diags *d, int status);

/* Write b to a file, or append it to c->out if path is NULL or "-": 0 or the exit status.  An input file of this process
 * is not replaced (input_files.h). */
int cli_write(struct cli *c, const struct buf *b, const char *path);
/* Call it before long work, after opening the inputs: 0 if the file can be written and is not an input, else the exit
 * status after a message. */
int cli_can_write(const struct cli *c, const char *path);
/* Write all of b to stdout now: 0, or the exit status. */
int cli_flush(const struct cli *c, const struct buf *b);
