/* SPDX-License-Identifier: Apache-2.0
 * Data sets from IDX files, compressed or not: one file of inputs, one beside it of labels. */
#include "runtime/data/format/reader.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/base/system/inflate.h"
#include "runtime/base/system/temporary_file.h"
#include "runtime/data/format/idx.h"
#include "runtime/data/row_store.h"
#include "runtime/data/dataset.h"

struct idx_file {
	const char *path;
	struct buf bytes;            /* all of it, unless it stays in its file */
	struct idx idx;
	struct data_file data;
	uint64_t at;                 /* of the numbers in data */
};

static bool is_gzip(const char *path) { return path_ends(path, ".gz"); }

/* Does a file's length agree with its header? Looked at before memory is taken for all of it; a pipe and a
 * compressed file pass. */
static int check_length(const char *path, struct err *e)
{
	buf_auto head = BUF_INIT;
	struct idx idx;
	uint64_t size;
	size_t n;
	int code = is_gzip(path) ? 0 : buf_read_part(&head, path, IDX_HEAD_MAX, false, &size, e);

	if (!code && head.len) {
		code = idx_parse_head(head.data, head.len, size, &idx, &n, e);
		if (code)
			err_prefix(e, "%s", path);
	}
	return code;
}

/* The digest takes the file as it lies there. */
static int open_file(struct idx_file *f, const char *path, struct sha256 *h, struct err *e)
{
	struct buf packed = BUF_INIT;

	f->path = path;
	int code = check_length(path, e);
	if (!code)
		code = buf_read_file(&f->bytes, path, DATASET_BYTES_MAX, e);
	if (code)
		return code;
	sha256_add(h, f->bytes.data, f->bytes.len);
	if (is_gzip(path)) {
		packed = f->bytes;
		f->bytes = (struct buf)BUF_INIT;
		code = inflate_gzip(packed.data, packed.len, &f->bytes, e);
		buf_release(&packed);
	}
	if (!code)
		code = idx_parse(f->bytes.data, f->bytes.len, &f->idx, e);
	if (code)
		err_prefix(e, "%s", path);
	return code;
}

/* What is inflated goes to a temporary file, as much as the header states. */
struct inflating {
	struct temporary_file file;
	uint64_t limit;
};

static int keep_piece(void *ctx, const void *p, size_t len, struct err *e)
{
	struct inflating *f = ctx;
	const uint8_t *head = p;
	uint64_t count = 8;

	if (!f->file.len && len >= 4) {
		/* 8 bytes a number at most; what the header says in full is checked when all is there. */
		for (unsigned k = 0; k < head[3] && 8 + 4 * k <= len; k++) {
			const uint8_t *d = head + 4 + 4 * k;

			if (__builtin_mul_overflow(count, (uint64_t)d[0] << 24 | d[1] << 16 | d[2] << 8 | d[3], &count))
				count = UINT64_MAX - IDX_HEAD_MAX;
		}
		f->limit = count + IDX_HEAD_MAX;
	}
	if (f->file.len + len > f->limit)
		return err_set(e, -ERR_BAD_DATA, "it inflates to more bytes than its header states");
	return temporary_file_add(&f->file, p, len, e);
}

static int unpack(struct idx_file *f, struct sha256 *h, struct err *e)
{
	struct inflating to = { .limit = 0 };
	int code = temporary_file_open(&to.file, e), fd = -1;

	if (code)
		return code;
	code = inflate_file(f->data.fd, f->path, 0, f->data.size, true, keep_piece, &to, e);
	if (!code)
		code = data_file_digest(&f->data, h, e);
	if (!code)
		code = temporary_file_take(&to.file, &fd, e);
	if (!code) {
		data_file_close(&f->data);
		f->data.fd = fd;
		f->data.size = to.file.len;
	}
	temporary_file_release(&to.file);
	return code;
}

/* The same with the numbers left where they are. */
static int open_in_place(struct idx_file *f, const char *path, struct sha256 *h, struct err *e)
{
	char head[IDX_HEAD_MAX];
	size_t n = 0, have;

	f->path = path;
	int code = data_file_open(&f->data, path, e);
	if (code)
		return code;
	if (is_gzip(path))
		code = unpack(f, h, e);
	have = f->data.size < sizeof head ? (size_t)f->data.size : sizeof head;
	if (!code)
		code = file_read(f->data.fd, path, 0, head, have, e);
	if (!code)
		code = idx_parse_head(head, have, f->data.size, &f->idx, &n, e);
	f->at = n;
	if (!code && !is_gzip(path))
		code = data_file_digest(&f->data, h, e);
	if (code)
		err_prefix(e, "%s", path);
	return code;
}

static void close_file(struct idx_file *f)
{
	buf_release(&f->bytes);
	data_file_close(&f->data);
}

/* ---- where the labels lie ---- */

/* In a's memory: the path with or without .gz, whichever is there; else NULL. */
static const char *either(struct arena *a, const char *path)
{
	size_t len = strlen(path);
	const char *other = is_gzip(path) ? arena_strndup(a, path, len - 3) : arena_printf(a, "%s.gz", path);

	return !access(path, F_OK) ? path : !access(other, F_OK) ? other : NULL;
}

/* DIR/train-images-idx3-ubyte.gz -> DIR/train-labels-idx1-ubyte.gz, or the name that is given. */
static const char *labels_path(struct arena *a, const char *path, const char *label)
{
	const char *base = path_base(path), *images = NULL, *rank;

	if (label)
		return arena_printf(a, "%.*s%s", *label == '/' ? 0 : (int)(base - path), path, label);
	for (const char *p = strstr(base, "images"); p; p = strstr(p + 1, "images"))
		images = p;
	if (!images)
		return NULL;
	char *name = arena_strdup(a, path);
	memcpy(name + (images - path), "labels", strlen("labels"));
	rank = strstr(images, "idx");
	if (rank && rank[3] >= '1' && rank[3] <= '8')
		name[rank - path + 3] = '1';
	return name;
}

static int no_labels(const char *path, const char *looked, struct err *e)
{
	if (looked)
		return err_set(e, -ERR_NO_INPUT, "%s: its labels are not in %s; data.label names their file", path, looked);
	return err_set(e, -ERR_BAD_DATA, "%s: which file has its labels? data.label names it, "
		"or its own name has `images` where that of the labels has `labels`", path);
}

static int open_labels(struct idx_file *f, struct arena *a, const char *path, const struct read_options *o,
	struct sha256 *h, struct err *e)
{
	const char *wanted = labels_path(a, path, o->label), *found = wanted ? either(a, wanted) : NULL;

	if (!found)
		return o->label_required ? no_labels(path, wanted, e) : 0;
	return open_file(f, found, h, e);
}

/* ---- numbers ---- */

static uint64_t width_of(const struct idx *a) { return a->dim[0] ? a->count / a->dim[0] : 0; }

/* How many numbers of the file an input takes; real amplitudes have no im there. */
static uint32_t taken(const struct input_want *w) { return w->is_state ? w->count / 2 : w->count; }

static int check_width(const struct idx_file *f, const struct read_options *o, struct diags *d, uint64_t *nx,
	struct err *e)
{
	uint64_t wanted = 0, width = width_of(&f->idx);

	*nx = 0;
	if (!f->idx.dim[0])
		return err_set(e, -ERR_BAD_DATA, "%s: no rows", f->path);
	if (o->nmap)
		return err_set(e, -ERR_BAD_DATA, "%s: an IDX file has no columns with names; leave out data.inputs", f->path);
	for (unsigned i = 0; i < o->nwant; i++) {
		wanted += taken(&o->want[i]);
		*nx += o->want[i].count;
	}
	if (wanted == width)
		return 0;
	return reader_misfit(d, o, NULL, e,
		"%s: each row has %llu numbers, but the model's input%s %llu%s", f->path,
		(unsigned long long)width, o->nwant == 1 ? " takes" : "s take",
		(unsigned long long)wanted,
		o->label_required && o->nwant == 1 && width > wanted
			? "; data.transform: [resize] or [pca] makes fewer of them"
			: "");
}

static int not_finite(const struct idx_file *f, uint64_t i, struct err *e)
{
	return err_set(e, -ERR_BAD_DATA, "%s: number %llu (from 0) is not finite", f->path, (unsigned long long)i);
}

static int copy_inputs(const struct idx_file *f, const struct read_options *o, struct dataset *d, struct err *e)
{
	double *x = d->x;
	uint64_t at = 0;

	for (uint32_t r = 0; r < d->nrow; r++)
		for (unsigned i = 0; i < o->nwant; i++)
			for (uint32_t j = 0; j < taken(&o->want[i]); j++, at++) {
				*x = idx_value(&f->idx, at);
				if (!isfinite(*x))
					return not_finite(f, at, e);
				x += o->want[i].is_state ? 2 : 1;
			}
	return 0;
}

/* Inputs that take their numbers one after the other from each row of the file, which goes to the store. */
static struct row_store *store_inputs(struct idx_file *f, const struct read_options *o, uint32_t nx)
{
	struct row_store *s = row_store_new(f->path, nx);
	struct row_field field = { .fd = f->data.fd, .at = f->at, .type = idx_number(f->idx.type) };

	field.stride = width_of(&f->idx) * field.type.nbytes;
	for (unsigned i = 0; i < o->nwant; i++) {
		field.count = taken(&o->want[i]);
		field.pad = o->want[i].is_state;
		row_store_add(s, &field);
		field.at += (uint64_t)field.count * field.type.nbytes;
		field.first += o->want[i].count;
	}
	if (o->nwant)
		f->data.fd = -1;
	return s;
}

static int copy_labels(const struct idx_file *f, const struct label_map *m, struct dataset *d, struct err *e)
{
	for (uint64_t i = 0; i < f->idx.count; i++) {
		double v = idx_value(&f->idx, i);

		if (!isfinite(v))
			return not_finite(f, i, e);
		if (!label_map_apply(m, &v))
			return err_set(e, -ERR_BAD_DATA,
				"%s: row %llu: label %g is not in `label_map`; `'*': null` in it leaves out samples of other labels",
				f->path, (unsigned long long)(i / d->ny), v);
		d->y[i] = v;
	}
	return 0;
}

static int assemble(struct idx_file *x, const struct idx_file *y, const struct read_options *o,
	struct diags *diags, struct dataset **out, struct err *e)
{
	struct dataset *d = NULL;
	struct row_store *rows = NULL;
	uint64_t nx, ny = y->path ? width_of(&y->idx) : 0;
	int code = check_width(x, o, diags, &nx, e);

	if (!code && y->path && y->idx.dim[0] != x->idx.dim[0])
		code = err_set(e, -ERR_BAD_DATA, "%s has %u rows, %s has %u", x->path, x->idx.dim[0], y->path, y->idx.dim[0]);
	if (!code && ny > DATASET_COLUMNS_MAX)
		code = err_set(e, -ERR_BAD_DATA, "%s: more than %d labels in each row", y->path, DATASET_COLUMNS_MAX);
	if (!code && o->streamed)
		rows = store_inputs(x, o, (uint32_t)nx);
	code = code ? code
		    : dataset_new_stored(x->idx.dim[0], nx, (uint32_t)ny, x->path, rows, &d, e);
	if (code)
		row_store_free(rows);
	if (!code && !rows)
		code = copy_inputs(x, o, d, e);
	if (!code && ny)
		code = copy_labels(y, &o->label_map, d, e);
	if (code)
		dataset_free(d);
	else
		*out = d;
	return code;
}

int dataset_read_idx(const char *path, const struct read_options *o, struct diags *d, struct dataset **out,
	struct err *e)
{
	struct idx_file x = { .data = { .fd = -1 } }, y = x;
	struct read_options own;
	struct input_want want;
	arena_auto a = { 0 };
	struct sha256 h;

	sha256_init(&h);
	int code = o->streamed ? open_in_place(&x, path, &h, e) : open_file(&x, path, &h, e);
	if (!code)
		code = open_labels(&y, &a, path, o, &h, e);
	if (!code)
		code = assemble(&x, &y, reader_any_width(o, width_of(&x.idx), &own, &want), d, out, e);
	if (!code)
		sha256_end(&h, (*out)->digest);
	close_file(&x);
	close_file(&y);
	return code;
}
