/* SPDX-License-Identifier: Apache-2.0
 * Pending connections at a port: many_connections PORT N SLOW makes N connections to 127.0.0.1, as many at a time as
 * the system allows, keeps them, and sends a byte a second on the last SLOW of them, until its standard input ends.
 * It prints how many it has made, then how many bytes it has received. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SPARE = 16, CROWD_MAX = 1 << 20 };

static int *fd;
static size_t nfd, ntold;

static int come(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (s >= 0 && connect(s, (struct sockaddr *)&a, sizeof a)) {
		close(s);
		return -1;
	}
	return s;
}

/* What was said to one; false: it was cut off. */
static int hears(int s)
{
	char part[256];
	ssize_t n = recv(s, part, sizeof part, MSG_DONTWAIT);

	ntold += n > 0 ? (size_t)n : 0;
	return n != 0;
}

/* Those who were cut off make room for others. */
static void forget(void)
{
	size_t n = 0;

	for (size_t i = 0; i < nfd; i++)
		if (hears(fd[i]))
			fd[n++] = fd[i];
		else
			close(fd[i]);
	nfd = n;
}

int main(int argc, char **argv)
{
	struct pollfd end = { .fd = STDIN_FILENO, .events = POLLIN };
	struct rlimit most;
	size_t n = argc == 4 ? (size_t)atol(argv[2]) : 0, slow = n ? (size_t)atol(argv[3]) : 0,
	       made = 0;

	if (!n || n > CROWD_MAX || getrlimit(RLIMIT_NOFILE, &most))
		return 2;
	most.rlim_cur = most.rlim_max;
	setrlimit(RLIMIT_NOFILE, &most);
	fd = malloc(n * sizeof *fd);
	while (made < n) {
		if (nfd + SPARE >= most.rlim_cur)
			forget();
		fd[nfd] = come(atoi(argv[1]));
		if (fd[nfd] < 0)
			break;
		nfd++;
		made++;
	}
	printf("made %zu\n", made);
	fflush(stdout);
	do {
		forget();
		for (size_t i = nfd > slow ? nfd - slow : 0; i < nfd; i++)
			send(fd[i], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (poll(&end, 1, 1000) == 0);
	forget();
	printf("told %zu\n", ntold);
	return 0;
}
