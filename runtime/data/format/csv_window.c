/* SPDX-License-Identifier: Apache-2.0
 * Windows of a CSV file. */
#include "runtime/data/format/csv_window.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/temporary_file.h"
#include "runtime/data/format/dataset_read.h"

struct csv_window {
	int fd;
	const char *path;
	uint64_t at, left;           /* of the file's bytes behind the window */
	uint32_t line;               /* of the window's first byte */
	unsigned faults;             /* that were known when the window was read */
	struct err *e;
};

/* Behind the quoted field that begins at `at`, or the end. */
static size_t skip_quoted(const struct csv *c, size_t at)
{
	const char *quote;

	for (at++; (quote = memchr(c->text + at, '"', c->len - at)); at++) {
		at = (size_t)(quote - c->text) + 1;
		if (at >= c->len || c->text[at] != '"')
			return at;
	}
	return c->len;
}

/* Does the row at c->at, behind lines of blanks, end with a newline of the window? */
static bool row_is_whole(const struct csv *c)
{
	size_t at = c->at;
	bool begins = true;

	while (at < c->len && c->text[at] && strchr(" \t\r\n", c->text[at]))
		at++;
	while (at < c->len && c->text[at] != '\n') {
		if (begins && c->text[at] == '"') {
			at = skip_quoted(c, at);
			begins = false;
			continue;
		}
		begins = c->text[at] == (c->separator ? c->separator : ',');
		at++;
	}
	return at < c->len;
}

static unsigned known_faults(const struct csv *c)
{
	return diags_errors(c->diags) + diags_warnings(c->diags);
}

/* The bytes from c->at on, and those that follow in the file. */
static int move_on(struct csv *c, struct err *e)
{
	struct csv_window *w = c->window;
	size_t kept = c->len - c->at, most = 2 * kept > CSV_WINDOW_BYTES ? 2 * kept : CSV_WINDOW_BYTES;
	size_t n = w->left < most - kept ? (size_t)w->left : most - kept;

	if (kept > CSV_ROW_BYTES_MAX)
		return err_set(e, -ERR_BAD_DATA, "a row has more than %d bytes", CSV_ROW_BYTES_MAX);
	char *text = mem_try(kept + n + 1, 1);
	if (!text)
		return err_set(e, -ERR_CONFIG, "no memory for %zu bytes of a row", kept + n);
	memcpy(text, c->text + c->at, kept);
	int code = file_read(w->fd, w->path, w->at, text + kept, n, e);
	if (code) {
		free(text);
		return code;
	}
	for (const char *p = c->text; (p = memchr(p, '\n', (size_t)(c->text + c->at - p))); p++)
		w->line++;
	code = source_window(diags_sources(c->diags), known_faults(c) == w->faults ? c->file : 0, w->path, text, kept + n, w->line, e);
	free(text);
	if (code < 0)
		return code;
	w->at += n;
	w->left -= n;
	w->faults = known_faults(c);
	c->file = (uint32_t)code;
	c->text = source_text(diags_sources(c->diags), c->file, &c->len);
	c->at = 0;
	return 0;
}

int csv_window_ready(struct csv *c)
{
	while (!c->code && c->window->left && !row_is_whole(c))
		c->code = move_on(c, c->window->e);
	return c->code;
}

int csv_init_file(struct csv *c, struct diags *d, int fd, const char *path, uint64_t size, struct err *e)
{
	struct csv_window *w = mem_alloc(1, sizeof *w);

	*w = (struct csv_window){ .fd = fd, .path = path, .left = size, .line = 1, .e = e };
	*c = (struct csv){ .diags = d, .text = "", .window = w };
	/* No source yet: the first window is a new one. */
	w->faults = known_faults(c) + 1;
	c->code = move_on(c, e);
	if (!c->code && c->len >= 3 && !memcmp(c->text, "\xef\xbb\xbf", 3))
		c->at = 3;
	if (c->code)
		csv_release(c);
	return c->code;
}

void csv_window_free(struct csv_window *w) { free(w); }
