/* SPDX-License-Identifier: Apache-2.0
 * Traces of profiles: what is in them is nested, named and complete, read back by other means than wrote it. */
#include "runtime/log/trace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "runtime/base/json.h"
#include "runtime/base/system/deflate.h"
#include "runtime/base/system/inflate.h"
#include "runtime/base/visible.h"
#include "tests/base/sample_profile.h"
#include "tests/tap.h"

static struct profile *both(int64_t late_ns)
{
	struct profile *p = sample_profile(), *part = sample_part(late_ns);

	profile_merge(p, part, NULL);
	profile_order_messages(p);
	profile_free(part);
	return p;
}

static uint32_t events_of(const struct profile_process *p)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < p->nthread; t++)
		n += p->thread[t].nevent;
	return n;
}

/* ---- gzip ---- */

static void test_gzip(void)
{
	struct buf in = BUF_INIT, packed = BUF_INIT, again = BUF_INIT, out = BUF_INIT;
	struct gzip *g;
	struct err e;

	for (unsigned k = 0; k < 60000; k++)
		buf_printf(&in, "%u ", k * 2654435761u >> k % 20);
	g = gzip_begin(&packed, &e);
	for (size_t at = 0, n; at < in.len; at += n) {
		n = at % 7001 + 1 < in.len - at ? at % 7001 + 1 : in.len - at;
		gzip_add(g, in.data + at, n);
	}
	gzip_end(g);
	tap_ok(!inflate_gzip(packed.data, packed.len, &out, &e) && out.len == in.len
			&& !memcmp(out.data, in.data, in.len),
		"%zu bytes in pieces, %zu compressed", in.len, packed.len);
	buf_release(&out);
	g = gzip_begin(&again, &e);
	gzip_add(g, in.data, in.len);
	gzip_end(g);
	tap_ok(again.len == packed.len && !memcmp(again.data, packed.data, packed.len),
		"at once: the same file");
	buf_clear(&packed);
	gzip_end(gzip_begin(&packed, &e));
	tap_ok(!inflate_gzip(packed.data, packed.len, &out, &e) && !out.len, "nothing");
	buf_release(&in);
	buf_release(&packed);
	buf_release(&again);
	buf_release(&out);
}

/* ---- Chrome's format ---- */

static json_t *chrome(const struct profile *p)
{
	struct buf packed = BUF_INIT, text = BUF_INIT;
	struct err e;
	json_t *v;

	if (trace_chrome(p, &packed, &e) || inflate_gzip(packed.data, packed.len, &text, &e))
		tap_bail("no trace: %s", e.text);
	v = json_read(text.data, text.len, &e);
	if (!v)
		tap_bail("no JSON: %s", e.text);
	buf_release(&packed);
	buf_release(&text);
	return v;
}

static const char *str(const json_t *event, const char *key)
{
	const char *s = json_string_value(json_object_get(event, key));

	return s ? s : "";
}

static long long integer(const json_t *event, const char *key)
{
	return json_integer_value(json_object_get(event, key));
}

static const json_t *arg(const json_t *event, const char *key)
{
	return json_object_get(json_object_get(event, "args"), key);
}

/* Nanoseconds: microseconds with three digits are exact enough. */
static int64_t ns_of(const json_t *event, const char *key)
{
	return llround(json_number_value(json_object_get(event, key)) * 1000);
}

static bool is_type(const json_t *event, const char *type)
{
	return !strcmp(str(event, "ph"), type);
}

/* Slices of a row that are neither nested nor one behind the other, or come before an outer one. */
static unsigned crossing(const json_t *events)
{
	unsigned n = 0;

	for (size_t i = 0; i < json_array_size(events); i++)
		for (size_t k = i + 1; k < json_array_size(events); k++) {
			const json_t *a = json_array_get(events, i), *b = json_array_get(events, k);
			int64_t begin = ns_of(a, "ts"), end = begin + ns_of(a, "dur");
			int64_t from = ns_of(b, "ts"), to = from + ns_of(b, "dur");

			if (is_type(a, "X") && is_type(b, "X")
				&& integer(a, "tid") == integer(b, "tid"))
				n += from < begin || (from < end && to > end);
		}
	return n;
}

/* The slice around the end of an arrow. */
static const json_t *slice_at(const json_t *events, const json_t *end)
{
	for (size_t k = 0; k < json_array_size(events); k++) {
		const json_t *e = json_array_get(events, k);
		int64_t at = ns_of(end, "ts"), begin = ns_of(e, "ts");

		if (is_type(e, "X") && integer(e, "tid") == integer(end, "tid") && begin <= at
			&& at < begin + ns_of(e, "dur"))
			return e;
	}
	return NULL;
}

static void test_flows(const json_t *events)
{
	unsigned n = 0, wrong = 0;

	for (size_t i = 0; i < json_array_size(events); i++)
		for (size_t k = 0; k < json_array_size(events); k++) {
			const json_t *s = json_array_get(events, i), *f = json_array_get(events, k);
			const json_t *from, *to;

			if (!is_type(s, "s") || !is_type(f, "f")
				|| integer(s, "id") != integer(f, "id"))
				continue;
			from = slice_at(events, s);
			to = slice_at(events, f);
			n++;
			wrong += ns_of(s, "ts") > ns_of(f, "ts") || !from || !to
				|| json_integer_value(arg(from, "message"))
					!= json_integer_value(arg(to, "message"))
				|| strncmp(str(from, "name"), "to ", 3)
				|| strncmp(str(to, "name"), "from ", 5);
		}
	tap_is_int(n, 2 * SAMPLE_STEPS, "an arrow for each message");
	tap_is_int(wrong, 0, "from a send to its receive, never backwards in time");
}

static void test_chrome(int64_t late_ns, int moved)
{
	struct profile *p = both(late_ns);
	json_t *v = chrome(p), *events = json_object_get(v, "traceEvents");
	const json_t *other = json_object_get(v, "otherData");
	unsigned nslice = 0, nstage = 0, ncoloured = 0, nprocess = 0, nthread = 0;
	int64_t busy = 0;

	for (size_t k = 0; k < json_array_size(events); k++) {
		const json_t *e = json_array_get(events, k);
		bool is_stage = !strcmp(str(e, "cat"), "stage");

		nslice += is_type(e, "X");
		nstage += is_stage;
		ncoloured += is_stage && *str(e, "cname") && json_is_string(arg(e, "layer"));
		nprocess += !strcmp(str(e, "name"), "process_name");
		nthread += !strcmp(str(e, "name"), "thread_name");
		if (!strcmp(str(e, "cat"), "phase"))
			busy += ns_of(e, "dur");
		if (is_stage && !strcmp(str(e, "name"), "forward " HOSTILE)
			&& (json_integer_value(arg(e, "line")) != 12
				|| json_number_value(arg(e, "flops per sample")) != 3e6))
			tap_ok(false, "a stage has the numbers of its stage");
	}
	tap_is_int(nslice, events_of(&p->process[0]) + events_of(&p->process[1]),
		"a slice for each event");
	tap_ok(nstage == 4 * SAMPLE_STEPS && ncoloured == nstage,
		"%u stages have the colour of a layer", nstage);
	tap_ok(nprocess == 2 && nthread == 2 * 4, "rows: %u processes, %u threads", nprocess, nthread);
	tap_is_int(busy, 2 * SAMPLE_STEPS * (500000 + 3500000 + 4000000 + 9000007),
		"no nanosecond is lost");
	tap_is_int(crossing(events), 0, "slices of a row are nested");
	tap_ok(integer(other, "dropped_events") == 17 && integer(other, "moved_events") == moved
			&& !strcmp(str(other, "version"), "1.2.3")
			&& !strcmp(str(other, "level"), "matrices"),
		"what the trace says of itself");
	test_flows(events);
	json_decref(v);
	profile_free(p);
}

/* Slices that cross go to further rows; where there are too many of them, they are cut. */
static void test_crossing(void)
{
	enum { N = 12 };
	struct profile *p = sample_part(0);
	struct profile_event e[N];
	struct profile_thread t = { .name = "main", .nevent = N, .event = e };
	json_t *v;
	unsigned nslice = 0;

	for (unsigned k = 0; k < N; k++)
		e[k] = (struct profile_event){ 100 + k, 1000 + k, k, EVENT_RECEIVE, 0 };
	p->process->thread = &t;
	p->process->nthread = 1;
	v = chrome(p);
	for (size_t k = 0; k < json_array_size(json_object_get(v, "traceEvents")); k++)
		nslice += is_type(json_array_get(json_object_get(v, "traceEvents"), k), "X");
	tap_is_int(nslice, N, "%u slices that cross", N);
	tap_is_int(crossing(json_object_get(v, "traceEvents")), 0, "do not cross in the trace");
	json_decref(v);
	profile_free(p);
}

/* ---- XSpace ---- */

struct field {
	unsigned number, wire;
	uint64_t value;
	struct rd bytes;
};

static uint64_t varint(struct rd *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t b = rd_u8(r);

		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			break;
	}
	return v;
}

/* The next field of a message; false at its end. What is no protocol buffer ends the test. */
static bool next_field(struct rd *r, struct field *f)
{
	uint64_t tag;

	if (r->at == r->len)
		return false;
	tag = varint(r);
	*f = (struct field){ .number = (unsigned)(tag >> 3), .wire = tag & 7 };
	if (f->wire == 0)
		f->value = varint(r);
	else if (f->wire == 1)
		f->value = rd_u64(r);
	else if (f->wire == 2) {
		size_t len = varint(r);
		const uint8_t *p = rd_bytes(r, len);

		f->bytes = (struct rd){ p, p ? len : 0, 0, 0 };
	} else
		tap_bail("wire type %u", f->wire);
	if (r->bad || !f->number)
		tap_bail("a message ends within a field");
	return true;
}

/* The first field of that number; its value 0 and no bytes: there is none. */
static struct field field_of(struct rd r, unsigned number)
{
	struct field f, none = { 0 };

	while (next_field(&r, &f))
		if (f.number == number)
			return f;
	return none;
}

static bool is_utf8(struct rd r)
{
	struct buf s = BUF_INIT;
	bool well = true;

	buf_add(&s, r.p ? r.p : (const uint8_t *)"", r.len);
	for (size_t k = 0, n; k < s.len; k += n) {
		n = utf8_bytes((const unsigned char *)s.data + k);
		well &= n > 0;
		n = n ? n : 1;
	}
	buf_release(&s);
	return well;
}

struct seen {
	unsigned nline, nevent, nwrong, nstep;
	uint64_t ps, names[256];
};

static void see_event(struct rd event, struct seen *s)
{
	uint64_t id = field_of(event, 1).value;
	struct rd r = event;
	struct field f;

	s->nevent++;
	s->ps += field_of(event, 3).value;
	s->nwrong += id >= 256;
	s->names[id % 256]++;
	while (next_field(&r, &f))
		if (f.number == 4)
			s->nstep +=
				field_of(f.bytes, 1).value == 1 && field_of(f.bytes, 4).value >= 10;
}

static void see_line(struct rd line, struct seen *s)
{
	struct field f;
	uint64_t last = field_of(line, 9).value;

	s->nline++;
	s->nwrong += !is_utf8(field_of(line, 2).bytes)
		|| field_of(line, 3).value > (uint64_t)SAMPLE_STEPS * 10000000;
	while (next_field(&line, &f))
		if (f.number == 4) {
			see_event(f.bytes, s);
			s->nwrong += field_of(f.bytes, 2).value + field_of(f.bytes, 3).value > last;
		}
}

static void test_xplane(void)
{
	struct profile *p = both(0);
	struct buf b = BUF_INIT;
	struct seen s = { 0 };
	struct rd space, plane, r;
	struct field f;
	unsigned ndefined = 0;

	trace_xplane(p, 1, &b);
	space = (struct rd){ (const uint8_t *)b.data, b.len, 0, 0 };
	plane = field_of(space, 1).bytes;
	f = field_of(plane, 2);
	tap_ok(f.bytes.len == 9 && !memcmp(f.bytes.p, "/host:CPU", 9), "the plane's name");
	for (r = plane; next_field(&r, &f);)
		if (f.number == 3)
			see_line(f.bytes, &s);
	for (r = plane; next_field(&r, &f);)
		if (f.number == 4) {
			uint64_t key = field_of(f.bytes, 1).value;
			struct rd value = field_of(f.bytes, 2).bytes;

			s.nwrong += field_of(value, 1).value != key
				|| !is_utf8(field_of(value, 2).bytes);
			ndefined += key < 256 && s.names[key];
			s.names[key % 256] = 0;
		}
	for (unsigned k = 0; k < 256; k++)
		s.nwrong += s.names[k] != 0;
	tap_is_int(s.nevent, events_of(&p->process[1]), "an event for each event");
	tap_ok(s.nline == 4 && ndefined == 8, "%u lines, %u names are used", s.nline, ndefined);
	tap_is_int(s.nwrong, 0,
		"all names are defined and valid UTF-8, all events lie in their lines");
	tap_is_int(s.nstep, SAMPLE_STEPS, "steps have their numbers");
	tap_ok(field_of(space, 3).bytes.len && is_utf8(field_of(space, 4).bytes),
		"a warning of dropped events, a host");
	tap_ok(!memmem(b.data, b.len, "\x1b", 1) || memmem(b.data, b.len, "\\x1b", 4),
		"names are made visible");
	buf_release(&b);
	profile_free(p);
}

/* A process with two threads of the processor, two queues of a GPU and one of another device. */
static struct profile *with_devices(void)
{
	static const char *const names[] = { "main", "cuda:0 queue 1", "thread 1", "cuda:0 queue 2",
		"tpu" };
	static const char *const devices[] = { NULL, "cuda:0", NULL, "cuda:0", "tpu" };
	static struct profile_event event = { 100, 200, PHASE_FORWARD, EVENT_PHASE, 0 };
	static struct profile_thread t[5];
	struct profile *p = sample_part(0);

	for (unsigned k = 0; k < 5; k++)
		t[k] = (struct profile_thread){
			.name = names[k], .device = devices[k], .nevent = 1, .event = &event
		};
	p->process->thread = t;
	p->process->nthread = 5;
	return p;
}

static void test_device_planes(void)
{
	static const char *const names[] = { "/host:CPU", "/device:GPU:0", "/device:CUSTOM:tpu" };
	static const unsigned lines[] = { 2, 2, 1 };
	struct profile *p = with_devices();
	struct buf b = BUF_INIT;
	struct rd space;
	struct field f;
	unsigned n = 0;
	uint64_t ids = 0;

	trace_xplane(p, 0, &b);
	for (space = (struct rd){ (const uint8_t *)b.data, b.len, 0, 0 }; next_field(&space, &f);) {
		struct seen s = { 0 };
		struct field name, line;
		struct rd r;

		if (f.number != 1 || n == 3)
			continue;
		ids += field_of(f.bytes, 1).value >> 16 == n;
		name = field_of(f.bytes, 2);
		for (r = f.bytes; next_field(&r, &line);)
			if (line.number == 3)
				see_line(line.bytes, &s);
		tap_ok(name.bytes.len == strlen(names[n])
				&& !memcmp(name.bytes.p, names[n], name.bytes.len)
				&& s.nline == lines[n] && !s.nwrong,
			"%s has %u lines", names[n], lines[n]);
		n++;
	}
	tap_ok(n == 3 && ids == 3, "a plane for each device");
	buf_release(&b);
	profile_free(p);
}

/* ---- folded stacks ---- */

static void test_folded(void)
{
	struct profile *p = both(0);
	struct buf b = BUF_INIT;
	uint64_t sum = 0, all = 0, matrix = 0;
	unsigned nline = 0, wrong = 0;

	trace_folded(p, &b);
	for (char *line = strtok(b.data, "\n"); line; line = strtok(NULL, "\n")) {
		char *space = strrchr(line, ' '), *end;
		uint64_t us = space ? strtoull(space + 1, &end, 10) : 0;
		unsigned depth = 1;

		for (const char *c = line; *c; c++) {
			depth += *c == ';';
			wrong += (unsigned char)*c < ' ';
		}
		nline++;
		wrong += !space || *end || !us || depth < 3 || depth > 5;
		sum += us;
		if (strstr(line, "host-a 0 coordinator;main;forward;conv[0];entangle "))
			matrix = us;
	}
	for (uint32_t k = 0; k < p->nprocess; k++)
		for (uint32_t t = 0; t < p->process[k].nthread; t++)
			for (unsigned i = 0; i < PHASE_COUNT; i++)
				all += p->process[k].thread[t].ns[i];
	tap_is_int(wrong, 0, "%u lines: frames, a number, nothing else", nline);
	tap_ok(sum <= all / 1000 && sum + 40 >= all / 1000, "%" PRIu64 " us of %" PRIu64, sum,
		all / 1000);
	/* Of 25.5 ms that both threads were in the forward pass, the item took 1 ms; this thread was there for 10.5. */
	tap_ok(matrix >= 410 && matrix <= 412, "a thread's share of a matrix: %" PRIu64 " us", matrix);
	buf_release(&b);
	profile_free(p);
}

/* ---- nothing, and much ---- */

static void test_empty(void)
{
	struct profile *p = profile_new();
	struct profile_process q = { .host = "a", .role = "worker" };
	struct buf b = BUF_INIT;
	json_t *v = chrome(p);

	tap_is_int((long long)json_array_size(json_object_get(v, "traceEvents")), 0,
		"a trace of nothing");
	json_decref(v);
	trace_folded(p, &b);
	tap_is_int((long long)b.len, 0, "no stacks");
	p->nprocess = 1;
	p->process = &q;
	v = chrome(p);
	tap_ok(json_array_size(json_object_get(v, "traceEvents")) > 0, "a process without threads");
	json_decref(v);
	trace_folded(p, &b);
	trace_xplane(p, 0, &b);
	tap_ok(b.len > 0, "its plane");
	buf_release(&b);
	p->nprocess = 0;
	profile_free(p);
}

/* One event for each thread is kept where all are too many. */
static void test_limit(void)
{
	struct profile *p = both(0);
	struct trace t = { .p = p, .events_each = profile_events_each(p, 7) };
	struct trace_row *row;
	size_t n = trace_rows(&t, 0, &t.arena, &row), nslice = 0;

	for (size_t k = 0; k < n; k++)
		nslice += row[k].n;
	tap_ok(t.events_each == 1 && nslice == 2, "at most 7 events of 4 threads: one each");
	tap_is_int((long long)trace_dropped(&t, &p->process[1]), events_of(&p->process[1]) - 2 + 17,
		"the others count as dropped");
	arena_release(&t.arena);
	profile_free(p);
}

int main(void)
{
	test_gzip();
	test_chrome(0, 0);
	test_chrome(600000, SAMPLE_STEPS);
	test_crossing();
	test_xplane();
	test_device_planes();
	test_folded();
	test_empty();
	test_limit();
	return tap_done();
}
