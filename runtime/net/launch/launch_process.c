/* SPDX-License-Identifier: Apache-2.0
 * A worker's process: the socket and pipe to it, what it prints, its end. */
#include "runtime/net/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/spawn.h"

enum { PARTS_AT_ONCE = 16, PUSH_AT_ONCE = 1 << 20 };     /* parts read or sent per turn, so that other workers get theirs */

extern char **environ;

/* Workers share the cores of a machine: their idle threads sleep. */
static char **passive_environment(void)
{
	static char passive[] = "OMP_WAIT_POLICY=passive";
	size_t n = 0;

	if (getenv("OMP_WAIT_POLICY"))
		return NULL;
	while (environ[n])
		n++;
	char **copy = mem_alloc(n + 2, sizeof *copy);
	memcpy(copy, environ, n * sizeof *copy);
	copy[n] = passive;
	return copy;
}

static int spawn(const char *file, char **argv, char **environment, int control, int errors, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int code = spawn_attributes(&attr);

	if (code)
		return code;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, control, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, control, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
	/* Its process group is its own: INT from the terminal reaches it only through us. */
	code = posix_spawnp(pid, file ? file : argv[0], &files, &attr, argv, environment ? environment : environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return code;
}

static void close_pair(int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

static int no_pipe(struct err *e)
{
	return err_set(e, -ERR_CONFIG, "cannot make a pipe to a worker: %s", strerror(errno));
}

int launch_start(const struct launch_place *p, struct launched *out, struct err *e)
{
	struct launched l = LAUNCHED_NONE;
	int control[2], errors[2], code;
	arena_auto a = { 0 };

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control))
		return no_pipe(e);
	if (pipe2(errors, O_CLOEXEC)) {
		close_pair(control);
		return no_pipe(e);
	}
	char **argv = launch_argv(p, &a);
	char **environment =
		p->launcher == LAUNCHER_LOCAL && !p->follow ? passive_environment() : NULL;
	code = spawn(launch_file(p), argv, environment, control[1], errors[1], &l.pid);
	if (code)
		err_set(e, -ERR_UNREACHABLE, "cannot start %s: %s", argv[0], strerror(code));
	free(environment);
	close(control[1]);
	close(errors[1]);
	if (code) {
		close(control[0]);
		close(errors[0]);
		return -ERR_UNREACHABLE;
	}
	l.control = control[0];
	l.errors = errors[0];
	l.wants_boot = !p->push;
	fcntl(l.errors, F_SETFL, O_NONBLOCK);
	fcntl(l.control, F_SETFL, O_NONBLOCK);
	*out = l;
	return 0;
}

void launch_boot(struct launched *l, const void *boot, size_t len)
{
	l->wants_boot = false;
	if (l->control >= 0 && send(l->control, boot, len, MSG_NOSIGNAL) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		BUG("the first frame does not fit into a socket");   /* which is empty */
}

/* ---- what it prints ---- */

struct listener { void (*say)(void *ctx, const char *line); void *ctx; };

static void end_line(struct launched *l, struct buf *line, const struct listener *to)
{
	size_t len = line->len < LAUNCH_LINE_MAX ? line->len : LAUNCH_LINE_MAX;
	char text[LAUNCH_LINE_MAX + 1];

	if (!len)
		return;
	memcpy(text, line->data, len);
	text[len] = 0;
	if (line == &l->line || !l->complained)
		memcpy(l->last, text, len + 1);
	l->complained |= line == &l->line;
	buf_clear(line);
	to->say(to->ctx, text);
}

/* Long lines are split; control characters are dropped. */
static void hear(struct launched *l, struct buf *line, unsigned char ch, const struct listener *to)
{
	if (ch == '\n' || line->len == LAUNCH_LINE_MAX)
		end_line(l, line, to);
	if (ch >= 32 || ch == '\t')
		buf_char(line, ch);
}

static bool is_mark(const char *text, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(text, word, len) && (!text[len] || text[len] == ' ');
}

static void take_mark(struct launched *l)
{
	const char *text = l->mark.data + strlen(LAUNCH_MARK);

	if (is_mark(text, LAUNCH_PIPE)) {
		l->begun = true;
		snprintf(l->why, sizeof l->why, "%s", text[4] ? text + 5 : "");
	} else if (is_mark(text, LAUNCH_RANK)) {
		snprintf(l->address, sizeof l->address, "%s", text[4] ? text + 5 : "");
	} else if (is_mark(text, LAUNCH_BOOT)) {
		l->wants_boot = true;
	} else if (is_mark(text, LAUNCH_NEED) && l->program < 0 && !l->sent) {
		l->program = open(LAUNCH_SELF, O_RDONLY | O_CLOEXEC);
	}
}

/* A byte of the standard output: of a mark, or of a line. */
static void hear_output(struct launched *l, unsigned char ch, const struct listener *to)
{
	static const char begin[] = LAUNCH_MARK;
	size_t at = l->mark.len;

	if (!at && ch != begin[0]) {
		hear(l, &l->said, ch, to);
	} else if (at < sizeof begin - 1 && ch != begin[at]) {
		buf_clear(&l->mark);         /* not a mark */
	} else if (ch != '\n') {
		if (at < LAUNCH_MARK_MAX)
			buf_char(&l->mark, ch);
	} else {
		take_mark(l);
		buf_clear(&l->mark);
	}
}

/* Nothing is taken that comes behind the mark after which frames begin. */
static void relay_output(struct launched *l, const struct listener *to)
{
	char part[4096];

	for (int i = 0; i < PARTS_AT_ONCE && l->control >= 0 && !l->begun && !l->silent; i++) {
		ssize_t n = recv(l->control, part, sizeof part, MSG_PEEK | MSG_DONTWAIT), used = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0) {
			end_line(l, &l->said, to);
			l->silent = true;
			return;
		}
		while (used < n && !l->begun)
			hear_output(l, (unsigned char)part[used++], to);
		recv(l->control, part, (size_t)used, MSG_DONTWAIT);
	}
}

static bool relay_error(struct launched *l, const struct listener *to)
{
	char part[4096];

	for (int i = 0; i < PARTS_AT_ONCE && l->errors >= 0; i++) {
		ssize_t n = read(l->errors, part, sizeof part);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return true;
		for (ssize_t k = 0; k < n; k++)
			hear(l, &l->line, (unsigned char)part[k], to);
		if (!n) {
			end_line(l, &l->line, to);
			close(l->errors);
			l->errors = -1;
		}
	}
	return l->errors >= 0;
}

/* Send as much of the program as possible. */
static void push(struct launched *l)
{
	while (l->program >= 0 && l->control >= 0) {
		long long left = launch_program_bytes() - l->sent;
		ssize_t n = sendfile(l->control, l->program, &l->sent, left < PUSH_AT_ONCE ? (size_t)left : PUSH_AT_ONCE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0 || n == left) {   /* sent; or the worker's end gives the reason */
			close(l->program);
			l->program = -1;
		}
	}
}

short launch_events(const struct launched *l)
{
	if (l->control < 0 || l->begun || l->silent)
		return 0;
	return (short)(POLLIN | (l->program >= 0 ? POLLOUT : 0));
}

bool launch_relay(struct launched *l, void (*say)(void *ctx, const char *line), void *ctx)
{
	const struct listener to = { say, ctx };

	relay_output(l, &to);
	push(l);
	return relay_error(l, &to);
}

/* ---- its end ---- */

bool launch_reap(struct launched *l)
{
	if (l->pid && waitpid(l->pid, &l->status, WNOHANG) == l->pid) {
		l->ended = true;
		l->pid = 0;
	}
	return l->ended;
}

void launch_ending(const struct launched *l, struct buf *out)
{
	if (WIFSIGNALED(l->status))
		buf_printf(out, "signal %d (%s)", WTERMSIG(l->status), strsignal(WTERMSIG(l->status)));
	else
		buf_printf(out, "exit status %d", WEXITSTATUS(l->status));
}

const char *launch_hint_of(const char *last, int status)
{
	static const struct { const char *words; int status; const char *text; } hints[] = {
#define HINT(words, status, text) { words, status, text },
#include "runtime/net/launch/hint.def"
#undef HINT
	};

	for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
		if ((!hints[i].words || strstr(last, hints[i].words)) && (!hints[i].status || status == hints[i].status))
			return hints[i].text;
	return NULL;
}

const char *launch_hint_local(const struct launched *l)
{
	return WIFSIGNALED(l->status) && WTERMSIG(l->status) == SIGKILL
		? launch_hint_of("signal 9", 0)
		: NULL;
}

const char *launch_hint(const struct launched *l)
{
	return WIFEXITED(l->status) ? launch_hint_of(l->last, WEXITSTATUS(l->status)) : NULL;
}

void launch_let_go(struct launched *l, bool kill_it)
{
	if (l->control >= 0)
		shutdown(l->control, SHUT_WR);
	if (kill_it && l->pid)
		kill(-l->pid, SIGKILL);
}

void launch_release(struct launched *l)
{
	launch_let_go(l, false);
	fd_close(l->control);
	l->control = -1;
	while (l->pid && waitpid(l->pid, &l->status, 0) < 0 && errno == EINTR)
		;
	fd_close(l->errors);
	fd_close(l->program);
	buf_release(&l->line);
	buf_release(&l->said);
	buf_release(&l->mark);
	*l = LAUNCHED_NONE;
}
