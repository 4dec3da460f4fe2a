/* SPDX-License-Identifier: Apache-2.0
 * What all messages are made of. */
#include "runtime/net/protocol/wire_parts.h"

#include <string.h>

struct fields field_write(struct buf *b, enum wire_type type)
{
	buf_u8(b, (uint8_t)type);
	return (struct fields){ .out = b };
}

struct fields field_read(const uint8_t *p, size_t len, enum wire_type type)
{
	struct fields r = { .in = { .p = p, .len = len } };

	field_check(&r, rd_u8(&r.in) == type);
	return r;
}

bool field_whole(const struct fields *p) { return !p->in.bad && p->in.at == p->in.len; }

void field_check(struct fields *p, bool holds)
{
	if (!p->out && !holds)
		p->in.bad = 1;
}

#define NUMBER(name, type) \
	void field_##name(struct fields *p, type *v) \
	{ \
		if (p->out) \
			buf_##name(p->out, *v); \
		else \
			*v = rd_##name(&p->in); \
	}
NUMBER(u8, uint8_t)
NUMBER(u16, uint16_t)
NUMBER(u32, uint32_t)
NUMBER(u64, uint64_t)
NUMBER(f64, double)

void field_bool(struct fields *p, bool *v)
{
	uint8_t byte = p->out ? *v : 0;

	field_u8(p, &byte);
	field_check(p, byte <= 1);
	if (!p->out)
		*v = byte;
}

void field_text(struct fields *p, char *text, size_t size)
{
	uint16_t len = p->out ? (uint16_t)strlen(text) : 0;

	field_u16(p, &len);
	field_check(p, len < size);
	if (p->in.bad)
		len = 0;
	field_bytes(p, text, len);
	field_check(p, !memchr(text, 0, len));
	if (!p->out)
		text[len] = 0;
}

void field_bytes(struct fields *p, void *bytes, size_t len)
{
	const uint8_t *from = p->out ? NULL : rd_bytes(&p->in, len);

	if (p->out)
		buf_add(p->out, bytes, len);
	else if (from)
		memcpy(bytes, from, len);
}

void field_doubles(struct fields *p, double *v, uint32_t n)
{
	const uint8_t *from = NULL;

	field_array(p, &from, n, sizeof *v);
	if (p->out)
		buf_f64s(p->out, v, n);
	else if (from)
		wire_doubles(from, n, v);
}

void field_blob(struct fields *p, const uint8_t **bytes, uint64_t n)
{
	if (p->out)
		buf_add(p->out, *bytes, n);
	field_array(p, bytes, n, 1);
}

void field_long_text(struct fields *p, const char **text, uint32_t *n)
{
	const uint8_t *bytes = p->out ? (const uint8_t *)*text : NULL;

	field_u32(p, n);
	field_blob(p, &bytes, *n);
	if (!p->out)
		*text = (const char *)bytes;
}

void field_array(struct fields *p, const uint8_t **elements, uint64_t n, size_t size)
{
	if (p->out)
		return;
	field_check(p, n <= WIRE_BODY_MAX / size);
	*elements = rd_bytes(&p->in, (size_t)n * size);
}

void field_units(struct fields *p, struct wire_units *u)
{
	field_u32(p, &u->first);
	field_u32(p, &u->nbit);
	field_check(p, u->nbit && u->nbit <= WIRE_UNITS_MAX && u->first <= WIRE_UNITS_MAX - u->nbit);
	size_t nbyte = WIRE_MAP_BYTES(u->nbit);
	field_blob(p, &u->bit, nbyte);
	if (!p->out && !p->in.bad)
		field_check(p, (u->bit[0] & 1) && u->bit[nbyte - 1] >> ((u->nbit - 1) & 7) == 1);
}

uint32_t wire_units_list(const struct wire_units *u, uint32_t *id)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < u->nbit; k++)
		if (u->bit[k / 8] >> (k & 7) & 1) {
			if (id)
				id[n] = u->first + k;
			n++;
		}
	return n;
}

struct wire_units wire_units_of(const uint32_t *id, uint32_t nid, uint8_t *bit)
{
	struct wire_units u = { id[0], id[nid - 1] - id[0] + 1, bit };

	memset(bit, 0, WIRE_MAP_BYTES(u.nbit));
	for (uint32_t k = 0; k < nid; k++)
		bit[(id[k] - u.first) / 8] |= (uint8_t)(1 << ((id[k] - u.first) & 7));
	return u;
}

void wire_doubles(const uint8_t *p, size_t n, double *out) { words_copy(out, p, n); }

void wire_fixed(const uint8_t *p, size_t n, struct fixed *out) { words_copy(out, p, 2 * n); }
