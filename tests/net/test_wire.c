/* SPDX-License-Identifier: Apache-2.0
 * Every message comes back as it went; cut short, with bytes behind it, or made of noise it is refused. */
#include "runtime/net/protocol/peer.h"

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

enum { MESSAGES = 20 }; /* the last and one */
static const uint32_t ids[] = { 3, 4, 7, 19 };

static void put_all(struct buf b[MESSAGES])
{
	struct wire_boot boot = { .version = WIRE_VERSION, .rank = 5, .naddress = 2, .address = { "127.0.0.1:1", "[::1]:65535" } };
	struct wire_hello hello = { WIRE_VERSION, 3, 7, true, { 1 }, { 2 } };
	struct wire_challenge challenge = { true, false, { 3 }, { 5 } };
	struct wire_proof proof = { { 7 } };
	struct wire_about about = { "ref baseline", 2, 1u << 30, 42, 99, "0.1.0", "host", "a processor" };
	struct wire_job job = { .device = "cpu",
		.kernels = "avx512",
		.precision = 1,
		.gradient = 1,
		.method = 2,
		.again = 1,
		.forward = 1,
		.share = 2,
		.nlabel = 1,
		.loss = "mse",
		.noption = 2,
		.option = { 0.5, -1 },
		.program = (const uint8_t *)"bytes",
		.nprogram = 5,
		.nrank = 4,
		.places = "ssh\n",
		.nplaces = 4,
		.nfile = 1,
		.file = { { { 8 }, 100, 4, "/a/b", "{}", "[1]", 4, 2, 3 } } };
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
	wire_put_heartbeat(&b[12], &(struct wire_heartbeat){ 1234567 });
	wire_put_bye(&b[13], &(struct wire_bye){ -5, "the end" });
	wire_put_data(&b[14], &(struct wire_data){ .set = 3, .nrow = 8, .nx = 3, .n = 2 }, rows);
	buf_f64s(&b[14], value, 6);
	wire_put_profile(&b[15], &(struct wire_profile){ 2, 7, 3, 1 << 20, 1 << 16 });
	wire_put_profiled(&b[16], &(struct wire_profiled){ 3, 10, 4, 6, (const uint8_t *)"[1, 2]" });
	wire_put_clock(&b[17], &(struct wire_clock){ -5, 100, 200 });
	wire_put_attach(&b[18], &(struct wire_attach){ (const uint8_t *)"{}\n", 3 });
	wire_put_group(&b[19], &(struct wire_group){ (const uint8_t *)"tcp:127.0.0.1:4711", 18 });
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
	tap_ok(!strcmp(j.loss, "mse") && j.method == 2 && j.again == 1 && j.forward == 1
			&& j.option[1] == -1 && j.nprogram == 5 && !memcmp(j.program, "bytes", 5),
		"a job keeps its fields");
	tap_ok(j.nrank == 4 && j.nplaces == 4 && !memcmp(j.places, "ssh\n", 4),
		"and where its group is");
	tap_ok(j.nfile == 1 && j.file[0].digest[0] == 8 && j.file[0].nrow == 100 && j.file[0].npath == 4 && !memcmp(j.file[0].path, "/a/b", 4)
		&& j.file[0].nthrough == 3 && !memcmp(j.file[0].through, "[1]", 3), "and its files");
	wire_get_boot((const uint8_t *)b[1].data, b[1].len, &boot);
	tap_ok(boot.rank == 5 && !strcmp(boot.address[1], "[::1]:65535"), "and so does the first frame");
	b[1].data[9] = WIRE_VERSION + 1;
	tap_ok(wire_get_boot((const uint8_t *)b[1].data, b[1].len, &boot) && boot.version == WIRE_VERSION + 1, "of another version only that is read");
	b[1].data[9] = WIRE_VERSION;
}

/* The pace of a worker, by which it gets units, is computed from the time in RESULT. */
static void test_seconds(void)
{
	static const double right[] = { 0, 1e-9, WIRE_SECONDS_MAX },
			    wrong[] = { -1e-9, 1.0001 * WIRE_SECONDS_MAX, INFINITY, NAN };
	struct buf b = BUF_INIT;
	uint8_t bit[1];

	for (unsigned k = 0; k < 7; k++) {
		struct wire_result r = { .seconds = k < 3 ? right[k] : wrong[k - 3],
			.units = wire_units_of(ids, 1, bit),
			.nsample = 1 };

		buf_clear(&b);
		wire_put_result(&b, &r, NULL, NULL);
		tap_is_int(get_copy(b.data, b.len), k < 3, "a RESULT after %g seconds", r.seconds);
	}
	buf_release(&b);
}

/* Limits, and values of either sign, of the messages of profiles. */
static void test_profiles(void)
{
	struct wire_profile most = { 3, 255, UINT32_MAX, INT64_MAX, WIRE_PROFILE_MAX }, p;
	struct wire_clock clock = { INT64_MIN, -7, 7 }, k;
	struct wire_profiled part = { 1, WIRE_PROFILE_MAX, WIRE_PROFILE_MAX - 2, 2,
		(const uint8_t *)"]}" },
			     q;
	struct buf b = BUF_INIT;

	wire_put_profile(&b, &most);
	tap_ok(wire_get_profile((uint8_t *)b.data, b.len, &p) && p.level == 3 && p.label == 255
			&& p.capture == UINT32_MAX && p.bytes == INT64_MAX
			&& p.text_max == WIRE_PROFILE_MAX,
		"the largest values of PROFILE");
	buf_clear(&b);
	wire_put_clock(&b, &clock);
	tap_ok(wire_get_clock((uint8_t *)b.data, b.len, &k) && k.sent == INT64_MIN
			&& k.received == -7 && k.answered == 7,
		"times of either sign");
	buf_clear(&b);
	wire_put_profiled(&b, &part);
	tap_ok(wire_get_profiled((uint8_t *)b.data, b.len, &q) && q.n == 2 && !memcmp(q.text, "]}", 2),
		"the last part of the longest profile");
	buf_clear(&b);
	wire_put_profiled(&b, &(struct wire_profiled){ .capture = 1 });
	tap_ok(wire_get_profiled((uint8_t *)b.data, b.len, &q) && !q.total, "an empty profile");
	buf_clear(&b);
	wire_put_profiled(&b, &(struct wire_profiled){ .capture = 1, .total = 3, .at = 1 });
	tap_ok(!get_copy(b.data, b.len), "an empty part of another is refused");
	buf_release(&b);
}

/* Fields that promise more than is there, or what cannot be. */
static void test_wrong(struct buf b[MESSAGES])
{
	struct {
		int type;
		size_t at;
		uint32_t value;
		const char *what;
	} row[] = {
		{ 8, 9, UINT32_MAX, "more weights than bytes" },
		{ 9, 30, UINT32_MAX, "units beyond all" },
		{ 9, 34, 0, "no units" },
		{ 9, 34, UINT32_MAX, "a map beyond all" },
		{ 10, 31, UINT32_MAX, "more samples than bytes" },
		{ 10, 39, UINT32_MAX, "more sums than bytes" },
		{ 1, 79, 17, "too many addresses" },
		{ 1, 79, 0, "no address" },
		{ 9, 47, 4, "more kept numbers than there are" },
		{ 14, 1, 4, "more data sets than there may be" },
		{ 14, 5, 7, "a row beyond all" },
		{ 14, 9, 0, "rows without numbers" },
		{ 14, 13, UINT32_MAX, "more rows than bytes" },
		{ 14, 17, 7, "a row twice" },
		{ 6, 53, UINT32_MAX, "places longer than all" },
		{ 6, 99, 5, "more files than there may be" },
		{ 6, 143, 0, "a file without a name" },
		{ 6, 143, UINT32_MAX, "a name longer than all" },
		{ 6, 142, 0, "a name with a NUL" },
		{ 6, 143, UINT32_MAX, "a text longer than all" },
		{ 15, 1, 4, "a level beyond all" },
		{ 15, 11, UINT32_MAX, "more memory than there can be" },
		{ 15, 15, WIRE_PROFILE_MAX + 1, "a longer answer than is allowed" },
		{ 16, 5, WIRE_PROFILE_MAX + 1, "a profile longer than all" },
		{ 16, 5, 9, "a part that ends behind the profile" },
		{ 16, 9, 11, "a part that begins behind it" },
		{ 16, 9, UINT32_MAX, "a part beyond all" },
		{ 16, 13, UINT32_MAX, "more bytes than there are" },
		{ 17, 21, UINT32_MAX, "an answer before the question" },
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

/* Worker h[0] and coordinator h[1] of the same job, before their first word. */
static void begin(struct handshake h[2], bool encrypt, bool aes)
{
	memset(h, 0, 2 * sizeof *h);
	crypto_random(h[0].key, sizeof h[0].key);
	crypto_random(h[0].job, sizeof h[0].job);
	memcpy(h[1].key, h[0].key, sizeof h[0].key);
	memcpy(h[1].job, h[0].job, sizeof h[0].job);
	h[0].rank = 3;
	h[0].numerical = 7;
	h[1].encrypt = encrypt;
	h[0].aes = true;             /* the other side decides */
	h[1].aes = aes;
}

/* b: HELLO, CHALLENGE, PROOF; before[k]: the state of the side that is to read b[k]. */
static bool shake(struct handshake h[2], struct buf b[3], struct handshake before[3])
{
	bool ok;

	for (int k = 0; k < 3; k++)
		buf_clear(&b[k]);
	before[0] = h[1];
	handshake_hello(&h[0], &b[0]);
	ok = handshake_take_hello(&h[1], (uint8_t *)b[0].data, b[0].len) && handshake_challenge(&h[1], &b[1]);
	before[1] = h[0];
	ok = ok && handshake_answer(&h[0], (uint8_t *)b[1].data, b[1].len, &b[2]);
	before[2] = h[1];
	return ok && handshake_proved(&h[1], (uint8_t *)b[2].data, b[2].len);
}

/* Does a side take message k? */
static bool takes(struct handshake h, int k, const struct buf *b)
{
	struct buf ignored = BUF_INIT;
	bool ok = k == 0 ? handshake_take_hello(&h, (uint8_t *)b->data, b->len) && handshake_challenge(&h, &ignored)
		: k == 1 ? handshake_answer(&h, (uint8_t *)b->data, b->len, &ignored)
		: handshake_proved(&h, (uint8_t *)b->data, b->len);

	buf_release(&ignored);
	return ok;
}

static void test_handshake(bool encrypt, bool aes)
{
	struct buf b[3] = { BUF_INIT, BUF_INIT, BUF_INIT }, other[3] = { BUF_INIT, BUF_INIT, BUF_INIT };
	struct handshake h[2], before[3], ignored[3], another[2], changed;
	uint8_t zero[CRYPTO_KEY] = { 0 };

	begin(h, encrypt, aes);
	tap_ok(shake(h, b, before) && h[1].rank == 3 && h[1].numerical == 7 && h[0].encrypt == encrypt && h[0].aes == aes && h[1].aes == aes,
		"a handshake%s%s", encrypt ? ", encrypted" : "", aes ? ", with AES" : "");
	tap_ok(!memcmp(h[0].write.body, h[1].read.body, CRYPTO_KEY) && !memcmp(h[0].read.body, h[1].write.body, CRYPTO_KEY)
		&& memcmp(h[0].write.body, h[0].read.body, CRYPTO_KEY), "both sides get the same keys, one for each direction");
	for (int k = 0; k < 3; k++) {
		unsigned wrong = 0;

		for (size_t at = 1; at < b[k].len; at++)
			for (int bit = 0; bit < 8; bit++) {
				b[k].data[at] = (char)(b[k].data[at] ^ 1 << bit);
				/* X25519 leaves the highest bit of a point out: the proof covers it all the same. */
				wrong += takes(before[k], k, &b[k]);
				b[k].data[at] = (char)(b[k].data[at] ^ 1 << bit);
			}
		tap_ok(!wrong && takes(before[k], k, &b[k]), "no bit of message %d can be changed", k + 1);
	}
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < 3; i++)
			if (i != k && takes(before[k], k, &b[i]))
				tap_ok(false, "message %d in place of %d", i + 1, k + 1);

	/* Recorded messages, and what they are good for. */
	changed = before[0];
	changed.job[31] ^= 1;
	tap_ok(!takes(changed, 0, &b[0]), "a HELLO of one job is not answered in another");
	changed = before[1];
	changed.job[31] ^= 1;
	tap_ok(!takes(changed, 1, &b[1]), "nor is a CHALLENGE taken there");
	begin(another, encrypt, aes);
	for (int k = 0; k < 2; k++) {
		memcpy(another[k].key, before[0].key, CRYPTO_KEY);
		memcpy(another[k].job, before[0].job, WIRE_JOB_ID);
	}
	shake(another, other, ignored);
	tap_ok(!takes(ignored[1], 1, &b[1]) && !takes(ignored[2], 2, &b[2]), "CHALLENGE and PROOF of another connection of the job are refused");
	tap_ok(memcmp(another[0].write.body, h[0].write.body, CRYPTO_KEY) && memcmp(another[0].read.body, h[0].read.body, CRYPTO_KEY),
		"which has keys of its own");

	/* The job's key is disclosed afterwards: all that was said and the key do not give the keys of the connection. */
	tap_ok(!memcmp(h[0].own, zero, sizeof zero) && !memcmp(h[1].own, zero, sizeof zero) && !memcmp(h[0].secret, zero, sizeof zero)
		&& !memcmp(h[1].secret, zero, sizeof zero), "the secret halves of the exchange are wiped");
	changed = before[1];
	crypto_random(changed.own, sizeof changed.own);
	tap_ok(!takes(changed, 1, &b[1]), "without them, the key and a record of the handshake give nothing");
	changed = before[1];
	memset(b[1].data + 3, 0, CRYPTO_PUBLIC);
	tap_ok(!takes(changed, 1, &b[1]), "a point that gives everybody the same secret is refused");
	for (int k = 0; k < 3; k++) {
		buf_release(&b[k]);
		buf_release(&other[k]);
	}
}

static void agree(struct handshake h[2], bool encrypt, bool aes)
{
	struct buf b[3] = { BUF_INIT, BUF_INIT, BUF_INIT };
	struct handshake ignored[3];

	begin(h, encrypt, aes);
	tap_ok(shake(h, b, ignored), "two sides agree");
	for (int k = 0; k < 3; k++)
		buf_release(&b[k]);
}

static void test_peers(struct buf b[MESSAGES], bool encrypt, bool aes)
{
	struct handshake h[2];
	struct peer p[2];
	struct buf large = BUF_INIT;
	struct err e;
	const uint8_t *body;
	size_t len;

	open_pair(p);
	agree(h, encrypt, aes);
	peer_put(&p[0], &b[2]);
	peer_flush(&p[0], &e);
	peer_fill(&p[1], &e);
	tap_ok(next_is(&p[1], &b[2]), "a short message before trust");
	buf_pad(&large, 'x', 300000);
	peer_trust(&p[0], &h[0]);
	peer_put(&p[0], &b[9]);
	tap_is_int(memmem(p[0].out.data, p[0].out.len, b[9].data, b[9].len) != NULL, !encrypt, "a message is readable on its way only without encryption");
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
	p[0].out.data[p[0].out.len - CRYPTO_SEAL - 1] ^= 1;
	peer_put(&p[0], &b[13]);
	peer_flush(&p[0], &e);
	peer_fill(&p[1], &e);
	tap_is_int(peer_next(&p[1], &body, &len, &e), -ERR_UNREACHABLE, "a changed byte is found: %s", e.text);
	tap_is_int(peer_next(&p[1], &body, &len, &e), -ERR_UNREACHABLE, "and nothing that comes behind it is taken");
	peer_close(&p[0]);
	tap_is_int(peer_fill(&p[1], &e), -ERR_UNREACHABLE, "the end is seen");
	peer_close(&p[1]);
	buf_release(&large);
}

/* ---- damage and forgery ---- */

enum { SENT = 4 };                   /* messages on their way */

/* How many of the messages come out of the stream p[0..len), whole and in order; *code: of what stops it. */
static unsigned delivered(const struct handshake *h, const uint8_t *p, size_t len, const struct buf *want[SENT], int *code)
{
	struct peer peer = { .fd = -1, .in = malloc(len), .in_len = len, .in_cap = len };
	const uint8_t *body;
	unsigned n = 0;
	size_t nbody;

	memcpy(peer.in, p, len);
	peer_trust(&peer, h);
	while ((*code = peer_next(&peer, &body, &nbody, NULL)) == 1 && n < SENT && nbody == want[n]->len && !memcmp(body, want[n]->data, nbody))
		n++;
	peer_close(&peer);
	return n;
}

static uint64_t draw(uint64_t below)
{
	static uint64_t n;

	return rng_u64(2, RNG_TEST, 0, n++) % below;
}

static size_t flip_bit(uint8_t *p, size_t len)
{
	size_t at = draw(len);

	p[at] = (uint8_t)(p[at] ^ 1 << draw(8));
	return at;
}

/* Two 16-bit words change places, which leaves TCP's checksum as it was. */
static size_t swap_words(uint8_t *p, size_t len)
{
	uint8_t word[2];
	size_t a, b;

	do {
		a = draw(len / 2) * 2;
		b = draw(len / 2) * 2;
	} while (!memcmp(p + a, p + b, 2));
	memcpy(word, p + a, 2);
	memcpy(p + a, p + b, 2);
	memcpy(p + b, word, 2);
	return (a < b ? a : b) + (p[a] == p[b]);
}

/* `hurt` returns the first byte that it has changed: what came before is delivered, nothing else is, and the connection ends. */
static void test_damage(struct buf b[MESSAGES], bool encrypt, bool aes, const char *what, size_t (*hurt)(uint8_t *p, size_t len))
{
	enum { TRIES = 1000 };
	const struct buf *want[SENT] = { &b[10], &b[12], &b[10], &b[13] };
	struct handshake h[2];
	struct peer p[2];
	uint8_t *copy;
	size_t end[SENT];
	unsigned refused = 0;
	int code;

	agree(h, encrypt, aes);
	open_pair(p);
	peer_trust(&p[0], &h[0]);
	for (int i = 0; i < SENT; i++) {
		peer_put(&p[0], want[i]);
		end[i] = p[0].out.len;
	}
	tap_ok(delivered(&h[1], (uint8_t *)p[0].out.data, p[0].out.len, want, &code) == SENT && code == 0, "undamaged, all messages come");
	copy = malloc(p[0].out.len);
	for (int i = 0; i < TRIES; i++) {
		size_t at;
		unsigned whole = 0, n;

		memcpy(copy, p[0].out.data, p[0].out.len);
		at = hurt(copy, p[0].out.len);
		while (whole < SENT && end[whole] <= at)
			whole++;
		n = delivered(&h[1], copy, p[0].out.len, want, &code);
		refused += n == whole && code == -ERR_UNREACHABLE;
	}
	tap_is_int(refused, TRIES, "%s: refused each time%s", what, encrypt ? ", encrypted" : "");
	free(copy);
	peer_close(&p[0]);
	peer_close(&p[1]);
}

/* Whole frames that are repeated, left out, moved, cut, or sent back where they came from. */
static void test_order(struct buf b[MESSAGES], bool encrypt, bool aes)
{
	static const struct { const char *what; int frame[SENT]; unsigned come; bool back; } row[] = {
		{ "as they were sent", { 0, 1, 2, 3 }, 4, false }, { "the first twice", { 0, 0, 1, 2 }, 1, false }, { "without the second", { 0, 2, 3, -1 }, 1, false },
		{ "two that changed places", { 0, 2, 1, 3 }, 1, false }, { "the last first", { 3, 0, 1, 2 }, 0, false }, { "sent back", { 0, 1, 2, 3 }, 0, true },
	};
	const struct buf *want[SENT] = { &b[10], &b[10], &b[10], &b[13] };
	struct handshake h[2];
	struct peer p[2];
	size_t at[SENT + 1] = { 0 };
	int code;

	agree(h, encrypt, aes);
	open_pair(p);
	peer_trust(&p[0], &h[0]);
	for (int i = 0; i < SENT; i++) {
		peer_put(&p[0], want[i]);
		at[i + 1] = p[0].out.len;
	}
	for (size_t r = 0; r < sizeof row / sizeof *row; r++) {
		struct buf way = BUF_INIT;
		unsigned n;

		for (int i = 0; i < SENT && row[r].frame[i] >= 0; i++)
			buf_add(&way, p[0].out.data + at[row[r].frame[i]], at[row[r].frame[i] + 1] - at[row[r].frame[i]]);
		n = delivered(&h[row[r].back ? 0 : 1], (uint8_t *)way.data, way.len, want, &code);
		tap_ok(n == row[r].come && code == (r ? -ERR_UNREACHABLE : 0), "frames %s: %u come", row[r].what, n);
		buf_release(&way);
	}
	tap_ok(delivered(&h[1], (uint8_t *)p[0].out.data, at[SENT] - 1, want, &code) == SENT - 1 && code == 0, "a frame that is cut is not taken");
	peer_close(&p[0]);
	peer_close(&p[1]);
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
	tap_ok(next_is(&p[1], &b), "1024 bytes are taken from a peer that has not proved its key");
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

/* The nonce is four zero bytes, then the number of the message in little endian: ciphertext and tag come from another
 * implementation of ChaCha20-Poly1305 and of AES-256-GCM. */
static void test_nonce(bool aes)
{
	static const uint8_t want[2][7 + CRYPTO_SEAL] = {
		{ 0x8d, 0xf4, 0x98, 0x17, 0x81, 0xff, 0x47, 0x3c, 0x4e, 0x14, 0x76, 0x9f, 0xf3, 0xd5, 0xf4, 0x37, 0xe9, 0xa9, 0x4f,
			0xcf, 0xaf, 0x15, 0xbb },
		{ 0x3d, 0xe4, 0xa4, 0x8a, 0xa8, 0x01, 0x1b, 0x6e, 0x0b, 0xad, 0xaa, 0x74, 0xb1, 0x10, 0x37, 0xda, 0x02, 0xd3, 0xd6,
			0x6d, 0xe5, 0x11, 0xba },
	};
	struct crypto_keys keys = { .body = { 0 } };
	struct crypto_channel c;
	uint8_t text[7], tag[CRYPTO_SEAL];

	for (unsigned i = 0; i < CRYPTO_KEY; i++)
		keys.body[i] = (uint8_t)i;
	memcpy(text, "quantum", sizeof text);
	crypto_channel_open(&c, &keys, true, aes);
	c.count = 256;
	crypto_seal(&c, text, sizeof text, tag);
	tap_ok(!memcmp(text, want[aes], sizeof text) && !memcmp(tag, want[aes] + sizeof text, sizeof tag),
		"%s: message 256 is sealed as another implementation seals it", aes ? "AES-256-GCM" : "ChaCha20-Poly1305");
}

int main(void)
{
	static const char *const name[] = { "", "BOOT", "HELLO", "CHALLENGE", "PROOF", "ABOUT",
		"JOB", "READY", "WEIGHTS", "WORK", "RESULT", "FAILED", "HEARTBEAT", "BYE", "DATA",
		"PROFILE", "PROFILED", "CLOCK", "ATTACH", "GROUP" };
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
	test_seconds();
	test_profiles();
	test_noise(b);
	for (int mode = 0; mode < 4; mode++) {
		bool encrypt = mode & 1, aes = mode & 2;

		if (aes && !crypto_has_aes()) {
			tap_skip("this processor has no AES");
			continue;
		}
		if (encrypt)
			test_nonce(aes);
		test_handshake(encrypt, aes);
		test_peers(b, encrypt, aes);
		test_damage(b, encrypt, aes, "a bit is flipped", flip_bit);
		test_damage(b, encrypt, aes, "two 16-bit words change places", swap_words);
		test_order(b, encrypt, aes);
	}
	test_broken();
	test_early();
	for (int i = 1; i < MESSAGES; i++)
		buf_release(&b[i]);
	return tap_done();
}
