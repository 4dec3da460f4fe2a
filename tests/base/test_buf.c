/* SPDX-License-Identifier: Apache-2.0
 * Buffers: numbers as text and back, JSON strings, cursors, files. */
#include "runtime/base/buf.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "runtime/base/rng.h"
#include "runtime/base/system/file_parts.h"
#include "tests/tap.h"

static void reals(void)
{
	static const struct { double v; const char *text; } row[] = {
		{ 0, "0" }, { -0.0, "-0" }, { 1, "1" }, { 0.1, "0.1" }, { 1e-7, "1e-07" },
		{ 1.0 / 3, "0.3333333333333333" }, { 0.1 + 0.2, "0.30000000000000004" },
		{ 5e-324, "5e-324" }, { 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ 123456789012, "123456789012" }, { INFINITY, "inf" }, { -INFINITY, "-inf" },
	};
	struct buf b = BUF_INIT;
	bool same = true, json = true;

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		buf_clear(&b);
		buf_real(&b, row[i].v);
		tap_is_str(b.data, row[i].text, "%s", row[i].text);
	}
	for (int i = 0; i < 100000; i++) {
		uint64_t bits = rng_u64(1, RNG_TEST, 0, i);
		double v, back;

		memcpy(&v, &bits, sizeof v);
		if (!isfinite(v))
			continue;
		buf_clear(&b);
		buf_json_f64(&b, v);
		back = strtod(b.data, NULL);
		same &= !memcmp(&v, &back, sizeof v);
		json &= strspn(b.data, "0123456789.e+-") == b.len;
	}
	tap_ok(same, "100000 random bit patterns read back to the same bits");
	tap_ok(json, "as JSON numbers");
	buf_clear(&b);
	buf_json_f64(&b, NAN);
	tap_is_str(b.data, "null", "not a number is null in JSON");
	buf_release(&b);
}

static void json_strings(void)
{
	struct buf b = BUF_INIT;

	buf_json_str(&b, "a\"b\\c\n\x01\x7f \xc3\xa4 \xff \xed\xa0\x80 \xf0\x9f\x98\x80 \xc3");
	tap_is_str(b.data, "\"a\\\"b\\\\c\\n\\u0001\\u007f \xc3\xa4 \\ufffd \\ufffd\\ufffd\\ufffd "
		"\xf0\x9f\x98\x80 \\ufffd\"", "escapes, UTF-8 and broken UTF-8");
	buf_clear(&b);
	buf_char(&b, '{');
	buf_json(&b, ", \"a\": [");
	for (unsigned k = 0; k < 2; k++)
		buf_json(&b, ", %u", k);
	buf_json(&b, "], %s: %g, \"c\": %i, \"d\": %d, \"e\": %llu", "\"", NAN, true, -1, 1ull << 63);
	buf_json(&b, ", \"f\": \"%04u\", \"g\": %zu, \"h\": %lu}", 7u, (size_t)8, 1ul << 40);
	tap_is_str(b.data,
		"{\"a\": [0, 1], \"\\\"\": null, \"c\": true, \"d\": -1, \"e\": 9223372036854775808"
		", \"f\": \"0007\", \"g\": 8, \"h\": 1099511627776}",
		"parts of JSON, with commas where they belong");
	buf_release(&b);
}

/* What jansson holds, with the heap's own word for each piece. */
static size_t held;

static void *counted_malloc(size_t n)
{
	void *p = malloc(n);

	held += p ? malloc_usable_size(p) + sizeof n : 0;
	return p;
}

static void counted_free(void *p)
{
	held -= p ? malloc_usable_size(p) + sizeof(size_t) : 0;
	free(p);
}

/* Arrays of many such elements, and an object of many members. */
static void json_memories(void)
{
	enum { MANY = 70000 };
	static const char *const element[] = { "0,", "0.5,", "\"\",", "\"0123456789012345678901234\",",
		"[],", "{},", "[[[0]]],", "{\"a\":0},", "[0,0,0,0,0,0,0,0,0]," };
	const unsigned nelement = sizeof element / sizeof *element;
	struct buf b = BUF_INIT;
	struct err e;

	json_set_alloc_funcs(counted_malloc, counted_free);
	for (unsigned k = 0; k <= nelement; k++) {
		buf_clear(&b);
		buf_char(&b, k < nelement ? '[' : '{');
		for (unsigned i = 0; i < MANY; i++)
			if (k < nelement)
				buf_str(&b, element[k]);
			else
				buf_printf(&b, "\"%u\":0,", i);
		buf_str(&b, k < nelement ? "0]" : "\"\":0}");
		json_t *v = json_read(b.data, b.len, &e);
		uint64_t most = json_memory(b.data, b.len);

		tap_ok(v && held > most / 8 && held <= most,
			"%.12s: %zu bytes of memory, at most %llu", b.data, held,
			(unsigned long long)most);
		json_decref(v);
	}
	/* Blanks count one byte each, so that a text can have any need. */
	buf_clear(&b);
	buf_char(&b, '[');
	uint64_t each = json_memory("{},", 3) - json_memory("", 0), n = JSON_MEMORY_MAX / each - 1;
	for (uint64_t i = 0; i < n; i++)
		buf_str(&b, "{},");
	buf_str(&b, "0]");
	buf_pad(&b, ' ', JSON_MEMORY_MAX - json_memory(b.data, b.len));
	tap_ok(json_memory(b.data, b.len) == JSON_MEMORY_MAX,
		"%zu bytes are at the limit of memory", b.len);
	buf_char(&b, ' ');
	tap_ok(!json_read(b.data, b.len, &e) && strstr(e.text, "values for 1024 MiB"),
		"one more is refused: %s", e.text);
	json_set_alloc_funcs(malloc, free);
	buf_release(&b);
}

static void json_trees(void)
{
	static const char text[] = "{\"b\": [1, 1.0, 0.1, null], \"a\": {\"y\": true, \"x\": \"q\\n\"}}";
	char deep[2 * JSON_DEPTH_MAX + 3];
	struct buf b = BUF_INIT;
	struct err e;
	json_t *v = json_read(text, strlen(text), &e);

	json_write(v, &b);
	tap_is_str(b.data, "{\"a\":{\"x\":\"q\\n\",\"y\":true},\"b\":[1,1.0,0.1,null]}", "canonical JSON");
	json_decref(v);
	tap_ok(!json_read("{\"a\": 1,\n \"a\": 2}", 17, &e) && strstr(e.text, "line 2"),
		"a repeated key is refused with its line");
	memset(deep, '[', JSON_DEPTH_MAX + 1);
	memset(deep + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
	tap_ok(!json_read(deep, 2 * JSON_DEPTH_MAX + 2, &e), "nesting beyond the limit is refused");
	v = json_read(deep + 1, 2 * JSON_DEPTH_MAX, &e);
	tap_ok(v != NULL, "nesting at the limit is not");
	json_decref(v);
	buf_release(&b);
}

static void bytes(void)
{
	static const uint8_t want[] = { 1, 3, 2, 7, 6, 5, 4, 0xff, 0, 0, 0, 0, 0, 0, 0x80,
		0, 0, 0, 0, 0, 0, 0xf0, 0x3f };
	struct buf b = BUF_INIT;
	struct rd r;

	buf_u8(&b, 1);
	buf_u16(&b, 0x203);
	buf_u32(&b, 0x4050607);
	buf_u64(&b, 0x80000000000000ff);
	buf_f64(&b, 1.0);
	tap_is_int((long long)b.len, sizeof want, "bytes written");
	tap_is_mem(b.data, want, sizeof want, "little-endian");
	r = (struct rd){ (const uint8_t *)b.data, b.len, 0, 0 };
	tap_ok(rd_u8(&r) == 1 && rd_u16(&r) == 0x203 && rd_u32(&r) == 0x4050607
		&& rd_u64(&r) == 0x80000000000000ff && rd_f64(&r) == 1.0 && !r.bad, "and back");
	tap_ok(rd_u8(&r) == 0 && r.bad && r.at == b.len, "past the end reads 0 and says so");
	r = (struct rd){ (const uint8_t *)b.data, b.len, 1, 0 };
	tap_ok(!rd_bytes(&r, SIZE_MAX) && r.bad, "a huge length does not wrap");
	r.bad = 0;
	tap_ok(rd_bytes(&r, b.len - 1) && !rd_bytes(&r, 1) && !rd_bytes(&r, 0), "bad stays set");
	buf_release(&b);
}

static void files(void)
{
	struct buf b = BUF_INIT, c = BUF_INIT;
	struct stat st;
	struct err e;

	buf_pad(&b, 'x', 200000);
	tap_is_int(buf_write_file(&b, "f", 1, &e), 0, "a file is written");
	tap_is_int(buf_read_file(&c, "f", 200000, &e), 0, "and read at the limit");
	tap_ok(c.len == b.len && !memcmp(c.data, b.data, b.len + 1), "with the same bytes and a NUL");
	tap_is_int(buf_read_file(&c, "f", 199999, &e), -ERR_BAD_DATA, "one byte beyond the limit");
	tap_is_str(e.text, "f is larger than the limit of 199999 bytes", "is named");
	tap_ok(c.len == b.len, "and leaves the buffer as it was");
	tap_is_int(buf_read_file(&c, "none", 10, &e), -ERR_NO_INPUT, "a missing file");
	tap_is_int(buf_read_file(&c, ".", 10, &e), -ERR_NO_INPUT, "a folder is no file");
	tap_ok(buf_is_temporary("w.bin.tmp-123-0") && buf_is_temporary("a.tmp-1-0.tmp-7-99"), "names of temporary files");
	tap_ok(!buf_is_temporary("w.tmp-123") && !buf_is_temporary("w.tmp-1-2.txt") && !buf_is_temporary("w.bin")
		&& !buf_is_temporary("tmp-1-2"), "and of others");
	tap_is_int(buf_write_file(&b, "none/f", 0, &e), -ERR_CANT_CREATE, "a missing folder");
	tap_is_int(buf_write_file(&b, ".", 0, &e), -ERR_CANT_CREATE, "a folder cannot be written");
	tap_is_int(buf_write_file(&b, "/dev/null", 0, &e), 0, "a device is written to");
	tap_ok(!stat("/dev/null", &st) && S_ISCHR(st.st_mode), "and stays a device");
	buf_clear(&b);
	tap_ok(!symlink("f", "link") && !buf_write_file(&b, "link", 0, &e) && !lstat("link", &st)
		&& S_ISLNK(st.st_mode), "a link stays a link");
	tap_ok(!buf_read_file(&c, "f", 10, &e) && c.len == 0, "and its file is replaced");
	tap_ok(!mkdir("folder", 0777) && !symlink("second", "folder/first") && !symlink("folder/first", "far") && !buf_write_file(&b, "far", 0, &e)
		&& !lstat("far", &st) && S_ISLNK(st.st_mode) && !lstat("folder/first", &st) && S_ISLNK(st.st_mode), "so do links to what is not there");
	tap_ok(!lstat("folder/second", &st) && S_ISREG(st.st_mode), "and that is written");
	tap_ok(!chmod("f", 0664) && !buf_write_file(&b, "f", 0, &e) && !stat("f", &st) && (st.st_mode & 07777) == 0664,
		"a replaced file keeps its mode, whatever the umask");
	/* Only root may give a file to a foreign group. */
	tap_ok(chown("f", (uid_t)-1, 12345) || (!chmod("f", 0640) && !buf_write_file(&b, "f", 0, &e) && !stat("f", &st)
		&& st.st_gid == 12345 && (st.st_mode & 07777) == 0640), "and its group");
	tap_ok(!symlink("none/f", "lost") && buf_write_file(&b, "lost", 0, &e) == -ERR_CANT_CREATE && strstr(e.text, "none/f"), "unless its folder is missing");
	buf_release(&b);
	buf_release(&c);
}

/* In the place of the C library's: a disk that fails for folders, for files, or for none. */
static int fsync_fails_for;

int fsync(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || (st.st_mode & S_IFMT) != (mode_t)fsync_fails_for)
		return 0;
	errno = EIO;
	return -1;
}

static void syncing(void)
{
	struct buf old = BUF_INIT, new = BUF_INIT, got = BUF_INIT;
	struct err e;

	buf_str(&old, "old");
	buf_str(&new, "new");
	buf_write_file(&old, "s", 1, &e);
	fsync_fails_for = S_IFREG;
	tap_is_int(buf_write_file(&new, "s", 1, &e), -ERR_IO, "a file that cannot be synced");
	buf_read_file(&got, "s", 10, &e);
	tap_is_str(got.data, "old", "leaves the old one");
	fsync_fails_for = S_IFDIR;
	tap_is_int(buf_write_file(&new, "s", 1, &e), -ERR_IO, "a folder that cannot be synced");
	tap_ok(strstr(e.text, "s is written, but its folder cannot be synced (Input/output error): a power cut may undo it") != NULL,
		"says what is there: %s", e.text);
	buf_read_file(&got, "s", 10, &e);
	tap_is_str(got.data, "new", "and it is");
	tap_is_int(buf_write_file(&new, "s", 0, &e), 0, "without sync nothing fails");
	fsync_fails_for = 0;
	buf_release(&old);
	buf_release(&new);
	buf_release(&got);
}

/* The sum of all bytes but the seal's, as two hexadecimal digits. */
static void make_sum(const struct file_parts *f, char *seal)
{
	unsigned char sum = 0;
	char digits[3];

	for (size_t i = 0; i < f->npart; i++)
		for (size_t k = 0; k < f->part[i].len; k++)
			if (i || k < f->seal_at || k >= f->seal_at + f->seal_len)
				sum += (unsigned char)f->part[i].p[k];
	snprintf(digits, sizeof digits, "%02x", sum);
	memcpy(seal, digits, f->seal_len);
}

/* Small files are joined, large ones written from where they are, with the seal behind all. */
static void parts(void)
{
	static const struct { size_t first, at, n, size; } f[] = { { 2, 0, 0, 0 }, { 100, 98, 3, 7 }, { 10, 4, 1, 1 << 18 }, { 70000, 5000, 300, 1000 },
		{ 66000, 65990, 3, 1 << 20 }, { 40, 8, 5, 65535 }, { 40, 8, 5, 65536 }, { 3 << 20, (3 << 20) - 2, 2, 0 } };
	struct err e;

	for (size_t i = 0; i < sizeof f / sizeof *f; i++) {
		struct file_parts parts = { .seal_at = f[i].at, .seal_len = 2, .make = make_sum };
		struct buf all = BUF_INIT, want = BUF_INIT, got = BUF_INIT;

		for (size_t k = 0; k < f[i].first + f[i].n * f[i].size; k++)
			buf_char(&all, (int)(k * k % 251));
		file_parts_add(&parts, all.data, f[i].first);
		for (size_t k = 0; k < f[i].n; k++)
			file_parts_add(&parts, all.data + f[i].first + k * f[i].size, f[i].size);
		buf_add(&want, all.data, all.len);
		make_sum(&parts, want.data + f[i].at);
		tap_is_int((long long)file_parts_size(&parts), (long long)all.len, "%zu bytes in %zu parts", all.len, parts.npart);
		file_parts_join(&parts, &got);
		tap_ok(got.len == want.len && !memcmp(got.data, want.data, want.len), "joined and sealed");
		fsync_fails_for = S_IFREG;
		unlink("sealed");
		tap_ok(file_replace("sealed", file_parts_put, &parts, 1, &e) == -ERR_IO
				&& access("sealed", F_OK),
			"nothing is there when it cannot be synced");
		fsync_fails_for = 0;
		tap_is_int(file_replace("sealed", file_parts_put, &parts, 1, &e), 0,
			"then it is written");
		tap_ok(!buf_read_file(&got, "sealed", want.len, &e) && got.len == want.len && !memcmp(got.data, want.data, want.len),
			"and sealed");
		parts.make = NULL;
		tap_ok(!file_replace("sealed", file_parts_put, &parts, 1, &e)
				&& !buf_read_file(&got, "sealed", want.len, &e)
				&& got.len == want.len && !memcmp(got.data, all.data, all.len),
			"without a seal it is what the parts are");
		file_parts_release(&parts);
		buf_release(&all);
		buf_release(&want);
		buf_release(&got);
	}
}

static void taking(void)
{
	struct buf b = BUF_INIT;
	char *s = buf_take(&b);

	tap_is_str(s, "", "an empty buffer hands over an empty string");
	free(s);
	buf_printf(&b, "%d-%s", 12, "ab");
	buf_char(&b, 'c');
	s = buf_take(&b);
	tap_ok(!strcmp(s, "12-abc") && !b.data && !b.len, "a buffer is empty after handing over");
	free(s);
}

static void scopes_of_descriptors(void)
{
	int copy;

	{
		fd_auto fd = dup(STDERR_FILENO);

		copy = fd;
		errno = ENOENT;
	}
	tap_is_int(errno, ENOENT, "errno outlives a descriptor's scope");
	tap_ok(write(copy, "", 0) < 0 && errno == EBADF, "which closes it");
}

int main(void)
{
	scopes_of_descriptors();
	reals();
	json_strings();
	json_trees();
	json_memories();
	bytes();
	files();
	syncing();
	parts();
	taking();
	return tap_done();
}
