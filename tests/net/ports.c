// SPDX-License-Identifier: Apache-2.0
/*
 * TCP ports for a test: prints the first of PORTS consecutive ports and reserves them until its parent
 * ends. No other call gets them meanwhile, of whatever build, nobody listens at them, and the kernel
 * chooses none of them for outgoing connections: they lie outside of net.ipv4.ip_local_port_range.
 */
#include "config.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORTS = 63, BLOCK = PORTS + 1, LOWEST = 20000, HIGHEST = 65535 };

/* A socket bound to the port on all addresses, or -1 where another process has it. */
static int bind_port(int port, bool reuse)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = reuse;

	if (fd >= 0
		&& (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes)
			|| bind(fd, (struct sockaddr *)&a, sizeof a))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Connections of earlier tests may still be closing (SO_REUSEADDR); whoever listens must not. */
static bool nobody_listens(int port)
{
	int fd = bind_port(port, true);
	bool free = fd >= 0 && !listen(fd, 1);

	if (fd >= 0)
		close(fd);
	return free;
}

/* The ports [*first, *end) that the kernel does not choose itself; all where it may choose any. */
static void outside_range(int *first, int *end)
{
	FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
	int low = 32768, high = 60999;

	if (f) {
		if (fscanf(f, "%d %d", &low, &high) != 2)
			low = LOWEST;
		fclose(f);
	}
	*first = LOWEST;
	*end = low;
	if (low - LOWEST < HIGHEST - high) {
		*first = high + 1;
		*end = HIGHEST + 1;
	}
	if (*end - *first < 1000) {
		*first = LOWEST;
		*end = HIGHEST + 1;
	}
}

/* The reservation is a socket bound to the first port of the block, which nobody connects to. */
static bool reserve(int block)
{
	int fd = bind_port(block, false);
	bool free = fd >= 0;

	for (int i = 1; i <= PORTS && free; i++)
		free = nobody_listens(block + i);
	if (fd >= 0 && !free)
		close(fd);
	return free;
}

int main(void)
{
	pid_t parent = getppid();
	int first, end, nblock;

	outside_range(&first, &end);
	nblock = (end - first) / BLOCK;
	for (int i = 0; i < nblock; i++) {
		int block = first + ((int)getpid() + i) % nblock * BLOCK;

		if (!reserve(block))
			continue;
		printf("%d\n", block + 1);
		fflush(stdout);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			pause();
		return 0;
	}
	return 1;
}
