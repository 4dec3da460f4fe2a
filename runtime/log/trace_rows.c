/* SPDX-License-Identifier: Apache-2.0
 * Rows of a trace. Viewers want the slices of a row nested; events of a thread need not be, so each goes to the first lane
 * where it is. */
#include "runtime/log/trace.h"

#include <inttypes.h>
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
	struct trace_row *row;
	size_t n, room;
};

static void add_row(struct rows *r, const struct profile_thread *t, uint32_t thread,
	enum trace_group group, unsigned lane, const struct trace_slice *s, size_t n)
{
	struct trace_row row = { .thread = thread };
	struct buf name = BUF_INIT;
	size_t room = 0;

	for (size_t k = 0; k < n; k++)
		if (s[k].lane == lane) {
			mem_reserve(row.slice, row.n, room);
			row.slice[row.n++] = s[k];
		}
	if (!row.n && (lane || group != TRACE_THREAD))
		return;
	buf_printf(&name,
		group == TRACE_STEPS              ? "%s: steps"
			: group == TRACE_MESSAGES ? "%s: messages"
						  : "%s",
		t->name ? t->name : "");
	if (lane)
		buf_printf(&name, " (%u)", lane + 1);
	row.name = buf_take(&name);
	mem_reserve(r->row, r->n, r->room);
	r->row[r->n++] = row;
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

size_t trace_rows(const struct profile *p, uint32_t process, uint32_t events_each,
	struct trace_row **out)
{
	const struct profile_process *q = &p->process[process];
	struct rows r = { 0 };

	for (uint32_t t = 0; t < q->nthread; t++)
		for (unsigned g = 0; g < TRACE_GROUPS; g++)
			add_group(&r, &q->thread[t], t,
				q->thread[t].nevent < events_each ? q->thread[t].nevent : events_each,
				(enum trace_group)g);
	*out = r.row;
	return r.n;
}

void trace_rows_free(struct trace_row *row, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		free(row[k].name);
		free(row[k].slice);
	}
	free(row);
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
static struct trace_stage stage_of(const struct profile *p, const struct profile_item *const *item,
	size_t n)
{
	struct trace_stage s = {
		.circuit = item[0]->circuit, .stage = item[0]->stage, .layer = UINT32_MAX
	};
	struct buf layers = BUF_INIT;
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
	s.layers = buf_take(&layers);
	return s;
}

struct stages {
	struct trace_stage *stage;
	size_t n, room;
};

static void add_stage(struct stages *list, struct trace_stage s)
{
	mem_reserve(list->stage, list->n, list->room);
	list->stage[list->n++] = s;
}

/* The plan knows more of a stage than the sum of its items, and stages without items. */
static void add_planned(struct stages *list, const struct profile *p)
{
	size_t nitem = list->n;

	for (uint32_t k = 0; k < p->nstage; k++) {
		const struct profile_stage *q = &p->stage[k];
		struct trace_stage key = {
			.circuit = q->circuit, .stage = q->stage, .layer = UINT32_MAX
		};
		struct trace_stage *s =
			nitem ? bsearch(&key, list->stage, nitem, sizeof key, by_place) : NULL;

		if (!s) {
			key.layers = mem_strdup("");
			add_stage(list, key);
			s = &list->stage[list->n - 1];
		}
		memcpy(s->flops, q->flops, sizeof s->flops);
		memcpy(s->bytes, q->bytes, sizeof s->bytes);
		memcpy(s->expected_ns, q->expected_ns, sizeof s->expected_ns);
	}
}

size_t trace_stages(const struct profile *p, struct trace_stage **out)
{
	const struct profile_item **item = mem_alloc(p->nitem, sizeof *item);
	struct stages list = { 0 };

	for (uint32_t k = 0; k < p->nitem; k++)
		item[k] = &p->item[k];
	qsort(item, p->nitem, sizeof *item, by_stage);
	for (size_t k = 0, end; k < p->nitem; k = end) {
		for (end = k; end < p->nitem && item[end]->circuit == item[k]->circuit
			&& item[end]->stage == item[k]->stage;)
			end++;
		add_stage(&list, stage_of(p, item + k, end - k));
	}
	free(item);
	add_planned(&list, p);
	if (list.n)
		qsort(list.stage, list.n, sizeof *list.stage, by_place);
	*out = list.stage;
	return list.n;
}

void trace_stages_free(struct trace_stage *stage, size_t n)
{
	for (size_t k = 0; k < n; k++)
		free(stage[k].layers);
	free(stage);
}

const struct trace_stage *trace_stage_find(const struct trace_stage *stage, size_t n,
	const struct profile_event *e)
{
	struct trace_stage key = { .circuit = e->id >> 16, .stage = e->id & 0xffff };

	if (!n || (e->kind != EVENT_FORWARD && e->kind != EVENT_BACKWARD))
		return NULL;
	const struct trace_stage *s = bsearch(&key, stage, n, sizeof key, by_place);
	key.stage = UINT32_MAX; /* a circuit without stages */
	return s ? s : bsearch(&key, stage, n, sizeof key, by_place);
}

/* ---- names ---- */

static void stage_name(const struct profile *p, const struct trace_stage *s,
	const struct profile_event *e, struct buf *out)
{
	const char *path = s ? path_of(p, s->layer) : "";

	buf_str(out, e->kind == EVENT_FORWARD ? "forward " : "backward ");
	if (*path)
		buf_str(out, path);
	else
		buf_printf(out, "circuit %" PRIu32 " stage %" PRIu32, e->id >> 16, e->id & 0xffff);
}

void trace_event_name(const struct profile *p, const struct trace_stage *stage,
	const struct profile_event *e, struct buf *out)
{
	switch ((enum profile_kind)e->kind) {
	case EVENT_PHASE:
		buf_str(out,
			profile_phase_name((enum profile_phase)(e->id < PHASE_COUNT ? e->id
										    : PHASE_NONE)));
		break;
	case EVENT_STEP: buf_printf(out, "step %" PRIu32, e->id); break;
	case EVENT_FORWARD:
	case EVENT_BACKWARD: stage_name(p, stage, e, out); break;
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

uint64_t trace_dropped(const struct profile_process *p, uint32_t events_each)
{
	uint64_t n = 0;

	for (uint32_t t = 0; t < p->nthread; t++) {
		n += p->thread[t].dropped;
		if (p->thread[t].nevent > events_each)
			n += p->thread[t].nevent - events_each;
	}
	return n;
}

int64_t trace_base(const struct profile *p)
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
