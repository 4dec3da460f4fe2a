/* SPDX-License-Identifier: Apache-2.0
 * .npz archives: round trips, another writer's file, every flipped bit, limits. */
#include "runtime/data/dataset.h"

#include "runtime/data/format/npz.h"
#include "tests/tap.h"

/* x = (3, 2) 1 ... 6 and y = (3,) 1 -1 1 as integers, deflated by Python's zipfile,
 * with the ZIP64 fields that NumPy's savez_compressed asks for. */
static const uint8_t deflated[] = {
	0x50, 0x4b, 0x03, 0x04, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00,
	0x47, 0xaf, 0xe6, 0xa8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x05, 0x00,
	0x14, 0x00, 0x78, 0x2e, 0x6e, 0x70, 0x79, 0x01, 0x00, 0x10, 0x00, 0xb0, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x5a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9b,
	0xec, 0x17, 0xea, 0x1b, 0x10, 0xc9, 0xc8, 0x50, 0xc6, 0x50, 0xad, 0x9e, 0x92, 0x5a,
	0x9c, 0x5c, 0xa4, 0x6e, 0xa5, 0xa0, 0x6e, 0x93, 0x66, 0xa1, 0xae, 0xa3, 0xa0, 0x9e,
	0x96, 0x5f, 0x54, 0x52, 0x94, 0x98, 0x17, 0x9f, 0x5f, 0x94, 0x92, 0x0a, 0x12, 0x77,
	0x4b, 0xcc, 0x29, 0x4e, 0x05, 0x8a, 0x17, 0x67, 0x24, 0x16, 0xa4, 0x02, 0xf9, 0x1a,
	0xc6, 0x3a, 0x0a, 0x46, 0x9a, 0x3a, 0x0a, 0xb5, 0x0a, 0x64, 0x03, 0x2e, 0x06, 0x30,
	0xf8, 0x60, 0x0f, 0xa1, 0x19, 0x1c, 0x20, 0x14, 0x07, 0x94, 0x16, 0x80, 0xd2, 0x22,
	0x50, 0x5a, 0xc2, 0x01, 0x00, 0x50, 0x4b, 0x03, 0x04, 0x2d, 0x00, 0x00, 0x00, 0x08,
	0x00, 0x00, 0x00, 0x21, 0x00, 0x98, 0x3e, 0xbe, 0xdc, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0x05, 0x00, 0x14, 0x00, 0x79, 0x2e, 0x6e, 0x70, 0x79, 0x01, 0x00,
	0x10, 0x00, 0x98, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x4c, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x9b, 0xec, 0x17, 0xea, 0x1b, 0x10, 0xc9, 0xc8, 0x50, 0xc6,
	0x50, 0xad, 0x9e, 0x92, 0x5a, 0x9c, 0x5c, 0xa4, 0x6e, 0xa5, 0xa0, 0x6e, 0x93, 0x69,
	0xa1, 0xae, 0xa3, 0xa0, 0x9e, 0x96, 0x5f, 0x54, 0x52, 0x94, 0x98, 0x17, 0x9f, 0x5f,
	0x94, 0x92, 0x0a, 0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x05, 0x8a, 0x17, 0x67, 0x24,
	0x16, 0xa4, 0x02, 0xf9, 0x1a, 0xc6, 0x3a, 0x9a, 0x3a, 0x0a, 0xb5, 0x0a, 0x14, 0x00,
	0x2e, 0x46, 0x06, 0x08, 0xf8, 0x0f, 0x05, 0x30, 0x3e, 0x00, 0x50, 0x4b, 0x01, 0x02,
	0x2d, 0x03, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x47, 0xaf,
	0xe6, 0xa8, 0x5a, 0x00, 0x00, 0x00, 0xb0, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00,
	0x78, 0x2e, 0x6e, 0x70, 0x79, 0x50, 0x4b, 0x01, 0x02, 0x2d, 0x03, 0x2d, 0x00, 0x00,
	0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x98, 0x3e, 0xbe, 0xdc, 0x4c, 0x00, 0x00,
	0x00, 0x98, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x80, 0x01, 0x91, 0x00, 0x00, 0x00, 0x79, 0x2e, 0x6e, 0x70, 0x79,
	0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x02, 0x00, 0x66, 0x00,
	0x00, 0x00, 0x14, 0x01, 0x00, 0x00, 0x00, 0x00,
};

static double x_value[] = { 1, 2, 3, 4, 5, 6 }, y_value[] = { 1, -1, 1 };

static struct npz_member member[] = {
	{ "x", { 2, { 3, 2 }, false, 6, x_value } },
	{ "y", { 1, { 3 }, false, 3, y_value } },
};
static const struct npz sample = { 2, member };

static bool is_sample(const struct npz *z)
{
	const struct array *x = npz_find(z, "x"), *y = npz_find(z, "y");

	return z->n == 2 && x && y && x->ndim == 2 && x->dim[0] == 3 && x->dim[1] == 2 && y->ndim == 1
		&& !memcmp(x->value, x_value, sizeof x_value) && !memcmp(y->value, y_value, sizeof y_value);
}

/* From a copy of exact size, so that overruns show. */
static int parse(const char *bytes, size_t len, struct npz *z, struct err *e)
{
	char *copy = malloc(len ? len : 1);
	int code;

	memcpy(copy, bytes, len);
	if (e)
		e->text[0] = '\0';
	code = npz_parse(copy, len, z, e);
	free(copy);
	return code;
}

static bool reads_sample(const char *bytes, size_t len)
{
	struct npz z;
	bool good;

	if (parse(bytes, len, &z, NULL))
		return false;
	good = is_sample(&z);
	npz_free(&z);
	return good;
}

static uint32_t u32_at(const char *p)
{
	struct rd r = { (const uint8_t *)p, 4, 0, 0 };

	return rd_u32(&r);
}

/* What a flipped bit may do. PACKED: two deflate streams can mean the same bytes (a
 * copy from another place of a run), so it is noticed or changes nothing. */
enum { MUST_SHOW = 0, IS_FREE, IS_PACKED };

/* Free are bytes that say nothing about data, names or sizes: versions, attributes. */
static void mark(const char *bytes, size_t len, char *kind)
{
	size_t at = u32_at(bytes + len - 6), local, extra;

	for (int k = 0; k < 2; k++) {
		local = u32_at(bytes + at + 42);
		extra = (unsigned char)bytes[local + 28];
		memset(kind + at + 4, IS_FREE, 4);
		memset(kind + at + 36, IS_FREE, 6);
		memset(kind + local + 4, IS_FREE, 2);
		if (bytes[local + 8])
			memset(kind + local + 30 + 5 + extra, IS_PACKED, u32_at(bytes + at + 20));
		at += 46 + 5;
	}
}

static void every_bit(const char *original, size_t len, const char *what)
{
	char *bytes = malloc(len);
	char *kind = calloc(len, 1);
	size_t silent = 0;
	struct npz z;
	struct err e;

	memcpy(bytes, original, len);
	mark(bytes, len, kind);
	for (size_t i = 0; i < 8 * len; i++) {
		bool noticed, same = false;

		bytes[i / 8] ^= (char)(1 << i % 8);
		noticed = parse(bytes, len, &z, &e) == -ERR_BAD_DATA && *e.text;
		if (!noticed) {
			same = is_sample(&z);
			npz_free(&z);
		}
		silent += !noticed && kind[i / 8] == IS_PACKED;
		if ((!noticed && (!same || kind[i / 8] == MUST_SHOW)) || (noticed && kind[i / 8] == IS_FREE))
			tap_ok(false, "%s: bit %zu of byte %zu", what, i % 8, i / 8);
		bytes[i / 8] ^= (char)(1 << i % 8);
	}
	tap_ok(reads_sample(bytes, len), "%s: every flipped bit of data, names and sizes is noticed", what);
	tap_ok(silent <= len / 50, "%s: packed bits that change nothing: %zu", what, silent);
	free(kind);
	free(bytes);
}

static void every_length(const char *bytes, size_t len, const char *what)
{
	struct npz z;
	struct err e;
	bool all = true;

	for (size_t n = 0; n < len; n++)
		all &= parse(bytes, n, &z, &e) == -ERR_BAD_DATA && *e.text;
	tap_ok(all, "%s: cut off anywhere, it is refused with a reason", what);
}

static void round_trip(void)
{
	struct buf b = BUF_INIT, c = BUF_INIT;
	struct npz z;
	struct err e;

	tap_ok(!npz_format(&sample, &b, &e) && !npz_format(&sample, &c, &e) && b.len == c.len
		&& !memcmp(b.data, c.data, b.len), "equal arrays are equal files");
	tap_ok(reads_sample(b.data, b.len), "stored members are read back");
	tap_ok(reads_sample((const char *)deflated, sizeof deflated), "deflated ones of another writer, too");
	every_bit(b.data, b.len, "stored");
	every_bit((const char *)deflated, sizeof deflated, "deflated");
	every_length(b.data, b.len, "stored");
	every_length((const char *)deflated, sizeof deflated, "deflated");
	buf_char(&b, 0);
	tap_is_int(npz_parse(b.data, b.len, &z, &e), -ERR_BAD_DATA, "a byte too many is refused");
	tap_is_int(npz_write("s.npz", &sample, &e), 0, "written to a file");
	tap_ok(!npz_read("s.npz", &z, &e) && is_sample(&z), "and read from it");
	npz_free(&z);
	tap_is_int(npz_read("none.npz", &z, &e), -ERR_NO_INPUT, "a missing file");
	buf_release(&b);
	buf_release(&c);
}

/* Puts `value` at an offset of both headers of the first member (local, directory). */
static void patch(char *bytes, size_t len, size_t offset, uint32_t value, size_t nbytes)
{
	char *entry = bytes + u32_at(bytes + len - 6);

	for (size_t i = 0; i < nbytes; i++)
		bytes[offset + i] = entry[offset + 2 + i] = (char)(value >> 8 * i);
}

static void refused(void)
{
	static const struct { const char *what, *want; size_t offset; uint32_t value; size_t nbytes; } row[] = {
		{ "encryption", "member \"x\": it is encrypted or written as a stream; neither is read", 6, 1, 2 },
		{ "a stream", "member \"x\": it is encrypted or written as a stream; neither is read", 6, 8, 2 },
		{ "a method", "member \"x\": packing method 12 is unknown", 8, 12, 2 },
		{ "false packing", "member \"x\": compressed data are damaged", 8, 8, 2 },
		{ "a size", "member \"x\": its sizes differ though it is not compressed", 22, 1, 4 },
		{ "a checksum", "member \"x\": the CRC-32 is wrong: the data are damaged", 14, 1, 4 },
	};
	struct buf b = BUF_INIT;
	struct npz z;
	struct err e;

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		buf_clear(&b);
		npz_format(&sample, &b, &e);
		patch(b.data, b.len, row[i].offset, row[i].value, row[i].nbytes);
		tap_is_int(parse(b.data, b.len, &z, &e), -ERR_BAD_DATA, "refused: %s", row[i].what);
		tap_is_str(e.text, row[i].want, "with its reason");
	}
	buf_clear(&b);
	npz_format(&sample, &b, &e);
	memcpy(b.data + 30, "x.txt", 5);
	memcpy(b.data + u32_at(b.data + b.len - 6) + 46, "x.txt", 5);
	tap_ok(parse(b.data, b.len, &z, &e) && !strcmp(e.text, "member \"x.txt\" is no .npy array"),
		"a member that is no array");
	buf_release(&b);
}

static void bombs(void)
{
	struct buf b = BUF_INIT;
	struct npz z;
	struct err e;

	/* Declares 4 GiB less two bytes out of 176 stored as if deflated. */
	npz_format(&sample, &b, &e);
	patch(b.data, b.len, 8, 8, 2);
	patch(b.data, b.len, 22, 0xfffffffe, 4);
	tap_ok(parse(b.data, b.len, &z, &e) && !strcmp(e.text,
		"member \"x\": 176 bytes cannot hold the 4294967294 it declares"), "a size no deflate reaches");
	buf_release(&b);
}

static void limits(void)
{
	struct npz many = { 0, calloc(NPZ_MEMBERS_MAX + 1, sizeof *many.member) }, z;
	struct buf b = BUF_INIT;
	char (*name)[16] = calloc(NPZ_MEMBERS_MAX + 1, sizeof *name), long_name[NPZ_NAME_MAX];
	struct npz_member one = { long_name, { 1, { 3 }, false, 3, y_value } };
	struct err e;

	for (unsigned i = 0; i <= NPZ_MEMBERS_MAX; i++) {
		snprintf(name[i], sizeof name[i], "a%u", i);
		many.member[i] = (struct npz_member){ name[i], { 1, { 0 }, false, 0, NULL } };
	}
	many.n = NPZ_MEMBERS_MAX;
	tap_ok(!npz_format(&many, &b, &e) && !npz_parse(b.data, b.len, &z, &e) && z.n == NPZ_MEMBERS_MAX,
		"members at the limit");
	npz_free(&z);
	b.data[b.len - 14]++;
	b.data[b.len - 12]++;
	tap_ok(npz_parse(b.data, b.len, &z, &e) && !strcmp(e.text, "4097 members, more than 4096"),
		"one beyond is not read");
	many.n++;
	tap_is_int(npz_format(&many, &b, &e), -ERR_BAD_DATA, "nor written");
	memset(long_name, 'n', sizeof long_name);
	long_name[NPZ_NAME_MAX - 4] = '\0';
	buf_clear(&b);
	tap_ok(!npz_format(&(struct npz){ 1, &one }, &b, &e) && !npz_parse(b.data, b.len, &z, &e)
		&& npz_find(&z, long_name), "a name at the limit");
	npz_free(&z);
	long_name[NPZ_NAME_MAX - 4] = 'n';
	long_name[NPZ_NAME_MAX - 3] = '\0';
	tap_is_int(npz_format(&(struct npz){ 1, &one }, &b, &e), -ERR_BAD_DATA, "one beyond");
	name[1][1] = '0';
	many.n = 2;
	buf_clear(&b);
	npz_format(&many, &b, &e);
	tap_ok(npz_parse(b.data, b.len, &z, &e) && !strcmp(e.text, "two members are named \"a0\""),
		"two members of one name");
	buf_clear(&b);
	many.n = 0;
	tap_ok(!npz_format(&many, &b, &e) && !npz_parse(b.data, b.len, &z, &e) && z.n == 0, "no member at all");
	npz_free(&z);
	buf_release(&b);
	free(name);
	free(many.member);
}

int main(void)
{
	round_trip();
	refused();
	bombs();
	limits();
	return tap_done();
}
