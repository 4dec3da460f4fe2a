/* SPDX-License-Identifier: Apache-2.0
 * What the readers of the file formats share. */
#include "runtime/data/format/reader.h"

#include <string.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/temporary_file.h"

enum { DIGEST_PIECE = 1 << 18 };

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
		buf_printf(b, " (re, im, re, im, ... of %u amplitudes)", w->count / 2);
}

struct diag *reader_width(struct diags *d, const struct read_options *o, struct span at,
	const struct input_want *w, uint64_t width, const char *who)
{
	buf_auto b = BUF_INIT;

	for (unsigned i = 0; i < o->nwant; i++) {
		if ((w && w != &o->want[i]) || (!w && reader_map(o, o->want[i].name)))
			continue;
		if (b.len)
			buf_str(&b, ", ");
		describe(&b, &o->want[i]);
	}
	struct diag *g = diag_at(d, DIAG_DATA_WIDTH, at, "%s %llu column%s, but %s", who,
		(unsigned long long)width, width == 1 ? "" : "s",
		b.len ? b.data : "the model has no input");
	for (unsigned i = 0; i < o->nwant; i++)
		if ((!w || w == &o->want[i]) && o->want[i].at.file)
			diag_second(g, o->want[i].at, "`%s` is declared here", o->want[i].name);
	return g;
}

int reader_misfit(struct diags *d, const struct read_options *o, const struct input_want *w, struct err *e,
	const char *fmt, ...)
{
	buf_auto text = BUF_INIT;
	struct diag *g = NULL;
	va_list ap;

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
	return err_set(e, -ERR_BAD_DATA, "%s", text.data);
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
	return !m->n || label_map_named(m, LABEL_OTHERS, v);
}

bool label_map_named(const struct label_map *m, const char *name, double *v)
{
	for (unsigned i = 0; m->name && i < m->n; i++)
		if (!strcmp(m->name[i], name)) {
			*v = m->to[i];
			return true;
		}
	return false;
}

int data_file_open(struct data_file *f, const char *path, struct err *e)
{
	*f = (struct data_file){ .path = path, .fd = -1 };
	f->fd = file_open(path, &f->size, e);
	return f->fd < 0 ? f->fd : 0;
}

int data_file_read(const struct data_file *f, uint64_t at, void *p, size_t len, struct err *e)
{
	if (!f->bytes)
		return file_read(f->fd, f->path, at, p, len, e);
	memcpy(p, f->bytes + at, len);
	return 0;
}

int data_file_digest(const struct data_file *f, struct sha256 *h, struct err *e)
{
	mem_auto char *piece = mem_alloc(DIGEST_PIECE, 1);
	int code = 0;

	for (uint64_t at = 0, n; !code && at < f->size; at += n) {
		n = f->size - at < DIGEST_PIECE ? f->size - at : DIGEST_PIECE;
		code = data_file_read(f, at, piece, n, e);
		sha256_add(h, piece, n);
	}
	return code;
}

void data_file_close(struct data_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}
