/* SPDX-License-Identifier: Apache-2.0
 * A coordinator that waits for its worker, among connections that nothing, who lack its key, who repeat what they have
 * overheard, who say anything at all, and many at a time. */
#include <stdatomic.h>

#include "tests/net/played.h"

/* Operations of X25519 that handshakes took. */
static atomic_int exchanges;

bool __real_crypto_exchange(const uint8_t secret[CRYPTO_KEY], const uint8_t public[CRYPTO_PUBLIC], uint8_t shared[CRYPTO_KEY]);
bool __wrap_crypto_exchange(const uint8_t secret[CRYPTO_KEY], const uint8_t public[CRYPTO_PUBLIC], uint8_t shared[CRYPTO_KEY]);

bool __wrap_crypto_exchange(const uint8_t secret[CRYPTO_KEY], const uint8_t public[CRYPTO_PUBLIC], uint8_t shared[CRYPTO_KEY])
{
	exchanges++;
	return __real_crypto_exchange(secret, public, shared);
}

static void send_frame(int fd, const struct buf *body)
{
	struct buf frame = BUF_INIT;

	buf_u32(&frame, (uint32_t)body->len);
	buf_add(&frame, body->data, body->len);
	send(fd, frame.data, frame.len, MSG_NOSIGNAL);
	buf_release(&frame);
}

/* Bytes until the other side closes; -1: it does not. */
static long bytes_until_end(int fd)
{
	double until = clock_seconds() + PATIENCE_S;
	long n = 0;
	char part[256];

	while (clock_seconds() < until) {
		struct pollfd f = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (poll(&f, 1, 100) <= 0)
			continue;
		got = read(fd, part, sizeof part);
		if (got <= 0)
			return n;
		n += got;
	}
	return -1;
}

static long pending(const struct buf *body)
{
	int fd = connect_there();
	long n;

	if (body)
		send_frame(fd, body);
	n = bytes_until_end(fd);
	close(fd);
	return n;
}

enum { CHALLENGE_BYTES = WIRE_HEADER + 1 + 2 + CRYPTO_PUBLIC + CRYPTO_MAC };

/* Two right first messages on one connection: bytes that answer the second. */
static long twice(struct handshake *h)
{
	uint8_t challenge[CHALLENGE_BYTES];
	struct buf b = BUF_INIT;
	int fd = connect_there();
	long n;

	handshake_hello(h, &b);
	send_frame(fd, &b);
	if (recv(fd, challenge, sizeof challenge, MSG_WAITALL) != CHALLENGE_BYTES)
		tap_bail("no challenge");
	buf_clear(&b);
	handshake_hello(h, &b);
	send_frame(fd, &b);
	n = bytes_until_end(fd);
	close(fd);
	buf_release(&b);
	return n;
}

static void test_pending(void)
{
	struct handshake h = { .rank = 0 };
	struct buf b = BUF_INIT, wrong = BUF_INIT, reply = BUF_INIT;
	uint8_t challenge[CHALLENGE_BYTES];
	int fd, before;

	tap_is_int(pending(NULL), 0, "who says nothing gets no byte, and is cut off");
	handshake_hello(&h, &wrong);
	tap_is_int(pending(&wrong), 0, "nor does who has another key");
	buf_pad(&b, 'x', WIRE_EARLY_MAX + 1);
	tap_is_int(pending(&b), 0, "nor who says more than is allowed");
	memcpy(h.key, boot[0].key, sizeof h.key);
	memcpy(h.job, boot[0].job, sizeof h.job);
	buf_clear(&b);
	handshake_hello(&h, &b);
	tap_is_int(pending(&b), CHALLENGE_BYTES, "a right first message is answered, once");
	before = exchanges;
	tap_is_int(pending(&b), 0, "the same message again is not");
	tap_is_int(exchanges - before, 0, "and no key is computed for it");
	tap_is_int(twice(&h), 0, "a second one on one connection is not answered");
	tap_is_int(exchanges - before, 1, "for which no key is computed either");
	h.job[0] ^= 1;
	buf_clear(&b);
	handshake_hello(&h, &b);
	tap_is_int(pending(&b), 0, "nor is one of another job with the same key");
	h.job[0] ^= 1;
	/* A whole handshake for a worker that nobody started. */
	h.rank = 99;
	buf_clear(&b);
	handshake_hello(&h, &b);
	fd = connect_there();
	send_frame(fd, &b);
	tap_is_int(recv(fd, challenge, sizeof challenge, MSG_WAITALL), CHALLENGE_BYTES, "another rank is challenged");
	tap_ok(handshake_answer(&h, challenge + WIRE_HEADER, sizeof challenge - WIRE_HEADER, &reply), "the challenge proves the key");
	send_frame(fd, &reply);
	tap_is_int(bytes_until_end(fd), 0, "and nothing is said to a rank that nobody started");
	close(fd);
	buf_release(&b);
	buf_release(&wrong);
	buf_release(&reply);
}

/* Bytes as they are, and then nothing more: how many come back. */
static long pending_bytes(const void *p, size_t len)
{
	int fd = connect_there();
	long n;

	send(fd, p, len, MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	n = bytes_until_end(fd);
	close(fd);
	return n;
}

/* Frames that are cut short, promise too much, or are anything at all. */
static void test_frames(void)
{
	enum { RANDOM = 300 };
	struct handshake h = { .rank = 0 };
	struct buf hello = BUF_INIT, frame = BUF_INIT, body = BUF_INIT;
	uint32_t state = 20261122;
	long told = 0;

	memcpy(h.key, boot[0].key, sizeof h.key);
	memcpy(h.job, boot[0].job, sizeof h.job);
	handshake_hello(&h, &hello);
	buf_u32(&frame, (uint32_t)hello.len);
	buf_add(&frame, hello.data, hello.len);
	for (size_t cut = 0; cut < frame.len; cut += 7)
		told += pending_bytes(frame.data, cut);
	tap_is_int(told, 0, "a right first message that is cut short is not answered, wherever it is cut");
	for (size_t k = 0; k < hello.len; k++) {
		buf_clear(&body);
		buf_add(&body, hello.data, hello.len);
		body.data[k] ^= 1;
		told += pending(&body);
	}
	tap_is_int(told, 0, "nor is one with a bit turned, wherever it is");
	for (unsigned i = 0; i < 5; i++) {
		static const uint8_t promise[5][4] = { { 255, 255, 255, 255 }, { 1, 4, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 128 }, { 255, 255, 255, 127 } };

		told += pending_bytes(promise[i], sizeof promise[i]);
	}
	tap_is_int(told, 0, "nor are lengths beyond every measure");
	for (unsigned i = 0; i < RANDOM; i++) {
		buf_clear(&body);
		for (uint32_t n = 1 + i * 3 % WIRE_EARLY_MAX; n > 0; n--) {
			state = state * 1103515245 + 12345;
			buf_u8(&body, (uint8_t)(state >> 16));
		}
		body.data[0] = (char)(i % 16);
		told += pending(&body);
	}
	tap_is_int(told, 0, "nor are %d random frames", RANDOM);
	buf_release(&hello);
	buf_release(&frame);
	buf_release(&body);
}

/* More connections than there is room for, and a stream of bytes: who has the key gets in all the same. */
static void test_crowd(void)
{
	enum { CROWD = 200, STREAM = 64 << 20 };
	struct handshake h = { .rank = 0 };
	struct buf b = BUF_INIT;
	int fd[CROWD], nclosed = 0;
	static char part[1 << 16];
	size_t sent = 0;
	ssize_t n;

	for (int i = 0; i < CROWD; i++)
		fd[i] = connect_there();
	memcpy(h.key, boot[0].key, sizeof h.key);
	memcpy(h.job, boot[0].job, sizeof h.job);
	handshake_hello(&h, &b);
	tap_ok(pending(&b) > 0, "behind %d others who say nothing a right first message is answered", CROWD);
	for (int i = 0; i < CROWD; i++) {
		nclosed += recv(fd[i], part, 1, MSG_DONTWAIT) == 0;
		close(fd[i]);
	}
	tap_ok(nclosed > 0, "the oldest have made room (%d)", nclosed);
	memset(part, 255, sizeof part);
	fd[0] = connect_there();
	while (sent < STREAM && (n = send(fd[0], part, sizeof part, MSG_NOSIGNAL)) > 0)
		sent += (size_t)n;
	tap_ok(sent < STREAM, "a stream of bytes is cut off (after %zu)", sent);
	close(fd[0]);
	buf_release(&b);
}

static void *others(void *arg)
{
	(void)arg;
	read_boot(0);
	test_pending();
	test_crowd();
	test_frames();
	become_worker(0, 0);
	return NULL;
}

static void *other_numbers(void *arg)
{
	(void)arg;
	read_boot(0);
	numerical = NUMERICAL_VERSION + 1;
	program_version = "9.9.9";
	become_worker(0, 0);
	return NULL;
}

/* A worker that holds the key, and computes other bits. */
static void test_numerical_version(const struct coordinator_options *o)
{
	struct coordinator *c;
	struct err e = { 0, "" };
	struct buf want = BUF_INIT;
	pthread_t thread;

	unlink("boot.0");
	rmdir("lock0");
	pthread_create(&thread, NULL, other_numbers, NULL);
	tap_is_int(coordinator_new(o, &c, &e), -ERR_PROTOCOL, "a worker of another numerical version is refused");
	buf_printf(&want, "127.0.0.1[0]: it is qcnn 9.9.9 with numerical version %d, and this is qcnn %s with numerical version %d",
		NUMERICAL_VERSION + 1, PACKAGE_VERSION, NUMERICAL_VERSION);
	tap_ok(strstr(e.text, want.data), "both are named: %s", e.text);
	pthread_join(thread, NULL);
	buf_release(&want);
}

int main(void)
{
	struct host host = { "127.0.0.1", 1 };
	struct hosts hosts = { &host, 1, 1 };
	struct coordinator_options o = { .hosts = &hosts, .launcher = LAUNCHER_EXEC, .agent = "./agent", .encrypt = true,
		.start_s = 10 * PATIENCE_S, .say = say };
	struct coordinator *c;
	struct err e = { 0, "" };
	pthread_t thread;

	play_agent();
	pthread_create(&thread, NULL, others, NULL);
	if (tap_is_int(coordinator_new(&o, &c, &e), 0, "the worker has come (%s)", e.text))
		coordinator_free(c);
	pthread_join(thread, NULL);
	peer_close(&peer[0]);
	test_numerical_version(&o);
	peer_close(&peer[0]);
	buf_release(&notes);
	return tap_done();
}
