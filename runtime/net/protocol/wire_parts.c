/* SPDX-License-Identifier: Apache-2.0
 * What all messages are made of. */
#include "runtime/net/protocol/wire_parts.h"

#include <string.h>

void part_put_text(struct buf *b, const char *text)
{
	size_t len = strlen(text);

	buf_u16(b, (uint16_t)len);
	buf_add(b, text, len);
}

void part_text(struct rd *r, char *out, size_t size)
{
	size_t len = rd_u16(r);
	const uint8_t *p = rd_bytes(r, len);

	out[0] = 0;
	if (r->bad || len >= size || memchr(p, 0, len)) {
		r->bad = 1;
		return;
	}
	memcpy(out, p, len);
	out[len] = 0;
}

void part_bytes(struct rd *r, void *out, size_t len)
{
	const uint8_t *p = rd_bytes(r, len);

	if (p)
		memcpy(out, p, len);
	else
		memset(out, 0, len);
}

const uint8_t *part_array(struct rd *r, uint64_t n, size_t size)
{
	if (n > WIRE_BODY_MAX / size) {
		r->bad = 1;
		return NULL;
	}
	return rd_bytes(r, (size_t)n * size);
}

struct rd part_begin(const uint8_t *p, size_t len, enum wire_type type)
{
	struct rd r = { .p = p, .len = len };

	if (rd_u8(&r) != type)
		r.bad = 1;
	return r;
}

bool part_whole(const struct rd *r) { return !r->bad && r->at == r->len; }

void part_put_units(struct buf *b, const struct wire_units *u)
{
	buf_u32(b, u->first);
	buf_u32(b, u->nbit);
	buf_add(b, u->bit, WIRE_MAP_BYTES(u->nbit));
}

void part_units(struct rd *r, struct wire_units *u)
{
	u->first = rd_u32(r);
	u->nbit = rd_u32(r);
	if (r->bad || !u->nbit || u->nbit > WIRE_UNITS_MAX || u->first > WIRE_UNITS_MAX - u->nbit) {
		r->bad = 1;
		return;
	}
	size_t nbyte = WIRE_MAP_BYTES(u->nbit);
	u->bit = rd_bytes(r, nbyte);
	if (!u->bit || !(u->bit[0] & 1) || (u->bit[nbyte - 1] >> ((u->nbit - 1) & 7)) != 1)
		r->bad = 1;
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

void wire_doubles(const uint8_t *p, size_t n, double *out)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (n)
		memcpy(out, p, n * sizeof *out);
#else
	struct rd r = { .p = p, .len = n * sizeof *out };

	for (size_t i = 0; i < n; i++)
		out[i] = rd_f64(&r);
#endif
}

void wire_fixed(const uint8_t *p, size_t n, struct fixed *out)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (n)
		memcpy(out, p, n * sizeof *out);
#else
	struct rd r = { .p = p, .len = n * sizeof *out };

	for (size_t i = 0; i < n; i++) {
		out[i].a = (int64_t)rd_u64(&r);
		out[i].b = (int64_t)rd_u64(&r);
	}
#endif
}

void part_put_fixed(struct buf *b, const struct fixed *v, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	buf_add(b, v, n * sizeof *v);
#else
	for (size_t i = 0; i < n; i++) {
		buf_u64(b, (uint64_t)v[i].a);
		buf_u64(b, (uint64_t)v[i].b);
	}
#endif
}
