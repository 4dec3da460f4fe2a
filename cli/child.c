/* SPDX-License-Identifier: Apache-2.0
 * Starts a program, waits for it, and ends it at its time limit. */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/system/clock.h"
#include "runtime/base/system/spawn.h"

enum { POLL_LEAST_NS = 500000, POLL_MOST_NS = 20000000 };
static const double grace_seconds = 1;       /* between TERM and KILL */

/* In a process group of its own, so that all of it can be ended. */
static int start(const struct child *c, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	int failed;

	if ((failed = posix_spawn_file_actions_init(&files)))
		return failed;
	if ((failed = spawn_attributes(&how))) {
		posix_spawn_file_actions_destroy(&files);
		return failed;
	}
	failed = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!failed)
		failed = posix_spawn_file_actions_adddup2(&files, c->output, STDOUT_FILENO);
	if (!failed)
		failed = posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
	if (!failed)
		failed = posix_spawnp(pid, c->word[0], &files, &how, (char *const *)c->word, c->environment);
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&files);
	return failed;
}

/* Has it ended before `until`?  stop may be NULL. */
static bool wait_until(pid_t pid, double until, const char *(*stop)(void), int *status)
{
	long pause = POLL_LEAST_NS;

	for (;;) {
		pid_t got = waitpid(pid, status, WNOHANG);

		if (got == pid || (got < 0 && errno != EINTR))
			return true;
		if (clock_seconds() >= until || (stop && stop()))
			return false;
		nanosleep(&(struct timespec){ 0, pause }, NULL);
		pause = pause < POLL_MOST_NS / 2 ? 2 * pause : POLL_MOST_NS;
	}
}

static void end(pid_t pid, int *status)
{
	kill(-pid, SIGTERM);
	if (!wait_until(pid, clock_seconds() + grace_seconds, NULL, status)) {
		kill(-pid, SIGKILL);
		while (waitpid(pid, status, 0) < 0 && errno == EINTR)
			;
	}
	kill(-pid, SIGKILL);         /* what it has left behind */
}

int child_run(const struct child *c, struct err *e)
{
	pid_t pid;
	int status = 0, failed = start(c, &pid);

	if (failed)
		return err_set(e, -ERR_IO, "%s cannot be started: %s", c->word[0], strerror(failed));
	if (!wait_until(pid, clock_seconds() + c->timeout_seconds, c->stop, &status)) {
		const char *signal = c->stop ? c->stop() : NULL;

		end(pid, &status);
		if (signal)
			return err_set(e, -ERR_IO, "%s was ended by the signal %s", c->word[0], signal);
		return err_set(e, -ERR_IO, "%s was ended after %g seconds", c->word[0], c->timeout_seconds);
	}
	if (WIFSIGNALED(status))
		return err_set(e, -ERR_IO, "%s was killed by signal %d", c->word[0], WTERMSIG(status));
	if (WEXITSTATUS(status))
		return err_set(e, -ERR_IO, "%s ended with status %d", c->word[0], WEXITSTATUS(status));
	return 0;
}
