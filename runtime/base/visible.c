/* SPDX-License-Identifier: Apache-2.0
 * Control characters of C0 and C1, marks of direction (Unicode UAX 9) and other formats without a shape. */
#include "runtime/base/visible.h"

#include <string.h>

/* Inclusive. */
static const struct { uint32_t from, to; } hidden[] = {
	{ 0x00, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad }, { 0x61c, 0x61c }, { 0x180e, 0x180e }, { 0x200b, 0x200f },
	{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
};

static uint32_t code_point(const unsigned char *s, size_t len)
{
	uint32_t c = len == 1 ? s[0] : s[0] & (0xffu >> (len + 1));

	for (size_t k = 1; k < len; k++)
		c = c << 6 | (s[k] & 0x3f);
	return c;
}

bool visible_is_control(const unsigned char *s, size_t len)
{
	uint32_t c = code_point(s, len);

	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
		if (c >= hidden[i].from && c <= hidden[i].to)
			return true;
	return false;
}

static void put_hidden(struct buf *out, const unsigned char *s, size_t len, unsigned keep)
{
	uint32_t c = code_point(s, len);

	if (keep & VISIBLE_ONE_COLUMN)
		buf_char(out, '?');
	else
		buf_printf(out, c < 0x80 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

void visible_text(struct buf *out, const char *text, size_t len, unsigned keep)
{
	const unsigned char *s = (const unsigned char *)text;

	for (size_t i = 0, n; i < len; i += n) {
		n = s[i] ? utf8_bytes(s + i) : 1;
		if (!n || n > len - i) {
			n = 1;
			buf_printf(out, keep & VISIBLE_ONE_COLUMN ? "?" : "\\x%02x", s[i]);
		} else if ((s[i] == '\t' && keep & VISIBLE_TABS) || (s[i] == '\n' && keep & VISIBLE_LINES) || !visible_is_control(s + i, n)) {
			buf_add(out, s + i, n);
		} else {
			put_hidden(out, s + i, n, keep);
		}
	}
}

void visible_str(struct buf *out, const char *s) { visible_text(out, s, strlen(s), 0); }
