/* SPDX-License-Identifier: Apache-2.0
 * Frames are sealed, sent, received and opened where they are; the system's buffers move on while this process
 * computes. */
#include "runtime/net/comm/tcp_link.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/system/clock.h"
#include "runtime/base/system/threads.h"
#include "runtime/net/comm/group_liveness.h"

/* The body of a frame begins on a cache line. */
enum {
	HEADER = WIRE_HEADER + CRYPTO_LENGTH_TAG,
	BODY = 64,
	START = BODY - HEADER,
	KIND_ABORT = 255,
	KIND_READY = 254,
	KIND_HEARTBEAT = 253
};
/* The longest wait for those that receive an abort, between two looks at what the other systems have confirmed, and
 * without a look while this process ran. */
static const double ABORT_S = 0.5, CONFIRM_S = 2e-3;

static struct chunk *chunk_of(const struct frame *f)
{
	return (struct chunk *)(void *)(f->memory + BODY);
}

static bool frame_new(struct frame *f, size_t nbyte)
{
	return !posix_memalign((void **)&f->memory, BODY,
		BODY + sizeof(struct chunk) + nbyte + CRYPTO_SEAL);
}

static struct frame *frame_at(struct frame *ring, unsigned n) { return &ring[n % LINK_CHUNKS]; }

bool link_open(struct tcp_link *l, struct peer *p, size_t nbyte_chunk)
{
	/* Bytes for a rank that computes wait in the system's buffers, however long: what ends a silent rank is the deadline. */
	const unsigned never_ms = 0;

	*l = (struct tcp_link){ .peer = *p, .nbyte_chunk = nbyte_chunk };
	p->fd = -1;
	setsockopt(l->peer.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &never_ms, sizeof never_ms);
	pthread_mutex_init(&l->lock, NULL);
	bool ok = frame_new(&l->last, GROUP_REASON_MAX) && frame_new(&l->heartbeat, 0);
	for (unsigned i = 0; i < LINK_CHUNKS && ok; i++)
		ok = frame_new(&l->out[i], nbyte_chunk) && frame_new(&l->in[i], nbyte_chunk);
	if (!ok)
		link_close(l);
	return ok;
}

void link_close(struct tcp_link *l)
{
	for (unsigned i = 0; i < LINK_CHUNKS; i++) {
		free(l->out[i].memory);
		free(l->in[i].memory);
	}
	free(l->last.memory);
	free(l->heartbeat.memory);
	if (l->peer.fd >= 0)
		peer_close(&l->peer);
	*l = (struct tcp_link){ .peer.fd = -1 };
}

/* ---- out ---- */

/* Seals the body of a frame, of which nbyte are behind the fields of the chunk. */
static void seal(struct tcp_link *l, struct frame *f, uint32_t nbyte)
{
	uint8_t *body = f->memory + BODY, *header = f->memory + START;
	uint32_t len = (uint32_t)sizeof(struct chunk) + nbyte;

	for (unsigned i = 0; i < WIRE_HEADER; i++)
		header[i] = (uint8_t)(len >> 8 * i);
	crypto_tag_length(&l->peer.keys->write, len, header + WIRE_HEADER);
	crypto_seal(&l->peer.keys->write, body, len, body + len);
	f->nbyte = HEADER + len + CRYPTO_SEAL;
}

struct chunk *link_reserve(struct tcp_link *l)
{
	mutex_auto held = mutex_hold(&l->lock);

	return l->nout < LINK_CHUNKS ? chunk_of(frame_at(l->out, l->first_out + l->nout)) : NULL;
}

void link_say_ready(struct tcp_link *l)
{
	*link_reserve(l) = (struct chunk){ .kind = KIND_READY };
	link_send(l);
}

/* The system gives the reason once. */
static void end(struct tcp_link *l, int fault)
{
	l->ended = true;
	if (!l->peer.fault)
		l->peer.fault = fault;
}

/* The frame that goes out now; NULL: all have gone. */
static struct frame *leaving(struct tcp_link *l)
{
	if (l->heartbeat.nbyte)
		return &l->heartbeat;
	return l->nout ? frame_at(l->out, l->first_out) : l->last.nbyte ? &l->last : NULL;
}

static void has_left(struct tcp_link *l, struct frame *f)
{
	l->sent = 0;
	if (f == &l->last || f == &l->heartbeat) {
		f->nbyte = 0;
		return;
	}
	l->first_out++;
	l->nout--;
}

static bool flush(struct tcp_link *l)
{
	struct frame *f;
	bool moved = false;

	while (!l->ended && (f = leaving(l))) {
		ssize_t n = send(l->peer.fd, f->memory + START + l->sent, f->nbyte - l->sent,
			MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		/* What came before a connection broke can still be read: that will find its end. */
		if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && !l->peer.fault)
			l->peer.fault = errno;
		if (n < 0)
			return moved;
		moved = true;
		l->sent += (size_t)n;
		if (l->sent == f->nbyte)
			has_left(l, f);
	}
	return moved;
}

bool link_flush(struct tcp_link *l)
{
	mutex_auto held = mutex_hold(&l->lock);

	return flush(l);
}

void link_send(struct tcp_link *l)
{
	mutex_auto held = mutex_hold(&l->lock);
	struct frame *f = frame_at(l->out, l->first_out + l->nout++);

	seal(l, f, chunk_of(f)->nbyte);
	flush(l);
}

bool link_is_flushed(struct tcp_link *l)
{
	mutex_auto held = mutex_hold(&l->lock);

	return !l->nout;
}

/* What the other side has not taken yet tells it as much as a heartbeat. */
void link_heartbeat(struct tcp_link *l)
{
	mutex_auto held = mutex_hold(&l->lock);

	if (l->peer.fd >= 0 && !l->ended && !l->quiet && !leaving(l)) {
		*chunk_of(&l->heartbeat) = (struct chunk){ .kind = KIND_HEARTBEAT };
		seal(l, &l->heartbeat, 0);
	}
	if (l->peer.fd >= 0)
		flush(l);
}

/* ---- in ---- */

const struct chunk *link_next(const struct tcp_link *l)
{
	return l->nin ? chunk_of(&l->in[l->first_in % LINK_CHUNKS]) : NULL;
}

void link_release(struct tcp_link *l)
{
	l->first_in++;
	l->nin--;
}

/* Bytes that came with the handshake, then those of the socket: as read(). */
static ssize_t take(struct tcp_link *l, void *to, size_t n)
{
	struct peer *p = &l->peer;
	size_t early = p->in_len - p->in_at;

	if (!early)
		return recv(p->fd, to, n, MSG_DONTWAIT);
	n = n < early ? n : early;
	memcpy(to, p->in + p->in_at, n);
	p->in_at += n;
	return (ssize_t)n;
}

/* Its length, as soon as it has come; false: it is none that the other side sent. */
static bool take_header(struct tcp_link *l, struct frame *f)
{
	struct rd r = { .p = f->memory + START, .len = WIRE_HEADER };
	uint32_t len = rd_u32(&r);
	uint8_t right[CRYPTO_LENGTH_TAG];

	crypto_tag_length(&l->peer.keys->read, len, right);
	f->nbyte = HEADER + (size_t)len + CRYPTO_SEAL;
	return crypto_equal(right, f->memory + START + WIRE_HEADER, sizeof right)
		&& len >= sizeof(struct chunk) && len <= sizeof(struct chunk) + l->nbyte_chunk;
}

static bool take_frame(struct tcp_link *l, struct frame *f)
{
	size_t len = f->nbyte - HEADER - CRYPTO_SEAL;
	uint8_t *body = f->memory + BODY;
	struct chunk *c = chunk_of(f);

	if (!crypto_open(&l->peer.keys->read, body, len, body + len) || c->nbyte != len - sizeof *c)
		return false;
	l->come = 0;
	l->heartbeats++;
	if (c->kind == KIND_READY)
		l->ready = true;
	else if (c->kind != KIND_ABORT && c->kind != KIND_HEARTBEAT)
		l->nin++;
	if (c->kind != KIND_ABORT)
		return true;
	l->abort = (struct group_fault){
		.code = -ERR_UNREACHABLE, .rank = (unsigned)c->call, .aborted = true
	};
	snprintf(l->abort.text, sizeof l->abort.text, "%.*s", (int)c->nbyte, (const char *)c->byte);
	return true;
}

static bool fill(struct tcp_link *l)
{
	bool moved = false;

	while (l->nin < LINK_CHUNKS && !l->ended && !l->damaged) {
		struct frame *f = frame_at(l->in, l->first_in + l->nin);
		size_t until = l->come < HEADER ? HEADER : f->nbyte;
		ssize_t n = take(l, f->memory + START + l->come, until - l->come);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return moved;
		moved = true;
		if (n <= 0) {
			end(l, n < 0 ? errno : 0);
			return moved;
		}
		l->come += (size_t)n;
		if (l->come == HEADER)
			l->damaged = !take_header(l, f);
		else if (l->come == until)
			l->damaged = !take_frame(l, f);
	}
	return moved;
}

bool link_fill(struct tcp_link *l)
{
	mutex_auto held = mutex_hold(&l->lock);

	return fill(l);
}

bool link_has_early(const struct tcp_link *l)
{
	return l->nin < LINK_CHUNKS && !l->damaged && l->peer.in_at < l->peer.in_len;
}

short link_events(struct tcp_link *l)
{
	mutex_auto held = mutex_hold(&l->lock);
	short events = 0;

	if (l->peer.fd >= 0 && !l->ended) {
		events |= l->nin < LINK_CHUNKS && !l->damaged ? POLLIN : 0;
		events |= leaving(l) && !l->peer.fault ? POLLOUT : 0;
	}
	return events;
}

/* ---- giving up, and leaving ---- */

/* Locked: sends, and says that this was all. */
static void close_flushed(struct tcp_link *l)
{
	if (flush(l) && !leaving(l))
		shutdown(l->peer.fd, SHUT_WR);
}

static void put_last(struct tcp_link *l, unsigned rank, const char *reason)
{
	struct chunk *c = chunk_of(&l->last);
	size_t n = strlen(reason);

	n = n < GROUP_REASON_MAX ? n : GROUP_REASON_MAX - 1;
	*c = (struct chunk){ .call = rank, .kind = KIND_ABORT, .nbyte = (uint32_t)n };
	memcpy(c->byte, reason, n);
	mutex_auto held = mutex_hold(&l->lock);
	l->quiet = true;
	seal(l, &l->last, c->nbyte);
	close_flushed(l);
}

/* Takes bytes off the connection: the other side need not wait before it reads, and closing a connection with bytes that
 * were not read would cancel what is still on its way. */
static void discard(struct tcp_link *l)
{
	static uint8_t nowhere[1 << 16];
	ssize_t n = recv(l->peer.fd, nowhere, sizeof nowhere, MSG_DONTWAIT);

	if (!n || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
		end(l, n ? errno : 0);
	l->heartbeats += n > 0;
}

static bool is_open(const struct tcp_link *l)
{
	return l->peer.fd >= 0 && !l->ended && !l->peer.fault;
}

/* Whether the other side's system has not confirmed all bytes and the end. */
static bool is_behind(struct tcp_link *l)
{
	int nbyte = 0;

	return is_open(l) && (leaving(l) || (!ioctl(l->peer.fd, SIOCOUTQ, &nbyte) && nbyte > 0));
}

/* One turn; false: all others have closed their ends, or have all bytes where `confirmed`. */
static bool drain_links(struct tcp_link *l, unsigned size, bool confirmed, double seconds)
{
	struct pollfd f[GROUP_RANKS_MAX];
	bool waits = false;

	for (unsigned r = 0; r < size; r++) {
		bool open = is_open(&l[r]);

		f[r] = (struct pollfd){ .fd = open ? l[r].peer.fd : -1,
			.events = (short)(POLLIN | (leaving(&l[r]) ? POLLOUT : 0)) };
		waits |= confirmed ? is_behind(&l[r]) : open;
	}
	if (!waits || poll(f, size, (int)(seconds * 1e3) + 1) < 0)
		return waits;
	for (unsigned r = 0; r < size; r++) {
		pthread_mutex_lock(&l[r].lock);
		if (f[r].revents & POLLOUT)
			close_flushed(&l[r]);
		pthread_mutex_unlock(&l[r].lock);
		if (f[r].revents & (POLLIN | POLLHUP | POLLERR))
			discard(&l[r]);
	}
	return true;
}

void links_abort(struct tcp_link *l, unsigned size, unsigned rank, const char *reason)
{
	double until = clock_seconds() + ABORT_S, left = ABORT_S;

	for (unsigned r = 0; r < size; r++)
		if (is_open(&l[r]))
			put_last(&l[r], rank, reason);
	while (left > 0 && drain_links(l, size, false, left))
		left = until - clock_seconds();
}

static uint32_t heartbeats_of(void *links, unsigned r)
{
	return ((const struct tcp_link *)links)[r].heartbeats;
}

void links_leave(struct tcp_link *l, unsigned size, double silent_s)
{
	static const struct group_transport links = { .heartbeats = heartbeats_of };
	struct group_liveness peers = { .transport = &links, .t = l, .size = size };

	for (unsigned r = 0; r < size; r++)
		if (is_open(&l[r])) {
			mutex_auto held = mutex_hold(&l[r].lock);
			l[r].quiet = true;
			close_flushed(&l[r]);
		}
	while (drain_links(l, size, true, CONFIRM_S)) {
		group_liveness_look(&peers, clock_seconds());
		for (unsigned r = 0; r < size; r++)
			if (peers.looked - peers.seen[r] > silent_s)
				end(&l[r], 0);
	}
}
