/* SPDX-License-Identifier: Apache-2.0
 * Varints, fixed words and lengths. */
#include "runtime/log/proto.h"

#include <string.h>

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void varint(struct buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_u8(out, (uint8_t)(v | 0x80));
	buf_u8(out, (uint8_t)v);
}

static void tag(struct buf *out, unsigned field, enum wire w)
{
	varint(out, (uint64_t)field << 3 | w);
}

void proto_u64(struct buf *out, unsigned field, uint64_t v)
{
	tag(out, field, WIRE_VARINT);
	varint(out, v);
}

void proto_f64(struct buf *out, unsigned field, double v)
{
	tag(out, field, WIRE_FIXED64);
	buf_f64(out, v);
}

void proto_bytes(struct buf *out, unsigned field, const void *p, size_t len)
{
	tag(out, field, WIRE_BYTES);
	varint(out, len);
	buf_add(out, p, len);
}

void proto_str(struct buf *out, unsigned field, const char *s)
{
	proto_bytes(out, field, s, strlen(s));
}

void proto_message(struct buf *out, unsigned field, const struct buf *inner)
{
	proto_bytes(out, field, inner->data ? inner->data : "", inner->len);
}
