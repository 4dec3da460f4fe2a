/* SPDX-License-Identifier: Apache-2.0
 * Reading weights.bin: structure first, then the digest, then the meaning.
 *
 * Nothing is taken on trust: no memory beyond what the file's own length allows, every
 * field checked and named when it is wrong. */
#include "runtime/train/weights/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/input_files.h"
#include "runtime/base/json.h"
#include "runtime/base/order.h"
#include "runtime/train/weights/weights_file.h"

struct tensor { const char *name; const json_t *row; uint64_t begin, end; bool used; };

struct reader {
	const uint8_t *bytes;
	size_t len;
	const char *header;          /* header_len characters */
	size_t header_len;
	const uint8_t *data;         /* data_len bytes */
	uint64_t data_len;
	json_t *root, *meta;         /* meta is part of root */
	struct tensor *tensor; size_t ntensor;   /* sorted by name once they cover the data */
	struct weights *w;
	struct err *e;
};

#define bad(r, ...) err_set((r)->e, -ERR_BAD_DATA, __VA_ARGS__)

/* ---- structure ---- */

/* The eight bytes of the length, as those of a text: no control characters, and no bytes that UTF-8 never has. */
static bool is_text(const uint8_t *p)
{
	for (int i = 0; i < 8; i++)
		if ((p[i] < ' ' && p[i] != '\n' && p[i] != '\t' && p[i] != '\r') || p[i] == 0x7f || p[i] > 0xf4)
			return false;
	return true;
}

static int read_length(struct reader *r)
{
	struct rd rd = { r->bytes, r->len, 0, 0 };
	uint64_t n = rd_u64(&rd);

	if (rd.bad)
		return bad(r, "not a weights file: only %zu bytes", r->len);
	if (n > WEIGHTS_HEADER_MAX && is_text(r->bytes))
		return bad(r, "not a weights file, but a text; models are read by `qcnn run`, `draw` and `check`, configurations by "
			"`qcnn train`, which writes weights.bin");
	if (n > WEIGHTS_HEADER_MAX)
		return bad(r, "header length: %llu bytes, the limit is %d: damaged, or not a weights file",
			(unsigned long long)n, WEIGHTS_HEADER_MAX);
	if (n % 8)
		return bad(r, "header length: %llu bytes is not a multiple of 8", (unsigned long long)n);
	if (n > r->len - 8)
		return bad(r, "truncated: the header has %llu bytes, the file has %zu after the length",
			(unsigned long long)n, r->len - 8);
	r->header = (const char *)r->bytes + 8;
	r->header_len = n;
	r->data = r->bytes + 8 + n;
	r->data_len = r->len - 8 - n;
	return 0;
}

static int read_header(struct reader *r)
{
	const char *key;
	json_t *value;

	r->root = json_read(r->header, r->header_len, r->e);
	if (!r->root) {
		err_prefix(r->e, "header");
		return -ERR_BAD_DATA;
	}
	r->meta = json_object_get(r->root, "__metadata__");
	if (!json_is_object(r->root) || !json_is_object(r->meta))
		return bad(r,
			"header: no __metadata__: not a weights file of qcnn; give weights of other programs as .npz, one array per path");
	json_object_foreach(r->meta, key, value)
		if (!json_is_string(value))
			return bad(r, "__metadata__.%s is not a string", key);
	return 0;
}

static int read_offsets(struct reader *r, struct tensor *t)
{
	const json_t *pair = json_object_get(t->row, "data_offsets");
	const json_t *begin = json_array_get(pair, 0), *end = json_array_get(pair, 1);

	if (json_array_size(pair) != 2 || !json_is_integer(begin) || !json_is_integer(end)
		|| json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin))
		return bad(r, "%s: data_offsets is not [begin, end]", t->name);
	t->begin = (uint64_t)json_integer_value(begin);
	t->end = (uint64_t)json_integer_value(end);
	return 0;
}

static int read_tensors(struct reader *r)
{
	const char *key;
	json_t *value;

	r->tensor = mem_try(json_object_size(r->root), sizeof *r->tensor);
	if (!r->tensor)
		return err_set(r->e, -ERR_CONFIG, "no memory for the header");
	json_object_foreach(r->root, key, value) {
		if (value == r->meta)
			continue;
		struct tensor *t = &r->tensor[r->ntensor++];
		*t = (struct tensor){ .name = key, .row = value };
		if (!json_is_object(value) || json_object_size(value) != 3
			|| !json_is_string(json_object_get(value, "dtype"))
			|| !json_is_array(json_object_get(value, "shape")))
			return bad(r, "%s: not a tensor's dtype, shape and data_offsets", key);
		int code = read_offsets(r, t);
		if (code)
			return code;
	}
	return 0;
}

static int by_begin(const void *x, const void *y)
{
	const struct tensor *a = x, *b = y;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* The tensors cover the data without holes or overlaps, to the file's last byte. */
static int check_cover(struct reader *r)
{
	uint64_t at = 0;

	qsort(r->tensor, r->ntensor, sizeof *r->tensor, by_begin);
	for (size_t i = 0; i < r->ntensor; i++) {
		if (r->tensor[i].begin != at)
			return bad(r, "%s: data_offsets begin at %llu, %s", r->tensor[i].name,
				(unsigned long long)r->tensor[i].begin,
				r->tensor[i].begin < at ? "inside another tensor" : "after a hole");
		at = r->tensor[i].end;
	}
	if (at > r->data_len)
		return bad(r, "truncated: the tensors have %llu bytes, the file has %llu after its header",
			(unsigned long long)at, (unsigned long long)r->data_len);
	if (at < r->data_len)
		return bad(r, "%llu bytes too many at the end", (unsigned long long)(r->data_len - at));
	qsort(r->tensor, r->ntensor, sizeof *r->tensor, order_texts);
	return 0;
}

static int check_digest(struct reader *r)
{
	const char *want = json_string_value(json_object_get(r->meta, "sha256"));
	size_t place = weights_digest_place(r->header, r->header_len);
	struct file_part whole = { (const char *)r->bytes, r->len };
	char hex[SHA256_HEX + 1];

	if (!want || !place || strlen(want) != SHA256_HEX || memcmp(want, r->header + place, SHA256_HEX))
		return bad(r, "__metadata__.sha256: no digest of 64 digits");
	weights_digest(&(struct file_parts){ .part = &whole, .npart = 1, .seal_at = place + 8, .seal_len = SHA256_HEX }, hex);
	if (strcmp(hex, want))
		return bad(r, "changed or damaged: its SHA-256 is not the one it names%s",
			json_object_get(r->meta, "checkpoint")
				? ""
				: "; to edit weights, use `qcnn weights convert` to .npz, and back with --model, or `qcnn infer --weights`");
	return 0;
}

/* ---- meaning ---- */

static int check_format(struct reader *r)
{
	const char *text = json_string_value(json_object_get(r->meta, "format"));
	char want[16];

	snprintf(want, sizeof want, "%d", WEIGHTS_FORMAT);
	if (!text || strcmp(text, want))
		return bad(r, "__metadata__.format is %s, this qcnn reads format %s", text ? text : "missing", want);
	return 0;
}

static struct tensor *find_tensor(const struct reader *r, const char *name)
{
	struct tensor key = { .name = name };
	struct tensor *t = bsearch(&key, r->tensor, r->ntensor, sizeof key, order_texts);

	if (t)
		t->used = true;
	return t;
}

static bool shape_is(const json_t *shape, const uint32_t *dim, uint32_t ndim)
{
	if (json_array_size(shape) != ndim)
		return false;
	for (uint32_t k = 0; k < ndim; k++) {
		const json_t *d = json_array_get(shape, k);

		if (!json_is_integer(d) || json_integer_value(d) != dim[k])
			return false;
	}
	return true;
}

/* dtype, and bytes by the shape that was wanted. */
static int check_tensor(struct reader *r, const struct tensor *t, const char *dtype, uint64_t nbytes)
{
	const char *got = json_string_value(json_object_get(t->row, "dtype"));

	if (strcmp(got, dtype))
		return bad(r, "%s: dtype is %s, not %s", t->name, got, dtype);
	if (t->end - t->begin != nbytes)
		return bad(r, "%s: data_offsets span %llu bytes, its shape %llu", t->name,
			(unsigned long long)(t->end - t->begin), (unsigned long long)nbytes);
	return 0;
}

/* The only dimension of a tensor that has one; -1 where it has not. */
static json_int_t length_of(const struct tensor *t)
{
	const json_t *shape = json_object_get(t->row, "shape"), *n = json_array_get(shape, 0);

	return json_array_size(shape) == 1 && json_is_integer(n) ? json_integer_value(n) : -1;
}

static int read_program(struct reader *r)
{
	const struct tensor *t = find_tensor(r, WEIGHTS_PROGRAM);

	if (!t)
		return bad(r, "no tensor " WEIGHTS_PROGRAM);
	if (length_of(t) < 0)
		return bad(r, WEIGHTS_PROGRAM ": shape is not [bytes]");
	int code = check_tensor(r, t, "U8", (uint64_t)length_of(t));
	if (code)
		return code;
	code = program_read(r->data + t->begin, t->end - t->begin, &r->w->program, r->e);
	if (code)
		err_prefix(r->e, WEIGHTS_PROGRAM);
	return code;
}

static int wrong_shape(struct reader *r, const struct tensor *t, const struct weight_group *g)
{
	buf_auto got = BUF_INIT, want = BUF_INIT;

	json_write(json_object_get(t->row, "shape"), &got);
	for (uint32_t k = 0; k < g->ndim; k++)
		buf_printf(&want, k ? ",%u" : "%u", g->dim[k]);
	return bad(r, "%s: shape is %.200s, the program's is [%s]", t->name, got.data,
		want.data ? want.data : "");
}

static int check_group(struct reader *r, const struct weight_group *g, struct buf *name)
{
	buf_clear(name);
	buf_printf(name, WEIGHTS_PARAMS "%s", g->path);
	const struct tensor *t = find_tensor(r, name->data);
	if (!t)
		return bad(r, "no tensor %s, which the program has", name->data);
	if (!shape_is(json_object_get(t->row, "shape"), g->dim, g->ndim))
		return wrong_shape(r, t, g);
	return check_tensor(r, t, "F64", 8 * (uint64_t)g->count);
}

static bool is_state(const char *name)
{
	static const char *const state[] = { WEIGHTS_STATES };

	for (size_t i = 0; i < sizeof state / sizeof *state; i++)
		if (!strncmp(name, state[i], strlen(state[i])))
			return true;
	return false;
}

/* A vector of a checkpoint. */
static int check_vector(struct reader *r, const struct tensor *t)
{
	json_int_t n = length_of(t);

	if (n < 0 || (uint64_t)n > r->data_len / 8)
		return bad(r, "%s: shape is not [numbers]", t->name);
	r->w->nvector++;
	return check_tensor(r, t, "F64", 8 * (uint64_t)n);
}

/* The file has the program's weights, vectors of a training's state, and no other tensor. */
static int check_groups(struct reader *r)
{
	const struct program *p = r->w->program;
	buf_auto name = BUF_INIT;
	int code = 0;

	for (uint32_t g = 0; !code && g < p->nweight_group; g++)
		code = check_group(r, &p->weight_group[g], &name);
	for (size_t i = 0; !code && i < r->ntensor; i++)
		if (!r->tensor[i].used)
			code = is_state(r->tensor[i].name)
				? check_vector(r, &r->tensor[i])
				: bad(r, "%s: a tensor that the program does not have",
					r->tensor[i].name);
	return code;
}

static int read_group(struct reader *r, const struct weight_group *g, struct buf *name)
{
	double *out = r->w->weight + g->first;

	buf_clear(name);
	buf_printf(name, WEIGHTS_PARAMS "%s", g->path);
	words_copy(out, r->data + find_tensor(r, name->data)->begin, g->count);
	for (uint32_t i = 0; i < g->count; i++)
		if (!isfinite(out[i]))
			return bad(r, "%s: entry %u is not finite", name->data, i);
	return 0;
}

/* Memory is taken here, after the tensors proved to be there. */
static int read_groups(struct reader *r)
{
	const struct program *p = r->w->program;
	buf_auto name = BUF_INIT;
	int code = 0;

	r->w->weight = arena_alloc(&r->w->arena, p->nweight ? p->nweight : 1, sizeof *r->w->weight);
	for (uint32_t g = 0; !code && g < p->nweight_group; g++)
		code = read_group(r, &p->weight_group[g], &name);
	return code;
}

/* The tensors are sorted by name. */
static int read_vectors(struct reader *r)
{
	struct weights *w = r->w;
	struct weights_vector *v = w->vector = arena_alloc(&w->arena, w->nvector + 1, sizeof *v);

	for (size_t i = 0; i < r->ntensor; i++) {
		const struct tensor *t = &r->tensor[i];
		size_t n = (t->end - t->begin) / 8;

		if (t->used)
			continue;
		double *value = arena_alloc(&w->arena, n + 1, sizeof *value);
		words_copy(value, r->data + t->begin, n);
		*v++ = (struct weights_vector){ arena_strdup(&w->arena, t->name), value, n };
	}
	return 0;
}

static int check_order(struct reader *r)
{
	const struct program *p = r->w->program;
	const char *text = json_string_value(json_object_get(r->meta, "order")), *path;
	json_auto_t *order = text ? json_read(text, strlen(text), NULL) : NULL;
	bool same = json_is_array(order) && json_array_size(order) == p->nweight_group;

	for (uint32_t g = 0; same && g < p->nweight_group; g++) {
		path = json_string_value(json_array_get(order, g));
		same = path && !strcmp(path, p->weight_group[g].path);
	}
	return same ? 0 : bad(r, "__metadata__.order is not the order of the program's weights");
}

static void keep_metadata(struct reader *r)
{
	struct weights *w = r->w;
	const char *key;
	json_t *value;

	w->meta = arena_alloc(&w->arena, json_object_size(r->meta), sizeof *w->meta);
	json_object_foreach(r->meta, key, value)
		if (strcmp(key, "sha256"))
			w->meta[w->nmeta++] = (struct metadata){ arena_strdup(&w->arena, key),
				arena_strdup(&w->arena, json_string_value(value)) };
	qsort(w->meta, w->nmeta, sizeof *w->meta, order_texts);
}

int weights_parse(const void *bytes, size_t len, struct weights **out, struct err *e)
{
	static int (*const part[])(struct reader *) = { read_length, read_header, read_tensors, check_cover,
		check_digest, check_format, read_program, check_groups, check_order, read_groups, read_vectors };
	struct reader r = { .bytes = bytes, .len = len, .e = e };
	int code = 0;

	r.w = mem_alloc(1, sizeof *r.w);
	for (size_t i = 0; !code && i < sizeof part / sizeof *part; i++)
		code = part[i](&r);
	if (code) {
		weights_free(r.w);
	} else {
		keep_metadata(&r);
		*out = r.w;
	}
	free(r.tensor);
	json_decref(r.root);
	return code;
}

/* Length and header alone, before memory is taken for the rest: a file's length proves nothing. */
static int check_outline(int fd, const char *path, struct err *e)
{
	static int (*const part[])(struct reader *) = { read_header, read_tensors, check_cover };
	struct reader r = { .e = e };
	buf_auto head = BUF_INIT;
	uint64_t size;
	int code = buf_read_part_fd(&head, fd, path, 8, false, &size, e);

	r.len = size;
	r.bytes = (const uint8_t *)head.data;
	if (code || !size)
		goto done;
	code = head.len < 8 ? bad(&r, "not a weights file: only %zu bytes", head.len) : read_length(&r);
	if (!code)
		code = buf_read_part_fd(&head, fd, path, 8 + r.header_len, false, &size, e);
	if (!code && head.len < 8 + r.header_len)
		code = bad(&r, "truncated while it was read");
	r.header = head.data + 8;
	for (size_t i = 0; !code && i < sizeof part / sizeof *part; i++)
		code = part[i](&r);
	if (code == -ERR_BAD_DATA)
		err_prefix(e, "%s", path);
done:
	free(r.tensor);
	json_decref(r.root);
	return code;
}

int weights_open_fd(int fd, const char *path, struct weights **out, struct err *e)
{
	buf_auto file = BUF_INIT;
	int code = check_outline(fd, path, e);

	if (!code)
		code = buf_read_fd(&file, fd, path, WEIGHTS_BYTES_MAX, e);
	if (!code) {
		code = weights_parse(file.data, file.len, out, e);
		if (code)
			err_prefix(e, "%s", path);
	}
	return code;
}

int weights_open(const char *path, struct weights **out, struct err *e)
{
	int fd, code = buf_open_file(path, &fd, e);

	if (code)
		return code;
	code = weights_open_fd(fd, input_name(path), out, e);
	close(fd);
	return code;
}
