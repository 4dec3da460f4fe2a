/* SPDX-License-Identifier: Apache-2.0
 * Every message comes back as it went; cut short, with bytes behind it, or made of noise it is refused. */
#include "config.h"
#include "runtime/net/peer.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/rng.h"
#include "tests/net/any_message.h"
#include "tests/tap.h"

/* Exactly as long as it is; in memory of its own, so that the sanitizers see a byte too many. */
static bool get_copy(const char *p, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	bool ok;

	memcpy(copy, p, len);
	ok = get_any(copy, len);
	free(copy);
	return ok;
}

static void test_cuts(const char *name, const struct buf *b)
{
	struct buf more = BUF_INIT;
	size_t at = 0;

	tap_ok(get_copy(b->data, b->len), "%s is taken", name);
	while (at < b->len && !get_copy(b->data, at))
		at++;
	tap_is_int((long long)at, (long long)b->len, "and refused with any bytes missing");
	buf_add(&more, b->data, b->len);
	buf_char(&more, 0);
	tap_ok(!get_copy(more.data, more.len), "and with one too many");
	buf_release(&more);
}

enum { MESSAGES = 15 };      /* the last and one */
static const uint32_t ids[] = { 3, 4, 7, 19 };

static void put_all(struct buf b[MESSAGES])
{
	struct wire_boot boot = { .version = WIRE_VERSION, .rank = 5, .naddress = 2, .address = { "127.0.0.1:1", "[::1]:65535" } };
	struct wire_hello hello = { WIRE_VERSION, 7, { 1 }, { 2 } };
	struct wire_challenge challenge = { true, { 3 }, { 4 }, { 5 } };
	struct wire_proof proof = { { 6 }, { 7 } };
	struct wire_about about = { 3, 2, 1u << 30, 42, 99, "0.1.0", "host", "a processor" };
	struct wire_job job = { .isa = 3, .precision = 1, .gradient = 1, .again = 1, .share = 2, .nlabel = 1, .loss = "mse", .noption = 2,
		.option = { 0.5, -1 }, .program = (const uint8_t *)"bytes", .nprogram = 5,
		.nfile = 1, .file = { { { 8 }, 100, 4, "/a/b", "{}", "[1]", 4, 2, 3 } } };
	struct wire_ready ready = { 16, 100, 3, 2, { 9 } };
	uint8_t bit[8];
	struct wire_work work = { .step = 11, .weights = 12, .gradient = true, .nsample = 2, .nin = 3 };
	struct wire_result result = { .step = 11, .seconds = 0.25, .nsample = 2, .nout = 2, .n = 3 };
	struct wire_failed failed = { .step = 11, .code = -3, .text = "why" };
	double value[6] = { 1, -2, 0.5, 1e300, 0, -0.0 };
	const uint32_t rows[2] = { 2, 7 };
	struct fixed vector[3] = { { 1, -1 }, { INT64_MAX, INT64_MIN }, { 0, 0 } };

	work.units = result.units = failed.units = wire_units_of(ids, 4, bit);
	wire_put_boot(&b[1], &boot);
	wire_put_hello(&b[2], &hello);
	wire_put_challenge(&b[3], &challenge);
	wire_put_proof(&b[4], &proof);
	wire_put_about(&b[5], &about);
	wire_put_job(&b[6], &job);
	wire_put_ready(&b[7], &ready);
	wire_put_weights(&b[8], 12, value, 6);
	wire_put_work(&b[9], &work);
	buf_f64s(&b[9], value, 6);
	wire_put_result(&b[10], &result, value, vector);
	wire_put_failed(&b[11], &failed);
	wire_put_beat(&b[12], &(struct wire_beat){ 1234567 });
	wire_put_bye(&b[13], &(struct wire_bye){ -5, "the end" });
	wire_put_data(&b[14], &(struct wire_data){ .set = 3, .nrow = 8, .nx = 3, .n = 2 }, rows);
	buf_f64s(&b[14], value, 6);
}

static void test_values(const struct buf b[MESSAGES])
{
	struct wire_result r;
	struct wire_job j;
	struct wire_boot boot;
	struct fixed v[3];
	double value[4];
	uint32_t id[4];

	wire_get_result((const uint8_t *)b[10].data, b[10].len, &r);
	tap_is_int(wire_units_list(&r.units, id), 4, "a map names as many units");
	tap_ok(!memcmp(id, ids, sizeof ids), "the same ones");
	wire_doubles(r.value, 4, value);
	wire_fixed(r.vector, 3, v);
	tap_ok(value[1] == -2 && value[3] == 1e300, "readouts keep their bits");
	tap_ok(v[1].a == INT64_MAX && v[1].b == INT64_MIN && v[0].b == -1, "and so do sums");
	wire_get_job((const uint8_t *)b[6].data, b[6].len, &j);
	tap_ok(!strcmp(j.loss, "mse") && j.again == 1 && j.option[1] == -1 && j.nprogram == 5 && !memcmp(j.program, "bytes", 5), "a job keeps its fields");
	tap_ok(j.nfile == 1 && j.file[0].digest[0] == 8 && j.file[0].nrow == 100 && j.file[0].npath == 4 && !memcmp(j.file[0].path, "/a/b", 4)
		&& j.file[0].nthrough == 3 && !memcmp(j.file[0].through, "[1]", 3), "and its files");
	wire_get_boot((const uint8_t *)b[1].data, b[1].len, &boot);
	tap_ok(boot.rank == 5 && !strcmp(boot.address[1], "[::1]:65535"), "and so does the first frame");
	b[1].data[9] = 2;
	tap_ok(wire_get_boot((const uint8_t *)b[1].data, b[1].len, &boot) && boot.version == 2, "of another version only that is read");
	b[1].data[9] = 1;
}

/* Fields that promise more than is there, or what cannot be. */
static void test_wrong(struct buf b[MESSAGES])
{
	struct { int type; size_t at; uint32_t value; const char *what; } row[] = {
		{ 8, 9, UINT32_MAX, "more weights than bytes" }, { 9, 30, UINT32_MAX, "units beyond all" },
		{ 9, 34, 0, "no units" }, { 9, 34, UINT32_MAX, "a map beyond all" }, { 10, 31, UINT32_MAX, "more samples than bytes" },
		{ 10, 39, UINT32_MAX, "more sums than bytes" }, { 1, 79, 17, "too many addresses" }, { 1, 79, 0, "no address" },
		{ 9, 47, 4, "more kept numbers than there are" }, { 14, 1, 4, "more data sets than there may be" },
		{ 14, 5, 7, "a row beyond all" }, { 14, 9, 0, "rows without numbers" }, { 14, 13, UINT32_MAX, "more rows than bytes" },
		{ 14, 17, 7, "a row twice" }, { 6, 63, 5, "more files than there may be" }, { 6, 107, 0, "a file without a name" },
		{ 6, 107, UINT32_MAX, "a name longer than all" }, { 6, 110, 0, "a name with a NUL" }, { 6, 115, UINT32_MAX, "a text longer than all" },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct buf copy = BUF_INIT, number = BUF_INIT;

		buf_add(&copy, b[row[i].type].data, b[row[i].type].len);
		buf_u32(&number, row[i].value);
		memcpy(copy.data + row[i].at, number.data, 4);
		tap_ok(!get_copy(copy.data, copy.len), "%s: %s", wire_name(row[i].type), row[i].what);
		buf_release(&copy);
		buf_release(&number);
	}
}

/* WORK of samples whose inputs were sent before. */
static void test_kept(void)
{
	uint8_t bit[8];
	struct wire_work w = { .step = 1, .nsample = 2, .nin = 3, .nkept = 2, .set = 1 }, got;
	double value[2] = { 0.5, -4 }, read[2];
	struct buf b = BUF_INIT;

	w.units = wire_units_of(ids, 1, bit);
	wire_put_work(&b, &w);
	wire_put_row(&b, 70000);
	wire_put_row(&b, 5);
	buf_f64s(&b, value, 2);
	test_cuts("WORK with rows", &b);
	if (tap_ok(wire_get_work((const uint8_t *)b.data, b.len, &got) && got.nkept == 2 && got.set == 1, "work names rows of a set")) {
		wire_doubles(got.value, 2, read);
		tap_ok(wire_row(got.row, 0) == 70000 && wire_row(got.row, 1) == 5 && read[1] == -4, "the same ones, and the other numbers");
	}
	buf_release(&b);
}

/* Noise, and messages with some bytes changed, never do harm; some may well be messages. */
static void test_noise(struct buf b[MESSAGES])
{
	uint64_t draw = 0;
	unsigned taken = 0;

	for (unsigned k = 0; k < 20000; k++) {
		char noise[256];
		size_t len = rng_u64(1, RNG_TEST, 0, draw++) % sizeof noise;
		const struct buf *from = &b[1 + k % (MESSAGES - 1)];

		for (size_t i = 0; i < len; i++)
			noise[i] = (char)rng_u64(1, RNG_TEST, 0, draw++);
		if (k % 2 && from->len <= sizeof noise) {
			len = from->len;
			memcpy(noise, from->data, len);
			for (int i = 0; i < 3; i++) {
				size_t at = rng_u64(1, RNG_TEST, 0, draw++) % len;

				noise[at] = (char)rng_u64(1, RNG_TEST, 0, draw++);
			}
		} else if (len) {
			noise[0] = (char)(1 + k % (MESSAGES - 1));
		}
		taken += get_copy(noise, len);
	}
	tap_ok(taken > 0 && taken < 20000, "noise is refused or taken (%u of 20000), and does no harm", taken);
}

/* ---- peers ---- */

static bool next_is(struct peer *p, const struct buf *want)
{
	const uint8_t *body;
	size_t len;
	struct err e;

	return peer_next(p, &body, &len, &e) == 1 && len == want->len && !memcmp(body, want->data, len);
}

static void open_pair(struct peer p[2])
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		tap_bail("no sockets");
	peer_init(&p[0], fd[0]);
	peer_init(&p[1], fd[1]);
}

static void shake(struct handshake h[2], bool encrypt)
{
	struct buf b[3] = { BUF_INIT, BUF_INIT, BUF_INIT };
	bool ok;

	memset(h, 0, 2 * sizeof *h);
	crypto_random(h[0].key, sizeof h[0].key);
	memcpy(h[1].key, h[0].key, sizeof h[0].key);
	h[0].rank = 3;
	h[1].encrypt = encrypt;
	handshake_hello(&h[0], &b[0]);
	ok = handshake_challenge(&h[1], (uint8_t *)b[0].data, b[0].len, &b[1])
		&& handshake_answer(&h[0], (uint8_t *)b[1].data, b[1].len, &b[2])
		&& handshake_proved(&h[1], (uint8_t *)b[2].data, b[2].len);
	tap_ok(ok && h[1].rank == 3, "a handshake%s", encrypt ? ", encrypted" : "");
	/* Any bit of any proof counts. */
	for (int k = 0; k < 3; k++) {
		unsigned wrong = 0;

		for (size_t at = 1; at < b[k].len; at++) {
			struct handshake again[2] = { h[0], h[1] };
			struct buf ignored = BUF_INIT;

			b[k].data[at] ^= 1;
			wrong += k == 0 ? handshake_challenge(&again[1], (uint8_t *)b[0].data, b[0].len, &ignored)
				: k == 1 ? handshake_answer(&again[0], (uint8_t *)b[1].data, b[1].len, &ignored)
				: handshake_proved(&again[1], (uint8_t *)b[2].data, b[2].len);
			b[k].data[at] ^= 1;
			buf_release(&ignored);
		}
		tap_is_int(wrong, 0, "no byte of message %d can be changed", k + 1);
	}
	for (int k = 0; k < 3; k++)
		buf_release(&b[k]);
}

static void test_peers(struct buf b[MESSAGES], bool encrypt)
{
	struct handshake h[2];
	struct peer p[2];
	struct buf large = BUF_INIT;
	struct err e;
	const uint8_t *body;
	size_t len;
	int code;

	open_pair(p);
	shake(h, encrypt);
	peer_put(&p[0], &b[2]);
	peer_flush(&p[0], &e);
	peer_fill(&p[1], &e);
	tap_ok(next_is(&p[1], &b[2]), "a short message before trust");
	buf_pad(&large, 'x', 300000);
	peer_trust(&p[0], &h[0]);
	peer_put(&p[0], &b[9]);
	peer_put(&p[0], &large);
	peer_trust(&p[1], &h[1]);
	for (int i = 0; i < 100 && peer_waits(&p[0]); i++) {
		peer_flush(&p[0], &e);
		peer_fill(&p[1], &e);
	}
	peer_fill(&p[1], &e);
	tap_ok(next_is(&p[1], &b[9]) && next_is(&p[1], &large), "messages of any length after it, in order");
	tap_is_int(peer_next(&p[1], &body, &len, &e), 0, "and no more");
	/* A changed byte on the way. */
	peer_put(&p[0], &b[12]);
	p[0].out.data[p[0].out.len - 1] ^= 1;
	peer_flush(&p[0], &e);
	peer_fill(&p[1], &e);
	code = peer_next(&p[1], &body, &len, &e);
	tap_is_int(code, encrypt ? -ERR_AUTH : 1, encrypt ? "a changed byte breaks the seal" : "without a seal only its fields can tell");
	peer_close(&p[0]);
	tap_is_int(peer_fill(&p[1], &e), -ERR_UNREACHABLE, "the end is seen");
	peer_close(&p[1]);
	buf_release(&large);
}

/* A connection that breaks while something is sent: the first reason is what all later ones tell. */
static void test_broken(void)
{
	struct peer p[2];
	struct buf b = BUF_INIT;
	struct err e = { 0, "" };

	open_pair(p);
	buf_pad(&b, 'x', 1000);
	peer_close(&p[1]);
	peer_put(&p[0], &b);
	tap_is_int(peer_flush(&p[0], &e), -ERR_UNREACHABLE, "who has closed takes nothing");
	tap_is_int(p[0].fault, EPIPE, "and why is kept");
	p[0].fault = ETIMEDOUT;  /* as the first of two tells where a way is cut */
	peer_flush(&p[0], &e);
	tap_ok(strstr(e.text, strerror(ETIMEDOUT)), "another try does not change it: %s", e.text);
	tap_is_int(peer_fill(&p[0], &e), -ERR_UNREACHABLE, "its end is seen");
	tap_ok(p[0].fault == ETIMEDOUT && strstr(e.text, strerror(ETIMEDOUT)), "and told with that reason: %s", e.text);
	peer_close(&p[0]);
	buf_release(&b);
}

static void test_early(void)
{
	struct peer p[2];
	struct buf b = BUF_INIT;
	struct err e;
	const uint8_t *body;
	size_t len;

	open_pair(p);
	buf_pad(&b, 'x', WIRE_EARLY_MAX);
	peer_put(&p[0], &b);
	peer_flush(&p[0], &e);
	peer_fill(&p[1], &e);
	tap_ok(next_is(&p[1], &b), "1024 bytes are taken from a stranger");
	buf_char(&b, 'x');
	peer_put(&p[0], &b);
	peer_flush(&p[0], &e);
	peer_fill(&p[1], &e);
	tap_is_int(peer_next(&p[1], &body, &len, &e), -ERR_PROTOCOL, "1025 are not");
	peer_close(&p[0]);
	peer_close(&p[1]);
	open_pair(p);
	tap_ok(write(p[0].fd, "\0\0\0\0", 4) == 4 && !peer_fill(&p[1], &e) && peer_next(&p[1], &body, &len, &e) == -ERR_PROTOCOL,
		"nor is an empty body");
	peer_close(&p[0]);
	peer_close(&p[1]);
	buf_release(&b);
}

int main(void)
{
	static const char *const name[] = { "", "BOOT", "HELLO", "CHALLENGE", "PROOF", "ABOUT", "JOB", "READY", "WEIGHTS", "WORK",
		"RESULT", "FAILED", "BEAT", "BYE", "DATA" };
	struct buf b[MESSAGES] = { { 0, 0, 0 } };

	tap_ok(crypto_start(), "random numbers");
	put_all(b);
	for (int i = 1; i < MESSAGES; i++) {
		tap_is_str(wire_name(i), name[i], "message %d", i);
		test_cuts(name[i], &b[i]);
	}
	test_values(b);
	test_wrong(b);
	test_kept();
	test_noise(b);
	test_peers(b, false);
	test_peers(b, true);
	test_broken();
	test_early();
	for (int i = 1; i < MESSAGES; i++)
		buf_release(&b[i]);
	return tap_done();
}
