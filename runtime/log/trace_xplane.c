/* SPDX-License-Identifier: Apache-2.0
 * XSpace, the form of TensorBoard's profile plugin. Field numbers are those of tsl/profiler/protobuf/xplane.proto. */
#include "runtime/log/trace.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/base/visible.h"
#include "runtime/log/proto.h"

enum space_field { SPACE_PLANE = 1, SPACE_WARNING = 3, SPACE_HOST = 4 };
enum plane_field {
	PLANE_ID = 1,
	PLANE_NAME = 2,
	PLANE_LINE = 3,
	PLANE_EVENTS = 4,
	PLANE_STATS = 5,
	PLANE_STAT = 6
};
enum line_field {
	LINE_ID = 1,
	LINE_NAME = 2,
	LINE_BEGIN_NS = 3,
	LINE_EVENT = 4,
	LINE_DURATION_PS = 9,
	LINE_DISPLAY_ID = 10,
	LINE_DISPLAY_NAME = 11
};
enum event_field { EVENT_METADATA = 1, EVENT_OFFSET_PS = 2, EVENT_DURATION_PS = 3, EVENT_STAT = 4 };
enum stat_field { VALUE_METADATA = 1, VALUE_DOUBLE = 2, VALUE_INT = 4, VALUE_TEXT = 5 };
enum metadata_field { METADATA_ID = 1, METADATA_NAME = 2 };
enum map_field { MAP_KEY = 1, MAP_VALUE = 2 };

/* Statistics of events, and their names; step_num and _r are what the plugin knows steps by. */
#define STATS(stat) \
	stat(STEP, "step_num") stat(ROOT, "_r") stat(LAYER, "layer") stat(LAYERS, "layers") \
		stat(LINE, "line") stat(FLOPS, "flops per sample") stat(BYTES, "bytes per sample") \
			stat(EXPECTED, "expected ns per sample") stat(PEER, "peer") stat(MESSAGE, \
				"message") stat(VERSION, "qcnn version") stat(COMMAND, "command") \
				stat(MODEL, "model") stat(LEVEL, "level") \
					stat(DROPPED, "dropped events") stat(MOVED, "moved events")
#define STAT_NUMBER(id, name) STAT_##id,
#define STAT_NAME(id, name) [STAT_##id] = name,
enum stat { STAT_NONE, STATS(STAT_NUMBER) STAT_COUNT };
static const char *const stat_name[STAT_COUNT] = { STATS(STAT_NAME) };

/* Names of events: 1 + phase; then steps, sends and receives; then stages, forward and backward. */
enum {
	NAME_PHASES = 1,
	NAME_STEP = NAME_PHASES + PHASE_COUNT,
	NAME_SEND,
	NAME_RECEIVE,
	NAME_TO_DEVICE,
	NAME_TO_HOST,
	NAME_EXCHANGE,
	NAME_EXCHANGE_BACK,
	NAME_STAGES
};

enum { DEVICES_MAX = 64 }; /* of a process */

struct xplane {
	struct trace t;
	struct buf plane, line, event, stat, name; /* scratch, kept from one to the next */
};

/* Protocol buffers allow valid UTF-8 alone in text. */
static void put_text(struct xplane *x, struct buf *out, unsigned field, const char *s)
{
	buf_clear(&x->name);
	visible_str(&x->name, s ? s : "");
	proto_bytes(out, field, x->name.data ? x->name.data : "", x->name.len);
}

/* ---- statistics ---- */

static void begin_stat(struct xplane *x, enum stat id)
{
	buf_clear(&x->stat);
	proto_u64(&x->stat, VALUE_METADATA, id);
}

static void stat_integer(struct xplane *x, struct buf *out, unsigned field, enum stat id, uint64_t v)
{
	begin_stat(x, id);
	proto_u64(&x->stat, VALUE_INT, v);
	proto_message(out, field, &x->stat);
}

static void stat_real(struct xplane *x, struct buf *out, unsigned field, enum stat id, double v)
{
	begin_stat(x, id);
	proto_f64(&x->stat, VALUE_DOUBLE, v);
	proto_message(out, field, &x->stat);
}

static void stat_text(struct xplane *x, struct buf *out, unsigned field, enum stat id, const char *s)
{
	if (!s || !*s)
		return;
	begin_stat(x, id);
	put_text(x, &x->stat, VALUE_TEXT, s);
	proto_message(out, field, &x->stat);
}

/* ---- events ---- */

/* A stage that the plan does not name has the name of its phase. */
static uint64_t name_of(const struct xplane *x, const struct profile_event *e)
{
	const struct trace_stage *s = trace_stage_of(&x->t, e);
	bool back = e->kind == EVENT_BACKWARD;

	switch ((enum profile_kind)e->kind) {
	case EVENT_PHASE: return NAME_PHASES + (e->id < PHASE_COUNT ? e->id : PHASE_NONE);
	case EVENT_STEP: return NAME_STEP;
	case EVENT_SEND: return NAME_SEND;
	case EVENT_RECEIVE: return NAME_RECEIVE;
	case EVENT_COPY: return e->id ? NAME_TO_HOST : NAME_TO_DEVICE;
	case EVENT_EXCHANGE: return e->peer ? NAME_EXCHANGE_BACK : NAME_EXCHANGE;
	case EVENT_FORWARD:
	case EVENT_BACKWARD:
	case EVENT_KINDS: break;
	}
	if (!s)
		return NAME_PHASES + (back ? PHASE_BACKWARD : PHASE_FORWARD);
	return NAME_STAGES + 2 * (uint64_t)(s - x->t.stage) + back;
}

static void put_stage_stats(struct xplane *x, const struct trace_stage *s, bool back)
{
	const struct profile_layer *layer =
		s->layer < x->t.p->nlayer ? &x->t.p->layer[s->layer] : NULL;

	if (layer) {
		stat_text(x, &x->event, EVENT_STAT, STAT_LAYER, layer->path);
		stat_text(x, &x->event, EVENT_STAT, STAT_LAYERS, s->layers);
		stat_integer(x, &x->event, EVENT_STAT, STAT_LINE, layer->line);
	}
	stat_real(x, &x->event, EVENT_STAT, STAT_FLOPS, s->flops[back]);
	stat_real(x, &x->event, EVENT_STAT, STAT_BYTES, s->bytes[back]);
	stat_real(x, &x->event, EVENT_STAT, STAT_EXPECTED, s->expected_ns[back]);
}

static void put_stats(struct xplane *x, const struct profile_event *e)
{
	const struct trace_stage *s = trace_stage_of(&x->t, e);

	if (s)
		put_stage_stats(x, s, e->kind == EVENT_BACKWARD);
	if (e->kind == EVENT_STEP) {
		stat_integer(x, &x->event, EVENT_STAT, STAT_STEP, e->id);
		stat_integer(x, &x->event, EVENT_STAT, STAT_ROOT, 1);
	}
	if (e->kind == EVENT_SEND || e->kind == EVENT_RECEIVE) {
		stat_integer(x, &x->event, EVENT_STAT, STAT_PEER, e->peer);
		stat_integer(x, &x->event, EVENT_STAT, STAT_MESSAGE, e->id);
	}
}

/* Nanoseconds as picoseconds; a time beyond what fits is the last that does. */
static uint64_t picoseconds(int64_t ns)
{
	return ns < INT64_MAX / 1000 ? (uint64_t)ns * 1000 : INT64_MAX;
}

static void put_row(struct xplane *x, const struct trace_row *row, uint64_t id)
{
	int64_t begin = row->n ? row->slice[0].event->begin : x->t.base, end = begin;

	buf_clear(&x->line);
	for (size_t k = 0; k < row->n; k++) {
		const struct profile_event *e = row->slice[k].event;

		buf_clear(&x->event);
		proto_u64(&x->event, EVENT_METADATA, name_of(x, e));
		proto_u64(&x->event, EVENT_OFFSET_PS, picoseconds(e->begin - begin));
		proto_u64(&x->event, EVENT_DURATION_PS, picoseconds(row->slice[k].end - e->begin));
		put_stats(x, e);
		proto_message(&x->line, LINE_EVENT, &x->event);
		end = row->slice[k].end > end ? row->slice[k].end : end;
	}
	proto_u64(&x->line, LINE_ID, id);
	proto_u64(&x->line, LINE_DISPLAY_ID, id);
	put_text(x, &x->line, LINE_NAME, row->name);
	put_text(x, &x->line, LINE_DISPLAY_NAME, row->name);
	proto_u64(&x->line, LINE_BEGIN_NS, (uint64_t)(begin - x->t.base));
	proto_u64(&x->line, LINE_DURATION_PS, picoseconds(end - begin));
	proto_message(&x->plane, PLANE_LINE, &x->line);
}

/* ---- names ---- */

/* An entry of a map from numbers to names. */
static void put_name(struct xplane *x, unsigned field, uint64_t id, const char *name)
{
	struct buf *entry = &x->line, *value = &x->event;

	buf_clear(entry);
	buf_clear(value);
	proto_u64(value, METADATA_ID, id);
	put_text(x, value, METADATA_NAME, name);
	proto_u64(entry, MAP_KEY, id);
	proto_message(entry, MAP_VALUE, value);
	proto_message(&x->plane, field, entry);
}

static void put_names(struct xplane *x)
{
	buf_auto name = BUF_INIT;

	for (unsigned k = 0; k < PHASE_COUNT; k++)
		put_name(x, PLANE_EVENTS, NAME_PHASES + k, profile_phase_name((enum profile_phase)k));
	/* The plugin knows steps of training by that name. */
	put_name(x, PLANE_EVENTS, NAME_STEP,
		x->t.p->command && !strcmp(x->t.p->command, "train") ? "train" : "step");
	put_name(x, PLANE_EVENTS, NAME_SEND, "send message");
	put_name(x, PLANE_EVENTS, NAME_RECEIVE, "receive message");
	put_name(x, PLANE_EVENTS, NAME_TO_DEVICE, "copy to the device");
	put_name(x, PLANE_EVENTS, NAME_TO_HOST, "copy to the host");
	put_name(x, PLANE_EVENTS, NAME_EXCHANGE, "exchange");
	put_name(x, PLANE_EVENTS, NAME_EXCHANGE_BACK, "exchange back");
	for (size_t k = 0; k < 2 * (size_t)x->t.nstage; k++) {
		const struct trace_stage *s = &x->t.stage[k / 2];
		struct profile_event e = { .id = s->circuit << 16 | (s->stage & 0xffff),
			.kind = k % 2 ? EVENT_BACKWARD : EVENT_FORWARD };

		buf_clear(&name);
		trace_event_name(&x->t, &e, &name);
		put_name(x, PLANE_EVENTS, NAME_STAGES + k, name.data);
	}
	for (unsigned k = 1; k < STAT_COUNT; k++)
		put_name(x, PLANE_STATS, k, stat_name[k]);
}

/* ---- space ---- */

static bool same_device(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

/* The plugin knows GPUs, which have numbers, and other devices by the names of their planes. */
static void put_plane_name(struct xplane *x, const char *device)
{
	buf_auto name = BUF_INIT;
	const char *number = device ? strchr(device, ':') : NULL;

	if (device)
		buf_printf(&name, "/device:%s:%s", number ? "GPU" : "CUSTOM",
			number ? number + 1 : device);
	put_text(x, &x->plane, PLANE_NAME, device ? name.data : "/host:CPU");
}

/* The threads of the process, or the queues of one of its devices. */
static void put_plane(struct xplane *x, uint32_t process, const char *device, uint64_t id,
	const struct trace_row *row, size_t n)
{
	const struct profile *p = x->t.p;
	const struct profile_process *q = &p->process[process];

	buf_clear(&x->plane);
	proto_u64(&x->plane, PLANE_ID, id);
	put_plane_name(x, device);
	for (size_t k = 0; k < n; k++)
		if (same_device(q->thread[row[k].thread].device, device))
			put_row(x, &row[k], k + 1);
	put_names(x);
	if (device)
		return;
	stat_text(x, &x->plane, PLANE_STAT, STAT_VERSION, p->version);
	stat_text(x, &x->plane, PLANE_STAT, STAT_COMMAND, p->command);
	stat_text(x, &x->plane, PLANE_STAT, STAT_MODEL, p->model);
	stat_text(x, &x->plane, PLANE_STAT, STAT_LEVEL, profile_level_names[p->level]);
	stat_integer(x, &x->plane, PLANE_STAT, STAT_DROPPED, trace_dropped(&x->t, q));
	stat_integer(x, &x->plane, PLANE_STAT, STAT_MOVED, q->moved_events);
}

/* The process's own plane, then one of each device. */
static void put_planes(struct xplane *x, uint32_t process, struct buf *out)
{
	const struct profile_process *q = &x->t.p->process[process];
	const char *device[1 + DEVICES_MAX] = { NULL };
	arena_auto a = { 0 };
	struct trace_row *row;
	size_t n = trace_rows(&x->t, process, &a, &row), ndevice = 1;

	for (uint32_t t = 0; t < q->nthread; t++) {
		size_t d = 0;

		while (d < ndevice && !same_device(device[d], q->thread[t].device))
			d++;
		if (d == ndevice && d <= DEVICES_MAX)
			device[ndevice++] = q->thread[t].device;
	}
	for (size_t d = 0; d < ndevice; d++) {
		put_plane(x, process, device[d], (uint64_t)d << 16 | process, row, n);
		proto_message(out, SPACE_PLANE, &x->plane);
	}
}

static void put_warnings(struct xplane *x, const struct profile_process *q, uint64_t dropped,
	struct buf *out)
{
	buf_auto text = BUF_INIT;

	if (dropped) {
		buf_printf(&text, "%" PRIu64 " events were dropped", dropped);
		put_text(x, out, SPACE_WARNING, text.data);
	}
	if (q->lost)
		put_text(x, out, SPACE_WARNING, "the process was lost while it was recorded");
}

void trace_xplane(const struct profile *p, uint32_t process, struct buf *out)
{
	const struct profile_process *q = &p->process[process];
	struct xplane x = { 0 };
	buf_auto name = BUF_INIT;

	trace_init(&x.t, p);
	put_planes(&x, process, out);
	put_warnings(&x, q, trace_dropped(&x.t, q), out);
	trace_process_name(q, &name);
	put_text(&x, out, SPACE_HOST, name.data);
	arena_release(&x.t.arena);
	buf_release(&x.plane);
	buf_release(&x.line);
	buf_release(&x.event);
	buf_release(&x.stat);
	buf_release(&x.name);
}
