/* SPDX-License-Identifier: Apache-2.0
 * A connection that damages what it carries, in a way that TCP's checksum does not see or as a single bit: behind
 * byte N of what goes `to` one end or comes `from` it a bit is flipped, or two 16-bit words are swapped, once.
 *
 *   damage to|from flip|swap N COMMAND...   between this process's standard input and output and COMMAND
 *   damage to|from flip|swap N PORT TO      between who connects to PORT of 127.0.0.1, the end that counts, and its port TO */
#include <arpa/inet.h>
#include <ctype.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

static struct way way(int from, int to, bool hurts, char **argv)
{
	return (struct way){ from, to, hurts ? atol(argv[3]) : -1, !strcmp(argv[2], "swap") };
}

/* Until nothing comes from the other end, or, with `both`, from one of them. */
static void carry_all(struct way to, struct way from, bool both)
{
	for (bool ended = false; !ended; ) {
		struct pollfd f[2] = { { .fd = to.from, .events = POLLIN }, { .fd = from.from, .events = POLLIN } };

		poll(f, 2, -1);
		if (f[0].revents && !carry(&to)) {
			close(to.to);
			to.from = -1;
			ended = both;
		}
		ended |= f[1].revents && !carry(&from);
	}
}

static int run_command(char **argv)
{
	int in[2], out[2], status = 0;
	bool to = !strcmp(argv[1], "to");
	pid_t pid;

	if (pipe(in) || pipe(out))
		return 2;
	pid = start(argv + 4, in, out);
	close(in[0]);
	close(out[1]);
	carry_all(way(STDIN_FILENO, in[1], to, argv), way(out[0], STDOUT_FILENO, !to, argv), false);
	close(STDOUT_FILENO);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* One connection, from PORT to TO. */
static int relay(char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[4])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), there = socket(AF_INET, SOCK_STREAM, 0),
	    here, yes = 1;
	bool to = !strcmp(argv[1], "to");

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes,
		sizeof yes); /* one of an earlier test may still be closing */
	if (bind(listener, (struct sockaddr *)&a, sizeof a) || listen(listener, 1))
		return 1;
	here = accept(listener, NULL, NULL);
	a.sin_port = htons((uint16_t)atoi(argv[5]));
	if (here < 0 || connect(there, (struct sockaddr *)&a, sizeof a))
		return 1;
	carry_all(way(there, here, to, argv), way(here, there, !to, argv), true);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	return argc == 6 && isdigit((unsigned char)*argv[4]) ? relay(argv) : run_command(argv);
}
