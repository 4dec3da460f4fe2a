/* SPDX-License-Identifier: Apache-2.0
 * A coordinator among strangers who lack its key, and with workers that are late, wrong or unable:
 * this test plays them all, with the frame that a launcher would give to a worker. */
#include "config.h"
#include "runtime/net/coordinator.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/clock.h"
#include "runtime/net/peer.h"
#include "tests/tap.h"

enum { NWORKER = 2, NUNIT = 40, PATIENCE_S = 60,
	MEMORY = 4 * NWORKER * 30 * 8 };     /* of worker 0: a quarter, and its part of that, holds 30 rows of a number */

/* What worker 1 does with work (worker 0 is always good, but for UNABLE). */
enum mood { GOOD = 0, SLOW, SILENT, LATE, WRONG, UNABLE };
static atomic_int mood, leave;

static struct coordinator *c;
static struct wire_boot boot[NWORKER];
static struct peer peer[NWORKER];
static struct handshake hand[NWORKER];
static struct buf late[NUNIT]; static unsigned nlate;     /* results that are kept back */
static pthread_mutex_t told = PTHREAD_MUTEX_INITIALIZER;
static struct buf notes = BUF_INIT;

static void say(void *ctx, const char *worker, const char *line)
{
	(void)ctx;
	pthread_mutex_lock(&told);
	buf_printf(&notes, "%s%s%s\n", worker ? worker : "", worker ? ": " : "", line);
	pthread_mutex_unlock(&told);
}

static bool was_told(const char *text)
{
	bool found;

	pthread_mutex_lock(&told);
	found = notes.data && strstr(notes.data, text);
	pthread_mutex_unlock(&told);
	return found;
}

/* ---- the other side ---- */

static void read_boot(unsigned rank)
{
	char path[64];
	struct buf b = BUF_INIT;
	double until = clock_seconds() + PATIENCE_S;

	snprintf(path, sizeof path, "boot.%u", rank);
	do {
		buf_clear(&b);
		usleep(10000);
	} while (clock_seconds() < until && (buf_read_file(&b, path, 4096, NULL) || b.len < WIRE_HEADER
		|| !wire_get_boot((uint8_t *)b.data + WIRE_HEADER, b.len - WIRE_HEADER, &boot[rank])));
	buf_release(&b);
}

static int connect_there(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	const char *colon = strchr(boot[0].address[0], ':');
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = htons((uint16_t)atoi(colon + 1));
	if (connect(fd, (struct sockaddr *)&a, sizeof a))
		tap_bail("cannot connect");
	return fd;
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

static long stranger(const struct buf *body)
{
	int fd = connect_there();
	long n;

	if (body)
		send_frame(fd, body);
	n = bytes_until_end(fd);
	close(fd);
	return n;
}

static void test_strangers(void)
{
	enum { CHALLENGE_BYTES = WIRE_HEADER + 1 + 1 + CRYPTO_NONCE + CRYPTO_STREAM_HEADER + CRYPTO_MAC };
	struct handshake h = { .rank = 0 };
	struct buf b = BUF_INIT, wrong = BUF_INIT, reply = BUF_INIT;
	uint8_t challenge[CHALLENGE_BYTES];
	int fd;

	tap_is_int(stranger(NULL), 0, "who says nothing gets no byte, and is cut off");
	handshake_hello(&h, &wrong);
	tap_is_int(stranger(&wrong), 0, "nor does who has another key");
	buf_pad(&b, 'x', WIRE_EARLY_MAX + 1);
	tap_is_int(stranger(&b), 0, "nor who says more than is allowed");
	memcpy(h.key, boot[0].key, sizeof h.key);
	buf_clear(&b);
	handshake_hello(&h, &b);
	tap_is_int(stranger(&b), CHALLENGE_BYTES, "a right first message is answered, once");
	tap_is_int(stranger(&b), 0, "the same message again is not");
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
static long stranger_bytes(const void *p, size_t len)
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
	handshake_hello(&h, &hello);
	buf_u32(&frame, (uint32_t)hello.len);
	buf_add(&frame, hello.data, hello.len);
	for (size_t cut = 0; cut < frame.len; cut += 7)
		told += stranger_bytes(frame.data, cut);
	tap_is_int(told, 0, "a right first message that is cut short is not answered, wherever it is cut");
	for (size_t k = 0; k < hello.len; k++) {
		buf_clear(&body);
		buf_add(&body, hello.data, hello.len);
		body.data[k] ^= 1;
		told += stranger(&body);
	}
	tap_is_int(told, 0, "nor is one with a bit turned, wherever it is");
	for (unsigned i = 0; i < 5; i++) {
		static const uint8_t promise[5][4] = { { 255, 255, 255, 255 }, { 1, 4, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 128 }, { 255, 255, 255, 127 } };

		told += stranger_bytes(promise[i], sizeof promise[i]);
	}
	tap_is_int(told, 0, "nor are lengths beyond every measure");
	for (unsigned i = 0; i < RANDOM; i++) {
		buf_clear(&body);
		for (uint32_t n = 1 + i * 3 % WIRE_EARLY_MAX; n > 0; n--) {
			state = state * 1103515245 + 12345;
			buf_u8(&body, (uint8_t)(state >> 16));
		}
		body.data[0] = (char)(i % 16);
		told += stranger(&body);
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
	handshake_hello(&h, &b);
	tap_ok(stranger(&b) > 0, "behind %d others who say nothing a right first message is answered", CROWD);
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

static void put(unsigned k, const struct buf *b)
{
	peer_put(&peer[k], b);
	peer_flush(&peer[k], NULL);
}

static void become_worker(unsigned k)
{
	struct buf b = BUF_INIT;
	struct wire_about about = { .isa = 1 + k, .threads = 1, .memory = k ? 0 : MEMORY, .version = PACKAGE_VERSION, .host = "here", .processor = "any" };
	double until = clock_seconds() + PATIENCE_S;
	const uint8_t *body;
	size_t len;

	hand[k].rank = k;
	memcpy(hand[k].key, boot[k].key, sizeof hand[k].key);
	peer_init(&peer[k], connect_there());
	handshake_hello(&hand[k], &b);
	put(k, &b);
	while (clock_seconds() < until && peer_next(&peer[k], &body, &len, NULL) == 0) {
		struct pollfd f = { .fd = peer[k].fd, .events = POLLIN };

		poll(&f, 1, 100);
		peer_fill(&peer[k], NULL);
	}
	buf_clear(&b);
	tap_ok(handshake_answer(&hand[k], body, len, &b), "worker %u is let in", k);
	put(k, &b);
	peer_trust(&peer[k], &hand[k]);
	buf_clear(&b);
	wire_put_about(&b, &about);
	put(k, &b);
	buf_release(&b);
}

/* Rows that each was sent, and WORKs that named some. */
static double kept_x[NWORKER][NUNIT];
static atomic_uint nrow_sent[NWORKER], nkept[NWORKER];

/* A unit is one sample x: its readout is 2x, its sum x. */
static void result_of(unsigned k, const struct wire_work *w, bool wrong, double each, struct buf *b)
{
	struct wire_result r = { .step = w->step, .seconds = each * w->nsample, .units = w->units, .nsample = w->nsample, .nout = 1, .n = wrong ? 2 : 1 };
	double x[NUNIT], out[NUNIT], sum = 0;
	struct fixed v[2] = { { 0, 0 }, { 0, 0 } };

	if (w->nkept)
		nkept[k]++;
	for (uint32_t i = 0; i < w->nsample && w->nkept; i++)
		x[i] = kept_x[k][wire_row(w->row, i)];
	if (!w->nkept)
		wire_doubles(w->value, w->nsample, x);
	for (uint32_t i = 0; i < w->nsample; i++) {
		out[i] = 2 * x[i];
		sum += x[i];
	}
	fixed_from(sum, &v[0]);
	wire_put_result(b, &r, out, v);
}

static void do_work(unsigned k, const struct wire_work *w)
{
	struct buf b = BUF_INIT;
	int now = k == 1 ? mood : mood == UNABLE ? UNABLE : GOOD;
	struct wire_failed failed = { .step = w->step, .units = w->units, .code = -ERR_NOT_FINITE, .text = "no" };

	if (now == UNABLE)
		wire_put_failed(&b, &failed);
	else
		result_of(k, w, now == WRONG, now == SLOW ? 1e-3 : 1e-6, &b);
	if (now == SILENT)
		buf_add(&late[nlate++], b.data, b.len);
	else
		put(k, &b);
	buf_release(&b);
}

static void keep_rows(unsigned k, const struct wire_data *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		wire_doubles(d->value + i * sizeof(double), 1, &kept_x[k][wire_row(d->row, i)]);
		nrow_sent[k]++;
	}
}

static void answer(unsigned k, const uint8_t *body, size_t len)
{
	struct wire_ready ready = { .width = 1, .nvector = 1, .nout = 1, .nthread = 1 };
	struct buf b = BUF_INIT;
	struct wire_work w;
	struct wire_data d;

	if (body[0] == WIRE_DATA && wire_get_data(body, len, &d)) {
		keep_rows(k, &d);
	} else if (body[0] == WIRE_JOB) {
		wire_put_ready(&b, &ready);
		put(k, &b);
	} else if (body[0] == WIRE_WORK && wire_get_work(body, len, &w)) {
		do_work(k, &w);
	}
	buf_release(&b);
}

static void be_workers(void)
{
	struct buf beat = BUF_INIT;

	wire_put_beat(&beat, &(struct wire_beat){ 0 });
	while (!leave) {
		for (unsigned k = 0; k < NWORKER; k++) {
			const uint8_t *body;
			size_t len;

			if (peer[k].fd < 0)
				continue;
			if (k == 0 || mood != SILENT)
				put(k, &beat);
			while (k == 1 && mood == LATE && nlate) {
				put(k, &late[--nlate]);
				buf_release(&late[nlate]);
			}
			if (peer_fill(&peer[k], NULL))
				peer_close(&peer[k]);
			while (peer[k].fd >= 0 && peer_next(&peer[k], &body, &len, NULL) == 1)
				answer(k, body, len);
		}
		usleep(2000);
	}
	buf_release(&beat);
}

static void *others(void *arg)
{
	(void)arg;
	for (unsigned k = 0; k < NWORKER; k++)
		read_boot(k);
	test_strangers();
	test_crowd();
	test_frames();
	for (unsigned k = 0; k < NWORKER; k++)
		become_worker(k);
	be_workers();
	return NULL;
}

/* ---- this side ---- */

static double readout[NUNIT];
static unsigned nredone;

static void give(void *ctx, uint32_t sample, double *in)
{
	(void)ctx;
	*in = sample;
}

static void take(void *ctx, uint32_t sample, const double *out)
{
	(void)ctx;
	readout[sample] += *out;
}

static int redo(void *ctx, uint32_t unit, struct fixed *v, struct err *e)
{
	(void)ctx;
	(void)e;
	nredone++;
	readout[unit] += 2.0 * unit;
	fixed_from(unit, v);
	return 0;
}

static double all_rows[NUNIT];

static uint32_t row_of(void *ctx, uint32_t sample)
{
	(void)ctx;
	return sample;
}

static int run_step(struct err *e)
{
	static uint64_t version;
	double weight = 1;
	struct pool_step s = { .version = ++version, .weight = &weight, .nweight = 1, .gradient = true, .nsample = NUNIT, .width = 1,
		.nin = 1, .nout = 1, .all = all_rows, .nall = NUNIT, .nx = 1, .row = row_of, .give = give, .take = take, .redo = redo };
	struct pool *p = coordinator_pool(c);
	struct fixed sum = { 0, 0 };
	bool right = true;
	int code;

	memset(readout, 0, sizeof readout);
	code = p->ops->offer(p, &s, e);
	if (!code)
		code = p->ops->begin(p, NUNIT, 1, e);
	if (!code)
		code = p->ops->end(p, &sum, e);
	for (unsigned u = 0; u < NUNIT; u++)
		right &= readout[u] == 2.0 * u;
	return code ? code : right && fixed_value(sum) == NUNIT * (NUNIT - 1) / 2 ? 0 : 1;
}

static uint64_t done_by(unsigned k)
{
	struct coordinator_worker w;

	return coordinator_worker(c, k, &w) ? w.nunit : 0;
}

static void test_steps(void)
{
	struct coordinator_worker before, after;
	uint64_t done;
	unsigned n;
	int wrong = 0;
	struct err e = { 0, "" };

	for (unsigned u = 0; u < NUNIT; u++)
		all_rows[u] = u;
	tap_is_int(run_step(&e), 0, "a step: every unit once");
	for (n = 0; n < 20; n++)
		wrong |= run_step(&e);
	tap_ok(!wrong && nkept[0] > 0 && nrow_sent[0] <= 30, "a worker keeps rows that fit its memory (%u of %d), each sent once", nrow_sent[0], NUNIT);
	tap_ok(nkept[1] == 0 && nrow_sent[1] == 0, "one without memory gets them with the work");
	mood = SLOW;
	for (done = ~0u, n = 0; n < 20 && done_by(1) != done; n++) {
		done = done_by(1);
		run_step(&e);
	}
	tap_ok(done_by(1) == done, "a worker that is a thousand times slower gets nothing");
	mood = GOOD;
	for (n = 0; n < 1000 && done_by(1) == done; n++)
		run_step(&e);
	tap_ok(done_by(1) > done, "but is tried again after a while (%u steps)", n);
	mood = SILENT;
	tap_is_int(run_step(&e), 0, "a worker that falls silent: others do its units");
	tap_ok(was_told("no sign of 127.0.0.1[1] for"), "it is named");
	mood = LATE;
	tap_is_int(run_step(&e), 0, "its results come late, in the middle of another step: they count for nothing");
	for (int i = 0; i < 1000 && !was_told("127.0.0.1[1] is back"); i++)
		usleep(10000);
	tap_ok(was_told("127.0.0.1[1] is back"), "and it gets work again");
	coordinator_worker(c, 1, &before);
	tap_is_int(run_step(&e), 0, "a step more");
	coordinator_worker(c, 1, &after);
	tap_ok(!after.lost && after.nunit > before.nunit, "of which it does a part");
	mood = WRONG;
	tap_is_int(run_step(&e), 0, "a worker that sends other sums: others do its units");
	tap_ok(was_told("127.0.0.1[1] is lost: it sent sums of a step that is none"), "it is cut off, by name");
	mood = UNABLE;
	tap_is_int(run_step(&e), -ERR_UNREACHABLE, "a worker that can do nothing, and was the last");
	tap_ok(nredone > 0, "its units were tried here");
	tap_ok(was_told("127.0.0.1[0] is lost: it failed where this machine does not: no"), "where they could be done");
	tap_ok(strstr(e.text, "no worker is left; the first that was lost is 127.0.0.1[1]"), "the first cause is kept (%s)", e.text);
}

static void make_agent(void)
{
	FILE *f = fopen("agent", "w");

	/* Keeps the first frame, and waits for the leash. */
	fputs("#!/bin/sh\nmkdir lock0 2>/dev/null && n=0 || n=1\nexec cat >boot.$n\n", f);
	fclose(f);
	chmod("agent", 0755);
}

int main(void)
{
	struct host host = { "127.0.0.1", NWORKER };
	struct hosts hosts = { &host, 1, 1 };
	struct coordinator_options o = { .hosts = &hosts, .launcher = LAUNCHER_EXEC, .agent = "./agent", .encrypt = true, .shard = SHARD_DATA, .start_s = PATIENCE_S,
		.beat_s = 0.1, .suspect_s = 1, .dead_s = 60, .say = say };
	struct wire_job job = { .loss = "mse" };
	const char *worker = "";
	struct err e = { 0, "" };
	pthread_t thread;

	make_agent();
	for (unsigned k = 0; k < NWORKER; k++)
		peer[k].fd = -1;
	pthread_create(&thread, NULL, others, NULL);
	if (tap_is_int(coordinator_new(&o, &c, &e), 0, "all workers come (%s)", e.text)) {
		tap_ok(coordinator_isa(c, &worker) == 1 && !strcmp(worker, "127.0.0.1[0]"), "the least instruction set, and whose it is");
		tap_is_int(coordinator_job(c, &job, NULL, &e), 0, "all prepare the job (%s)", e.text);
		test_steps();
		coordinator_free(c);
	}
	leave = 1;
	pthread_join(thread, NULL);
	for (unsigned k = 0; k < NWORKER; k++)
		if (peer[k].fd >= 0)
			peer_close(&peer[k]);
	buf_release(&notes);
	return tap_done();
}
