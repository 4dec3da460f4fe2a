/* SPDX-License-Identifier: Apache-2.0
 * A worker and one who says that it is its coordinator, whom this test plays: the real one, one in a hurry, one who
 * has overheard an earlier job, and one who says anything at all. */
#include "runtime/net/worker_process.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/profile/profile.h"
#include "runtime/base/system/clock.h"
#include "runtime/net/protocol/peer.h"
#include "tests/tap.h"

/* SHORT_BYTES: a text with the fixed parts of a profile, and with fewer than 400 messages (10 bytes each at least). */
enum { PATIENCE_S = 60, SHORT_BYTES = 5000, CHALLENGE_BYTES = 1 + 2 + CRYPTO_PUBLIC + CRYPTO_MAC };

static uint8_t key[CRYPTO_KEY];
static int listener;
static struct peer peer;
static struct handshake hand;
static pid_t worker;

/* ---- the worker ---- */

static int open_job(void *ctx, const struct wire_job *job, struct wire_ready *out, struct err *e)
{
	(void)ctx;
	(void)job;
	(void)e;
	*out = (struct wire_ready){ .width = 1, .nvector = 1, .nout = 1, .nthread = 1 };
	return 0;
}

static int take_weights(void *ctx, const struct wire_weights *m, struct err *e)
{
	(void)ctx;
	(void)m;
	(void)e;
	return 0;
}

static int no_work(void *ctx, const struct wire_work *w, const double **value, uint32_t *nout, const struct fixed **vector,
	uint32_t *nvector, struct err *e)
{
	(void)ctx;
	(void)w;
	(void)value;
	(void)nout;
	(void)vector;
	(void)nvector;
	return err_set(e, -ERR_BUG, "no");
}

static void start_worker(void)
{
	static const struct worker_ops ops = { .open = open_job, .weights = take_weights, .work = no_work };
	struct wire_about about = { .kernels = "baseline", .threads = 1, .version = PACKAGE_VERSION, .host = "here", .processor = "any" };
	struct wire_boot boot = { .version = WIRE_VERSION, .rank = 5, .naddress = 1 };
	struct sockaddr_in a;
	socklen_t len = sizeof a;
	struct buf body = BUF_INIT, frame = BUF_INIT;
	struct err e = { 0, "" };
	int control[2];

	getsockname(listener, (struct sockaddr *)&a, &len);
	snprintf(boot.address[0], sizeof boot.address[0], "127.0.0.1:%u", ntohs(a.sin_port));
	memcpy(boot.key, key, sizeof key);
	wire_put_boot(&body, &boot);
	buf_u32(&frame, (uint32_t)body.len);
	buf_add(&frame, body.data, body.len);
	if (pipe(control) || write(control[1], frame.data, frame.len) != (ssize_t)frame.len)
		tap_bail("no pipe");
	fflush(stdout);
	worker = fork();
	if (!worker) {
		close(control[1]);
		close(listener);
		_exit(err_exit_status(worker_process_run(control[0], &about, &ops, NULL, &e)));
	}
	close(control[0]);             /* the other end stays open: the control pipe of all of them */
	buf_release(&body);
	buf_release(&frame);
}

static int worker_status(void)
{
	int status = 0;

	waitpid(worker, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* ---- the coordinator ---- */

static bool next(const uint8_t **body, size_t *len)
{
	double until = clock_seconds() + PATIENCE_S;
	int n;

	while ((n = peer_next(&peer, body, len, NULL)) == 0 && clock_seconds() < until) {
		struct pollfd f = { .fd = peer.fd, .events = POLLIN };

		if (poll(&f, 1, 1000) > 0 && peer_fill(&peer, NULL))
			return false;
	}
	return n > 0;
}

static void say(const struct buf *body)
{
	peer_put(&peer, body);
	peer_flush(&peer, NULL);
}

/* The next connection, and its HELLO; the answer to that in *challenge. */
static bool meet(struct buf *challenge)
{
	struct pollfd f = { .fd = listener, .events = POLLIN };
	const uint8_t *body;
	size_t len;

	if (poll(&f, 1, PATIENCE_S * 1000) <= 0)
		tap_bail("no worker comes");
	peer_init(&peer, accept(listener, NULL, NULL));
	memset(&hand, 0, sizeof hand);
	memcpy(hand.key, key, sizeof key);
	buf_clear(challenge);
	return next(&body, &len) && handshake_take_hello(&hand, body, len) && handshake_challenge(&hand, challenge) && hand.rank == 5;
}

static bool prove(void)
{
	const uint8_t *body;
	size_t len;

	return next(&body, &len) && handshake_proved(&hand, body, len) && peer_trust(&peer, &hand);
}

/* From the connection to ABOUT. */
static bool let_in(struct buf *challenge)
{
	struct wire_heartbeat heartbeat = { 0 };
	struct buf b = BUF_INIT;
	const uint8_t *body;
	size_t len;
	bool ok = meet(challenge);

	say(challenge);
	ok = ok && prove();
	wire_put_heartbeat(&b, &heartbeat);
	say(&b);
	buf_release(&b);
	return ok && next(&body, &len) && body[0] == WIRE_ABOUT;
}

static void say_bye(void)
{
	struct wire_bye bye = { 0, "" };
	struct buf b = BUF_INIT;

	wire_put_bye(&b, &bye);
	say(&b);
	buf_release(&b);
}

/* Bytes until the worker closes; -1: it does not. */
static long rest(void)
{
	double until = clock_seconds() + PATIENCE_S;
	uint64_t before = peer.nread;

	while (clock_seconds() < until) {
		struct pollfd f = { .fd = peer.fd, .events = POLLIN };

		if (poll(&f, 1, 1000) > 0 && peer_fill(&peer, NULL))
			return (long)(peer.nread - before);
	}
	return -1;
}

/* ---- the tests ---- */

static void test_hurry(struct buf *overheard)
{
	struct buf b = BUF_INIT;
	uint8_t public[CRYPTO_PUBLIC];
	bool ok;

	start_worker();
	tap_ok(let_in(overheard), "a worker proves its key, asks for ours, and tells what it is");
	say_bye();
	tap_is_int(worker_status(), 0, "and goes when it is told to");
	peer_close(&peer);

	start_worker();
	tap_ok(meet(&b), "a worker comes");
	memcpy(public, hand.public_worker, sizeof public);
	peer_close(&peer);
	tap_ok(meet(&b) && memcmp(public, hand.public_worker, sizeof public), "and again when it is cut off without a word, with other words");
	say(&b);
	ok = prove();
	tap_ok(ok, "it answers a challenge");
	peer_close(&peer);
	tap_ok(let_in(&b), "and comes again when its answer was too late");
	say_bye();
	tap_is_int(worker_status(), 0, "to go when it is told to");
	peer_close(&peer);
	buf_release(&b);
}

/* One worker is told one thing in place of a challenge, and then nothing: it says nothing more, and ends with 77. */
static bool turned_away(const void *p, size_t len, bool frame)
{
	struct buf b = BUF_INIT;
	bool ok;

	start_worker();
	ok = meet(&b);
	buf_clear(&b);
	if (frame)
		buf_u32(&b, (uint32_t)len);
	buf_add(&b, p, len);
	ok &= send(peer.fd, b.data, b.len, MSG_NOSIGNAL) == (ssize_t)b.len;
	shutdown(peer.fd, SHUT_WR);
	ok &= rest() == 0;
	ok &= worker_status() == err_exit_status(-ERR_AUTH);
	peer_close(&peer);
	buf_release(&b);
	return ok;
}

static void test_impostors(const struct buf *overheard)
{
	static const uint8_t promise[4][4] = { { 255, 255, 255, 255 }, { 1, 4, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 128 } };
	uint8_t wrong[CHALLENGE_BYTES], noise[WIRE_EARLY_MAX];
	struct handshake h = { .rank = 5 };
	struct buf b = BUF_INIT;
	uint32_t state = 20261122;
	bool ok = true;

	tap_is_int((long)overheard->len, CHALLENGE_BYTES, "a challenge was overheard");
	tap_ok(turned_away(overheard->data, overheard->len, true), "repeated, it gets no byte from the next worker, which ends with 77");
	memcpy(h.key, key, sizeof key);
	handshake_hello(&h, &b);
	tap_ok(turned_away(b.data, b.len, true), "nor does a worker's own kind of message");
	for (size_t k = 0; k < CHALLENGE_BYTES; k += 5) {
		memcpy(wrong, overheard->data, sizeof wrong);
		wrong[k] ^= 16;
		ok &= turned_away(wrong, sizeof wrong, true);
		ok &= turned_away(overheard->data, k, true);
	}
	tap_ok(ok, "nor one with a bit turned, or cut short");
	for (int i = 0; i < 4; i++)
		ok &= turned_away(promise[i], sizeof promise[i], false);
	tap_ok(ok, "nor lengths beyond every measure");
	for (unsigned i = 0; i < 40; i++) {
		for (size_t k = 0; k < sizeof noise; k++) {
			state = state * 1103515245 + 12345;
			noise[k] = (uint8_t)(state >> 16);
		}
		noise[0] = (uint8_t)(i % 16);
		ok &= turned_away(noise, 1 + i * 25, true);
	}
	tap_ok(ok, "nor noise");
	buf_release(&b);
}

/* After signs of life, if any. */
static bool says_bye(void)
{
	const uint8_t *body;
	size_t len;

	while (next(&body, &len))
		if (body[0] != WIRE_HEARTBEAT)
			return body[0] == WIRE_BYE;
	return false;
}

static uint32_t heartbeats;

/* The next message but heartbeats, which a busy machine lets in anywhere and which are counted: is it of the type? */
static bool next_message(int type, const uint8_t **body, size_t *len)
{
	while (next(body, len)) {
		if ((*body)[0] != WIRE_HEARTBEAT)
			return (*body)[0] == type;
		heartbeats++;
	}
	return false;
}

static void put_profile(struct buf *b, uint8_t level, uint32_t capture, uint32_t text_max)
{
	buf_clear(b);
	wire_put_profile(b,
		&(struct wire_profile){ level, 7, capture, level ? 1 << 20 : 0, text_max });
	say(b);
}

static void ask_clock(struct buf *b, int64_t answered)
{
	buf_clear(b);
	wire_put_clock(b, &(struct wire_clock){ 4711, 0, answered });
	say(b);
}

/* A profile of so long a text at most: what the worker answers, in *text. */
static bool take_profile(uint32_t text_max, uint32_t capture, struct buf *b, struct buf *text)
{
	struct wire_profiled part;
	const uint8_t *body;
	size_t len;

	buf_clear(text);
	put_profile(b, 1, capture, text_max);
	for (int k = 0; k < 200; k++) {
		ask_clock(b, 0);
		if (!next_message(WIRE_CLOCK, &body, &len))
			return false;
	}
	put_profile(b, 0, capture, 0);
	do {
		if (!next_message(WIRE_PROFILED, &body, &len) || !wire_get_profiled(body, len, &part)
			|| part.at != text->len || part.capture != capture)
			return false;
		buf_add(text, part.text, part.n);
	} while (text->len < part.total);
	return true;
}

static void test_profile(void)
{
	struct buf b = BUF_INIT, text = BUF_INIT, whole = BUF_INIT;
	struct wire_clock clock;
	struct profile *p = NULL;
	struct err e = { 0, "" };
	const uint8_t *body;
	size_t len;
	bool ok;

	start_worker();
	tap_ok(let_in(&b), "a worker");
	ask_clock(&b, 0);
	tap_ok(next_message(WIRE_CLOCK, &body, &len) && wire_get_clock(body, len, &clock)
			&& clock.sent == 4711 && clock.received && clock.received <= clock.answered,
		"answers when it is asked for its clock");
	tap_ok(take_profile(WIRE_PROFILE_MAX, 3, &b, &whole) && whole.len,
		"it records, and sends that");
	tap_ok(!profile_read_json(whole.data, whole.len, &p, &e) && p->nprocess == 1
			&& p->process[0].messages >= 401 && p->process[0].messages <= 401 + heartbeats
			&& p->process[0].wall_ns[PHASE_WAIT] + p->process[0].wall_ns[PHASE_RECEIVE]
			&& p->process[0].wall_ns[PHASE_SEND],
		"a profile with its phases and messages %s", e.text);
	profile_free(p);
	p = NULL;
	ok = take_profile(SHORT_BYTES, 4, &b, &text) && text.len && text.len <= SHORT_BYTES
		&& !profile_read_json(text.data, text.len, &p, &e)
		&& p->process[0].thread[0].dropped > 0;
	tap_ok(ok, "a shorter one without the last events, which it counts (%zu of %zu bytes)",
		text.len, whole.len);
	profile_free(p);
	tap_ok(take_profile(100, 5, &b, &text) && !text.len,
		"none where it cannot be as short as that");
	say_bye();
	tap_is_int(worker_status(), 0, "and goes on until it ends");
	peer_close(&peer);

	for (int k = 0; k < 5; k++) {
		static const char *const what[] = { "to stop what has not begun", "to begin twice",
			"to stop another profile", "for a level that is none",
			"for its clock with the answer" };

		start_worker();
		let_in(&b);
		if (k == 1 || k == 2)
			put_profile(&b, 1, 3, 1 << 20);
		if (k < 4)
			put_profile(&b, k == 1 ? 1 : k == 3 ? 200 : 0, k == 2 ? 4 : 3, 0);
		else
			ask_clock(&b, 1);
		tap_ok(says_bye() && worker_status() == err_exit_status(-ERR_PROTOCOL),
			"asked %s it ends with 76", what[k]);
		peer_close(&peer);
	}
	buf_release(&b);
	buf_release(&text);
	buf_release(&whole);
}

/* Who holds the key says nonsense: the worker tells that, and ends with 76. */
static void test_nonsense(void)
{
	uint8_t huge[4 + CRYPTO_LENGTH_TAG] = { 1, 0, 0, 64 };
	struct buf b = BUF_INIT;
	uint32_t state = 4711;
	int status;
	bool ok = true;

	start_worker();
	ok = let_in(&b);
	crypto_tag_length(&peer.keys->write, WIRE_BODY_MAX + 1, huge + 4);
	send(peer.fd, huge, sizeof huge, MSG_NOSIGNAL);
	tap_ok(ok && says_bye(), "a message of more than a gigabyte is refused before it comes");
	tap_is_int(worker_status(), err_exit_status(-ERR_PROTOCOL), "with 76");
	peer_close(&peer);

	start_worker();
	ok = let_in(&b);
	buf_clear(&b);
	wire_put_weights(&b, 3, NULL, 0);
	b.len--;
	say(&b);
	tap_ok(ok && says_bye(), "a message that lacks a byte is refused");
	tap_is_int(worker_status(), err_exit_status(-ERR_PROTOCOL), "with 76");
	peer_close(&peer);

	start_worker();
	ok = let_in(&b);
	buf_clear(&b);
	wire_put_group(&b, &(struct wire_group){ (const uint8_t *)"group", 5 });
	say(&b);
	tap_ok(ok && says_bye(), "a worker that the coordinator has started is no rank of a group");
	tap_is_int(worker_status(), err_exit_status(-ERR_PROTOCOL), "with 76");
	peer_close(&peer);

	for (unsigned i = 0; i < 60; i++) {
		start_worker();
		ok &= let_in(&b);
		buf_clear(&b);
		for (unsigned k = 0; k < 1 + 7 * i; k++) {
			state = state * 1103515245 + 12345;
			buf_u8(&b, (uint8_t)(state >> 16));
		}
		b.data[0] = (char)(i % 20);
		say(&b);
		shutdown(peer.fd, SHUT_WR);
		ok &= rest() >= 0;
		status = worker_status();
		ok &= status == err_exit_status(-ERR_PROTOCOL) || status == 0;      /* 0: the connection's end was seen first */
		peer_close(&peer);
	}
	tap_ok(ok, "noise ends a worker, with 76 or without a word");
	buf_release(&b);
}

int main(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	struct buf overheard = BUF_INIT;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!crypto_start() || bind(listener, (struct sockaddr *)&a, sizeof a) || listen(listener, 16))
		tap_bail("cannot listen");
	crypto_random(key, sizeof key);
	test_hurry(&overheard);
	test_impostors(&overheard);
	test_nonsense();
	test_profile();
	buf_release(&overheard);
	return tap_done();
}
