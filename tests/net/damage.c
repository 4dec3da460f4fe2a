/* SPDX-License-Identifier: Apache-2.0
 * A connection that damages what it carries, in a way that TCP's checksum does not see or as a single bit:
 * damage to|from flip|swap N COMMAND... runs COMMAND with this process's standard input and output, and behind
 * byte N of what goes `to` or comes `from` it flips a bit or swaps two 16-bit words, once. */
#include "config.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PART = 65536 };

struct way { int from, to; long at; bool swap; };   /* at < 0: nothing is to be damaged, or it is done */

static bool swap_words(unsigned char *p, ssize_t len)
{
	for (ssize_t k = 2; k + 2 <= len; k += 2)
		if (memcmp(p, p + k, 2)) {
			unsigned char word[2] = { p[0], p[1] };

			memcpy(p, p + k, 2);
			memcpy(p + k, word, 2);
			return true;
		}
	return false;
}

static void damage(struct way *w, unsigned char *p, ssize_t n)
{
	if (w->at < 0)
		return;
	if (w->at >= n) {
		w->at -= n;
	} else if (!w->swap) {
		p[w->at] ^= 4;
		w->at = -1;
	} else {                     /* where the words are all alike, a little later */
		w->at = swap_words(p + w->at, n - w->at) ? -1 : 0;
	}
}

/* False: one of the ends is closed. */
static bool carry(struct way *w)
{
	static unsigned char part[PART];
	ssize_t n = read(w->from, part, sizeof part);

	damage(w, part, n);
	for (ssize_t at = 0, k; at < n; at += k)
		if ((k = write(w->to, part + at, (size_t)(n - at))) <= 0)
			return false;
	return n > 0;
}

static pid_t start(char **argv, int in[2], int out[2])
{
	pid_t pid = fork();

	if (pid)
		return pid;
	dup2(in[0], STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	for (int k = 0; k < 2; k++) {
		close(in[k]);
		close(out[k]);
	}
	execvp(argv[0], argv);
	_exit(127);
}

int main(int argc, char **argv)
{
	int in[2], out[2], status = 0;
	struct way to, from;
	pid_t pid;

	if (argc < 5 || pipe(in) || pipe(out))
		return 2;
	signal(SIGPIPE, SIG_IGN);
	pid = start(argv + 4, in, out);
	close(in[0]);
	close(out[1]);
	to = (struct way){ STDIN_FILENO, in[1], strcmp(argv[1], "to") ? -1 : atol(argv[3]), !strcmp(argv[2], "swap") };
	from = (struct way){ out[0], STDOUT_FILENO, strcmp(argv[1], "from") ? -1 : atol(argv[3]), !strcmp(argv[2], "swap") };
	for (bool ended = false; !ended; ) {
		struct pollfd f[2] = { { .fd = to.from, .events = POLLIN }, { .fd = from.from, .events = POLLIN } };

		poll(f, 2, -1);
		if (f[0].revents && !carry(&to)) {
			close(to.to);
			to.from = -1;
		}
		ended = f[1].revents && !carry(&from);
	}
	close(STDOUT_FILENO);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
