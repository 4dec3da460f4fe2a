/* SPDX-License-Identifier: Apache-2.0
 * From a template to a process with three pipes' ends. */
#include "config.h"
#include "runtime/net/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/arena.h"

enum { PARTS_AT_ONCE = 16 };              /* of what one says: others want to be heard, too */

extern char **environ;

static const struct launch_row rows[LAUNCHER_COUNT] = {
#define LAUNCHER(id, name, line, text) [LAUNCHER_##id] = { name, line, text },
#include "runtime/net/launch.def"
#undef LAUNCHER
};

const struct launch_row *launch_row(enum launcher l)
{
	return &rows[l];
}

enum launcher launcher_find(const char *word, const char **agent)
{
	*agent = NULL;
	if (!strncmp(word, "exec:", 5)) {
		*agent = word + 5;
		return word[5 + strspn(word + 5, " ")] ? LAUNCHER_EXEC : LAUNCHER_NONE;
	}
	for (int l = 1; l < LAUNCHER_COUNT; l++)
		if (l != LAUNCHER_EXEC && !strcmp(word, rows[l].name))
			return (enum launcher)l;
	return LAUNCHER_NONE;
}

/* ---- the command line ---- */

static const char *own_program(void)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n <= 0)
		return "qcnn";
	path[n] = 0;
	return path;
}

/* In single quotes, for any shell. */
static void quote(struct buf *b, const char *word)
{
	buf_char(b, '\'');
	for (; *word; word++)
		*word == '\'' ? buf_str(b, "'\\''") : buf_char(b, *word);
	buf_char(b, '\'');
}

/* Where the path is not given, the same one as here, else what the host finds itself. */
static void remote_command(const struct launch_place *p, struct buf *b)
{
	struct buf script = BUF_INIT;

	if (p->program) {
		buf_str(b, "exec ");
		quote(b, p->program);
		buf_str(b, " worker");
		return;
	}
	buf_str(&script, "if test -x ");
	quote(&script, own_program());
	buf_str(&script, "; then exec ");
	quote(&script, own_program());
	buf_str(&script, " worker; else exec qcnn worker; fi");
	buf_str(b, "exec sh -c ");
	quote(b, script.data);
	buf_release(&script);
}

static void fill_in(const struct launch_place *p, const char *name, size_t len, struct buf *b)
{
	if (!strncmp(name, "host", len))
		buf_str(b, p->host);
	else if (!strncmp(name, "program", len))
		buf_str(b, p->program ? p->program : own_program());
	else if (!strncmp(name, "command", len))
		remote_command(p, b);
	else
		BUG("no {%.*s} in launch.def", (int)len, name);
}

static void add_words(char ***argv, size_t *n, size_t *cap, const char *text, const struct launch_place *p)
{
	while (*text) {
		size_t len = strcspn(text, " ");
		struct buf b = BUF_INIT;

		buf_str(&b, "");
		if (p && len == 7 && !strncmp(text, "{agent}", 7)) {
			add_words(argv, n, cap, p->agent, NULL);
			len = 0;
			text += 7;
		}
		for (size_t i = 0; i < len; i++) {
			size_t inside = p && text[i] == '{' ? strcspn(text + i, "}") : 0;

			if (inside) {
				fill_in(p, text + i + 1, inside - 1, &b);
				i += inside;
			} else {
				buf_char(&b, text[i]);
			}
		}
		if (b.len) {
			mem_reserve(*argv, *n + 1, *cap);
			(*argv)[(*n)++] = buf_take(&b);
			(*argv)[*n] = NULL;
		}
		buf_release(&b);
		text += len;
		text += *text == ' ';
	}
}

char **launch_argv(const struct launch_place *p)
{
	size_t n = 0, cap = 0;
	char **argv = NULL;

	add_words(&argv, &n, &cap, rows[p->launcher].line, p);
	return argv;
}

void launch_argv_free(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}

/* ---- the process ---- */

/* Workers that share a machine's cores wait without turning. */
static char **passive_environment(void)
{
	static char passive[] = "OMP_WAIT_POLICY=passive";
	size_t n = 0;
	char **copy;

	if (getenv("OMP_WAIT_POLICY"))
		return NULL;
	while (environ[n])
		n++;
	copy = mem_alloc(n + 2, sizeof *copy);
	memcpy(copy, environ, n * sizeof *copy);
	copy[n] = passive;
	return copy;
}

static int spawn(char **argv, char **environment, const int in[2], const int out[2], pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, usual;
	int code;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGXFSZ);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, out[1], STDERR_FILENO);
	posix_spawnattr_init(&attr);
	/* A group of its own: INT from the terminal is for us to pass on. */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigdefault(&attr, &usual);
	posix_spawnattr_setsigmask(&attr, &none);
	code = posix_spawnp(pid, argv[0], &files, &attr, argv, environment ? environment : environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return code;
}

static void close_pair(int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

int launch_start(const struct launch_place *p, const void *boot, size_t len, struct launched *out, struct err *e)
{
	struct launched l = { .leash = -1, .talk = -1 };
	char **argv, **environment;
	int in[2], talk[2], code;

	if (pipe2(in, O_CLOEXEC))
		return err_set(e, -ERR_CONFIG, "cannot make a pipe to a worker: %s", strerror(errno));
	if (pipe2(talk, O_CLOEXEC)) {
		close_pair(in);
		return err_set(e, -ERR_CONFIG, "cannot make a pipe to a worker: %s", strerror(errno));
	}
	argv = launch_argv(p);
	environment = p->launcher == LAUNCHER_LOCAL ? passive_environment() : NULL;
	code = spawn(argv, environment, in, talk, &l.pid);
	if (code)
		err_set(e, -ERR_UNREACHABLE, "cannot start %s: %s", argv[0], strerror(code));
	else if (write(in[1], boot, len) != (ssize_t)len)    /* a pipe holds more than that */
		BUG("the first frame does not fit into a pipe");
	free(environment);
	launch_argv_free(argv);
	close(in[0]);
	close(talk[1]);
	if (code) {
		close(in[1]);
		close(talk[0]);
		return -ERR_UNREACHABLE;
	}
	l.leash = in[1];
	l.talk = talk[0];
	fcntl(l.talk, F_SETFL, O_NONBLOCK);
	*out = l;
	return 0;
}

static void end_line(struct launched *l, void (*say)(void *ctx, const char *line), void *ctx)
{
	size_t len = l->line.len < LAUNCH_LINE_MAX ? l->line.len : LAUNCH_LINE_MAX;

	if (!len)
		return;
	memcpy(l->last, l->line.data, len);
	l->last[len] = 0;
	buf_clear(&l->line);
	say(ctx, l->last);
}

/* Long lines are cut into several; what is no text is shown as such. */
static void hear(struct launched *l, const char *p, size_t len, void (*say)(void *ctx, const char *line), void *ctx)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char ch = (unsigned char)p[i];

		if (ch == '\n' || l->line.len == LAUNCH_LINE_MAX)
			end_line(l, say, ctx);
		if (ch >= 32 || ch == '\t')
			buf_char(&l->line, ch);
	}
}

bool launch_relay(struct launched *l, void (*say)(void *ctx, const char *line), void *ctx)
{
	char part[4096];
	ssize_t n;

	for (int i = 0; i < PARTS_AT_ONCE && l->talk >= 0; i++) {
		n = read(l->talk, part, sizeof part);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return true;
		if (!n) {
			end_line(l, say, ctx);
			close(l->talk);
			l->talk = -1;
			break;
		}
		hear(l, part, (size_t)n, say, ctx);
	}
	return l->talk >= 0;
}

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

const char *launch_cure(const struct launched *l)
{
	static const struct { const char *words; int status; const char *text; } cures[] = {
#define CURE(words, status, text) { words, status, text },
#include "runtime/net/cure.def"
#undef CURE
	};

	if (!WIFEXITED(l->status))
		return NULL;
	for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
		if ((!cures[i].words || strstr(l->last, cures[i].words)) && (!cures[i].status || WEXITSTATUS(l->status) == cures[i].status))
			return cures[i].text;
	return NULL;
}

void launch_let_go(struct launched *l, bool kill_it)
{
	if (l->leash >= 0)
		close(l->leash);
	l->leash = -1;
	if (kill_it && l->pid)
		kill(-l->pid, SIGKILL);
}

void launch_release(struct launched *l)
{
	launch_let_go(l, false);
	while (l->pid && waitpid(l->pid, &l->status, 0) < 0 && errno == EINTR)
		;
	if (l->talk >= 0)
		close(l->talk);
	buf_release(&l->line);
	*l = (struct launched){ .leash = -1, .talk = -1 };
}
