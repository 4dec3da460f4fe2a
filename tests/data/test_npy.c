/* SPDX-License-Identifier: Apache-2.0
 * .npy arrays: every type of number, orders, limits, damaged headers and sizes. */
#include "runtime/data/dataset.h"

#include "runtime/data/format/npz.h"
#include "tests/tap.h"

/* A file with this header text (padded by `pad` blanks) and these data. */
static void make(struct buf *b, const char *head, size_t pad, const void *data, size_t len)
{
	buf_clear(b);
	buf_add(b, "\x93NUMPY\x01\x00", 8);
	buf_u16(b, (uint16_t)(strlen(head) + pad + 1));
	buf_str(b, head);
	buf_pad(b, ' ', pad);
	buf_char(b, '\n');
	buf_add(b, data, len);
}

static void types(void)
{
	static const struct { const char *descr; uint8_t data[16]; size_t len; double re, im; } row[] = {
		{ "<f8", { 0, 0, 0, 0, 0, 0, 0xf8, 0xbf }, 8, -1.5, 0 },
		{ ">f8", { 0xbf, 0xf8 }, 8, -1.5, 0 },
		{ "=f8", { 0, 0, 0, 0, 0, 0, 0xf8, 0xbf }, 8, -1.5, 0 },
		{ "<f4", { 0, 0, 0xc0, 0xbf }, 4, -1.5, 0 },
		{ "<c8", { 0, 0, 0xc0, 0xbf, 0, 0, 0, 0x40 }, 8, -1.5, 2 },
		{ ">c16", { 0xbf, 0xf8, 0, 0, 0, 0, 0, 0, 0x40 }, 16, -1.5, 2 },
		{ "|i1", { 0xfe }, 1, -2, 0 }, { "|u1", { 0xfe }, 1, 254, 0 }, { "|b1", { 1 }, 1, 1, 0 },
		{ "<i2", { 0xfe, 0xff }, 2, -2, 0 }, { ">u2", { 1, 2 }, 2, 258, 0 },
		{ "<i4", { 0xfe, 0xff, 0xff, 0xff }, 4, -2, 0 }, { "<u4", { 0, 0, 0, 0x80 }, 4, 0x1p31, 0 },
		{ "<i8", { 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, 8, -2, 0 },
		{ "<i8", { 0, 0, 0, 0, 0, 0, 0x20, 0 }, 8, 0x1p53, 0 },
		{ "<u8", { 0, 0, 0, 0, 0, 0, 0x20, 0 }, 8, 0x1p53, 0 },
	};
	struct buf b = BUF_INIT;
	struct array a;
	char head[128];

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		bool good;

		snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }",
			row[i].descr);
		make(&b, head, 0, row[i].data, row[i].len);
		good = !npy_parse(b.data, b.len, &a, NULL);
		tap_ok(good && a.count == 1 && a.ndim == 1 && a.value[0] == row[i].re
			&& (!a.is_complex || a.value[1] == row[i].im), "type %s", row[i].descr);
		if (good)
			array_free(&a);
	}
	buf_release(&b);
}

static void bad_headers(void)
{
	const char *beyond = sizeof(size_t) > 4 ? "the array's shape is beyond the limit of 4294967296 numbers"
		: "the array's shape is beyond the limit of 134217728 numbers";
	const struct {
		const char *head, *want;
		size_t len;
	} row[] = {
		{ "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }",
			"the array's shape needs 24 bytes, the file has 8", 8 },
		{ "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }",
			"the array's shape needs 8 bytes, the file has 9", 9 },
		{ "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
			beyond, 8 },
		{ "{'descr': '<f8', 'fortran_order': False, 'shape': (8589934593,), }", beyond, 8 },
		{ "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }",
			"an array has at most 8 dimensions", 8 },
		{ "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
			"arrays of records are not read, only plain numbers", 8 },
		{ "{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }",
			"text and objects (type '<U4') are not read; classes are numbers here, such as 0 and 1",
			8 },
		{ "{'descr': '|f8', 'fortran_order': False, 'shape': (1,), }",
			"numbers of type '|f8' are not read; f4 f8 c8 c16 i1-i8 u1-u8 and b1 are", 8 },
		{ "{'descr': '|b1', 'fortran_order': False, 'shape': (8,), }",
			"number 0 (type b1) has no exact double", 8 },
		{ "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }",
			"number 0 (type i8) has no exact double", 8 },
		{ "{'descr': '<f8', 'fortran_order': False, }", "the .npy header is damaged", 8 },
		{ "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,), }",
			"the .npy header is damaged", 8 },
		{ "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,), }",
			"the .npy header is damaged", 8 },
		{ "{'descr': '<f8', 'fortran_order': False, 'shape': (1), }",
			"the .npy header is damaged", 8 },
		{ "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
			"the .npy header is damaged", 8 },
		{ "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), } x",
			"the .npy header is damaged", 8 },
		{ "{'descr': '<f8', 'fortran_order': False, 'shape': (1,",
			"the .npy header is damaged", 8 },
		{ "{'descr", "the .npy header is damaged", 8 },
		{ "", "the .npy header is damaged", 8 },
	};
	static const uint8_t data[9] = { 0xff, 0, 0, 0, 0, 0, 0x20, 0, 0 };
	struct buf b = BUF_INIT;
	struct array a = { .count = 99 };
	struct err e;

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		make(&b, row[i].head, 0, data, row[i].len);
		e.text[0] = '\0';
		tap_is_int(npy_parse(b.data, b.len, &a, &e), -ERR_BAD_DATA, "refused: %s", row[i].head);
		tap_is_str(e.text, row[i].want, "with its reason");
	}
	tap_ok(a.count == 99, "the result is left as it was");
	buf_release(&b);
}

static void orders(void)
{
	static const double data[] = { 1, 2, 3, 4, 5, 6 }, want[] = { 1, 3, 5, 2, 4, 6 };
	struct buf b = BUF_INIT, little = BUF_INIT;
	struct array a;

	buf_f64s(&little, data, sizeof data / sizeof *data);
	make(&b, "{'shape': (2, 3,), \"fortran_order\":True,'descr':'<f8'}", 7, little.data, little.len);
	if (tap_ok(!npy_parse(b.data, b.len, &a, NULL) && a.dim[0] == 2 && a.dim[1] == 3, "Fortran order")) {
		tap_is_mem(a.value, want, sizeof want, "becomes C order");
		array_free(&a);
	}
	make(&b, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 0, data, 8);
	if (tap_ok(!npy_parse(b.data, b.len, &a, NULL) && a.ndim == 0 && a.count == 1, "a scalar"))
		array_free(&a);
	make(&b, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 5), }", 0, data, 0);
	if (tap_ok(!npy_parse(b.data, b.len, &a, NULL) && a.count == 0, "an empty array"))
		array_free(&a);
	make(&b, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1), }", 0, data, 8);
	if (tap_ok(!npy_parse(b.data, b.len, &a, NULL) && a.ndim == 8, "eight dimensions"))
		array_free(&a);
	buf_release(&little);
	buf_release(&b);
}

static void cut_and_flipped(void)
{
	static const double data[] = { 1, 2 };
	struct buf b = BUF_INIT;
	struct array a;
	struct err e;
	bool all = true;

	make(&b, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", 3, data, sizeof data);
	for (size_t len = 0; len < b.len; len++) {
		char *copy = malloc(len + 1);     /* exact size, so that overruns show */

		memcpy(copy, b.data, len);
		e.text[0] = '\0';
		all &= npy_parse(copy, len, &a, &e) == -ERR_BAD_DATA && *e.text;
		free(copy);
	}
	tap_ok(all, "cut off anywhere, the file is refused with a reason");
	for (size_t i = 0; i < 8 * (b.len - sizeof data); i++) {
		b.data[i / 8] ^= (char)(1 << i % 8);
		if (!npy_parse(b.data, b.len, &a, &e))
			array_free(&a);
		b.data[i / 8] ^= (char)(1 << i % 8);
	}
	tap_ok(true, "flipped bits of the header do no harm");
	b.data[6] = 4;
	tap_ok(npy_parse(b.data, b.len, &a, &e) && !strcmp(e.text,
		"version 4.0 of the .npy format is unknown"), "an unknown version");
	buf_release(&b);
}

/* Version 2 has room for longer headers than we take. */
static void header_limit(void)
{
	static const char head[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }";
	struct buf b = BUF_INIT;
	struct array a;
	struct err e;

	for (unsigned over = 0; over < 2; over++) {
		buf_clear(&b);
		buf_add(&b, "\x93NUMPY\x02\x00", 8);
		buf_u32(&b, NPY_HEADER_MAX + over);
		buf_str(&b, head);
		buf_pad(&b, ' ', NPY_HEADER_MAX + over - (sizeof head - 1));
		if (over)
			tap_is_int(npy_parse(b.data, b.len, &a, &e), -ERR_BAD_DATA, "a header beyond the limit");
		else if (tap_ok(!npy_parse(b.data, b.len, &a, &e), "a header at the limit"))
			array_free(&a);
	}
	buf_release(&b);
}

static void round_trip(void)
{
	double value[] = { 1, -0.0, 0x1p-1074, INFINITY, 0.1, 1e308 };
	struct array in = { 2, { 3, 2 }, false, 6, value }, out;
	struct buf b = BUF_INIT;

	npy_format(&in, &b);
	tap_ok(b.len == 128 + 48 && !memcmp(b.data + 10, "{'descr': '<f8', 'fortran_order': False, "
		"'shape': (3, 2), }", 59), "written as NumPy does");
	if (tap_ok(!npy_parse(b.data, b.len, &out, NULL) && out.dim[1] == 2, "read back")) {
		tap_is_mem(out.value, value, sizeof value, "to the same bits");
		array_free(&out);
	}
	buf_clear(&b);
	in = (struct array){ 1, { 3 }, true, 3, value };
	npy_format(&in, &b);
	if (tap_ok(!npy_parse(b.data, b.len, &out, NULL) && out.is_complex && out.count == 3, "complex")) {
		tap_is_mem(out.value, value, sizeof value, "to the same bits");
		array_free(&out);
	}
	buf_release(&b);
}

int main(void)
{
	types();
	bad_headers();
	orders();
	cut_and_flipped();
	header_limit();
	round_trip();
	return tap_done();
}
