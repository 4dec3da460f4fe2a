/* SPDX-License-Identifier: Apache-2.0
 * Reads the first frame, then tries the addresses of the coordinator, staggered. */
#include "runtime/net/launch/connect.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/numerical_version.h"
#include "runtime/base/system/clock.h"

enum { BOOT_S = 30, CONNECT_MS = 3000, STAGGER_MS = 250 };

/* ---- the first frame ---- */

bool connect_wait(int fd, short events, double until)
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
	for (size_t at = 0; at < len;) {
		if (!connect_wait(fd, POLLIN, until))
			return false;
		ssize_t n = read(fd, (char *)p + at, len - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

int connect_read_boot(int fd, struct wire_boot *boot, struct err *e)
{
	uint8_t header[WIRE_HEADER], *body = crypto_secret_new(WIRE_TEXT_MAX);
	double until = clock_seconds() + BOOT_S;
	struct rd r = { .p = header, .len = sizeof header };
	bool ok = body && read_whole(fd, header, sizeof header, until);

	if (!body)
		return err_set(e, -ERR_CONFIG, "no memory for a key");
	size_t len = rd_u32(&r);
	ok = ok && len <= WIRE_TEXT_MAX && read_whole(fd, body, len, until) && wire_get_boot(body, len, boot);
	crypto_secret_free(body, WIRE_TEXT_MAX);
	if (!ok)
		return err_set(e, -ERR_PROTOCOL,
			"the standard input does not begin with the "
			"message that `qcnn train --hosts` writes; that command starts workers, not the user");
	if (boot->version != WIRE_VERSION)
		return err_set(e, -ERR_PROTOCOL,
			"the coordinator uses version %u of the "
			"protocol, this qcnn version %d: install the same qcnn on all hosts",
			boot->version, WIRE_VERSION);
	return 0;
}

/* ---- connecting ---- */

struct try {
	const char *port;
	char host[64];
	double until;
};
struct tries {
	struct try at[2 * WIRE_ADDRESSES_MAX]; unsigned n, nbegun;
	struct pollfd f[2 * WIRE_ADDRESSES_MAX];     /* fd -1: failed, or not begun */
	int fault;                   /* errno of the first */
	double next;                 /* clock at which the next begins */
};

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

/* The addresses of the first frame; then, for networks with address translation, that of the ssh client. */
static void gather(const struct wire_boot *boot, struct tries *t)
{
	const char *ssh = getenv("SSH_CONNECTION");
	struct try *one;

	for (uint32_t i = 0; i < boot->naddress; i++) {
		one = &t->at[t->n];
		t->n += split_address(boot->address[i], one->host, sizeof one->host, &one->port);
	}
	for (uint32_t i = 0; i < boot->naddress && ssh; i++) {
		one = &t->at[t->n];
		t->n += split_address(boot->address[i], one->host, sizeof one->host, &one->port);
		snprintf(one->host, sizeof one->host, "%.*s", (int)strcspn(ssh, " "), ssh);
	}
	for (unsigned i = 0; i < t->n; i++)
		t->f[i] = (struct pollfd){ .fd = -1, .events = POLLOUT };
}

static void try_failed(struct tries *t, unsigned i, int fault)
{
	fd_close(t->f[i].fd);
	t->f[i].fd = -1;
	if (!i)
		t->fault = fault;
	t->next = 0;                         /* the next begins at once */
}

static void try_begin(struct tries *t, double now)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV }, *found = NULL;
	unsigned i = t->nbegun++;

	t->next = now + STAGGER_MS / 1000.0;
	t->at[i].until = now + CONNECT_MS / 1000.0;
	if (getaddrinfo(t->at[i].host, t->at[i].port, &hints, &found)) {
		try_failed(t, i, EADDRNOTAVAIL);
		return;
	}
	t->f[i].fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (t->f[i].fd < 0 || (connect(t->f[i].fd, found->ai_addr, found->ai_addrlen) && errno != EINPROGRESS))
		try_failed(t, i, errno);
	freeaddrinfo(found);
}

/* The socket that has connected, or -1; those that have failed are closed. */
static int try_results(struct tries *t, double now)
{
	for (unsigned i = 0; i < t->nbegun; i++) {
		if (t->f[i].fd < 0)
			continue;
		int fault = now > t->at[i].until ? ETIMEDOUT : 0;
		socklen_t len = sizeof fault;
		if (t->f[i].revents && !getsockopt(t->f[i].fd, SOL_SOCKET, SO_ERROR, &fault, &len) && !fault)
			return t->f[i].fd;
		if (fault)
			try_failed(t, i, fault);
	}
	return -1;
}

/* Each address is tried STAGGER_MS after the one before, or when that has failed. */
int connect_coordinator(const struct wire_boot *boot, struct err *e)
{
	struct tries t = { .n = 0 };
	int fd = -1;

	gather(boot, &t);
	while (fd < 0) {
		double now = clock_seconds();
		bool open = false;

		while (t.nbegun < t.n && now >= t.next)
			try_begin(&t, now);
		for (unsigned i = 0; i < t.nbegun; i++)
			open |= t.f[i].fd >= 0;
		if (!open && t.nbegun == t.n)
			break;
		poll(t.f, t.nbegun, STAGGER_MS / 10);
		fd = try_results(&t, clock_seconds());
	}
	for (unsigned i = 0; i < t.nbegun; i++)
		if (t.f[i].fd != fd)
			fd_close(t.f[i].fd);
	if (fd < 0)
		err_set(e, -ERR_UNREACHABLE, "cannot connect to the coordinator at %s: %s", boot->address[0], strerror(t.fault));
	return fd;
}

int connect_resolve(const char *host, uint16_t port, struct wire_boot *boot, const char **why)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG },
			*found = NULL;
	int status = getaddrinfo(host, NULL, &hints, &found);
	char text[INET6_ADDRSTRLEN + 1];

	if (status) {
		*why = gai_strerror(status);
		return -ERR_UNREACHABLE;
	}
	for (struct addrinfo *i = found; i && boot->naddress < WIRE_ADDRESSES_MAX; i = i->ai_next)
		if (!getnameinfo(i->ai_addr, i->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST))
			snprintf(boot->address[boot->naddress++], sizeof boot->address[0],
				i->ai_family == AF_INET6 ? "[%s]:%u" : "%s:%u", text, port);
	freeaddrinfo(found);
	return 0;
}

/* ---- the handshake ---- */

/* The next message, or -ERR_UNREACHABLE: the other side closed or says nothing. */
static int await_body(struct peer *p, const uint8_t **body, size_t *len, double until)
{
	int n;

	while (!(n = peer_next(p, body, len, NULL)))
		if (!connect_wait(p->fd, POLLIN, until) || peer_fill(p, NULL))
			return -ERR_UNREACHABLE;
	return n < 0 ? n : 0;
}

int connect_prove(struct peer *p, const struct wire_boot *boot, double until, const char *refused,
	const char *no_key, struct err *e)
{
	struct handshake *h = crypto_secret_new(sizeof *h);
	buf_auto b = BUF_INIT;
	const uint8_t *body;
	size_t len;

	if (!h)
		return err_set(e, -ERR_CONFIG, "no memory for keys");
	h->rank = boot->rank;
	h->numerical = NUMERICAL_VERSION;
	h->aes = crypto_has_aes();
	memcpy(h->key, boot->key, sizeof h->key);
	memcpy(h->job, boot->job, sizeof h->job);
	handshake_hello(h, &b);
	peer_put(p, &b);
	int code = peer_flush(p, e);
	if (!code && await_body(p, &body, &len, until))
		code = err_set(e, -ERR_AUTH, "%s", refused);
	buf_clear(&b);
	if (!code && !handshake_answer(h, body, len, &b))
		code = err_set(e, -ERR_AUTH, "%s", no_key);
	if (!code) {
		peer_put(p, &b);
		code = peer_flush(p, e);
	}
	if (!code && !peer_trust(p, h))
		code = err_set(e, -ERR_CONFIG, "no memory for keys");
	crypto_secret_free(h, sizeof *h);
	return code;
}

/* ---- a profiler ---- */

/* A host that is gone is noticed after 20 s. */
static void notice_silence(int fd)
{
	const int on = 1, idle = 5, between = 5, count = 3;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

int connect_profiler(struct wire_boot *boot, struct peer *out, struct err *e)
{
	int fd = connect_coordinator(boot, e);

	if (fd < 0)
		return -ERR_UNREACHABLE;
	notice_silence(fd);
	peer_init(out, fd);
	boot->rank = WIRE_RANK_PROFILER;
	int code = connect_prove(out, boot, clock_seconds() + CONNECT_MS / 1000.0,
		"the process that listens there does not accept this key: it is not the "
		"job's key, or the job runs another version of qcnn (this is " PACKAGE_VERSION ")",
		"the process that answers there does not have the key", e);
	if (code)
		peer_close(out);
	return code;
}
