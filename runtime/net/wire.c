/* SPDX-License-Identifier: Apache-2.0
 * Packing and unpacking: one pair of functions a message, fields in order of qcnn-wire(7). */
#include "config.h"
#include "runtime/net/wire.h"

#include <stdio.h>
#include <string.h>

static const char boot_magic[8] = "QCNNBOOT", hello_magic[8] = "QCNNWIRE";

const char *wire_name(int type)
{
	switch (type) {
#define WIRE(id, number, from, text) case number: return #id;
#include "runtime/net/wire.def"
#undef WIRE
	}
	return "?";
}

/* ---- parts ---- */

static void put_text(struct buf *b, const char *text)
{
	size_t len = strlen(text);

	buf_u16(b, (uint16_t)len);
	buf_add(b, text, len);
}

/* A text of less than size bytes, none of them NUL. */
static void get_text(struct rd *r, char *out, size_t size)
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

static void get_bytes(struct rd *r, void *out, size_t len)
{
	const uint8_t *p = rd_bytes(r, len);

	if (p)
		memcpy(out, p, len);
	else
		memset(out, 0, len);
}

/* n elements of size bytes, with n as the message says it. */
static const uint8_t *get_array(struct rd *r, uint64_t n, size_t size)
{
	if (n > WIRE_BODY_MAX / size) {
		r->bad = 1;
		return NULL;
	}
	return rd_bytes(r, (size_t)n * size);
}

static struct rd begin(const uint8_t *p, size_t len, enum wire_type type)
{
	struct rd r = { .p = p, .len = len };

	if (rd_u8(&r) != type)
		r.bad = 1;
	return r;
}

/* All read, nothing left. */
static bool whole(const struct rd *r)
{
	return !r->bad && r->at == r->len;
}

static void put_units(struct buf *b, const struct wire_units *u)
{
	buf_u32(b, u->first);
	buf_u32(b, u->nbit);
	buf_add(b, u->bit, WIRE_MAP_BYTES(u->nbit));
}

/* At least one unit; the first and the last bit are set, those behind the last are not. */
static void get_units(struct rd *r, struct wire_units *u)
{
	size_t nbyte;

	u->first = rd_u32(r);
	u->nbit = rd_u32(r);
	if (r->bad || !u->nbit || u->nbit > WIRE_UNITS_MAX || u->first > WIRE_UNITS_MAX - u->nbit) {
		r->bad = 1;
		return;
	}
	nbyte = WIRE_MAP_BYTES(u->nbit);
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

void wire_put_doubles(struct buf *b, const double *value, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	buf_add(b, value, n * sizeof *value);
#else
	for (size_t i = 0; i < n; i++)
		buf_f64(b, value[i]);
#endif
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

static void put_fixed(struct buf *b, const struct fixed *v, size_t n)
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

/* ---- before work ---- */

void wire_put_boot(struct buf *b, const struct wire_boot *m)
{
	buf_u8(b, WIRE_BOOT);
	buf_add(b, boot_magic, sizeof boot_magic);
	buf_u16(b, m->version);
	buf_add(b, m->key, sizeof m->key);
	buf_u32(b, m->rank);
	buf_add(b, m->job, sizeof m->job);
	buf_u32(b, m->naddress);
	for (uint32_t i = 0; i < m->naddress; i++)
		put_text(b, m->address[i]);
}

bool wire_get_boot(const uint8_t *p, size_t len, struct wire_boot *m)
{
	struct rd r = begin(p, len, WIRE_BOOT);
	char magic[8];

	memset(m, 0, sizeof *m);
	get_bytes(&r, magic, sizeof magic);
	m->version = rd_u16(&r);
	if (r.bad || memcmp(magic, boot_magic, sizeof magic))
		return false;
	if (m->version != WIRE_VERSION)
		return true;
	get_bytes(&r, m->key, sizeof m->key);
	m->rank = rd_u32(&r);
	get_bytes(&r, m->job, sizeof m->job);
	m->naddress = rd_u32(&r);
	if (r.bad || !m->naddress || m->naddress > WIRE_ADDRESSES_MAX)
		return false;
	for (uint32_t i = 0; i < m->naddress; i++)
		get_text(&r, m->address[i], sizeof m->address[i]);
	return whole(&r);
}

void wire_put_hello(struct buf *b, const struct wire_hello *m)
{
	buf_u8(b, WIRE_HELLO);
	buf_add(b, hello_magic, sizeof hello_magic);
	buf_u16(b, m->version);
	buf_u32(b, m->rank);
	buf_add(b, m->nonce, sizeof m->nonce);
	buf_add(b, m->proof, sizeof m->proof);
}

bool wire_get_hello(const uint8_t *p, size_t len, struct wire_hello *m)
{
	struct rd r = begin(p, len, WIRE_HELLO);
	char magic[8];

	get_bytes(&r, magic, sizeof magic);
	m->version = rd_u16(&r);
	m->rank = rd_u32(&r);
	get_bytes(&r, m->nonce, sizeof m->nonce);
	get_bytes(&r, m->proof, sizeof m->proof);
	return whole(&r) && !memcmp(magic, hello_magic, sizeof magic);
}

void wire_put_challenge(struct buf *b, const struct wire_challenge *m)
{
	buf_u8(b, WIRE_CHALLENGE);
	buf_u8(b, m->encrypt);
	buf_add(b, m->nonce, sizeof m->nonce);
	buf_add(b, m->header, sizeof m->header);
	buf_add(b, m->proof, sizeof m->proof);
}

bool wire_get_challenge(const uint8_t *p, size_t len, struct wire_challenge *m)
{
	struct rd r = begin(p, len, WIRE_CHALLENGE);
	uint8_t encrypt = rd_u8(&r);

	m->encrypt = encrypt;
	get_bytes(&r, m->nonce, sizeof m->nonce);
	get_bytes(&r, m->header, sizeof m->header);
	get_bytes(&r, m->proof, sizeof m->proof);
	return whole(&r) && encrypt <= 1;
}

void wire_put_proof(struct buf *b, const struct wire_proof *m)
{
	buf_u8(b, WIRE_PROOF);
	buf_add(b, m->header, sizeof m->header);
	buf_add(b, m->proof, sizeof m->proof);
}

bool wire_get_proof(const uint8_t *p, size_t len, struct wire_proof *m)
{
	struct rd r = begin(p, len, WIRE_PROOF);

	get_bytes(&r, m->header, sizeof m->header);
	get_bytes(&r, m->proof, sizeof m->proof);
	return whole(&r);
}

void wire_put_about(struct buf *b, const struct wire_about *m)
{
	buf_u8(b, WIRE_ABOUT);
	buf_u8(b, m->isa);
	buf_u32(b, m->threads);
	buf_u64(b, m->memory);
	buf_u64(b, m->pid);
	buf_u64(b, m->maths);
	put_text(b, m->version);
	put_text(b, m->host);
	put_text(b, m->processor);
}

bool wire_get_about(const uint8_t *p, size_t len, struct wire_about *m)
{
	struct rd r = begin(p, len, WIRE_ABOUT);

	m->isa = rd_u8(&r);
	m->threads = rd_u32(&r);
	m->memory = rd_u64(&r);
	m->pid = rd_u64(&r);
	m->maths = rd_u64(&r);
	get_text(&r, m->version, sizeof m->version);
	get_text(&r, m->host, sizeof m->host);
	get_text(&r, m->processor, sizeof m->processor);
	return whole(&r);
}

void wire_put_job(struct buf *b, const struct wire_job *m)
{
	buf_u8(b, WIRE_JOB);
	buf_u8(b, m->isa);
	buf_u8(b, m->precision);
	buf_u8(b, m->gradient);
	buf_u8(b, m->device);
	buf_u32(b, m->share);
	buf_u32(b, m->threads);
	buf_u32(b, m->nlabel);
	buf_u32(b, m->shortcuts);
	buf_u32(b, m->shots);
	put_text(b, m->loss);
	buf_u32(b, m->noption);
	wire_put_doubles(b, m->option, m->noption);
	buf_u64(b, m->nprogram);
	buf_add(b, m->program, m->nprogram);
}

bool wire_get_job(const uint8_t *p, size_t len, struct wire_job *m)
{
	struct rd r = begin(p, len, WIRE_JOB);
	const uint8_t *option;

	memset(m, 0, sizeof *m);
	m->isa = rd_u8(&r);
	m->precision = rd_u8(&r);
	m->gradient = rd_u8(&r);
	m->device = rd_u8(&r);
	m->share = rd_u32(&r);
	m->threads = rd_u32(&r);
	m->nlabel = rd_u32(&r);
	m->shortcuts = rd_u32(&r);
	m->shots = rd_u32(&r);
	get_text(&r, m->loss, sizeof m->loss);
	m->noption = rd_u32(&r);
	if (r.bad || m->noption > WIRE_OPTIONS_MAX)
		return false;
	option = get_array(&r, m->noption, sizeof(double));
	if (option)
		wire_doubles(option, m->noption, m->option);
	m->nprogram = rd_u64(&r);
	m->program = get_array(&r, m->nprogram, 1);
	return whole(&r);
}

void wire_put_ready(struct buf *b, const struct wire_ready *m)
{
	buf_u8(b, WIRE_READY);
	buf_u32(b, m->width);
	buf_u32(b, m->nvector);
	buf_u32(b, m->nout);
	buf_u32(b, m->nthread);
	buf_add(b, m->digest, sizeof m->digest);
}

bool wire_get_ready(const uint8_t *p, size_t len, struct wire_ready *m)
{
	struct rd r = begin(p, len, WIRE_READY);

	m->width = rd_u32(&r);
	m->nvector = rd_u32(&r);
	m->nout = rd_u32(&r);
	m->nthread = rd_u32(&r);
	get_bytes(&r, m->digest, sizeof m->digest);
	return whole(&r);
}

/* ---- work ---- */

void wire_put_weights(struct buf *b, uint64_t version, const double *value, uint32_t n)
{
	buf_u8(b, WIRE_WEIGHTS);
	buf_u64(b, version);
	buf_u32(b, n);
	wire_put_doubles(b, value, n);
}

bool wire_get_weights(const uint8_t *p, size_t len, struct wire_weights *m)
{
	struct rd r = begin(p, len, WIRE_WEIGHTS);

	m->version = rd_u64(&r);
	m->n = rd_u32(&r);
	m->value = get_array(&r, m->n, sizeof(double));
	return whole(&r);
}

void wire_put_row(struct buf *b, uint32_t row)
{
	buf_u32(b, row);
}

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
	struct rd r = begin(p, len, WIRE_DATA);

	m->set = rd_u32(&r);
	m->nrow = rd_u32(&r);
	m->nx = rd_u32(&r);
	m->n = rd_u32(&r);
	m->row = get_array(&r, m->n, sizeof(uint32_t));
	m->value = get_array(&r, (uint64_t)m->n * m->nx, sizeof(double));
	if (!whole(&r) || m->set >= WIRE_SETS_MAX || !m->nx || !m->n)
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
	put_units(b, &m->units);
	buf_u32(b, m->nsample);
	buf_u32(b, m->nin);
	buf_u32(b, m->nkept);
	if (m->nkept)
		buf_u32(b, m->set);
}

bool wire_get_work(const uint8_t *p, size_t len, struct wire_work *m)
{
	struct rd r = begin(p, len, WIRE_WORK);
	uint8_t gradient;

	m->step = rd_u64(&r);
	m->weights = rd_u64(&r);
	gradient = rd_u8(&r);
	m->gradient = gradient;
	m->draw_key = rd_u64(&r);
	m->draw_first = rd_u32(&r);
	get_units(&r, &m->units);
	m->nsample = rd_u32(&r);
	m->nin = rd_u32(&r);
	m->nkept = rd_u32(&r);
	m->set = m->nkept ? rd_u32(&r) : 0;
	m->row = m->nkept ? get_array(&r, m->nsample, sizeof(uint32_t)) : NULL;
	if (r.bad || m->nkept > m->nin || m->set >= WIRE_SETS_MAX)
		return false;
	m->value = get_array(&r, (uint64_t)m->nsample * (m->nin - m->nkept), sizeof(double));
	return whole(&r) && gradient <= 1 && m->nsample;
}

void wire_put_result(struct buf *b, const struct wire_result *m, const double *value, const struct fixed *vector)
{
	buf_u8(b, WIRE_RESULT);
	buf_u64(b, m->step);
	buf_f64(b, m->seconds);
	put_units(b, &m->units);
	buf_u32(b, m->nsample);
	buf_u32(b, m->nout);
	buf_u32(b, m->n);
	wire_put_doubles(b, value, (size_t)m->nsample * m->nout);
	put_fixed(b, vector, m->n);
}

bool wire_get_result(const uint8_t *p, size_t len, struct wire_result *m)
{
	struct rd r = begin(p, len, WIRE_RESULT);

	m->step = rd_u64(&r);
	m->seconds = rd_f64(&r);
	get_units(&r, &m->units);
	m->nsample = rd_u32(&r);
	m->nout = rd_u32(&r);
	m->n = rd_u32(&r);
	m->value = get_array(&r, (uint64_t)m->nsample * m->nout, sizeof(double));
	m->vector = get_array(&r, m->n, sizeof(struct fixed));
	return whole(&r) && m->nsample;
}

void wire_put_failed(struct buf *b, const struct wire_failed *m)
{
	buf_u8(b, WIRE_FAILED);
	buf_u64(b, m->step);
	put_units(b, &m->units);
	buf_u32(b, (uint32_t)m->code);
	put_text(b, m->text);
}

bool wire_get_failed(const uint8_t *p, size_t len, struct wire_failed *m)
{
	struct rd r = begin(p, len, WIRE_FAILED);

	m->step = rd_u64(&r);
	get_units(&r, &m->units);
	m->code = (int32_t)rd_u32(&r);
	get_text(&r, m->text, sizeof m->text);
	return whole(&r);
}

void wire_put_beat(struct buf *b, const struct wire_beat *m)
{
	buf_u8(b, WIRE_BEAT);
	buf_u64(b, m->nunit);
}

bool wire_get_beat(const uint8_t *p, size_t len, struct wire_beat *m)
{
	struct rd r = begin(p, len, WIRE_BEAT);

	m->nunit = rd_u64(&r);
	return whole(&r);
}

void wire_put_bye(struct buf *b, const struct wire_bye *m)
{
	buf_u8(b, WIRE_BYE);
	buf_u32(b, (uint32_t)m->code);
	put_text(b, m->text);
}

bool wire_get_bye(const uint8_t *p, size_t len, struct wire_bye *m)
{
	struct rd r = begin(p, len, WIRE_BYE);

	m->code = (int32_t)rd_u32(&r);
	get_text(&r, m->text, sizeof m->text);
	return whole(&r);
}
