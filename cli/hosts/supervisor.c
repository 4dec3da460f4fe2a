/* SPDX-License-Identifier: Apache-2.0
 * Waits for the end of the worker or of the standard input, reports how the worker died, and ends one that is stopped. */
#include "cli/hosts/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_MS = 2000 };                /* from the end of the standard input to that of the worker */

static bool parent_is_qcnn(void)
{
	char link[64], own[4096], other[4096];
	ssize_t nown = readlink("/proc/self/exe", own, sizeof own), nother;

	snprintf(link, sizeof link, "/proc/%ld/exe", (long)getppid());
	nother = readlink(link, other, sizeof other);
	return nown > 0 && nown == nother && !memcmp(own, other, (size_t)nown);
}

/* Also when it is stopped. */
static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

/* The end of the worker closes `life`. */
static int wait_for(pid_t worker, int life)
{
	struct pollfd f[2] = { { .fd = STDIN_FILENO, .events = POLLRDHUP }, { .fd = life, .events = POLLIN } };
	int timeout_ms = -1, status = 0;

	for (;;) {
		int n = poll(f, 2, timeout_ms);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			kill(worker, SIGKILL);
		if (n <= 0 || f[1].revents)
			break;
		f[0].fd = -1;                /* no data, but its end */
		timeout_ms = GRACE_MS;
	}
	while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

void guard_begin(void)
{
	pid_t guard = getpid(), worker;
	int life[2];

	if (parent_is_qcnn()) {
		die_with(getppid());
		return;
	}
	if (pipe2(life, O_CLOEXEC))
		return;
	worker = fork();
	if (worker > 0) {
		close(life[1]);
		int status = wait_for(worker, life[0]);
		if (!WIFSIGNALED(status))
			_exit(WEXITSTATUS(status));
		fprintf(stderr, "qcnn worker: ended by signal %d (%s)\n", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
		_exit(128 + WTERMSIG(status));
	}
	close(life[0]);
	if (worker < 0) {
		close(life[1]);              /* without a guard it works as well */
		return;
	}
	die_with(guard);
}
