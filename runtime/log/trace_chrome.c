/* SPDX-License-Identifier: Apache-2.0
 * Chrome's trace event format (JSON), which Perfetto reads too: "Trace Event Format", 2016. Times are microseconds. */
#include "runtime/log/trace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "runtime/base/order.h"
#include "runtime/base/system/deflate.h"

enum { PIECE = 1 << 16 };

/* Names of colours that Chromium's tracing page knows, bright and dark apart. */
static const char *const colour[] = { "rail_response", "rail_animation", "rail_load", "rail_idle",
	"detailed_memory_dump", "background_memory_dump", "cq_build_attempt_passed",
	"thread_state_iowait", "vsync_highlight_color", "startup", "thread_state_uninterruptible",
	"good", "cq_build_attempt_failed", "olive", "thread_state_running",
	"heap_dump_child_node_arrow" };

/* An end of a message: its number. */
struct flow {
	const struct profile_event *event;
	uint64_t number;
	int64_t at;
};

struct chrome {
	struct trace t;
	struct gzip *gzip;
	struct buf text, name; /* what is not compressed yet; scratch */
	struct flow *flow;
	size_t nflow;
	unsigned tid;
	bool begun; /* there is an event */
};

static int by_event(const void *x, const void *y)
{
	return ORDER(((const struct flow *)x)->event, ((const struct flow *)y)->event);
}

/* An arrow begins with its send and ends within its receive, never before it begins. */
static void find_flows(struct chrome *c)
{
	struct profile_message *m;
	size_t n = profile_messages(c->t.p, &m);

	c->flow = mem_alloc(2 * n, sizeof *c->flow);
	for (size_t k = 0; k < n; k++) {
		int64_t from = m[k].send->begin, to = m[k].receive->end - 1;

		c->flow[c->nflow++] = (struct flow){ m[k].send, k + 1, from };
		c->flow[c->nflow++] = (struct flow){ m[k].receive, k + 1, to > from ? to : from };
	}
	free(m);
	if (n)
		qsort(c->flow, c->nflow, sizeof *c->flow, by_event);
}

static const struct flow *flow_of(const struct chrome *c, const struct profile_event *e)
{
	struct flow key = { .event = e };

	return c->nflow ? bsearch(&key, c->flow, c->nflow, sizeof key, by_event) : NULL;
}

/* ---- JSON ---- */

static void put_us(struct buf *b, const char *key, int64_t ns)
{
	buf_printf(b, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void put_text(struct buf *b, const char *key, const char *s)
{
	buf_json(b, ",%s:%s", key, s ? s : "");
}

static void put_real(struct buf *b, const char *key, double v) { buf_json(b, ",%s:%g", key, v); }

static void begin_event(struct chrome *c, const char *type, unsigned pid, unsigned tid)
{
	if (c->text.len > PIECE) {
		gzip_add(c->gzip, c->text.data, c->text.len);
		buf_clear(&c->text);
	}
	buf_printf(&c->text, "%s\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u", c->begun ? "," : "", type,
		pid, tid);
	c->begun = true;
}

/* What is said of a process or a thread: a text, or NULL and a number. */
static void put_metadata(struct chrome *c, unsigned pid, unsigned tid, const char *name,
	const char *key, const char *text, unsigned number)
{
	begin_event(c, "M", pid, tid);
	buf_printf(&c->text, ",\"name\":\"%s\",\"args\":{\"%s\":", name, key);
	if (text)
		buf_json_str(&c->text, text);
	else
		buf_printf(&c->text, "%u", number);
	buf_str(&c->text, "}}");
}

static void put_stage_args(struct chrome *c, const struct trace_stage *s,
	const struct profile_event *e)
{
	const struct profile_layer *layer =
		s && s->layer < c->t.p->nlayer ? &c->t.p->layer[s->layer] : NULL;
	unsigned back = e->kind == EVENT_BACKWARD;
	struct buf *b = &c->text;

	if (layer)
		buf_printf(b, ",\"cname\":\"%s\"",
			colour[s->layer % (sizeof colour / sizeof *colour)]);
	buf_printf(b, ",\"args\":{\"circuit\":%" PRIu32 ",\"stage\":%" PRIu32, e->id >> 16,
		e->id & 0xffff);
	if (layer) {
		put_text(b, "layer", layer->path);
		if (layer->line)
			buf_printf(b, ",\"line\":%" PRIu32, layer->line);
		put_text(b, "layers", s->layers);
	}
	if (s) {
		put_real(b, "flops per sample", s->flops[back]);
		put_real(b, "bytes per sample", s->bytes[back]);
		put_real(b, "expected ns per sample", s->expected_ns[back]);
	}
	buf_char(b, '}');
}

/* All exchanges of a kind have the same number of bytes; their waiting is a mean. */
static void put_exchange_args(struct chrome *c, const struct profile_process *p,
	const struct profile_event *e)
{
	buf_printf(&c->text, ",\"args\":{\"circuit\":%" PRIu32 ",\"segment\":%" PRIu32, e->id >> 16,
		e->id & 0xffff);
	for (uint32_t k = 0; k < p->nexchange; k++) {
		const struct profile_exchange *x = &p->exchange[k];

		if (x->circuit == e->id >> 16 && x->segment == (e->id & 0xffff)
			&& x->backward == (e->peer != 0) && x->count)
			buf_printf(&c->text, ",\"bytes\":%" PRIu64 ",\"mean ns of waiting\":%" PRIu64,
				x->bytes / x->count, x->wait_ns / x->count);
	}
	buf_char(&c->text, '}');
}

static void put_args(struct chrome *c, const struct profile_process *p, const struct trace_stage *s,
	const struct profile_event *e)
{
	struct buf *b = &c->text;

	switch ((enum profile_kind)e->kind) {
	case EVENT_FORWARD:
	case EVENT_BACKWARD: put_stage_args(c, s, e); break;
	case EVENT_STEP: buf_printf(b, ",\"args\":{\"step\":%" PRIu32 "}", e->id); break;
	case EVENT_SEND:
	case EVENT_RECEIVE:
		buf_printf(b, ",\"args\":{\"peer\":%u,\"message\":%" PRIu32 "}", e->peer, e->id);
		break;
	case EVENT_EXCHANGE: put_exchange_args(c, p, e); break;
	case EVENT_PHASE:
	case EVENT_COPY:
	case EVENT_KINDS: break;
	}
}

static void put_flow(struct chrome *c, const struct profile_event *e, unsigned pid)
{
	const struct flow *f = flow_of(c, e);

	if (!f)
		return;
	begin_event(c, e->kind == EVENT_SEND ? "s" : "f", pid, c->tid);
	buf_printf(&c->text,
		",\"id\":%" PRIu64 ",\"name\":\"message\",\"cat\":\"message\",\"bp\":\"e\"",
		f->number);
	put_us(&c->text, "ts", f->at - c->t.base);
	buf_char(&c->text, '}');
}

static void put_slice(struct chrome *c, const struct trace_slice *slice, unsigned pid)
{
	static const char *const category[EVENT_KINDS] = { "phase", "step", "stage", "stage",
		"message", "message", "copy", "exchange" };
	const struct profile_event *e = slice->event;
	const struct trace_stage *s = trace_stage_of(&c->t, e);
	struct buf *b = &c->text;

	buf_clear(&c->name);
	trace_event_name(&c->t, e, &c->name);
	begin_event(c, "X", pid, c->tid);
	put_text(b, "name", c->name.data);
	put_text(b, "cat", category[e->kind]);
	put_us(b, "ts", e->begin - c->t.base);
	put_us(b, "dur", slice->end - e->begin);
	put_args(c, &c->t.p->process[pid - 1], s, e);
	buf_char(b, '}');
	put_flow(c, e, pid);
}

static void put_row(struct chrome *c, const struct trace_row *row, unsigned pid)
{
	c->tid++;
	put_metadata(c, pid, c->tid, "thread_name", "name", row->name, 0);
	put_metadata(c, pid, c->tid, "thread_sort_index", "sort_index", NULL, c->tid);
	for (uint32_t k = 0; k < row->n; k++)
		put_slice(c, &row->slice[k], pid);
}

/* What its numbers say of a process, behind its name. */
static void put_labels(struct chrome *c, const struct profile_process *p, unsigned pid)
{
	uint64_t dropped = trace_dropped(&c->t, p);
	struct buf *b = &c->name;

	buf_clear(b);
	buf_printf(b, "clock offset %" PRId64 " us +- %" PRId64 " us", p->offset / 1000,
		p->uncertainty / 1000);
	if (p->lost)
		buf_str(b, ", lost");
	if (dropped)
		buf_printf(b, ", %" PRIu64 " events dropped", dropped);
	if (p->moved_events)
		buf_printf(b, ", %" PRIu64 " events moved", p->moved_events);
	put_metadata(c, pid, 0, "process_labels", "labels", b->data, 0);
}

/* Processes are numbered from 1 on: system numbers of several hosts may be equal, and 0 is special to viewers. */
static void put_process(struct chrome *c, uint32_t process)
{
	const struct profile_process *p = &c->t.p->process[process];
	unsigned pid = process + 1;
	arena_auto a = { 0 };
	struct trace_row *row;
	uint32_t n = trace_rows(&c->t, process, &a, &row);

	buf_clear(&c->name);
	trace_process_name(p, &c->name);
	put_metadata(c, pid, 0, "process_name", "name", c->name.data, 0);
	put_metadata(c, pid, 0, "process_sort_index", "sort_index", NULL, process);
	put_labels(c, p, pid);
	for (uint32_t k = 0; k < n; k++)
		put_row(c, &row[k], pid);
}

static void put_header(struct chrome *c)
{
	const struct profile *p = c->t.p;
	struct buf *b = &c->text;
	uint64_t dropped = 0, moved = 0;

	for (uint32_t k = 0; k < p->nprocess; k++) {
		dropped += trace_dropped(&c->t, &p->process[k]);
		moved += p->process[k].moved_events;
	}
	buf_str(b, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":\"qcnn\"");
	put_text(b, "version", p->version);
	put_text(b, "command", p->command);
	put_text(b, "model", p->model);
	put_text(b, "engine", p->engine);
	put_text(b, "level", profile_level_names[p->level]);
	put_real(b, "began", p->began);
	buf_printf(b,
		",\"steps\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"dropped_events\":%" PRIu64
		",\"moved_events\":%" PRIu64,
		p->steps, p->samples, dropped, moved);
	buf_str(b, "},\"traceEvents\":[");
}

int trace_chrome(const struct profile *p, struct buf *out, struct err *e)
{
	struct chrome c = { .gzip = gzip_begin(out, e), .tid = p->nprocess };

	if (!c.gzip)
		return -ERR_CONFIG;
	trace_init(&c.t, p);
	find_flows(&c);
	put_header(&c);
	for (uint32_t k = 0; k < p->nprocess; k++)
		put_process(&c, k);
	buf_str(&c.text, "\n]}\n");
	gzip_add(c.gzip, c.text.data, c.text.len);
	gzip_end(c.gzip);
	arena_release(&c.t.arena);
	free(c.flow);
	buf_release(&c.text);
	buf_release(&c.name);
	return 0;
}
