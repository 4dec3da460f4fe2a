/* SPDX-License-Identifier: Apache-2.0
 * Texts and places: each text keeps the offsets at which its lines begin. */
#include "runtime/base/source.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/base/input_files.h"

struct source {
	char *name, *text;
	size_t len;
	uint32_t before;                    /* lines that stand before the text */
	uint32_t *begin, nline, line_cap;   /* begin[i]: offset of line i + 1; made when asked for */
};

struct source_set {
	struct source *file;
	uint32_t nfile, cap;
};

struct source_set *source_set_new(void) { return mem_alloc(1, sizeof(struct source_set)); }

void source_set_free(struct source_set *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nfile; i++) {
		free(s->file[i].name);
		free(s->file[i].text);
		free(s->file[i].begin);
	}
	free(s->file);
	free(s);
}

static const struct source *get(const struct source_set *s, uint32_t file)
{
	if (!file || file > s->nfile)
		BUG("no source file %u", file);
	return &s->file[file - 1];
}

static void add_line(struct source *f, size_t begin)
{
	mem_reserve(f->begin, f->nline, f->line_cap);
	f->begin[f->nline++] = (uint32_t)begin;
}

/* The same with its lines known: data without faults never pays for them. */
static const struct source *get_lines(const struct source_set *s, uint32_t file)
{
	struct source *f = &s->file[get(s, file) - s->file];

	if (f->nline)
		return f;
	add_line(f, 0);
	for (const char *p = f->text; (p = memchr(p, '\n', f->len - (size_t)(p - f->text))); )
		add_line(f, (size_t)(++p - f->text));
	return f;
}

/* Takes text, which is NUL-terminated. */
static int take(struct source_set *s, const char *name, char *text, size_t len)
{
	mem_reserve(s->file, s->nfile, s->cap);
	s->file[s->nfile++] = (struct source){ .name = mem_strdup(name), .text = text, .len = len };
	return (int)s->nfile;
}

static int too_many(const struct source_set *s, struct err *e)
{
	if (s->nfile < SOURCE_FILES_MAX)
		return 0;
	return err_set(e, -ERR_BAD_DATA, "more than %d source files", SOURCE_FILES_MAX);
}

int text_check_encoding(const char *text, size_t len, struct err *e)
{
	/* A byte order mark, or an ASCII character with its other byte. */
	if (len < 2 || (memcmp(text, "\xff\xfe", 2) && memcmp(text, "\xfe\xff", 2) && !text[0] == !text[1]))
		return 0;
	return err_set(e, -ERR_BAD_DATA, "the text is UTF-16; save it as UTF-8, or: iconv -f UTF-16 -t UTF-8");
}

int source_take(struct source_set *s, const char *path, struct buf *b, struct err *e)
{
	size_t len = b->len;
	int code = too_many(s, e);

	if (!code && text_check_encoding(b->data, len, e)) {
		err_prefix(e, "%s", input_name(path));
		code = -ERR_BAD_DATA;
	}
	if (code) {
		buf_release(b);
		return code;
	}
	return take(s, input_name(path), buf_take(b), len);
}

int source_open(struct source_set *s, const char *path, size_t max_bytes, struct err *e)
{
	struct buf b = BUF_INIT;
	int code = too_many(s, e);

	if (max_bytes > SOURCE_OPEN_MAX)
		max_bytes = SOURCE_OPEN_MAX;
	if (!code)
		code = buf_read_file(&b, path, max_bytes, e);
	return code ? code : source_take(s, path, &b, e);
}

int source_add(struct source_set *s, const char *name, const char *text, size_t len)
{
	if (len > SOURCE_BYTES_MAX || too_many(s, NULL))
		return -ERR_BAD_DATA;
	char *copy = mem_alloc(len + 1, 1);
	if (len)
		memcpy(copy, text, len);
	return take(s, name, copy, len);
}

int source_window(struct source_set *s, uint32_t file, const char *name, const char *text, size_t len, uint32_t first_line,
	struct err *e)
{
	char *copy = mem_try(len + 1, 1);
	int code = file ? 0 : too_many(s, e);

	if (!code && !copy)
		code = err_set(e, -ERR_CONFIG, "no memory for %zu bytes of %s", len, name);
	if (code) {
		free(copy);
		return code;
	}
	memcpy(copy, text, len);
	if (!file)
		file = (uint32_t)take(s, name, mem_alloc(1, 1), 0);
	struct source *f = &s->file[get(s, file) - s->file];
	free(f->text);
	f->text = copy;
	f->len = len;
	f->before = first_line - 1;
	f->nline = 0;
	return (int)file;
}

const char *source_text(const struct source_set *s, uint32_t file, size_t *len)
{
	const struct source *f = get(s, file);

	if (len)
		*len = f->len;
	return f->text;
}

const char *source_name(const struct source_set *s, uint32_t file) { return get(s, file)->name; }

/* Line (1-based) that holds the byte at `offset`. */
static uint32_t line_of(const struct source *f, size_t offset)
{
	uint32_t low = 0, high = f->nline, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (f->begin[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low + 1;
}

static uint32_t column_of(const struct source *f, uint32_t line, size_t offset)
{
	uint32_t column = 1;

	for (size_t i = f->begin[line - 1]; i < offset; i++)
		column += (f->text[i] & 0xc0) != 0x80;
	return column;
}

static size_t clamp(const struct source *f, size_t offset)
{
	return offset < f->len ? offset : f->len;
}

struct place source_place(const struct source_set *s, struct span at)
{
	struct place p = { "", 0, 0, 0, 0 };

	if (!at.file)
		return p;
	const struct source *f = get_lines(s, at.file);
	size_t begin = clamp(f, at.begin);
	size_t end = clamp(f, at.end > at.begin ? at.end : at.begin);
	p.name = f->name;
	p.line = line_of(f, begin);
	p.column = column_of(f, p.line, begin);
	p.end_line = line_of(f, end);
	p.end_column = column_of(f, p.end_line, end);
	p.line += f->before;
	p.end_line += f->before;
	return p;
}

const char *source_line(const struct source_set *s, uint32_t file, uint32_t line, size_t *len)
{
	const struct source *f = get_lines(s, file);

	if (line <= f->before || line - f->before > f->nline)
		BUG("%s has no line %u", f->name, line);
	line -= f->before;
	size_t begin = f->begin[line - 1];
	size_t end = line < f->nline ? f->begin[line] - 1 : f->len;
	if (end > begin && f->text[end - 1] == '\r')
		end--;
	*len = end - begin;
	return f->text + begin;
}

struct span span_join(struct span a, struct span b)
{
	if (!a.file)
		return b;
	if (!b.file || b.file != a.file)
		return a;
	return (struct span){ a.file, a.begin < b.begin ? a.begin : b.begin,
		a.end > b.end ? a.end : b.end };
}

struct span span_after(struct span a) { return (struct span){ a.file, a.end, a.end }; }
