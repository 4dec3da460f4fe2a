/* SPDX-License-Identifier: Apache-2.0
 * Messages on stderr and results on stdout, the same way for every command. */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/input_files.h"
#include "runtime/base/system/threads.h"
#include "runtime/base/visible.h"
#include "runtime/log/terminal.h"

/* Workers are heard by a thread of their own, while another one may draw. */
static pthread_mutex_t terminal = PTHREAD_MUTEX_INITIALIZER;

pthread_mutex_t *cli_terminal(void) { return &terminal; }

void cli_draws(struct cli *c, void (*before_talk)(void *ctx), void *ctx)
{
	mutex_auto held = mutex_hold(&terminal);

	c->before_talk = before_talk;
	c->talk_ctx = ctx;
}

static void to_stderr(const struct buf *b)
{
	if (b->len)
		fwrite(b->data, 1, b->len, stderr);
	fflush(stderr);
}

static void talk(const struct cli *c, const struct buf *b)
{
	mutex_auto held = mutex_hold(&terminal);

	if (c->before_talk)
		c->before_talk(c->talk_ctx);
	to_stderr(b);
}

/* One message: severity "error" or "note". */
static void format(const struct cli *c, const char *severity, int code, const char *text, struct buf *out)
{
	bool is_error = !strcmp(severity, "error");

	if (c->error_format == DIAG_JSON) {
		buf_json(out, "{\"schema\": 1, \"severity\": %s, \"code\": ", severity);
		buf_json_str(out, code ? err_name(code) : NULL);
		if (code)
			buf_json(out, ", \"status\": %d", err_exit_status(code));
		buf_json(out, ", \"message\": %s}\n", text);
	} else {
		buf_str(out, "qcnn");
		if (c->command)
			buf_printf(out, " %s", c->command->name);
		if (is_error)
			buf_printf(out, ": %serror%s", c->colour ? "\033[1;31m" : "", c->colour ? "\033[0m" : "");
		buf_str(out, ": ");
		visible_str(out, text);
		buf_char(out, '\n');
	}
}

static void say(const struct cli *c, const char *severity, int code, const char *text)
{
	buf_auto b = BUF_INIT, wrapped = BUF_INIT;
	bool wrap = c->error_format != DIAG_JSON && isatty(STDERR_FILENO);

	format(c, severity, code, text, &b);
	if (wrap)
		terminal_wrap(b.data, terminal_width(stderr, NULL), &wrapped);
	talk(c, wrap ? &wrapped : &b);
}

static void say_list(const struct cli *c, const char *severity, int code, const char *fmt, va_list ap)
{
	buf_auto b = BUF_INIT;

	buf_vprintf(&b, fmt, ap);
	say(c, severity, code, b.data);
}

void cli_note(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	if (c->quiet)
		return;
	va_start(ap, fmt);
	say_list(c, "note", 0, fmt, ap);
	va_end(ap);
}

void cli_detail(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	if (!c->verbose)
		return;
	va_start(ap, fmt);
	say_list(c, "note", 0, fmt, ap);
	va_end(ap);
}

void cli_relay(const struct cli *c, const char *worker, const char *line)
{
	buf_auto b = BUF_INIT;

	if (c->error_format == DIAG_JSON) {
		buf_json(&b,
			"{\"schema\": 1, \"severity\": \"note\", \"code\": null, \"worker\": %s, \"message\": %s}\n",
			worker, line);
	} else {
		visible_str(&b, worker);
		buf_str(&b, ": ");
		visible_text(&b, line, strlen(line), VISIBLE_TABS);
		buf_char(&b, '\n');
	}
	talk(c, &b);
}

void cli_fail_text(const struct cli *c, const struct err *e, struct buf *out)
{
	format(c, "error", e->code, e->text, out);
}

int cli_fail(const struct cli *c, const struct err *e)
{
	say(c, "error", e->code, e->text);
	return err_exit_status(e->code);
}

int cli_error(const struct cli *c, int code, const char *fmt, ...)
{
	char text[ERR_TEXT_MAX];
	struct err e;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_set(&e, code, "%s", text);
	return cli_fail(c, &e);
}

int cli_usage(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_list(c, "error", -ERR_USAGE, fmt, ap);
	va_end(ap);
	if (c->error_format != DIAG_JSON)
		fprintf(stderr, "Try `qcnn %s%s--help`.\n", c->command ? c->command->name : "", c->command ? " " : "");
	return err_exit_status(-ERR_USAGE);
}

/* All diagnostics (no warnings with -q). */
static void say_diags(const struct cli *c, const struct diags *d)
{
	buf_auto b = BUF_INIT;

	if (c->quiet && !c->strict && !diags_errors(d))
		return;
	diags_print(d, c->error_format, c->colour, &b);
	to_stderr(&b);
}

int cli_warnings(const struct cli *c, const struct diags *d)
{
	unsigned n = diags_warnings(d);

	say_diags(c, d);
	if (!c->strict || !n)
		return 0;
	return cli_error(c, -ERR_BAD_DATA, "%u warning%s treated as error%s (--strict)", n,
		n == 1 ? " is" : "s are", n == 1 ? "" : "s");
}

int cli_diags_fail(const struct cli *c, const struct diags *d, int status)
{
	unsigned nerror = diags_errors(d), nwarning = diags_warnings(d);

	say_diags(c, d);
	if (c->error_format == DIAG_HUMAN && nwarning)
		fprintf(stderr, "%u error%s, %u warning%s\n", nerror, nerror == 1 ? "" : "s",
			nwarning, nwarning == 1 ? "" : "s");
	else if (c->error_format == DIAG_HUMAN)
		fprintf(stderr, "%u error%s\n", nerror, nerror == 1 ? "" : "s");
	return status;
}

/* A reader that has seen enough is no failure to report; the status says that not all was read. */
static int put_out(const struct cli *c, const struct buf *b)
{
	for (size_t at = 0; at < b->len; ) {
		ssize_t n = write(STDOUT_FILENO, b->data + at, b->len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EPIPE)
			return err_exit_status(-ERR_PIPE);
		if (n < 0) {
			buf_auto text = BUF_INIT;

			buf_printf(&text, "cannot write to the standard output: %s", strerror(errno));
			say(c, "error", 0, text.data);
			return err_exit_status(-ERR_IO);
		}
		at += (size_t)n;
	}
	return 0;
}

/* Whatever a command prints: on a terminal nothing of it is an escape sequence. */
int cli_flush(const struct cli *c, const struct buf *b)
{
	buf_auto shown = BUF_INIT;

	if (!isatty(STDOUT_FILENO))
		return put_out(c, b);
	visible_text(&shown, b->data, b->len, VISIBLE_TABS | VISIBLE_LINES);
	return put_out(c, &shown);
}

int cli_write(struct cli *c, const struct buf *b, const char *path)
{
	struct err e;

	if (!path || !strcmp(path, "-")) {
		buf_add(&c->out, b->data, b->len);
		return 0;
	}
	return inputs_check(path, &e) || buf_write_file(b, path, 0, &e) ? cli_fail(c, &e) : 0;
}

int cli_can_write(const struct cli *c, const char *path)
{
	buf_auto folder = BUF_INIT;
	struct stat st;
	struct err e;

	if (inputs_check(path, &e))
		return cli_fail(c, &e);
	path_folder(path, &folder);
	buf_str(&folder, "/.");
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return cli_error(c, -ERR_CANT_CREATE, "cannot write %s: it is a folder", path);
	if (access(folder.data, W_OK | X_OK))
		return cli_error(c, -ERR_CANT_CREATE, "cannot create %s: %s", path, strerror(errno));
	return 0;
}
