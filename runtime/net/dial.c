/* SPDX-License-Identifier: Apache-2.0
 * A worker's way to its coordinator: the first frame, then one address after the other. */
#include "config.h"
#include "runtime/net/dial.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/clock.h"

enum { BOOT_S = 30, CONNECT_MS = 3000 };

/* ---- the first frame ---- */

bool dial_wait(int fd, short events, double until)
{
	for (;;) {
		double left = until - clock_seconds();
		struct pollfd f = { .fd = fd, .events = events };
		int n = poll(&f, 1, left > 0 ? (int)(left * 1000) + 1 : 0);

		if (n > 0)
			return true;
		if (n == 0 || errno != EINTR)
			return false;
	}
}

static bool read_whole(int fd, void *p, size_t len, double until)
{
	for (size_t at = 0; at < len; ) {
		ssize_t n;

		if (!dial_wait(fd, POLLIN, until))
			return false;
		n = read(fd, (char *)p + at, len - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

int dial_read_boot(int fd, struct wire_boot *boot, struct err *e)
{
	uint8_t header[WIRE_HEADER], *body = crypto_secret_new(WIRE_TEXT_MAX);
	double until = clock_seconds() + BOOT_S;
	struct rd r = { .p = header, .len = sizeof header };
	size_t len;
	bool ok = body && read_whole(fd, header, sizeof header, until);

	if (!body)
		return err_set(e, -ERR_CONFIG, "no memory for a key");
	len = rd_u32(&r);
	ok = ok && len <= WIRE_TEXT_MAX && read_whole(fd, body, len, until) && wire_get_boot(body, len, boot);
	crypto_secret_free(body, WIRE_TEXT_MAX);
	if (!ok)
		return err_set(e, -ERR_PROTOCOL, "the standard input does not begin with what `qcnn train --hosts` writes; "
			"workers are started by it, not by hand");
	if (boot->version != WIRE_VERSION)
		return err_set(e, -ERR_PROTOCOL, "the coordinator speaks version %u of the protocol, this qcnn version %d: "
			"the same qcnn has to be on all hosts", boot->version, WIRE_VERSION);
	return 0;
}

/* ---- connecting ---- */

static int connect_one(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), fault = 0;
	socklen_t len = sizeof fault;

	if (fd < 0)
		return -1;
	if (!connect(fd, a->ai_addr, a->ai_addrlen))
		return fd;
	if (errno == EINPROGRESS && dial_wait(fd, POLLOUT, clock_seconds() + CONNECT_MS / 1000.0)
			&& !getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &len) && !fault)
		return fd;
	if (fault)
		errno = fault;
	else if (errno == EINPROGRESS)
		errno = ETIMEDOUT;
	len = (socklen_t)errno;
	close(fd);
	errno = (int)len;
	return -1;
}

static int connect_to(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV }, *found = NULL;
	int fd;

	if (getaddrinfo(host, port, &hints, &found)) {
		errno = EADDRNOTAVAIL;
		return -1;
	}
	fd = connect_one(found->ai_addr ? found : NULL);
	freeaddrinfo(found);
	return fd;
}

/* "192.0.2.1:4711" or "[2001:db8::1]:4711" in two. */
static bool split_address(const char *address, char *host, size_t size, const char **port)
{
	const char *colon = strrchr(address, ':');
	bool brackets = *address == '[';

	if (!colon || colon == address)
		return false;
	*port = colon + 1;
	snprintf(host, size, "%.*s", (int)(colon - address - 2 * brackets), address + brackets);
	return true;
}

/* The addresses we were told; then the machine that came by ssh, where a translation lies between. */
int dial(const struct wire_boot *boot, struct err *e)
{
	const char *ssh = getenv("SSH_CONNECTION"), *port;
	char host[64], client[64] = "";
	int fd = -1, fault = 0;

	for (uint32_t i = 0; i < boot->naddress && fd < 0; i++)
		if (split_address(boot->address[i], host, sizeof host, &port)) {
			fd = connect_to(host, port);
			fault = errno;
		}
	if (fd < 0 && ssh)
		snprintf(client, sizeof client, "%.*s", (int)strcspn(ssh, " "), ssh);
	for (uint32_t i = 0; i < boot->naddress && fd < 0 && *client; i++)
		if (split_address(boot->address[i], host, sizeof host, &port))
			fd = connect_to(client, port);
	if (fd < 0)
		err_set(e, -ERR_UNREACHABLE, "cannot connect to the coordinator at %s: %s", boot->address[0], strerror(fault));
	return fd;
}
