/* SPDX-License-Identifier: Apache-2.0
 * Messages of work and of the end: one pair of functions a message, fields in order of qcnn-wire(7). */
#include "runtime/net/protocol/wire_parts.h"

void wire_put_weights(struct buf *b, uint64_t version, const double *value, uint32_t n)
{
	buf_u8(b, WIRE_WEIGHTS);
	buf_u64(b, version);
	buf_u32(b, n);
	buf_f64s(b, value, n);
}

bool wire_get_weights(const uint8_t *p, size_t len, struct wire_weights *m)
{
	struct rd r = part_begin(p, len, WIRE_WEIGHTS);

	m->version = rd_u64(&r);
	m->n = rd_u32(&r);
	m->value = part_array(&r, m->n, sizeof(double));
	return part_whole(&r);
}

void wire_put_row(struct buf *b, uint32_t row) { buf_u32(b, row); }

uint32_t wire_row(const uint8_t *row, uint32_t k)
{
	struct rd r = { .p = row + (size_t)k * sizeof k, .len = sizeof k };

	return rd_u32(&r);
}

void wire_put_data(struct buf *b, const struct wire_data *m, const uint32_t *row)
{
	buf_u8(b, WIRE_DATA);
	buf_u32(b, m->set);
	buf_u32(b, m->nrow);
	buf_u32(b, m->nx);
	buf_u32(b, m->n);
	for (uint32_t k = 0; k < m->n; k++)
		buf_u32(b, row[k]);
}

bool wire_get_data(const uint8_t *p, size_t len, struct wire_data *m)
{
	struct rd r = part_begin(p, len, WIRE_DATA);

	m->set = rd_u32(&r);
	m->nrow = rd_u32(&r);
	m->nx = rd_u32(&r);
	m->n = rd_u32(&r);
	m->row = part_array(&r, m->n, sizeof(uint32_t));
	m->value = part_array(&r, (uint64_t)m->n * m->nx, sizeof(double));
	if (!part_whole(&r) || m->set >= WIRE_SETS_MAX || !m->nx || !m->n)
		return false;
	for (uint32_t k = 0; k < m->n; k++)
		if (wire_row(m->row, k) >= m->nrow || (k && wire_row(m->row, k) <= wire_row(m->row, k - 1)))
			return false;
	return true;
}

void wire_put_work(struct buf *b, const struct wire_work *m)
{
	buf_u8(b, WIRE_WORK);
	buf_u64(b, m->step);
	buf_u64(b, m->weights);
	buf_u8(b, m->gradient);
	buf_u64(b, m->draw_key);
	buf_u32(b, m->draw_first);
	part_put_units(b, &m->units);
	buf_u32(b, m->nsample);
	buf_u32(b, m->nin);
	buf_u32(b, m->nkept);
	if (m->nkept)
		buf_u32(b, m->set);
}

bool wire_get_work(const uint8_t *p, size_t len, struct wire_work *m)
{
	struct rd r = part_begin(p, len, WIRE_WORK);

	m->step = rd_u64(&r);
	m->weights = rd_u64(&r);
	uint8_t gradient = rd_u8(&r);
	m->gradient = gradient;
	m->draw_key = rd_u64(&r);
	m->draw_first = rd_u32(&r);
	part_units(&r, &m->units);
	m->nsample = rd_u32(&r);
	m->nin = rd_u32(&r);
	m->nkept = rd_u32(&r);
	m->set = m->nkept ? rd_u32(&r) : 0;
	m->row = m->nkept ? part_array(&r, m->nsample, sizeof(uint32_t)) : NULL;
	if (r.bad || m->nkept > m->nin || m->set >= (uint32_t)WIRE_SETS_MAX + WIRE_FILES_MAX)
		return false;
	m->value = part_array(&r, (uint64_t)m->nsample * (m->nin - m->nkept), sizeof(double));
	return part_whole(&r) && gradient <= 1 && m->nsample;
}

void wire_put_result(struct buf *b, const struct wire_result *m, const double *value, const struct fixed *vector)
{
	buf_u8(b, WIRE_RESULT);
	buf_u64(b, m->step);
	buf_f64(b, m->seconds);
	part_put_units(b, &m->units);
	buf_u32(b, m->nsample);
	buf_u32(b, m->nout);
	buf_u32(b, m->n);
	buf_f64s(b, value, (size_t)m->nsample * m->nout);
	part_put_fixed(b, vector, m->n);
}

bool wire_get_result(const uint8_t *p, size_t len, struct wire_result *m)
{
	struct rd r = part_begin(p, len, WIRE_RESULT);

	m->step = rd_u64(&r);
	m->seconds = rd_f64(&r);
	part_units(&r, &m->units);
	m->nsample = rd_u32(&r);
	m->nout = rd_u32(&r);
	m->n = rd_u32(&r);
	m->value = part_array(&r, (uint64_t)m->nsample * m->nout, sizeof(double));
	m->vector = part_array(&r, m->n, sizeof(struct fixed));
	return part_whole(&r) && m->nsample;
}

void wire_put_failed(struct buf *b, const struct wire_failed *m)
{
	buf_u8(b, WIRE_FAILED);
	buf_u64(b, m->step);
	part_put_units(b, &m->units);
	buf_u32(b, (uint32_t)m->code);
	part_put_text(b, m->text);
}

bool wire_get_failed(const uint8_t *p, size_t len, struct wire_failed *m)
{
	struct rd r = part_begin(p, len, WIRE_FAILED);

	m->step = rd_u64(&r);
	part_units(&r, &m->units);
	m->code = (int32_t)rd_u32(&r);
	part_text(&r, m->text, sizeof m->text);
	return part_whole(&r);
}

void wire_put_heartbeat(struct buf *b, const struct wire_heartbeat *m)
{
	buf_u8(b, WIRE_HEARTBEAT);
	buf_u64(b, m->nunit);
}

bool wire_get_heartbeat(const uint8_t *p, size_t len, struct wire_heartbeat *m)
{
	struct rd r = part_begin(p, len, WIRE_HEARTBEAT);

	m->nunit = rd_u64(&r);
	return part_whole(&r);
}

void wire_put_bye(struct buf *b, const struct wire_bye *m)
{
	buf_u8(b, WIRE_BYE);
	buf_u32(b, (uint32_t)m->code);
	part_put_text(b, m->text);
}

bool wire_get_bye(const uint8_t *p, size_t len, struct wire_bye *m)
{
	struct rd r = part_begin(p, len, WIRE_BYE);

	m->code = (int32_t)rd_u32(&r);
	part_text(&r, m->text, sizeof m->text);
	return part_whole(&r);
}
