/* SPDX-License-Identifier: Apache-2.0
 * Rows of a trace. Viewers want the slices of a row nested; events of a thread need not be, so each goes to the first lane
 * where it is. */
#include "runtime/log/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/order.h"

enum { LANES_MAX = 8, LAYERS_MAX = 8 };

/* ---- rows ---- */

static const enum trace_group group_of[EVENT_KINDS] = {
	[EVENT_PHASE] = TRACE_THREAD,
	[EVENT_STEP] = TRACE_STEPS,
	[EVENT_FORWARD] = TRACE_THREAD,
	[EVENT_BACKWARD] = TRACE_THREAD,
	[EVENT_SEND] = TRACE_MESSAGES,
	[EVENT_RECEIVE] = TRACE_MESSAGES,
	[EVENT_COPY] = TRACE_THREAD,
	[EVENT_EXCHANGE] = TRACE_THREAD,
};

/* By begin; what ends later is outside, and so is a phase of what is in it. */
static int by_begin(const void *x, const void *y)
{
	const struct profile_event *a = ((const struct trace_slice *)x)->event;
	const struct profile_event *b = ((const struct trace_slice *)y)->event;

	int order = ORDER(a->begin, b->begin);

	order = order ? order : ORDER(b->end, a->end);
	order = order ? order : ORDER(a->kind, b->kind);
	return order ? order : ORDER(a, b);
}

/* Ends of the slices that are open. */
struct lane {
	int64_t *end;
	size_t n, room;
};

static bool fits(struct lane *l, const struct profile_event *e)
{
	while (l->n && l->end[l->n - 1] <= e->begin)
		l->n--;
	return !l->n || e->end <= l->end[l->n - 1];
}

/* The lane of each slice. The last lane takes what fits nowhere, cut to what is around it. */
static void choose_lanes(struct trace_slice *s, size_t n)
{
	struct lane open[LANES_MAX] = { 0 };

	for (size_t k = 0; k < n; k++) {
		unsigned l = 0;

		while (!fits(&open[l], s[k].event) && l + 1 < LANES_MAX)
			l++;
		if (open[l].n && open[l].end[open[l].n - 1] < s[k].end)
			s[k].end = open[l].end[open[l].n - 1];
		mem_reserve(open[l].end, open[l].n, open[l].room);
		open[l].end[open[l].n++] = s[k].end;
		s[k].lane = l;
	}
	for (unsigned l = 0; l < LANES_MAX; l++)
		free(open[l].end);
}

struct rows {
	struct arena *arena;
	struct trace_row *row;
	uint32_t n;
};

static void add_row(struct rows *r, const struct profile_thread *t, uint32_t thread,
	enum trace_group group, unsigned lane, const struct trace_slice *s, size_t n)
{
	static const char *const what[TRACE_GROUPS] = { ": steps", "", ": messages" };
	struct trace_row row = { .thread = thread };
	char number[16] = "";

	for (size_t k = 0; k < n; k++)
		if (s[k].lane == lane)
			*arena_push(r->arena, row.slice, row.n) = s[k];
	if (!row.n && (lane || group != TRACE_THREAD))
		return;
	if (lane)
		snprintf(number, sizeof number, " (%u)", lane + 1);
	row.name = arena_printf(r->arena, "%s%s%s", t->name ? t->name : "", what[group], number);
	*arena_push(r->arena, r->row, r->n) = row;
}

static void add_group(struct rows *r, const struct profile_thread *t, uint32_t thread,
	uint32_t nevent, enum trace_group group)
{
	mem_auto struct trace_slice *s = mem_alloc(nevent, sizeof *s);
	size_t n = 0;

	for (uint32_t k = 0; k < nevent; k++)
		if (group_of[t->event[k].kind] == group)
			s[n++] = (struct trace_slice){ &t->event[k], t->event[k].end, 0 };
	qsort(s, n, sizeof *s, by_begin);
	choose_lanes(s, n);
	for (unsigned l = 0; l < LANES_MAX; l++)
		add_row(r, t, thread, group, l, s, n);
}

uint32_t trace_rows(const struct trace *t, uint32_t process, struct arena *a, struct trace_row **out)
{
	const struct profile_process *q = &t->p->process[process];
	struct rows r = { .arena = a };

	for (uint32_t k = 0; k < q->nthread; k++)
		for (unsigned g = 0; g < TRACE_GROUPS; g++)
			add_group(&r, &q->thread[k], k,
				q->thread[k].nevent < t->events_each ? q->thread[k].nevent
								     : t->events_each,
				(enum trace_group)g);
	*out = r.row;
	return r.n;
}

/* ---- stages ---- */

static int by_stage(const void *x, const void *y)
{
	const struct profile_item *a = *(const struct profile_item *const *)x,
				  *b = *(const struct profile_item *const *)y;
	int order = ORDER(a->circuit, b->circuit);

	order = order ? order : ORDER(a->stage, b->stage);
	return order ? order : ORDER(a->layer, b->layer);
}

static int by_place(const void *x, const void *y)
{
	const struct trace_stage *a = x, *b = y;
	int order = ORDER(a->circuit, b->circuit);

	return order ? order : ORDER(a->stage, b->stage);
}

static const char *path_of(const struct profile *p, uint32_t layer)
{
	const char *path = layer < p->nlayer ? p->layer[layer].path : NULL;

	return path ? path : "";
}

/* Items of one stage, by layer. */
static struct trace_stage stage_of(struct trace *t, const struct profile_item *const *item, size_t n)
{
	const struct profile *p = t->p;
	struct trace_stage s = {
		.circuit = item[0]->circuit, .stage = item[0]->stage, .layer = UINT32_MAX
	};
	buf_auto layers = BUF_INIT;
	double most = -1, sum = 0;
	unsigned nlayer = 0;

	for (size_t k = 0; k < n; k++) {
		bool is_new = !k || item[k]->layer != item[k - 1]->layer;

		for (unsigned back = 0; back < 2; back++) {
			s.flops[back] += item[k]->flops[back];
			s.bytes[back] += item[k]->bytes[back];
		}
		if (item[k]->layer >= p->nlayer)
			continue;
		if (is_new && ++nlayer <= LAYERS_MAX)
			buf_printf(&layers, "%s%s", layers.len ? ", " : "",
				path_of(p, item[k]->layer));
		sum = (is_new ? 0 : sum) + item[k]->flops[0] + item[k]->flops[1];
		if (sum > most) {
			most = sum;
			s.layer = item[k]->layer;
		}
	}
	if (nlayer > LAYERS_MAX)
		buf_printf(&layers, " and %u more", nlayer - LAYERS_MAX);
	s.layers = arena_strndup(&t->arena, layers.data, layers.len);
	return s;
}

/* Among the first n. */
static struct trace_stage *find_stage(const struct trace *t, uint32_t n, uint32_t circuit,
	uint32_t stage)
{
	struct trace_stage key = { .circuit = circuit, .stage = stage };

	return n ? bsearch(&key, t->stage, n, sizeof key, by_place) : NULL;
}

/* The plan knows more of a stage than the sum of its items, and stages without items. */
static void add_planned(struct trace *t)
{
	uint32_t nitem = t->nstage;

	for (uint32_t k = 0; k < t->p->nstage; k++) {
		const struct profile_stage *q = &t->p->stage[k];
		struct trace_stage *s = find_stage(t, nitem, q->circuit, q->stage);

		if (!s) {
			s = arena_push(&t->arena, t->stage, t->nstage);
			*s = (struct trace_stage){ q->circuit, q->stage, UINT32_MAX, .layers = "" };
		}
		memcpy(s->flops, q->flops, sizeof s->flops);
		memcpy(s->bytes, q->bytes, sizeof s->bytes);
		memcpy(s->expected_ns, q->expected_ns, sizeof s->expected_ns);
	}
}

static void find_stages(struct trace *t)
{
	const struct profile *p = t->p;
	mem_auto const struct profile_item **item = mem_alloc(p->nitem, sizeof *item);

	for (uint32_t k = 0; k < p->nitem; k++)
		item[k] = &p->item[k];
	qsort(item, p->nitem, sizeof *item, by_stage);
	for (size_t k = 0, end; k < p->nitem; k = end) {
		for (end = k; end < p->nitem && item[end]->circuit == item[k]->circuit
			&& item[end]->stage == item[k]->stage;)
			end++;
		*arena_push(&t->arena, t->stage, t->nstage) = stage_of(t, item + k, end - k);
	}
	add_planned(t);
	if (t->nstage)
		qsort(t->stage, t->nstage, sizeof *t->stage, by_place);
}

const struct trace_stage *trace_stage_of(const struct trace *t, const struct profile_event *e)
{
	if (e->kind != EVENT_FORWARD && e->kind != EVENT_BACKWARD)
		return NULL;
	const struct trace_stage *s = find_stage(t, t->nstage, e->id >> 16, e->id & 0xffff);
	/* UINT32_MAX: a circuit without stages */
	return s ? s : find_stage(t, t->nstage, e->id >> 16, UINT32_MAX);
}

/* ---- names ---- */

static void stage_name(const struct trace *t, const struct profile_event *e, struct buf *out)
{
	const struct trace_stage *s = trace_stage_of(t, e);
	const char *path = s ? path_of(t->p, s->layer) : "";

	buf_str(out, e->kind == EVENT_FORWARD ? "forward " : "backward ");
	if (*path)
		buf_str(out, path);
	else
		buf_printf(out, "circuit %" PRIu32 " stage %" PRIu32, e->id >> 16, e->id & 0xffff);
}

void trace_event_name(const struct trace *t, const struct profile_event *e, struct buf *out)
{
	switch ((enum profile_kind)e->kind) {
	case EVENT_PHASE:
		buf_str(out,
			profile_phase_name((enum profile_phase)(e->id < PHASE_COUNT ? e->id
										    : PHASE_NONE)));
		break;
	case EVENT_STEP: buf_printf(out, "step %" PRIu32, e->id); break;
	case EVENT_FORWARD:
	case EVENT_BACKWARD: stage_name(t, e, out); break;
	case EVENT_SEND: buf_printf(out, "to %u", e->peer); break;
	case EVENT_RECEIVE: buf_printf(out, "from %u", e->peer); break;
	case EVENT_COPY: buf_str(out, e->id ? "copy to the host" : "copy to the device"); break;
	case EVENT_EXCHANGE: buf_str(out, e->peer ? "exchange back" : "exchange"); break;
	case EVENT_KINDS: break;
	}
}

void trace_process_name(const struct profile_process *p, struct buf *out)
{
	buf_printf(out, "%s %" PRIu32 " %s", p->host ? p->host : "", p->rank, p->role ? p->role : "");
}

uint64_t trace_dropped(const struct trace *t, const struct profile_process *p)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < p->nthread; k++) {
		n += p->thread[k].dropped;
		if (p->thread[k].nevent > t->events_each)
			n += p->thread[k].nevent - t->events_each;
	}
	return n;
}

static int64_t base_of(const struct profile *p)
{
	int64_t base = p->nprocess ? p->process[0].begin : 0;

	for (uint32_t i = 0; i < p->nprocess; i++) {
		base = p->process[i].begin < base ? p->process[i].begin : base;
		for (uint32_t t = 0; t < p->process[i].nthread; t++)
			for (uint32_t k = 0; k < p->process[i].thread[t].nevent; k++)
				if (p->process[i].thread[t].event[k].begin < base)
					base = p->process[i].thread[t].event[k].begin;
	}
	return base;
}

void trace_init(struct trace *t, const struct profile *p)
{
	*t = (struct trace){
		.p = p, .base = base_of(p), .events_each = profile_events_each(p, TRACE_EVENTS_MAX)
	};
	find_stages(t);
}
