/* SPDX-License-Identifier: Apache-2.0
 * Writes a profile as JSON. Events are one array of integers per thread: begin, duration, kind, id, peer; kinds and phases
 * by their numbers in the tables "kinds" and "phases". */
#include "runtime/base/profile/profile_fields.h"

#include <math.h>
#include <string.h>

#include "runtime/base/json.h"

/* Faster than printf, for events. */
static void put_integer(struct buf *out, int64_t v)
{
	char digit[24], *at = digit + sizeof digit;
	uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (v < 0)
		*--at = '-';
	buf_add(out, at, (size_t)(digit + sizeof digit - at));
}

static void put_u64(struct buf *out, uint64_t v)
{
	put_integer(out, v < INT64_MAX ? (int64_t)v : INT64_MAX);
}

/* JSON has no other numbers. */
static void put_real(struct buf *out, double v) { buf_json_f64(out, isfinite(v) && v > 0 ? v : 0); }

static void put_pair(struct buf *out, const double v[2])
{
	buf_char(out, '[');
	put_real(out, v[0]);
	buf_str(out, ", ");
	put_real(out, v[1]);
	buf_char(out, ']');
}

static const char *name_of(const struct field *f, unsigned k)
{
	return f->names[k < f->max ? k : 0];
}

static void put_place(struct buf *out, uint32_t v)
{
	if (v == UINT32_MAX)
		buf_str(out, "null");
	else
		put_u64(out, v);
}

/* Only phases that are not zero. */
static void put_phases(struct buf *out, const uint64_t v[PHASE_COUNT])
{
	buf_char(out, '{');
	for (unsigned k = 0; k < PHASE_COUNT; k++)
		if (v[k]) {
			buf_json(out, ", %s: ", profile_phase_name((enum profile_phase)k));
			put_u64(out, v[k]);
		}
	buf_char(out, '}');
}

/* Events of the thread that are left out where each has at most that many. */
static uint32_t left_out(const struct profile_thread *t, uint32_t events_each)
{
	return t->nevent > events_each ? t->nevent - events_each : 0;
}

static void put_events(struct buf *out, const struct profile_thread *t, uint32_t events_each)
{
	const uint32_t n = t->nevent - left_out(t, events_each);

	buf_char(out, '[');
	for (uint32_t k = 0; k < n; k++) {
		const struct profile_event *e = &t->event[k];
		const int64_t v[PROFILE_EVENT_NUMBERS] = { e->begin,
			e->end > e->begin ? e->end - e->begin : 0, e->kind, e->id, e->peer };

		for (unsigned i = 0; i < PROFILE_EVENT_NUMBERS; i++) {
			if (k || i)
				buf_char(out, ',');
			put_integer(out, v[i]);
		}
	}
	buf_char(out, ']');
}

static void put_numbers(struct buf *out, const uint64_t *v, uint32_t n)
{
	buf_char(out, '[');
	for (uint32_t k = 0; k < n; k++) {
		if (k)
			buf_char(out, ',');
		put_u64(out, v[k]);
	}
	buf_char(out, ']');
}

static void put_fields(struct buf *out, const struct field *f, size_t nfield, const void *base,
	uint32_t events_each);

static void put_rows(struct buf *out, const struct field *f, const void *base, uint32_t events_each)
{
	const uint32_t n = *(const uint32_t *)(const void *)((const char *)base + f->count);
	const char *row;

	memcpy(&row, (const char *)base + f->offset, sizeof row);
	buf_char(out, '[');
	for (uint32_t k = 0; k < n; k++) {
		buf_json(out, ", {");
		put_fields(out, f->fields, f->nfield, row + k * f->size, events_each);
		buf_char(out, '}');
	}
	buf_char(out, ']');
}

static void put_field(struct buf *out, const struct field *f, const void *base, uint32_t events_each)
{
	const void *at = (const char *)base + f->offset;
	const char *text;

	buf_json(out, ", %s: ", f->key);
	switch (f->type) {
	case FIELD_TEXT: buf_json_str(out, *(const char *const *)at); break;
	case FIELD_NAME:
		text = *(const char *const *)at, buf_json_str(out, text ? text : "");
		break;
	case FIELD_U8: buf_json_str(out, name_of(f, *(const uint8_t *)at)); break;
	case FIELD_LEVEL: buf_json_str(out, name_of(f, (unsigned)*(const int *)at)); break;
	case FIELD_BOOL: buf_str(out, *(const bool *)at ? "true" : "false"); break;
	case FIELD_U32: put_u64(out, *(const uint32_t *)at); break;
	case FIELD_PLACE: put_place(out, *(const uint32_t *)at); break;
	case FIELD_U64: put_u64(out, *(const uint64_t *)at); break;
	case FIELD_SPAN:
		put_integer(out, *(const int64_t *)at > 0 ? *(const int64_t *)at : 0);
		break;
	case FIELD_TIME: put_integer(out, *(const int64_t *)at); break;
	case FIELD_REAL: put_real(out, *(const double *)at); break;
	case FIELD_PAIR: put_pair(out, at); break;
	case FIELD_PHASES: put_phases(out, at); break;
	case FIELD_DROPPED:
		put_u64(out, *(const uint64_t *)at + left_out(base, events_each));
		break;
	case FIELD_EVENTS: put_events(out, base, events_each); break;
	case FIELD_ITEM_NS:
		put_numbers(out, *(const uint64_t *const *)at,
			((const struct profile_process *)base)->nitem);
		break;
	case FIELD_OBJECT:
		buf_char(out, '{');
		put_fields(out, f->fields, f->nfield, at, events_each);
		buf_char(out, '}');
		break;
	case FIELD_ROWS: put_rows(out, f, base, events_each); break;
	}
}

static void put_fields(struct buf *out, const struct field *f, size_t nfield, const void *base,
	uint32_t events_each)
{
	for (size_t k = 0; k < nfield; k++)
		put_field(out, &f[k], base, events_each);
}

static void put_profile(struct buf *out, const struct profile *p, uint32_t events_each)
{
	buf_printf(out, "{\"schema\": %d", PROFILE_SCHEMA);
	put_fields(out, profile_fields, COUNT(profile_fields), p, events_each);
	buf_str(out, ", \"kinds\": [");
	for (unsigned k = 0; k < EVENT_KINDS; k++)
		buf_json(out, ", %s", kind_names[k]);
	buf_str(out, "], \"phases\": [");
	for (unsigned k = 0; k < PHASE_COUNT; k++)
		buf_json(out, ", %s", profile_phase_name((enum profile_phase)k));
	buf_char(out, ']');
	put_field(out, &processes_field, p, events_each);
	buf_char(out, '}');
}

/* Can a text of that length be read: neither too long nor with too many values? */
static bool fits(const char *text, size_t len)
{
	return len <= JSON_BYTES_MAX && json_memory(text, len) <= JSON_MEMORY_MAX;
}

/* Appends it with as many events as fit; false: it does not fit without any, either. */
static bool put_within(const struct profile *p, size_t max, struct buf *out)
{
	size_t from = out->len;

	for (uint64_t nevent = PROFILE_EVENTS_MAX;; nevent -= (nevent + 3) / 4) {
		out->len = from;
		put_profile(out, p, profile_events_each(p, nevent));
		if (out->len - from <= max && fits(out->data + from, out->len - from))
			return true;
		if (!nevent)
			return false;
	}
}

void profile_write_json(const struct profile *p, struct buf *out)
{
	put_within(p, JSON_BYTES_MAX, out);
}

void profile_write_json_within(const struct profile *p, size_t max, struct buf *out)
{
	buf_clear(out);
	if (!put_within(p, max, out))
		buf_clear(out);
}
