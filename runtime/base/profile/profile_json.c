/* SPDX-License-Identifier: Apache-2.0
 * Writes a profile as JSON. Events are one array of integers per thread: begin, duration, kind, id, peer; kinds and phases
 * by their numbers in the tables "kinds" and "phases". */
#include "runtime/base/profile/profile_fields.h"

#include <math.h>

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

static void put_field(struct buf *out, const struct field *f, const void *base)
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
	}
}

static void put_fields(struct buf *out, const struct field *f, size_t nfield, const void *base)
{
	for (size_t k = 0; k < nfield; k++)
		put_field(out, &f[k], base);
}
#define PUT_FIELDS(out, fields, base) put_fields(out, fields, COUNT(fields), base)

static void put_rows(struct buf *out, const char *key, const struct field *f, size_t nfield,
	const void *rows, uint32_t n, size_t size)
{
	buf_json(out, ", %s: [", key);
	for (uint32_t k = 0; k < n; k++) {
		buf_json(out, ", {");
		put_fields(out, f, nfield, (const char *)rows + k * size);
		buf_char(out, '}');
	}
	buf_char(out, ']');
}
#define PUT_ROWS(out, key, fields, rows, n) \
	put_rows(out, key, fields, COUNT(fields), rows, n, sizeof *(rows))

/* Only phases that are not zero. */
static void put_phases(struct buf *out, const char *key, const uint64_t v[PHASE_COUNT])
{
	buf_json(out, ", %s: {", key);
	for (unsigned k = 0; k < PHASE_COUNT; k++)
		if (v[k]) {
			buf_json(out, ", %s: ", profile_phase_name((enum profile_phase)k));
			put_u64(out, v[k]);
		}
	buf_char(out, '}');
}

static void put_events(struct buf *out, const struct profile_event *e, uint32_t n)
{
	buf_str(out, ", \"events\": [");
	for (uint32_t k = 0; k < n; k++) {
		const int64_t v[PROFILE_EVENT_NUMBERS] = { e[k].begin,
			e[k].end > e[k].begin ? e[k].end - e[k].begin : 0, e[k].kind, e[k].id,
			e[k].peer };

		for (unsigned i = 0; i < PROFILE_EVENT_NUMBERS; i++) {
			if (k || i)
				buf_char(out, ',');
			put_integer(out, v[i]);
		}
	}
	buf_char(out, ']');
}

static void put_thread(struct buf *out, const struct profile_thread *whole, uint32_t events_each)
{
	struct profile_thread t = *whole;

	if (t.nevent > events_each) {
		t.dropped += t.nevent - events_each;
		t.nevent = events_each;
	}
	buf_json(out, ", {");
	PUT_FIELDS(out, thread_fields, &t);
	put_phases(out, "ns", t.ns);
	put_phases(out, "count", t.count);
	put_events(out, t.event, t.nevent);
	buf_char(out, '}');
}

static void put_items(struct buf *out, const struct profile_process *p)
{
	static const char *const key[] = { "forward_ns", "backward_ns" };

	for (unsigned back = 0; back < 2; back++) {
		buf_json(out, ", %s: [", key[back]);
		for (uint32_t k = 0; k < p->nitem; k++) {
			if (k)
				buf_char(out, ',');
			put_u64(out, p->item_ns[back][k]);
		}
		buf_char(out, ']');
	}
}

static void put_process(struct buf *out, const struct profile_process *p, uint32_t events_each)
{
	buf_json(out, ", {");
	PUT_FIELDS(out, process_fields, p);
	put_phases(out, "wall_ns", p->wall_ns);
	PUT_ROWS(out, "counters", counter_fields, p->counter, p->ncounter);
	PUT_ROWS(out, "memory", memory_fields, p->memory, p->nmemory);
	PUT_ROWS(out, "exchanges", exchange_fields, p->exchange, p->nexchange);
	put_items(out, p);
	buf_str(out, ", \"threads\": [");
	for (uint32_t k = 0; k < p->nthread; k++)
		put_thread(out, &p->thread[k], events_each);
	buf_str(out, "]}");
}

static void put_profile(struct buf *out, const struct profile *p, uint32_t events_each)
{
	buf_printf(out, "{\"schema\": %d", PROFILE_SCHEMA);
	PUT_FIELDS(out, profile_fields, p);
	buf_str(out, ", \"limits\": {");
	PUT_FIELDS(out, limits_fields, &p->limits);
	buf_char(out, '}');
	PUT_ROWS(out, "switched_off", option_fields, p->switched_off, p->nswitched_off);
	PUT_ROWS(out, "advice", advice_fields, p->advice, p->nadvice);
	PUT_ROWS(out, "layers", layer_fields, p->layer, p->nlayer);
	PUT_ROWS(out, "stages", stage_fields, p->stage, p->nstage);
	PUT_ROWS(out, "items", item_fields, p->item, p->nitem);
	buf_str(out, ", \"kinds\": [");
	for (unsigned k = 0; k < EVENT_KINDS; k++)
		buf_json(out, ", %s", kind_names[k]);
	buf_str(out, "], \"phases\": [");
	for (unsigned k = 0; k < PHASE_COUNT; k++)
		buf_json(out, ", %s", profile_phase_name((enum profile_phase)k));
	buf_str(out, "], \"processes\": [");
	for (uint32_t k = 0; k < p->nprocess; k++)
		put_process(out, &p->process[k], events_each);
	buf_str(out, "]}");
}

/* Values in the text, at most: commas outside of strings, and two more. */
static size_t values_of(const char *text, size_t len)
{
	size_t n = 2;
	bool in_string = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			in_string = !in_string;
		else if (in_string && text[i] == '\\')
			i++;
		n += !in_string && text[i] == ',';
	}
	return n;
}

bool profile_json_fits(const char *text, size_t len)
{
	return len <= JSON_BYTES_MAX && values_of(text, len) <= PROFILE_VALUES_MAX;
}

/* Appends it with as many events as fit; false: it does not fit without any, either. */
static bool put_within(const struct profile *p, size_t max, struct buf *out)
{
	size_t from = out->len;

	for (uint64_t nevent = PROFILE_EVENTS_MAX;; nevent -= (nevent + 3) / 4) {
		out->len = from;
		put_profile(out, p, profile_events_each(p, nevent));
		if (out->len - from <= max && profile_json_fits(out->data + from, out->len - from))
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
