/* SPDX-License-Identifier: Apache-2.0
 * IDX files: types, labels beside the images, gzip, what is damaged. */
#include "runtime/data/format/idx.h"

#include <stdint.h>

#include "runtime/base/buf.h"
#include "runtime/base/system/inflate.h"
#include "runtime/data/dataset.h"
#include "runtime/data/format/dataset_read.h"
#include "tests/tap.h"

/* Two images of 2 x 3 bytes, 0 1 2 3 4 255 and 6 to 11; and the same by `gzip -n` 1.12. */
static const uint8_t images[] = {
	0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 1, 2, 3, 4, 255, 6, 7, 8, 9, 10, 11,
};
static const uint8_t packed[] = {
	0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x63, 0x60, 0xe0, 0x60,
	0x66, 0x60, 0x60, 0x60, 0x82, 0x62, 0x66, 0x06, 0x46, 0x26, 0x66, 0x96, 0xff, 0x6c,
	0xec, 0x1c, 0x9c, 0x5c, 0xdc, 0x00, 0xef, 0x7b, 0x2d, 0x44, 0x1c, 0x00, 0x00, 0x00,
};
static const uint8_t labels[] = { 0, 0, 8, 1, 0, 0, 0, 2, 7, 3 };

static const struct input_want six = { .name = "x", .count = 6, .ndim = 1, .dim = { 6 } };

static void put(const char *path, const void *bytes, size_t len)
{
	struct buf b = BUF_INIT;
	struct err e;

	buf_add(&b, bytes, len);
	if (buf_write_file(&b, path, 0, &e))
		tap_bail("%s", e.text);
	buf_release(&b);
}

static void types(void)
{
	static const uint8_t i8[] = { 0, 0, 9, 1, 0, 0, 0, 1, 0xfe }, i16[] = { 0, 0, 11, 1, 0, 0, 0, 1, 0xff, 0 },
		i32[] = { 0, 0, 12, 1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xf0 },
		f32[] = { 0, 0, 13, 1, 0, 0, 0, 1, 0x3f, 0xc0, 0, 0 },
		f64[] = { 0, 0, 14, 1, 0, 0, 0, 1, 0xc0, 0x04, 0, 0, 0, 0, 0, 0 };
	static const struct { const uint8_t *bytes; size_t len; double want; } row[] = {
		{ images, sizeof images, 0 }, { i8, sizeof i8, -2 }, { i16, sizeof i16, -256 }, { i32, sizeof i32, -16 },
		{ f32, sizeof f32, 1.5 }, { f64, sizeof f64, -2.5 },
	};
	struct idx a;

	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		tap_ok(!idx_parse(row[i].bytes, row[i].len, &a, NULL) && idx_value(&a, 0) == row[i].want,
			"type %d", row[i].bytes[2]);
}

static void broken(void)
{
	static const struct { uint8_t at, value; const char *want; } row[] = {
		{ 0, 1, "not an IDX file: it begins with two bytes 0 and a type from 8 to 14" },
		{ 2, 10, "not an IDX file: it begins with two bytes 0 and a type from 8 to 14" },
		{ 2, 16, "not an IDX file: it begins with two bytes 0 and a type from 8 to 14" },
		{ 3, 0, "the IDX file has 0 dimensions, not 1 to 8" },
		{ 3, 9, "the IDX file has 9 dimensions, not 1 to 8" },
		{ 3, 8, "the dimensions of the IDX file are beyond all limits" },
		{ 2, 11, "the IDX file's header states 12 numbers of 2 bytes, 12 bytes follow" },
		{ 4, 255, "the IDX file's header states 25669140492 numbers of 1 bytes, 12 bytes follow" },
		{ 15, 4, "the IDX file's header states 16 numbers of 1 bytes, 12 bytes follow" },
	};
	uint8_t bytes[sizeof images];
	struct idx a;
	struct err e;
	unsigned taken = 0;

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		memcpy(bytes, images, sizeof bytes);
		bytes[row[i].at] = row[i].value;
		e.text[0] = 0;
		idx_parse(bytes, sizeof bytes, &a, &e);
		tap_is_str(e.text, row[i].want, "byte %d is %d", row[i].at, row[i].value);
	}
	for (size_t len = 0; len < sizeof images; len++)
		taken += !idx_parse(images, len, &a, NULL);
	tap_is_int(taken, 0, "no shortened file passes");
}

static void gzip(void)
{
	uint8_t bytes[sizeof packed];
	struct buf b = BUF_INIT;
	unsigned wrong = 0;
	struct err e;

	tap_ok(!inflate_gzip(packed, sizeof packed, &b, &e) && b.len == sizeof images && !memcmp(b.data, images, b.len),
		"gzip");
	buf_release(&b);
	for (size_t len = 0; len < sizeof packed; len++)
		wrong += !inflate_gzip(packed, len, &b, NULL);
	tap_is_int(wrong, 0, "no shortened file passes");
	/* Bytes 4 to 9 say when, how and where it was made, and so does the flag of a text. */
	for (size_t bit = 0; bit < 8 * sizeof packed; bit++) {
		if (bit / 8 > 3 && bit / 8 < 10)
			continue;
		memcpy(bytes, packed, sizeof bytes);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (inflate_gzip(bytes, sizeof bytes, &b, NULL) || bit == 24)
			continue;
		wrong++;
		buf_release(&b);
	}
	buf_release(&b);
	tap_is_int(wrong, 0, "every flipped bit is noticed");
	memcpy(bytes, packed, sizeof bytes);
	bytes[41] = 0x7f;
	inflate_gzip(bytes, sizeof bytes, &b, &e);
	tap_is_str(e.text, "24 compressed bytes cannot hold the 2130706460 that are stated", "a length beyond belief");
}

static void files(void)
{
	struct read_options o = { .want = &six, .nwant = 1, .label_required = true };
	static const double from[] = { 3, 7 }, to[] = { -1, 1 };
	static const struct input_want wide = { .name = "x", .count = 7 },
		state = { .name = "x", .is_state = true, .count = 12 };
	static const struct input_map map = { "x", NULL, 0 };
	struct dataset *d = NULL, *twin = NULL;
	struct err e;

	put("a-images-idx3-ubyte", images, sizeof images);
	put("a-labels-idx1-ubyte", labels, sizeof labels);
	put("b-images-idx3-ubyte.gz", packed, sizeof packed);
	put("c-images-idx3-ubyte", images, sizeof images);
	put("c-labels-idx1-ubyte", images, sizeof images - 18);
	tap_ok(!dataset_read("a-images-idx3-ubyte", &o, NULL, &d, &e) && d->nrow == 2 && d->nx == 6 && d->ny == 1
		&& d->x[5] == 255 && d->x[6] == 6 && d->y[0] == 7 && d->y[1] == 3, "images and labels");
	o.label = "a-labels-idx1-ubyte";
	o.label_map = (struct label_map){ .from = from, .to = to, .n = 2 };
	tap_ok(!dataset_read("b-images-idx3-ubyte.gz", &o, NULL, &twin, &e) && !memcmp(twin->x, d->x, 12 * sizeof *d->x)
		&& twin->y[0] == 1 && twin->y[1] == -1, "compressed; labels by name; label_map");
	tap_ok(memcmp(twin->digest, d->digest, sizeof d->digest), "other bytes, another digest");
	dataset_free(d);
	dataset_free(twin);
	o.want = &state;
	tap_ok(!dataset_read("./a-images-idx3-ubyte", &o, NULL, &d, &e) && d->nx == 12 && d->x[2] == 1 && d->x[3] == 0,
		"real amplitudes");
	dataset_free(d);
	o = (struct read_options){ .want = &six, .nwant = 1 };
	tap_ok(!dataset_read("b-images-idx3-ubyte.gz", &o, NULL, &d, &e) && !d->ny, "no labels where none are needed");
	dataset_free(d);
	o.label_required = true;
	dataset_read("b-images-idx3-ubyte.gz", &o, NULL, &d, &e);
	tap_is_str(e.text, "b-images-idx3-ubyte.gz: its labels are not in b-labels-idx1-ubyte.gz; data.label names their file",
		"labels that are missing");
	dataset_read("c-images-idx3-ubyte", &o, NULL, &d, &e);
	tap_ok(strstr(e.text, "c-labels-idx1-ubyte: the header of the IDX file is cut short") != NULL, "damaged labels");
	o.want = &wide;
	dataset_read("a-images-idx3-ubyte", &o, NULL, &d, &e);
	tap_is_str(e.text, "a-images-idx3-ubyte: each row has 6 numbers, but the model's input takes 7", "another width");
	o.map = &map;
	o.nmap = 1;
	dataset_read("a-images-idx3-ubyte", &o, NULL, &d, &e);
	tap_is_str(e.text, "a-images-idx3-ubyte: an IDX file has no columns with names; leave out data.inputs", "columns");
}

/* Rows, corner and sum of the 360 digits, by Python's gzip and struct. */
static void digits(void)
{
	static const struct input_want want = { .name = "x", .count = 784 };
	const struct read_options o = { .want = &want, .nwant = 1, .label_required = true };
	const char *shared = getenv("QCNN_SHARED");
	struct dataset *d;
	char path[4096];
	double sum = 0;
	struct err e;

	if (!shared) {
		tap_skip("no reference values here (QCNN_SHARED)");
		return;
	}
	snprintf(path, sizeof path, "%s/reference/data/digits01-images-idx3-ubyte.gz", shared);
	if (dataset_read(path, &o, NULL, &d, &e)) {
		tap_ok(false, "%s", e.text);
		return;
	}
	for (size_t i = 0; i < (size_t)d->nrow * d->nx; i++)
		sum += d->x[i];
	tap_ok(d->nrow == 360 && sum == 16227702 && d->x[784 + 313] == 111 && d->x[784 + 319] == 255
		&& d->y[0] == 0 && d->y[1] == 1 && d->y[6] == 0, "digits");
	dataset_free(d);
}

int main(void)
{
	types();
	broken();
	gzip();
	files();
	digits();
	return tap_done();
}
