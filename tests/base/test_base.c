/* SPDX-License-Identifier: Apache-2.0
 * Hashes, inflate, errors, arenas, clocks, libm's digest, processors, the group of one. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/base/err.h"
#include "runtime/base/maths.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/cpus.h"
#include "runtime/base/system/inflate.h"
#include "tests/tap.h"

/* The same in pieces of every length, begun at every place of a block. */
static void sha256_million(void)
{
	static char text[1000000];
	uint8_t out[SHA256_BYTES];
	char hex[SHA256_HEX + 1];
	struct sha256 h;
	unsigned wrong = 0;

	memset(text, 'a', sizeof text);
	for (size_t piece = 1; piece < 400; piece += piece < 66 ? 5 : 62) {
		sha256_init(&h);
		for (size_t at = 0; at < sizeof text; at += piece)
			sha256_add(&h, text + at, sizeof text - at < piece ? sizeof text - at : piece);
		sha256_end(&h, out);
		sha256_hex(out, hex);
		wrong += strcmp(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0") != 0;
	}
	tap_is_int(wrong, 0, "a million a's in pieces of many lengths");
	sha256_of(text, sizeof text, out);
	sha256_hex(out, hex);
	tap_is_str(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "and in one");
}

/* FIPS 180-4's examples. */
static void sha256(void)
{
	static const struct { const char *in, *hex; } row[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
			"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	uint8_t out[SHA256_BYTES];
	char hex[SHA256_HEX + 1];
	struct sha256 h;

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		sha256_of(row[i].in, strlen(row[i].in), out);
		sha256_hex(out, hex);
		tap_is_str(hex, row[i].hex, "SHA-256 of \"%s\"", row[i].in);
	}
	sha256_init(&h);
	for (int i = 0; i < 1000000; i++)
		sha256_add(&h, "a", 1);
	sha256_end(&h, out);
	sha256_hex(out, hex);
	tap_is_str(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
		"SHA-256 of a million a's, one by one");
	sha256_million();
}

static void deflated(void)
{
	/* "hello hello hello\n", raw deflate. */
	static const uint8_t in[] = { 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x90, 0x5c, 0x00 };
	static const char want[] = "hello hello hello\n";
	size_t len = sizeof want - 1;
	char out[64];
	struct err e;

	tap_ok(crc32_of("123456789", 9) == 0xcbf43926, "CRC-32's check value");
	tap_ok(!inflate_raw(in, sizeof in, out, len, &e) && !memcmp(out, want, len), "a raw stream");
	tap_is_int(inflate_raw(in, sizeof in, out, len + 1, &e), -ERR_BAD_DATA, "one byte too few");
	tap_is_int(inflate_raw(in, sizeof in, out, len - 1, &e), -ERR_BAD_DATA, "one byte too many");
	tap_is_int(inflate_raw(in, sizeof in - 1, out, len, &e), -ERR_BAD_DATA, "a cut-off stream");
	memcpy(out + 40, in, sizeof in);
	out[40 + sizeof in] = 0;
	tap_is_int(inflate_raw(out + 40, sizeof in + 1, out, len, &e), -ERR_BAD_DATA, "bytes behind the end");
	tap_is_int(inflate_raw("\x03\x00", 2, NULL, 0, &e), 0, "an empty stream");
	tap_is_int(inflate_raw("\xff\xff\xff", 3, out, 8, &e), -ERR_BAD_DATA, "no stream at all");
}

static void errors(void)
{
	struct err e = { 0, "" };

	tap_is_int(err_set(&e, -ERR_IO, "cannot read %s", "a\nb\033"), -ERR_IO, "the code comes back");
	tap_is_str(e.text, "cannot read a b ", "one line, no control characters");
	err_prefix(&e, "run %d", 3);
	tap_is_int(e.code, -ERR_IO, "a prefix keeps the code");
	tap_is_str(e.text, "run 3: cannot read a b ", "and comes first");
	tap_is_int(err_set(NULL, -ERR_IO, "x"), -ERR_IO, "NULL is fine");
	err_set(&e, -ERR_BAD_DATA, "%s again", e.text);
	tap_is_str(e.text, "run 3: cannot read a b  again", "a text may quote itself");
	tap_is_int(err_exit_status(0), 0, "status of success");
	tap_is_int(err_exit_status(-ERR_BAD_DATA), 65, "status of bad data");
	tap_is_int(err_exit_status(-ERR_TERMINATED), 143, "status of TERM");
	tap_is_int(err_exit_status(-9999), 70, "an unknown code is a bug");
	for (int i = 1; i < ERR_COUNT; i++)
		tap_ok(err_exit_status(-i) > 0 && *err_name(-i), "row %d is complete", i);
}

static void arenas(void)
{
	struct arena a;
	char *first, *big;
	bool good = true;

	arena_init(&a);
	first = arena_strdup(&a, "first");
	for (size_t i = 1; i < 3000; i++) {
		char *p = arena_alloc(&a, i, 3);

		good &= !((uintptr_t)p & 15) && !p[0] && !p[3 * i - 1];
		memset(p, 0xff, 3 * i);
	}
	tap_ok(good, "arena memory is zeroed and aligned");
	tap_is_str(first, "first", "and not moved");
	big = arena_alloc(&a, 1, 5 << 20);
	tap_ok(!big[0] && !big[(5 << 20) - 1], "large pieces fit");
	tap_is_str(arena_printf(&a, "%s %d", first, 7), "first 7", "formatted text");
	tap_is_str(arena_strndup(&a, "abcdef", 3), "abc", "part of a text");
	unsigned *list = NULL, n = 0;
	good = true;
	while (n < 1000) {
		unsigned *one = arena_push(&a, list, n);
		good &= *one == 0;
		*one = n;
	}
	for (unsigned i = 0; i < n; i++)
		good &= list[i] == i + 1;
	tap_ok(good, "a list keeps its elements as it grows, new ones are zeros");
	arena_release(&a);
	tap_ok(!a.top && !a.nbytes, "released");
	tap_is_str(arena_strdup(&a, "again"), "again", "usable again");
	arena_release(&a);
	tap_ok(!mem_try(SIZE_MAX / 2, 3), "an overflowing size is no memory");
}

static void machine(void)
{
	const char *rule;
	char stamp[32], iso[32];

	tap_ok(isa_best() >= ISA_BASELINE && isa_best() < ISA_COUNT && !isa_obstacle(isa_best()),
		"kernel set %d", isa_best());
	setenv("OMP_NUM_THREADS", "3,2", 1);
	tap_ok(cpus_threads(&rule) == 3 && !strcmp(rule, "OMP_NUM_THREADS"), "OMP_NUM_THREADS rules");
	setenv("OMP_NUM_THREADS", "none", 1);
	tap_ok(cpus_threads(&rule) >= 1 && *rule, "else %u threads by %s", cpus_threads(NULL), rule);
	tap_ok(cpus_memory_available() > 1 << 20, "memory available: %llu MiB",
		(unsigned long long)(cpus_memory_available() >> 20));
	tap_ok(*cpus_model(), "processor: %s", cpus_model());
	clock_stamp(stamp, sizeof stamp);
	clock_iso(iso, sizeof iso);
	tap_ok(strlen(stamp) == 15 && stamp[8] == '-', "stamp %s", stamp);
	tap_ok(strlen(iso) == 20 && iso[19] == 'Z', "time %s", iso);
	tap_ok(clock_seconds() <= clock_seconds() && clock_wall() > 1.6e9, "clocks run forwards");
}

/* Largest error of e^(i angle) over many angles, and whether an angle has the same bits alone and among others; so has
 * e^(i pi t). */
static double worst_turn(double range, bool *same)
{
	enum { N = 4001 };
	static double angle[N];
	static cplx e[N], of_pi[N];
	double worst = 0;

	for (int k = 0; k < N; k++)
		angle[k] = range * (k - N / 2) / (N / 2) + 1e-3 * (k % 3);
	cplx_exp_i_all(N, angle, e);
	cplx_exp_i_pi_all(N, angle, of_pi);
	*same = true;
	for (int k = 0; k < N; k++) {
		cplx one = cplx_exp_i(angle[k]), one_pi = cplx_exp_i_pi(angle[k]);

		worst = fmax(worst, fmax(fabs((double)(creal(e[k]) - cosl(angle[k]))), fabs((double)(cimag(e[k]) - sinl(angle[k])))));
		*same = *same && memcmp(&one, &e[k], sizeof one) == 0 && memcmp(&one_pi, &of_pi[k], sizeof one) == 0;
	}
	return worst;
}

static void turns(void)
{
	static const double range[] = { 1e-6, 0.8, 7, 1e3, 5e5, 1e6, 1e15 };
	static const cplx quarter[] = { 1, CMPLX(0, 1), -1, CMPLX(0, -1) };
	bool exact = true, same;
	cplx odd[3], odd_pi[3];

	for (size_t k = 0; k < sizeof range / sizeof *range; k++) {
		double worst = worst_turn(range[k], &same);

		tap_ok(worst < 2.3e-16, "e^(i angle) up to %g is off by at most %.2g", range[k], worst);
		tap_ok(same, "and has the same bits alone and among others");
	}
	for (int k = -9; k < 9; k++)
		exact = exact && cplx_exp_i_pi(k / 2.0) == quarter[k & 3] && cplx_exp_i_pi(k / 2.0 + 8e14) == quarter[k & 3];
	tap_ok(exact, "quarter turns are exact");
	tap_close(creal(cplx_exp_i_pi(1 / 3.0)), 0.5, 1e-15, "cos(pi/3) by parts of pi");
	cplx_exp_i_all(3, (double[]){ 0, INFINITY, NAN }, odd);
	cplx_exp_i_pi_all(3, (double[]){ 0.5, INFINITY, NAN }, odd_pi);
	tap_ok(odd[0] == 1 && isnan(creal(odd[1])) && isnan(cimag(odd[1])) && isnan(creal(odd[2])) && isnan(creal(cplx_exp_i(-INFINITY)))
		&& isnan(creal(cplx_exp_i_pi(NAN))) && odd_pi[0] == cplx_of(0, 1) && isnan(creal(odd_pi[1])) && isnan(creal(odd_pi[2])),
		"what is not finite has no cosine");
}

static void maths(void)
{
	cplx v = cplx_exp_i(PI / 3), w = cplx_mul(v, cplx_of(2, 1));

	tap_close(creal(v), 0.5, 1e-15, "cos(pi/3)");
	tap_close(cimag(v), 0.8660254037844386, 1e-15, "sin(pi/3)");
	tap_close(creal(w), 1 - 0.8660254037844386, 1e-15, "real part of a product");
	tap_close(cimag(w), 0.5 + 2 * 0.8660254037844386, 1e-15, "imaginary part of a product");
	tap_ok(maths_digest() == maths_digest() && maths_digest(), "the digest is steady");
}

int main(void)
{
	sha256();
	deflated();
	errors();
	arenas();
	machine();
	maths();
	turns();
	return tap_done();
}
