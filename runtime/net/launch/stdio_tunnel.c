/* SPDX-License-Identifier: Apache-2.0
 * Two threads that copy, and notice silence while the main thread computes. */
#include "runtime/net/launch/stdio_tunnel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "runtime/net/launch/launch.h"

enum { SILENT_MS = 12000, PART = 1 << 16 };      /* no process outlives a network cut by 15 s */

static struct stdio_tunnel {
	int in, out, socket;
	pthread_t giver;             /* copies to the standard output */
} self;

static bool would_block(void) { return errno == EAGAIN || errno == EWOULDBLOCK; }

/* False: the other side has closed. */
static bool write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);
		struct pollfd f = { .fd = fd, .events = POLLOUT };

		if (n < 0 && would_block())
			poll(&f, 1, -1);
		else if (n < 0 && errno != EINTR)
			return false;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* The number of bytes read, 0 at the end. */
static size_t read_some(int fd, char *p, size_t len, int silent_ms)
{
	for (;;) {
		struct pollfd f = { .fd = fd, .events = POLLIN };
		int found = poll(&f, 1, silent_ms);

		if (!found)
			_exit(err_exit_status(-ERR_UNREACHABLE));
		if (found < 0 && errno == EINTR)
			continue;
		ssize_t n = read(fd, p, len);
		if (n >= 0 || (errno != EINTR && !would_block()))
			return n > 0 ? (size_t)n : 0;
	}
}

static void *take(void *arg)
{
	static char part[PART];
	size_t n;

	(void)arg;
	while ((n = read_some(self.in, part, sizeof part, SILENT_MS)) != 0 && write_all(self.socket, part, n))
		;
	shutdown(self.socket, SHUT_WR);
	return NULL;
}

static void *give(void *arg)
{
	static char part[PART];
	size_t n;

	(void)arg;
	while ((n = read_some(self.socket, part, sizeof part, -1)) != 0)
		if (!write_all(self.out, part, n)) {
			shutdown(self.socket, SHUT_RDWR);
			break;
		}
	close(self.out);
	return NULL;
}

/* A terminal (srun --unbuffered makes one) would change bytes. */
static void make_raw(int fd)
{
	struct termios t;

	if (tcgetattr(fd, &t))
		return;
	cfmakeraw(&t);
	tcsetattr(fd, TCSANOW, &t);
}

/* Move the standard input and output to other descriptors; replace them by /dev/null and the standard error. */
static bool move_away(void)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	self.in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	self.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (null < 0 || self.in < 0 || self.out < 0)
		return false;
	fflush(stdout);
	dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	close(null);
	return true;
}

int stdio_tunnel_open(const char *why, struct err *e)
{
	char mark[LAUNCH_MARK_MAX];
	pthread_t taker;
	int pair[2], n;

	n = snprintf(mark, sizeof mark - 1, LAUNCH_MARK LAUNCH_PIPE "%s%s", *why ? " " : "", why);
	n = n < (int)sizeof mark - 2 ? n : (int)sizeof mark - 2;
	mark[n++] = '\n';
	make_raw(STDOUT_FILENO);
	if (!move_away() || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(e, -ERR_CONFIG, "cannot use the standard input and output: %s", strerror(errno));
	self.socket = pair[1];
	if (!write_all(self.out, mark, (size_t)n) || pthread_create(&taker, NULL, take, NULL) || pthread_create(&self.giver, NULL, give, NULL))
		return err_set(e, -ERR_CONFIG, "cannot use the standard input and output");
	pthread_detach(taker);
	return pair[0];
}

int stdio_tunnel_input(void) { return self.in; }

void stdio_tunnel_end(void) { pthread_join(self.giver, NULL); }
