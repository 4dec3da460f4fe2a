/* SPDX-License-Identifier: Apache-2.0
 * Data sets: making, freeing, reading by the file's ending. */
#include "config.h"
#include "runtime/data/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto.h"
#include "runtime/data/generate.h"
#include "runtime/data/reader.h"

int dataset_new(uint64_t nrow, uint64_t nx, uint32_t ny, const char *source, struct dataset **out,
	struct err *e)
{
	struct dataset *d;

	if (nrow > DATASET_ROWS_MAX || nx > DATASET_COLUMNS_MAX || ny > DATASET_COLUMNS_MAX
			|| nrow * (nx + ny) > DATASET_BYTES_MAX / sizeof(double))
		return err_set(e, -ERR_BAD_DATA, "%llu rows of %llu numbers are beyond the limits "
			"(%d rows, %d columns, %llu bytes)", (unsigned long long)nrow, (unsigned long long)nx,
			DATASET_ROWS_MAX, DATASET_COLUMNS_MAX, (unsigned long long)DATASET_BYTES_MAX);
	d = mem_alloc(1, sizeof *d);
	d->nrow = (uint32_t)nrow;
	d->nx = (uint32_t)nx;
	d->ny = ny;
	d->source = mem_strdup(source);
	d->x = mem_try(nrow, nx * sizeof *d->x);
	d->y = ny ? mem_try(nrow, ny * sizeof *d->y) : NULL;
	if (!d->x || (ny && !d->y)) {
		dataset_free(d);
		return err_set(e, -ERR_CONFIG, "no memory for %llu rows of %llu numbers",
			(unsigned long long)nrow, (unsigned long long)(nx + ny));
	}
	*out = d;
	return 0;
}

void dataset_free(struct dataset *d)
{
	if (!d)
		return;
	free(d->x);
	free(d->y);
	free(d->weight);
	free(d->source);
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

/* IDX files are known by names such as train-images-idx3-ubyte. */
static bool names_idx(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strstr(slash ? slash : path, "idx") != NULL;
}

int dataset_read(const char *path, const struct read_options *o, struct diags *d,
	struct dataset **out, struct err *e)
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
	if (names_idx(path))
		return dataset_read_idx(path, o, d, out, e);
	return err_set(e, -ERR_BAD_DATA, "%s: data files end in .csv, .npz or .npy, or have idx in their names", path);
}
