/* SPDX-License-Identifier: Apache-2.0
 * Reads a profile that profile_json.c has written, or that somebody else has sent: nothing in the text is believed. */
#include "runtime/base/profile/profile_fields.h"

#include <math.h>
#include <string.h>

#include "runtime/base/json.h"

enum { NAMES_MAX = 256 };
static const int64_t time_max = PROFILE_TIME_MAX;

/* The first fault ends it: what is read then is zero. */
struct input {
	struct arena *arena;
	struct err *e;
	int code;
	uint32_t nitem;
	uint8_t kind[NAMES_MAX], phase[NAMES_MAX]; /* by number in the text */
	size_t nkind, nphase;
};

#define FAIL(in, ...) \
	((void)((in)->code || ((in)->code = err_set((in)->e, -ERR_BAD_DATA, __VA_ARGS__))))

static const json_t *member(struct input *in, const json_t *object, const char *key)
{
	const json_t *v = in->code ? NULL : json_object_get(object, key);

	if (!v)
		FAIL(in, "a profile's \"%s\" is missing", key);
	return v;
}

/* How many entries it has; 0 where it is at fault. */
static uint32_t length_of(struct input *in, const json_t *v, const char *key, size_t max)
{
	if (v && (!json_is_array(v) || json_array_size(v) > max))
		FAIL(in, "\"%s\" is not an array of at most %zu", key, max);
	return in->code ? 0 : (uint32_t)json_array_size(v);
}

static int64_t integer(struct input *in, const json_t *v, const char *key, int64_t min, int64_t max)
{
	int64_t x = v && json_is_integer(v) ? json_integer_value(v) : 0;

	if (v && json_is_integer(v) && x >= min && x <= max)
		return x;
	FAIL(in, "\"%s\" is not an integer from %lld to %lld", key, (long long)min, (long long)max);
	return 0;
}

static double real(struct input *in, const json_t *v, const char *key)
{
	double x = v && json_is_number(v) ? json_number_value(v) : -1;

	if (isfinite(x) && x >= 0)
		return x;
	FAIL(in, "\"%s\" is not a number from 0 on", key);
	return 0;
}

static const char *text_of(struct input *in, const json_t *v, const char *key, bool may_lack)
{
	if (v && json_is_string(v))
		return arena_strndup(in->arena, json_string_value(v), json_string_length(v));
	if (!v || !may_lack || !json_is_null(v))
		FAIL(in, "\"%s\" is not a string", key);
	return NULL;
}

static unsigned choice(struct input *in, const json_t *v, const struct field *f)
{
	const char *s = v && json_is_string(v) ? json_string_value(v) : "";

	for (unsigned k = 0; k < f->max; k++)
		if (!strcmp(s, f->names[k]))
			return k;
	FAIL(in, "\"%s\" has a value that this version does not know: %.40s", f->key, s);
	return 0;
}

static void get_pair(struct input *in, const json_t *v, const char *key, double out[2])
{
	if (!v || !json_is_array(v) || json_array_size(v) != 2)
		FAIL(in, "\"%s\" is not an array of two numbers", key);
	for (unsigned k = 0; k < 2 && !in->code; k++)
		out[k] = real(in, json_array_get(v, k), key);
}

static void get_phases(struct input *in, const json_t *phases, const char *key,
	uint64_t ns[PHASE_COUNT])
{
	json_t *v = (json_t *)phases, *value;
	const char *name;

	if (v && !json_is_object(v))
		FAIL(in, "\"%s\" is not an object", key);
	if (in->code)
		return;
	json_object_foreach(v, name, value)
	{
		int phase = profile_phase_find(name);

		if (phase < 0)
			FAIL(in, "\"%s\": this version has no phase %.40s", key, name);
		else
			ns[phase] = (uint64_t)integer(in, value, name, 0, INT64_MAX);
	}
}

/* Limits that hold for the text, and those between the numbers of one event. */
static void get_event(struct input *in, const json_t *v, size_t at, struct profile_event *e)
{
	int64_t begin = integer(in, json_array_get(v, at), "events", -time_max, time_max);
	int64_t ns = integer(in, json_array_get(v, at + 1), "events", 0, time_max);
	int64_t kind = integer(in, json_array_get(v, at + 2), "events", 0, (int64_t)in->nkind - 1);
	int64_t id = integer(in, json_array_get(v, at + 3), "events", 0, UINT32_MAX);
	int64_t peer = integer(in, json_array_get(v, at + 4), "events", 0, UINT16_MAX);

	if (in->code)
		return;
	*e = (struct profile_event){ begin, begin + ns, (uint32_t)id, in->kind[kind], (uint16_t)peer };
	if (e->kind == EVENT_PHASE && e->id >= in->nphase)
		FAIL(in, "\"events\": there is no phase %u", e->id);
	else if (e->kind == EVENT_PHASE)
		e->id = in->phase[e->id];
}

static void get_events(struct input *in, const json_t *v, struct profile_thread *t)
{
	uint32_t n = length_of(in, v, "events", (size_t)PROFILE_EVENT_NUMBERS * PROFILE_EVENTS_MAX);

	if (n % PROFILE_EVENT_NUMBERS)
		FAIL(in, "\"events\" ends within an event");
	if (in->code)
		return;
	t->nevent = n / PROFILE_EVENT_NUMBERS;
	t->event = arena_alloc(in->arena, t->nevent, sizeof *t->event);
	for (uint32_t k = 0; k < t->nevent && !in->code; k++)
		get_event(in, v, (size_t)k * PROFILE_EVENT_NUMBERS, &t->event[k]);
}

/* As many forward as backward. */
static const uint64_t *get_item_ns(struct input *in, const json_t *v, const struct field *f,
	struct profile_process *p)
{
	uint32_t n = length_of(in, v, f->key, UINT32_MAX - 1);
	uint64_t *out = arena_alloc(in->arena, n, sizeof *out);

	if (f->offset == offsetof(struct profile_process, item_ns[0]))
		p->nitem = n;
	else if (n != p->nitem)
		FAIL(in, "\"forward_ns\" and \"backward_ns\" differ in length");
	for (uint32_t k = 0; k < n && !in->code; k++)
		out[k] = (uint64_t)integer(in, json_array_get(v, k), f->key, 0, INT64_MAX);
	return out;
}

static void check_process(struct input *in, const struct profile_process *p)
{
	if (p->end < p->begin)
		FAIL(in, "\"end\" is before \"begin\"");
	if (in->nitem && p->nitem > in->nitem)
		FAIL(in, "\"forward_ns\" has %u numbers for %u items", p->nitem, in->nitem);
}

static void get_fields(struct input *in, const json_t *object, const struct field *f, size_t nfield,
	void *base);

/* Objects of at least as many members as they have fields. */
static void get_rows(struct input *in, const json_t *v, const struct field *f, void *base)
{
	uint32_t n = length_of(in, v, f->key, f->max ? f->max : UINT32_MAX - 1);

	for (uint32_t k = 0; k < n; k++)
		if (!json_is_object(json_array_get(v, k))
			|| json_object_size(json_array_get(v, k)) < f->nfield)
			FAIL(in, "\"%s\" has an entry that is not a whole object", f->key);
	if (in->code)
		return;
	char *row = arena_alloc(in->arena, n, f->size);
	*(uint32_t *)(void *)((char *)base + f->count) = n;
	memcpy((char *)base + f->offset, &row, sizeof row);
	for (uint32_t k = 0; k < n && !in->code; k++, row += f->size) {
		get_fields(in, json_array_get(v, k), f->fields, f->nfield, row);
		if (f->fields == process_fields)
			check_process(in, (struct profile_process *)(void *)row);
		if (in->code)
			err_prefix(in->e, "%s %u", f->key, k);
	}
}

static void get_field(struct input *in, const json_t *object, const struct field *f, void *base)
{
	void *at = (char *)base + f->offset;
	const json_t *v = member(in, object, f->key);
	const char *key = f->key;
	uint32_t max = f->max ? f->max : UINT32_MAX;

	switch (f->type) {
	case FIELD_TEXT:
	case FIELD_NAME: *(const char **)at = text_of(in, v, key, f->type == FIELD_TEXT); break;
	case FIELD_U8: *(uint8_t *)at = (uint8_t)choice(in, v, f); break;
	case FIELD_LEVEL: *(int *)at = (int)choice(in, v, f); break;
	case FIELD_BOOL:
		*(bool *)at = v && json_is_true(v);
		if (v && !json_is_boolean(v))
			FAIL(in, "\"%s\" is not true or false", key);
		break;
	case FIELD_U32: *(uint32_t *)at = (uint32_t)integer(in, v, key, 0, max); break;
	case FIELD_PLACE:
		*(uint32_t *)at = v && json_is_null(v)
			? UINT32_MAX
			: (uint32_t)integer(in, v, key, 0, f->max ? f->max : UINT32_MAX - 1);
		break;
	case FIELD_DROPPED:
	case FIELD_U64: *(uint64_t *)at = (uint64_t)integer(in, v, key, 0, INT64_MAX); break;
	case FIELD_SPAN: *(int64_t *)at = integer(in, v, key, 0, time_max); break;
	case FIELD_TIME: *(int64_t *)at = integer(in, v, key, -time_max, time_max); break;
	case FIELD_REAL: *(double *)at = real(in, v, key); break;
	case FIELD_PAIR: get_pair(in, v, key, at); break;
	case FIELD_PHASES: get_phases(in, v, key, at); break;
	case FIELD_EVENTS: get_events(in, v, base); break;
	case FIELD_ITEM_NS: *(const uint64_t **)at = get_item_ns(in, v, f, base); break;
	case FIELD_OBJECT: get_fields(in, v, f->fields, f->nfield, at); break;
	case FIELD_ROWS: get_rows(in, v, f, base); break;
	}
}

static void get_fields(struct input *in, const json_t *object, const struct field *f, size_t nfield,
	void *base)
{
	for (size_t k = 0; k < nfield && !in->code; k++)
		get_field(in, object, &f[k], base);
}

static int find_kind(const char *name)
{
	for (unsigned k = 0; k < EVENT_KINDS; k++)
		if (!strcmp(name, kind_names[k]))
			return (int)k;
	return -1;
}

/* A table of names: their numbers in this version. */
static size_t get_names(struct input *in, const json_t *object, const char *key,
	int (*find)(const char *name), uint8_t number[NAMES_MAX])
{
	const json_t *v = member(in, object, key);
	size_t n = length_of(in, v, key, NAMES_MAX);

	for (size_t k = 0; k < n && !in->code; k++) {
		const json_t *name = json_array_get(v, k);
		int found = json_is_string(name) ? find(json_string_value(name)) : -1;

		if (found < 0)
			FAIL(in, "\"%s\" has a name that this version does not know: %.40s", key,
				json_is_string(name) ? json_string_value(name) : "");
		number[k] = (uint8_t)found;
	}
	return n;
}

static void get_profile(struct input *in, const json_t *v, struct profile *p)
{
	if (!json_is_object(v))
		FAIL(in, "a profile is an object");
	integer(in, member(in, v, "schema"), "schema", PROFILE_SCHEMA, PROFILE_SCHEMA);
	get_fields(in, v, profile_fields, COUNT(profile_fields), p);
	for (uint32_t k = 0; k < p->nitem && !in->code; k++)
		if (p->item[k].layer != UINT32_MAX && p->item[k].layer >= p->nlayer)
			FAIL(in, "items %u: there is no layer %u", k, p->item[k].layer);
	in->nitem = p->nitem;
	in->nkind = get_names(in, v, "kinds", find_kind, in->kind);
	in->nphase = get_names(in, v, "phases", profile_phase_find, in->phase);
	get_field(in, v, &processes_field, p);
}

int profile_read_json(const char *text, size_t len, struct profile **out, struct err *e)
{
	struct input in = { .e = e };

	json_t *v = json_read(text, len, e);
	if (!v)
		return -ERR_BAD_DATA;
	struct profile *p = profile_new();
	in.arena = &p->arena;
	get_profile(&in, v, p);
	json_decref(v);
	if (in.code)
		profile_free(p);
	else
		*out = p;
	return in.code;
}
