/* SPDX-License-Identifier: Apache-2.0
 * Messages before work: one pair of functions a message, fields in order of qcnn-wire(7). */
#include "runtime/net/protocol/wire_parts.h"

#include <string.h>

static const char boot_magic[8] = "QCNNBOOT", hello_magic[8] = "QCNNWIRE";

const char *wire_name(int type)
{
	switch (type) {
#define WIRE(id, number, from, text) case number: return #id;
#include "runtime/net/protocol/wire.def"
#undef WIRE
	}
	return "?";
}

void wire_put_boot(struct buf *b, const struct wire_boot *m)
{
	buf_u8(b, WIRE_BOOT);
	buf_add(b, boot_magic, sizeof boot_magic);
	buf_u16(b, m->version);
	buf_add(b, m->key, sizeof m->key);
	buf_u32(b, m->rank);
	buf_add(b, m->job, sizeof m->job);
	buf_u8(b, m->transport);
	buf_u32(b, m->naddress);
	for (uint32_t i = 0; i < m->naddress; i++)
		part_put_text(b, m->address[i]);
}

bool wire_get_boot(const uint8_t *p, size_t len, struct wire_boot *m)
{
	struct rd r = part_begin(p, len, WIRE_BOOT);
	char magic[8];

	memset(m, 0, sizeof *m);
	part_bytes(&r, magic, sizeof magic);
	m->version = rd_u16(&r);
	if (r.bad || memcmp(magic, boot_magic, sizeof magic))
		return false;
	if (m->version != WIRE_VERSION)
		return true;
	part_bytes(&r, m->key, sizeof m->key);
	m->rank = rd_u32(&r);
	part_bytes(&r, m->job, sizeof m->job);
	m->transport = rd_u8(&r);
	m->naddress = rd_u32(&r);
	if (r.bad || m->transport > TRANSPORT_STDIO || (m->naddress == 0) != (m->transport == TRANSPORT_STDIO) || m->naddress > WIRE_ADDRESSES_MAX)
		return false;
	for (uint32_t i = 0; i < m->naddress; i++)
		part_text(&r, m->address[i], sizeof m->address[i]);
	return part_whole(&r);
}

void wire_put_hello(struct buf *b, const struct wire_hello *m)
{
	buf_u8(b, WIRE_HELLO);
	buf_add(b, hello_magic, sizeof hello_magic);
	buf_u16(b, m->version);
	buf_u32(b, m->numerical);
	buf_u32(b, m->rank);
	buf_u8(b, m->aes);
	buf_add(b, m->public, sizeof m->public);
	buf_add(b, m->proof, sizeof m->proof);
}

bool wire_get_hello(const uint8_t *p, size_t len, struct wire_hello *m)
{
	struct rd r = part_begin(p, len, WIRE_HELLO);
	char magic[8];

	part_bytes(&r, magic, sizeof magic);
	m->version = rd_u16(&r);
	m->numerical = rd_u32(&r);
	m->rank = rd_u32(&r);
	uint8_t aes = rd_u8(&r);
	m->aes = aes;
	part_bytes(&r, m->public, sizeof m->public);
	part_bytes(&r, m->proof, sizeof m->proof);
	return part_whole(&r) && aes <= 1 && !memcmp(magic, hello_magic, sizeof magic);
}

void wire_put_challenge(struct buf *b, const struct wire_challenge *m)
{
	buf_u8(b, WIRE_CHALLENGE);
	buf_u8(b, m->encrypt);
	buf_u8(b, m->aes);
	buf_add(b, m->public, sizeof m->public);
	buf_add(b, m->proof, sizeof m->proof);
}

bool wire_get_challenge(const uint8_t *p, size_t len, struct wire_challenge *m)
{
	struct rd r = part_begin(p, len, WIRE_CHALLENGE);
	uint8_t encrypt = rd_u8(&r), aes = rd_u8(&r);

	m->encrypt = encrypt;
	m->aes = aes;
	part_bytes(&r, m->public, sizeof m->public);
	part_bytes(&r, m->proof, sizeof m->proof);
	return part_whole(&r) && encrypt <= 1 && aes <= 1;
}

void wire_put_proof(struct buf *b, const struct wire_proof *m)
{
	buf_u8(b, WIRE_PROOF);
	buf_add(b, m->proof, sizeof m->proof);
}

bool wire_get_proof(const uint8_t *p, size_t len, struct wire_proof *m)
{
	struct rd r = part_begin(p, len, WIRE_PROOF);

	part_bytes(&r, m->proof, sizeof m->proof);
	return part_whole(&r);
}

void wire_put_about(struct buf *b, const struct wire_about *m)
{
	buf_u8(b, WIRE_ABOUT);
	part_put_text(b, m->kernels);
	buf_u32(b, m->threads);
	buf_u64(b, m->memory);
	buf_u64(b, m->pid);
	buf_u64(b, m->maths);
	part_put_text(b, m->version);
	part_put_text(b, m->host);
	part_put_text(b, m->processor);
}

bool wire_get_about(const uint8_t *p, size_t len, struct wire_about *m)
{
	struct rd r = part_begin(p, len, WIRE_ABOUT);

	part_text(&r, m->kernels, sizeof m->kernels);
	m->threads = rd_u32(&r);
	m->memory = rd_u64(&r);
	m->pid = rd_u64(&r);
	m->maths = rd_u64(&r);
	part_text(&r, m->version, sizeof m->version);
	part_text(&r, m->host, sizeof m->host);
	part_text(&r, m->processor, sizeof m->processor);
	return part_whole(&r);
}

static void put_long_text(struct buf *b, const char *text, uint32_t len)
{
	buf_u32(b, len);
	buf_add(b, text, len);
}

static void get_long_text(struct rd *r, const char **text, uint32_t *len)
{
	*len = rd_u32(r);
	*text = (const char *)part_array(r, *len, 1);
}

static void put_file(struct buf *b, const struct wire_file *f)
{
	buf_add(b, f->digest, sizeof f->digest);
	buf_u32(b, f->nrow);
	buf_u32(b, f->nx);
	put_long_text(b, f->path, f->npath);
	put_long_text(b, f->spec, f->nspec);
	put_long_text(b, f->through, f->nthrough);
}

static void get_file(struct rd *r, struct wire_file *f)
{
	part_bytes(r, f->digest, sizeof f->digest);
	f->nrow = rd_u32(r);
	f->nx = rd_u32(r);
	get_long_text(r, &f->path, &f->npath);
	get_long_text(r, &f->spec, &f->nspec);
	get_long_text(r, &f->through, &f->nthrough);
	if (!r->bad && (!f->npath || f->npath > WIRE_PATH_MAX || memchr(f->path, 0, f->npath)))
		r->bad = 1;
}

void wire_put_job(struct buf *b, const struct wire_job *m)
{
	buf_u8(b, WIRE_JOB);
	part_put_text(b, m->device);
	part_put_text(b, m->kernels);
	buf_u8(b, m->precision);
	buf_u8(b, m->gradient);
	buf_u8(b, m->again);
	buf_u8(b, m->forward);
	buf_u32(b, m->share);
	buf_u32(b, m->place);
	buf_u32(b, m->threads);
	buf_u32(b, m->nlabel);
	buf_u32(b, m->optimisations);
	buf_u32(b, m->split);
	buf_u32(b, m->shots);
	buf_u32(b, m->nrank);
	put_long_text(b, m->places, m->nplaces);
	part_put_text(b, m->loss);
	buf_u32(b, m->noption);
	buf_f64s(b, m->option, m->noption);
	buf_u64(b, m->nprogram);
	buf_add(b, m->program, m->nprogram);
	buf_u32(b, m->nfile);
	for (uint32_t i = 0; i < m->nfile; i++)
		put_file(b, &m->file[i]);
}

bool wire_get_job(const uint8_t *p, size_t len, struct wire_job *m)
{
	struct rd r = part_begin(p, len, WIRE_JOB);

	memset(m, 0, sizeof *m);
	part_text(&r, m->device, sizeof m->device);
	part_text(&r, m->kernels, sizeof m->kernels);
	m->precision = rd_u8(&r);
	m->gradient = rd_u8(&r);
	m->again = rd_u8(&r);
	m->forward = rd_u8(&r);
	m->share = rd_u32(&r);
	m->place = rd_u32(&r);
	m->threads = rd_u32(&r);
	m->nlabel = rd_u32(&r);
	m->optimisations = rd_u32(&r);
	m->split = rd_u32(&r);
	m->shots = rd_u32(&r);
	m->nrank = rd_u32(&r);
	get_long_text(&r, &m->places, &m->nplaces);
	part_text(&r, m->loss, sizeof m->loss);
	m->noption = rd_u32(&r);
	if (r.bad || m->noption > WIRE_OPTIONS_MAX)
		return false;
	const uint8_t *option = part_array(&r, m->noption, sizeof(double));
	if (option)
		wire_doubles(option, m->noption, m->option);
	m->nprogram = rd_u64(&r);
	m->program = part_array(&r, m->nprogram, 1);
	m->nfile = rd_u32(&r);
	if (r.bad || m->nfile > WIRE_FILES_MAX)
		return false;
	for (uint32_t i = 0; i < m->nfile; i++)
		get_file(&r, &m->file[i]);
	return part_whole(&r);
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
	struct rd r = part_begin(p, len, WIRE_READY);

	m->width = rd_u32(&r);
	m->nvector = rd_u32(&r);
	m->nout = rd_u32(&r);
	m->nthread = rd_u32(&r);
	part_bytes(&r, m->digest, sizeof m->digest);
	return part_whole(&r);
}

void wire_put_group(struct buf *b, const void *bytes, uint32_t n)
{
	buf_u8(b, WIRE_GROUP);
	buf_u32(b, n);
	buf_add(b, bytes, n);
}

bool wire_get_group(const uint8_t *p, size_t len, const uint8_t **bytes, uint32_t *n)
{
	struct rd r = part_begin(p, len, WIRE_GROUP);

	*n = rd_u32(&r);
	*bytes = part_array(&r, *n, 1);
	return part_whole(&r) && *n && *n <= WIRE_GROUP_MAX;
}
