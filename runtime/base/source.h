/* SPDX-License-Identifier: Apache-2.0
 * Texts that people write (models, configs, CSV files) and places in them.
 *
 * A struct source_set owns the texts; a struct span names bytes [begin, end) of
 * one of them.  Lines and columns count from 1; a column counts characters
 * (UTF-8 code points), tabs are one column and are printed as written. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "runtime/base/buf.h"
#include "runtime/base/err.h"

/* SOURCE_BYTES_MAX: models and texts taken from memory; data files may be larger. */
enum { SOURCE_BYTES_MAX = 16 << 20, SOURCE_OPEN_MAX = 1 << 30, SOURCE_FILES_MAX = 256 };

struct span { uint32_t file, begin, end; };      /* file 0: no place */
struct place { const char *name; uint32_t line, column, end_line, end_column; };

struct source_set;

struct source_set *source_set_new(void);
void source_set_free(struct source_set *s);
/* Read a file or take a text (copied); the id (>= 1) or a negative error code. */
int source_open(struct source_set *s, const char *path, size_t max_bytes, struct err *e);
int source_add(struct source_set *s, const char *name, const char *text, size_t len);
/* The same of a file that was read already: takes *b, which is empty afterwards. */
int source_take(struct source_set *s, const char *path, struct buf *b, struct err *e);
/* -ERR_BAD_DATA with what to do about it where the bytes are text, but UTF-16. */
int text_check_encoding(const char *text, size_t len, struct err *e);
/* A part of a file, whose first line has this number: a source of its own (file 0), or in the place of source
 * `file`, to whose text no diagnostic points. The id or a negative error code. */
int source_window(struct source_set *s, uint32_t file, const char *name, const char *text, size_t len, uint32_t first_line,
	struct err *e);
const char *source_text(const struct source_set *s, uint32_t file, size_t *len); /* NUL-terminated */
const char *source_name(const struct source_set *s, uint32_t file);
struct place source_place(const struct source_set *s, struct span at);
/* The text of line `line` (1-based), without its newline. */
const char *source_line(const struct source_set *s, uint32_t file, uint32_t line, size_t *len);
struct span span_join(struct span a, struct span b);   /* smallest span over both */
struct span span_after(struct span a);                 /* the empty span just behind a */
