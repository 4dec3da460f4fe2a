/* SPDX-License-Identifier: Apache-2.0
 * Messages of profiles: one pair of functions a message, fields in order of qcnn-wire(7). */
#include "runtime/base/profile/profile.h"
#include "runtime/net/protocol/wire_parts.h"

void wire_put_profile(struct buf *b, const struct wire_profile *m)
{
	buf_u8(b, WIRE_PROFILE);
	buf_u8(b, m->level);
	buf_u8(b, m->label);
	buf_u32(b, m->capture);
	buf_u64(b, m->bytes);
	buf_u32(b, m->text_max);
}

bool wire_get_profile(const uint8_t *p, size_t len, struct wire_profile *m)
{
	struct rd r = part_begin(p, len, WIRE_PROFILE);

	m->level = rd_u8(&r);
	m->label = rd_u8(&r);
	m->capture = rd_u32(&r);
	m->bytes = rd_u64(&r);
	m->text_max = rd_u32(&r);
	return part_whole(&r) && m->level < PROFILE_LEVELS && m->bytes <= INT64_MAX
		&& m->text_max <= WIRE_PROFILE_MAX;
}

void wire_put_profiled(struct buf *b, const struct wire_profiled *m)
{
	buf_u8(b, WIRE_PROFILED);
	buf_u32(b, m->capture);
	buf_u32(b, m->total);
	buf_u32(b, m->at);
	buf_u32(b, m->n);
	buf_add(b, m->text, m->n);
}

bool wire_get_profiled(const uint8_t *p, size_t len, struct wire_profiled *m)
{
	struct rd r = part_begin(p, len, WIRE_PROFILED);

	m->capture = rd_u32(&r);
	m->total = rd_u32(&r);
	m->at = rd_u32(&r);
	m->n = rd_u32(&r);
	m->text = part_array(&r, m->n, 1);
	return part_whole(&r) && m->total <= WIRE_PROFILE_MAX && m->at <= m->total
		&& m->n <= m->total - m->at && (m->n || !m->total);
}

void wire_put_clock(struct buf *b, const struct wire_clock *m)
{
	buf_u8(b, WIRE_CLOCK);
	buf_u64(b, (uint64_t)m->sent);
	buf_u64(b, (uint64_t)m->received);
	buf_u64(b, (uint64_t)m->answered);
}

bool wire_get_clock(const uint8_t *p, size_t len, struct wire_clock *m)
{
	struct rd r = part_begin(p, len, WIRE_CLOCK);

	m->sent = (int64_t)rd_u64(&r);
	m->received = (int64_t)rd_u64(&r);
	m->answered = (int64_t)rd_u64(&r);
	return part_whole(&r) && m->received <= m->answered;
}

void wire_put_attach(struct buf *b, const char *text, uint32_t n)
{
	buf_u8(b, WIRE_ATTACH);
	buf_u32(b, n);
	buf_add(b, text, n);
}

bool wire_get_attach(const uint8_t *p, size_t len, const uint8_t **text, uint32_t *n)
{
	struct rd r = part_begin(p, len, WIRE_ATTACH);

	*n = rd_u32(&r);
	*text = part_array(&r, *n, 1);
	return part_whole(&r) && *n;
}
