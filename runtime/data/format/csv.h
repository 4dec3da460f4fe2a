/* SPDX-License-Identifier: Apache-2.0
 * CSV as rows of fields (RFC 4180: commas, double quotes, LF or CRLF), with the
 * place of every field.  Where the first row has no comma outside of quotes, but semicolons or else tabs,
 * these part the fields. */
#pragma once

#include "runtime/base/diag.h"

struct csv_field { uint32_t begin, end; bool is_quoted; };   /* bytes, without the quotes */

struct csv {
	struct diags *diags;
	uint32_t file;
	const char *text;
	size_t len, at;
	struct csv_field *field;         /* of the row read last */
	size_t nfield, cap;
	char separator;                  /* 0 until the first row was looked at */
	struct span row;                 /* its bytes without the line's end */
	struct csv_window *window;       /* NULL: the text is all there is */
	int code;                        /* why the next window could not be read */
};

/* Reads the text of a source from its start (a byte order mark is skipped). */
void csv_init(struct csv *c, struct diags *d, uint32_t file);
/* Reads `size` bytes of an open file, a window after the other; path is borrowed. A window that diagnostics point to
 * stays among the sources. */
int csv_init_file(struct csv *c, struct diags *d, int fd, const char *path, uint64_t size, struct err *e);
void csv_release(struct csv *c);
/* The next row that is not blank: 1, 0 at the end, -1 after reporting a fault that
 * leaves no way on, or with code and the struct err of csv_init_file set. */
int csv_next(struct csv *c);
struct span csv_span(const struct csv *c, size_t field);
/* The field's text with "" as ", blanks around it left out; the caller's to free. */
char *csv_text(const struct csv *c, size_t field);
/* True when the field is a decimal number (not nan, inf or hexadecimal). */
bool csv_number(const struct csv *c, size_t field, double *v);
