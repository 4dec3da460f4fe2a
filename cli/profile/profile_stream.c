/* SPDX-License-Identifier: Apache-2.0
 * Blocking reads and writes over both kinds of connection. */
#include "cli/profile/profile_stream.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/system/clock.h"
#include "runtime/net/launch/connect.h"

enum { PART = 1 << 20 }; /* bytes of a message */
static const double FOREVER = 1e6;

struct profile_stream profile_stream_unix(int fd, double seconds)
{
	return (struct profile_stream){ .peer.fd = fd, .seconds = seconds };
}

struct profile_stream profile_stream_sealed(const struct peer *p, double seconds)
{
	return (struct profile_stream){ .peer = *p, .sealed = true, .seconds = seconds };
}

void profile_stream_close(struct profile_stream *s)
{
	if (s->sealed)
		peer_close(&s->peer);
	else if (s->peer.fd >= 0)
		close(s->peer.fd);
	s->peer.fd = -1;
}

static bool await(struct profile_stream *s, short events)
{
	return connect_wait(s->peer.fd, events,
		clock_seconds() + (s->seconds > 0 ? s->seconds : FOREVER));
}

static size_t read_plain(struct profile_stream *s, void *out, size_t n)
{
	ssize_t got;

	do {
		if (!await(s, POLLIN))
			return 0;
		got = recv(s->peer.fd, out, n, MSG_DONTWAIT);
	} while (got < 0 && (errno == EINTR || errno == EAGAIN));
	return got > 0 ? (size_t)got : 0;
}

/* The next message's text. */
static bool next_text(struct profile_stream *s)
{
	const uint8_t *body;
	size_t len;
	int n;

	while (!(n = peer_next(&s->peer, &body, &len, NULL)))
		if (!await(s, POLLIN) || peer_fill(&s->peer, NULL))
			return false;
	return n > 0 && wire_get_attach(body, len, &s->left);
}

size_t profile_stream_read(struct profile_stream *s, void *out, size_t n)
{
	if (!s->sealed)
		return read_plain(s, out, n);
	if (!s->left.n && !next_text(s))
		return 0;
	if (n > s->left.n)
		n = s->left.n;
	memcpy(out, s->left.text, n);
	s->left.text += n;
	s->left.n -= (uint32_t)n;
	return n;
}

size_t profile_stream_line(struct profile_stream *s, char *line, size_t max)
{
	for (size_t n = 0; n + 1 < max;) {
		if (!profile_stream_read(s, line + n, 1))
			return 0;
		if (line[n++] == '\n') {
			line[n] = 0;
			return n;
		}
	}
	return max;
}

static bool send_plain(struct profile_stream *s, const char *data, size_t n)
{
	while (n) {
		if (!await(s, POLLOUT))
			return false;
		ssize_t sent = send(s->peer.fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (sent <= 0)
			return false;
		data += sent;
		n -= (size_t)sent;
	}
	return true;
}

static bool send_part(struct profile_stream *s, const char *data, uint32_t n)
{
	buf_auto body = BUF_INIT;
	bool ok;

	wire_put_attach(&body, &(struct wire_attach){ (const uint8_t *)data, n });
	peer_put(&s->peer, &body);
	while ((ok = !peer_flush(&s->peer, NULL)) && peer_waits(&s->peer))
		if (!await(s, POLLOUT))
			return false;
	return ok;
}

bool profile_stream_send(struct profile_stream *s, const char *data, size_t n)
{
	if (!s->sealed)
		return send_plain(s, data, n);
	for (size_t at = 0; at < n; at += PART)
		if (!send_part(s, data + at, n - at < PART ? (uint32_t)(n - at) : PART))
			return false;
	return true;
}
