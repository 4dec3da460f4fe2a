/* SPDX-License-Identifier: Apache-2.0
 * A canvas of characters, and what stands for each where only ASCII may. */
#include "compiler/draw/draw_canvas.h"

#include <string.h>

/* ---- characters ---- */

static uint32_t next_code(const char **p)
{
	const unsigned char *s = (const unsigned char *)*p;
	unsigned n = *s < 0x80 ? 0 : *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : 3;
	uint32_t v = n == 0 ? *s : *s & (0x3fu >> n);

	for (unsigned k = 1; k <= n && (s[k] & 0xc0) == 0x80; k++)
		v = v << 6 | (s[k] & 0x3f);
	for (*p += 1; n && (**p & 0xc0) == 0x80; n--)
		*p += 1;
	return v;
}

/* What stands for a character where only ASCII may. */
static const struct { uint32_t code; const char *text; } plain[] = {
	{ 0x2020, "'" }, { 0x3c0, "pi" }, { 0x2026, "~" }, { 0x27e8, "<" }, { 0x27e9, ">" }, { 0x25cf, "@" }, { 0x25cb, "o" },
	{ 0x2295, "X" }, { 0x2573, "x" }, { 0xbb, ">" }, { 0xab, "<" }, { 0x2192, "->" }, { 0x2550, "=" }, { 0x254e, ":" },
	{ 0x221a, "sqrt" }, { 0x3c6, "phi" },
};

static const char *in_ascii(uint32_t code)
{
	static char one[2];

	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (plain[i].code == code)
			return plain[i].text;
	one[0] = code < 0x80 ? (char)code : '?';
	return one;
}

static void put_code(struct buf *out, uint32_t v, bool ascii)
{
	unsigned more = v < 0x80 ? 0 : v < 0x800 ? 1 : v < 0x10000 ? 2 : 3; /* bytes of UTF-8 */

	if (ascii) {
		buf_str(out, in_ascii(v));
		return;
	}
	buf_char(out, (int)(more ? (0xff00u >> (more + 1) & 0xff) | v >> 6 * more : v));
	while (more--)
		buf_char(out, (int)(0x80 | (v >> 6 * more & 0x3f)));
}

void canvas_words(struct buf *out, const char *text, bool ascii)
{
	while (*text)
		put_code(out, next_code(&text), ascii);
}

unsigned canvas_columns(const char *text, bool ascii)
{
	unsigned n = 0;

	while (*text) {
		uint32_t v = next_code(&text);

		n += ascii ? (unsigned)strlen(in_ascii(v)) : 1;
	}
	return n;
}

static uint32_t line_of(unsigned arms, bool ascii)
{
	static const uint16_t code[16] = {
		' ', 0x2575, 0x2577, 0x2502, 0x2574, 0x2518, 0x2510, 0x2524,
		0x2576, 0x2514, 0x250c, 0x251c, 0x2500, 0x2534, 0x252c, 0x253c,
	};

	if (arms & DASHED)
		return arms & (LEFT | RIGHT) ? line_of(arms & (LEFT | RIGHT), ascii) : ascii ? ':' : 0x254e;
	if (arms & DOUBLE && (arms & 15) == (LEFT | RIGHT))
		return ascii ? '=' : 0x2550;
	if (ascii)
		return (unsigned char)" |||-+++-+++-+++"[arms & 15];
	return code[arms & 15];
}

/* ---- canvas ---- */

struct cell *canvas_cell(struct canvas *c, unsigned line, unsigned column)
{
	return &c->cell[(size_t)line * c->ncolumn + column];
}

void canvas_arms(struct canvas *c, unsigned line, unsigned column, unsigned a)
{
	canvas_cell(c, line, column)->arms |= (unsigned char)a;
}

void canvas_glyph(struct canvas *c, unsigned line, unsigned column, uint32_t code)
{
	canvas_cell(c, line, column)->glyph = code;
}

unsigned canvas_text(struct canvas *c, unsigned line, unsigned column, const char *text)
{
	while (*text) {
		uint32_t v = next_code(&text);

		if (!c->ascii) {
			canvas_glyph(c, line, column++, v);
			continue;
		}
		for (const char *a = in_ascii(v); *a; a++)
			canvas_glyph(c, line, column++, (unsigned char)*a);
	}
	return column;
}

void canvas_box(struct canvas *c, unsigned top, unsigned bottom, unsigned left, unsigned right)
{
	for (unsigned x = left + 1; x < right; x++) {
		canvas_arms(c, top, x, LEFT | RIGHT);
		canvas_arms(c, bottom, x, LEFT | RIGHT);
		for (unsigned y = top + 1; y < bottom; y++)
			*canvas_cell(c, y, x) = (struct cell){ 0, ' ' };
	}
	for (unsigned y = top; y <= bottom; y++) {
		unsigned a = (y > top ? UP : 0) | (y < bottom ? DOWN : 0);
		bool edge = y == top || y == bottom;

		canvas_cell(c, y, left)->arms &= (unsigned char)~(edge ? 0 : RIGHT | DOUBLE);
		canvas_cell(c, y, right)->arms &= (unsigned char)~(edge ? 0 : LEFT | DOUBLE);
		canvas_arms(c, y, left, a | (edge ? RIGHT : 0));
		canvas_arms(c, y, right, a | (edge ? LEFT : 0));
	}
}

void canvas_print(const struct canvas *c, unsigned first, struct buf *out)
{
	size_t begin = out->len;

	for (unsigned y = first; y < c->nline; y++) {
		for (unsigned x = 0; x < c->ncolumn; x++) {
			const struct cell *k = &c->cell[(size_t)y * c->ncolumn + x];
			uint32_t code = k->glyph ? k->glyph : line_of(k->arms, c->ascii);

			if (c->ascii && code >= 0x80)
				code = (unsigned char)*in_ascii(code);
			put_code(out, code, false);
		}
		while (out->len && out->data[out->len - 1] == ' ')
			out->len--;
		if (out->len > begin)        /* lines above the first box are left out */
			buf_char(out, '\n');
	}
	while (out->len > 1 && out->data[out->len - 1] == '\n' && out->data[out->len - 2] == '\n')
		out->len--;
}
