/* SPDX-License-Identifier: Apache-2.0
 * Data sets: making, freeing, reading by the file's ending. */
#include "config.h"
#include "runtime/data/dataset.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/base/input_files.h"
#include "runtime/base/system/temporary_file.h"
#include "runtime/data/dataset_spec.h"
#include "runtime/data/format/reader.h"
#include "runtime/data/format/row_store.h"
#include "runtime/data/generate/generate.h"

enum { CHUNK_ROWS = 256, DIGEST_PIECE = 1 << 18 };

static int new(uint64_t nrow, uint64_t nx, uint32_t ny, const char *source, struct row_store *rows, struct dataset **out,
	struct err *e)
{
	struct dataset *d;

	if (nrow > DATASET_ROWS_MAX || nx > DATASET_COLUMNS_MAX || ny > DATASET_COLUMNS_MAX
			|| nrow * ((rows ? 0 : nx) + ny) > DATASET_BYTES_MAX / sizeof(double))
		return err_set(e, -ERR_BAD_DATA, "%llu rows of %llu numbers are beyond the limits "
			"(%d rows, %d columns, %llu bytes)", (unsigned long long)nrow, (unsigned long long)nx,
			DATASET_ROWS_MAX, DATASET_COLUMNS_MAX, (unsigned long long)DATASET_BYTES_MAX);
	d = mem_alloc(1, sizeof *d);
	d->nrow = (uint32_t)nrow;
	d->nx = (uint32_t)nx;
	d->ny = ny;
	d->source = mem_strdup(source);
	d->x = rows ? NULL : mem_try(nrow, nx * sizeof *d->x);
	d->y = ny ? mem_try(nrow, ny * sizeof *d->y) : NULL;
	if ((!rows && !d->x) || (ny && !d->y)) {
		dataset_free(d);
		return err_set(e, -ERR_CONFIG, "no memory for %llu rows of %llu numbers%s",
			(unsigned long long)nrow, (unsigned long long)((rows ? 0 : nx) + ny), rows ? "" : "; data.streaming: on reads them bit by bit");
	}
	d->rows = rows;
	*out = d;
	return 0;
}

int dataset_new(uint64_t nrow, uint64_t nx, uint32_t ny, const char *source, struct dataset **out, struct err *e)
{
	return new(nrow, nx, ny, source, NULL, out, e);
}

/* Looks at every number once. */
static int check_rows(const struct dataset *d, struct err *e)
{
	double *x = mem_try(CHUNK_ROWS, (size_t)d->nx * sizeof *x);
	int code = x ? 0 : err_set(e, -ERR_CONFIG, "no memory for %d rows of %u numbers", CHUNK_ROWS, d->nx);

	for (uint32_t at = 0, n; !code && at < d->nrow; at += n) {
		n = d->nrow - at < CHUNK_ROWS ? d->nrow - at : CHUNK_ROWS;
		code = row_store_read(d->rows, NULL, at, n, x, e);
	}
	free(x);
	return code;
}

int dataset_new_stored(uint64_t nrow, uint64_t nx, uint32_t ny, const char *source, struct row_store *rows,
	struct dataset **out, struct err *e)
{
	struct dataset *d = NULL;
	int code = new(nrow, nx, ny, source, rows, &d, e);

	if (!code)
		code = check_rows(d, e);
	if (code && d) {
		d->rows = NULL;                  /* it stays the caller's */
		dataset_free(d);
	}
	if (!code)
		*out = d;
	return code;
}

int dataset_rows(const struct dataset *d, const uint32_t *row, uint32_t first, uint32_t n, double *x, struct err *e)
{
	if (d->rows)
		return row_store_read(d->rows, row, first, n, x, e);
	for (uint32_t i = 0; i < n; i++)
		memcpy(x + (size_t)i * d->nx, d->x + (size_t)(row ? row[i] : first + i) * d->nx, d->nx * sizeof *x);
	return 0;
}

int dataset_keep(struct dataset *d, uint64_t max_bytes, struct err *e)
{
	double *x;
	int code;

	if (!d->rows || (uint64_t)d->nrow * d->nx > max_bytes / sizeof *x)
		return 0;
	x = mem_try(d->nrow, d->nx * sizeof *x);
	if (!x)
		return err_set(e, -ERR_CONFIG, "no memory for %u rows of %u numbers", d->nrow, d->nx);
	code = row_store_read(d->rows, NULL, 0, d->nrow, x, e);
	if (code) {
		free(x);
		return code;
	}
	row_store_free(d->rows);
	d->rows = NULL;
	d->x = x;
	return 0;
}

void dataset_free(struct dataset *d)
{
	if (!d)
		return;
	row_store_free(d->rows);
	free(d->x);
	free(d->y);
	free(d->weight);
	for (uint32_t i = 0; i < d->ncolumn; i++)
		free(d->column[i]);
	free(d->column);
	free(d->source);
	free(d->spec);
	free(d);
}

void dataset_digest_arrays(struct dataset *d)
{
	size_t n = (size_t)d->nrow * d->nx, m = (size_t)d->nrow * d->ny;
	struct buf b = BUF_INIT;
	struct sha256 h;

	sha256_init(&h);
	buf_u32(&b, d->nrow);
	buf_u32(&b, d->nx);
	buf_u32(&b, d->ny);
	for (size_t i = 0; i < n + m; i++) {
		buf_f64(&b, i < n ? d->x[i] : d->y[i - n]);
		if (b.len < 4096 && i + 1 < n + m)
			continue;
		sha256_add(&h, b.data, b.len);
		buf_clear(&b);
	}
	sha256_add(&h, b.data, b.len);
	sha256_end(&h, d->digest);
	buf_release(&b);
}

const struct input_map *reader_map(const struct read_options *o, const char *input)
{
	for (unsigned i = 0; i < o->nmap; i++)
		if (!strcmp(o->map[i].input, input))
			return &o->map[i];
	return NULL;
}

static void describe(struct buf *b, const struct input_want *w)
{
	buf_printf(b, "input `%s` takes %u", w->name, w->count);
	if (w->is_state)
		buf_printf(b, " (re and im of %u amplitudes)", w->count / 2);
}

struct diag *reader_width(struct diags *d, const struct read_options *o, struct span at,
	const struct input_want *w, uint64_t width, const char *who)
{
	struct buf b = BUF_INIT;
	struct diag *g;

	for (unsigned i = 0; i < o->nwant; i++) {
		if ((w && w != &o->want[i]) || (!w && reader_map(o, o->want[i].name)))
			continue;
		if (b.len)
			buf_str(&b, ", ");
		describe(&b, &o->want[i]);
	}
	g = diag_at(d, DIAG_DATA_WIDTH, at, "%s %llu column%s, but %s", who, (unsigned long long)width,
		width == 1 ? "" : "s", b.len ? b.data : "the model has no input");
	for (unsigned i = 0; i < o->nwant; i++)
		if ((!w || w == &o->want[i]) && o->want[i].at.file)
			diag_second(g, o->want[i].at, "`%s` is declared here", o->want[i].name);
	buf_release(&b);
	return g;
}

int reader_misfit(struct diags *d, const struct read_options *o, const struct input_want *w, struct err *e,
	const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	struct diag *g = NULL;
	va_list ap;
	int code;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	for (unsigned i = 0; d && i < o->nwant; i++) {
		if (!o->want[i].at.file || (w && strcmp(w->name, o->want[i].name)))
			continue;
		if (g)
			diag_second(g, o->want[i].at, "`%s` is declared here", o->want[i].name);
		else
			g = diag_at(d, DIAG_DATA_WIDTH, o->want[i].at, "%s", text.data);
	}
	code = err_set(e, -ERR_BAD_DATA, "%s", text.data);
	buf_release(&text);
	return code;
}

const struct read_options *reader_any_width(const struct read_options *o, uint64_t width, struct read_options *copy,
	struct input_want *want)
{
	if (o->nwant != 1 || !o->want->any_count)
		return o;
	*want = *o->want;
	want->count = width < DATASET_COLUMNS_MAX ? (uint32_t)width : DATASET_COLUMNS_MAX;
	*copy = *o;
	copy->want = want;
	return copy;
}

bool label_map_apply(const struct label_map *m, double *v)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->from[i] == *v) {
			*v = m->to[i];
			return true;
		}
	return !m->n;
}

int data_file_open(struct data_file *f, const char *path, struct err *e)
{
	*f = (struct data_file){ path, -1, 0 };
	f->fd = file_open(path, &f->size, e);
	return f->fd < 0 ? f->fd : 0;
}

int data_file_digest(const struct data_file *f, struct sha256 *h, struct err *e)
{
	char *piece = mem_alloc(DIGEST_PIECE, 1);
	int code = 0;

	for (uint64_t at = 0, n; !code && at < f->size; at += n) {
		n = f->size - at < DIGEST_PIECE ? f->size - at : DIGEST_PIECE;
		code = file_read(f->fd, f->path, at, piece, n, e);
		sha256_add(h, piece, n);
	}
	free(piece);
	return code;
}

void data_file_close(struct data_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* IDX files are known by names such as train-images-idx3-ubyte. */
static bool names_idx(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strstr(slash ? slash : path, "idx") != NULL;
}

static int read_format(const char *path, const struct read_options *o, struct diags *d, struct dataset **out, struct err *e)
{
	static const struct {
		const char *ending;
		int (*read)(const char *, const struct read_options *, struct diags *, struct dataset **,
			struct err *);
	} format[] = {
		{ ".csv", dataset_read_csv }, { ".npz", dataset_read_arrays }, { ".npy", dataset_read_arrays },
	};
	size_t len = strlen(path);
	uint64_t nx = 0;

	for (unsigned i = 0; i < o->nwant; i++)
		nx += o->want[i].count;
	if (nx > DATASET_COLUMNS_MAX)
		return err_set(e, -ERR_BAD_DATA, "the model's inputs have %llu numbers, more than %d",
			(unsigned long long)nx, DATASET_COLUMNS_MAX);
	for (size_t i = 0; i < sizeof format / sizeof *format; i++)
		if (len > 4 && !strcmp(path + len - 4, format[i].ending))
			return format[i].read(path, o, d, out, e);
	if (input_is_stdin(path))
		return dataset_read_csv(path, o, d, out, e);
	if (names_idx(path))
		return dataset_read_idx(path, o, d, out, e);
	return err_set(e, -ERR_BAD_DATA, "%s: data files end in .csv, .npz or .npy, or have idx in their names", path);
}

int dataset_read(const char *path, const struct read_options *o, struct diags *d,
	struct dataset **out, struct err *e)
{
	struct buf spec = BUF_INIT;
	int code;

	*out = NULL;
	code = read_format(path, o, d, out, e);
	if (!code && *out) {
		dataset_spec_format(o, &spec);
		(*out)->spec = mem_strdup(spec.data);
		buf_release(&spec);
	}
	return code;
}

uint64_t dataset_memory(const char *path)
{
	/* Bytes for each of the file: its own, and doubles made of the smallest numbers that are usual in it. */
	static const struct { const char *ending; unsigned times; } row[] = {
		{ ".csv", 5 }, { ".npz", 9 }, { ".npy", 5 }, { ".gz", 60 }, { "", 9 },
	};
	size_t len = strlen(path), n, i = 0;
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	while (n = strlen(row[i].ending), len < n || strcmp(path + len - n, row[i].ending))
		i++;
	if (!i && st.st_size > CSV_BYTES_MAX)
		return UINT64_MAX;               /* too long to be read at once */
	return (uint64_t)st.st_size * row[i].times;
}
