/* SPDX-License-Identifier: Apache-2.0
 * Writing weights.bin, and what a weights file in memory answers.
 *
 * Layout (safetensors): u64 length of the header, the header (JSON, padded by spaces to
 * a multiple of 8), then the data: all weights in their order, the vectors of a checkpoint, then the bytecode. */
#include "runtime/train/weights/weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/base/order.h"
#include "runtime/train/weights/weights_file.h"

enum { MADE_HERE = 3 }; /* metadata that the writer makes itself */

static bool made_here(const char *key)
{
	return !strcmp(key, "format") || !strcmp(key, "order") || !strcmp(key, "sha256");
}

static void format_metadata(const struct program *p, const struct metadata *meta, unsigned nmeta, struct buf *out)
{
	char version[16], zeros[SHA256_HEX + 1];
	mem_auto struct metadata *all = mem_alloc(nmeta + MADE_HERE, sizeof *all);
	buf_auto order = BUF_INIT;
	size_t n = 0;

	snprintf(version, sizeof version, "%d", WEIGHTS_FORMAT);
	memset(zeros, '0', SHA256_HEX);
	zeros[SHA256_HEX] = '\0';
	buf_char(out, '{');
	buf_char(&order, '['); /* the paths in the order of the weights */
	for (uint32_t g = 0; g < p->nweight_group; g++)
		buf_json(&order, ",%s", p->weight_group[g].path);
	buf_char(&order, ']');
	all[n++] = (struct metadata){ "format", version };
	all[n++] = (struct metadata){ "order", order.data };
	all[n++] = (struct metadata){ "sha256", zeros };
	for (unsigned i = 0; i < nmeta; i++)
		if (!made_here(meta[i].key))
			all[n++] = meta[i];
	qsort(all, n, sizeof *all, order_texts);
	for (size_t i = 0; i < n; i++)
		buf_json(out, ",%s:%s", all[i].key, all[i].value);
	buf_char(out, '}');
}

/* A tensor on its way into the header. */
struct row {
	const char *name, *dtype;
	uint64_t dim[PROGRAM_DIMS_MAX];
	uint32_t ndim;
	uint64_t begin, end;
};

static void format_row(const struct row *t, struct buf *out)
{
	buf_json(out, ",%s:{\"data_offsets\":[%" PRIu64 ",%" PRIu64 "],\"dtype\":%s,\"shape\":[",
		t->name, t->begin, t->end, t->dtype);
	for (uint32_t k = 0; k < t->ndim; k++)
		buf_json(out, ",%" PRIu64, t->dim[k]);
	buf_str(out, "]}");
}

static struct row weight_row(const struct weight_group *w, struct arena *a)
{
	struct row row = { arena_printf(a, WEIGHTS_PARAMS "%s", w->path), "F64", { 0 }, w->ndim,
		8 * (uint64_t)w->first, 8 * ((uint64_t)w->first + w->count) };

	for (uint32_t k = 0; k < w->ndim; k++)
		row.dim[k] = w->dim[k];
	return row;
}

/* Sorted by name; the data are the weights, the vectors as they were given, the bytecode. */
static void format_tensors(const struct program *p, const struct weights_vector *vector, unsigned nvector,
	size_t program_len, struct buf *out)
{
	size_t n = (size_t)p->nweight_group + nvector + 1, k = 0;
	mem_auto struct row *row = mem_alloc(n, sizeof *row);
	uint64_t end = (uint64_t)p->nweight * 8;
	arena_auto a = { 0 };

	for (uint32_t g = 0; g < p->nweight_group; g++)
		row[k++] = weight_row(&p->weight_group[g], &a);
	for (unsigned i = 0; i < nvector; i++) {
		row[k++] = (struct row){ vector[i].name, "F64", { vector[i].n }, 1, end,
			end + 8 * (uint64_t)vector[i].n };
		end += 8 * (uint64_t)vector[i].n;
	}
	row[k++] = (struct row){ WEIGHTS_PROGRAM, "U8", { program_len }, 1, end, end + program_len };
	qsort(row, n, sizeof *row, order_texts);
	for (k = 0; k < n; k++)
		format_row(&row[k], out);
}

size_t weights_digest_place(const char *header, size_t len)
{
	static const char mark[] = "\"sha256\":\"";   /* inside a string its quotes would be escaped */
	const char *at = memmem(header, len, mark, sizeof mark - 1);
	size_t place = at ? (size_t)(at - header) + sizeof mark - 1 : 0;

	return at && len - place > SHA256_HEX && header[place + SHA256_HEX] == '"' ? place : 0;
}

void weights_digest(const struct file_parts *f, char hex[SHA256_HEX + 1])
{
	const struct file_part *first = &f->part[0];
	size_t behind = f->seal_at + SHA256_HEX;
	char zeros[SHA256_HEX];
	uint8_t digest[SHA256_BYTES];
	struct sha256 h;

	memset(zeros, '0', sizeof zeros);
	sha256_init(&h);
	sha256_add(&h, first->p, f->seal_at);
	sha256_add(&h, zeros, sizeof zeros);
	sha256_add(&h, first->p + behind, first->len - behind);
	for (size_t i = 1; i < f->npart; i++)
		sha256_add(&h, f->part[i].p, f->part[i].len);
	sha256_end(&h, digest);
	sha256_hex(digest, hex);
}

static void make_digest(const struct file_parts *f, char *seal)
{
	char hex[SHA256_HEX + 1];

	weights_digest(f, hex);
	memcpy(seal, hex, SHA256_HEX);
}

static size_t data_bytes(const struct program *p, const struct weights_vector *vector, unsigned nvector)
{
	size_t n = p->nweight;

	for (unsigned k = 0; k < nvector; k++)
		n += vector[k].n;
	return n * sizeof(double);
}

/* From where they are, or turned around first. */
static void add_numbers(struct weights_image *m, const double *v, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	file_parts_add(&m->file, v, n * sizeof *v);
#else
	size_t begin = m->numbers.len;

	buf_f64s(&m->numbers, v, n);
	file_parts_add(&m->file, m->numbers.data + begin, n * sizeof *v);
#endif
}

/* The length, and what it is of. */
static int format_header(const struct program *p, const struct weights_vector *vector, unsigned nvector,
	const struct metadata *meta, unsigned nmeta, struct weights_image *m)
{
	buf_auto json = BUF_INIT;

	buf_str(&json, "{\"__metadata__\":");
	format_metadata(p, meta, nmeta, &json);
	format_tensors(p, vector, nvector, m->program.len, &json);
	buf_char(&json, '}');
	buf_pad(&json, ' ', -json.len & 7);
	size_t len = json.len;
	buf_u64(&m->header, len);
	buf_add(&m->header, json.data, len);
	return len > WEIGHTS_HEADER_MAX ? -ERR_CONFIG : 0;
}

int weights_image(const struct program *p, const double *weight, const struct weights_vector *vector,
	unsigned nvector, const struct metadata *meta, unsigned nmeta, struct weights_image *out)
{
	struct file_parts *f = &out->file;

	memset(out, 0, sizeof *out);
	program_write(p, &out->program);
	int code = format_header(p, vector, nvector, meta, nmeta, out);
	if (code)
		return code;
	f->seal_at = weights_digest_place(out->header.data + 8, out->header.len - 8) + 8;
	f->seal_len = SHA256_HEX;
	f->make = make_digest;
	if (f->seal_at == 8)
		BUG("no place for the digest");
	buf_reserve(&out->numbers, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : data_bytes(p, vector, nvector));
	file_parts_add(f, out->header.data, out->header.len);
	add_numbers(out, weight, p->nweight);
	for (unsigned k = 0; k < nvector; k++)
		add_numbers(out, vector[k].value, vector[k].n);
	file_parts_add(f, out->program.data, out->program.len);
	return 0;
}

void weights_image_release(struct weights_image *m)
{
	file_parts_release(&m->file);
	buf_release(&m->header);
	buf_release(&m->numbers);
	buf_release(&m->program);
}

int weights_format(const struct program *p, const double *weight, const struct metadata *meta,
	unsigned nmeta, struct buf *out)
{
	struct weights_image m;
	int code = weights_image(p, weight, NULL, 0, meta, nmeta, &m);

	if (!code)
		file_parts_join(&m.file, out);
	weights_image_release(&m);
	return code;
}

void weights_free(struct weights *w)
{
	if (!w)
		return;
	program_free(w->program);
	arena_release(&w->arena);
	free(w);
}

const char *weights_meta(const struct weights *w, const char *key)
{
	for (unsigned i = 0; i < w->nmeta; i++)
		if (!strcmp(w->meta[i].key, key))
			return w->meta[i].value;
	return NULL;
}

const struct weights_vector *weights_vector(const struct weights *w, const char *name)
{
	for (unsigned i = 0; i < w->nvector; i++)
		if (!strcmp(w->vector[i].name, name))
			return &w->vector[i];
	return NULL;
}
