/* SPDX-License-Identifier: Apache-2.0
 * One function a message, which writes or reads its fields in order of qcnn-wire(7). */
#include "runtime/net/protocol/wire_parts.h"

#include <string.h>

#include "runtime/base/profile/profile.h"

const char *wire_name(int type)
{
	switch (type) {
#define WIRE(id, number, from, text) case number: return #id;
#include "runtime/net/protocol/wire.def"
#undef WIRE
	}
	return "?";
}

/* ---- messages before work ---- */

static void magic(struct fields *p, const char *word)
{
	char here[8];

	memcpy(here, word, sizeof here);
	field_bytes(p, here, sizeof here);
	field_check(p, !memcmp(here, word, sizeof here));
}

/* Of another version nothing else is read. */
static void boot_fields(struct fields *p, struct wire_boot *m)
{
	magic(p, "QCNNBOOT");
	field_u16(p, &m->version);
	if (!p->out && m->version != WIRE_VERSION) {
		p->in.at = p->in.len;
		return;
	}
	field_bytes(p, m->key, sizeof m->key);
	field_u32(p, &m->rank);
	field_bytes(p, m->job, sizeof m->job);
	field_u8(p, &m->transport);
	field_u32(p, &m->naddress);
	field_check(p,
		m->transport <= TRANSPORT_STDIO
			&& (m->naddress == 0) == (m->transport == TRANSPORT_STDIO)
			&& m->naddress <= WIRE_ADDRESSES_MAX);
	for (uint32_t i = 0; i < m->naddress && !p->in.bad; i++)
		field_text(p, m->address[i], sizeof m->address[i]);
}

static void hello_fields(struct fields *p, struct wire_hello *m)
{
	magic(p, "QCNNWIRE");
	field_u16(p, &m->version);
	field_u32(p, &m->numerical);
	field_u32(p, &m->rank);
	field_bool(p, &m->aes);
	field_bytes(p, m->public, sizeof m->public);
	field_bytes(p, m->proof, sizeof m->proof);
}

static void challenge_fields(struct fields *p, struct wire_challenge *m)
{
	field_bool(p, &m->encrypt);
	field_bool(p, &m->aes);
	field_bytes(p, m->public, sizeof m->public);
	field_bytes(p, m->proof, sizeof m->proof);
}

static void proof_fields(struct fields *p, struct wire_proof *m)
{
	field_bytes(p, m->proof, sizeof m->proof);
}

static void about_fields(struct fields *p, struct wire_about *m)
{
	field_text(p, m->kernels, sizeof m->kernels);
	field_u32(p, &m->threads);
	field_u64(p, &m->memory);
	field_u64(p, &m->pid);
	field_u64(p, &m->maths);
	field_text(p, m->version, sizeof m->version);
	field_text(p, m->host, sizeof m->host);
	field_text(p, m->processor, sizeof m->processor);
}

static void file_fields(struct fields *p, struct wire_file *f)
{
	field_bytes(p, f->digest, sizeof f->digest);
	field_u32(p, &f->nrow);
	field_u32(p, &f->nx);
	field_long_text(p, &f->path, &f->npath);
	field_long_text(p, &f->spec, &f->nspec);
	field_long_text(p, &f->through, &f->nthrough);
	field_check(p,
		!p->in.bad && f->npath && f->npath <= WIRE_PATH_MAX && !memchr(f->path, 0, f->npath));
}

static void job_fields(struct fields *p, struct wire_job *m)
{
	field_text(p, m->device, sizeof m->device);
	field_text(p, m->kernels, sizeof m->kernels);
	field_u8(p, &m->precision);
	field_u8(p, &m->gradient);
	field_u8(p, &m->method);
	field_u8(p, &m->again);
	field_u8(p, &m->forward);
	field_u32(p, &m->share);
	field_u32(p, &m->place);
	field_u32(p, &m->threads);
	field_u32(p, &m->nlabel);
	field_u32(p, &m->optimisations);
	field_u32(p, &m->split);
	field_u32(p, &m->shots);
	field_u32(p, &m->trajectories);
	field_u32(p, &m->nrank);
	field_long_text(p, &m->places, &m->nplaces);
	field_text(p, m->loss, sizeof m->loss);
	field_u32(p, &m->noption);
	field_check(p, m->noption <= WIRE_OPTIONS_MAX);
	field_doubles(p, m->option, m->noption);
	field_u64(p, &m->nprogram);
	field_blob(p, &m->program, m->nprogram);
	field_u32(p, &m->nfile);
	field_check(p, m->nfile <= WIRE_FILES_MAX);
	for (uint32_t i = 0; i < m->nfile && !p->in.bad; i++)
		file_fields(p, &m->file[i]);
}

static void ready_fields(struct fields *p, struct wire_ready *m)
{
	field_u32(p, &m->width);
	field_u32(p, &m->nvector);
	field_u32(p, &m->nout);
	field_u32(p, &m->nthread);
	field_bytes(p, m->digest, sizeof m->digest);
}

/* ---- work ---- */

static void weights_fields(struct fields *p, struct wire_weights *m)
{
	field_u64(p, &m->version);
	field_u32(p, &m->n);
	field_array(p, &m->value, m->n, sizeof(double));
}

static void data_fields(struct fields *p, struct wire_data *m)
{
	field_u32(p, &m->set);
	field_u32(p, &m->nrow);
	field_u32(p, &m->nx);
	field_u32(p, &m->n);
	field_array(p, &m->row, m->n, sizeof(uint32_t));
	field_array(p, &m->value, (uint64_t)m->n * m->nx, sizeof(double));
	field_check(p, m->set < WIRE_SETS_MAX && m->nx && m->n);
	for (uint32_t k = 0; !p->out && !p->in.bad && k < m->n; k++)
		field_check(p,
			wire_row(m->row, k) < m->nrow
				&& (!k || wire_row(m->row, k) > wire_row(m->row, k - 1)));
}

static void work_fields(struct fields *p, struct wire_work *m)
{
	field_u64(p, &m->step);
	field_u64(p, &m->weights);
	field_bool(p, &m->gradient);
	field_u64(p, &m->draw_key);
	field_u32(p, &m->draw_first);
	field_units(p, &m->units);
	field_u32(p, &m->nsample);
	field_u32(p, &m->nin);
	field_u32(p, &m->nkept);
	if (m->nkept) {
		field_u32(p, &m->set);
		field_array(p, &m->row, m->nsample, sizeof(uint32_t));
	}
	field_check(p,
		m->nkept <= m->nin && m->set < (uint32_t)WIRE_SETS_MAX + WIRE_FILES_MAX && m->nsample);
	field_array(p, &m->value, (uint64_t)m->nsample * (m->nin - m->nkept), sizeof(double));
}

static void result_fields(struct fields *p, struct wire_result *m)
{
	field_u64(p, &m->step);
	field_f64(p, &m->seconds);
	field_units(p, &m->units);
	field_u32(p, &m->nsample);
	field_u32(p, &m->nout);
	field_u32(p, &m->n);
	field_array(p, &m->value, (uint64_t)m->nsample * m->nout, sizeof(double));
	field_array(p, &m->vector, m->n, sizeof(struct fixed));
	field_check(p, m->nsample && m->seconds >= 0 && m->seconds <= WIRE_SECONDS_MAX);
}

static void failed_fields(struct fields *p, struct wire_failed *m)
{
	field_u64(p, &m->step);
	field_units(p, &m->units);
	field_u32(p, (uint32_t *)&m->code);
	field_text(p, m->text, sizeof m->text);
}

static void heartbeat_fields(struct fields *p, struct wire_heartbeat *m)
{
	field_u64(p, &m->nunit);
}

static void bye_fields(struct fields *p, struct wire_bye *m)
{
	field_u32(p, (uint32_t *)&m->code);
	field_text(p, m->text, sizeof m->text);
}

/* ---- profiles ---- */

static void profile_fields(struct fields *p, struct wire_profile *m)
{
	field_u8(p, &m->level);
	field_u8(p, &m->label);
	field_u32(p, &m->capture);
	field_u64(p, &m->bytes);
	field_u32(p, &m->text_max);
	field_check(p,
		m->level < PROFILE_LEVELS && m->bytes <= INT64_MAX && m->text_max <= WIRE_PROFILE_MAX);
}

static void profiled_fields(struct fields *p, struct wire_profiled *m)
{
	field_u32(p, &m->capture);
	field_u32(p, &m->total);
	field_u32(p, &m->at);
	field_u32(p, &m->n);
	field_blob(p, &m->text, m->n);
	field_check(p,
		m->total <= WIRE_PROFILE_MAX && m->at <= m->total && m->n <= m->total - m->at
			&& (m->n || !m->total));
}

static void clock_fields(struct fields *p, struct wire_clock *m)
{
	field_u64(p, (uint64_t *)&m->sent);
	field_u64(p, (uint64_t *)&m->received);
	field_u64(p, (uint64_t *)&m->answered);
	field_check(p, m->received <= m->answered);
}

/* ---- what others make of it ---- */

static void attach_fields(struct fields *p, struct wire_attach *m)
{
	field_u32(p, &m->n);
	field_blob(p, &m->text, m->n);
	field_check(p, m->n);
}

static void group_fields(struct fields *p, struct wire_group *m)
{
	field_u32(p, &m->n);
	field_blob(p, &m->bytes, m->n);
	field_check(p, m->n && m->n <= WIRE_GROUP_MAX);
}

/* ---- bodies ---- */

/* What writes leaves *m as it is. */
#define PUT(name, type) \
	void wire_put_##name(struct buf *b, const struct wire_##name *m) \
	{ \
		struct fields p = field_write(b, type); \
\
		name##_fields(&p, (struct wire_##name *)(uintptr_t)m); \
	}
#define GET(name, type) \
	bool wire_get_##name(const uint8_t *body, size_t len, struct wire_##name *m) \
	{ \
		struct fields p = field_read(body, len, type); \
\
		memset(m, 0, sizeof *m); \
		name##_fields(&p, m); \
		return field_whole(&p); \
	}
#define PUT_AND_GET(name, type) PUT(name, type) GET(name, type)

PUT_AND_GET(boot, WIRE_BOOT)
PUT_AND_GET(hello, WIRE_HELLO)
PUT_AND_GET(challenge, WIRE_CHALLENGE)
PUT_AND_GET(proof, WIRE_PROOF)
PUT_AND_GET(about, WIRE_ABOUT)
PUT_AND_GET(job, WIRE_JOB)
PUT_AND_GET(ready, WIRE_READY)
GET(weights, WIRE_WEIGHTS)
GET(data, WIRE_DATA)
PUT_AND_GET(work, WIRE_WORK)
GET(result, WIRE_RESULT)
PUT_AND_GET(failed, WIRE_FAILED)
PUT_AND_GET(heartbeat, WIRE_HEARTBEAT)
PUT_AND_GET(bye, WIRE_BYE)
PUT_AND_GET(profile, WIRE_PROFILE)
PUT_AND_GET(profiled, WIRE_PROFILED)
PUT_AND_GET(clock, WIRE_CLOCK)
PUT_AND_GET(attach, WIRE_ATTACH)
PUT_AND_GET(group, WIRE_GROUP)

void wire_put_weights(struct buf *b, uint64_t version, const double *value, uint32_t n)
{
	struct fields p = field_write(b, WIRE_WEIGHTS);

	weights_fields(&p, &(struct wire_weights){ .version = version, .n = n });
	buf_f64s(b, value, n);
}

void wire_put_data(struct buf *b, const struct wire_data *m, const uint32_t *row)
{
	struct fields p = field_write(b, WIRE_DATA);

	data_fields(&p, (struct wire_data *)(uintptr_t)m);
	for (uint32_t k = 0; k < m->n; k++)
		wire_put_row(b, row[k]);
}

void wire_put_result(struct buf *b, const struct wire_result *m, const double *value,
	const struct fixed *vector)
{
	struct fields p = field_write(b, WIRE_RESULT);

	result_fields(&p, (struct wire_result *)(uintptr_t)m);
	buf_f64s(b, value, (size_t)m->nsample * m->nout);
	buf_words(b, vector, 2 * (size_t)m->n);
}

void wire_put_row(struct buf *b, uint32_t row) { buf_u32(b, row); }

uint32_t wire_row(const uint8_t *row, uint32_t k)
{
	struct rd r = { .p = row + (size_t)k * sizeof k, .len = sizeof k };

	return rd_u32(&r);
}
