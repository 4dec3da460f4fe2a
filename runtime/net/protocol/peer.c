/* SPDX-License-Identifier: Apache-2.0
 * Buffers around one socket.  The memory for a frame grows with the bytes received, not with the length that it
 * announces. */
#include "runtime/net/protocol/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_STEP = 1 << 16, DEAD_MS = 12000 };   /* no process outlives a network cut by 15 s */

void peer_init(struct peer *p, int fd)
{
	int yes = 1;
	unsigned dead_ms = DEAD_MS;

	*p = (struct peer){ .fd = fd, .body_max = WIRE_EARLY_MAX };
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_ms, sizeof dead_ms);
}

bool sockaddr_same(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr
			== ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return a->sa_family == AF_INET6
		&& !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
			&((const struct sockaddr_in6 *)b)->sin6_addr, 16);
}

bool peer_is_local(const struct peer *p)
{
	struct sockaddr_storage own, other;
	socklen_t nown = sizeof own, nother = sizeof other;

	return !getsockname(p->fd, (struct sockaddr *)&own, &nown)
		&& !getpeername(p->fd, (struct sockaddr *)&other, &nother)
		&& sockaddr_same((struct sockaddr *)&own, (struct sockaddr *)&other);
}

void peer_close(struct peer *p)
{
	fd_close(p->fd);
	free(p->in);
	buf_release(&p->out);
	crypto_secret_free(p->keys, sizeof *p->keys);
	crypto_wipe(p, sizeof *p);
	p->fd = -1;
}

bool peer_trust(struct peer *p, const struct handshake *h)
{
	p->keys = crypto_secret_new(sizeof *p->keys);
	if (!p->keys)
		return false;
	crypto_channel_open(&p->keys->read, &h->read, h->encrypt, h->aes);
	crypto_channel_open(&p->keys->write, &h->write, h->encrypt, h->aes);
	p->body_max = WIRE_BODY_MAX;
	return true;
}

/* Reserve READ_STEP bytes behind the unread ones; drop the others. */
static bool reserve_input(struct peer *p)
{
	size_t cap = p->in_cap ? p->in_cap : 2 * READ_STEP;

	if (p->in_at == p->in_len)
		p->in_at = p->in_len = 0;
	if (p->in && p->in_cap - p->in_len >= READ_STEP)
		return true;
	if (p->in_at) {
		memmove(p->in, p->in + p->in_at, p->in_len - p->in_at);
		p->in_len -= p->in_at;
		p->in_at = 0;
	}
	while (cap - p->in_len < READ_STEP)
		cap *= 2;
	if (p->in && cap == p->in_cap)
		return true;
	uint8_t *in = realloc(p->in, cap);
	if (!in)
		return false;
	p->in = in;
	p->in_cap = cap;
	return true;
}

/* The bytes that were received and not returned yet. */
static struct rd unread(const struct peer *p)
{
	return (struct rd){ .p = p->in ? p->in + p->in_at : NULL, .len = p->in_len - p->in_at };
}

/* Bytes of a frame beside its body. */
static size_t frame_more(const struct peer *p)
{
	return WIRE_HEADER + (p->keys ? CRYPTO_LENGTH_TAG + CRYPTO_SEAL : 0);
}

/* Whether the first frame is complete. */
static bool has_whole(const struct peer *p)
{
	struct rd r = unread(p);
	uint32_t len = rd_u32(&r);

	return !r.bad && r.len >= frame_more(p) + len;
}

int peer_fill(struct peer *p, struct err *e)
{
	for (;;) {
		if (!reserve_input(p))
			return err_set(e, -ERR_CONFIG, "no memory for a message");
		ssize_t n = read(p->fd, p->in + p->in_len, p->in_cap - p->in_len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (n < 0 && !p->fault)
			p->fault = errno;
		if (n <= 0)
			return err_set(e, -ERR_UNREACHABLE, "the connection %s%s", p->fault ? "broke: " : "was closed",
				p->fault ? strerror(p->fault) : "");
		p->in_len += (size_t)n;
		p->nread += (uint64_t)n;
		if (p->in_len < p->in_cap || has_whole(p) || p->in_len - p->in_at > p->body_max + frame_more(p))
			return 0;                    /* no memory for more than is allowed */
	}
}

static int refuse(struct peer *p, struct err *e)
{
	p->fault = EBADMSG;
	return err_set(e, -ERR_UNREACHABLE, "a received message was damaged or forged");
}

/* Check the tag of the length as soon as it has come, so that a forged length is not waited for. */
static bool length_is_right(const struct peer *p, struct rd *r, uint32_t len)
{
	uint8_t right[CRYPTO_LENGTH_TAG];
	const uint8_t *tag = rd_bytes(r, sizeof right);

	if (!tag)
		return true;
	crypto_tag_length(&p->keys->read, len, right);
	return crypto_equal(right, tag, sizeof right);
}

int peer_next(struct peer *p, const uint8_t **body, size_t *len, struct err *e)
{
	struct rd r = unread(p);
	uint32_t n = rd_u32(&r);

	if (p->fault == EBADMSG || (p->keys && !length_is_right(p, &r, n)))
		return refuse(p, e);
	if (r.bad)
		return 0;
	if (!n || n > p->body_max)
		return err_set(e, -ERR_PROTOCOL, "a message of %u bytes where 1 to %zu are allowed", n, p->body_max);
	const uint8_t *frame = rd_bytes(&r, n + (p->keys ? (size_t)CRYPTO_SEAL : 0));
	if (!frame)
		return 0;
	if (p->keys && !crypto_open(&p->keys->read, p->in + (frame - p->in), n, frame + n))
		return refuse(p, e);
	p->in_at += r.at;
	*body = frame;
	*len = n;
	return 1;
}

static void put_sealed(struct peer *p, const struct buf *body)
{
	uint8_t tag[CRYPTO_LENGTH_TAG];

	crypto_tag_length(&p->keys->write, (uint32_t)body->len, tag);
	buf_add(&p->out, tag, sizeof tag);
	size_t at = p->out.len;
	buf_add(&p->out, body->data, body->len);
	buf_pad(&p->out, 0, CRYPTO_SEAL);
	crypto_seal(&p->keys->write, (uint8_t *)p->out.data + at, body->len, (uint8_t *)p->out.data + at + body->len);
}

void peer_put(struct peer *p, const struct buf *body)
{
	if (p->fd < 0)
		return;
	buf_u32(&p->out, (uint32_t)body->len);
	if (p->keys)
		put_sealed(p, body);
	else
		buf_add(&p->out, body->data, body->len);
}

bool peer_waits(const struct peer *p) { return p->out_at < p->out.len; }

int peer_flush(struct peer *p, struct err *e)
{
	while (peer_waits(p)) {
		ssize_t n = send(p->fd, p->out.data + p->out_at, p->out.len - p->out_at, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (n < 0 && !p->fault)
			p->fault = errno;    /* the system gives the reason once, then EPIPE */
		if (n < 0)
			return err_set(e, -ERR_UNREACHABLE, "the connection broke: %s", strerror(p->fault));
		p->out_at += (size_t)n;
		p->nwritten += (uint64_t)n;
	}
	p->out_at = 0;
	buf_clear(&p->out);
	return 0;
}

uint64_t peer_nreceived(const struct peer *p) { return p->keys ? p->keys->read.count : 0; }
uint64_t peer_nsent(const struct peer *p) { return p->keys ? p->keys->write.count : 0; }

static uint32_t labelled(const struct peer *p, uint64_t count)
{
	return (uint32_t)p->label << 24 | ((uint32_t)(count - 1) & 0xffffff);
}

uint32_t peer_received_number(const struct peer *p) { return labelled(p, peer_nreceived(p)); }
uint32_t peer_sent_number(const struct peer *p) { return labelled(p, peer_nsent(p)); }
