/* SPDX-License-Identifier: Apache-2.0
 * Width of terminals, and wrapping at words. */
#include "runtime/log/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { WIDTH_UNKNOWN = 80, HEIGHT_UNKNOWN = 24, WIDTH_LEAST = 20, WIDTH_MOST = 1000, INDENT = 2 };

unsigned terminal_width(FILE *f, unsigned *height)
{
	struct winsize size = { .ws_row = 0 };
	const char *columns = getenv("COLUMNS");
	long width = 0;

	if (!ioctl(fileno(f), TIOCGWINSZ, &size))
		width = size.ws_col;
	if (!width && columns)
		width = strtol(columns, NULL, 10);
	if (width <= 0)
		width = WIDTH_UNKNOWN;
	if (height)
		*height = size.ws_row ? size.ws_row : HEIGHT_UNKNOWN;
	return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : (unsigned)width;
}

/* Columns of n bytes of UTF-8; an escape sequence that sets a colour has none. */
static size_t columns_of(const char *s, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0; i < n; i++)
		if (s[i] == '\033')
			while (i < n && s[i] != 'm')
				i++;
		else
			columns += ((unsigned char)s[i] & 0xc0) != 0x80;
	return columns;
}

void terminal_wrap(const char *text, size_t width, struct buf *out)
{
	size_t used = 0;             /* columns of the line; 0: at its beginning */

	while (*text) {
		size_t space = strspn(text, " "), len = strcspn(text + space, " \n"), columns = columns_of(text + space, len);

		if (used && len && used + space + columns >= width) {
			buf_char(out, '\n');
			buf_pad(out, ' ', INDENT);
			used = INDENT;
		} else {
			buf_pad(out, ' ', space);
			used += space;
		}
		buf_add(out, text + space, len);
		used += columns;
		text += space + len;
		if (*text == '\n') {
			buf_char(out, '\n');
			used = 0;
			text++;
		}
	}
}
