/* SPDX-License-Identifier: Apache-2.0
 * weights.bin: round trips, every flipped bit and every truncation, each field at its limit
 * and one beyond; imports and exports. */
#include "runtime/train/weights/weights.h"

#include <unistd.h>

#include "runtime/base/crypto/crypto.h"
#include "runtime/base/json.h"
#include "tests/tap.h"
#include "tests/train/tiny.h"

static const struct metadata meta[] = { { "seed", "7" }, { "config", "{\"a\":1}" },
	{ "source", "a \"quoted\"\n\"sha256\":\"line\" \xc3\xa9" } };

static void fill(const struct program *p, double *weight)
{
	for (uint32_t i = 0; i < p->nweight; i++)
		weight[i] = 0.1 * i - 1.0 / (i + 3);
}

static void make_file(struct buf *file)
{
	struct program *p = tiny_program(ACTIVATION_TANH, ACTIVATION_LINEAR, 1);
	double weight[32];

	fill(p, weight);
	weights_format(p, weight, meta, 3, file);
	program_free(p);
}

/* Exactly len bytes on the heap, so that a sanitizer sees a read beyond. */
static int parse_copy(const void *bytes, size_t len, struct err *e)
{
	struct weights *w = NULL;
	char *copy = malloc(len ? len : 1);
	int code;

	if (len)
		memcpy(copy, bytes, len);
	code = weights_parse(copy, len, &w, e);
	weights_free(w);
	free(copy);
	return code;
}

/* ---- round trip ---- */

static void test_round_trip(void)
{
	struct program *p = tiny_program(ACTIVATION_TANH, ACTIVATION_LINEAR, 1);
	struct buf file = BUF_INIT, again = BUF_INIT;
	struct weights *w = NULL;
	struct err e = { 0 };
	double weight[32];
	struct rd rd;

	fill(p, weight);
	tap_is_int(weights_format(p, weight, meta, 3, &file), 0, "a file is written");
	tap_is_int(weights_parse(file.data, file.len, &w, &e), 0, "and read: %s", e.text);
	if (!w)
		tap_bail("nothing to go on with");
	tap_is_mem(w->weight, weight, p->nweight * sizeof *weight, "the same weights");
	for (int i = 0; i < 3; i++)
		tap_is_str(weights_meta(w, meta[i].key), meta[i].value, "metadata %s", meta[i].key);
	tap_is_str(weights_meta(w, "format"), "1", "the format");
	tap_is_str(weights_meta(w, "order"), "[\"conv[0].t\",\"s\",\"head.dense[0].kernel\",\"head.dense[0].bias\","
		"\"head.dense[1].kernel\",\"head.dense[1].bias\"]", "the order");
	tap_ok(!weights_meta(w, "sha256") && !weights_meta(w, "nothing"), "no other metadata");
	weights_format(w->program, w->weight, w->meta, w->nmeta, &again);
	tap_ok(again.len == file.len && !memcmp(again.data, file.data, file.len), "what was read is written to the same bytes");
	rd = (struct rd){ (const uint8_t *)file.data, file.len, 0, 0 };
	tap_is_int((long long)(rd_u64(&rd) % 8), 0, "tensors begin at a multiple of 8 bytes");
	weights_free(w);
	weights_free(NULL);
	buf_release(&file);
	buf_release(&again);
	program_free(p);
}

static void test_damage(void)
{
	struct buf file = BUF_INIT;
	struct err e;
	size_t unnoticed = 0, silent = 0;

	make_file(&file);
	for (size_t bit = 0; bit < 8 * file.len; bit++) {
		e.text[0] = '\0';
		file.data[bit / 8] ^= (char)(1 << bit % 8);
		unnoticed += parse_copy(file.data, file.len, &e) != -ERR_BAD_DATA;
		silent += !e.text[0];
		file.data[bit / 8] ^= (char)(1 << bit % 8);
	}
	tap_is_int((long long)unnoticed, 0, "each of %zu flipped bits is bad data", 8 * file.len);
	tap_is_int((long long)silent, 0, "and said so");
	for (size_t len = 0; len < file.len; len++)
		unnoticed += parse_copy(file.data, len, &e) != -ERR_BAD_DATA;
	tap_is_int((long long)unnoticed, 0, "each of %zu truncations is bad data", file.len);
	parse_copy(file.data, file.len - 1, &e);
	tap_ok(strstr(e.text, "truncated") != NULL, "that says so: %s", e.text);
	buf_char(&file, 0);
	parse_copy(file.data, file.len, &e);
	tap_ok(strstr(e.text, "too many") != NULL, "a byte too many is bad data: %s", e.text);
	buf_release(&file);
}

/* ---- fields ---- */

/* The header's JSON with `from` replaced by `to`, padded; the digest made again. */
static void forge(const struct buf *file, const char *from, const char *to, struct buf *out)
{
	struct rd rd = { (const uint8_t *)file->data, file->len, 0, 0 };
	size_t old = rd_u64(&rd), place;
	struct buf header = BUF_INIT;
	const char *text = file->data + 8, *at = memmem(text, old, from, strlen(from));
	uint8_t digest[SHA256_BYTES];
	char hex[SHA256_HEX + 1];

	if (!at)
		tap_bail("no %s in the header", from);
	buf_add(&header, text, (size_t)(at - text));
	buf_str(&header, to);
	buf_add(&header, at + strlen(from), old - (size_t)(at - text) - strlen(from));
	buf_pad(&header, ' ', -header.len & 7);
	buf_u64(out, header.len);
	buf_add(out, header.data, header.len);
	buf_add(out, text + old, file->len - 8 - old);
	at = strstr(out->data + 8, "\"sha256\":\"");
	place = at ? (size_t)(at - out->data) + 10 : 0;
	if (place && place + SHA256_HEX < out->len) {
		memset(out->data + place, '0', SHA256_HEX);
		sha256_of(out->data, out->len, digest);
		sha256_hex(digest, hex);
		memcpy(out->data + place, hex, SHA256_HEX);
	}
	buf_release(&header);
}

static const struct { const char *from, *to, *says; } fields[] = {
	{ "\"format\":\"1\"", "\"format\":\"2\"", "__metadata__.format is 2, this qcnn reads format 1" },
	{ "\"format\":\"1\"", "\"gormat\":\"1\"", "__metadata__.format is missing, this qcnn reads format 1" },
	{ "\"seed\":\"7\"", "\"seed\":7", "__metadata__.seed is not a string" },
	{ "\"seed\":\"7\"", "\"seed\":\"7\",\"seed\":\"7\"", "header: " },
	{ "\"__metadata__\"", "\"__metadat__\"", "header: no __metadata__" },
	{ "\"sha256\"", "\"sha255\"", "__metadata__.sha256: no digest of 64 digits" },
	{ "[\\\"conv[0].t\\\",\\\"s\\\"", "[\\\"s\\\",\\\"conv[0].t\\\"", "__metadata__.order is not the order" },
	{ "\"params/s\"", "\"params/r\"", "no tensor params/s, which the program has" },
	{ "\"params/s\"", "\"params/s\":{\"data_offsets\":[0,0],\"dtype\":\"F64\",\"shape\":[0]},\"params/s\"", "header: " },
	{ "\"params/s\"", "\"z\":{\"data_offsets\":[0,0],\"dtype\":\"F64\",\"shape\":[0]},\"params/s\"", "z: a tensor that the program does not have" },
	{ "\"dtype\":\"F64\"", "\"dtype\":\"F32\"", "params/conv[0].t: dtype is F32, not F64" },
	{ "\"dtype\":\"U8\"", "\"dtype\":\"I8\"", "program: dtype is I8, not U8" },
	{ "\"dtype\":\"F64\"", "\"dtype\":64", "params/conv[0].t: not a tensor's dtype, shape and data_offsets" },
	{ "\"shape\":[2]", "\"shape\":[3]", "params/conv[0].t: shape is [3], the program's is [2]" },
	{ "\"shape\":[2]", "\"shape\":[2,1]", "params/conv[0].t: shape is [2,1], the program's is [2]" },
	{ "\"shape\":[2,3]", "\"shape\":[3,2]", "params/head.dense[0].kernel: shape is [3,2], the program's is [2,3]" },
	{ "\"shape\":[2]", "\"shape\":[2.0]", "params/conv[0].t: shape is [2.0]" },
	{ "\"shape\":[2]", "\"shape\":2", "params/conv[0].t: not a tensor's" },
	{ "\"data_offsets\":[0,16]", "\"data_offsets\":[0,15]", "params/s: data_offsets begin at 16, after a hole" },
	{ "\"data_offsets\":[0,16]", "\"data_offsets\":[0,17]", "params/s: data_offsets begin at 16, inside another tensor" },
	{ "\"data_offsets\":[0,16]", "\"data_offsets\":[16,0]", "params/conv[0].t: data_offsets is not [begin, end]" },
	{ "\"data_offsets\":[0,16]", "\"data_offsets\":[-1,16]", "params/conv[0].t: data_offsets is not [begin, end]" },
	{ "\"data_offsets\":[0,16]", "\"data_offsets\":[0,16,16]", "params/conv[0].t: data_offsets is not [begin, end]" },
	{ "\"data_offsets\":[0,16]", "\"data_offsets\":[0,9223372036854775807]", "params/s: data_offsets begin at 16, inside another tensor" },
	{ "\"data_offsets\":[0,16]", "\"data_offsets\":[0,9223372036854775808]", "header: " },
	{ "\"program\":", "\"progrbm\":", "no tensor program" },
};

static void test_fields(void)
{
	struct buf file = BUF_INIT, forged = BUF_INIT;
	struct err e;

	make_file(&file);
	forge(&file, "\"seed\":\"7\"", "\"seed\":\"8\"", &forged);
	tap_is_int(parse_copy(forged.data, forged.len, &e), 0, "a file with another seed and its digest is read");
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		buf_clear(&forged);
		forge(&file, fields[i].from, fields[i].to, &forged);
		e.text[0] = '\0';
		tap_ok(parse_copy(forged.data, forged.len, &e) == -ERR_BAD_DATA && strstr(e.text, fields[i].says) == e.text,
			"%s to %s: %.160s", fields[i].from, fields[i].to, e.text);
	}
	buf_release(&file);
	buf_release(&forged);
}

/* The length of the header, at its limit and one beyond; nothing of that size is taken. */
static void test_header_length(void)
{
	static const struct { uint64_t n; const char *says; } lengths[] = {
		{ WEIGHTS_HEADER_MAX, "truncated: the header has 16777216 bytes" },
		{ WEIGHTS_HEADER_MAX + 1, "header length: 16777217 bytes, the limit is 16777216" },
		{ UINT64_MAX, "header length: 18446744073709551615 bytes, the limit" },
		{ 12, "header length: 12 bytes is not a multiple of 8" }, { 0, "header: " },
	};
	struct buf file = BUF_INIT;
	struct err e;

	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		buf_clear(&file);
		buf_u64(&file, lengths[i].n);
		buf_str(&file, "{}      ");
		tap_ok(parse_copy(file.data, file.len, &e) == -ERR_BAD_DATA && strstr(e.text, lengths[i].says) == e.text,
			"header of %llu bytes: %s", (unsigned long long)lengths[i].n, e.text);
	}
	buf_release(&file);
}

/* The longest header is read; one that would be longer is not written. */
static void test_header_limit(void)
{
	struct program *p = tiny_program(0, 0, 0);
	struct buf file = BUF_INIT, first = BUF_INIT;
	double weight[3] = { 1, 2, 3 };
	struct rd rd;
	size_t spare;
	char *text;
	struct metadata big = { "source", "" };
	struct err e;

	weights_format(p, weight, &big, 1, &first);
	rd = (struct rd){ (const uint8_t *)first.data, first.len, 0, 0 };
	spare = WEIGHTS_HEADER_MAX - rd_u64(&rd);
	text = malloc(spare + 9);
	memset(text, 'x', spare + 8);
	text[spare] = '\0';
	big.value = text;
	tap_is_int(weights_format(p, weight, &big, 1, &file), 0, "a header of 16 MiB is written");
	rd = (struct rd){ (const uint8_t *)file.data, file.len, 0, 0 };
	tap_is_int((long long)rd_u64(&rd), WEIGHTS_HEADER_MAX, "it has exactly that");
	tap_is_int(parse_copy(file.data, file.len, &e), 0, "and is read");
	text[spare] = 'x';
	text[spare + 8] = '\0';
	buf_clear(&file);
	tap_is_int(weights_format(p, weight, &big, 1, &file), -ERR_CONFIG, "a longer one is refused");
	tap_is_int((long long)file.len, 0, "and nothing is written");
	free(text);
	buf_release(&first);
	buf_release(&file);
	program_free(p);
}

static void test_not_finite(void)
{
	struct program *p = tiny_program(0, 0, 0);
	double weight[3] = { 1, 2, NAN };
	struct buf file = BUF_INIT;
	struct err e;

	weights_format(p, weight, NULL, 0, &file);
	tap_is_int(parse_copy(file.data, file.len, &e), -ERR_BAD_DATA, "a NaN is refused");
	tap_is_str(e.text, "params/s: entry 0 is not finite", "and named");
	buf_release(&file);
	program_free(p);
}

/* ---- other files ---- */

static void write_text(const char *path, const char *text)
{
	struct buf b = BUF_INIT;

	buf_str(&b, text);
	buf_write_file(&b, path, 0, NULL);
	buf_release(&b);
}

static void test_exchange(const struct program *p, const char *path)
{
	double weight[32], got[32] = { 0 }, circuit[3] = { 0 };
	struct buf file = BUF_INIT;
	struct err e = { 0 };

	fill(p, weight);
	weight[1] = 0.1 + 0.2;
	if (strstr(path, ".bin")) {
		weights_format(p, weight, NULL, 0, &file);
		tap_is_int(buf_write_file(&file, path, 0, &e), 0, "%s is written", path);
	} else {
		tap_is_int(weights_export(p, weight, path, &e), 0, "%s is written: %s", path, e.text);
	}
	tap_is_int(weights_import(p, path, false, got, &e), 0, "%s is read: %s", path, e.text);
	tap_is_mem(got, weight, p->nweight * sizeof *weight, "%s keeps every bit", path);
	tap_is_int(weights_import(p, path, true, circuit, &e), 0, "%s for the circuit alone", path);
	tap_is_mem(circuit, weight, sizeof circuit, "%s has the circuit's", path);
	buf_release(&file);
}

static const struct { const char *text; int circuit_only, code; const char *says; } jsons[] = {
	{ "[1, 2.5, 3]", 1, 0, "" },
	{ "[1, 2]", 1, -ERR_BAD_DATA, "w.json: the list: 2 numbers, the model has 3" },
	{ "[1, 2, 3]", 0, -ERR_BAD_DATA, "w.json: the list: 3 numbers, the model has 16" },
	{ "[1, 2, true]", 1, -ERR_BAD_DATA, "w.json: the list: an entry is not a number" },
	{ "{\"conv[0].t\": [1, 2], \"s\": 3}", 1, 0, "" },
	{ "{\"params\": {\"conv[0].t\": [1, 2.5], \"s\": 3}}", 1, 0, "" },
	{ "{\"conv[0].t\": {\"shape\": [2], \"values\": [1, 2]}, \"s\": {\"shape\": [], \"values\": [3]}}", 1, 0, "" },
	{ "{\"conv[0].t\": {\"shape\": [3], \"values\": [1, 2, 4]}, \"s\": 3}", 1, -ERR_BAD_DATA, "w.json: conv[0].t: shape [3], the model's is [2]" },
	{ "{\"conv[0].t\": [1, 2, 3], \"s\": 3}", 1, -ERR_BAD_DATA, "w.json: conv[0].t: 3 entries at depth 0, the model's shape has 2 there" },
	{ "{\"conv[0].t\": [1, [2]], \"s\": 3}", 1, -ERR_BAD_DATA, "w.json: conv[0].t: an entry is not a number" },
	{ "{\"conv[0].t\": [1, 2]}", 1, -ERR_BAD_DATA, "w.json: s: missing" },
	{ "{\"conv[0].t\": [1, 2], \"s\": 3}", 0, -ERR_BAD_DATA, "w.json: head.dense[0].kernel: missing" },
	{ "{\"conv[0].t\": [1, 2], \"s\": 3, \"u\": 4}", 1, -ERR_BAD_DATA, "w.json: u: the model has no weight of that path" },
	{ "{\"conv[0].t\": [1, 1e999], \"s\": 3}", 1, -ERR_BAD_DATA, "w.json: " },
	{ "7", 1, -ERR_BAD_DATA, "w.json: neither a list of numbers nor an object of paths" },
	{ "[1, 2", 1, -ERR_BAD_DATA, "w.json: line 1" },
};

static void test_json(const struct program *p)
{
	struct err e;
	double weight[32];

	for (size_t i = 0; i < sizeof jsons / sizeof *jsons; i++) {
		e.text[0] = '\0';
		write_text("w.json", jsons[i].text);
		weight[0] = -5;
		tap_ok(weights_import(p, "w.json", jsons[i].circuit_only, weight, &e) == jsons[i].code
			&& strstr(e.text, jsons[i].says) == e.text, "%s: %s", jsons[i].text, e.text);
		tap_ok(weight[0] == (jsons[i].code ? -5 : 1), "the weights are %s", jsons[i].code ? "untouched" : "set");
	}
}

static void test_others(void)
{
	struct program *p = tiny_program(ACTIVATION_TANH, ACTIVATION_LINEAR, 1), *bare = tiny_program(0, 0, 0);
	double weight[32];
	struct buf text = BUF_INIT;
	struct err e = { 0 };

	test_exchange(p, "w.bin");
	test_exchange(p, "w.npz");
	test_exchange(p, "x.json");
	test_json(p);
	tap_is_int(weights_import(bare, "w.bin", false, weight, &e), -ERR_BAD_DATA, "weights of another model are refused");
	tap_is_str(e.text,
		"w.bin: head.dense[0].kernel: the model has no weight of that path, but conv[0].t, s",
		"with the file, and what the model has");
	tap_is_int(weights_import(p, "none.npz", false, weight, &e), -ERR_NO_INPUT, "a missing file: %s", e.text);
	tap_is_int(weights_import(p, "none.bin", false, weight, &e), -ERR_NO_INPUT, "a missing file: %s", e.text);
	tap_is_int(weights_export(p, weight, "w.txt", &e), -ERR_USAGE, "no other endings: %s", e.text);
	fill(bare, weight);
	weight[0] = 0.5;
	weights_to_json(bare, weight, &text);
	tap_is_str(text.data, "{\"conv[0].t\": {\"shape\": [2], \"values\": [0.5, -0.15]}, \"s\": {\"shape\": [], \"values\": [0]}}",
		"weights as JSON");
	buf_release(&text);
	program_free(bare);
	program_free(p);
}

int main(void)
{
	test_round_trip();
	test_damage();
	test_fields();
	test_header_length();
	test_header_limit();
	test_not_finite();
	test_others();
	return tap_done();
}
