/* SPDX-License-Identifier: Apache-2.0
 * The growing byte buffer, numbers as text, and the cursor that reads bytes. */
#include "runtime/base/buf.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/visible.h"

void buf_init(struct buf *b) { *b = (struct buf)BUF_INIT; }

void buf_release(struct buf *b)
{
	int saved = errno;

	free(b->data);
	errno = saved;
	buf_init(b);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

/* Room for `more` bytes and the NUL. */
static char *room(struct buf *b, size_t more)
{
	size_t need, cap = b->cap ? b->cap : 64;

	if (__builtin_add_overflow(b->len, more, &need) || need > PTRDIFF_MAX / 2)
		need = PTRDIFF_MAX;     /* mem_grow reports it */
	need++;
	while (cap < need)
		cap = cap > need / 2 ? 2 * cap : need;
	if (cap != b->cap) {
		b->data = mem_grow(b->data, cap, 1);
		b->cap = cap;
	}
	return b->data + b->len;
}

void buf_reserve(struct buf *b, size_t more) { room(b, more); }

void buf_add(struct buf *b, const void *p, size_t len)
{
	char *at = room(b, len);

	if (len)
		memcpy(at, p, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_str(struct buf *b, const char *s) { buf_add(b, s, strlen(s)); }

void buf_char(struct buf *b, int c)
{
	char ch = (char)c;

	buf_add(b, &ch, 1);
}

void buf_pad(struct buf *b, int c, size_t n)
{
	memset(room(b, n), c, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int len = vsnprintf(NULL, 0, fmt, ap);
	if (len < 0)
		BUG("bad format \"%s\"", fmt);
	vsnprintf(room(b, (size_t)len), (size_t)len + 1, fmt, again);
	va_end(again);
	b->len += (size_t)len;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void buf_little(struct buf *b, uint64_t v, size_t nbyte)
{
	uint8_t byte[8];

	for (size_t i = 0; i < nbyte; i++)
		byte[i] = (uint8_t)(v >> 8 * i);
	buf_add(b, byte, nbyte);
}

void buf_u8(struct buf *b, uint8_t v) { buf_little(b, v, 1); }
void buf_u16(struct buf *b, uint16_t v) { buf_little(b, v, 2); }
void buf_u32(struct buf *b, uint32_t v) { buf_little(b, v, 4); }
void buf_u64(struct buf *b, uint64_t v) { buf_little(b, v, 8); }

void buf_f64(struct buf *b, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	buf_u64(b, bits);
}

void words_copy(void *to, const void *from, size_t n)
{
	if (n)
		memcpy(to, from, n * sizeof(uint64_t));
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	for (size_t i = 0; i < n; i++) {
		uint64_t word;
		char *at = (char *)to + i * sizeof word;

		memcpy(&word, at, sizeof word);
		word = __builtin_bswap64(word);
		memcpy(at, &word, sizeof word);
	}
#endif
}

void buf_words(struct buf *b, const void *v, size_t n)
{
	words_copy(room(b, n * sizeof(uint64_t)), v, n);
	b->len += n * sizeof(uint64_t);
	b->data[b->len] = '\0';
}

void buf_f64s(struct buf *b, const double *v, size_t n) { buf_words(b, v, n); }

/* 15 digits always survive the way to double and back, so where 15 suffice %g
 * (which drops trailing zeros) is the shortest; subnormals have fewer bits. */
void buf_real(struct buf *b, double v)
{
	int first = fpclassify(v) == FP_SUBNORMAL ? 1 : 15;
	char text[40] = "nan";

	if (isinf(v))
		strcpy(text, v < 0 ? "-inf" : "inf");
	else if (!isnan(v))
		for (int digits = first; digits <= 17; digits++) {
			snprintf(text, sizeof text, "%.*g", digits, v);
			if (strtod(text, NULL) == v)
				break;
		}
	buf_str(b, text);
}

void buf_json_f64(struct buf *b, double v)
{
	if (v == 0 && signbit(v))
		buf_str(b, "-0.0"); /* -0 is an integer, which has no sign */
	else if (isfinite(v))
		buf_real(b, v);
	else
		buf_str(b, "null");
}

size_t utf8_bytes(const unsigned char *s)
{
	static const struct { unsigned char from, to, second_from, second_to, len; } lead[] = {
		{ 0x01, 0x7f, 0, 0, 1 },          { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },    { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },    { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },    { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof lead / sizeof *lead; i++) {
		if (s[0] < lead[i].from || s[0] > lead[i].to)
			continue;
		if (lead[i].len > 1 && (s[1] < lead[i].second_from || s[1] > lead[i].second_to))
			return 0;
		for (size_t k = 2; k < lead[i].len; k++)
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		return lead[i].len;
	}
	return 0;
}

/* How many stand for themselves in a string of JSON. */
static size_t plain_bytes(const unsigned char *p)
{
	size_t n = 0;

	while (p[n] >= ' ' && p[n] < 0x7f && p[n] != '"' && p[n] != '\\')
		n++;
	return n;
}

void buf_json_str(struct buf *b, const char *s)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
	const unsigned char *p = (const unsigned char *)s;
	size_t len;

	if (!s) {
		buf_str(b, "null");
		return;
	}
	buf_char(b, '"');
	for (; *p; p += len) {
		len = plain_bytes(p);
		if (len) {
			buf_add(b, p, len);
			continue;
		}
		len = utf8_bytes(p);
		const char *special = strchr(plain, *p);
		if (special)
			buf_printf(b, "\\%c", letter[special - plain]);
		else if (*p < ' ' || *p == 0x7f)
			buf_printf(b, "\\u%04x", *p);
		else if (len && len < 4 && visible_is_control(p, len))
			buf_printf(b, "\\u%04x", len == 2 ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)
				: (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu));
		else if (len)
			buf_add(b, p, len);
		else
			buf_str(b, "\\ufffd");
		if (!len)
			len = 1;
	}
	buf_char(b, '"');
}

/* One conversion of buf_json with its value; returns what is behind it. */
static const char *json_value(struct buf *b, const char *spec, va_list *values)
{
	const char *type = spec + 1 + strspn(spec + 1, "0123456789lz");
	char one[16] = "";

	memcpy(one, spec, (size_t)(type - spec) < sizeof one - 1 ? (size_t)(type - spec) + 1 : 0);
	if (*type == 's')
		buf_json_str(b, va_arg(*values, const char *));
	else if (*type == 'g')
		buf_json_f64(b, va_arg(*values, double));
	else if (*type == 'i')
		buf_str(b, va_arg(*values, int) ? "true" : "false");
	else if (strstr(one, "ll"))
		buf_printf(b, one, va_arg(*values, unsigned long long));
	else if (strchr(one, 'l') || strchr(one, 'z'))
		buf_printf(b, one, va_arg(*values, unsigned long));
	else if (*type == 'd' || *type == 'u')
		buf_printf(b, one, va_arg(*values, unsigned));
	else
		BUG("buf_json has no %%%c", *type);
	return type + 1;
}

void buf_json(struct buf *b, const char *fmt, ...)
{
	va_list values;

	if (*fmt == ',' && b->len && strchr("[{", b->data[b->len - 1]))
		fmt += 1 + (fmt[1] == ' ');
	va_start(values, fmt);
	while (*fmt) {
		size_t n = strcspn(fmt, "%");

		buf_add(b, fmt, n);
		fmt += n;
		if (*fmt)
			fmt = json_value(b, fmt, &values);
	}
	va_end(values);
}

void buf_xml_str(struct buf *b, const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case '&': buf_str(b, "&amp;"); break;
		case '<': buf_str(b, "&lt;"); break;
		case '>': buf_str(b, "&gt;"); break;
		case '"': buf_str(b, "&quot;"); break;
		default: buf_char(b, (unsigned char)*s < ' ' ? ' ' : *s);
		}
}

void buf_xml_in(struct buf *b, const char *before, const char *s, const char *after)
{
	buf_str(b, before);
	buf_xml_str(b, s);
	buf_str(b, after);
}

void buf_csv_str(struct buf *b, const char *s)
{
	buf_char(b, '"');
	for (; *s; s++)
		*s == '"' ? buf_str(b, "\"\"") : buf_char(b, *s);
	buf_char(b, '"');
}

void buf_shell_quoted(struct buf *b, const char *s)
{
	buf_char(b, '\'');
	for (; *s; s++)
		*s == '\'' ? buf_str(b, "'\\''") : buf_char(b, *s);
	buf_char(b, '\'');
}

void buf_shell_word(struct buf *b, const char *s)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%";

	*s && !s[strspn(s, plain)] ? buf_str(b, s) : buf_shell_quoted(b, s);
}

char *buf_take(struct buf *b)
{
	room(b, 0)[0] = '\0';
	char *s = b->data;
	buf_init(b);
	return s;
}

const uint8_t *rd_bytes(struct rd *r, size_t len)
{
	if (r->bad || len > r->len - r->at) {
		r->bad = 1;
		return NULL;
	}
	const uint8_t *p = r->p + r->at;
	r->at += len;
	return p;
}

uint64_t rd_little(struct rd *r, size_t nbyte)
{
	const uint8_t *p = rd_bytes(r, nbyte);
	uint64_t v = 0;

	for (size_t i = 0; p && i < nbyte; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

uint8_t rd_u8(struct rd *r) { return (uint8_t)rd_little(r, 1); }
uint16_t rd_u16(struct rd *r) { return (uint16_t)rd_little(r, 2); }
uint32_t rd_u32(struct rd *r) { return (uint32_t)rd_little(r, 4); }
uint64_t rd_u64(struct rd *r) { return rd_little(r, 8); }

double rd_f64(struct rd *r)
{
	uint64_t bits = rd_u64(r);
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}
