/* SPDX-License-Identifier: Apache-2.0
 * Inputs that stay in their files against the same in memory: rows in any order, what is learnt from them, faults. */
#include "runtime/data/transform/transform.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "runtime/base/rng.h"
#include "runtime/data/format/dataset_read.h"
#include "runtime/data/format/npz.h"
#include "tests/tap.h"

enum { ROWS = 700, COLUMNS = 9, LARGE = 12 };

static const struct input_want whole = { .name = "x", .count = COLUMNS };
static const struct input_want parts[] = { { .name = "a", .count = 4 }, { .name = "b", .count = 5 } };
static const struct input_want state = { .name = "psi", .is_state = true, .count = 2 * COLUMNS };

static double random_value(uint32_t i)
{
	return 20 * rng_uniform(3, RNG_TEST, 0, i) - 7;
}

static void write_bytes(const char *path, const void *p, size_t len)
{
	struct buf b = BUF_INIT;
	struct err e;

	buf_add(&b, p, len);
	if (buf_write_file(&b, path, 0, &e))
		tap_bail("%s", e.text);
	buf_release(&b);
}

static void append(const char *path, const char *text)
{
	FILE *f = fopen(path, "ab");

	fputs(text, f);
	fclose(f);
}

static struct dataset *open_as(const char *path, struct read_options o, bool streamed, struct err *e)
{
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	struct dataset *set = NULL;
	struct buf text = BUF_INIT;
	int code;

	o.streamed = streamed;
	e->text[0] = '\0';
	code = dataset_read(path, &o, d, &set, e);
	if (code && diags_errors(d)) {
		diags_print(d, DIAG_HUMAN, false, &text);
		snprintf(e->text, sizeof e->text, "%s", text.data);
	}
	buf_release(&text);
	diags_free(d);
	source_set_free(s);
	return code ? NULL : set;
}

static bool same_numbers(const double *a, const double *b, size_t n)
{
	return !n || (a && b ? !memcmp(a, b, n * sizeof *a) : a == b);
}

/* Rows in file order, and in another one. */
static bool same_rows(const struct dataset *in_file, const struct dataset *in_memory, struct err *e)
{
	uint32_t n = in_memory->nrow, nx = in_memory->nx, *order = calloc(n, sizeof *order);
	double *x = calloc((size_t)n * nx + 1, sizeof *x), *y = calloc((size_t)n * nx + 1, sizeof *y);
	bool same = !dataset_rows(in_file, NULL, 0, n, x, e) && same_numbers(x, in_memory->x, (size_t)n * nx);

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	rng_shuffle(5, RNG_TEST, 0, order, n);
	order[0] = order[1];
	same = same && !dataset_rows(in_file, order, 0, n, x, e) && !dataset_rows(in_memory, order, 0, n, y, e)
		&& same_numbers(x, y, (size_t)n * nx);
	same = same && !dataset_rows(in_file, NULL, n - 1, 1, x, e) && same_numbers(x, in_memory->x + (size_t)(n - 1) * nx, nx);
	free(order);
	free(x);
	free(y);
	return same;
}

/* As restarts do that are trained side by side. */
struct reader {
	const struct dataset *in_file, *in_memory;
	bool same;
};

static void *read_often(void *arg)
{
	struct reader *r = arg;
	struct err e;

	for (unsigned k = 0; k < 10 && r->same; k++)
		r->same = same_rows(r->in_file, r->in_memory, &e);
	return NULL;
}

static bool same_side_by_side(const struct dataset *in_file, const struct dataset *in_memory)
{
	struct reader r[2] = { { in_file, in_memory, true }, { in_file, in_memory, true } };
	pthread_t other;

	if (pthread_create(&other, NULL, read_often, &r[1]))
		tap_bail("no second thread");
	read_often(&r[0]);
	pthread_join(other, NULL);
	return r[0].same && r[1].same;
}

static void compare(const char *path, const struct read_options *o, const char *what)
{
	static const struct transform_wish wish[] = { { .kind = TRANSFORM_standardize }, { .kind = TRANSFORM_l2 },
		{ TRANSFORM_pca, { 3 } }, { TRANSFORM_min_max, { -1, 2 } } };
	struct err e = { 0 };
	struct dataset *in_file = open_as(path, *o, true, &e), *in_memory = in_file ? open_as(path, *o, false, &e) : NULL;
	struct transform t = { .nstep = 0 }, u = { .nstep = 0 };
	struct buf a = BUF_INIT, b = BUF_INIT;
	uint32_t order[ROWS];
	bool well;

	if (!tap_ok(in_file && in_memory, "%s is read both ways%s", what, e.text))
		return;
	tap_ok(in_file->rows && !in_file->x && in_memory->x, "%s: one stays in its file", what);
	tap_ok(in_file->nrow == in_memory->nrow && in_file->nx == in_memory->nx && in_file->ny == in_memory->ny
		&& same_numbers(in_file->y, in_memory->y, (size_t)in_memory->nrow * in_memory->ny)
		&& same_numbers(in_file->weight, in_memory->weight, in_memory->weight ? in_memory->nrow : 0)
		&& !memcmp(in_file->digest, in_memory->digest, sizeof in_memory->digest), "%s: labels, weights, digest", what);
	tap_ok(same_rows(in_file, in_memory, &e), "%s: rows in any order%s", what, e.text);
	for (uint32_t i = 0; i < ROWS; i++)
		order[i] = i;
	rng_shuffle(6, RNG_TEST, 0, order, in_memory->nrow);
	well = !transform_fit(wish, 4, in_file, order, in_memory->nrow - 3, &t, &e) && !transform_fit(wish, 4, in_memory, order, in_memory->nrow - 3, &u, &e);
	transform_format(&t, &a);
	transform_format(&u, &b);
	tap_ok(well && a.len == b.len && !memcmp(a.data, b.data, a.len), "%s: what is learnt, to the bit%s", what, e.text);
	tap_ok(well && in_file->nx == 3 && same_rows(in_file, in_memory, &e), "%s: changed rows%s", what, e.text);
	tap_ok(well && same_side_by_side(in_file, in_memory), "%s: by two threads at once", what);
	tap_ok(!dataset_keep(in_file, (uint64_t)in_memory->nrow * 24 - 1, &e) && !in_file->x, "%s: a byte too many stays in the file", what);
	tap_ok(!dataset_keep(in_file, (uint64_t)in_memory->nrow * 24, &e) && same_numbers(in_file->x, in_memory->x, 3 * in_memory->nrow)
		&& !in_file->rows, "%s: kept%s", what, e.text);
	transform_release(&t);
	transform_release(&u);
	buf_release(&a);
	buf_release(&b);
	dataset_free(in_file);
	dataset_free(in_memory);
}

/* ---- arrays ---- */

static struct array make_array(uint32_t ndim, const uint64_t *dim, bool is_complex, uint32_t from)
{
	struct array a = { .ndim = ndim, .is_complex = is_complex, .count = 1 };

	for (uint32_t k = 0; k < ndim; k++)
		a.count *= a.dim[k] = dim[k];
	a.value = calloc(a.count, 2 * sizeof *a.value);
	for (uint64_t i = 0; i < a.count * (is_complex ? 2 : 1); i++)
		a.value[i] = random_value(from + (uint32_t)i);
	return a;
}

/* The archive with its first member deflated, as NumPy's savez_compressed does. */
static void deflate_member(const char *from, const char *to)
{
	struct buf in = BUF_INIT, out = BUF_INIT;
	uint32_t packed, size, name_len, cut, at;
	unsigned char *data;
	z_stream z = { 0 };
	struct err e;

	if (buf_read_file(&in, from, 1 << 24, &e))
		tap_bail("%s", e.text);
	data = (unsigned char *)in.data;
	memcpy(&size, data + 22, 4);
	name_len = data[26];
	deflateInit2(&z, 9, Z_DEFLATED, -15, 9, 0);
	out.data = calloc(1, in.len + 1000);
	memcpy(out.data, data, 30 + name_len);
	z.next_in = data + 30 + name_len;
	z.avail_in = size;
	z.next_out = (unsigned char *)out.data + 30 + name_len;
	z.avail_out = (unsigned)in.len;
	deflate(&z, Z_FINISH);
	packed = (uint32_t)z.total_out;
	deflateEnd(&z);
	cut = size - packed;
	memcpy(out.data + 30 + name_len + packed, data + 30 + name_len + size, in.len - 30 - name_len - size);
	out.len = in.len - cut;
	out.data[8] = 8;
	memcpy(out.data + 18, &packed, 4);
	memcpy(&at, data + in.len - 6, 4);               /* the directory */
	at -= cut;
	memcpy(out.data + out.len - 6, &at, 4);
	out.data[at + 10] = 8;
	memcpy(out.data + at + 20, &packed, 4);
	for (uint32_t p = at + 46 + name_len, offset; p + 46 < out.len; p += 46 + (unsigned char)out.data[p + 28]) {
		memcpy(&offset, out.data + p + 42, 4);
		offset -= cut;
		memcpy(out.data + p + 42, &offset, 4);
	}
	write_bytes(to, out.data, out.len);
	buf_release(&in);
	free(out.data);
}

static void arrays(void)
{
	struct npz_member m[] = {
		{ "x", make_array(3, (uint64_t[]){ ROWS, 3, 3 }, false, 0) }, { "y", make_array(1, (uint64_t[]){ ROWS }, false, 9000) },
		{ "often", make_array(1, (uint64_t[]){ ROWS }, false, 20000) },
		{ "psi", make_array(2, (uint64_t[]){ ROWS, COLUMNS }, true, 30000) },
	};
	struct npz z = { 4, m };
	static const char *const key[] = { "x" };
	static const struct input_map map = { "psi", key, 1 };
	struct read_options o = { .want = &whole, .nwant = 1, .weight = "often", .label_required = true };
	struct buf b = BUF_INIT;
	struct err e;

	for (uint32_t i = 0; i < ROWS; i++)
		m[2].array.value[i] = fabs(m[2].array.value[i]);
	if (npz_write("s.npz", &z, &e))
		tap_bail("%s", e.text);
	compare("s.npz", &o, "an archive");
	deflate_member("s.npz", "d.npz");
	compare("d.npz", &o, "a compressed archive");
	o = (struct read_options){ .want = parts, .nwant = 2 };
	compare("s.npz", &o, "two inputs of one array");
	o = (struct read_options){ .want = &state, .nwant = 1, .label_required = true };
	compare("s.npz", &o, "complex amplitudes");
	o.map = &map;
	o.nmap = 1;
	compare("d.npz", &o, "real amplitudes");
	npy_format(&m[0].array, &b);
	write_bytes("s.npy", b.data, b.len);
	o = (struct read_options){ .want = &whole, .nwant = 1 };
	compare("s.npy", &o, "an array");
	o.want = &state;
	compare("s.npy", &o, "an array of real amplitudes");
	buf_release(&b);
	for (int i = 0; i < 4; i++)
		free(m[i].array.value);
}

/* Every type of number: the same bytes under another name. */
static void types(void)
{
	static const char *const descr[] = { "<f8", ">f8", "<f4", ">f4", "|u1", "|i1", "<u2", ">i2", "<u4", ">i4", "|b1", "<c8", ">c16" };
	static const struct input_want two = { .name = "x", .count = 2 }, amplitude = { .name = "x", .is_state = true, .count = 4 };
	unsigned char value[3 * 32];
	struct err e = { 0 };

	for (size_t k = 0; k < sizeof descr / sizeof *descr; k++) {
		struct read_options o = { .want = strchr(descr[k], 'c') ? &amplitude : &two, .nwant = 1 };
		size_t nbytes = 6 * (size_t)atoi(descr[k] + 2);
		struct dataset *a, *b;
		char head[129];
		struct buf f = BUF_INIT;

		for (size_t i = 0; i < nbytes; i++)
			value[i] = descr[k][1] == 'b' ? i & 1 : (unsigned char)(17 * i + 40) & 0x3f;
		snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': (3, 2), }", descr[k]);
		buf_add(&f, "\x93NUMPY\x01\x00", 8);
		buf_u16(&f, (uint16_t)strlen(head));
		buf_str(&f, head);
		buf_add(&f, value, nbytes);
		write_bytes("t.npy", f.data, f.len);
		a = open_as("t.npy", o, true, &e);
		b = open_as("t.npy", o, false, &e);
		tap_ok(a && b && same_rows(a, b, &e), "type %s%s", descr[k], e.text);
		dataset_free(a);
		dataset_free(b);
		buf_release(&f);
	}
}

/* ---- IDX ---- */

static void idx(void)
{
	struct read_options o = { .want = &whole, .nwant = 1, .label_required = true };
	unsigned char head[12] = { 0, 0, 8, 2, 0, 0, ROWS >> 8, ROWS & 255, 0, 0, 0, COLUMNS }, value[ROWS * COLUMNS];
	struct dataset *in_file, *in_memory;
	struct buf b = BUF_INIT;
	struct err e = { 0 };
	gzFile g;

	for (int i = 0; i < ROWS * COLUMNS; i++)
		value[i] = (unsigned char)rng_u64(4, RNG_TEST, 0, (uint64_t)i);
	buf_add(&b, head, sizeof head);
	buf_add(&b, value, sizeof value);
	write_bytes("p-images-idx2-ubyte", b.data, b.len);
	g = gzopen("z-images-idx2-ubyte.gz", "wb");
	gzwrite(g, b.data, (unsigned)b.len);
	gzclose(g);
	g = gzopen("long-images-idx2-ubyte.gz", "wb");
	gzwrite(g, b.data, (unsigned)b.len);
	gzwrite(g, value, 1);
	gzclose(g);
	g = gzopen("bomb-images-idx2-ubyte.gz", "wb");
	gzwrite(g, b.data, (unsigned)b.len);
	for (int i = 0; i < 100; i++)
		gzwrite(g, value, sizeof value);
	gzclose(g);
	/* Longer than what is inflated at a time. */
	g = gzopen("large-images-idx2-ubyte.gz", "wb");
	gzwrite(g, (const unsigned char[]){ 0, 0, 8, 2, 0, 0, LARGE * ROWS >> 8, LARGE * ROWS & 255, 0, 0, 0, COLUMNS }, 12);
	for (int i = 0; i < LARGE; i++)
		gzwrite(g, value, sizeof value);
	gzclose(g);
	/* A finished stream with a byte behind it. */
	g = gzopen("behind-images-idx2-ubyte.gz", "wb");
	gzwrite(g, b.data, (unsigned)b.len);
	gzclose(g);
	append("behind-images-idx2-ubyte.gz", "x");
	buf_clear(&b);
	buf_add(&b, (const unsigned char[]){ 0, 0, 8, 1, 0, 0, ROWS >> 8, ROWS & 255 }, 8);
	buf_add(&b, value, ROWS);
	write_bytes("p-labels-idx1-ubyte", b.data, b.len);
	write_bytes("z-labels-idx1-ubyte", b.data, b.len);
	compare("p-images-idx2-ubyte", &o, "IDX");
	compare("z-images-idx2-ubyte.gz", &o, "compressed IDX");
	o.label_required = false;
	tap_ok(!open_as("long-images-idx2-ubyte.gz", o, true, &e) && strstr(e.text, "6300 numbers of 1 bytes, 6301 bytes follow"), "too many bytes: %s", e.text);
	in_file = open_as("large-images-idx2-ubyte.gz", o, true, &e);
	in_memory = in_file ? open_as("large-images-idx2-ubyte.gz", o, false, &e) : NULL;
	tap_ok(in_memory && same_rows(in_file, in_memory, &e), "a large compressed IDX, in any order%s", e.text);
	dataset_free(in_file);
	dataset_free(in_memory);
	tap_ok(!open_as("behind-images-idx2-ubyte.gz", o, true, &e) && strstr(e.text, "bytes behind the end"), "bytes behind its end: %s", e.text);
	tap_ok(!open_as("bomb-images-idx2-ubyte.gz", o, true, &e) && strstr(e.text, "it inflates to more bytes than its header states"), "far too many: %s", e.text);
	/* A terabyte of nothing is not read to see that it is too much. */
	if (!truncate("p-images-idx2-ubyte", (off_t)1 << 40))
		for (int streamed = 0; streamed < 2; streamed++)
			tap_ok(!open_as("p-images-idx2-ubyte", o, streamed, &e) && strstr(e.text, "the IDX file's header states 6300 numbers"), "a terabyte: %s", e.text);
	tap_ok(!truncate("z-images-idx2-ubyte.gz", 1000)
			&& !open_as("z-images-idx2-ubyte.gz", o, true, &e)
			&& strstr(e.text, "compressed data are damaged or cut off"),
		"cut off: %s", e.text);
	buf_release(&b);
}

/* ---- CSV ---- */

enum { LONG_ROWS = 90000 };     /* more than two windows */

static void csv(void)
{
	static const double from[] = { NAN, NAN }, to[] = { -1, 1 };
	static const char *const name[] = { "cat", "dog, big" };
	struct read_options o = { .want = &whole, .nwant = 1, .weight = "w", .label_required = true, .label_map = { from, to, 2, name } };
	struct buf b = BUF_INIT;
	struct dataset *in_file, *in_memory;
	struct err e = { 0 };
	size_t fault;

	buf_str(&b, "\xef\xbb\xbf" "c1,c2,c3,c4,c5,label,c6,c7,\"c\n8\",w,c9\n");
	for (uint32_t r = 0; r < LONG_ROWS; r++) {
		for (uint32_t j = 0; j < 5; j++)
			buf_printf(&b, "%.6g,", random_value(r * 9 + j));
		buf_str(&b, r % 3 ? "cat," : "\"dog, big\",");
		for (uint32_t j = 5; j < 8; j++)
			buf_printf(&b, "%.6g,", random_value(r * 9 + j));
		buf_printf(&b, "%u,%.6g%s", r % 5, random_value(r * 9 + 8), r % 7 ? "\n" : "\r\n\n");
	}
	write_bytes("long.csv", b.data, b.len);
	in_file = open_as("long.csv", o, true, &e);
	in_memory = open_as("long.csv", o, false, &e);
	tap_ok(b.len > 6 << 20 && in_file && in_memory && in_memory->nrow == LONG_ROWS && same_rows(in_file, in_memory, &e)
		&& same_numbers(in_file->y, in_memory->y, LONG_ROWS) && same_numbers(in_file->weight, in_memory->weight, LONG_ROWS)
		&& !memcmp(in_file->digest, in_memory->digest, 32), "a CSV file of %zu bytes%s", b.len, e.text);
	dataset_free(in_file);
	dataset_free(in_memory);
	/* A fault far behind, and the first row that it refers to. */
	fault = b.len - 50000;
	while (b.data[fault] != ',')
		fault++;
	b.data[fault] = ';';
	write_bytes("long.csv", b.data, b.len);
	{
		struct err in_mem = { 0 };

		tap_ok(!open_as("long.csv", o, true, &e) && !open_as("long.csv", o, false, &in_mem), "a fault far behind is found");
		tap_is_str(e.text, in_mem.text, "and shown as that of a file in memory");
	}
	write_bytes("short.csv", "x,y\n1,2\n", 8);
	buf_release(&b);
}

/* A text in which every place of the window's end is tried would be slow: a row of more than one window instead. */
static void wide_csv(void)
{
	static const struct input_want one = { .name = "x", .count = 1 };
	struct read_options o = { .want = &one, .nwant = 1, .label = "1" };
	struct buf b = BUF_INIT;
	struct dataset *d;
	struct err e = { 0 };
	double x[2];

	buf_pad(&b, '\n', 5 << 20);
	buf_str(&b, "1,2\n3,4");
	write_bytes("blank.csv", b.data, b.len);
	d = open_as("blank.csv", o, true, &e);
	tap_ok(d && d->nrow == 2 && !dataset_rows(d, NULL, 0, 2, x, &e) && x[0] == 2 && x[1] == 4 && d->y[1] == 3, "blank lines over a window%s", e.text);
	dataset_free(d);
	buf_str(&b, "\n5,\"6\n");
	write_bytes("blank.csv", b.data, b.len);
	tap_ok(!open_as("blank.csv", o, true, &e) && strstr(e.text, "blank.csv:5242883:3"), "an open quote behind them: %s", e.text);
	buf_release(&b);
}

/* ---- faults ---- */

static void faults(void)
{
	double bad[] = { 1, 2, 3, NAN, 5, 6 };
	struct npz_member m = { "x", { 2, { 3, 2 }, false, 6, bad } };
	struct npz z = { 1, &m };
	static const struct input_want two = { .name = "x", .count = 2 };
	struct read_options o = { .want = &two, .nwant = 1 };
	struct buf b = BUF_INIT;
	struct dataset *d;
	struct err e = { 0 };
	double x[6];

	npz_write("f.npz", &z, &e);
	tap_ok(!open_as("f.npz", o, true, &e), "a number that is not finite");
	tap_is_str(e.text, "f.npz: array \"x\", row 1, column 1 (from 0) is not finite", "is named as in memory");
	bad[3] = 4;
	npz_write("f.npz", &z, &e);
	buf_read_file(&b, "f.npz", 1 << 20, &e);
	b.data[100] ^= 1;
	write_bytes("g.npz", b.data, b.len);
	tap_ok(!open_as("g.npz", o, true, &e) && strstr(e.text, "g.npz: member \"x\": the CRC-32 is wrong"), "a flipped bit: %s", e.text);
	write_bytes("i.npz", "PK\5\6", 4);
	tap_ok(!open_as("i.npz", o, true, &e) && strstr(e.text, "does not end as a ZIP archive does"), "four bytes: %s", e.text);
	write_bytes("h.npz", b.data, b.len - 1);
	tap_ok(!open_as("h.npz", o, true, &e) && strstr(e.text, "damaged"), "cut off: %s", e.text);
	d = open_as("f.npz", o, true, &e);
	tap_is_int(d && !truncate("f.npz", 100) ? dataset_rows(d, NULL, 0, 3, x, &e) : 0, -ERR_IO,
		"a file that shrinks");
	tap_is_str(e.text, "f.npz has become shorter while it was read", "is told");
	dataset_free(d);
	tap_ok(!open_as("/dev/null.npy", o, true, &e) && !open_as("none.csv", o, true, &e), "no file");
	buf_release(&b);
	buf_str(&b, "\x93NUMPY\x01");
	buf_u8(&b, 0);
	buf_u16(&b, 64);
	buf_printf(&b, "%-63s\n", "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }");
	buf_add(&b, bad, sizeof bad);
	write_bytes("f.npy", b.data, b.len);
	tap_ok(!open_as("f.npy", o, true, &e) && strstr(e.text, "is in Fortran order and cannot be read row by row; numpy.ascontiguousarray"), "Fortran order: %s", e.text);
	setenv("TMPDIR", "/none/at/all", 1);
	tap_ok(!open_as("short.csv", o, true, &e) && strstr(e.text, "cannot create a temporary file in /none/at/all"), "no temporary folder: %s", e.text);
	unsetenv("TMPDIR");
	buf_release(&b);
}

int main(void)
{
	arrays();
	types();
	idx();
	csv();
	wide_csv();
	faults();
	return tap_done();
}
